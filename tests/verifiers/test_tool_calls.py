import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

import pytest

import rewardkit
from rewardkit.audit.cases import interleave
from rewardkit.audit.generators import tools
from rewardkit.errors import DataError, UsageError
from rewardkit.judging import judge_many
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.trainers import reward_func
from rewardkit.verifiers.tool_calls import ToolCalls, example_calls

_TYPES: Mapping[str, Mapping[str, Any]] = {
    "n": {"type": "integer"},
    "x": {"type": "float"},
    "s": {"type": "string"},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "string"}},
    "m": {"type": "array", "items": {"type": "float"}},
    "o": {"type": "dict"},
    "p": {"type": "array", "items": {"type": "dict"}},
    "t": {"type": "tuple", "items": {"type": "integer"}},
    "a": {"type": "any"},
}
_FUNCTIONS = [
    {"name": "f", "parameters": {"type": "dict", "properties": _TYPES, "required": []}},
    {"name": "g.h", "parameters": {"type": "dict", "properties": _TYPES, "required": ["n"]}},
]
_TWO = '[{"f": {"n": [3], "s": ["a b"]}}, {"f": {"n": [4], "l": [["c"]]}}]'


def _judged(
    text: str, reference: object, columns: Mapping[str, object] = {}, **how: Any
) -> Verdict:
    stated = reference if isinstance(reference, str) else json.dumps(reference)
    sample = Sample(stated, columns={"function": _FUNCTIONS, **columns})
    return ToolCalls(**how)(text, sample)


def _value(value: object, allowed: list[Any], argument: str, **how: Any) -> bool | None:
    call = {"name": "f", "arguments": {argument: value}}
    return _judged(json.dumps(call), [{"f": {argument: allowed}}], **how).correct


@pytest.mark.parametrize(
    "text",
    [
        'First\n<tool_call>{"name": "f", "arguments": {"n": 3, "s": "a b"}}</tool_call> and\n'
        '<tool_call>{"arguments": {"n": 4, "l": ["c"]}, "name": "f"}',
        '<tool_call>[{"name": "f", "arguments": {"n": 3, "s": "a b"}}, '
        '{"name": "f", "arguments": {"n": 4, "l": ["c"]}}]</tool_call>',
        '{"name": "f", "parameters": {"n": 3, "s": "a b"}}; '
        '{"name": "f", "parameters": {"n": 4, "l": ["c"]}}',
        '[TOOL_CALLS]f[ARGS]{"n": 3, "s": "a b"}'
        '[TOOL_CALLS]f[CALL_ID]Vvv[ARGS]{"n": 4, "l": ["c"]}',
        "[f(n=3, s='a b'), f(n=4, l=['c'])]",
        '<|python_start|>[f(n=3, s="a b"), f(n=4, l=("c",))]',
        "```python\n[f(n=3, s='a b'), f(n=4, l=['c'])]\n```",
        'These:\n```json\n[{"name": "f", "arguments": {"n": 3, "s": "a b"}},'
        ' {"name": "f", "arguments": {"n": 4, "l": ["c"]}}]\n```',
        "<function=f><parameter=n>3</parameter><parameter=s>a b</parameter></function>\n"
        '<function=f>{"n": 4, "l": ["c"]}</function>',
    ],
)
def test_variants_of_the_formats_are_read(text: str) -> None:
    verdict = _judged(text, _TWO)
    assert verdict.correct, verdict
    assert verdict.parts == {"name": 1.0, "arguments": 1.0, "values": 1.0}
    assert _judged(text.replace("4", "5"), _TWO).correct is False
    again = _judged(verdict.answer or "", _TWO)
    assert again.correct
    assert _judged(text, verdict.answer).correct  # calls are a reference, too: they vote


def test_the_calls_of_a_message_count_before_its_text() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "g_h", "arguments": '{"n": 3}'}}
    columns = {"tool_calls": [call]}
    assert _judged("", [{"g.h": {"n": [3]}}], columns).correct
    assert _judged("f(n=4)", [{"g.h": {"n": [3]}}], columns).correct
    assert _judged("", [{"g.h": {"n": [3]}}], {"tool_calls": json.dumps([call])}).correct
    plain = {"tool_calls": [{"function": {"name": "g_h", "arguments": {"n": 4}}}]}
    assert _judged("", [{"g.h": {"n": [3]}}], plain).correct is False
    assert _judged("g.h(n=3)", [{"g.h": {"n": [3]}}], {"tool_calls": []}).correct
    broken = {"tool_calls": [{"function": {"name": "f", "arguments": '{"n": '}}]}
    assert _judged("", _TWO, broken).failure is Failure.FORMAT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<tool_call>f(n=3)</tool_call>", "isn't a call as any known model writes it"),
        ('<tool_call>{"name": "f"}</tool_call>', "isn't a call with a name"),
        ('<tool_call>{"name": "f", "arguments": [3]}</tool_call>', "isn't a call"),
        ('<tool_call>{"name": "f", "arguments": {"n": 3}}}</tool_call>', "'}</tool_call>' follows"),
        ('<tool_call>{"name": "f", "arguments": {"n": NaN}}</tool_call>', "NaN isn't a number"),
        ('<tool_call>{"name": "f", "arguments": {"n": 3, "n": 3}}</tool_call>', "occurs twice"),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"n": 3}}', "Expecting ',' delimiter"),
        ("[TOOL_CALLS]f[ARGS]3", "isn't a call"),
        ("<|python_tag|>search now", "isn't a call"),
        ("<function=f><parameter=n>3", "isn't closed"),
        ("<function=f><parameter=n>3</function>", "closed by </parameter>"),
        ("<function=f>n=3</function>", "isn't an argument"),
        *[
            (text, "isn't a call alone, marked or in a code block")
            for text in (
                "f(3)",
                "f(*[3])",
                "f(**{'n': 3})",
                "f(n=3, n=3)",
                "f(n=open('secret'))",
                "f(n=3 + 0)",
                "f(n=three)",
                "f(n={3})",
                "[f(n=3)",
                "f(n='\\x00'\0)",
            )
        ],
        (
            "<function=f><parameter=n>3</parameter><parameter=n>3</parameter></function>",
            "occurs twice",
        ),
    ],
)
def test_a_broken_call_is_a_format_error_even_where_none_is_due(text: str, message: str) -> None:
    for reference in ([{"f": {"n": [3]}}], []):
        verdict = _judged(text, reference)
        assert verdict.failure is Failure.FORMAT
        assert message in verdict.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is f(3).",
        "f(n=3)(n=3)",
        "[f(n=3), 4]",
        '{"name": "Ada"}',
        "[]",
        "[1, 2]",
    ],
)
def test_any_other_text_makes_no_call(text: str) -> None:
    assert _judged(text, [{"f": {"n": [3]}}]).failure is Failure.NO_ANSWER
    assert _judged(text, []).correct


def test_a_call_where_none_is_due_is_wrong() -> None:
    verdict = _judged("f(n=3)", "[]")
    assert (verdict.failure, verdict.message) == (Failure.WRONG, "no call is due")
    assert _judged("No function fits.", "[]").correct
    assert _judged("No function fits.", "[]", rules="bfcl").correct


@pytest.mark.parametrize(
    ("value", "allowed", "argument", "right", "bfcl"),
    [
        (3, [3], "n", True, True),
        (3, [2, 3], "n", True, True),
        (4, [2, 3], "n", False, False),
        ("3", [3], "n", False, False),
        (True, [1], "n", False, False),
        (None, [3], "n", False, False),
        (None, ["", None], "x", True, True),
        (3, [3.0], "x", True, True),
        (0.5, [0.5], "x", True, True),
        ("a b", ["a b"], "s", True, True),
        (True, [True], "b", True, True),
        ("true", [True], "b", False, False),
        (1, [True], "b", False, False),
        (["a", "b"], [["a", "b"]], "l", True, True),
        (["b", "a"], [["a", "b"]], "l", False, False),
        (["a"], [["a", "b"]], "l", False, False),
        ("['a']", [["a"]], "l", False, False),
        ({"k": 1}, [{"k": [1, 2]}], "o", True, True),
        ({}, [{"k": [1]}], "o", False, False),
        ({}, [{"k": ["", 1]}], "o", True, True),
        ({"k": 3}, [{"k": [1, 2]}], "o", False, False),
        ({"k": 1, "j": 1}, [{"k": [1]}], "o", False, False),
        ({"k": {"i": [1]}}, [{"k": [{"i": [1]}]}], "o", True, True),
        ([{"k": 1}, {"k": 2}], [[{"k": [1]}, {"k": [2]}]], "p", True, True),
        ([{"k": 2}, {"k": 1}], [[{"k": [1]}, {"k": [2]}]], "p", False, False),
        ([1, 2], [[1, 2]], "t", True, True),
        ("any", ["any"], "a", True, True),
        (True, ["", True], "s", True, True),  # the reference contradicts the schema
        # where the published rules differ
        (3.0, [3], "n", True, False),
        ([1, 2], [[1.0, 2.5], [1.0, 2.0]], "m", True, False),
        ("A  B.", ["a b"], "s", False, True),
        ("15", ["1.5"], "s", False, True),
        ("x2", ["x^2", "x*2"], "s", False, True),
        (["A"], [["a"]], "l", False, True),
        ([], ["", ["a"]], "l", False, True),
        ({"k": True}, [{"k": [1]}], "o", False, True),
        ({"k": "A"}, [{"k": ["a"]}], "o", False, True),
        ({"k": {"i": 1.0}}, [{"k": [{"i": 1}]}], "o", True, True),
        # values at which bfcl-eval's checker stops
        (10**400, [1.0], "x", False, False),
        (["a"], ["", [{"k": [1]}]], "p", False, False),
        ({"k": 1}, [None], "o", False, False),
        (["a"], [["a"], None], "l", True, False),
    ],
)
def test_values_by_both_rules(
    value: object, allowed: list[Any], argument: str, right: bool, bfcl: bool
) -> None:
    assert _value(value, allowed, argument) is right
    assert _value(value, allowed, argument, rules="bfcl") is bfcl


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("New York", "new york", True),
        ("April 1, 2024", "april 1 2024", True),
        ("St. Paul", "st paul.", True),
        ("New York, NY", "New York NY", True),
        ("well-known", "well known", True),
        ("user_name", "username", True),
        ("it’s “so”", "it's 'so'", True),
        ("1.5", "15", False),
        ("1,5", "15", False),
        ("12 5", "125", False),
        ("-5", "5", False),
        ("x-2", "x2", False),
        ("x^2", "x2", False),
        ("2/3", "23", False),
        (".5", "5", False),
        ("C++", "C", False),
        ("a", "b", False),
    ],
)
def test_loose_strings_forgive_the_spelling_and_change_no_number(
    text: str, other: str, same: bool
) -> None:
    assert _value(text, [other], "s", strings="loose") is same
    assert _value({"k": [text]}, [{"k": [[other]]}], "o", strings="loose") is same
    assert _value(text, [other], "s") is False


@pytest.mark.parametrize(
    ("text", "reference", "message", "parts"),
    [
        ("f(n=4)", [{"f": {"n": [3]}}], "f: 'n' is 4", (1, 1, 0)),
        ("f(n='3')", [{"f": {"n": [3]}}], "'3', of type string instead of integer", (1, 1, 0)),
        ("f(n=3)", [{"f": {"n": [3], "s": ["a"]}}], "f: 's' is missing", (1, 0.5, 0.5)),
        ("f(n=3, z=1)", [{"f": {"n": [3]}}], "f: 'z' may not be given", (1, 0.5, 0.5)),
        ("f(n=3, b=True)", [{"f": {"n": [3]}}], "f: 'b' may not be given", (1, 0.5, 0.5)),
        ("f(n=3)", [{"g.h": {"n": [3]}}], "'f' is called instead of 'g.h'", (0, 0, 0)),
        ("g.h()", [{"g.h": {"n": [3, ""]}}], "g.h: 'n' is missing", (1, 0, 0)),
        (
            "[f(n=3), f(n=3)]",
            [{"f": {"n": [3]}}],
            "the number of calls is 2 instead of 1",
            (0.5, 0.5, 0.5),
        ),
        (
            "f(n=3)",
            [{"f": {"n": [4]}}, {"f": {"n": [3]}}],
            "the number of calls is 1 instead of 2",
            (0.5, 0.5, 0.5),
        ),
        ("[f(n=4), f(n=3)]", [{"f": {"n": [3]}}, {"f": {"n": [5]}}], "f: 'n' is 4", (1, 1, 0.5)),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_what_is_right(
    text: str, reference: object, message: str, parts: tuple[float, float, float]
) -> None:
    for rules in ("ours", "bfcl"):
        verdict = _judged(text, reference, rules=rules)
        assert verdict.failure is Failure.WRONG
        assert message in verdict.message
        assert verdict.parts == dict(zip(("name", "arguments", "values"), parts, strict=True))


def test_parallel_calls_come_in_any_order_and_each_finds_its_own() -> None:
    reference = [{"f": {"n": [1, 2]}}, {"f": {"n": [1]}}]
    assert _judged("[f(n=2), f(n=1)]", reference).correct
    assert _judged("[f(n=1), f(n=2)]", reference).correct
    assert _judged("[f(n=2), f(n=2)]", reference).correct is False
    # bfcl-eval gives each the first that fits
    assert _judged("[f(n=2), f(n=1)]", reference, rules="bfcl").correct
    assert _judged("[f(n=1), f(n=2)]", reference, rules="bfcl").correct is False


def test_steps_come_in_order() -> None:
    steps = [["f(n=1)", "f(n=2)"], ["g.h(n=3)"]]
    assert _judged("[f(n=2), f(n=1), g.h(n=3)]", steps).correct
    verdict = _judged("[f(n=2), g.h(n=3), f(n=1)]", steps)
    assert verdict.correct is False
    assert verdict.message == "the calls aren't in the order of the reference"
    assert _judged("[f(n=2), g.h(n=3), f(n=1)]", ["f(n=1)", "f(n=2)", "g.h(n=3)"]).correct


def test_a_reference_of_calls_allows_their_values_alone() -> None:
    call = {"name": "f", "arguments": {"o": {"k": [1, 2]}, "p": [{"k": 1}]}}
    assert _judged(json.dumps(call), [call]).correct
    for other in ({"k": 1}, {"k": [2, 1]}, {"k": [1, 2], "j": 1}, {}):
        changed = {"name": "f", "arguments": {"o": other, "p": [{"k": 1}]}}
        assert _judged(json.dumps(changed), [call]).correct is False


@pytest.mark.parametrize(
    ("reference", "columns", "message"),
    [
        ("", {}, "Expecting value"),
        ("3", {}, "it isn't a list of calls"),
        ([3], {}, "isn't a call"),
        (["f(g(1))"], {}, "isn't a call"),
        ([{"f": {"n": 3}}], {}, "the arguments of 'f' aren't lists"),
        ([{"k": {"n": [3]}}], {}, "no function is named 'k'"),
        ([{"f": {"z": [3]}}], {}, "f must and can't have the argument 'z'"),
        ([{"f": {"l": []}}], {}, "f must and can't have the argument 'l'"),
        ([{"g.h": {}}], {}, "g.h must and can't have the argument 'n'"),
        ([{"f": {"n": [3]}}], {"function": "{"}, "Expecting"),
        ([{"f": {"n": [3]}}], {"function": [3]}, "isn't the description of a function"),
        ("[" * 100_000, {}, "nested too deeply"),
    ],
)
def test_what_allows_no_call_is_unjudged(
    reference: object, columns: Mapping[str, object], message: str
) -> None:
    verdict = _judged("f(n=3)", reference, columns)
    assert verdict.correct is None
    assert message in verdict.message
    sample = Sample(reference if isinstance(reference, str) else json.dumps(reference))
    sample = Sample(sample.reference, id="7", columns={"function": _FUNCTIONS, **columns})
    with pytest.raises(DataError, match="row '7': no call can be right"):
        example_calls(sample)


def test_the_published_rules_need_types_that_they_know() -> None:
    for unknown in (None, [{"name": "f"}]):
        columns = {"function": unknown}
        assert _judged("f(n=3)", [{"f": {"n": [3]}}], columns).correct
        verdict = _judged("f(n=3)", [{"f": {"n": [3]}}], columns, rules="bfcl")
        assert (verdict.correct, "needs the column 'function'" in verdict.message) == (None, True)
    java = [{"name": "f", "parameters": {"properties": {"n": {"type": "HashMap"}}}}]
    verdict = _judged("f(n=3)", [{"f": {"n": [3]}}], {"function": java}, rules="bfcl")
    assert "doesn't know the type 'HashMap' of 'n'" in verdict.message
    with pytest.raises(UsageError, match="remove strings="):
        rewardkit.load_verifier("tool_calls", rules="bfcl", strings="loose")


def test_functions_may_be_openais_tools_or_a_text() -> None:
    listed = [{"type": "function", "function": one} for one in _FUNCTIONS]
    for columns in ({"tools": listed}, {"tools": json.dumps(listed)}, {"function": _FUNCTIONS[1]}):
        sample = Sample('[{"g.h": {"n": [3, ""]}}]', columns=columns)
        assert ToolCalls()("g_h(n=3)", sample).correct
        assert ToolCalls()("g_h()", sample).correct is False


@pytest.mark.parametrize("text", ["3", "null", "True", "[1", "3.50", " 3 ", "a\n"])
def test_xml_takes_the_type_from_the_schema(text: str) -> None:
    xml = f"<function=f>\n<parameter=s>\n{text}\n</parameter>\n</function>"
    assert _judged(xml, [{"f": {"s": [text]}}]).correct
    values = {"3": 3, " 3 ": 3, "True": True, "3.50": 3.5, "null": None}
    for argument in ("n", "x", "b"):
        allowed = [values.get(text, text)]
        assert _judged(xml.replace("=s>", f"={argument}>"), [{"f": {argument: allowed}}]).correct


def test_an_example_makes_the_calls_that_are_due() -> None:
    reference = [{"f": {"o": [{"k": ["", 1], "j": [2]}], "n": ["", 1], "p": [[{"k": [1]}]]}}]
    example = example_calls(Sample(json.dumps(reference), columns={"function": _FUNCTIONS}))
    assert '{"name": "f", "arguments": {"o": {"j": 2}, "p": [{"k": 1}]}}' in example
    assert _judged(example, reference).correct
    assert example_calls(Sample("[]")) == "No function fits."


def test_a_name_without_its_mark_is_read_where_decoding_drops_it() -> None:
    assert _judged('f{"n": 3}g.h{"n": 4}', ["f(n=3)", "g.h(n=4)"]).correct
    assert _judged('f[ARGS]{"n": 3}', ["f(n=3)"]).correct
    assert _judged('See f{"n": 3}', ["f(n=3)"]).failure is Failure.FORMAT


def test_the_calls_of_a_trainers_messages_count() -> None:
    call = {"function": {"name": "f", "arguments": '{"n": 3}'}}
    turns = [
        [{"role": "assistant", "content": "", "tool_calls": [call]}],
        [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "f(n=3)"},
            {"role": "assistant", "content": "Done."},
        ],
        "f(n=3)",
    ]
    reward = reward_func("tool_calls", workers=1)
    references = ['[{"f": {"n": [3]}}]'] * 3
    assert reward(turns, reference=references, tool_calls=[[call]] * 3) == [1.0, 0.0, 1.0]
    assert reward(["No."], reference=references[:1], tool_calls=[[call]]) == [0.0]


def test_what_a_table_fills_with_none_is_absent() -> None:
    functions = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}, "z": None}}}]
    reference = [{"f": {"n": [3], "z": None}, "g": None}, {"f": {"n": [4]}}]
    for rules in ("ours", "bfcl"):
        columns = {"function": functions}
        assert _judged("[f(n=3), f(n=4)]", reference, columns, rules=rules).correct
        assert _judged("[f(n=3), f(n=4, z=None)]", reference, columns).correct is False


def test_of_a_list_of_possible_answers_all_are_due() -> None:
    texts = ["f(n=3)", "[f(n=3), g.h(n=4)]", "<think>f(n=3)</think>"]
    reference = json.dumps([{"f": {"n": [3]}}, {"g.h": {"n": [4]}}])
    found = rewardkit.verify_batch(
        "tool_calls", texts, [reference] * 3, columns=[{"function": _FUNCTIONS}] * 3, workers=1
    )
    assert [verdict.correct for verdict in found] == [False, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("form", tools.FORMS)
def test_generated_calls_are_judged_as_they_were_made(form: str) -> None:
    families = tools.families(form)
    cases = list(islice(interleave(families, 0), 15 * len(families)))
    items = [(case.completion, Sample(case.reference, columns=case.columns)) for case in cases]
    verdicts = judge_many(ToolCalls(), items)
    missed = [
        (case.family, case.completion, verdict.message)
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict.correct is not case.right
    ]
    assert missed == []
