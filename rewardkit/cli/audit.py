"""`rewardkit audit`: how often a verifier is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewardkit.cli.arguments import echo, fail_with, show
from rewardkit.cli.options import in_judging, in_output, in_what, with_options
from rewardkit.cli.verify import STATUS
from rewardkit.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from rewardkit.audit.run import Audit


@with_options
def audit_command(
    target: Annotated[
        str,
        typer.Argument(
            help="A verifier's name, module:function, file.py:function, a server's address, or a "
            "command that reads JSONL."
        ),
    ],
    kind: Annotated[
        str | None,
        in_what(
            metavar="KIND",
            help="What the verifier judges: math, choice, number, text, code, instructions, tools "
            "or json; by default the kind of our verifier with this name.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        in_what(metavar="FILE", help="Rows; their references are judged and rewritten."),
    ] = None,
    against: Annotated[
        str | None, in_what(metavar="TARGET", help="A second verifier of the same cases.")
    ] = None,
    labelled_set: Annotated[
        str | None,
        in_what(
            "--set",
            metavar="FILE",
            help="Judge labelled answers in place of generated cases: a file with completion, "
            "reference and label, or 'unseen'.",
        ),
    ] = None,
    family: Annotated[
        str, in_what(metavar="START", help="Only families with names that start with START.")
    ] = "",
    case: Annotated[
        str | None,
        in_what(metavar="JSON", help="Judge only this case: completion, reference, columns."),
    ] = None,
    signature: Annotated[
        str | None,
        in_judging(
            metavar="NAME",
            help="How to call the function, such as trl or verl, if its parameters don't show how.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        in_judging(
            metavar="SCORE",
            help="The lowest score of a right completion; by default 0.5, or the verifier's "
            "verdict.",
        ),
    ] = None,
    budget: Annotated[
        float, in_judging(metavar="SECONDS", help="Time for generated cases.")
    ] = 30.0,
    per_family: Annotated[
        int | None,
        in_judging(
            min=1,
            help="Maximum cases of a family, by default 200; the budget may end earlier. With "
            "--set: maximum answers of a stratum, by default 1500.",
        ),
    ] = None,
    fail_on: Annotated[
        str,
        in_output(
            metavar="NAME=RATE,…",
            help="Exit with status 1 if a rate is higher, such as false_accept=0.001,hang=0.",
        ),
    ] = "",
    markdown: Annotated[
        Path | None,
        in_output(metavar="FILE", help="Write a comment for a pull request, as Markdown."),
    ] = None,
    *,
    verifier_args: Mapping[str, Any],
    reference_field: str | None,
    seed: int,
    output_dir: str | None,
    as_json: bool,
) -> None:
    """Measure how often a verifier accepts wrong answers and refuses right answers.

    The exit status is 1 if a rate is above --fail-on. With --case, the exit status is that of
    rewardkit verify.
    """
    if case is not None:
        _judge_case(target, case, signature, threshold, verifier_args)
        return
    if not budget > 0:
        raise UsageError(f"--budget is {budget:g}; it must be above 0 seconds")
    limits = limits_in(fail_on)
    from rewardkit.audit import output
    from rewardkit.audit.run import audit
    from rewardkit.harness.results.files import replace_text
    from rewardkit.text.console import PrintableConsole

    with PrintableConsole(stderr=True).status(f"auditing {target}"):
        result = audit(
            target,
            kind=kind,
            verifier_args=verifier_args,
            data=data,
            reference_field=reference_field,
            against=against,
            signature=signature,
            threshold=threshold,
            seed=seed,
            budget=budget,
            family=family,
            per_family=per_family,
            set=labelled_set,
        )
    if markdown is not None:
        replace_text(markdown, output.markdown(result))
    if output_dir is not None:
        (folder := Path(output_dir)).mkdir(parents=True, exist_ok=True)
        replace_text(folder / output.PAGE, output.page(result))
    show(output.terminal(result), result.as_json(), as_json=as_json)
    fail_with(passed_over(result, limits))


def _judge_case(
    target: str,
    text: str,
    signature: str | None,
    threshold: float | None,
    parameters: Mapping[str, Any],
) -> None:
    """Print the target's verdict on one case, and exit as `rewardkit verify` does."""
    from rewardkit.audit.cases import Case
    from rewardkit.audit.measure import WORDS
    from rewardkit.audit.targets import resolve_target

    try:
        fields: dict[str, Any] = json.loads(text)
        case = Case(
            "case", fields["completion"], fields["reference"], True, fields.get("columns", {})
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            '--case takes {"completion": …, "reference": …, "columns": {…}} as JSON'
        ) from error
    (judged,) = resolve_target(target, signature, threshold, parameters).judge([case])
    echo(WORDS[judged.correct])
    facts = (("score", judged.score), ("failure", judged.failure), ("", judged.explanation))
    for name, value in facts:
        if value not in (None, ""):
            echo(f"  {name:<10} {value}" if name else f"  {value}")
    raise typer.Exit(STATUS[judged.correct])


def limits_in(text: str) -> dict[str, float]:
    """The rates of `NAME=RATE,…`. UsageError for an unknown name, and a rate that isn't a share."""
    from rewardkit.audit.measure import NAMES

    limits = {}
    for part in filter(None, text.split(",")):
        name, _, rate = part.partition("=")
        if name not in NAMES:
            raise UnknownName.among("rate", name, NAMES)
        try:
            limits[name] = float(rate)
        except ValueError:
            limits[name] = math.nan
        if not 0 <= limits[name] <= 1:
            raise UsageError(f"--fail-on {part!r} isn't NAME=RATE with a rate from 0 to 1")
    return limits


def passed_over(result: Audit, limits: Mapping[str, float]) -> list[str]:
    """Why the audit fails: rates above their limits, and unknown rates."""
    from rewardkit.audit.measure import NAMES
    from rewardkit.audit.output import rate_text

    reasons = []
    for name, limit in limits.items():
        rate = result.totals.get(name)
        if rate is not None and rate.rate is None:
            reasons.append(f"{name}: no case had a verdict, so the rate isn't known")
        elif rate is not None and rate.rate is not None and rate.rate > limit:
            reasons.append(f"{name} ({NAMES[name]}): {rate_text(rate)}, above {limit:g}")
    return reasons
