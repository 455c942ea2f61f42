"""Tables as plain values, how a page, Markdown, CSV and LaTeX show them, and tables of verdicts.

`PrintableConsole.show` prints them at a terminal.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.names import counted, reward_words, words
from rewardkit.text.printable import printable

if TYPE_CHECKING:
    from rewardkit.records import Verdict

Cell = str | int | float | Metric | None
"""None is an empty cell; a metric is a share with its interval."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under `columns`; None is an empty cell.

    The first `keys` cells of a row name it. The end of a run shows the tables that are `printed`.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    keys: int = 1
    printed: bool = True

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        return {"kind": "table", **asdict(self)}


@dataclass(frozen=True)
class Line:
    """A line of text between tables."""

    text: str
    style: Literal["", "bold", "dim", "yellow"] = ""
    indent: int = 0


def cell_text(cell: Cell) -> str:
    """A cell for a reader: floats with four digits, shares in percent."""
    if isinstance(cell, Metric):
        return f"{cell.value:.1%} [{cell.low:.1%}, {cell.high:.1%}]"
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


IN_STYLES = (' style="text-align: left"', ' style="text-align: right"')
"""The alignment of names and of values; a notebook aligns both to the right."""


def as_html(parts: Iterable[Table | Line], aligned: Sequence[str] = IN_STYLES) -> str:
    """HTML without a style sheet; all text is escaped.

    `aligned` are the attributes of cells with names, and of those with values.
    """
    return "\n".join(_html(part, aligned) for part in parts)


def _html(part: Table | Line, aligned: Sequence[str]) -> str:
    if isinstance(part, Line):
        text = _escaped(part.text.strip())
        return f"<p><b>{text}</b></p>" if part.style == "bold" else f"<p>{text}</p>"

    def row(tag: str, cells: Sequence[Cell]) -> str:
        texts = (
            f"<{tag}{aligned[place >= part.keys]}>{_escaped(cell_text(cell))}</{tag}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(texts)}</tr>\n"

    title = f"<caption>{_escaped(part.title)}</caption>\n" if part.title else ""
    note = f"\n<p>{_escaped(part.note)}</p>" if part.note else ""
    body = "".join(row("td", cells) for cells in part.rows)
    head = f"<thead>\n{row('th', part.columns)}</thead>"
    return f"<table>\n{title}{head}\n<tbody>\n{body}</tbody>\n</table>{note}"


def _escaped(text: str) -> str:
    return html.escape(printable(text)).replace("\n", "<br>")


def as_markdown(table: Table) -> str:
    """The rows as a table of GitHub's Markdown, without title and note."""
    rows = [table.columns, ["---"] * len(table.columns), *table.rows]
    lines = ("".join(f"| {markdown_text(cell_text(cell))} " for cell in row) for row in rows)
    return "\n".join(f"{line}|" for line in lines)


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_|<>\[\]~#])", r"\\\1", printable(text).replace("\n", " "))


def as_csv(table: Table) -> str:
    """The table's values as CSV, with unrounded numbers; a metric fills three columns."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    wide = {i for row in table.rows for i, cell in enumerate(row) if isinstance(cell, Metric)}
    writer.writerow(
        chain.from_iterable(
            (name, f"{name} low", f"{name} high") if i in wide else (name,)
            for i, name in enumerate(table.columns)
        )
    )
    for row in table.rows:
        writer.writerow(chain.from_iterable(_values(cell, i in wide) for i, cell in enumerate(row)))
    return written.getvalue()


def _values(cell: Cell, is_wide: bool) -> Sequence[Cell]:
    if isinstance(cell, Metric):
        return cell.value, cell.low, cell.high
    return (cell, None, None) if is_wide else (cell,)


_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "–": "--",
        "→": r"$\to$",
        "±": r"$\pm$",
        "\n": " ",
    }
)


def as_latex(table: Table) -> str:
    """The table in LaTeX, with the rules of the package booktabs."""

    def row(cells: Sequence[Cell]) -> str:
        return " & ".join(_latex(cell_text(cell)) for cell in cells) + r" \\"

    body = "\n".join([row(table.columns), r"\midrule", *map(row, table.rows)])
    columns = "l" * table.keys + "r" * (len(table.columns) - table.keys)
    caption = f"{table.title}. {table.note}" if table.note else table.title
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{_latex(caption)}}}\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body}\n\\bottomrule\n"
        "\\end{tabular}\n\\end{table}\n"
    )


def _latex(text: str) -> str:
    return printable(text).translate(_LATEX)


WORD = {True: "right", False: "wrong", None: "unjudged"}

MOST_SHOWN = 20
"""Verdicts at the beginning of a list that a table shows."""


def outcome(verdict: Verdict) -> str:
    """Right, wrong or unjudged, with the failure if it says more."""
    if verdict.failure in (None, "wrong", "error"):
        return WORD[verdict.correct]
    return f"{WORD[verdict.correct]}: {words(verdict.failure)}"


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """A row for each of the first verdicts, under a title that counts all of them."""
    counts = Counter(WORD[verdict.correct] for verdict in verdicts)
    words_of_all = ", ".join(f"{count:,} {word}" for word, count in counts.items())
    parts = list(dict.fromkeys(part for verdict in verdicts for part in verdict.parts))
    left_out = len(verdicts) - MOST_SHOWN
    return Table(
        f"{counted(len(verdicts), 'verdict')}: {words_of_all}" if len(verdicts) > 1 else "",
        ("", "verdict", "score", "read", *map(reward_words, parts), "message"),
        [
            (
                *(number, outcome(verdict), verdict.score, short_text(verdict.answer)),
                *map(verdict.parts.get, parts),
                short_text(verdict.message),
            )
            for number, verdict in enumerate(verdicts[:MOST_SHOWN])
        ],
        f"and {left_out:,} more" if left_out > 0 else "",
        keys=len(parts) + 5,  # text, which is aligned at the left
    )


def short_text(text: str | None) -> str:
    """A text on one line of at most 200 characters."""
    if text is None:
        return "(nothing)"
    line = text.strip().replace("\n", " ⏎ ").encode(errors="backslashreplace").decode()
    return line if len(line) <= 200 else f"{line[:197]}…"
