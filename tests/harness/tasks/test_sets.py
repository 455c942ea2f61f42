"""The sets that are shipped as TOML: five rows of our own in the shape of each."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.cli.check import check_installation
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.tasks.defined.task import DefinedTask
from rewardkit.registry import installed

ROWS: dict[str, list[dict[str, Any]]] = defaultdict(list)
for line in Path(__file__).with_name("set_rows.jsonl").read_text("utf-8").splitlines():
    ROWS[json.loads(line)["set"]].append(json.loads(line)["row"])
WITHOUT_REFERENCES = ["ifbench", "ifeval"]
SETS = sorted(
    name
    for name, offer in installed().offers("tasks").items()
    if str(offer.value).endswith(".toml")
)


@pytest.fixture
def rows_file(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    file = tmp_path / "rows.jsonl"
    rows = ROWS[request.getfixturevalue("name")]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_every_set_has_rows_here() -> None:
    assert sorted(ROWS) == SETS


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_check_passes_on_rows_of_its_shape(name: str, rows_file: str) -> None:
    findings = list(check_installation(tasks=[name], plugins=[], data=rows_file))
    assert [finding for finding in findings if not finding.passed] == []
    stated = "5 rows without a reference" if name in WITHOUT_REFERENCES else "5 of 5 references"
    assert any(stated in finding.title for finding in findings)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETS if name not in WITHOUT_REFERENCES])
def test_another_rows_answer_is_wrong(name: str, rows_file: str) -> None:
    task = rewardkit.load_task(name)
    samples = task.load(data=rows_file, split=None, seed=0)
    verifier = task.flexible() or task.verifier()
    for sample in samples:
        others = [other for other in samples if other.reference != sample.reference]
        assert others
        verdict = rewardkit.verify(
            verifier, task.perfect(others[0]), sample.reference, columns=sample.columns
        )
        assert verdict.correct is False


@pytest.mark.parametrize("name", SETS)
def test_the_hub_is_asked_for_the_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def hub_rows(*arguments: Any) -> list[dict[str, Any]]:
        asked.append(arguments)
        return [dict(row) for row in ROWS[name]]

    monkeypatch.setattr("rewardkit.harness.tasks.defined.task.hub_rows", hub_rows)
    task = rewardkit.load_task(name)
    assert isinstance(task, DefinedTask)
    samples = task.load(data=None, split=None, seed=0)
    data = task.definition.data
    assert asked == [
        (data.repository, subset, data.split, None) for subset in data.subset or (None,)
    ]
    assert len(samples) == 5 * len(asked)


def test_a_list_of_references_holds_alternatives() -> None:
    task = rewardkit.load_task("math500")
    sample = task.sample({"problem": "?", "answer": ["1/2", "50"]}, 0)
    assert (sample.reference, sample.references) == ("1/2", ("50",))
    with pytest.raises(
        DataError, match="row 1: the reference in the column 'answer' is a list with"
    ):
        task.sample({"problem": "?", "answer": ["1/2", {"value": "1/2"}]}, 0)


def test_a_boxed_thinking_reply_fits_every_set_with_boxes() -> None:
    reply = "<think>\nHalve it.\n</think>\n<ANSWER>\n\\boxed{18}\n</ANSWER>"
    for name in ("aime24", "svamp", "gsm8k"):
        verifier = rewardkit.load_task(name).verifier("think_boxed")
        assert rewardkit.verify(verifier, reply, "18").correct is True
        assert rewardkit.verify(verifier, r"\boxed{18}", "18").correct is False
    with pytest.raises(UsageError, match="'think_boxed', which task 'arc' doesn't read"):
        rewardkit.load_task("arc").verifier("think_boxed")


def test_examples_of_ones_own_stand_beside_the_tasks_file(tmp_path: Path) -> None:
    (tmp_path / "examples.toml").write_text('[[example]]\nquestion = "1?"\nanswer = "1"\n')
    (tmp_path / "mine.toml").write_text(
        '[data]\nfile = "rows.jsonl"\n[verifier]\nname = "math"\n'
        '[wording]\nexamples = "examples.toml"\n'
    )
    task = rewardkit.load_task(str(tmp_path / "mine.toml"))
    (example,) = resolve_prompt(task, "few_shot").examples.samples
    assert (example.id, example.question, example.reference) == ("example-1", "1?", "1")


def test_the_seed_shuffles_options_and_the_letter_follows() -> None:
    task = rewardkit.load_task("gpqa_diamond")
    assert isinstance(task, DefinedTask)
    samples = [task._sample(row, 0, seed) for row in ROWS["gpqa_diamond"] for seed in range(8)]
    assert {sample.reference for sample in samples} == set("ABCD")
    for sample in samples:
        options = sample.columns["options"]
        assert isinstance(options, list)
        assert options["ABCD".index(sample.reference)] == f"({sample.reference}) tin"
    again = task._sample(ROWS["gpqa_diamond"][0], 0, 3)
    assert again == task._sample(ROWS["gpqa_diamond"][0], 0, 3)


def test_the_functions_of_a_row_are_tools_or_in_the_prompt() -> None:
    task = rewardkit.load_task("bfcl")
    sample = task.sample(ROWS["bfcl"][2], 2)
    template = resolve_prompt(task)
    assert template.messages(sample)[0].content == "Be exact."
    assert template.tools(sample)[0]["function"]["name"] == "math_factorial"
    shown = resolve_prompt(task, "tools")
    assert shown.tools(sample) == ()
    prompt = shown.messages(sample)[-1].content
    assert prompt.endswith(f"{json.dumps(ROWS['bfcl'][2]['function'][0])}\n\n{sample.question}")
    as_text = task.sample({**ROWS["bfcl"][2], "function": json.dumps("f")}, 2)
    assert '"f"' in shown.messages(as_text)[-1].content
    none = task.sample(ROWS["bfcl"][4], 4)
    assert (none.reference, task.perfect(none)) == ("[]", "No function fits.")


def test_a_row_without_a_right_program_says_where_to_name_one() -> None:
    task = rewardkit.load_task("humaneval")
    sample = task.sample({**ROWS["humaneval"][0], "canonical_solution": ""}, 0)
    with pytest.raises(DataError, match=r"wording\.solution"):
        task.perfect(sample)
