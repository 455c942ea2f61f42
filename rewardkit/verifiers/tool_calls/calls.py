"""The calls in a completion, in the formats of FORMATS: read in linear time, and never run."""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rewardkit.verifiers.json_schema import refuse_number, unique_keys
from rewardkit.verifiers.languages import language_of, load_language
from rewardkit.verifiers.reading import fenced_block
from rewardkit.verifiers.stated import LONGEST_SENTENCE

LONGEST_PYTHONIC = 100_000
"""Characters of a text that is read as Python's calls."""

MOST_UNMARKED = 100
"""How many places of a text are tried as the start of a call without a marker."""

JSON_TYPES = {
    name: kind
    for kind, names in {
        "array": "array tuple list Array ArrayList Queue Stack",
        "boolean": "boolean bool Boolean",
        "integer": "integer byte int long short Bigint",
        "number": "number double float",
        "object": "object dict HashMap Hashtable",
        "string": "string char String",
    }.items()
    for name in names.split()
}
"""The JSON type of each name that a function's description may have for it."""

STRICT_JSON = json.JSONDecoder(object_pairs_hook=unique_keys, parse_constant=refuse_number)
"""Refuses duplicate keys, NaN and infinities."""

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_SEPARATOR = re.compile(r"[\s;,]*")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a function."""

    name: str
    arguments: Mapping[str, Any]

    def as_json(self) -> str:
        """Return the call as JSON, which `calls_in` reads again."""
        return _ENCODER.encode({"name": self.name, "arguments": self.arguments})


Columns = Mapping[str, object]
Read = Callable[[str, int, Columns], tuple[list[ToolCall], int]]
"""Reads the calls that start at a place of a text; also returns where they end."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a call is written between markers: the pattern that it starts with, and its reader."""

    start: str
    read: Read


def _json_shape(text: str, at: int, columns: Columns) -> tuple[list[ToolCall], int]:
    """JSON documents: calls, or lists of calls."""
    calls: list[ToolCall] = []
    while text.startswith(("{", "["), at):
        document, end = STRICT_JSON.raw_decode(text, at)
        calls += _listed(document)
        at = _after(_SEPARATOR, text, end)
    return calls, at


def _named_shape(header: str) -> Shape:
    """A header with the function's name, and its arguments as a JSON object."""
    pattern = re.compile(header)

    def read(text: str, at: int, columns: Columns) -> tuple[list[ToolCall], int]:
        named = pattern.match(text, at)
        assert named is not None  # the shape starts with it
        arguments, end = STRICT_JSON.raw_decode(text, named.end())
        return [call_of({"name": named["name"], "arguments": arguments})], end

    return Shape(f"(?={re.sub('[?]P<name>', '?:', header)})", read)


def _python_shape(text: str, at: int, columns: Columns) -> tuple[list[ToolCall], int]:
    """Python's calls, up to the next marker."""
    boundary = _BOUNDARY.search(text, at)
    end = boundary.start() if boundary else len(text)
    return pythonic_calls(text[at:end]), end


def _tags_shape(opening: str, parameter: str, value_end: str, closing: str) -> Shape:
    """A tag with the function's name, and a tag for each argument with its value as text."""
    opens, parameters = re.compile(opening), re.compile(rf"\s*{parameter}")

    def read(text: str, at: int, columns: Columns) -> tuple[list[ToolCall], int]:
        opened = opens.match(text, at)
        closed = text.find(closing, opened.end()) if opened else -1
        if opened is None or closed < 0:
            raise ValueError(f"{text[at : at + 80]!r} isn't closed by {closing}")
        name, body = opened["name"].strip(), text[opened.end() : closed]
        end = closed + len(closing)
        if body.lstrip().startswith("{"):
            return [call_of({"name": name, "arguments": body})], end
        functions = functions_in(columns).items()
        schemas = next(
            (schemas_of(function) for key, function in functions if is_named(name, key)), {}
        )
        pairs = [
            (key, value if is_text else _typed(value, schemas.get(key, {})))
            for key, value, is_text in _tagged(body, parameters, value_end)
        ]
        return [ToolCall(name, unique_keys(pairs))], end

    return Shape(f"(?={re.sub('[?]P<name>', '?:', opening)})", read)


def _tagged(
    body: str, parameters: re.Pattern[str], value_end: str
) -> Iterator[tuple[str, str, bool]]:
    """The arguments of a call in tags: names, texts, and whether a tag says that it is a string."""
    at = 0
    while opening := parameters.match(body, at):
        closed = body.find(value_end, opening.end())
        if closed < 0:
            break
        value = body[opening.end() : closed].removeprefix("\n").removesuffix("\n")
        yield opening["key"].strip(), value, "true" in opening.groupdict().get("string", "")
        at = closed + len(value_end)
    if rest := body[at:].strip():
        raise ValueError(f"{rest[:80]!r} isn't an argument that is closed by {value_end}")


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """The value of a text by the argument's type: the text for a string, else JSON or Python."""
    stated_type = schema.get("type")
    kinds = stated_type if isinstance(stated_type, list) else [stated_type]
    if {JSON_TYPES.get(str(kind), kind) for kind in kinds} - {"null"} == {"string"}:
        return None if "null" in kinds and text.strip() == "null" else text
    stated = text.strip()
    try:
        return STRICT_JSON.decode(_CONSTANTS.get(stated, stated))
    except ValueError:
        pass
    if not stated.startswith(("[", "{", "(")):
        return text
    try:
        return _literal(_python_tree(stated, "eval").body)  # type: ignore[attr-defined]
    except ValueError:
        return text


def _gemma_shape(quote: str, closing: str) -> Shape:
    """`call:NAME{key:value}`: texts between quotes of their own, keys bare, the rest as in JSON."""
    opening = re.compile(r"call:(?P<name>[\w.-]+)\s*")
    unlike_json = re.compile(
        rf"{quote}(?P<text>.*?){quote}|(?<=[{{,])\s*(?P<key>[^\s\"{{}}\[\],:]+)\s*(?=:)", re.DOTALL
    )

    def as_json(match: re.Match[str]) -> str:
        return _ENCODER.encode(match["key"] if match["text"] is None else match["text"])

    def read(text: str, at: int, columns: Columns) -> tuple[list[ToolCall], int]:
        opened, end = opening.match(text, at), text.find(closing, at + 1)
        end = len(text) if end < 0 else end
        if opened is None:
            raise ValueError(f"{text[at : at + 80]!r} isn't call:NAME{{…}}")
        arguments = STRICT_JSON.decode(unlike_json.sub(as_json, text[opened.end() : end]))
        return [call_of({"name": opened["name"], "arguments": arguments})], end

    return Shape("(?=call:)", read)


_SPACE = re.compile(r"\s*")
_MISTRAL = (
    r"(?:functions\.)?(?P<name>[\w.-]++)(?::\d+)?\s*"
    r"(?:\[CALL_ID\][^\[\]{}]*)?(?:\[ARGS\])?\s*(?=\{)"
)
"""Mistral's calls, and Kimi's where decoding drops the special tokens."""

JSON = Shape(r"(?=[\[{])", _json_shape)
PYTHON = Shape(r"(?=\[?\s*[A-Za-z_][\w.]*\()", _python_shape)


@dataclass(frozen=True, slots=True)
class CallFormat:
    """How models write calls: what opens and closes them, as patterns, and their shape.

    Without `closes`, any text may follow.
    """

    models: str
    opens: str
    shape: Shape
    closes: str = ""


FORMATS = (
    CallFormat("Hermes, Qwen, Granite 3.1 and 4", "<tool_call>", JSON, "</tool_call>"),
    CallFormat("MiniMax M1, Hunyuan, Jamba", "<tool_calls>", JSON, "</tool_calls>"),
    CallFormat("LongCat", "<longcat_tool_call>", JSON, "</longcat_tool_call>"),
    CallFormat("Mistral", r"\[TOOL_CALLS\]", JSON, r"\Z"),
    CallFormat("Mistral since Small 3.2", r"\[TOOL_CALLS\]", _named_shape(_MISTRAL), r"\Z"),
    CallFormat("Llama 3 and 4", r"<\|python_(?:tag|start)\|>", PYTHON, r"<\|python_end\|>"),
    CallFormat("Llama 3 and 4", r"<\|python_(?:tag|start)\|>", JSON, r"<\|python_end\|>"),
    CallFormat("LFM2", r"<\|tool_call_start\|>", PYTHON, r"<\|tool_call_end\|>"),
    CallFormat("Granite 3.0, Phi-4", r"<\|tool_call\|>", JSON, r"(?:<\|/tool_call\|>)?"),
    CallFormat("Granite 20B", "<function_call>", JSON, "(?:</function_call>)?"),
    CallFormat("Phi-4 mini", r"functools(?=\s*\[)", JSON),
    CallFormat("InternLM", r"<\|action_start\|>\s*<\|plugin\|>", JSON, r"<\|action_end\|>"),
    CallFormat("Command", r"<\|START_ACTION\|>", JSON, r"<\|END_ACTION\|>"),
    CallFormat("OLMo 3", "<function_calls>", PYTHON, "</function_calls>"),
    CallFormat(
        "Qwen3-Coder, Seed-OSS, Llama 3.1",
        r"(?:<(?:seed:)?tool_call>\s*)?(?=<function=)",
        _tags_shape(
            r"<function=(?P<name>[^<>]*)>",
            r"<parameter=(?P<key>[^<>]*)>",
            "</parameter>",
            "</function>",
        ),
        r"(?:</(?:seed:)?tool_call>)?",
    ),
    CallFormat(
        "GLM",
        "<tool_call>",
        _tags_shape(
            r"(?<![ \t])(?P<name>[\w.-]++)(?=\s*<arg_key>|\s*</tool_call>)",
            r"<arg_key>(?P<key>[^<>]*)</arg_key>\s*<arg_value>",
            "</arg_value>",
            "</tool_call>",
        ),
    ),
    CallFormat(
        "MiniMax M2",
        r"(?:<(?:minimax:tool_call|function_calls)>\s*)?(?=<invoke )",
        _tags_shape(
            r"<invoke\s+name=[\"']?(?P<name>[^<>\"']*)[\"']?>",
            r"<parameter\s+name=[\"']?(?P<key>[^<>\"']*)[\"']?>",
            "</parameter>",
            "</invoke>",
        ),
        r"(?:</(?:minimax:tool_call|function_calls)>)?",
    ),
    CallFormat(
        "DeepSeek V3.2",
        r"(?:<｜DSML｜(?:function|tool)_calls>\s*)?(?=<｜DSML｜invoke )",
        _tags_shape(
            r"<｜DSML｜invoke\s+name=\"(?P<name>[^<>\"]*)\">",
            r"<｜DSML｜parameter\s+name=\"(?P<key>[^<>\"]*)\"(?:\s+string=\"(?P<string>\w*)\")?>",
            "</｜DSML｜parameter>",
            "</｜DSML｜invoke>",
        ),
        r"(?:</｜DSML｜(?:function|tool)_calls>)?",
    ),
    CallFormat(
        "DeepSeek V3, V3.1 and R1",
        "(?:<｜tool▁calls▁begin｜>\\s*)?<｜tool▁call▁begin｜>",
        _named_shape(
            r"(?:function<｜tool▁sep｜>\s*)?(?P<name>[\w.-]++)\s*(?:<｜tool▁sep｜>|```json)\s*(?=\{)"
        ),
        "(?:```\\s*)?(?:<｜tool▁call▁end｜>|\\Z)",
    ),
    CallFormat(
        "DeepSeek V3 and R1, decoded without special tokens",
        r"(?:\A|(?<=```)|(?<=```\n))function(?=[\w.-]++\s*```json)",
        _named_shape(r"(?P<name>[\w.-]++)\s*```json\s*(?=\{)"),
        r"(?:```)?",
    ),
    CallFormat(
        "Kimi K2",
        r"(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>",
        _named_shape(
            r"(?:functions\.)?(?P<name>[\w.-]++)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(?=\{)"
        ),
        r"<\|tool_call_end\|>",
    ),
    CallFormat(
        "gpt-oss",
        r"(?:<\|start\|>\s*assistant)?(?:<\|channel\|>\s*\w+)?\s*(?=\bto=functions\.)",
        _named_shape(
            r"to=functions\.(?P<name>[\w.-]++)[^<>{}]{0,80}(?:<\|channel\|>[^<>{}]{0,80})?"
            r"(?:<\|constrain\|>[^<>{}]{0,80})?(?:<\|message\|>)?\s*(?=\{)"
        ),
        r"(?:<\|(?:call|end)\|>)?",
    ),
    CallFormat(
        "FunctionGemma",
        "<start_function_call>",
        _gemma_shape("<escape>", "<end_function_call>"),
        "<end_function_call>",
    ),
    CallFormat(
        "FunctionGemma, decoded without special tokens",
        r"(?:\A|(?<=\}))(?=call:[\w.-]+\{)",
        _gemma_shape("<escape>", "call:"),
    ),
    CallFormat(
        "Gemma 4", r"<\|tool_call>", _gemma_shape(r'<\|"\|>', "<tool_call|>"), r"<tool_call\|>"
    ),
)
"""A row for each way to write calls; rows with the same opening differ in how the shape starts."""

_UNKNOWN = (
    r"<[|｜]?(?![^<>]*end\b)(?!/)[^<>\s/]{0,30}(?:tool|function|plugin|action)"
    r"[_▁-](?:calls?|start|prefix)[^<>\s]{0,30}>"
)
"""A tag that opens a call, in whatever format."""

_OPENS = "|".join(dict.fromkeys(form.opens for form in FORMATS))
_ANY = f"{_OPENS}|{_UNKNOWN}"
_ROWS = "|".join(f"(?P<f{i}>{form.opens}\\s*{form.shape.start})" for i, form in enumerate(FORMATS))
_OPENING = re.compile(rf"(?=<[\w|｜]|\[TOOL|func|to=|call:)(?:{_ROWS}|{_ANY})")
_CLOSINGS = [re.compile(rf"\s*(?:{form.closes}|(?={_ANY})|\Z)") for form in FORMATS]
_BOUNDARY = re.compile(
    "|".join(f"{form.opens}|{form.closes}" for form in FORMATS if form.shape is PYTHON)
)
_TAG = r"(?:<[^<>\n]{1,60}>|\[TOOL_CALLS\])"
_MENTION = re.compile(
    rf"{_TAG}(?:[ \t]+[^\W\d_][\w'’-]*(?=[ \t]+(?:[^\W\d_]|\(|</)|[.,;:!?)])|[ \t]*[.,;:!?)])"
)
_QUOTED = re.compile(
    rf"[`\"'“‘«]{_TAG}(?:[^{{(\n]{{0,200}}?|[^\n`]{{0,200}}?(?:\.\.\.|…)[^\n`]{{0,200}}?)[`\"'”’»]"
)


def calls_in(text: str, columns: Columns) -> list[ToolCall]:
    """Return the calls in a message's field `tool_calls`, else the calls in its text.

    ValueError or RecursionError if one can't be read.
    """
    listed = columns.get("tool_calls")
    if isinstance(listed, str):
        listed = STRICT_JSON.decode(listed)
    if listed:
        return _listed(listed)
    text = _with_channels(text, columns)
    calls: list[ToolCall] = []
    at, is_marked = 0, False
    while marker := _OPENING.search(text, at):
        if end := _mention_end(text, marker.start()):
            at = end
            continue
        if marker.lastgroup is None:
            raise ValueError(
                f"{_excerpt(text, marker.start())} isn't a call as any known model writes it"
            )
        row = int(marker.lastgroup[1:])
        found, end = FORMATS[row].shape.read(text, marker.end(), columns)
        if (closing := _CLOSINGS[row].match(text, end)) is None:
            raise ValueError(f"{_excerpt(text, end)} follows it")
        at, is_marked = closing.end(), True
        calls += found
    return calls if is_marked else _unmarked(text, columns)


def _with_channels(text: str, columns: Columns) -> str:
    """gpt-oss's last turn with its calls, which are in other channels than its text."""
    whole = columns.get("conversation")
    if not isinstance(whole, str) or "to=functions." not in whole:
        return text
    *others, turn = re.split(r"<\|start\|>(?!\s*assistant)", whole)
    start = turn.find("<|start|>") if others else 0
    return turn[start:] if start >= 0 else text


def _mention_end(text: str, start: int) -> int:
    """The end of a marker that prose mentions; 0 if a call begins there."""
    mention = _QUOTED.match(text, start - 1) if start else None
    mention = mention or _MENTION.match(text, start)
    return mention.end() if mention else 0


def _excerpt(text: str, at: int) -> str:
    return repr(text[at : at + 80])


def _unmarked(text: str, columns: Columns) -> list[ToolCall]:
    """The calls of a text or a code block that holds calls alone; none for any other text.

    ValueError for a call that stands in other text, or that can't be read.
    """
    block = fenced_block(text, "json", "python", "tool_code", "tool_call").strip()
    readers: list[Callable[[str], list[ToolCall]]] = []
    if block[:1] in ("{", "[") or _NAMED.match(block):  # decoders may drop Mistral's marker
        readers.append(_documents)
    if len(block) <= LONGEST_PYTHONIC and re.match(PYTHON.start, block):
        readers.append(pythonic_calls)
    for read in readers:
        try:
            return read(block)
        except ValueError:  # it may be in the other format, or no call
            continue
    if place := _unread_call(text[-LONGEST_PYTHONIC:], columns):
        raise ValueError(f"{place!r:.80} isn't a call alone, marked or in a code block")
    return []


def _documents(text: str) -> list[ToolCall]:
    calls: list[ToolCall] = []
    at = 0
    while at < len(text):
        read = _read_named if _NAMED.match(text, at) else _json_shape
        found, end = read(text, at, {})
        if end == at:
            raise ValueError(f"{_excerpt(text, at)} isn't a call")
        calls += found
        at = _after(_SEPARATOR, text, end)
    return calls


_NAMED = re.compile(_MISTRAL)
_read_named = _named_shape(_MISTRAL).read
_START = re.compile(
    r"""(?P<json>[\[{]\s*(?:\{\s*)?"(?:name|type|function|arguments|parameters|tool_name|tool_call_id|tool|action|args)"\s*:)
    |(?<![\w.])(?<![\w.-]-)(?P<name>[A-Za-z_][\w.-]*+)(?:(?P<python>\()|\s*(?=\{\s*["}]))""",
    re.VERBOSE,
)
_LINE_END = re.compile(r"(?:[\])}`\"'”’»;,.!。！*\t ]|</[^<>\s]{1,40}>)*(?=\n|\Z)")
_CLAUSE_END = re.compile(r"[.,;:!?。，：；！？\n]")
_REACT = re.compile(
    r"^[ \t*]{0,8}Action[ \t*]{0,8}:[ \t*`]{0,8}[\w.-]{1,100}+[ \t*`]{0,8}\n"
    r"[ \t*]{0,8}Action Input",
    re.MULTILINE,
)
_BRACKET = re.compile(r"""[()]|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'""")


def _unread_call(text: str, columns: Columns) -> str:
    """The call without a marker that stands in a text, up to the end of a line; "" without one."""
    functions = functions_in(columns)
    if react := _REACT.search(text):
        return react[0]
    for count, start in enumerate(_START.finditer(text)):
        if count == MOST_UNMARKED:
            break
        is_known = any(is_named(start["name"] or "", name) for name in functions)
        if start["json"]:
            end = _json_call_end(text, start.start(), functions)
        elif start["python"]:
            end = _python_call_end(text, start, is_known=is_known)
        else:
            end = _object_end(text, _after(_SPACE, text, start.end())) if is_known else -1
        if end >= 0 and _LINE_END.match(text, end) and not _is_denied(text[: start.start()]):
            return text[start.start() : end]
    return ""


def _is_denied(before: str) -> bool:
    """Whether the clause before a call denies the call: "No need to call f(n=3)"."""
    clause = _CLAUSE_END.split(before[-LONGEST_SENTENCE:])[-1]
    language = language_of(clause) or load_language("en")
    return language.negation.search(clause) is not None


def _json_call_end(text: str, at: int, functions: Iterable[str]) -> int:
    """The end of a JSON document that is a call, perhaps a damaged call; -1 for any other.

    An object with the name of a function and an object of its own is a call under other keys.
    """
    try:
        document, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        return len(text) if re.search(r'"(?:arguments|parameters)"\s*:', text[at:]) else -1
    for entry in document if isinstance(document, list) else [document]:
        values = list(entry.values()) if isinstance(entry, Mapping) else []
        names = [value for value in values if isinstance(value, str)]
        named = any(is_named(name, function) for name in names for function in functions)
        if named and any(isinstance(value, Mapping) for value in values):
            return end
        try:
            call_of(entry)
        except ValueError:
            continue
        return end
    return -1


def _object_end(text: str, at: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except ValueError:
        return len(text)


def _python_call_end(text: str, start: re.Match[str], *, is_known: bool) -> int:
    """The end of a call in Python; -1 for prose, mathematics and code.

    A known function's call may be damaged; that of any other is readable, with an argument.
    """
    depth, end = 0, -1
    for bracket in _BRACKET.finditer(text, start.end() - 1, start.end() + 10_000):
        depth += {"(": 1, ")": -1}.get(bracket[0], 0)
        if not depth:
            end = bracket.end()
            break
    names_arguments = re.compile(r"\s*(?:\w+\s*=(?!=)|\))").match(text, start.end())
    if is_known:
        before = text[: start.start()].rpartition("\n")[2].strip(" \t[`")
        if before and not names_arguments:
            return -1
        return len(text) if end < 0 else end
    if end < 0 or not names_arguments or "```" in text:
        return -1
    try:
        calls = pythonic_calls(text[start.start() : end])
    except ValueError:
        return -1
    return end if calls[0].arguments else -1


def _after(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def functions_in(columns: Columns) -> dict[str, Mapping[str, Any]]:
    """Return the functions that a row describes, by name. ValueError if they can't be read."""
    listed = columns.get("tools") or columns.get("function") or []
    if isinstance(listed, str):
        listed = json.loads(listed)
    functions = {}
    for entry in listed if isinstance(listed, list) else [listed]:
        function = _inner(entry)
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ValueError(f"{entry!r:.80} isn't the description of a function")
        functions[function["name"]] = function
    return functions


def schemas_of(function: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of a function's arguments, without the empty columns of a table."""
    schemas = (function.get("parameters") or {}).get("properties") or {}
    return {name: schema for name, schema in schemas.items() if schema is not None}


def is_named(name: str, function: str) -> bool:
    """Return whether a call names a function; servers write its dots as underscores."""
    return name in (function, function.replace(".", "_"))


def _listed(document: object) -> list[ToolCall]:
    return [call_of(entry) for entry in (document if isinstance(document, list) else [document])]


def _inner(entry: object) -> object:
    """What OpenAI puts into the field `function`, or the entry itself."""
    inner = entry.get("function") if isinstance(entry, Mapping) else None
    return inner if isinstance(inner, Mapping) else entry


def states_call(entry: object) -> bool:
    """Return whether an object states a call, by itself or in OpenAI's form."""
    stated = _inner(entry)
    return (
        isinstance(stated, Mapping)
        and isinstance(stated.get("name", stated.get("tool_name")), str)
        and not {"arguments", "parameters"}.isdisjoint(stated)
    )


def call_of(entry: object) -> ToolCall:
    """Return the call that JSON states, by itself or in OpenAI's form. ValueError without one."""
    stated = _inner(entry)
    if isinstance(stated, Mapping) and states_call(entry):
        arguments = stated.get("arguments", stated.get("parameters"))
        if isinstance(arguments, str) and arguments.strip():
            arguments = STRICT_JSON.decode(arguments)
        if arguments is None or isinstance(arguments, str):
            arguments = {}
        if isinstance(arguments, Mapping):
            return ToolCall(stated.get("name", stated.get("tool_name")), arguments)
    raise ValueError(f"{entry!r:.80} isn't a call with a name and arguments")


def _python_tree(text: str, mode: str) -> ast.AST:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python will refuse one day
            return ast.parse(text, mode=mode)
    except (SyntaxError, MemoryError) as error:
        raise ValueError(f"{text[:80]!r} isn't Python: {error}") from None


def pythonic_calls(text: str) -> list[ToolCall]:
    """Return the calls in Python code: a call a line, or a list. ValueError for any other code."""
    if len(text) > LONGEST_PYTHONIC:
        raise ValueError(f"its calls have more than {LONGEST_PYTHONIC:,} characters")
    module = _python_tree(textwrap.dedent(text).strip(), "exec")
    calls: list[ToolCall] = []
    for statement in module.body:  # type: ignore[attr-defined]
        node = statement.value if isinstance(statement, ast.Expr) else statement
        calls += map(_python_call, node.elts if isinstance(node, ast.List) else [node])
    return calls


def _python_call(node: ast.AST) -> ToolCall:
    match node:
        case ast.Call(func=ast.Name() | ast.Attribute(), args=[]):
            name = ast.unparse(node.func)
            pairs = [(keyword.arg or "**", _literal(keyword.value)) for keyword in node.keywords]
            if re.fullmatch(r"\w+(\.\w+)*", name) and "**" not in dict(pairs):
                return ToolCall(name, unique_keys(pairs))
    raise ValueError("it isn't a call with named arguments")


def _literal(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return node.value
        case ast.Name(id="null" | "true" | "false" as name):  # JSON's, as OLMo writes them
            return STRICT_JSON.decode(name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=nodes):
            return [_literal(item) for item in nodes]
        case ast.Tuple(elts=nodes):
            return tuple(_literal(item) for item in nodes)
        case ast.Dict(keys=keys, values=values):
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            if len(names) == len(keys) and all(isinstance(name, str) for name in names):
                return unique_keys(list(zip(names, map(_literal, values), strict=True)))
    raise ValueError(f"{ast.unparse(node):.80} isn't a value")
