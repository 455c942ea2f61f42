"""Jinja2 for templates that users and plugins write: sandboxed, and bounded in time and output.

A template reaches no private attribute and changes no value (Jinja2's own sandbox). Its loop
iterations, its calls and the text that it makes are counted; a template over a limit is refused.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

_NUMBER = re.compile(r"\d+")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def result_size(operator: str, left: Any, right: Any) -> int:
    """The size of an operator's result, in characters, items or bits."""
    if operator == "**":
        bits = left.bit_length() if isinstance(left, int) else 64
        return bits * abs(right) if isinstance(right, int) else 64
    if operator == "%" and isinstance(left, str):
        return size_of_format(left, right)
    if operator == "*":
        times = next((abs(value) for value in (right, left) if isinstance(value, int)), 1)
        sized = next((value for value in (left, right) if not isinstance(value, int | float)), None)
        return _length(sized) * times if sized is not None else _digits(left) + _digits(right)
    return _length(left) + _length(right)


def _digits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 1


def size_of_format(text: Any, *values: Any) -> int:
    """An upper bound on a formatted text's length: any number in it or in its values may be a
    width."""
    flat = [item for value in values for item in (value if isinstance(value, tuple) else [value])]
    widths = [int(digits[:9]) for digits in _NUMBER.findall(str(text))]
    widths += [item for item in flat if isinstance(item, int)]
    return len(str(text)) + sum(map(abs, widths)) + sum(map(_length, flat))


def _size_of_padded(text: Any, *values: Any) -> int:
    numbers = [abs(value) for value in values if isinstance(value, int)]
    return _length(text) * 2 + max(numbers, default=8)


def _size_of_lines(text: Any, *values: Any) -> int:
    return _length(text) + (str(text).count("\n") + 1) * _size_of_padded("", *values)


def _size_of_replaced(text: Any, old: Any = "", new: Any = "", *_: Any) -> int:
    return len(str(text)) + str(text).count(str(old)) * len(str(new))


def _size_of_join(values: Any, *others: Any) -> int:
    if isinstance(values, str) and others and not isinstance(others[0], str):
        values, others = others[0], (values,)  # the method: the separator comes first
    texts = values if isinstance(values, list | tuple | str) else ()
    separators = _length(others[0]) * len(texts) if others else 0
    return sum(_length(item) for item in texts) + separators


def _size_of_tabs(text: Any, size: Any = 8, *_: Any) -> int:
    return len(str(text)) * max(1, abs(size) if isinstance(size, int) else 1)


SIZES: Mapping[str, Callable[..., int]] = {
    "center": _size_of_padded,
    "expandtabs": _size_of_tabs,
    "format": size_of_format,
    "indent": _size_of_lines,
    "join": _size_of_join,
    "ljust": _size_of_padded,
    "replace": _size_of_replaced,
    "rjust": _size_of_padded,
    "tojson": _size_of_padded,
    "zfill": _size_of_padded,
}
"""Upper bounds on the characters that a filter or a string method makes from its arguments."""


MOST_STEPS = 200_000
"""Iterations of loops and calls in one rendering."""

MOST_CHARACTERS = 20_000_000
"""Characters that one rendering writes, intermediate texts included."""

_REFUSED_FILTERS = ("batch", "center", "pprint", "slice", "urlize", "wordwrap", "xmlattr")
_REFUSED_GLOBALS = ("lipsum",)


class LimitError(jinja2.TemplateRuntimeError):
    """A template takes too many steps or makes too much text."""


class _Budget:
    """The steps and characters that one rendering may still use."""

    def __init__(self) -> None:
        self.steps = MOST_STEPS
        self.characters = MOST_CHARACTERS


_budget: ContextVar[_Budget] = ContextVar("_budget")


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Count steps and characters inside the block, which raises LimitError over a limit."""
    token = _budget.set(_Budget())
    try:
        yield
    finally:
        _budget.reset(token)


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of every template that is not part of rewardkit's own pages."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=jinja2.StrictUndefined, finalize=_count_output)
        for name in _REFUSED_FILTERS:
            del self.filters[name]
        for name in _REFUSED_GLOBALS:
            del self.globals[name]
        for name, size in SIZES.items():
            if name in self.filters:
                self.filters[name] = _with_limit(self.filters[name], size)
        self.filters[_COUNTED] = _count_steps
        self.filters[_JOINED] = _join_counted

    def compiled(self, source: str) -> tuple[jinja2.Template, nodes.Template]:
        """Compile a template; return it with its syntax tree. Raises jinja2.TemplateError."""
        tree = self.parse(source)
        bounded: nodes.Template = _Counting().visit(self.parse(source))
        bounded.set_environment(self)
        with limited():
            return self.from_string(bounded), tree

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Count a step and call. For methods that make text, check the size first."""
        _take_step()
        text, size = getattr(obj, "__self__", None), SIZES.get(getattr(obj, "__name__", ""))
        if isinstance(text, str) and size is not None:
            _take_characters(size(text, *args, *kwargs.values()))
        return super().call(context, obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Calculate, after a check of the result's size."""
        _take_characters(result_size(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format`, after a check of the size that its widths give."""
        formatted = super().wrap_str_format(value)
        return None if formatted is None else _with_limit(formatted, size_of_format, value.__self__)


_COUNTED, _JOINED = "_counted", "_joined"


class _Counting(NodeTransformer):
    """Adds counting filters to loops and to joins with `~`."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802 - jinja2 calls it so
        self.generic_visit(node)
        node.iter = _add_filter(node.iter, _COUNTED)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _add_filter(nodes.List(node.nodes, lineno=node.lineno), _JOINED)


def _add_filter(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _count_steps(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _take_step()
        yield value


def _join_counted(values: Iterable[Any]) -> str:
    texts = [str(value) for value in values]
    _take_characters(sum(map(len, texts)))
    return "".join(texts)


def _count_output(value: Any) -> Any:
    text = value if isinstance(value, str) else str(value)
    _take_characters(len(text))
    return text


def _with_limit(
    make: Callable[..., Any], size: Callable[..., int], *bound_arguments: Any
) -> Callable[..., Any]:
    """Wrap a filter or method so that it checks the size of its result first."""
    passed_argument = getattr(make, "jinja_pass_arg", None)

    def bounded(*args: Any, **kwargs: Any) -> Any:
        values = args if passed_argument is None else args[1:]
        _take_characters(size(*bound_arguments, *values, *kwargs.values()))
        return make(*args, **kwargs)

    if passed_argument is not None:
        bounded.jinja_pass_arg = passed_argument  # type: ignore[attr-defined]
    return bounded


def _take_step() -> None:
    budget = _budget.get()
    budget.steps -= 1
    if budget.steps < 0:
        raise LimitError(f"it takes more than {MOST_STEPS:,} steps; shorten its loops")


def _take_characters(count: int) -> None:
    budget = _budget.get()
    budget.characters -= count
    if budget.characters < 0:
        raise LimitError(f"it makes more than {MOST_CHARACTERS:,} characters of text")
