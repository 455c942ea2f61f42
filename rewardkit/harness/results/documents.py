"""The JSON files of a run: run.json with versions and hardware, summary.json, and notes.json."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec

from rewardkit import __version__
from rewardkit.available_resources import available_cores
from rewardkit.errors import RunMismatch
from rewardkit.harness.results.files import replace_text

FORMAT = 1
"""Version of the files of runs and trainings, which run.json and training.json state as `format`.
It is raised when code of the version before could not read them."""

NonNegativeInt = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Number = Annotated[float, msgspec.Meta(gt=-1e300, lt=1e300)]


class _TaskRecord(TypedDict, total=False):
    samples: NonNegativeInt
    num_samples: NonNegativeInt
    group_by: list[str]
    prompt: str | None
    reading: str | None
    sampling: dict[str, Any]
    judging: dict[str, Any]


class _RunSettings(TypedDict, total=False):
    max_errors: Number


class _RunRecord(TypedDict, total=False):
    command: list[Any]
    settings: _RunSettings
    fingerprint: dict[str, Any]
    tasks: dict[str, _TaskRecord]
    backend: dict[str, Any]
    versions: dict[str, Any]
    hardware: dict[str, Any]
    sessions: list[dict[str, Any]]
    shard: dict[str, Any]


class _Metric(TypedDict):
    value: Number
    low: Number
    high: Number
    count: NonNegativeInt


class _TaskSummary(TypedDict):
    problems: NonNegativeInt
    completions: NonNegativeInt
    judged: NonNegativeInt
    unjudged: NonNegativeInt
    truncated: NonNegativeInt
    metrics: dict[str, _Metric]
    groups: dict[str, dict[str, _Metric]]
    failures: dict[str, NonNegativeInt]
    lengths: NotRequired[dict[str, dict[str, Number]]]
    examples: NotRequired[dict[str, list[str]]]
    figures: NotRequired[list[dict[str, Any]]]


class _Summary(TypedDict):
    tasks: dict[str, _TaskSummary]


@contextlib.contextmanager
def decoding(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Raise RunMismatch if the file at `path` can't be decoded as `what`."""
    try:
        yield
    except (ValueError, RecursionError) as error:  # msgspec's, json's and Unicode's
        raise RunMismatch(f"{path} isn't {what}: {error}. {remedy}") from error


def read_document(path: Path) -> dict[str, Any]:
    """Read a JSON object; NaN and lone surrogates, which msgspec's decoder refuses, are read."""
    return msgspec.convert(json.loads(path.read_text(encoding="utf-8")), dict[str, Any])


def check_format(path: Path, document: Mapping[str, Any]) -> None:
    """Raise RunMismatch unless the document at `path` states a format that this version reads."""
    found = document.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise RunMismatch(
            f"{path} doesn't state its format, as files of rewardkit 0.2.0 and later do. Restore "
            "it from a copy, or choose another folder"
        )
    if found > FORMAT:
        raise RunMismatch(
            f"{path.parent} has format {found}, and rewardkit {__version__} reads up to format "
            f"{FORMAT}; upgrade it: pip install --upgrade rewardkit"
        )


def read_run_record(path: Path) -> dict[str, Any]:
    """Read a run.json; a missing file is empty. Raises RunMismatch."""
    if not path.exists():
        return {}
    remedy = "Restore it from a copy, or start the run again with --overwrite"
    with decoding(path, "the record of a run", remedy):
        record = read_document(path)
        check_format(path, record)
        msgspec.convert(record, _RunRecord)
    return record


def read_run_summary(path: Path) -> dict[str, Any]:
    """Read a summary.json. Raises RunMismatch, or FileNotFoundError for a missing file."""
    remedy = "Run the same command again to rewrite it"
    with decoding(path, "a summary that rewardkit wrote", remedy):
        summary = read_document(path)
        msgspec.convert(summary, _Summary)
    return summary


def planned_completions(task_record: Mapping[str, Any]) -> int:
    """How many completions of a task the run plans; 0 if its record doesn't say."""
    return int(task_record.get("samples", 0)) * int(task_record.get("num_samples", 1))


NOTES = "notes.json"

NoteText = Annotated[str, msgspec.Meta(max_length=10_000)]
Tag = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]
NoteTags = Annotated[Sequence[Tag], msgspec.Meta(max_length=20)]


@dataclass(frozen=True)
class SampleNote:
    """A reader's note on a sample, and tags; `started` is the time at which its run began."""

    note: NoteText = ""
    tags: NoteTags = ()
    started: str = ""


def read_notes(folder: Path) -> Mapping[str, SampleNote]:
    """The notes on a run's samples by key. RunMismatch if the file is damaged."""
    path = folder / NOTES
    if not path.exists():
        return {}
    with decoding(path, "a file of notes", "Move it away"):
        samples = read_document(path).get("samples")
        return msgspec.convert(samples, dict[str, SampleNote])


def write_note(folder: Path, key: str, note: SampleNote) -> None:
    """Store the note on the sample with this key; a note without text and tags is removed.

    The whole file is replaced. Raises WriteError.
    """
    notes = {**read_notes(folder), key: note}
    samples = {key: asdict(note) for key, note in notes.items() if note.note or note.tags}
    document = {"format": FORMAT, "samples": samples}
    replace_text(folder / NOTES, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


PACKAGES = (
    "datasets",
    "jinja2",
    "latex2sympy2_extended",
    "math-verify",
    "sympy",
    "tokenizers",
    "torch",
    "transformers",
)


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that decide a result.

    vLLM's is in the backend's description: its CPU distribution has another name.
    """
    versions_by_package = {"python": platform.python_version(), "rewardkit": __version__}
    for package in PACKAGES:
        try:
            versions_by_package[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions_by_package


def hardware() -> dict[str, Any]:
    """The machine, with its GPUs if torch is already imported."""
    torch = sys.modules.get("torch")
    gpus: list[str] = []
    if torch is not None and torch.cuda.is_available():
        gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "available_cores": available_cores(),
        "gpus": gpus,
    }


def new_session(earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The versions, the start and the sessions for the record of a run that starts or resumes.

    `earlier` is its record so far, empty for a new run.
    """
    started = now()
    return {
        "versions": versions(),
        "started": earlier.get("started", started),
        "sessions": [*earlier.get("sessions", []), {"started": started, "ended": None}],
    }


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
