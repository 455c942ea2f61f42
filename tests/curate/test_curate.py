"""Planted faults are found, decisions are followed, and the output is one that trainings read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rewardkit.curate import Curated, Settings, curate
from rewardkit.curate.references import DECISIONS
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.results.data_files import read_rows
from rewardkit.verifiers.judge.verifier import UNRELATED
from tests.curate.planted import Planted, plant
from tests.support.commands import rewardkit
from tests.support.judge_server import judging_server
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

COUNT = 600


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Planted, Settings, Path]:
    return written(tmp_path_factory.mktemp("planted"), COUNT, seed=11)


def written(folder: Path, count: int, seed: int) -> tuple[Planted, Settings, Path]:
    """Problems with planted faults, and the settings that curate them."""
    made = plant(count, 16, seed=seed)
    made.write(folder)
    settings = Settings(
        sources=(str(folder / "problems.jsonl"),),
        rollouts=str(folder / "rollouts.jsonl"),
        verifier="math",
        keep="0.05..0.95",
        against=(str(folder / "eval.jsonl"),),
    )
    return made, settings, folder


@pytest.fixture(scope="module")
def curated(planted: tuple[Planted, Settings, Path]) -> Curated:
    _, settings, folder = planted
    return curate(settings, folder / "clean")


REASONS = {
    "wrong reference": "suspect",
    "duplicate": "duplicate",
    "contaminated": "in an evaluation set",
    "too easy": "too easy",
    "too hard": "too hard",
}


@pytest.mark.parametrize("fault", REASONS)
def test_planted_faults_are_found_and_hardly_anything_else(
    fault: str, planted: tuple[Planted, Settings, Path], curated: Curated
) -> None:
    check_found(fault, planted[0], curated)


@pytest.mark.faults
def test_planted_faults_are_found_among_5000_problems(tmp_path: Path) -> None:
    made, settings, _ = written(tmp_path, 5_000, seed=2028)
    curated = curate(settings, tmp_path / "clean")
    for fault in REASONS:
        check_found(fault, made, curated)


def check_found(fault: str, made: Planted, curated: Curated) -> None:
    """At least 95% of the problems with the fault have its reason, at most 2% of the others."""
    found = {
        finding.problem.id for finding in curated.findings if REASONS[fault] in finding.reasons
    }
    wanted = made.faults[fault]
    if fault == "duplicate":  # either of the two may stay
        repeats = {original: name for name, original in made.originals.items()}
        found = {name if name in wanted else repeats.get(name, name) for name in found}
    if fault == "too hard":  # by a wrong reference, every problem is
        found -= made.faults["wrong reference"]
    assert len(found & wanted) >= 0.95 * len(wanted)
    assert len(found - wanted) <= 0.02 * (len(made.rows) - len(wanted))


def test_dropped_problems_have_reasons_and_kept_ones_none(curated: Curated) -> None:
    kept = read_rows(curated.output_dir)  # a curated folder is a data file
    dropped = read_rows(curated.output_dir / "dropped.parquet")
    assert len(kept) + len(dropped) == COUNT
    assert all(row["reasons"] for row in dropped)
    assert not any(row["reasons"] for row in kept)
    assert all(0.05 <= row["pass_rate"] <= 0.95 and row["samples"] == 16 for row in kept)
    assert {"id", "question", "answer", "low", "high", "majority", "flags"} <= kept[0].keys()


def test_its_own_settings_repeat_it_to_the_byte(curated: Curated) -> None:
    folder = curated.output_dir
    before = {name: (folder / name).read_bytes() for name in ("kept.parquet", "report.html")}
    settings = str(folder / "curate.toml")
    result = rewardkit("curate", settings, "-o", str(folder), "-q", "--json")
    assert json.loads(result.out)["problems"] == COUNT
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_persons_decisions_survive_a_rerun(
    planted: tuple[Planted, Settings, Path], curated: Curated
) -> None:
    _, settings, _ = planted
    suspects = [finding for finding in curated.findings if finding.suspect]
    accepted, dropped, corrected = suspects[:3]
    right = corrected.suspect.majority if corrected.suspect else ""
    decisions = [
        {"task": "math", "id": accepted.problem.id, "decision": "accept"},
        {"task": "math", "id": dropped.problem.id, "decision": "drop"},
        {"task": "math", "id": corrected.problem.id, "decision": "correct", "reference": right},
    ]
    path = curated.output_dir / DECISIONS
    write_rows(path, decisions)
    try:
        again = {
            finding.problem.id: finding for finding in curate(settings, curated.output_dir).findings
        }
    finally:
        path.unlink()
    assert "suspect" not in again[accepted.problem.id].reasons
    assert "dropped by a person" in again[dropped.problem.id].reasons
    fixed = again[corrected.problem.id]
    assert fixed.problem.columns["answer"] == right
    assert fixed.problem.pass_rate == pytest.approx(corrected.suspect.share)  # type: ignore[union-attr]
    assert "suspect" not in fixed.reasons


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": "0.9..0.1"}, "the lower one first"),
        ({"keep": "most"}, "two shares from 0 to 1"),
        ({"sources": ()}, "name the runs or the file"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Settings(**{"sources": ("a",), **settings})  # type: ignore[arg-type]


def test_a_file_without_a_verifier_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_text('{"question": "1 + 1?", "answer": "2"}\n')
    with pytest.raises(UsageError, match="--verifier"):
        curate(Settings(sources=(str(file),)), tmp_path / "clean")


def test_a_broken_decision_is_named(
    curated: Curated, planted: tuple[Planted, Settings, Path]
) -> None:
    path = curated.output_dir / DECISIONS
    path.write_text('{"task": "math", "id": "1", "decision": "keep"}\n')
    try:
        with pytest.raises(DataError, match="line 1"):
            curate(planted[1], curated.output_dir)
    finally:
        path.unlink()


def test_two_runs_of_the_same_problems_are_pooled(curated: Curated, tmp_path: Path) -> None:
    run = curated.output_dir / "scored"
    shutil.copytree(run, tmp_path / "other")
    pooled = curate(Settings(sources=(str(run), str(tmp_path / "other"))), tmp_path / "clean")
    table = pq.read_table(tmp_path / "clean" / "kept.parquet")
    assert set(table["samples"].to_pylist()) == {32}
    assert len(pooled.findings) == COUNT


def test_a_run_of_a_task_without_references_is_curated(tmp_path: Path) -> None:
    hands = ("4 7 8 8", "1 1 11 12", "3 3 8 8")
    replies = {
        "4 7 8 8": ["Answer: (7 - 8 / 8) * 4 = 24"] * 4,
        "1 1 11 12": ["Answer: 12 * (1 + 1) = 24", "Answer: 1 * 1 * 12 + 11 = 24"] * 2,
        "3 3 8 8": ["Answer: 8 / (3 - 8 / 3) = 24", "", "", "Answer: 8 * 3 = 24"],
    }
    file = tmp_path / "replies.jsonl"
    rows = [{"id": hand, "numbers": hand, "completions": replies[hand]} for hand in hands]
    write_rows(file, rows)
    run = tmp_path / "run"
    assert rewardkit("score", file, "--task", "game24", "-o", run, "--quiet").status == 0
    result = rewardkit("curate", run, "--keep", "0.1..0.9", "-o", tmp_path / "clean", "--json")
    assert json.loads(result.out)["reasons"] == {"too easy": 1, "too hard": 1}, result.err
    (kept,) = read_rows(tmp_path / "clean")
    assert (kept["numbers"], kept["pass_rate"]) == ("3 3 8 8", 0.25)


def test_answers_that_only_a_judge_accepts_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    half = r"\boxed{\text{a half of it}}"
    rows = [
        {
            "id": "1",
            "question": "How much?",
            "answer": "1/2",
            "completions": [half, half, r"\boxed{1/2}"],
        },
        {"id": "2", "question": "How many?", "answer": "7", "completions": [r"\boxed{7}"] * 3},
    ]
    file, run = tmp_path / "replies.jsonl", tmp_path / "run"
    write_rows(file, rows)
    with judging_server(lambda prompt: "D" if UNRELATED in prompt else "S") as server:
        judge = ("--rescue", "judge", "--verifier-arg", "judge.model=m", "--verifier-arg")
        more = (f"judge.base_url={server.url}", "--reference-field", "answer", "-o", run)
        assert rewardkit("score", file, "--verifier", "math", *judge, *more, "--quiet").status == 0
    curated = curate(Settings(sources=(str(run),)), tmp_path / "clean")  # the server is gone
    (dispute,) = curated.disputes
    assert (dispute.problem.id, dispute.majority) == ("1", r"\text{a half of it}")
    assert dispute.share == pytest.approx(2 / 3)
    assert dispute.reading
    assert curated.flags["rule and judge differ"] == 1
    assert len(curated.kept) == 2
    page = (curated.output_dir / "report.html").read_text(encoding="utf-8")
    assert "Rule and judge differ" in page


def test_the_question_of_a_conversation_is_found_in_an_evaluation_set(tmp_path: Path) -> None:
    texts = [f"How many legs have {count} ducks and a dog in the yard?" for count in (3, 40)]
    rows = [
        {
            "id": str(number),
            "prompt": [{"role": "user", "content": text}],
            "answer": "2",
            "completions": [r"\boxed{2}", r"\boxed{3}"],
        }
        for number, text in enumerate(texts)
    ]
    file, evaluated = tmp_path / "rows.jsonl", tmp_path / "eval.jsonl"
    write_rows(file, rows)
    evaluated.write_text(json.dumps({"instruction": texts[0]}) + "\n")
    settings = Settings(sources=(str(file),), verifier="math", against=(str(evaluated),))
    curated = curate(settings, tmp_path / "clean")
    assert curated.reasons["in an evaluation set"] == 1
