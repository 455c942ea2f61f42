from __future__ import annotations

import pytest

from rewardkit import load_task
from rewardkit.errors import DataError, UsageError
from rewardkit.judging.rows import SampleReader
from rewardkit.protocols import Task
from rewardkit.records import Sample, Verdict
from rewardkit.trainers import reward_func
from rewardkit.trainers.rewards.reward_functions import read_batch


def first(reader: SampleReader, **columns: object) -> Sample | Verdict:
    batch = read_batch(["reply"], ["the question"], {k: [v] for k, v in columns.items()})
    return batch.samples(reader)[0]


def by_task(task: Task) -> SampleReader:
    return SampleReader(("reference",), task)


def reference(reader: SampleReader, **columns: object) -> str:
    sample = first(reader, **columns)
    assert isinstance(sample, Sample), sample
    return sample.reference


def test_the_first_column_that_there_is_holds_the_reference() -> None:
    reader = SampleReader()
    assert reference(reader, solution="s", answer="a") == "a"
    assert reference(reader, ground_truth=72) == "72"
    assert reference(reader, ground_truth=72, answer=None) == "72"
    assert reference(SampleReader(("gold",)), gold="g", answer="a") == "g"


def test_the_other_columns_and_the_question_are_the_samples() -> None:
    sample = first(SampleReader(("answer",)), answer="4", level=3)
    assert sample == Sample("4", "the question", columns={"answer": "4", "level": 3})


def test_no_reference_is_read_where_none_is_wanted() -> None:
    assert reference(SampleReader(()), level=3) == ""


def test_a_missing_column_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(DataError, match=r"no column 'gold' .* it has answer, level"):
        first(SampleReader(("gold",)), answer="4", level=3)


@pytest.mark.parametrize("name", ["prompts", "completions", "trainer_state", "prompt"])
def test_a_column_that_trl_keeps_to_itself_is_an_error_at_once(name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}', because TRL uses that name"):
        reward_func("math", reference=name)


def test_an_empty_reference_leaves_its_row_unjudged() -> None:
    verdict = first(SampleReader(("answer",)), answer=None)
    assert isinstance(verdict, Verdict)
    assert verdict.correct is None
    assert "'answer' holds neither text nor a number" in verdict.message


def test_a_task_reads_its_own_columns() -> None:
    worked = "half of 48 is 24 #### 72"
    assert reference(by_task(load_task("gsm8k")), question="q", answer=worked) == "72"
    assert reference(by_task(load_task("gsm8k")), answer=worked) == "72"
    assert reference(by_task(load_task("game24")), numbers=[4, 7, 8, 8]) == "4 7 8 8"
    points = {"points": [1, 2, 3, 4, 5], "targets": [6, 7, 8, 9, 10]}
    assert reference(by_task(load_task("motion")), **points) == "(6.0), (7.0), (8.0), (9.0), (10.0)"


def test_what_a_task_cannot_read_is_read_from_the_columns_of_its_verifier() -> None:
    reader = SampleReader(task=load_task("gsm8k"))
    assert reference(reader, answer="half of 48 is 24 #### 72") == "72"
    assert reference(reader, solution="72") == "72"


def test_a_column_reference_is_a_tasks_reference() -> None:
    assert reference(by_task(load_task("motion")), reference="(6.0), …", answer=3) == "(6.0), …"


def test_a_row_that_a_task_cannot_read_is_unjudged_and_says_why() -> None:
    verdict = first(by_task(load_task("gsm8k")), solution="4")
    assert isinstance(verdict, Verdict)
    assert "no column" in verdict.message
