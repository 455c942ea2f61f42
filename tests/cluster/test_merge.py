"""Shards of a run, merged, are the run of one machine; what isn't one run is refused."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewardkit.cluster.merge import merge
from rewardkit.errors import RunMismatch
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.harness.runs.options import default_folder, options_for
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

Run = Callable[..., int]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(
        "data.jsonl",
        [{"question": f"{n} or {n + 1}?", "answer": f"#### {n}"} for n in range(23)],
    )
    write_rows(
        "replies.jsonl",
        [
            {"id": str(n), "index": i, "completion": f"#### {n + (n % 3 == i)}"}
            for n in range(23)
            for i in range(2)
        ],
    )
    write_rows(
        "scores.jsonl",
        [
            {"id": f"ü{n // 3}" if n % 2 else str(n), "output": f"#### {n % 5}", "gold": "3"}
            | ({"finish_reason": "length"} if n % 7 == 0 else {})
            for n in range(61)
        ],
    )


def evaluate(*more: object, folder: str = "run") -> int:
    return run_command(
        *("eval", "--task", "gsm8k", "--data", "data.jsonl", "--backend", "replay"),
        *("--model", "replies.jsonl", "-n", 2, "--temperature", 1, "--quiet", "-o", folder),
        *more,
    )


def score(*more: object, folder: str = "run") -> int:
    return run_command(
        *("score", "scores.jsonl", "--verifier", "gsm8k", "--completion-field", "output"),
        *("--reference-field", "gold", "--quiet", "-o", folder),
        *more,
    )


def shards(run: Run, count: int, folder: str = "run") -> None:
    for number in range(1, count + 1):
        assert run(f"--shard={number}/{count}", folder=folder) == 0


def content(folder: str, *names: str) -> list[bytes]:
    return [(Path(folder) / name).read_bytes() for name in names]


def record(folder: str) -> dict[str, Any]:
    return RunFolder(Path(folder)).read_record()


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_scoring_in_shards_ends_with_the_same_bytes(count: int) -> None:
    assert score(folder="one") == 0
    shards(score, count)
    assert run_command("report", "run") == 0
    files = ("samples.jsonl", "summary.json")
    assert content("run", *files) == content("one", *files)
    assert record("run")["fingerprint"] == record("one")["fingerprint"]
    rows = [len(content(f"run/shard-{n}-of-{count}", files[0])[0]) for n in range(1, count + 1)]
    assert all(0 < size < 1.2 * sum(rows) / count + 4000 for size in rows)


def test_the_agreement_of_two_verifiers_is_that_of_all_shards() -> None:
    both = ("--and", "exact", "--max-errors", 1)
    assert score(*both, folder="one") == 0
    shards(lambda *more, folder: score(*both, *more, folder=folder), 3)
    assert run_command("report", "run") == 0
    assert content("run", "samples.jsonl", "summary.json") == content(
        "one", "samples.jsonl", "summary.json"
    )
    assert b"agreement with exact" in content("run", "summary.json")[0]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_an_evaluation_in_shards_has_the_same_rows_and_summary(count: int) -> None:
    assert evaluate(folder="one") == 0
    shards(evaluate, count)
    assert run_command("report", "run") == 0
    lines = content("one", "samples.jsonl")[0].splitlines(keepends=True)
    merged = content("run", "samples.jsonl")[0].splitlines(keepends=True)
    assert sorted(merged) == sorted(lines)
    keys = [json.loads(line)["key"] for line in merged]
    assert keys == [f"gsm8k/{problem}/{index}" for problem in range(23) for index in range(2)]
    assert content("run", "summary.json") == content("one", "summary.json")
    assert (Path("run") / "report.html").exists()


def test_a_merged_evaluation_says_which_options_the_task_set() -> None:
    Path("own.toml").write_text(
        '[data]\nfile = "data.jsonl"\n[verifier]\nname = "gsm8k"\n'
        "[sampling]\nnum_samples = 2\ntemperature = 0.6\n"
    )
    command = ("eval", "--task", "own.toml", "--backend", "replay", "--model", "replies.jsonl")
    assert run_command(*command, "-o", "one") == 0
    for number in (1, 2):
        assert run_command(*command, "-o", "run", "--shard", f"{number}/2") == 0
    assert run_command("report", "run") == 0
    assert json.loads(content("one", "summary.json")[0])["set_by_tasks"]
    assert content("run", "summary.json") == content("one", "summary.json")


def test_a_merged_evaluation_is_complete_for_the_command_without_shard() -> None:
    shards(evaluate, 2)
    merge(Path("run"))
    before = content("run", "samples.jsonl")
    assert evaluate() == 0
    assert content("run", "samples.jsonl") == before


def test_the_record_says_what_each_shard_ran_on() -> None:
    shards(evaluate, 2)
    merge(Path("run"))
    merged = record("run")
    assert "--shard=1/2" not in merged["command"]
    assert {session["shard"] for session in merged["sessions"]} == {"1/2", "2/2"}
    assert "hardware" in merged["shards"]["2/2"]
    assert "shard" not in merged["settings"]


READERS = [
    ("report", "run"),
    ("report", "."),  # the run's folder is in it
    ("compare", "one", "run"),
    ("compare", "one", "run", "--detect", 0.1),
    ("score", "run"),
    ("export", "run", "--csv", "rows.csv"),
    ("curate", "run", "-o", "clean"),
]


@pytest.mark.parametrize("reader", READERS)
def test_shards_are_merged_where_a_run_is_read(
    reader: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(folder="one") == 0
    shards(evaluate, 2)
    assert run_command(*reader) == 0
    assert "run: merged its shards\n" in capsys.readouterr().err
    assert content("run", "summary.json") == content("one", "summary.json")
    again = ("--overwrite",) if reader[0] == "export" else ()
    assert run_command(*reader, *again) == 0
    assert "merged" not in capsys.readouterr().err


@pytest.mark.parametrize("reader", READERS)
def test_shards_that_are_not_complete_are_no_run(
    reader: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(folder="one") == 0
    assert evaluate("--shard=2/2") == 0
    assert run_command(*reader) == (0 if reader[0] == "report" else 1)  # it shows the shards
    error = capsys.readouterr().err
    assert "run lacks 1 of its 2 shards" in error
    assert "--shard 1/2  # absent" in error
    assert not Path("run/samples.jsonl").exists()


def test_a_shard_that_is_run_again_is_merged_again() -> None:
    shards(score, 2)
    assert run_command("score", "run") == 0
    before = content("run", "samples.jsonl")
    Path("run/samples.jsonl").write_text("")
    assert score("--shard=2/2", "--overwrite") == 0
    assert run_command("score", "run") == 0
    assert content("run", "samples.jsonl") == before


def test_more_shards_than_problems_leave_some_empty() -> None:
    assert evaluate("--limit", 2, folder="one") == 0
    for number in range(1, 8):
        assert evaluate("--limit", 2, "--shard", f"{number}/7") == 0
    merge(Path("run"))
    assert content("run", "summary.json") == content("one", "summary.json")


def test_a_run_scored_again_in_shards_ends_with_the_same_bytes() -> None:
    evaluate(folder="first")
    # an engine's error, and the row that replaced it
    lines = content("first", "samples.jsonl")[0].splitlines(keepends=True)
    failed = json.loads(lines[5]) | {"finish_reason": "error"}
    samples = Path("first/samples.jsonl")
    samples.write_bytes(json.dumps(failed).encode() + b"\n" + b"".join(lines))
    assert run_command("score", "first", "-o", "one", "--quiet") == 0
    for number in (1, 2, 3):
        command = ("score", "first", "-o", "run", "--quiet", "--shard", f"{number}/3")
        assert run_command(*command) == 0
    merge(Path("run"))
    files = ("samples.jsonl", "summary.json")
    assert content("run", *files) == content("one", *files)


@pytest.mark.parametrize("run", [evaluate, score])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_shard_that_was_killed_carries_on(run: Run, share: float) -> None:
    assert run(folder="one") == 0
    shards(run, 2)
    shard = Path("run/shard-2-of-2")
    samples = shard / "samples.jsonl"
    stored = samples.read_bytes()
    samples.write_bytes(stored[: int(share * len(stored))])  # as a kill leaves it
    (shard / "summary.json").unlink()
    with pytest.raises(RunMismatch, match=r"lacks 1 of its 2 shards(.|\n)*2/2  # unfinished"):
        merge(Path("run"))
    assert run("--shard=2/2") == 0
    assert samples.read_bytes() == stored
    merge(Path("run"))
    assert content("run", "summary.json") == content("one", "summary.json")


def absent() -> None:
    shutil.rmtree("run/shard-2-of-3")


def twice() -> None:
    shutil.rmtree("run/shard-3-of-3")
    shutil.copytree("run/shard-1-of-3", "run/shard-3-of-3")


def foreign() -> None:
    shutil.rmtree("run/shard-3-of-3")
    assert evaluate("--shard=3/3", "--seed=4", folder="foreign") == 0
    shutil.copytree("foreign/shard-3-of-3", "run/shard-3-of-3")


def change_rows(change: Callable[[bytes], bytes]) -> Callable[[], None]:
    def damage() -> None:
        samples = Path("run/shard-1-of-3/samples.jsonl")
        samples.write_bytes(change(samples.read_bytes()))

    return damage


def first_row(number: int) -> bytes:
    return content(f"run/shard-{number}-of-3", "samples.jsonl")[0].splitlines(keepends=True)[0]


ROWS: dict[str, Callable[[bytes], bytes]] = {
    "belongs to another shard": lambda rows: rows + first_row(2),
    "its summary": lambda rows: b"".join(rows.splitlines(keepends=True)[:-1]),
    "is a duplicate": lambda rows: rows + first_row(1),
    "has no source_row": lambda rows: rows.replace(b', "source_row"', b', "sourcerow"'),
}
"""Damages to a shard's rows, by what is said of them."""
DAMAGES: list[tuple[Run, Callable[[], None], str]] = [
    *((run, absent, "run lacks 1 of its 3 shards") for run in (evaluate, score)),
    *((run, twice, "shard-3-of-3 holds shard 1/3, a second time") for run in (evaluate, score)),
    (evaluate, foreign, r"shard-3-of-3 .* differs in sampling\.seed"),
    *(
        (score, change_rows(change), f"shard-1-of-3 can't be merged: .*{cause}")
        for cause, change in ROWS.items()
    ),
]


@pytest.mark.parametrize(("run", "damage", "cause"), DAMAGES)
def test_damage_is_named_with_the_command_that_repairs_it(
    run: Run, damage: Callable[[], None], cause: str
) -> None:
    shards(run, 3)
    damage()
    with pytest.raises(RunMismatch, match=cause) as error:
        merge(Path("run"))
    assert not Path("run/samples.jsonl").exists()
    _, _, command = str(error.value).rpartition("rewardkit ")
    assert run_command(*shlex.split(command, comments=True)) == 0
    merge(Path("run"))
    assert not Path("run/.samples.jsonl.part").exists()


def changed_records(change: Callable[[dict[str, Any]], object]) -> None:
    for path in Path("run").glob("shard-*/run.json"):
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda record: record["settings"].pop("max_errors"), r"has no settings\.max_errors"),
        (lambda record: record.pop("settings"), r"has no settings\.max_errors"),
        (lambda record: record["settings"].update(max_errors="x"), r"at `\$\.settings\.max_err"),
    ],
)
def test_a_damaged_record_is_refused(
    change: Callable[[dict[str, Any]], object], cause: str
) -> None:
    shards(evaluate, 2)
    changed_records(change)
    with pytest.raises(RunMismatch, match=cause):
        merge(Path("run"))


def test_a_shard_s_folder_with_an_impossible_number_is_refused() -> None:
    shards(score, 2)
    Path("run/shard-2-of-2").rename("run/shard-3-of-2")
    with pytest.raises(RunMismatch, match="shard-3-of-2 is named as shard 3/2, which can't exist"):
        merge(Path("run"))


def test_shards_of_two_numbers_are_refused_with_the_command_that_removes_some() -> None:
    shards(score, 2)
    assert score("--shard=2/3") == 0
    with pytest.raises(RunMismatch, match=r"to keep the 2: rm -r run/shard-\*-of-3"):
        merge(Path("run"))


def test_a_shard_that_is_being_written_is_refused() -> None:
    shards(score, 2)
    with (
        RunFolder(Path("run/shard-1-of-2")).locked(),
        pytest.raises(RunMismatch, match="another process is writing run/shard-1-of-2"),
    ):
        merge(Path("run"))


def test_a_folder_with_another_run_is_kept() -> None:
    shards(evaluate, 2, folder="other")
    assert evaluate("--seed=9", folder="run") == 0
    for number in (1, 2):
        shutil.copytree(f"other/shard-{number}-of-2", f"run/shard-{number}-of-2")
    with pytest.raises(RunMismatch, match="holds shards and another run"):
        merge(Path("run"))


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/4"])
def test_what_names_no_shard_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(f"--shard={text}") == 2
    assert "isn't I/N with I from 1 to N" in capsys.readouterr().err


def test_shards_need_a_folder_one_checkpoint_and_one_prompt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ("score", "scores.jsonl", "--verifier", "gsm8k", "--shard", "1/2")
    assert run_command(*command) == 2
    assert evaluate("--shard=1/2", "--prompt=cot,direct") == 2
    assert "give one --model and one --prompt" in capsys.readouterr().err


def test_a_shard_changes_neither_the_default_folder_nor_its_hash() -> None:
    named = [default_folder(options_for(("gsm8k",), "m", shard=shard)) for shard in (None, "2/3")]
    assert named[0] == named[1]
