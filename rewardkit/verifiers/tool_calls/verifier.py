"""`tool_calls`: whether a completion makes the calls that a reference allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

from rewardkit.errors import DataError
from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.json_schema import equal_documents, reason
from rewardkit.verifiers.tool_calls import bfcl
from rewardkit.verifiers.tool_calls.calls import (
    JSON_TYPES,
    STRICT_JSON,
    ToolCall,
    call_of,
    calls_in,
    functions_in,
    is_named,
    pythonic_calls,
    schemas_of,
    states_call,
)

MOST_CALLS = 64
"""Maximum number of calls that are compared beyond the expected calls."""

PARTS = ("name", "arguments", "values")


@dataclass(frozen=True)
class ToolCalls(Verifier):
    """Right if the calls are those that the reference allows, in any order; score 1 or 0.

    The reference is BFCL's list of possible answers, `{name: {argument: [values allowed]}}`, where
    "" among the values makes the argument optional; or a list of calls `{"name", "arguments"}`,
    also in OpenAI's form. An empty list allows no call. A list of lists holds steps: the calls of a
    step come after the calls of the step before. The column `function` or `tools` describes the
    functions.

    If a server has read the calls, the calls are in the column `tool_calls`, in OpenAI's form; else
    the calls are in the text, in the form of any model of `calls.FORMATS`. A call that can't be
    read is `format`. Numbers are equal by value, texts letter by letter; `strings="loose"` ignores
    case, white space and marks between words. `rules="bfcl"` judges as bfcl-eval does. `parts` has
    the shares of right names, arguments and values.

    >>> row = {"function": [{"name": "f", "parameters": {"properties": {"n": {}}}}]}
    >>> ToolCalls()("[f(n=4)]", Sample('[{"f": {"n": [3, 4]}}]', columns=row)).correct
    True
    """

    thinking = "strip"
    reads = ("tool_calls",)
    reads_list = True

    rules: Literal["ours", "bfcl"] = "ours"
    strings: Literal["exact", "loose"] = "exact"

    def __post_init__(self) -> None:
        if self.rules == "bfcl" and self.strings != "exact":
            raise ValueError("rules='bfcl' compares texts in its own way; remove strings=")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        try:
            due = _due(sample, self.rules)
        except (ValueError, RecursionError) as error:
            return Verdict.unjudged(f"the reference can't be read: {reason(error)}")
        try:
            return self._verdict(calls_in(text, sample.columns), due)
        except (ValueError, RecursionError) as error:
            return Verdict.wrong(Failure.FORMAT, message=f"a call can't be read: {reason(error)}")

    def _verdict(self, calls: Sequence[ToolCall], due: Sequence[_Due]) -> Verdict:
        if due and not calls:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no call")
        answer = f"[{', '.join(call.as_json() for call in calls)}]"
        if not due:
            message = "no call is due" if calls else ""
            return Verdict.judged(not calls, answer=answer, message=message)
        takes = bfcl.takes if self.rules == "bfcl" else partial(_takes, same=_SAME[self.strings])
        kept = calls[: len(due) + MOST_CALLS]
        compared = [[_compare(call, due_call, takes) for call in kept] for due_call in due]
        right = len(calls) == len(due) and _are_matched(compared, due, self.rules)
        if right:
            return Verdict(True, 1.0, answer, parts=dict.fromkeys(PARTS, 1.0))
        parts, flaw = _parts(compared, len(calls))
        return Verdict(False, 0.0, answer, Failure.WRONG, parts, flaw)


@dataclass(frozen=True, slots=True)
class _Due:
    """A call that is due: the values that each argument may have.

    `schemas` describes the function's arguments; None without a description. `step` counts the
    calls that come after others.
    """

    name: str
    allowed: Mapping[str, Sequence[Any]]
    schemas: Mapping[str, Mapping[str, Any]] | None = None
    required: Sequence[str] = ()
    step: int = 0

    def may_have(self, argument: str) -> bool:
        return argument in self.allowed and (self.schemas is None or argument in self.schemas)


def example_calls(sample: Sample) -> str:
    """Return a completion that makes the calls of a sample's reference. DataError without any.

    >>> example_calls(Sample('[{"f": {"n": [3, 4], "m": ["", 1]}}]'))
    '<tool_call>\\n{"name": "f", "arguments": {"n": 3}}\\n</tool_call>'
    """
    try:
        due = _due(sample, "ours")
    except (ValueError, RecursionError) as error:
        raise DataError(f"row {sample.id!r}: no call can be right: {reason(error)}") from error
    calls = [
        ToolCall(
            due_call.name.replace(".", "_"),  # as chat templates and servers show it
            {name: _example(due_call.allowed[name]) for name in due_call.required},
        )
        for due_call in due
    ]
    written = (f"<tool_call>\n{call.as_json()}\n</tool_call>" for call in calls)
    return "\n".join(written) or "No function fits."


def _example(allowed: Sequence[Any]) -> Any:
    option = next((value for value in allowed if value != ""), "")
    if isinstance(option, list):
        return [_example([item]) for item in option]
    if isinstance(option, dict) and _is_pattern(option):
        return {name: _example(values) for name, values in option.items() if "" not in values}
    return option


def _due(sample: Sample, rules: str) -> list[_Due]:
    functions = functions_in(sample.columns)
    due = [_describe(call, functions) for call in _stated(sample.reference)]
    for call in due:
        if rules == "bfcl":
            if call.schemas is None:
                raise ValueError("rules='bfcl' needs the column 'function' or 'tools'")
            used = filter(call.may_have, call.allowed)
            bfcl.check_types({name: call.schemas[name] for name in used})
        elif impossible := [
            name for name in call.required if not (call.may_have(name) and call.allowed[name])
        ]:
            raise ValueError(f"{call.name} must and can't have the argument {impossible[0]!r:.80}")
    return due


@lru_cache(maxsize=64)
def _stated(reference: str) -> list[_Due]:
    steps = STRICT_JSON.decode(reference)
    if isinstance(steps, Mapping):
        steps = [steps]
    if not isinstance(steps, list):
        raise ValueError("it isn't a list of calls")
    if not (steps and all(isinstance(step, list) for step in steps)):
        steps = [steps]
    steps = [[call for entry in step for call in _calls_of_message(entry)] for step in steps]
    return [
        _Due(name, allowed, step=number)
        for number, step in enumerate(steps)
        for entry in step
        for name, allowed in _possible(entry)
    ]


def _calls_of_message(entry: object) -> Sequence[object]:
    if isinstance(entry, Mapping) and isinstance(entry.get("role"), str):
        calls = entry.get("tool_calls")
        return calls if isinstance(calls, list) else [entry]
    return [entry]


def _possible(entry: object) -> list[tuple[str, Mapping[str, list[Any]]]]:
    """A reference's entry, BFCL's possible answer or a call: names, and the values allowed."""
    if isinstance(entry, Mapping) and not states_call(entry) and (entry := _without_empty(entry)):
        name, allowed = next(iter(entry.items()))
        if len(entry) == 1 and isinstance(allowed, dict) and _is_pattern(_without_empty(allowed)):
            return [(name, _without_empty(allowed))]
        raise ValueError(f"the arguments of {name!r:.80} aren't lists of the values allowed")
    calls = pythonic_calls(entry) if isinstance(entry, str) else [call_of(entry)]
    return [
        (call.name, {name: [_pattern(value)] for name, value in call.arguments.items()})
        for call in calls
    ]


def _without_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """An object without the empty members that a table gives all its objects."""
    return {name: value for name, value in members.items() if value is not None}


def _pattern(value: Any) -> Any:
    """A value as BFCL writes one: an object's members as lists of the values allowed."""
    if isinstance(value, dict):
        return {name: [below] for name, below in value.items()}
    return [_pattern(item) for item in value] if isinstance(value, list | tuple) else value


def _describe(due: _Due, functions: Mapping[str, Mapping[str, Any]]) -> _Due:
    needed = {name for name, allowed in due.allowed.items() if "" not in allowed}
    name = next((name for name in functions if is_named(due.name, name)), due.name)
    if functions and name not in functions:
        raise ValueError(f"no function is named {due.name!r:.80}")
    due, function = replace(due, name=name), functions.get(name, {})
    if function.get("parameters") is None:
        return replace(due, required=sorted(needed))
    needed |= set(function["parameters"].get("required") or ())
    return replace(due, schemas=schemas_of(function), required=sorted(needed))


_Takes = Callable[[Any, Sequence[Any], Mapping[str, Any]], bool]
"""Whether a value is one of those allowed, by the argument's schema."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A given call compared with an expected call: shares of right parts, and the first flaw."""

    name: float = 0.0
    arguments: float = 0.0
    values: float = 0.0
    flaw: str = ""

    @property
    def total(self) -> float:
        return self.name + self.arguments + self.values


def _compare(call: ToolCall, due: _Due, takes: _Takes) -> _Compared:
    if not is_named(call.name, due.name):
        return _Compared(flaw=f"{call.name!r:.80} is called instead of {due.name!r:.80}")
    given = call.arguments
    flaw, misnamed, wrong = "", 0, 0
    names = dict.fromkeys((*due.required, *given))
    for name in names:
        if name not in given or not due.may_have(name):
            misnamed += 1
            flaw = flaw or f"{name!r:.80} {'may not be given' if name in given else 'is missing'}"
            continue
        schema = (due.schemas or {}).get(name) or {}
        if not takes(given[name], due.allowed[name], schema):
            wrong += 1
            flaw = flaw or f"{name!r:.80} is {_show_value(given[name], schema)}"
    count = len(names) or 1
    named, right = 1 - misnamed / count, 1 - (misnamed + wrong) / count
    return _Compared(1.0, named, right, flaw and f"{due.name}: {flaw}")


def _show_value(value: Any, schema: Mapping[str, Any]) -> str:
    """A wrong value, and its type where the argument has another."""
    kind, due = _json_type(value), JSON_TYPES.get(str(schema.get("type")))
    fitting = due in (None, kind) or (due == "number" and kind == "integer")
    return f"{value!r:.80}" + ("" if fitting else f", of type {kind} instead of {due}")


def _json_type(value: Any) -> str:
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    kinds = {bool: "boolean", int: "integer", str: "string", type(None): "null", dict: "object"}
    return kinds.get(type(value), "array")


def _are_matched(compared: Sequence[Sequence[_Compared]], due: Sequence[_Due], rules: str) -> bool:
    """Whether each expected call has a different given call, in its step."""
    options = [
        [j for j, call in enumerate(row) if not call.flaw and due[j].step == due_call.step]
        for row, due_call in zip(compared, due, strict=True)
    ]
    return _first_free(options) if rules == "bfcl" else _all_placed(options)


def _first_free(options: Sequence[Sequence[int]]) -> bool:
    """Whether each call finds a free place if each takes the first."""
    taken: set[int] = set()
    for places in options:
        free = [place for place in places if place not in taken]
        if not free:
            return False
        taken.add(free[0])
    return True


def _all_placed(options: Sequence[Sequence[int]]) -> bool:
    holders: dict[int, int] = {}

    def place(index: int, tried: set[int]) -> bool:
        for option in options[index]:
            if option not in tried:
                tried.add(option)
                if option not in holders or place(holders[option], tried):
                    holders[option] = index
                    return True
        return False

    return all(place(index, set()) for index in range(len(options)))


def _parts(compared: Sequence[Sequence[_Compared]], count: int) -> tuple[dict[str, float], str]:
    """The mean of each part over the calls, and the first flaw; the best pairs count."""
    pairs = [(call.total, i, j) for i, row in enumerate(compared) for j, call in enumerate(row)]
    paired: dict[int, _Compared] = {}
    taken: set[int] = set()
    for _, i, j in sorted(pairs, key=lambda pair: -pair[0]):
        if i not in paired and j not in taken:
            paired[i] = compared[i][j]
            taken.add(j)
    most = max(len(compared), count)
    parts = {part: sum(getattr(pair, part) for pair in paired.values()) / most for part in PARTS}
    flaws = [paired[i].flaw for i in sorted(paired) if paired[i].flaw]
    if count != len(compared):
        flaws = [f"the number of calls is {count} instead of {len(compared)}"]
    return parts, [*flaws, "the calls aren't in the order of the reference"][0]


def _takes(
    value: Any, allowed: Sequence[Any], schema: Mapping[str, Any], same: Callable[[str], str]
) -> bool:
    if value == "" and JSON_TYPES.get(str(schema.get("type", "string"))) != "string":
        return False  # among the values allowed, it only says that the argument is optional
    return any(_allows(option, value, same) for option in allowed)


def _is_pattern(option: Mapping[str, Any]) -> bool:
    return all(isinstance(values, list) for values in option.values())


def _allows(option: Any, value: Any, same: Callable[[str], str]) -> bool:
    """Whether BFCL's `option` allows a value; the members of an object list their values."""
    if isinstance(option, dict) and _is_pattern(option):
        return isinstance(value, Mapping) and all(
            any(equal_documents(value[name], allowed, same) for allowed in option.get(name, ()))
            if name in value
            else "" in option[name]
            for name in {**option, **value}
        )
    if isinstance(option, list) and isinstance(value, list | tuple):
        pairs = zip(option, value, strict=False)
        return len(option) == len(value) and all(
            _allows(item, below, same) for item, below in pairs
        )
    return equal_documents(value, option, same)


_LOOSE = re.compile(
    r"""(?P<apart>(?<=\d)(?:,\s*|\s+)(?=\d))       # "1, 2024" isn't "12024"
    |\s+|(?<!\d),|,(?!\d)|\.(?=\s|\Z)
    |(?<=[^\W\d_])[-_](?=[^\W\d_])                # "well-known", "well_known" """,
    re.VERBOSE,
)
_QUOTES = str.maketrans("‘’“”'", '"""""')


def _loose(text: str) -> str:
    """A text without differences of spelling; numbers stay."""
    short = _LOOSE.sub(lambda match: " " if match["apart"] else "", text.strip())
    return short.casefold().translate(_QUOTES)


_SAME: Mapping[str, Callable[[str], str]] = {"exact": str, "loose": _loose}
