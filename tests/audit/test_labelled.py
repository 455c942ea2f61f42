"""Sets of labelled answers: which of them a target gets, how it is scored, where two differ."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rewardkit.audit import audit
from rewardkit.audit.cases import Case
from rewardkit.audit.labelled import UNSEEN, StratumScore, disagreement, draw_answers, read_set
from rewardkit.audit.measure import CaseResult
from rewardkit.audit.output import markdown, page
from rewardkit.errors import DataError, UnknownName, UsageError
from tests.support.rows import write_rows

ROUNDS = Path("benchmarks/unseen/rounds.json")
BOXED = {"completion": r"\boxed{7}", "reference": "7", "label": True}
WRONG = {"completion": r"\boxed{8}", "reference": "7", "label": False}


def written(tmp_path: Path, *rows: dict[str, Any]) -> str:
    return str(write_rows(tmp_path / "set.jsonl", rows))


def last_digit(answer: str, reference: str) -> float:
    return float(reference in answer)


def never_one(answer: str, reference: str) -> float:
    if "8" in answer:
        raise ValueError("no eights")
    return 1.0


def test_each_round_is_as_it_was_frozen() -> None:
    lines = gzip.decompress(UNSEEN.read_bytes()).decode().splitlines()
    rounds: dict[int, list[str]] = {}
    for line in lines:
        rounds.setdefault(json.loads(line)["round"], []).append(line)
    entries = json.loads(ROUNDS.read_text())
    assert [entry["round"] for entry in entries] == list(rounds)
    for entry in entries:
        some = rounds[entry["round"]]
        assert hashlib.sha256("\n".join(some).encode()).hexdigest() == entry["sha256"]
        counts = Counter(json.loads(line)["stratum"] for line in some)
        first = entry["first_run"]
        assert {name: one["right"] + one["wrong"] for name, one in first.items()} == counts
        assert all(counts["found"] <= counts["right"] for counts in first.values())
        assert all(counts["accepted"] <= counts["wrong"] for counts in first.values())
    assert UNSEEN.stat().st_size < 2**20


@pytest.mark.usefixtures("without_workers")
def test_a_set_of_ones_own_needs_three_columns(tmp_path: Path) -> None:
    result = audit(last_digit, set=written(tmp_path, BOXED, WRONG))
    (score,) = result.scores
    assert (score.stratum, score.right, score.found, score.wrong, score.accepted) == (
        *("all", 1, 1, 1, 0),
    )
    some = audit(last_digit, set=written(tmp_path, BOXED, WRONG | {"stratum": "few"}))
    assert [score.stratum for score in some.scores] == ["other", "few", "all"]
    assert (result.totals["false_accept"].errors, result.totals["false_reject"].n) == (0, 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"completion": "x", "reference": "x"}, "row 1 of .* needs a `label`"),
        ({"completion": "x", "label": True}, "needs a text `completion` and a `reference`"),
        ({"completion": ["x"], "reference": "x", "label": True}, "needs a text `completion`"),
        (BOXED | {"kwargs": "reading"}, "`kwargs` that are no object"),
        (BOXED | {"label": 1}, "needs a `label`"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        audit("math", set=written(tmp_path, row))


@pytest.mark.usefixtures("without_workers")
def test_options_of_a_row_are_for_the_verifier_that_the_row_names(tmp_path: Path) -> None:
    says = {"verifier": "math", "completion": "The answer is 7.", "reference": "7", "label": True}
    loose = {"kwargs": {"reading": "flexible"}, "stratum": "replies"}
    path = written(tmp_path, says | loose, says | {"label": False, "stratum": "form"})
    ours = audit("math", set=path)
    assert {score.stratum: (score.found, score.accepted) for score in ours.scores} == {
        "replies": (1, 0),
        "form": (0, 0),
        "all": (1, 0),
    }
    other = audit(last_digit, set=path)
    assert [score.stratum for score in other.scores] == ["replies"], "form is ours alone"


@pytest.mark.usefixtures("without_workers")
def test_a_verifier_gets_its_own_answers_and_those_that_name_none(tmp_path: Path) -> None:
    named = [BOXED | {"verifier": name} for name in ("math", "gsm8k")]
    assert len(audit("math", set=written(tmp_path, *named, BOXED)).judged) == 2


@pytest.mark.usefixtures("without_workers")
def test_a_kind_or_a_family_chooses_answers(tmp_path: Path) -> None:
    one = BOXED | {"verifier": "math", "stratum": "boxed", "kind": "units"}
    two = BOXED | {"verifier": "gsm8k", "stratum": "gsm8k"}
    path = written(tmp_path, one, two, BOXED | {"verifier": "exact", "stratum": "text"})
    assert len(audit(last_digit, set=path).judged) == 2
    assert len(audit(last_digit, set=path, kind="text").judged) == 1
    assert len(audit(last_digit, set=path, family="boxed: un").judged) == 1
    with pytest.raises(UsageError, match="has no answers for last_digit|has no answers for <"):
        audit(last_digit, set=path, family="boxed: numbers")
    with pytest.raises(UnknownName, match="math"):
        audit(last_digit, set=path, kind="maths")
    with pytest.raises(UsageError, match="--set and --data exclude each other"):
        audit(last_digit, set=path, data=Path(path))


@pytest.mark.usefixtures("without_workers")
def test_an_answer_without_a_verdict_is_neither_found_nor_accepted(tmp_path: Path) -> None:
    result = audit(never_one, set=written(tmp_path, BOXED, WRONG, WRONG | {"label": True}))
    (score,) = result.scores
    assert (score.found, score.right, score.accepted, score.unjudged) == (1, 2, 0, 2)
    assert result.totals["exception"].errors == 2


@pytest.mark.usefixtures("without_workers")
def test_the_draw_of_a_stratum_is_the_same_for_every_target(tmp_path: Path) -> None:
    answers = read_set(written(tmp_path, *[BOXED] * 50, *[WRONG | {"stratum": "few"}] * 3))
    some = draw_answers(answers, 10)
    assert Counter(answer.stratum for answer in some) == {"other": 10, "few": 3}
    assert draw_answers(answers, 10) == some
    assert (
        draw_answers(answers, 5)[:5]
        == [answer for answer in some if answer in draw_answers(answers, 5)][:5]
    )
    result = audit(last_digit, set=written(tmp_path, *[BOXED] * 50), per_family=4)
    assert len(result.judged) == 4
    assert result.notes == ["drawn from 50: --per-family judges more"]


def score(found: int, right: int, accepted: int, wrong: int) -> StratumScore:
    return StratumScore("all", right, found, wrong, accepted, 0, 0, None)


@pytest.mark.parametrize(
    ("one", "precision", "recall", "f1"),
    [
        (score(8, 16, 2, 10), 0.8, 0.5, 2 * 0.8 * 0.5 / (0.8 + 0.5)),
        (score(0, 10, 0, 10), None, 0.0, 0.0),
        (score(10, 10, 0, 10), 1.0, 1.0, 1.0),
        (score(0, 0, 3, 5), 0.0, None, None),
    ],
)
def test_shares_follow_from_counts(
    one: StratumScore, precision: float | None, recall: float | None, f1: float | None
) -> None:
    shares = (one.precision, one.recall, one.f1)
    for share, expected in zip(shares, (precision, recall, f1), strict=True):
        assert (share and share.value) == (
            expected if expected is None else pytest.approx(expected)
        )
        assert share is None or share.low <= share.value <= share.high


def test_disagreements_count_the_answers_with_two_verdicts_and_show_the_shortest() -> None:
    cases = [Case("f", "x" * length, "7", right=True) for length in (9, 3, 5, 1, 7)]
    first = [(case, CaseResult(True)) for case in cases]
    second = [
        (case, CaseResult(verdict))
        for case, verdict in zip(cases, [False, False, False, None, True], strict=True)
    ]
    two = disagreement("one", "other", first, second)
    assert (two.answers, two.differ, two.share) == (4, 3, 0.75)
    assert [len(case.completion) for case, verdict in two.examples if verdict] == [3, 5, 9]


def test_examples_of_a_disagreement_are_distinct_and_of_different_families_first() -> None:
    texts = [("a", "1"), ("a", "1"), ("a", "22"), ("a", "333"), ("b", "4444")]
    cases = [Case(family, text, "7", right=True) for family, text in texts]
    yes, no = ([(case, CaseResult(verdict)) for case in cases] for verdict in (True, False))
    two = disagreement("one", "other", yes, no)
    assert [case.completion for case, _ in two.examples] == ["1", "4444", "22"]


@pytest.mark.usefixtures("without_workers")
def test_the_page_of_two_verifiers_shows_where_they_differ(tmp_path: Path) -> None:
    right = {"completion": "It is <b>7", "reference": "7", "label": True, "verifier": ""}
    path = written(tmp_path, BOXED, WRONG, right)
    result = audit(last_digit, set=path, against="math")
    html, text = page(result), markdown(result)
    assert "Disagreements" in html
    assert "&lt;b&gt;7" in html
    assert "<b>7" not in html
    assert "verdicts that differ" in text
    assert result.as_json()["against"]["target"] == "math"


@pytest.mark.usefixtures("without_workers")
def test_a_second_verifier_on_generated_cases_has_disagreements_too() -> None:
    result = audit("gsm8k", against="math", kind="number", per_family=2, family="near miss")
    (two,) = result.disagreements
    assert two.answers == len(result.judged)
    assert "Disagreements" in page(result)


@pytest.mark.slow
def test_the_unseen_answers_are_judged_by_name() -> None:
    result = audit("gsm8k", set="unseen", per_family=20)
    assert {score.stratum: score.right + score.wrong for score in result.scores}["gsm8k"] == 20
    assert all(score.cpu for score in result.scores)
