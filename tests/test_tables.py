"""Tables as plain values, at a terminal, in a notebook, as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

import rewardkit
from rewardkit import Failure, Verdict
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.summary import summarise
from rewardkit.harness.runs.progress import Reporter, default_reporter
from rewardkit.harness.runs.run import RunSummary
from rewardkit.records import Verdicts
from rewardkit.tables import Line, Table, as_csv, as_html, as_latex
from tests.harness.results.making import row

TABLE = Table(
    "Shares & <amounts>",
    ("name", "accuracy", "n_50%"),
    [("a_b", Metric(0.5, 0.25, 0.75, 8), 1 / 3), ("<b>", None, None)],
)


def test_html_escapes_all_text_and_sets_no_style_sheet() -> None:
    page = as_html([TABLE, Line("\n<i>", "bold"), Line("\x1b[2J")])
    assert "<caption>Shares &amp; &lt;amounts&gt;</caption>" in page
    assert "50.0% [25.0%, 75.0%]" in page
    assert "&lt;b&gt;" in page
    assert "<p><b>&lt;i&gt;</b></p>" in page
    assert "\x1b" not in page


def test_csv_has_unrounded_numbers_and_three_columns_for_a_metric() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows == [
        ["name", "accuracy", "accuracy low", "accuracy high", "n_50%"],
        ["a_b", "0.5", "0.25", "0.75", str(1 / 3)],
        ["<b>", "", "", "", ""],
    ]


def test_latex_has_the_rules_of_booktabs_and_escapes_its_own_signs() -> None:
    text = as_latex(TABLE)
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrr}"):
        assert rule in text
    assert r"Shares \& \textless{}amounts\textgreater{}" in text
    assert r"a\_b & 50.0\% [25.0\%, 75.0\%] & 0.3333 \\" in text
    assert r"\textbackslash{}boxed\{4\}" in as_latex(replace(TABLE, rows=[(r"\boxed{4}", 1, 2)]))


def test_a_verdict_prints_as_a_row_and_keeps_its_repr() -> None:
    verdict = Verdict.wrong(Failure.NO_ANSWER, message="there is <no> box")
    assert "wrong: no answer" in str(verdict)
    assert "wrong: no answer" in verdict._repr_html_()
    assert "there is &lt;no&gt; box" in verdict._repr_html_()
    assert repr(verdict).startswith("Verdict(correct=False, score=0.0")


def test_a_batch_is_a_list_that_prints_as_one_table() -> None:
    verdicts = rewardkit.verify_batch("exact", ["4", "5"], ["4", "4"])
    assert verdicts == list(verdicts)
    assert "2 verdicts: 1 right, 1 wrong" in str(verdicts)
    assert str(verdicts).count("│ wrong") == 1
    assert "and 3 more" in str(Verdicts(verdicts[:1] * 23))


def test_parts_of_a_score_have_columns() -> None:
    verdict = replace(Verdict.scored(0.5), parts={"format": 1.0})
    assert "format" in str(verdict)
    assert "format" not in str(Verdict.right())


def test_a_summary_prints_its_tables_and_its_folder_without_escape_codes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    summary = RunSummary({"t": summarise([row(1, None), row(2, "wrong")])}, Path("runs/a"))
    text, page = str(summary), summary._repr_html_()
    for part in ("t: 2 problems", "accuracy", "50.0%", "runs/a"):
        assert part in text
        assert part in page
    assert "\x1b" not in text
    assert len(text.splitlines()) > 5


def test_a_call_outside_a_notebook_shows_no_progress() -> None:
    assert type(default_reporter()) is Reporter
