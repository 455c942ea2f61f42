"""A sweep's table: every figure where there is room."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from rewardkit.cli import eval as cli
from rewardkit.cli.arguments import split_names
from rewardkit.cli.eval import line, table
from rewardkit.cli.options import OutputOptions
from rewardkit.errors import BackendError
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.rates import Lengths
from rewardkit.harness.results.summary import TaskSummary
from rewardkit.harness.results.summary_tables import of_runs
from rewardkit.harness.runs import sweep
from rewardkit.harness.runs.options import options_for
from rewardkit.harness.runs.run import RunSummary
from rewardkit.harness.runs.sweep import SweepRun
from rewardkit.text.console import PrintableConsole

QUIETLY = OutputOptions(quiet=True, as_json=False)
IN_JSON = OutputOptions(quiet=True, as_json=True)
TASK = TaskSummary(
    problems=1319,
    completions=1319,
    judged=1319,
    groups={},
    failures={},
    truncated=0,
    unjudged=0,
    metrics={
        "accuracy": Metric(0.912, 0.895, 0.926, 1319),
        "accuracy_flexible": Metric(0.941, 0.927, 0.953, 1319),
        "format_rate": Metric(1.0, 0.997, 1.0, 1319),
        "unfinished_rate": Metric(0.012, 0.007, 0.02, 1319),
    },
    lengths={"all": Lengths(100.0, 87.0, 250.0, 1024, 1319)},
)


def ended(label: str, *tasks: str, error: str | None = None) -> SweepRun:
    summary = RunSummary(dict.fromkeys(tasks, TASK), Path("out"))
    return SweepRun(label, "m", None, None, Path("out"), None if error else summary, error)


def printed(runs: list[SweepRun], width: int) -> list[str]:
    out = io.StringIO()
    PrintableConsole(file=out, width=width, color_system=None).show([table(runs, width)])
    assert max(map(len, out.getvalue().splitlines())) <= width
    plain = re.sub("[┃│]", " ", out.getvalue())
    return [text for line in plain.splitlines() if (text := line.strip()) and text[0] not in "┏┡└"]


def test_a_wide_table_has_every_figure() -> None:
    lines = printed([ended("checkpoint-100+auto_cot", "gsm8k"), ended("cot", "gsm8k")], 120)
    assert [" ".join(text.split()) for text in lines] == [
        "gsm8k: 1,319 problems",
        "run accuracy 95% interval accuracy, flexible format rate unfinished rate tokens",
        "checkpoint-100+auto_cot 91.2% 89.5% – 92.6% 94.1% 100.0% 1.2% 87",
        "cot 91.2% 89.5% – 92.6% 94.1% 100.0% 1.2% 87",
    ]


COLUMNS = ("95% interval", "accuracy, flexible", "format rate", "unfinished rate", "tokens")


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 120])
def test_a_table_fits_and_says_what_it_left_out(width: int) -> None:
    runs = [ended("checkpoint-100+auto_cot", "gsm8k"), ended("checkpoint-200+cot", "gsm8k")]
    lines = printed(runs, width)
    rows = [text for text in lines if text.startswith("checkpoint-")]
    assert all("91.2%" in row for row in rows)
    assert len(rows) == 2
    left_out = " ".join(lines).partition("no room for")[2]
    assert all((name in lines[1]) != (name in left_out) for name in COLUMNS)


def test_several_completions_a_problem_have_their_columns() -> None:
    several = {
        "pass@1": TASK.metrics["accuracy"],
        "pass@4": Metric(0.97, 0.9, 0.99, 1319),
        "maj@4": Metric(0.93, 0.9, 0.95, 1319),
    }
    task = replace(TASK, metrics={**TASK.metrics, **several})
    run = replace(ended("cot"), summary=RunSummary({"gsm8k": task}, Path("out")))
    lines = [" ".join(text.split()) for text in printed([run], 120)]
    assert lines[1].endswith("unfinished rate pass@4 maj@4 tokens")
    assert lines[2].endswith("1.2% 97.0% 93.0% 87")


def test_what_must_not_be_missed_is_said_of_all_runs_at_once() -> None:
    def cut(share: int, unjudged: int) -> TaskSummary:
        return replace(TASK, completions=100, truncated=share, unjudged=unjudged)

    runs = [
        ("a", cut(7, 0)),
        ("b", cut(0, 0)),
        ("c", cut(50, 1)),
        ("d", cut(9, 0)),
        ("e", cut(8, 0)),
    ]
    unjudged, truncated = of_runs(runs)
    assert unjudged.startswith("1 of 500 completions is unjudged")
    assert unjudged.endswith(": c 1.0%")
    assert truncated.startswith("74 of 500 completions are truncated at the token limit")
    assert truncated.endswith("(eval: --max-tokens): c 50.0%, d 9.0%, e 8.0% and 1 more")
    assert list(of_runs([("b", cut(0, 0))])) == []


def test_several_tasks_are_rows_of_their_own_and_a_failed_run_is_one() -> None:
    runs = [ended("a", "gsm8k", "aqua"), ended("b", error="it is damaged")]
    rows = [text.split()[:3] for text in printed(runs, 120)]
    assert rows[-3:] == [["a", "gsm8k", "91.2%"], ["a", "aqua", "91.2%"], ["b", "failed"]]


def test_each_run_is_told_as_it_ends() -> None:
    assert list(line(ended("cot", "gsm8k"))) == [
        "cot: gsm8k: accuracy 91.2% (89.5% – 92.6%), format rate 100.0%, unfinished rate 1.2%"
    ]
    assert list(line(ended("cot", error="it is damaged"))) == ["cot: failed: it is damaged"]


OPTIONS = options_for(("gsm8k",), "a", output_dir="out")


def test_an_interrupted_sweep_prints_what_it_has_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(plan: object, reporter: object) -> Iterator[SweepRun]:
        yield ended("a", "gsm8k")
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep, "sweep", interrupted)
    with pytest.raises(typer.Exit) as caught:
        cli.evaluate_several(OPTIONS, ["a", "b"], [], QUIETLY)
    out, err = capsys.readouterr()
    assert caught.value.exit_code == 130
    assert "91.2%" in out
    assert err == "interrupted; the same command resumes\n"


def test_runs_that_failed_alike_are_named_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [ended("a", "gsm8k"), ended("b", error="damaged"), ended("c", error="damaged")]
    monkeypatch.setattr(sweep, "sweep", lambda plan, reporter: iter(runs))
    with pytest.raises(typer.Exit) as caught:
        cli.evaluate_several(OPTIONS, ["a", "b", "c"], [], OutputOptions(quiet=True, as_json=True))
    out, err = capsys.readouterr()
    assert caught.value.exit_code == 1
    assert [run["error"] for run in json.loads(out)] == [None, "damaged", "damaged"]
    assert err == "rewardkit: b, c: damaged\n"


def test_a_watch_to_which_nothing_came_says_where_it_looked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.jsonl").write_text('{"question": "a", "answer": "#### 1"}')
    options = options_for(("gsm8k",), "a", data="data.jsonl", backend="transformers")
    with pytest.raises(BackendError, match=r"no checkpoint appeared: rnu/checkpoint-\*"):
        cli.evaluate_several(options, ["rnu"], [], QUIETLY, watch=True, timeout=0)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["direct,cot"], ["direct", "cot"]),
        (["direct", "cot, xml"], ["direct", "cot", "xml"]),
        (["cot,cot,"], ["cot"]),
        (["a,b.jinja", "cot"], ["a,b.jinja", "cot"]),
        ([], []),
    ],
)
def test_names_are_listed_with_commas_or_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], found: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a,b.jinja").touch()
    assert split_names(given) == found
