"""Choose problems worth training on by judged completions, and say why others are dropped."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from rewardkit import registry
from rewardkit.curate import references
from rewardkit.curate.overlap import OTHER_NUMBERS, Contamination, Overlap, duplicates
from rewardkit.curate.page import render_page
from rewardkit.curate.problems import CuratedProblem, Problems, read_problems
from rewardkit.curate.references import (
    Suspect,
    apply_corrections,
    find_disputes,
    find_suspects,
    flag_references,
    guesses,
    read_decisions,
)
from rewardkit.errors import DataError, UsageError, needs_extra
from rewardkit.harness.results.data_files import CURATED, iterate_rows, load_pyarrow
from rewardkit.harness.results.files import read_toml, replace_text, replaced_file
from rewardkit.harness.results.metric import clopper_pearson
from rewardkit.harness.results.rollouts import find_rollouts
from rewardkit.harness.results.run_folder import REPORT, find_runs
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScoreOutput, VerifierChoice, plan_scoring
from rewardkit.harness.scoring.sources import FileFields
from rewardkit.text.transcripts import QUESTION_COLUMNS, question_in

DROPPED, SETTINGS, SCORED = "dropped.parquet", "curate.toml", "scored"

DROPPING = (
    *("proof", "needs a figure", references.MISSING, references.UNREADABLE),
    *(references.EMPTY_PAYS, references.ECHO_PAYS),
)
"""Flags that drop a problem. Other flags are only stored."""

LIKE_EVALUATED = "like an evaluation problem"
"""The flag of a problem that differs from an evaluated problem only in its numbers."""

SILENT, SILENT_GROUPS = "stopped teaching", 2
"""The flag of a problem whose last groups of a training, this many or more, had equal rewards."""

DISPUTED = "rule and judge differ"
"""The flag of a problem with an answer that a model judge accepts and the rule doesn't."""

_SHARES = re.compile(r"(0(?:\.\d+)?|1(?:\.0+)?)\.\.(0(?:\.\d+)?|1(?:\.0+)?)")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What decides which problems are kept; curate.toml has these keys."""

    sources: tuple[str, ...]
    """Folders of runs and trainings, or a file of problems with completions or `rollouts`."""
    rollouts: str = ""
    """A file with the completions for the problems of the source."""
    verifier: str = ""
    """The verifier that judges a file; runs are judged already."""
    reference_field: str = ""
    """The column of a file with the reference; "" means the usual columns."""
    keep: str = ""
    """The shares of right completions of problems to keep, LOW..HIGH; "" keeps all problems."""
    keep_by: Literal["point", "interval"] = "point"
    """What must be outside of `keep` to drop a problem: the share, or its whole interval."""
    against: tuple[str, ...] = ()
    """Tasks, or files of problems, that the kept problems must not overlap with."""
    drop: tuple[str, ...] = ()
    """Further flags that drop a problem."""
    suspect_share: Annotated[float, Meta(gt=0, le=1)] = 0.5
    """At least this share of a suspect problem's completions has the same wrong answer."""
    suspect_rate: Annotated[float, Meta(ge=0, lt=1)] = 0.2
    """A suspect problem has at most this share of right completions."""
    least_samples: Annotated[int, Meta(ge=1)] = 4
    """With fewer judged completions, a problem is neither too hard nor too easy."""

    def __post_init__(self) -> None:
        if not self.sources:
            raise UsageError("name the runs or the file to curate")
        _ = self.kept_shares

    @property
    def kept_shares(self) -> tuple[float, float]:
        """The lowest and the highest share of right completions to keep."""
        if not self.keep:
            return 0.0, 1.0
        found = _SHARES.fullmatch(self.keep)
        low, high = map(float, found.groups()) if found else (1.0, 0.0)
        if low > high:
            raise UsageError(
                f"--keep is {self.keep!r}; give two shares from 0 to 1, the lower one first, such "
                "as 0.1..0.9"
            )
        return low, high

    def as_toml(self) -> str:
        """Return the settings as the text of curate.toml."""
        values = msgspec.to_builtins(self)
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


@dataclass
class Finding:
    """All that is known of a problem."""

    problem: CuratedProblem
    flags: list[str]
    reasons: list[str] = field(default_factory=list)
    low: float | None = None
    high: float | None = None
    suspect: Suspect | None = None
    duplicate_of: str = ""
    overlap: Overlap | None = None


@dataclass(frozen=True)
class Curated:
    """A curated set: every problem with its reasons, in the order of the source."""

    output_dir: Path
    findings: Sequence[Finding]
    guesses: Sequence[tuple[str, str, float]]
    """A task, a reference, and the share of the task's problems that this answer solves."""
    disputes: Sequence[Suspect] = ()
    """Problems with an answer that a model judge accepts and the rule doesn't."""

    @property
    def kept(self) -> list[Finding]:
        """The problems without a reason to drop them."""
        return [finding for finding in self.findings if not finding.reasons]

    @property
    def reasons(self) -> Counter[str]:
        """How many problems each reason drops; a problem may have several."""
        return Counter(reason for finding in self.findings for reason in finding.reasons)

    @property
    def flags(self) -> Counter[str]:
        """How many problems have each flag."""
        return Counter(flag for finding in self.findings for flag in finding.flags)


def read_settings(path: Path) -> Settings:
    """Return the settings in a curate.toml. UsageError names a wrong key or value."""
    try:
        return msgspec.convert(
            read_toml(path, "settings", "docs/guides/curate.md"), Settings, strict=False
        )
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}") from error


def curate(
    settings: Settings, output_dir: Path, reporter: Reporter | None = None, spread: Any = None
) -> Curated:
    """Judge what isn't judged yet, decide on each problem, and write the output folder.

    The folder gets kept.parquet, dropped.parquet with `reasons`, and curate.toml, which repeats the
    command. Completions of a file are judged into the folder `scored`. A person's decisions in
    decisions.jsonl are followed. Raises DataError, UsageError.
    """
    with needs_extra("curate", "rewardkit curate"):
        import rensa  # noqa: F401
    load_pyarrow("rewardkit curate")
    output_dir.mkdir(parents=True, exist_ok=True)
    problems = read_problems(_judged_runs(settings, output_dir, reporter or Reporter(), spread))
    decisions = read_decisions(output_dir)
    apply_corrections(problems, decisions.values())
    flags = flag_references(problems)
    found = {key: Finding(problem, flags[key]) for key, problem in problems.by_key.items()}
    _by_difficulty(found.values(), settings)
    _by_suspicion(found, problems, settings)
    disputes = find_disputes(problems)
    for dispute in disputes:
        found[dispute.problem.task, dispute.problem.id].flags.append(DISPUTED)
    for key, decision in decisions.items():
        if key in found and decision.decision == "accept":
            found[key].reasons = [reason for reason in found[key].reasons if reason != "suspect"]
        elif key in found and decision.decision == "drop":
            found[key].reasons.append("dropped by a person")
    _by_overlap(found.values(), settings)
    dropping = {*DROPPING, *settings.drop}
    for finding in found.values():
        finding.reasons = [*(flag for flag in finding.flags if flag in dropping), *finding.reasons]
    _by_duplicates(list(found.values()))
    curated = Curated(output_dir, list(found.values()), list(guesses(problems)), disputes)
    _write(curated, settings)
    return curated


def _judged_runs(
    settings: Settings, output_dir: Path, reporter: Reporter, spread: Any
) -> list[Path]:
    """The folders of judged completions: the runs, or the judged file."""
    paths = [Path(source) for source in settings.sources]
    if all(path.is_dir() for path in paths):
        if settings.rollouts or settings.verifier:
            raise UsageError("the runs are judged already; leave out --rollouts and --verifier")
        trainings = [path for path in paths if find_rollouts(path)]
        runs = [path for path in paths if path not in trainings]
        return [*(find_runs(runs) if runs else ()), *trainings]
    if len(paths) > 1 or paths[0].is_dir():
        raise UsageError("give folders of runs, or one file with --verifier")
    if not settings.verifier:
        raise UsageError(f"{paths[0]} is a file; name its verifier with --verifier")
    plan = plan_scoring(
        [Path(settings.rollouts or paths[0])],
        VerifierChoice(verifier=settings.verifier),
        FileFields(reference=settings.reference_field or None),
        ScoreOutput(output_dir=output_dir / SCORED),
        data=str(paths[0]) if settings.rollouts else None,
    )
    score(plan, reporter, spread)
    return [output_dir / SCORED]


def _by_difficulty(findings: Iterable[Finding], settings: Settings) -> None:
    lowest, highest = settings.kept_shares
    interval = functools.lru_cache(maxsize=100_000)(clopper_pearson)
    for finding in findings:
        problem = finding.problem
        if problem.pass_rate is None or problem.judged < settings.least_samples:
            finding.flags.append("too few samples")
        if problem.silent_groups >= SILENT_GROUPS:
            finding.flags.append(SILENT)
        if problem.pass_rate is None:
            continue
        finding.low, finding.high = interval(problem.right, problem.judged)
        if problem.judged < settings.least_samples:
            continue
        rates = (problem.pass_rate, problem.pass_rate)
        low, high = (finding.low, finding.high) if settings.keep_by == "interval" else rates
        if high < lowest:
            finding.reasons.append("too hard")
        elif low > highest:
            finding.reasons.append("too easy")


def _by_suspicion(
    found: Mapping[tuple[str, str], Finding], problems: Problems, settings: Settings
) -> None:
    share, rate, least = settings.suspect_share, settings.suspect_rate, settings.least_samples
    for suspect in find_suspects(problems, share=share, rate=rate, least=least):
        finding = found[suspect.problem.task, suspect.problem.id]
        finding.suspect = suspect
        finding.reasons.append("suspect")


def _by_overlap(findings: Iterable[Finding], settings: Settings) -> None:
    if not settings.against:
        return
    known = Contamination({name: _questions(name) for name in settings.against})
    for finding in findings:
        finding.overlap = known.find(finding.problem.question)
        if finding.overlap is not None and finding.overlap.how == OTHER_NUMBERS:
            finding.flags.append(LIKE_EVALUATED)
        elif finding.overlap is not None:
            finding.reasons.append("in an evaluation set")


def _questions(name: str) -> list[str]:
    """The questions of a task's default split, or of a file."""
    if not Path(name).exists():
        samples = registry.installed().task(name).load(data=None, split=None, seed=0)
        return [sample.question for sample in samples]
    texts = []
    for number, row in enumerate(iterate_rows(name), 1):
        texts.append(question_in(row))
        if not texts[-1]:
            raise DataError(f"{name}, row {number} has none of {', '.join(QUESTION_COLUMNS)}")
    return texts


def _by_duplicates(findings: Sequence[Finding]) -> None:
    """Keep one of several duplicates, by preference one without a reason to drop it, with the most
    frequent reference, with the most right completions, the earliest."""
    for group in duplicates([finding.problem.question for finding in findings]):
        members = [findings[place] for place in group]
        votes = Counter(finding.problem.reference for finding in members)
        stays = max(
            members,
            key=lambda finding: (
                not finding.reasons,
                votes[finding.problem.reference],
                finding.problem.pass_rate or 0.0,
            ),
        )
        for finding in members:
            if finding is not stays:
                finding.duplicate_of = stays.problem.id
                finding.reasons.append("duplicate")


def _write(curated: Curated, settings: Settings) -> None:
    folder = curated.output_dir
    _write_table(curated.kept, folder / CURATED)
    _write_table([finding for finding in curated.findings if finding.reasons], folder / DROPPED)
    replace_text(folder / SETTINGS, settings.as_toml())
    replace_text(folder / REPORT, render_page(curated))


def _write_table(findings: Sequence[Finding], path: Path) -> None:
    pyarrow, parquet = load_pyarrow(f"writing {path.name}")
    text, number, texts = pyarrow.string(), pyarrow.float64(), pyarrow.list_(pyarrow.string())
    added: Mapping[str, tuple[Any, list[Any]]] = {
        "pass_rate": (number, [finding.problem.pass_rate for finding in findings]),
        "low": (number, [finding.low for finding in findings]),
        "high": (number, [finding.high for finding in findings]),
        "samples": (pyarrow.int64(), [finding.problem.judged for finding in findings]),
        "majority": (text, [_majority(finding) for finding in findings]),
        "flags": (texts, [finding.flags for finding in findings]),
        "reasons": (texts, [finding.reasons for finding in findings]),
        "duplicate_of": (text, [finding.duplicate_of or None for finding in findings]),
        "overlaps": (text, [finding.overlap and finding.overlap.text for finding in findings]),
    }
    rows = [{"id": finding.problem.id, **_columns(finding.problem)} for finding in findings]
    try:
        table = pyarrow.Table.from_pylist(
            [{key: row[key] for key in row if key not in added} for row in rows]
        )
        for name, (kind, values) in added.items():
            table = table.append_column(name, pyarrow.array(values, kind))
        with replaced_file(path) as partial:
            parquet.write_table(table, partial, compression="zstd")
    except pyarrow.ArrowException as error:
        raise DataError(f"the problems' columns don't fit a Parquet table: {error}") from error


def _columns(problem: CuratedProblem) -> dict[str, Any]:
    columns = problem.columns
    known = {"", *(str(value) for value in columns.values())}
    return columns if problem.reference in known else {**columns, "reference": problem.reference}


def _majority(finding: Finding) -> str | None:
    """The most frequent answer, or the reference if most completions are right."""
    problem = finding.problem
    answer, count = problem.wrong.most_common(1)[0] if problem.wrong else (None, 0)
    if finding.suspect is not None:
        return finding.suspect.majority
    return problem.reference if problem.right >= max(count, 1) else answer
