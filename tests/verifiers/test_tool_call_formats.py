"""Calls as the models' chat templates write them, whole, damaged, and mentioned in prose."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

import rewardkit
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.tool_calls import ToolCalls

Arguments = Mapping[str, Any]
Calls = Sequence[tuple[str, Arguments]]

_TYPES = {
    "n": {"type": "integer"},
    "s": {"type": "string"},
    "l": {"type": "array", "items": {"type": "string"}},
    "o": {"type": "object"},
    "b": {"type": "boolean"},
}
_FUNCTIONS = [
    {"name": name, "parameters": {"type": "object", "properties": _TYPES}}
    for name in ("get_weather", "search.web", "f")
]
_TOOLS = [{"type": "function", "function": function} for function in _FUNCTIONS]

_CALLS: Mapping[str, Calls] = {
    "one": [("get_weather", {"s": "Paris", "n": 3})],
    "two": [("get_weather", {"s": "Paris"}), ("f", {"n": -4, "b": True})],
    "no arguments": [("f", {})],
    "nested": [("f", {"o": {"k": [1, {"i": "x"}], "j": {}}, "l": ["a", "b, c", "it's"]})],
    "escaped": [("f", {"s": 'a "b"\n\\ c\'s {1}, [2] <b> 5'})],
    "number in a text": [("get_weather", {"s": "75", "l": []})],
}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(call: tuple[str, Arguments], key: str = "arguments") -> str:
    return _json({"name": call[0], key: call[1]})


def _text(value: object) -> str:
    """A value as templates write it between tags: a text as it is."""
    return value if isinstance(value, str) else _json(value)


def _python_text(value: object) -> str:
    """A value as templates write it that turn it into Python's text."""
    return value if isinstance(value, str) else repr(value)


def _tags(call: tuple[str, Arguments], parameter: str, value: Callable[[object], str]) -> str:
    return "".join(parameter.format(key, value(one)) for key, one in call[1].items())


def _each(
    one: str, write: Callable[[tuple[str, Arguments]], Any], between: str = "\n"
) -> Callable[[Calls], str]:
    return lambda calls: between.join(one.format(call[0], write(call)) for call in calls)


def _around(before: str, write: Callable[[Calls], str], after: str) -> Callable[[Calls], str]:
    return lambda calls: f"{before}{write(calls)}{after}"


def _python(call: tuple[str, Arguments]) -> str:
    return f"{call[0]}({', '.join(f'{key}={value!r}' for key, value in call[1].items())})"


def _gemma(value: object, quote: str, top: bool = False) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, list):
        return f"[{','.join(_gemma(one, quote) for one in value)}]"
    if isinstance(value, dict):
        names = [(key if top else f"{quote}{key}{quote}", one) for key, one in value.items()]
        return f"{{{','.join(f'{name}:{_gemma(one, quote)}' for name, one in names)}}}"
    return _json(value)


def _arguments(call: tuple[str, Arguments]) -> str:
    return _json(call[1])


_XML = "<parameter={}>\n{}\n</parameter>\n"
_WRITE: Mapping[str, Callable[[Calls], str]] = {
    "Hermes, Qwen": _each("<tool_call>\n{1}\n</tool_call>", _object),
    "Qwen3-Coder": _each(
        "<tool_call>\n<function={0}>\n{1}</function>\n</tool_call>",
        lambda call: _tags(call, _XML, _text),
    ),
    "Qwen3-Coder, Python's texts": _each(
        "<tool_call>\n<function={0}>\n{1}</function>\n</tool_call>",
        lambda call: _tags(call, _XML, _python_text),
    ),
    "Seed-OSS": _each(
        "<seed:tool_call>\n<function={0}>\n{1}</function>\n</seed:tool_call>",
        lambda call: _tags(call, "<parameter={}>{}</parameter>\n", _python_text),
    ),
    "Llama 3.1": _each("<function={0}>{1}</function>", _arguments),
    "Llama 3.1, one": _each("<|python_tag|>{1}", lambda call: _object(call, "parameters"), "; "),
    "Llama 4": _around("<|python_start|>[", _each("{1}", _python, ", "), "]<|python_end|><|eom|>"),
    "Mistral": _around(
        "[TOOL_CALLS] [",
        _each('{1}, "id": "D681PevKs"}}', lambda call: _object(call)[:-1], ", "),
        "]</s>",
    ),
    "Mistral Small 3.2": _each("[TOOL_CALLS]{0}[CALL_ID]D681PevKs[ARGS]{1}", _arguments, ""),
    "DeepSeek V3, R1": _around(
        "<｜tool▁calls▁begin｜>",
        _each(
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{0}\n```json\n{1}\n```<｜tool▁call▁end｜>",
            _arguments,
        ),
        "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    ),
    "DeepSeek V3.1": _around(
        "<｜tool▁calls▁begin｜>",
        _each("<｜tool▁call▁begin｜>{0}<｜tool▁sep｜>{1}<｜tool▁call▁end｜>", _arguments, ""),
        "<｜tool▁calls▁end｜>",
    ),
    "DeepSeek V3.2": _around(
        "<｜DSML｜function_calls>\n",
        lambda calls: "".join(
            f'<｜DSML｜invoke name="{name}">\n'
            + "".join(
                f'<｜DSML｜parameter name="{key}" string="{_json(isinstance(value, str))}">'
                f"{_text(value)}</｜DSML｜parameter>\n"
                for key, value in arguments.items()
            )
            + "</｜DSML｜invoke>\n"
            for name, arguments in calls
        ),
        "</｜DSML｜function_calls>",
    ),
    "Kimi K2": lambda calls: (
        "<|tool_calls_section_begin|>"
        + "".join(
            f"<|tool_call_begin|>functions.{name}:{i}<|tool_call_argument_begin|>"
            f"{_json(arguments)}<|tool_call_end|>"
            for i, (name, arguments) in enumerate(calls)
        )
        + "<|tool_calls_section_end|><|im_end|>"
    ),
    "gpt-oss": _around(
        '<|channel|>analysis<|message|>Call f{"n": 9}.<|end|>',
        _each(
            "<|start|>assistant<|channel|>commentary to=functions.{0} "
            "<|constrain|>json<|message|>{1}<|call|>",
            _arguments,
            "",
        ),
        "",
    ),
    "gpt-oss, as its template writes": _each(
        "<|start|>assistant to=functions.{0}<|channel|>commentary json<|message|>{1}<|call|>",
        _arguments,
        "",
    ),
    "GLM": _each(
        "\n<tool_call>{0}\n{1}</tool_call>",
        lambda call: _tags(call, "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n", _text),
        "",
    ),
    "GLM-4.7": _each(
        "<tool_call>{0}{1}</tool_call>",
        lambda call: _tags(call, "<arg_key>{}</arg_key><arg_value>{}</arg_value>", _text),
        "",
    ),
    "MiniMax M1": _around("<tool_calls>\n", _each("{1}", _object), "\n</tool_calls>"),
    "MiniMax M2": _around(
        "<minimax:tool_call>\n",
        _each(
            '<invoke name="{0}">\n{1}</invoke>\n',
            lambda call: _tags(call, '<parameter name="{}">{}</parameter>\n', _text),
            "",
        ),
        "</minimax:tool_call>[e~[",
    ),
    "Granite 3.0": _around("<|tool_call|>[", _each("{1}", _object, ", "), "]<|end_of_text|>"),
    "Granite 3.1": _around("<tool_call>[", _each("{1}", _object, ", "), "]"),
    "Granite 20B": _each("<function_call> {1}", _object, "\n"),
    "Phi-4": _around("<|tool_call|>[", _each("{1}", _object, ", "), "]<|/tool_call|><|end|>"),
    "Phi-4 mini": _around("functools[", _each("{1}", _object, ",\n"), "]"),
    "InternLM": _each(
        "<|action_start|><|plugin|>\n{1}<|action_end|>",
        lambda call: _object(call, "parameters"),
        "\n",
    ),
    "OLMo 3": _around("<function_calls>\n", _each("{1}", _python), "\n</function_calls>"),
    "OLMo 3, JSON's constants": _around(
        "<function_calls>",
        _each("{0}({1})", lambda call: ", ".join(f"{k}={_json(v)}" for k, v in call[1].items())),
        "</function_calls>",
    ),
    "LFM2": _around("<|tool_call_start|>[", _each("{1}", _python, ", "), "]<|tool_call_end|>"),
    "FunctionGemma": _each(
        "<start_function_call>call:{0}{1}<end_function_call>",
        lambda call: _gemma(call[1], "<escape>", top=True),
        "",
    ),
    "Gemma 4": _each(
        "<|tool_call>call:{0}{1}<tool_call|>",
        lambda call: _gemma(call[1], '<|"|>', top=True),
        "",
    ),
    "Command": _around(
        "<|START_ACTION|>[\n",
        lambda calls: ",\n".join(
            _json({"tool_call_id": str(i), "tool_name": name, "parameters": arguments})
            for i, (name, arguments) in enumerate(calls)
        ),
        "\n]<|END_ACTION|>",
    ),
}


def _verify(text: str, reference: object, columns: Mapping[str, object] | None = None) -> Verdict:
    columns = {"tools": _TOOLS} if columns is None else columns
    return rewardkit.verify("tool_calls", text, _json(reference), columns=columns)


def _reference(calls: Calls) -> list[dict[str, Any]]:
    return [{"name": name, "arguments": arguments} for name, arguments in calls]


@pytest.mark.parametrize("case", _CALLS)
@pytest.mark.parametrize("form", _WRITE)
def test_each_model_s_calls_are_read(form: str, case: str) -> None:
    calls, text = _CALLS[case], _WRITE[form](_CALLS[case])
    verdict = _verify(text, _reference(calls))
    assert verdict.correct, (text, verdict)
    assert _verify(text, []).failure is Failure.WRONG
    assert _verify(f"I look it up.\n{text}", _reference(calls)).correct, text
    other = [*calls[1:], (calls[0][0], {**calls[0][1], "b": False})]
    assert _verify(text, _reference(other)).failure is Failure.WRONG
    if "gpt-oss" not in form:
        assert _verify(f"<think>{text}</think> None fits.", []).correct


_DAMAGED = {
    "Hermes, Qwen": '<tool_call>\n{"name": "f", "arguments": {"n": 3}\n</tool_call>',
    "Qwen3-Coder": "<tool_call>\n<function=f>\n<parameter=n>\n3\n</function>\n</tool_call>",
    "Seed-OSS": "<seed:tool_call>\n<function=f>\n<parameter=n>3</parameter>\n</seed:tool_call>",
    "Llama 3.1": '<|python_tag|>{"name": "f", "parameters": {"n": }}',
    "Llama 4": "<|python_start|>[f(n=3, n=)]<|python_end|>",
    "Mistral": '[TOOL_CALLS] [{"name": "f", "arguments": {"n": 3}',
    "Mistral Small 3.2": "[TOOL_CALLS]f[ARGS]n=3",
    "DeepSeek V3, R1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
    '```json\n{"n": 3\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "DeepSeek R1 without a token": "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>f\n```json\n"
    '{"n": 3}\n```<｜tool▁calls▁end｜>',
    "DeepSeek V3.1": "<｜tool▁call▁begin｜>f<｜tool▁sep｜>3<｜tool▁call▁end｜>",
    "DeepSeek V3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'
    '<｜DSML｜parameter name="n" string="false">3\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "Kimi K2": '<|tool_call_begin|>functions.f:0{"n": 3}<|tool_call_end|>',
    "gpt-oss": "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{n: 3}<|call|>",
    "GLM": "<tool_call>f\n<arg_key>n</arg_key>\n3\n</tool_call>",
    "MiniMax M1": '<tool_calls>\n{"name": "f", "arguments"\n</tool_calls>',
    "MiniMax M2": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="n">3\n</invoke>',
    "Granite 3.0": '<|tool_call|>[{"name": "f"}]',
    "Granite 20B": "<function_call> f(n=3)",
    "Phi-4 mini": 'functools[{"name": "f", "arguments": {"n": 3}]',
    "InternLM": '<|action_start|><|plugin|>\n{"name": f}<|action_end|>',
    "OLMo 3": "<function_calls>\nf(n=3\n</function_calls>",
    "LFM2": "<|tool_call_start|>[f(3)]<|tool_call_end|>",
    "FunctionGemma": "<start_function_call>call:f{n:3<end_function_call>",
    "FunctionGemma, a bare text": "<start_function_call>call:f{s:Paris}<end_function_call>",
    "FunctionGemma without its quotes": "call:f{s:Paris}",
    "prose and Command's form": 'Look: [{"tool_call_id": "0", "tool_name": "f", "parameters": {}}]',
    "Gemma 4": '<|tool_call>call:f{s:<|"|>a}<tool_call|>',
    "Command": '<|START_ACTION|>[{"tool_name": "f", "parameters": {"n": 3}<|END_ACTION|>',
    "a format that no row has": "<acme_tool_call>f -> n: 3</acme_tool_call>",
    "prose and JSON": 'I will look. {"name": "f", "arguments": {"n": 3}}',
    "prose and JSON in lines": 'I will look.\n{\n  "name": "f",\n  "arguments": {"n": 3}\n}\nDone.',
    "prose and a list": 'Here:\n[{"name": "f", "arguments": {"n": 3}}]',
    "prose and OpenAI's form": 'Yes: {"function": {"name": "f", "arguments": "{}"}}',
    "prose and damaged JSON": 'I will look. {"name": "f", "arguments": {"n": 3}',
    "prose and Python": "Let me look that up: f(n=3)",
    "prose and a list of Python": "Let me look.\n[f(n=3), get_weather(s='Paris')]",
    "prose and Python in code": "Let me look.\n`f(n=3)`\nOne moment.",
    "prose and a dotted name": "Sure, search.web(s='x')",
    "prose and a server's name": "Sure, search_web(s='x')",
    "prose and Mistral without a marker": 'Sure. f{"n": 3}',
    "JSON with other keys": '{"tool": "f", "args": {"n": 3}}',
    "prose and JSON with other keys": 'I look.\n{"function": "f", "input": {"n": 3}}',
    "LangChain": '```json\n{"action": "f", "action_input": {"n": 3}}\n```',
    "ReAct": 'Thought: I look.\nAction: f\nAction Input: {"n": 3}',
    "ReAct in bold": "**Action:** `f`\n**Action Input:** 3",
    "tags of no row": "<use>f(n=3)</use>",
    "Python, cut off": "[f(n=3, l=['a'",
    "Python without names": "f(3)",
    "JSON, cut off": '{"name": "f", "arguments": {"n": ',
}


@pytest.mark.parametrize("kind", _DAMAGED)
def test_a_call_that_is_seen_and_not_readable_is_a_format_error(kind: str) -> None:
    for reference in ([], _reference([("f", {"n": 3})])):
        verdict = _verify(_DAMAGED[kind], reference)
        assert verdict.failure is Failure.FORMAT, (kind, verdict)


_MARKERS = [
    *("<tool_call>", "<tool_calls>", "[TOOL_CALLS]", "<|python_tag|>", "<|python_start|>"),
    *("<function=name>", "<seed:tool_call>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"),
    *(
        "<|tool_call_begin|>",
        "<|tool_calls_section_begin|>",
        "<minimax:tool_call>",
        "<|tool_call|>",
    ),
    *("<function_call>", "<function_calls>", "<|action_start|>", "<start_function_call>"),
    *("<|START_ACTION|>", "<|tool_call>", "<|tool_call_start|>", "<acme_tool_call>", "<invoke >"),
]
_PROSE = [
    "I would open a call with {} here, but no function fits.",
    "`{}` opens a call; none is needed.",
    'The marker "{}" is of no use here',
    "A call starts with {}. You need none.",
    "Models write {} tags (or none at all).",
    "{}, as the manual says, starts a call.",
]


@pytest.mark.parametrize("marker", _MARKERS)
def test_prose_that_mentions_a_marker_makes_no_call(marker: str) -> None:
    for prose in _PROSE:
        text = prose.format(marker)
        assert _verify(text, []).correct, text
        assert _verify(text, _reference([("f", {"n": 3})])).failure is Failure.NO_ANSWER, text


@pytest.mark.parametrize(
    "text",
    [
        "No function fits.",
        "I could use f(n=3), but that isn't needed.",
        "Wrap it in <tool_call> and </tool_call> to call f.",
        "The function get_weather needs a city (s), such as Paris.",
        "In mathematics, f(x) = 3 and so f(3) = 3.",
        "We have g(x) = x, so the value is f(3)",
        'The answer is {"name": "Ada", "age": 36}',
        '{"name": "f"}',
        '{"tool": "none", "args": {"n": 3}}',
        '{"action": "f"}',
        "Action: none is needed.\nInput: none",
        "The tag <b>f</b> is bold",
        "```python\nimport functools\nprint(x, sep='')\n```",
        "The set is {1, 2}, the list is [1, 2]",
        "Please set arguments: {}",
        "See docs for open(path, mode='r').",
        "To answer I'd need functions to=functions",
        "functionality: none fits",
        "I'd write `<tool_call>{...}</tool_call>` if one fitted.",
        "function f is of no use",
        "call: 555-1234",
        "<tool_response>75</tool_response> It is 75.",
    ],
)
def test_other_prose_makes_no_call(text: str) -> None:
    assert _verify(text, []).correct
    assert _verify(text, _reference([("f", {"n": 3})])).failure is Failure.NO_ANSWER


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(n=3).", True),
        ("[f(n=3)].", True),
        ("`f(n=3)`.", True),
        ("f(3)!", True),
        ("Let me look that up: f(n=3).", True),
        ("Sure. search.web(s='x').\nOne moment.", True),
        ("Je cherche : f(n=3).", True),
        ("好的：f(n=3)。", True),
        ("I do not know, so I call f(n=3).", True),
        ("No answer yet: f(n=3).", True),
        ('I look: {"name": "f", "arguments": {"n": 3}}.', True),
        ("lookup(city='Oslo').", True),
        ("No need to call f(n=3).", False),
        ("I won't call f(n=3)", False),
        ("Without f(n=3).", False),
        ("No hace falta llamar a f(n=3).", False),
        ("Should I call f(n=3)?", False),
        ("The value is f(3).", False),
        ("See docs for open(path, mode='r').", False),
    ],
)
def test_a_call_may_end_a_sentence_that_does_not_deny_the_call(text: str, calls: bool) -> None:
    due = _reference([("f", {"n": 3})])
    assert _verify(text, []).failure is (Failure.FORMAT if calls else None)
    assert _verify(text, due).failure is (Failure.FORMAT if calls else Failure.NO_ANSWER)


def test_prose_and_a_call_of_a_function_that_no_row_describes() -> None:
    text = "I look it up: lookup(city='Paris')"
    assert _verify(text, [], {}).failure is Failure.FORMAT
    assert _verify("Then print() is called\nand sorted(x, reverse=True)", [], {}).correct


def test_gpt_oss_calls_are_those_of_the_last_turn() -> None:
    call = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"n": 3}<|call|>'
    final = "<|start|>assistant<|channel|>final<|message|>It is 3.<|return|>"
    answer = "<|start|>functions.f to=assistant<|channel|>commentary<|message|>3<|end|>"
    for text, made in (
        (call, True),
        (f"<|start|>user<|message|>Call f.<|end|><|start|>assistant{call}", True),
        (f"{call}{answer}{final}", False),
        (f"<|start|>user<|message|>{call}<|end|>{final}", False),
        ('analysisCall f.assistantcommentary to=functions.f json{"n": 3}', True),
    ):
        assert _verify(text, _reference([("f", {"n": 3})])).correct is made, text
        assert _verify(text, []).correct is not made, text


@pytest.mark.parametrize(
    "text",
    [
        'functions.f:0{"n": 3}functions.f:1{"n": 4}',
        'functionf\n```json\n{"n": 3}\n```\nfunctionf\n```json\n{"n": 4}\n```',
        'f{"n": 3}f{"n": 4}',
        "call:f{n:3}call:f{n:4}",
        "[f(n=3), f(n=4)]",
    ],
)
def test_calls_are_read_where_decoding_drops_the_special_tokens(text: str) -> None:
    assert _verify(text, _reference([("f", {"n": 3}), ("f", {"n": 4})])).correct
    assert _verify(text, []).failure is Failure.WRONG
    assert _verify(text, _reference([("f", {"n": 3})])).failure is Failure.WRONG


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a','b']", ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("{'k': True, 'j': None}", {"k": True, "j": None}),
        ("('a', 'b')", ["a", "b"]),
        ("[]", []),
        ("True", True),
        ("[1, -2.5]", [1, -2.5]),
        ("['it\\'s']", ["it's"]),
        ("{'k': ['a', {'i': 1}]}", {"k": ["a", {"i": 1}]}),
        ("[a, b]", "[a, b]"),
        ("[open('x')]", "[open('x')]"),
    ],
)
def test_values_between_tags_may_be_python_s(text: str, value: object) -> None:
    xml = f"<function=f>\n<parameter=tags>{text}</parameter>\n</function>"
    for kind in ("array", "object", "boolean", None):
        schema: dict[str, Any] = {"type": kind} if kind else {}
        columns = {"tools": [{"name": "f", "parameters": {"properties": {"tags": schema}}}]}
        assert _verify(xml, [{"name": "f", "arguments": {"tags": value}}], columns).correct
    for text_kind in ("string", ["string", "null"]):
        schema = {"type": text_kind}
        columns = {"tools": [{"name": "f", "parameters": {"properties": {"tags": schema}}}]}
        assert _verify(xml, [{"name": "f", "arguments": {"tags": text}}], columns).correct


_OPENAI = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"n": 3}'}}


@pytest.mark.parametrize(
    "reference",
    [
        [_OPENAI],
        [{"function": {"name": "f", "arguments": {"n": 3}}}],
        [{"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"n": 3}'}],
        [{"name": "f", "parameters": {"n": 3}}],
        {"role": "assistant", "content": None, "tool_calls": [_OPENAI]},
        [{"role": "assistant", "tool_calls": [_OPENAI]}],
        {"name": "f", "arguments": {"n": 3}},
        [[_OPENAI]],
    ],
)
def test_openai_s_forms_are_references(reference: object) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"n": 3}}</tool_call>'
    assert _verify(text, reference).correct
    assert _verify(text.replace("3", "4"), reference).failure is Failure.WRONG
    assert _verify("No.", reference).failure is Failure.NO_ANSWER


def test_a_reference_may_have_a_server_s_name_and_bfcl_a_function_named_function() -> None:
    made = [{"function": {"name": "search_web", "arguments": '{"s": "x"}'}}]
    assert _verify("search.web(s='x')", made).correct
    columns = {"tools": [{"name": "function", "parameters": {"properties": {"name": {}}}}]}
    assert _verify("function(name='a')", [{"function": {"name": ["a"]}}], columns).correct


@pytest.mark.parametrize(
    "reference",
    [
        [{"function": {"name": "f", "arguments": '{"n": '}}],
        [{"function": {"name": "f"}}],
        {"role": "assistant", "content": "f"},
        [{"name": "unknown", "arguments": {}}],
    ],
)
def test_a_reference_that_states_no_call_is_unjudged(reference: object) -> None:
    assert _verify("f(n=3)", reference).correct is None


def test_calls_in_a_text_are_read_without_judging_too() -> None:
    text = _WRITE["gpt-oss"](_CALLS["one"])
    sample = Sample(_json(_reference(_CALLS["one"])), columns={"tools": _TOOLS})
    assert ToolCalls()(text, sample).correct
