"""Curves and tables of runs and trainings as files."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from rewardkit.errors import MissingExtra, UsageError
from rewardkit.harness.report.publication import Publication
from tests.support.commands import rewardkit


def scored(folder: Path, right: int, *, name: str) -> Path:
    """A run of eight problems in two kinds."""
    rows = [
        {"id": n, "kind": "ab"[n % 2], "completion": "4" if n < right else "5", "answer": "4"}
        for n in range(8)
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--verifier", "exact", "--reference-field", "answer", "--group-by", "kind")
    assert rewardkit("score", str(file), *options, "-o", str(folder / name)).status == 0
    return folder / name


def training(folder: Path) -> Path:
    """A training without evaluations: its log alone."""
    folder.mkdir()
    logs = {"reward": 0.5, "rewards/math/mean": 0.25, "kl": 0.01, "entropy": 1.0, "grad_norm": 2.0}
    more = {"clip_ratio/region_mean": 0.1, "completions/mean_length": 40.0}
    entries: list[dict[str, object]] = [
        {"step": step, "logs": {**logs, **more}, "evaluation": {}, "warnings": []}
        for step in (1, 2)
    ]
    (folder / "train_log.json").write_text(json.dumps(entries))
    return folder


def names(folder: Path, suffix: str) -> set[str]:
    return {path.name.removesuffix(suffix) for path in folder.glob(f"*{suffix}")}


@pytest.mark.slow
def test_each_curve_is_svg_and_pdf_and_the_same_each_time(tmp_path: Path) -> None:
    publication = Publication([training(tmp_path / "grpo")])
    figures = tmp_path / "figures"
    assert publication.write_curves(figures, overwrite=False) == 6
    assert names(figures, ".svg") == names(figures, ".pdf")
    drawn = {path: path.read_bytes() for path in figures.iterdir()}
    svg = next(text for path, text in drawn.items() if path.suffix == ".svg")
    assert b"<text" in svg  # text that can be searched and edited
    assert all(text.startswith(b"%PDF") for path, text in drawn.items() if path.suffix == ".pdf")
    with pytest.raises(UsageError, match="exists; name another file, or use --overwrite"):
        publication.write_curves(figures, overwrite=False)
    publication.write_curves(figures, overwrite=True)
    assert {path: path.read_bytes() for path in figures.iterdir()} == drawn


def test_a_run_alone_has_no_curve_and_is_told_where_its_metrics_go(tmp_path: Path) -> None:
    run = scored(tmp_path, 3, name="before")
    done = rewardkit("export", str(run), "--figures", str(tmp_path / "figures"))
    assert (done.status, "0 curves; " in done.out, "--tables" in done.out) == (0, True, True)


def test_tables_have_a_column_for_each_run_and_the_comparison(tmp_path: Path) -> None:
    runs = [scored(tmp_path, 3, name="before"), scored(tmp_path, 6, name="after")]
    publication = Publication(runs)
    assert publication.write_tables(tmp_path / "tables", overwrite=False) == 2
    (metrics,) = (tmp_path / "tables").glob("*-metrics.csv")
    rows = {row["metric"]: row for row in csv.DictReader(metrics.read_text().splitlines())}
    assert rows["accuracy"]["before"] == "0.375"
    assert rows["accuracy"]["after"] == "0.75"
    assert float(rows["accuracy"]["after low"]) < 0.75 < float(rows["accuracy"]["after high"])
    assert rows["accuracy, kind a"]["before"] == "0.5"
    assert publication.write_latex(tmp_path / "all.tex", overwrite=False) == 2
    text = (tmp_path / "all.tex").read_text()
    assert text.count(r"\begin{tabular}") == text.count(r"\bottomrule") == 2
    assert "+37.5 pts" in text


def test_a_training_has_its_log_as_a_table_and_as_figures(tmp_path: Path) -> None:
    publication = Publication([training(tmp_path / "grpo")])
    (table,) = publication.tables()
    columns = ("reward", "math reward", "KL divergence", "entropy", "clip share", "mean length")
    for column in columns:
        assert column in table.columns
    assert [row[:2] for row in table.rows] == [(1, 0.5), (2, 0.5)]
    titles = [figure.title for figure in publication.curves()]
    assert "grpo: Rewards in training" in titles
    assert "grpo: Gradient norm in training" in titles


def test_the_command_names_what_it_wrote_and_what_is_missing(tmp_path: Path) -> None:
    folder = str(training(tmp_path / "grpo"))
    done = rewardkit("export", folder, "--tables", str(tmp_path / "tables"))
    assert done.out == f"{tmp_path / 'tables'}: 1 table\n"
    assert "--figures" in rewardkit("export", folder).err
    (tmp_path / "empty").mkdir()
    nothing = rewardkit("export", str(tmp_path / "empty"), "--latex", str(tmp_path / "a.tex"))
    assert (nothing.status, "holds no run" in nothing.err) == (2, True)


def test_figures_need_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"rewardkit\[figures\]"):
        Publication([training(tmp_path / "t")]).write_curves(tmp_path, overwrite=False)
