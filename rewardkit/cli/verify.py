"""`rewardkit verify`: judge one completion."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import echo, key_values
from rewardkit.cli.options import with_options
from rewardkit.errors import UsageError
from rewardkit.harness.results.names import reward_words
from rewardkit.protocols import Verifier, needs_reference
from rewardkit.records import Sample, Verdict
from rewardkit.tables import outcome, short_text

STATUS = {True: 0, False: 1, None: 2}


@with_options
def verify_command(
    verifier: Annotated[
        str, typer.Argument(help="A verifier's name; `rewardkit list verifiers` shows all names.")
    ],
    text: Annotated[str, typer.Argument(help="The completion; - reads standard input.")],
    reference: Annotated[
        str | None, typer.Option(help="The correct answer, if the verifier needs a reference.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="A column of the problem that the verifier reads; repeatable."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each side was read and which step decided.")
    ] = False,
    *,
    verifier_args: Mapping[str, Any],
    timeout: float | None,
    as_json: bool,
) -> None:
    """Judge one completion. The exit status is 0 for right, 1 for wrong, 2 for unjudged."""
    from rewardkit.api import load_verifier, verify

    completion = sys.stdin.read() if text == "-" else text
    loaded = load_verifier(verifier, **verifier_args)
    if reference is None and needs_reference(loaded, {}):
        raise UsageError(f"verifier {verifier!r} compares with a reference; give --reference TEXT")
    verdict = verify(
        loaded,
        completion,
        reference or "",
        timeout=timeout,
        columns=key_values(column or (), "--column"),
    )
    if as_json:
        echo(json.dumps(verdict.as_json()))
    else:
        lines = _lines(verdict, reference)
        if explain:
            lines = _explained(lines, loaded, completion, Sample(reference or ""), verdict)
        echo("\n".join(lines))
    raise typer.Exit(STATUS[verdict.correct])


def _lines(verdict: Verdict, reference: str | None) -> list[str]:
    lines = [outcome(verdict)]
    if verdict.score is not None:
        lines.append(f"  score      {verdict.score:g}")
    lines.append(f"  read       {short_text(verdict.answer)}")
    if reference is not None:
        lines.append(f"  reference  {short_text(reference)}")
    lines += [f"  {reward_words(name):<10} {score:g}" for name, score in verdict.parts.items()]
    if verdict.message:
        lines.append(f"  {verdict.message}")
    return lines


def _explained(
    lines: list[str], verifier: Verifier, text: str, sample: Sample, verdict: Verdict
) -> list[str]:
    """The lines of a verdict, with the verifier's explanation if it has one."""
    explained = verifier.explain(text, sample)
    if not explained:
        return [*lines, "  (this verifier has nothing to add)"]
    decided = verdict.message or "no comparison was needed"
    facts = [
        f"  {name:<10} {short_text(what)}" for name, what in [*explained, ("decided", decided)]
    ]
    return lines[:2] + facts
