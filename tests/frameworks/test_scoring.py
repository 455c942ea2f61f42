"""The core of the adapters: the verdicts of verify_batch, with the same keys for all."""

from __future__ import annotations

import pickle
import time

import cloudpickle
import pytest

import rewardkit
from rewardkit.errors import DataError, UnknownName
from rewardkit.frameworks.scoring import scorer
from rewardkit.text.transcripts import without_special_tokens

COMPLETIONS = [r"\boxed{1/2}", r"\boxed{3}", "no box", r"\boxed{5}"]
REFERENCES = ["0.5", "4", "4", ""]
ROWS = [{"reference": reference} for reference in REFERENCES]


def test_the_scores_are_those_of_verify_batch() -> None:
    scores, infos = scorer("math").score(COMPLETIONS, ROWS)
    verdicts = rewardkit.verify_batch("math", COMPLETIONS, REFERENCES)
    assert scores == [verdict.score or 0.0 for verdict in verdicts] == [1.0, 0.0, 0.0, 0.0]
    assert [info["acc"] for info in infos] == [1.0, 0.0, 0.0, 0.0]
    assert [info["unjudged"] for info in infos] == [0.0, 0.0, 0.0, 1.0]
    assert [info["failure"] for info in infos] == ["", "wrong", "no_answer", "error"]
    assert [info["pred"] for info in infos] == ["1/2", "3", "", ""]


def test_every_info_has_the_same_keys_of_the_same_types() -> None:
    for name, rows in (("math", ROWS), ("game24", [{"reference": "4 7 8 8"}, {"reference": "x"}])):
        texts = COMPLETIONS[: len(rows)]
        _, infos = scorer(name).score(texts, rows)
        shapes = {tuple((key, type(value)) for key, value in info.items()) for info in infos}
        assert len(shapes) == 1


def test_a_score_is_scaled_and_an_unjudged_one_is_flagged() -> None:
    scores, _ = scorer("math", low=-1.0, high=2.0, unjudged=-0.5).score(COMPLETIONS, ROWS)
    assert scores == [2.0, -1.0, -1.0, -0.5]


def test_a_task_reads_its_own_rows() -> None:
    rows = [{"question": "6 pens at 2 dollars?", "answer": "2*6=12\n#### 12"}]
    assert scorer("gsm8k").score(["#### 12"], rows)[0] == [1.0]
    assert scorer("gsm8k", reading="xml").score(["#### 12"], rows)[0] == [0.0]


def test_the_same_arguments_give_the_same_scorer() -> None:
    assert scorer("math", timeout=2) is scorer("math", timeout=2)
    assert scorer("math", timeout=2) is not scorer("math", timeout=3)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'math'"):
        scorer("mth")
    with pytest.raises(UnknownName, match="no parameter"):
        scorer("math", spelling="British")
    with pytest.raises(DataError, match="row 2 has no column 'reference' or"):
        scorer("math").score(["a", "b"], [{"reference": "1"}, {"other": 2}])


def test_a_text_that_hangs_costs_the_others_nothing() -> None:
    hostile = [r"\boxed{2" + "^2" * 1000 + "}", r"\boxed{1/2}"]
    assert scorer("math").score(hostile, [ROWS[0], ROWS[0]])[0] == [0.0, 1.0]


@pytest.mark.parametrize("text", ["5<|im_end|>", "5</s>", "5<|eot_id|>\n", "5<eos><pad><pad>", "5"])
def test_special_tokens_at_the_end_are_dropped(text: str) -> None:
    assert without_special_tokens(text) == "5"


@pytest.mark.parametrize(
    "text", [" " * 10**6 + "5", "5" + "<|im_end|>" * 10**5, "<|" * 5 * 10**5 + "5", "\n" * 10**6]
)
def test_special_tokens_are_dropped_in_linear_time(text: str) -> None:
    started = time.process_time()
    assert without_special_tokens(text).endswith("5") or not text.strip()
    assert time.process_time() - started < 3


def test_a_scorer_is_picklable() -> None:
    copy = pickle.loads(cloudpickle.dumps(scorer("math").warm()))
    assert copy.score(COMPLETIONS, ROWS)[0] == [1.0, 0.0, 0.0, 0.0]
