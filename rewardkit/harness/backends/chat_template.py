"""Render chat templates, which strangers write, within bounds of time and memory."""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rewardkit.errors import UsageError
from rewardkit.protocols import Message

SECONDS = 5.0
"""CPU seconds for one prompt."""
MEMORY = 2**28
"""Bytes by which this process may grow meanwhile."""
LONGEST = 2**24
"""Characters of a prompt."""
LARGEST_NUMBER = 10_000
"""Bits of a product or a power."""

_SET_BY_US = ("messages", "tools", "documents", "add_generation_prompt")


def render_chat(
    template: str, messages: Sequence[Message], variables: Mapping[str, object], model: str
) -> str:
    """Render `messages` up to the assistant's turn, with further variables of the template.

    UsageError for any error of the template, or for a variable that rendering itself sets.
    """
    for name in _SET_BY_US:
        if name in variables:
            raise UsageError(f"--chat-template-arg {name}=… can't be set: rewardkit sets {name}")
    turns = [asdict(message) for message in messages]
    try:
        with _within_bounds():
            text = _compiled(template).render(
                messages=turns, tools=None, documents=None, add_generation_prompt=True, **variables
            )
        if len(text) > LONGEST:
            raise OverflowError(f"its text has {len(text):,} characters")
        return text
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(
            f"the chat template of {model} can't be compiled, line {error.lineno}: "
            f"{error.message}; fix it, or use --no-chat-template"
        ) from error
    except Exception as error:  # strangers write templates: every error of one must name it
        raise UsageError(
            f"the chat template of {model} fails for these messages: {type(error).__name__}: "
            f"{error}; change the prompt's roles or fix the template, or use --no-chat-template"
        ) from error


class _GenerationTag(jinja2.ext.Extension):
    """The tag `{% generation %}`, which marks an assistant's text: rendered as its body."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 types it as a plain set

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


_lock = threading.Lock()
_end = 0.0


@contextlib.contextmanager
def _within_bounds() -> Iterator[None]:
    """Limit the block's CPU time, which loops and calls check, and this process's address space.

    A template may ask for a string of gigabytes in one word: only the system refuses that.
    """
    global _end
    with _lock:
        _end = time.thread_time() + SECONDS
        if sys.platform != "linux":
            yield
            return
        before = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm") as statm:
            size = int(statm.read().split()[0]) * resource.getpagesize() + MEMORY
        limits = [limit for limit in before if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min([size, *limits]), before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)


def _check_time() -> None:
    if time.thread_time() > _end:
        raise TimeoutError(f"it takes more than {SECONDS:g} s")


def _in_time(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        _check_time()
        yield item


class _TimedLoops(CodeGenerator):
    """Compiles a template so that each turn of a loop checks the time."""

    def visit_Template(  # noqa: N802 - jinja2 names it
        self, node: nodes.Template, frame: Frame | None = None
    ) -> None:
        for loop in node.find_all(nodes.For):
            timed = nodes.Filter(loop.iter, "in_time", [], [], None, None)
            loop.iter = timed.set_environment(self.environment).set_lineno(loop.lineno)
        super().visit_Template(node, frame)


class _BoundedSandbox(ImmutableSandboxedEnvironment):
    """The sandbox of chat templates: loops and calls check the time, numbers stay small."""

    code_generator_class = _TimedLoops
    intercepted_binops = frozenset(("*", "**", "+", "%"))  # also not computed while compiling

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        _check_time()
        return super().call(context, function, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _check_time()
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * right if operator == "**" else left.bit_length()
            if bits > LARGEST_NUMBER:
                raise OverflowError("it computes with numbers that are too large")
        return super().call_binop(context, operator, left, right)


@lru_cache(maxsize=8)
def _compiled(template: str) -> jinja2.Template:
    """Compile a chat template in the environment that transformers gives it."""
    environment = _BoundedSandbox(
        undefined=jinja2.Undefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_GenerationTag, jinja2.ext.loopcontrols],
    )
    environment.filters["in_time"] = _in_time
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return environment.from_string(template)


def _refuse(message: str) -> str:
    raise jinja2.TemplateError(message)
