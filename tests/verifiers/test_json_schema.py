import json

import pytest

import rewardkit
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.json_schema import JsonSchema

_PERSON = json.dumps(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
        "required": ["name"],
        "additionalProperties": False,
    }
)


def _judged(text: str, reference: object = True, form: str = "json") -> Verdict:
    schema = reference if isinstance(reference, str) else json.dumps(reference)
    return JsonSchema(form=form)(text, Sample(schema))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada"}',
        ' {"age": 36.0, "name": "Ada"}\n',
        'Here it is:\n```json\n{"name": "Ada"}\n```\nI hope it helps.',
        '```\n{"name": "Ada"}\n```',
        'First\n```json\n{"name": 3}\n```\nno:\n~~~JSON\n{"name": "Ada"}\n~~~',
        'See `x`. <answer>{"name": "Ada"}</answer> Done.',
        '<answer>\n```json\n{"name": "Ada"}\n```\n</answer>',
        '```json\n{"name": "Ada"}\n```\nIt has\n```\none key\n```',
        '```python\nprint(1)\n```\n```json\n{"name": "Ada"}\n```\n```bash\nls\n```',
    ],
)
def test_one_document_that_fulfils_the_schema_is_right(text: str) -> None:
    verdict = _judged(text, _PERSON)
    assert verdict.correct, verdict
    assert rewardkit.verify("json_schema", f"<think>{{}}</think>{text}", _PERSON).correct


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": 3}', '/name: 3 is not of type "string"'),
        ('{"age": 3}', 'the document: "name" is a required property'),
        ('{"name": "Ada", "age": -1}', "/age: -1 is less than the minimum of 0"),
        ("{}", "required"),
        ("[]", "object"),
        ("null", "object"),
    ],
)
def test_a_document_that_breaks_the_schema_is_wrong(text: str, message: str) -> None:
    verdict = _judged(text, _PERSON)
    assert verdict.failure is Failure.WRONG
    assert message in verdict.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": "Ada", "name": "Bo"}', "the key 'name' occurs twice"),
        ('{"a": {"b": 1, "b": 1}}', "the key 'b' occurs twice"),
        ("NaN", "NaN isn't a number of JSON"),
        ('{"a": [Infinity]}', "Infinity isn't a number"),
        ('{"name": "Ada"} and more', "Extra data"),
        ('{"name": "Ada"}{"name": "Ada"}', "Extra data"),
        ('Sure: {"name": "Ada"}', "Expecting value"),
        ("{'name': 'Ada'}", "Expecting property name"),
        ('{"name": "Ada",}', ""),
        ("[" * 501 + "]" * 501, "nested more than 500 deep"),
        ("[" * 100_000, "nested"),
        ('"\\ud800"', "can't encode"),
        ('{"a\\udc00": 1}', "can't encode"),
    ],
)
def test_what_is_not_one_json_document_is_a_format_error(text: str, message: str) -> None:
    verdict = _judged(text)
    assert verdict.failure is Failure.FORMAT
    assert message in verdict.message
    assert "isn't one JSON document" in verdict.message


@pytest.mark.parametrize(
    "text", ["", "  \n", "<think>{}</think>", "So: <answer> </answer>", "```json\n```"]
)
def test_no_document_is_no_answer(text: str) -> None:
    assert rewardkit.verify("json_schema", text, "true").failure is Failure.NO_ANSWER


@pytest.mark.parametrize(
    "reference",
    [
        "{",
        "3",
        '{"type": "nonsense"}',
        '{"type": "string", "type": "number"}',
        '{"$ref": "http://127.0.0.1:1/schema"}',
        '{"$ref": "file:///etc/passwd"}',
        '{"$schema": "http://example.com/unknown"}',
        '{"schema": true, "values": [1]}',
        "",
        "[" * 100_000,
    ],
)
def test_what_is_not_a_schema_is_unjudged(reference: str) -> None:
    verdict = rewardkit.verify("json_schema", "{}", reference)
    assert verdict.correct is None
    assert verdict.message.startswith("the reference isn't a schema: ")


def test_a_column_holds_the_schema_where_the_reference_is_blank() -> None:
    columns = {"schema": {"type": "array"}}
    assert rewardkit.verify("json_schema", "[]", "", columns=columns).correct
    assert rewardkit.verify("json_schema", "{}", "", columns=columns).correct is False


@pytest.mark.parametrize(
    ("draft", "right"),
    [
        ("http://json-schema.org/draft-04/schema#", False),
        ("https://json-schema.org/draft/2020-12/schema", True),
    ],
)
def test_the_schema_names_its_draft(draft: str, right: bool) -> None:
    # in draft 4 a tuple is `items`, and `prefixItems` means nothing
    schema = {"$schema": draft, "items": {"type": "number"}, "prefixItems": [{"type": "string"}]}
    assert _judged('["a", 1]', schema).correct is right


_VALUES = {
    "schema": {"type": "object"},
    "values": {"price": 10, "/items/0/name": "tea", "items.1.name": "cup", "a~1b": True},
}
_ORDER = '{"price": 1e1, "items": [{"name": "tea"}, {"name": "cup"}], "a~1b": true}'


def test_values_must_equal_the_references() -> None:
    assert _judged(_ORDER, _VALUES).correct
    for old, new, message in (
        ("1e1", "10.0000000000000000001", "price isn't the reference's"),
        ("1e1", "true", "price isn't the reference's"),
        ("tea", "Tea", "/items/0/name isn't the reference's"),
        ('"cup"', "null", "items.1.name isn't the reference's"),
        ('"name": "cup"', '"nom": "cup"', "items.1.name is missing"),
        ("true", "1", "a~1b isn't the reference's"),
    ):
        verdict = _judged(_ORDER.replace(old, new), _VALUES)
        assert (verdict.failure, verdict.message) == (Failure.WRONG, message)


def test_a_value_may_be_a_whole_document() -> None:
    reference = {"schema": True, "values": {"": {"a": [1, {"b": None}]}}}
    assert _judged('{"a": [1.0, {"b": null}]}', reference).correct
    for text in ('{"a": [1, {"b": null}], "c": 1}', '{"a": [1]}', "{}", '{"a": [1, {"b": 0}]}'):
        assert _judged(text, reference).failure is Failure.WRONG


def test_numbers_are_exact() -> None:
    assert _judged("0.3", {"multipleOf": 0.1}).correct
    assert _judged("9007199254740993", {"const": 9007199254740993}).correct
    assert not _judged("9007199254740993", {"const": 9007199254740992}).correct


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("yaml", "name: Ada\nage: 36"),
        ("yaml", "Here:\n```yml\n{name: Ada, age: 36}\n```"),
        ("toml", 'name = "Ada"\nage = 36'),
    ],
)
def test_yaml_and_toml(form: str, text: str) -> None:
    assert _judged(text, _PERSON, form).correct


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("yaml", "name: Ada\nname: Bo"),
        ("yaml", "name: Ada\n---\nname: Bo"),
        ("yaml", "1: Ada"),
        ("yaml", "name: [Ada"),
        ("yaml", "name: !!python/object/apply:os.system [ls]"),
        ("yaml", "age: .nan"),
        ("yaml", "&a [*a]"),
        ("yaml", "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9))),
        ("toml", 'name = "Ada"\nname = "Bo"'),
        ("toml", "age = nan"),
        ("toml", "name: Ada"),
    ],
)
def test_what_is_not_one_document_in_its_form(form: str, text: str) -> None:
    assert _judged(text, True, form).failure is Failure.FORMAT


def test_yaml_has_the_types_of_json() -> None:
    reference = {"schema": True, "values": {"a": "2024-05-01", "b": "yes", "c": 0.5, "d": None}}
    assert _judged("a: 2024-05-01\nb: yes\nc: 5e-1\nd:", reference, "yaml").correct
    assert _judged("a = 2024-05-01", {"properties": {"a": {"type": "string"}}}, "toml").correct


def test_check_says_what_an_empty_document_earns() -> None:
    notes = JsonSchema().notes
    assert notes(Sample(_PERSON)) == []
    assert notes(Sample('{"type": "object"}')) == ["paid without content: {}"]
    assert notes(Sample("{")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ('"' + "a" * 5_000_000 + '!"', '{"pattern": "^(a+)+$"}'),
        ("[" + "1," * 3_000_000 + "1]", '{"items": {"$ref": "#"}, "uniqueItems": true}'),
        (
            '{"a":' * 400 + "1" + "}" * 400,
            '{"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}}',
        ),
        ("1", '{"$ref": "#"}'),
        ("1" * 1_000_000, '{"multipleOf": 0.0000001}'),
    ],
    ids=["pattern", "long", "deep", "itself", "digits"],
)
def test_hostile_documents_end_in_time(text: str, reference: str) -> None:
    verdict = rewardkit.verify("json_schema", text, reference, timeout=3)
    assert verdict.correct is not None or verdict.failure is Failure.TIMEOUT


_POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


@pytest.mark.parametrize(
    "reference",
    [
        {"name": "point", "strict": True, "schema": _POINT},
        {"name": "point", "description": "A point", "schema": _POINT},
        {"type": "json_schema", "json_schema": {"name": "p", "strict": True, "schema": _POINT}},
        {"type": "json_schema", "name": "p", "schema": _POINT, "strict": True},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": _POINT}}},
        {"text": {"format": {"type": "json_schema", "name": "p", "schema": _POINT}}},
        {"schema": _POINT, "values": {"x": 3}, "strict": True},
        {"name": "p", "schema": {"type": "object"}, "values": {"x": 3}},
        {"name": "point", "input_schema": _POINT},
        {"name": "p", "description": "d", "inputSchema": _POINT},
        {"json_schema": _POINT},
        {"json_schema": json.dumps(_POINT)},
        {"schema": json.dumps(_POINT), "strict": False},
        {"type": "function", "function": {"name": "p", "parameters": _POINT, "strict": True}},
        {"name": "p", "parameters": _POINT},
        {"type": "object", "name": "p", "schema": _POINT},
        {"schema": {"schema": _POINT}},
        {"response_schema": _POINT},
        {"title": "A point", "schema": _POINT},
        {**_POINT, "x-order": 1, "example": {"x": 1}, "note": "whole", "propertyOrdering": ["x"]},
        {"$defs": {"x": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/x"}}}
        | {"required": ["x"]},
        {"anyOf": [{}, {"type": "null"}], "required": ["x"], "properties": {"x": {"enum": [3]}}},
    ],
)
def test_schemas_in_the_wrappers_of_apis(reference: object) -> None:
    for sample in (Sample(json.dumps(reference)), Sample("", columns={"schema": reference})):
        verdicts = [JsonSchema()(text, sample) for text in ('{"x": 3}', '{"x": "a"}', "{}")]
        assert [verdict.correct for verdict in verdicts] == [True, False, False], verdicts


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "it constrains nothing"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, "it constrains nothing"),
        ({"title": "Point", "description": "x and y"}, "it constrains nothing"),
        ({"name": "Ada", "age": 36}, "it constrains nothing"),
        ({"x": {"type": "integer"}, "y": {"type": "integer"}}, "it constrains nothing"),
        ({"properties": {"x": {}, "y": {"description": "up"}}}, "it constrains nothing"),
        ({"required": [], "properties": {}}, "it constrains nothing"),
        ({"items": {}, "additionalProperties": True}, "it constrains nothing"),
        ({"format": "email"}, "it constrains nothing"),
        ({"$defs": {"point": _POINT}}, "it constrains nothing"),
        ({"name": "p", "strict": True, "schema": {}}, "it constrains nothing"),
        ({"schema": {}, "values": {}}, "it constrains nothing"),
        ({"name": "p", "schema": 3}, "it constrains nothing"),
        ({"tpye": "object"}, "'tpye' is no keyword; did you mean 'type'?"),
        ({"typ": "object", "required": ["x"]}, "did you mean 'type'?"),
        ({"type": "object", "requird": ["x"]}, "did you mean 'required'?"),
        ({"type": "object", "Required": ["x"]}, "did you mean 'required'?"),
        ({"type": "object", "propertys": {"x": {"type": "integer"}}}, "did you mean 'properties'?"),
        ({"type": "array", "item": {"type": "integer"}}, "did you mean 'items'?"),
        ({"type": "string", "min_length": 3}, "did you mean 'minLength'?"),
        ({"properties": {"x": {"type": "string", "enums": ["a"]}}}, "did you mean 'enum'?"),
        ({"$defs": {"x": {"anyof": [{"type": "null"}]}}, "$ref": "#/$defs/x"}, "mean 'anyOf'?"),
        ({"$ref": "#/$defs/missing"}, "missing"),
        ({"properties": {"x": {"$ref": "#/definitions/x"}}, "type": "object"}, "definitions/x"),
        ({"schema": _POINT, "value": {"x": 3}}, "beside 'schema' it has 'value'"),
        ({"json_schema": _POINT, "input_schema": _POINT}, "more than one schema"),
        ({"type": "objekt"}, "objekt"),
        ({"schema": "{"}, "Expecting"),
        ([_POINT], ""),
    ],
)
def test_a_reference_that_would_pass_anything_by_mistake_is_unjudged(
    reference: object, message: str
) -> None:
    for sample in (Sample(json.dumps(reference)), Sample("", columns={"schema": reference})):
        verdict = JsonSchema()('{"x": "a"}', sample)
        assert verdict.correct is None
        assert verdict.message.startswith("the reference isn't a schema: ")
        assert message in verdict.message
