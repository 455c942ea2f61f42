"""What an audit shows: tables for a terminal, Markdown and a page."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rewardkit.audit.labelled import Disagreement, StratumScore
from rewardkit.audit.measure import NAMES, WORDS, AuditFinding, ErrorRate
from rewardkit.audit.run import Audit
from rewardkit.harness.report.page import allowed, html_template, page_style
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.names import counted, words
from rewardkit.tables import Cell, Line, Table, as_html, as_markdown, markdown_text, short_text
from rewardkit.text.printable import printable

TEMPLATE = Path(__file__).with_name("audit.html.jinja")
PAGE = "audit.html"

ALIGNED = ("", ' class="number"')
"""The classes that align cells: the page's policy allows no styles in elements."""

MOST_FINDINGS = 20
"""Findings of each severity that a terminal shows."""

MEASURES = ("false_reject", "false_accept", "hack", "hang", "exception", "crash", "unjudged")
"""The totals that every audit has."""


def rate_text(rate: ErrorRate) -> str:
    """Return errors, cases and the exact interval: "2 of 97: 2.06% [0.251%, 7.25%]"."""
    if rate.rate is None:
        return "–"
    value, low, high = (f"{100 * share:.3g}%" for share in (rate.rate, rate.low, rate.high))
    return f"{rate.errors:,} of {rate.n:,}: {value} [{low}, {high}]"


def heading(audit: Audit) -> str:
    """Return what was audited, in a sentence."""
    if audit.set is not None:
        count = counted(len(audit.judged), "labelled answer")
        return f"{audit.target}: {count} of the set {Path(audit.set).name}"
    cases = counted(sum(tally.cases for tally in audit.families), "case")
    families = len({tally.name for tally in audit.families})
    text = f"{audit.target}: {cases} of {families} families, kind {audit.kind}, seed {audit.seed}"
    text += f", answers written as {short_text(audit.form.format('…'))}"
    if audit.reference_form == "{}":
        return text
    return f"{text}, references as {audit.reference_form.format('…')}, which it reads better"


def figures_table(audit: Audit) -> Table:
    """The scores of a set's strata, or the rates over all families, of each verifier."""
    audits = audit.sides
    if audit.set is not None:
        rows: list[Sequence[Cell]] = [
            (score.stratum, *([side.target] if audit.against else []), *_score_cells(score))
            for name in dict.fromkeys(score.stratum for side in audits for score in side.scores)
            for side in audits
            for score in side.scores
            if score.stratum == name
        ]
        keys = ("stratum", "verifier") if audit.against else ("stratum",)
        return Table("", (*keys, *SCORE_COLUMNS), rows, keys=len(keys))
    names = [*MEASURES, *(name for name in audit.totals if name not in MEASURES)]
    rows = [
        (NAMES.get(name, words(name)), *_cells(side.totals.get(name) for side in audits))
        for name in names
    ]
    return Table("", ("", *(side.target for side in audits)), rows)


SCORE_COLUMNS = (
    *("right found", "wrong accepted", "precision", "recall", "F1"),
    *("no verdict", "hangs", "CPU ms"),
)


def _score_cells(score: StratumScore) -> list[Cell]:
    return [
        f"{score.found:,} of {score.right:,}",
        f"{score.accepted:,} of {score.wrong:,}",
        *(share and share_text(share) for share in (score.precision, score.recall, score.f1)),
        score.unjudged,
        score.hangs,
        None if score.cpu is None else f"{1000 * score.cpu:.3g}",
    ]


def share_text(share: Metric) -> str:
    """Return a share with its interval in short: ".983 [.970, .991]"."""
    value, low, high = (
        f"{number:.3f}".removeprefix("0") for number in (share.value, share.low, share.high)
    )
    return f"{value} [{low}, {high}]"


def disagreement_table(audit: Audit) -> Table:
    """The share of cases on which each pair of verifiers differs."""
    rows: list[Sequence[Cell]] = [
        (two.first, two.second, rate_text(ErrorRate.of(two.differ, two.answers)))
        for two in audit.disagreements
    ]
    return Table("Disagreements", ("verifier", "other", "verdicts that differ"), rows, keys=2)


def example_table(two: Disagreement) -> Table:
    """Cases on which two verifiers differ."""
    rows: list[Sequence[Cell]] = [
        (
            short_text(case.completion),
            short_text(str(case.reference)),
            *(WORDS[judged] for judged in (case.right, verdict, not verdict)),
        )
        for case, verdict in two.examples
    ]
    return Table("", ("completion", "reference", "label", two.first, two.second), rows, keys=2)


def family_table(audit: Audit, *, only_errors: bool) -> Table:
    """The rates of each family, the highest first; with `only_errors`, without rates of 0."""
    audits = audit.sides
    by_name = [{(tally.name, tally.kind): tally for tally in side.families} for side in audits]
    worst = {
        key: max(side[key].rate.rate or 0 for side in by_name if key in side) for key in by_name[0]
    }
    keys = [
        key
        for key in sorted(worst, key=lambda key: (-worst[key], key))
        if worst[key] or not only_errors
    ]
    rows = [
        (
            name,
            NAMES[kind],
            *_cells(side[name, kind].rate if (name, kind) in side else None for side in by_name),
        )
        for name, kind in keys
    ]
    left_out = len(by_name[0]) - len(keys)
    note = f"no error in the other {left_out} of {len(by_name[0])} rows" if left_out else ""
    columns = ("family", "error", *(side.target for side in audits))
    return Table("Families", columns, rows, note, keys=2)


def _cells(rates: Iterable[ErrorRate | None]) -> list[Cell]:
    return [None if rate is None else rate_text(rate) for rate in rates]


def terminal(audit: Audit) -> Iterator[Table | Line]:
    """The tables and the first findings."""
    yield Line(heading(audit), "bold")
    yield figures_table(audit)
    if audit.against:
        yield disagreement_table(audit)
    families = family_table(audit, only_errors=True)
    if families.rows and audit.set is None:
        yield families
    for note in audit.notes:
        yield Line(note)
    shown: Counter[tuple[str | None, str]] = Counter()
    for found, facts in _all_findings(audit):
        kind = facts.get("verifier"), found.severity
        shown[kind] += 1
        if shown[kind] <= MOST_FINDINGS:
            yield Line(f"{found.severity}: {words(found.name)}, {found.family}", "bold")
            for label, text in facts.items():
                yield Line(f"{label:<11} {short_text(text)}", indent=2)
            yield Line(f"  {found.command}", "dim")
    if left_out := sum(max(0, count - MOST_FINDINGS) for count in shown.values()):
        yield Line(f"{counted(left_out, 'more finding')}: --json, --markdown and -o have them all")


def _all_findings(audit: Audit) -> list[tuple[AuditFinding, dict[str, str]]]:
    return [
        (
            found,
            {
                **({"verifier": side.target} if audit.against else {}),
                "completion": found.completion,
                "reference": found.reference,
                "expected": found.expected,
                "got": found.got,
            },
        )
        for side in audit.sides
        for found in side.findings
    ]


def markdown(audit: Audit) -> str:
    """A comment for a pull request: the totals, the findings, and all families folded."""
    parts = [
        f"### Audit of {_code(audit.target)}",
        heading(audit).partition(": ")[2].capitalize() + ".",
        as_markdown(figures_table(audit)),
        *([as_markdown(disagreement_table(audit))] if audit.against else []),
        *map(markdown_text, audit.notes),
        *(_markdown_finding(found, facts) for found, facts in _all_findings(audit)),
        "<details><summary>All families</summary>",
        as_markdown(family_table(audit, only_errors=False)),
        "</details>",
    ]
    return "\n\n".join(parts) + "\n"


def _markdown_finding(found: AuditFinding, labelled: Mapping[str, str]) -> str:
    title = f"<b>{found.severity}: {words(found.name)}</b> · {html.escape(found.family)}"
    facts = "\n".join(f"{label:<11} {printable(text)}" for label, text in labelled.items())
    body = "\n\n".join((_fenced(facts, "text"), _fenced(found.command, "sh")))
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _code(text: str) -> str:
    fence = "`" * (_longest_run(text) + 1)
    return f"{fence} {printable(text)} {fence}" if "`" in text else f"`{printable(text)}`"


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def page(audit: Audit) -> str:
    """Return a self-contained page in the report's style, without scripts."""
    families = family_table(audit, only_errors=False)
    rendered = html_template(TEMPLATE).render(
        audit=audit,
        heading=heading(audit),
        sections=[
            ("figures", "Figures", as_html([figures_table(audit)], ALIGNED)),
            ("families", "Families", as_html([replace(families, title="")], ALIGNED)),
        ],
        disagreements=as_html([replace(disagreement_table(audit), title="")], ALIGNED),
        examples=[as_html([example_table(two)], ALIGNED) for two in audit.disagreements],
        findings=_all_findings(audit),
        words=words,
        printable=printable,
        style=page_style(),
        policy=f"default-src 'none'; style-src {allowed([page_style()])}; base-uri 'none'; "
        "form-action 'none'",
    )
    return rendered.encode(errors="backslashreplace").decode()
