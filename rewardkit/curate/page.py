"""The page of a curated set: reasons, flags, suspect references, duplicates, overlaps."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.curate.references import Decision, Suspect, read_decisions
from rewardkit.harness.report.page import allowed, html_template, page_style

if TYPE_CHECKING:
    from rewardkit.curate.run import Curated

FOLDER = Path(__file__).parent
MOST_SUSPECTS, MOST_PAIRS, MOST_CHARACTERS = 500, 100, 400
BINS = 10


@functools.cache
def script() -> str:
    """Return the script of the page on which a person decides."""
    return (FOLDER / "review.js").read_text(encoding="utf-8")


@functools.cache
def style() -> str:
    """Return the style of the report and of this page."""
    return page_style() + (FOLDER / "page.css").read_text(encoding="utf-8")


def policy(*, live: bool) -> str:
    """Return the content security policy: the style, and for a live page its script and server."""
    scripts = f"script-src {allowed([script()])}; connect-src 'self'; " if live else ""
    return (
        f"default-src 'none'; {scripts}style-src {allowed([style()])}; base-uri 'none'; "
        "form-action 'none'"
    )


def render_page(curated: Curated, *, live: bool = False) -> str:
    """Return the page. On a `live` page a person can decide on the suspects."""
    decisions = read_decisions(curated.output_dir)
    suspects = [finding.suspect for finding in curated.findings if finding.suspect]
    suspects.sort(key=lambda suspect: -suspect.share)
    disputes = [
        (
            *(dispute.problem.id, dispute.problem.reference, dispute.majority),
            *(f"{dispute.share:.0%} of {dispute.problem.judged}", dispute.reading),
        )
        for dispute in curated.disputes
    ]
    duplicates = [
        (finding.problem.id, finding.duplicate_of, finding.problem.question[:MOST_CHARACTERS])
        for finding in curated.findings
        if finding.duplicate_of
    ]
    overlaps = [
        (
            *(finding.problem.id, overlap.set, overlap.how),
            *(finding.problem.question[:MOST_CHARACTERS], overlap.text[:MOST_CHARACTERS]),
        )
        for finding in curated.findings
        if (overlap := finding.overlap)
    ]
    return html_template(FOLDER / "page.html.jinja").render(
        folder=curated.output_dir.name,
        findings=curated.findings,
        kept=len(curated.kept),
        reasons=_counts(curated.reasons),
        flags=_counts(curated.flags),
        guesses=[(task, text, f"{share:.1%}") for task, text, share in curated.guesses],
        rates=_rates(curated),
        suspects=[(suspect, _decided(suspect, decisions)) for suspect in suspects[:MOST_SUSPECTS]],
        hidden=max(0, len(suspects) - MOST_SUSPECTS),
        disputes=disputes[:MOST_PAIRS],
        duplicates=duplicates[:MOST_PAIRS],
        overlaps=overlaps[:MOST_PAIRS],
        style=style(),
        script=script(),
        policy=policy(live=live),
        live=live,
    )


def _counts(counter: Counter[str]) -> list[tuple[str, str]]:
    return [(name, f"{count:,}") for name, count in counter.most_common()]


def _rates(curated: Curated) -> list[tuple[str, str, str]]:
    """The problems in ten bins of the share of right completions, each with a bar."""
    shares = [finding.problem.pass_rate for finding in curated.findings]
    bins = Counter(min(int(share * BINS), BINS - 1) for share in shares if share is not None)
    most = max(bins.values(), default=1)
    return [
        (f"{place / BINS:.0%} – {(place + 1) / BINS:.0%}", f"{bins[place]:,}", bar)
        for place in range(BINS if bins else 0)
        for bar in ["█" * -(-30 * bins[place] // most)]
    ]


def _decided(suspect: Suspect, decisions: Mapping[tuple[str, str], Decision]) -> str:
    decision = decisions.get((suspect.problem.task, suspect.problem.id))
    return f"{decision.decision} {decision.reference}".strip() if decision else ""
