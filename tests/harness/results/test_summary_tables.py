"""What the end of a run prints."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow
from rewardkit.harness.results.summary import TaskSummary, summarise, summarise_task
from rewardkit.harness.results.summary_tables import summary_tables, warnings
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.text.console import PrintableConsole, console
from tests.harness.results.making import problem, row


def forgiven(rows: list[CompletionRow]) -> list[CompletionRow]:
    return [replace(one, flexible=BriefVerdict(True)) for one in rows]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(1, None), row(2, "wrong")], []),
        ([row(1, None), row(2, "error")], ["1 of 2 completions is unjudged and left out"]),
        (
            [row(1, None), row(2, "truncated", finish_reason="length")],
            [
                "1 of 2 completions is truncated at the token limit or in an open thinking block, "
                "with or without an answer; raise the limit where they are generated "
                "(eval: --max-tokens)"
            ],
        ),
        (
            [row(1, "error"), row(2, "error")],
            ["2 of 2 completions are unjudged and left out"],
        ),
        (
            [row(1, "truncated", finish_reason="length")],
            ["1 of 1 completion is truncated at the token limit"],
        ),
        (
            forgiven([row(index, "format" if index else None) for index in range(8)]),
            ["flexible gap 87.5%: these answers are right, but not in the form that"],
        ),
        (forgiven([row(index, "format" if index == 0 else None) for index in range(40)]), []),
        (
            problem("a", *"7777777", right=1),
            ["pass@8 is 100.0% and accuracy 12.5%: the model can answer"],
        ),
        (problem("a", "7", right=7), []),
    ],
)
def test_what_matters_is_said_and_nothing_else(rows: list[CompletionRow], said: list[str]) -> None:
    found = list(warnings(summarise(rows)))
    assert len(found) == len(said)
    for sentence, part in zip(found, said, strict=True):
        assert part in sentence


def printed(summary: TaskSummary, width: int) -> str:
    written = io.StringIO()
    PrintableConsole(width=width, file=written).show(summary_tables({"t": summary}))
    return written.getvalue()


@pytest.mark.parametrize("width", [60, 120])
def test_the_table_fits_and_leaves_what_follows_to_the_report(
    width: int,
) -> None:
    rows = forgiven([*problem("a", *"789", right=5), *problem("b", *"7777777", None)])
    text = printed(summarise(rows), width)
    assert max(map(len, text.splitlines())) <= width
    for name in ("accuracy, flexible", "flexible gap", "pass@8", "maj@8", "failed: wrong"):
        assert name in text
    assert "…" not in text
    assert "pass@4" not in text
    assert "score" not in text


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([row(1, None)], "t: 1 problem\n"),
        ([row(1, None), row(2, None)], "t: 2 problems\n"),
        ([*problem("a", *"78"), row(2, None)], "t: 2 problems, 3 completions\n"),
    ],
)
def test_the_title_counts(rows: list[CompletionRow], title: str) -> None:
    lines = printed(summarise(rows), 60).splitlines()
    assert lines[0].rstrip() + "\n" == title


def test_a_multitude_of_groups_is_left_to_the_files() -> None:
    def told(groups: int) -> str:
        rows = [row(index, None, columns={"kind": str(index)}) for index in range(groups)]
        return printed(summarise(rows, ("kind",)), 80)

    assert "accuracy, kind 29" in told(30)
    assert "31 groups" in told(31)
    assert "kind 29" not in told(31)


@pytest.mark.parametrize("width", [60, 120])
def test_a_tasks_own_tables_are_printed(width: int) -> None:
    points = "(1.0), (2.0), (3.0), (4.0), (5.0)"
    rows = [
        row(where, None, answer=points, reference=points, columns={"distribution": where})
        for where in ("in", "out")
    ]
    text = printed(summarise_task(MotionTask(), rows), width)
    assert "t: Errors" in text
    assert "MSE" in text
    assert "by position" in text


def test_names_that_look_like_markup_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(1, None, columns={"kind": "[/red] [bold]"})]
    console().show(summary_tables({"[t]": summarise(rows, ("kind",))}))
    text = capsys.readouterr().out
    assert "[t]: 1 problem" in text
    assert "accuracy, kind [/red] [bold]" in text


def test_the_reasons_that_steps_gives_are_counted_and_printed() -> None:
    failures = ["arithmetic", "reasoning", "wrong_steps", "wrong_steps", "format"]
    summary = summarise([row(index, failure) for index, failure in enumerate(failures)])
    assert summary.failures == {"arithmetic": 1, "format": 1, "reasoning": 1, "wrong_steps": 2}
    text = printed(summary, 100)
    for line in ("failed: arithmetic", "failed: reasoning", "failed: right answer, wrong steps"):
        assert line in text
