"""Calls of functions: six formats, other allowed values and orders, and calls that are wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from rewardkit.audit.cases import Case, Draw
from rewardkit.audit.generators import texts

FORMS = ("<tool_call>{}</tool_call>", "[TOOL_CALLS]{}", "<|python_tag|>{}", "{}")
PROBES = (
    (
        '[{"f": {"n": [1]}}]',
        '[{"name": "f", "arguments": {"n": 1}}]',
        '[{"name": "f", "arguments": {"n": 2}}]',
    ),
)

Calls = list[dict[str, Any]]
"""Calls as {"name", "arguments"}."""


@dataclass(frozen=True)
class ToolRow:
    """A row as BFCL has them: the functions described, and the calls allowed."""

    functions: Sequence[Mapping[str, Any]]
    possible: Sequence[Mapping[str, Mapping[str, Any]]]

    def required(self, function: str) -> set[str]:
        """The arguments that each call of a function must have."""
        due = [
            allowed for call in self.possible for name, allowed in call.items() if name == function
        ]
        described = (tool["parameters"] for tool in self.functions if tool["name"] == function)
        listed = {name for parameters in described for name in parameters.get("required", ())}
        return listed | {
            name for name in due[0] if all("" not in allowed.get(name, [""]) for allowed in due)
        }

    def allowed(self, argument: str) -> list[Any]:
        """The values that an argument may have in any of the calls."""
        due = (allowed for call in self.possible for allowed in call.values())
        return [option for allowed in due for option in allowed.get(argument, ())]

    def calls(self, rng: Random) -> Calls:
        """Return right calls. Optional arguments come and go."""
        return [
            {"name": name, "arguments": _drawn(allowed, self.required(name), rng)}
            for call in self.possible
            for name, allowed in call.items()
        ]


def _drawn(allowed: Mapping[str, Any], required: set[str], rng: Random) -> dict[str, Any]:
    options = {name: [value for value in values if value != ""] for name, values in allowed.items()}
    return {
        name: _chosen(rng.choice(values or [""]), rng)
        for name, values in options.items()
        if name in required or "" not in allowed[name] or (values and rng.random() < 0.5)
    }


def _chosen(option: Any, rng: Random) -> Any:
    """A value that BFCL's option allows. An object's members list their allowed values."""
    if isinstance(option, list):
        return [_chosen(item, rng) for item in option]
    return _drawn(option, set(), rng) if _lists_values(option) else option


def _lists_values(option: Any) -> bool:
    """Whether an option is an object whose members list their allowed values."""
    return isinstance(option, dict) and all(isinstance(values, list) for values in option.values())


Change = Callable[[ToolRow, Calls, Random], object]
"""Changes calls in place. Returns False if the row has nothing to change."""


def _reorder_calls(row: ToolRow, calls: Calls, rng: Random) -> bool:
    calls.reverse()
    return len(calls) > 1


def _reorder_arguments(row: ToolRow, calls: Calls, rng: Random) -> bool:
    for call in calls:
        call["arguments"] = dict(reversed(call["arguments"].items()))
    return any(len(call["arguments"]) > 1 for call in calls)


def _rewrite_numbers(row: ToolRow, calls: Calls, rng: Random) -> bool:
    numbers = [
        (call["arguments"], name, float(value) if isinstance(value, int) else int(value))
        for call in calls
        for name, value in call["arguments"].items()
        if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    ]
    for arguments, name, value in numbers:
        arguments[name] = value
    return bool(numbers)


RIGHT: Mapping[str, Change] = {
    "as allowed": lambda row, calls, rng: None,
    "calls in another order": _reorder_calls,
    "arguments in another order": _reorder_arguments,
    "5.0 for 5": _rewrite_numbers,
}


def _add_call(row: ToolRow, calls: Calls, rng: Random) -> None:
    calls.append({"name": rng.choice(row.functions)["name"], "arguments": {}})


def _rename_function(row: ToolRow, calls: Calls, rng: Random) -> None:
    rng.choice(calls)["name"] += "s"


def _call_another(row: ToolRow, calls: Calls, rng: Random) -> bool:
    due = {name for call in row.possible for name in call}
    others = [function["name"] for function in row.functions if function["name"] not in due]
    rng.choice(calls)["name"] = rng.choice(others or [""])
    return bool(others)


def _drop_argument(row: ToolRow, calls: Calls, rng: Random) -> bool:
    call = rng.choice(calls)
    names = sorted(row.required(call["name"]) & call["arguments"].keys())
    return bool(names) and call["arguments"].pop(rng.choice(names), None) is not None


def _rename_argument(row: ToolRow, calls: Calls, rng: Random) -> bool:
    arguments = rng.choice([call["arguments"] for call in calls])
    if arguments:
        name = rng.choice(list(arguments))
        arguments[f"{name}_"] = arguments.pop(name)
    return bool(arguments)


def _add_argument(row: ToolRow, calls: Calls, rng: Random) -> None:
    rng.choice(calls)["arguments"]["verbose_"] = True


def _exchange(row: ToolRow, calls: Calls, rng: Random) -> bool:
    arguments = rng.choice(calls)["arguments"]
    for first, second in zip(arguments, list(arguments)[1:], strict=False):
        if not (
            _may_be(arguments[first], row.allowed(second)) or isinstance(arguments[first], dict)
        ):
            arguments[first], arguments[second] = arguments[second], arguments[first]
            return True
    return False


def _may_be(value: Any, allowed: Sequence[Any]) -> bool:
    return value in allowed or any(isinstance(option, dict | list) for option in allowed)


def _exchange_between(row: ToolRow, calls: Calls, rng: Random) -> bool:
    """Exchange an argument's value between two calls if it is wrong in both."""
    first, second = calls[0]["arguments"], calls[-1]["arguments"]
    for shared in sorted(first.keys() & second.keys()):
        changed = {**first, shared: second[shared]}
        if all(
            any(not _may_be(changed[name], allowed.get(name, ())) for name in changed)
            for due in row.possible
            for allowed in due.values()
        ):
            first[shared], second[shared] = second[shared], first[shared]
            return True
    return False


WRONG: Mapping[str, Change] = {
    "a call less": lambda row, calls, rng: calls.pop(rng.randrange(len(calls))),
    "a call twice": lambda row, calls, rng: calls.append(deepcopy(rng.choice(calls))),
    "a call more": _add_call,
    "function renamed": _rename_function,
    "another function": _call_another,
    "an argument less": _drop_argument,
    "an argument more": _add_argument,
    "argument renamed": _rename_argument,
    "values exchanged": _exchange,
    "values exchanged between calls": _exchange_between,
}

_MARKS = re.compile(r"[ ,./_*^-]")


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    """Values that resemble a value, with the kind of the change."""
    yield "null", None
    if isinstance(value, bool):
        yield from (("another value", not value), ("retyped", int(value)))
    if isinstance(value, bool | int | float):
        yield "retyped", json.dumps(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from (("another value", value + 1), ("another value", -value or 7))
        yield from (("another value", value * 10 or 3), ("retyped", [value]))
    if isinstance(value, str):
        yield from (("another value", f"{value}s"), ("another case", value.swapcase()))
        yield from (("without its marks", _MARKS.sub("", value)), ("retyped", [value]))
    if isinstance(value, list):
        yield from (("retyped", json.dumps(value)), ("list: one more", value + value[-1:]))
        yield from (("list: one less", value[:-1]), ("list: another order", value[::-1]))
        below = [(kind, changed) for kind, changed in _values(value[-1]) if changed not in value]
        yield from (("nested", [*value[:-1], changed]) for kind, changed in below)
    if isinstance(value, dict):
        yield from (("retyped", json.dumps(value)), ("nested: a key more", {**value, "more_": 1}))
        for name in value:
            others = {key: member for key, member in value.items() if key != name}
            yield "nested: a key less", others
            yield from (
                ("nested", {**value, name: changed}) for kind, changed in _values(value[name])
            )


KINDS = (
    *("null", "another value", "another case", "without its marks", "retyped", "nested"),
    *("list: one more", "list: one less", "list: another order"),
    *("nested: a key more", "nested: a key less"),
)


def _change_value(kind: str, row: ToolRow, calls: Calls, rng: Random) -> bool:
    arguments = rng.choice([call["arguments"] for call in calls])
    changes = [
        (name, changed)
        for name, value in arguments.items()
        for found, changed in (_values(value) if value != [] else ())
        if found == kind and not _is_allowed(changed, row.allowed(name))
    ]
    if changes:
        name, changed = rng.choice(changes)
        arguments[name] = changed
    return bool(changes)


def _is_allowed(value: Any, allowed: Sequence[Any]) -> bool:
    """Whether an option allows a value. True isn't 1, and members may be optional."""
    if isinstance(value, dict):
        return value in allowed or any(_is_object(value, option) for option in allowed)
    if isinstance(value, list):
        lists = [option for option in allowed if isinstance(option, list)]
        pairs = (zip(value, items, strict=True) for items in lists if len(items) == len(value))
        return any(all(_is_allowed(below, [item]) for below, item in pair) for pair in pairs)
    return any(
        value == option and isinstance(value, bool) == isinstance(option, bool)
        for option in allowed
    )


def _is_object(value: Mapping[str, Any], option: Any) -> bool:
    names = {**value, **option} if _lists_values(option) else {}
    return bool(names) and all(
        _is_allowed(value.get(name, ""), option.get(name, ())) for name in names
    )


CHANGES: Mapping[str, tuple[Change, bool]] = {
    **{name: (change, True) for name, change in RIGHT.items()},
    **{f"near miss: {name}": (change, False) for name, change in WRONG.items()},
    **{f"near miss: {kind}": (partial(_change_value, kind), False) for kind in KINDS},
}
"""For each family how calls change, and whether they are right."""


def _pythonic(call: Mapping[str, Any]) -> str:
    arguments = (f"{name}={value!r}" for name, value in call["arguments"].items())
    return f"{call['name']}({', '.join(arguments)})"


def _xml(call: Mapping[str, Any]) -> str:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in call["arguments"].items()
    }
    parameters = "".join(
        f"<parameter={name}>\n{text}\n</parameter>\n" for name, text in texts.items()
    )
    return f"<tool_call>\n<function={call['name']}>\n{parameters}</function>\n</tool_call>"


def _llama(call: Mapping[str, Any]) -> str:
    return json.dumps({"name": call["name"], "parameters": call["arguments"]})


FORMATS: Mapping[str, Callable[[Calls], str]] = {
    "Hermes": lambda calls: "\n".join(
        f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls
    ),
    "Llama": lambda calls: "<|python_tag|>" * bool(calls) + "; ".join(map(_llama, calls)),
    "Mistral": lambda calls: f"[TOOL_CALLS]{json.dumps(calls)}" if calls else "",
    "Mistral with [ARGS]": lambda calls: "".join(
        f"[TOOL_CALLS]{call['name']}[ARGS]{json.dumps(call['arguments'])}" for call in calls
    ),
    "pythonic": lambda calls: f"[{', '.join(map(_pythonic, calls))}]",
    "XML": lambda calls: "\n".join(map(_xml, calls)),
}
"""How models write calls in their text."""


def _row(rng: Random) -> ToolRow:
    """A request for rooms or a table, with one or several calls."""
    cities = rng.sample(["New York, NY", "St. Paul", "Aix-en-Provence", "Bonn 2.5"], 2)
    nights = rng.sample(range(2, 99), 2)
    stays = [
        {
            "hotel.book": {
                "city": [city, city.upper()],
                "nights": [night],
                "price": ["", rng.randint(400, 999) / 4],
                "breakfast": ["", rng.random() < 0.5],
                "tags": ["", ["quiet", "sea view", "Wi-Fi"]],
                "guests": ["", {"adults": [rng.randint(1, 4)], "children": ["", 1, 2]}],
            }
        }
        for city, night in zip(cities, nights, strict=True)
    ]
    orders = [{"dish": ["soup", "stew"]}, {"dish": ["fish"]}]
    meal = {"reserve_table": {"city": [cities[0]], "nights": [nights[0]], "orders": [orders]}}
    possible = rng.choice([stays, stays[:1], [meal], [meal, stays[1]]])
    return ToolRow(list(texts()["tools"].values()), possible)


AROUND: Mapping[str, tuple[str, bool, bool]] = {
    "thinking before": ("<think>Or {cut}?</think>{call}", True, True),
    "near miss: in thinking only": ("<think>{call}</think> It is done.", True, False),
    "near miss: cut off": ("{cut}", True, False),
    "no call is due: none": ("I can't do that.", False, True),
    "no call is due: one": ("{call}", False, False),
}
"""For each family the completion, whether calls are due, and whether it is right."""


def families(form: str) -> dict[str, Draw]:
    """All families of calls: changed ones written as `form`, and right ones in each format."""
    return {
        **{name: partial(_changed, name, form) for name in CHANGES},
        **{f"format: {name}": partial(_in_format, name) for name in FORMATS},
        **{name: partial(_around, name, form) for name in AROUND},
    }


def _case(name: str, text: str, row: ToolRow, right: bool) -> Case:
    return Case(name, text, json.dumps(row.possible), right, {"function": row.functions})


def _changed(name: str, form: str, rng: Random) -> Case:
    change, right = CHANGES[name]
    while True:
        row = _row(rng)
        calls = row.calls(rng)
        if change(row, calls, rng) is not False:
            return _case(name, form.format(json.dumps(calls)), row, right)


def _in_format(name: str, rng: Random) -> Case:
    row = _row(rng)
    return _case(f"format: {name}", FORMATS[name](row.calls(rng)), row, right=True)


def _around(name: str, form: str, rng: Random) -> Case:
    text, due, right = AROUND[name]
    row = _row(rng)
    call = form.format(json.dumps(row.calls(rng)))
    asked = row if due else ToolRow(row.functions, [])
    return _case(name, text.format(call=call, cut=call[:-8]), asked, right)
