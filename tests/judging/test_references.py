"""What a row's reference may be, and which column holds it: the same on every route."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rewardkit.errors import DataError, UnknownName
from rewardkit.frameworks import areal, easyr1, openrlhf, verl
from rewardkit.records import REFERENCE_COLUMNS
from rewardkit.registry import resolve
from rewardkit.trainers import reward_func, reward_funcs
from tests.support.commands import rewardkit as command


def by_verl(name: str, text: str, reference: object) -> object:
    return getattr(verl, name)("set", text, reference)["score"]


def by_areal(name: str, text: str, reference: object) -> object:
    return getattr(areal, name)("?", text, answer=reference)


def by_easyr1(name: str, text: str, reference: object) -> object:
    return getattr(easyr1, name)([{"response": text, "ground_truth": reference}])[0]["overall"]


def by_openrlhf(name: str, text: str, reference: object) -> object:
    return getattr(openrlhf, name)(["p" + text], ["p"], [reference])["rewards"]


def by_trl(name: str, text: str, reference: object) -> object:
    return reward_func(name)([text], ground_truth=[reference])[0]


def by_trl_task(name: str, text: str, reference: object) -> object:
    functions, _ = reward_funcs(name, reference="gold")
    return functions[0]([text], gold=[reference])[0]


ROUTES: list[Callable[[str, str, object], object]] = [
    *(by_verl, by_areal, by_easyr1, by_openrlhf, by_trl, by_trl_task),
]
FOUR = {"target": ["4"]}
NOT_AN_ANSWER: dict[str, tuple[object, str]] = {
    "the key of the report": (FOUR, "use the value of 'target'"),
    "another key": ({"final": "4"}, "use the value of 'final'"),
    "a usual key among others": ({"style": "rule", "ground_truth": "4"}, "'ground_truth'"),
    "nested": ({"answer": {"value": "4"}}, "'answer'"),
    "a list of objects": ([FOUR], "a list of objects with target"),
    "an array of objects": (np.array([FOUR]), "a list of objects with target"),
    "a scalar of Arrow": (pa.scalar(FOUR), "'target'"),
    "no key": ({}, "an object without a key"),
    "a nested list": ([["4"]], "a list with a value of type list"),
    "an array of two dimensions": (np.array([["4"]]), "a list with a value of type list"),
    "bytes": (b"4", "a value of type bytes"),
    "a set": ({"4"}, "a value of type set"),
    "an object after a text": (["4", FOUR], "a list with a value of type dict"),
}
RIGHT = {
    "math": r"\boxed{4}",
    "gsm8k": "#### 4",
    "exact": "<answer>4</answer>",
    "f1": "<answer>4</answer>",
    "regex": "<answer>4</answer>",
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", NOT_AN_ANSWER)
def test_what_is_no_answer_is_an_error_that_says_what_to_use(
    route: Callable[[str, str, object], object], kind: str
) -> None:
    reference, message = NOT_AN_ANSWER[kind]
    for name, text in RIGHT.items():
        with pytest.raises(DataError, match="reference in the column") as caught:
            route(name, text, reference)
        assert message in str(caught.value)


@pytest.mark.parametrize("name", ["choice", "r1_zero", "gsm8k_xml", "code_output", "judge"])
def test_no_verifier_that_compares_answers_takes_an_object(name: str) -> None:
    with pytest.raises(DataError, match="use the value of 'target'"):
        resolve(name).reader(("reference",))({"reference": FOUR})


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "reference", ["4", 4, 4.0, ["5", "4"], ("5", 4), np.array(["4"]), np.array(4), pa.scalar("4")]
)
def test_text_numbers_and_lists_of_them_are_answers(
    route: Callable[[str, str, object], object], reference: object
) -> None:
    assert route("math", r"\boxed{4}", reference) == route("gsm8k", "#### 4", reference) == 1.0


def test_a_verifier_whose_reference_is_json_still_takes_objects() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert by_verl("json_schema", '{"a": 1}', schema) == 1.0
    assert by_verl("json_schema", "{}", schema) == 0.0
    call = [{"name": "f", "arguments": {"x": 1}}]
    reply = f"<tool_call>{json.dumps(call[0])}</tool_call>"
    assert by_trl("tool_calls", reply, call) == 1.0
    asked = {"id": "punctuation:no_comma", "kwargs": {}}
    assert by_verl("instructions", "Yes.", asked) == 1.0
    tests = {"inputs": ["1\n"], "outputs": ["1\n"]}
    assert by_trl("code", "```python\nprint(input())\n```", tests) == 1.0


@pytest.mark.parametrize("column", REFERENCE_COLUMNS)
def test_every_route_reads_the_same_columns(column: str, tmp_path: Path) -> None:
    row = {"question": "2 + 2?", "response": r"\boxed{4}", column: "4"}
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n")
    columns: dict[str, Any] = {column: ["4"]}
    assert reward_func("math")([row["response"]], **columns) == [1.0]
    assert areal.math("?", row["response"], **{column: "4"}) == 1.0
    status, out, err = command("score", str(file), "--verifier", "math", "--json")
    assert status == 0, err
    assert json.loads(out)["tasks"]["math"]["metrics"]["accuracy"]["value"] == 1.0
    status, out, err = command(
        *("eval", "--data", str(file), "--verifier", "math", "--model", _replies(tmp_path)),
        *("--backend", "replay", "-o", str(tmp_path / "run"), "--json"),
    )
    assert status == 0, err
    assert json.loads(out)["tasks"]["rows"]["metrics"]["accuracy"]["value"] == 1.0


def _replies(folder: Path) -> str:
    file = folder / "replies.jsonl"
    file.write_text(json.dumps({"id": "0", "completion": r"\boxed{4}"}) + "\n")
    return str(file)


SCORED: dict[str, tuple[dict[str, Any], float | None]] = {
    "a solution beside a reply": ({"response": r"\boxed{4}", "solution": "4"}, 1.0),
    "the first that is filled": ({"response": r"\boxed{4}", "answer": None, "target": "4"}, 1.0),
    "not an empty text": ({"response": r"\boxed{4}", "answer": "", "target": "4"}, 1.0),
    "nor an empty reference": ({"response": r"\boxed{4}", "reference": "", "target": "4"}, 1.0),
    "a list, of which one counts": ({"response": r"\boxed{4}", "target": ["5", "4"]}, 1.0),
    "a solution that is the reply": ({"solution": r"\boxed{4}", "label": "4"}, 1.0),
    "a label of true is no reference": ({"response": r"\boxed{4}", "label": True}, None),
    "an object": ({"response": r"\boxed{4}", "ground_truth": FOUR}, None),
    "an empty reference": ({"response": r"\boxed{4}", "reference": None, "answer": "4"}, None),
}


def test_an_empty_cell_hides_no_reference(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("response,reference,target\n\\boxed{4},,4\n\\boxed{4},5,4\n")
    status, out, err = command("score", str(file), "--verifier", "math", "--json")
    assert status == 0, err
    assert json.loads(out)["tasks"]["math"]["metrics"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize("kind", SCORED)
def test_a_file_s_reference_is_found_or_named(kind: str, tmp_path: Path) -> None:
    row, expected = SCORED[kind]
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n")
    status, out, err = command("score", str(file), "--verifier", "math", "--json")
    if expected is None:
        assert status == 2
        assert "--reference-field" in err
    else:
        assert json.loads(out)["tasks"]["math"]["metrics"]["accuracy"]["value"] == expected


OWN_COLUMNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a schema": ("json_schema", '{"a": 1}', {"schema": {"required": ["a"]}}),
    "a schema as text": ("json_schema", '{"a": 1}', {"schema": '{"required": ["a"]}'}),
    "a schema beside an answer": (
        *("json_schema", '{"a": 1}'),
        {"schema": {"required": ["a"]}, "answer": "one"},
    ),
    "IFEval's": (
        *("instructions", "Yes."),
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
    ),
    "open-instruct's": (
        *("instructions", "Yes."),
        {"ground_truth": '[{"instruction_id": ["punctuation:no_comma"], "kwargs": [null]}]'},
    ),
    "none at all": ("soft_format", "<reasoning>a</reasoning><answer>4</answer>", {}),
    "none that is read": (
        *("soft_format", "<reasoning>a</reasoning><answer>4</answer>"),
        {"level": 3},
    ),
    "MBPP's tests": (
        *("code", "```python\ndef f(): return 1\n```"),
        {"test_list": ["assert f() == 1"]},
    ),
    "APPS' tests": (
        *("code", "```python\nprint(input())\n```"),
        {"input_output": '{"inputs": ["1\\n"], "outputs": ["1\\n"]}'},
    ),
}


@pytest.mark.parametrize("kind", OWN_COLUMNS)
def test_a_verifier_is_a_reward_on_its_own_columns(kind: str) -> None:
    name, text, row = OWN_COLUMNS[kind]
    columns: dict[str, Any] = {column: [value] for column, value in row.items()}
    assert reward_func(name)([text], **columns) == [1.0]
    assert getattr(areal, name)("?", text, **row) == 1.0


def test_a_column_that_is_named_must_be_there() -> None:
    with pytest.raises(DataError, match="no column 'scheme'"):
        reward_func("json_schema", reference="scheme")(["{}"], schema=["{}"])


def test_parameters_of_the_verifier_are_those_of_its_reward() -> None:
    lenient = reward_func("exact", ignore_case=True)
    assert lenient(["<answer>YES</answer>"], answer=["yes"]) == [1.0]
    assert lenient.__name__ == "exact_ignore_case_true"
    with pytest.raises(UnknownName, match="named 'longest'"):
        reward_func("exact", longest=24)
