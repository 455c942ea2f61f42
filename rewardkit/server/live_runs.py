"""The runs and trainings below a folder, finished or not, with the figures of a table's row."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from rewardkit.errors import RewardkitError
from rewardkit.harness.metrics.metric import SHARES, Metric
from rewardkit.harness.report.training_series import TRAIN_LOG
from rewardkit.harness.store.documents import (
    check_format,
    planned_completions,
    read_document,
    read_run_record,
    read_run_summary,
)
from rewardkit.harness.store.find_runs import natural
from rewardkit.harness.store.run_folder import LOCK, REPORT, RUN, SUMMARY
from rewardkit.harness.store.sample_row import SAMPLES
from rewardkit.printable import printable
from rewardkit.redaction import redact

TRAINING = "training.json"

DEEPEST = 6
"""Maximum depth of a run below the folder."""

IDLE_SECONDS = 120
"""Seconds without a change after which a run that no process locks counts as unfinished."""

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a folder, each with its time of change and its size."""


@dataclass(frozen=True, kw_only=True)
class LiveRow:
    """One task of a run, or a training; `done` and `total` are completions, or steps."""

    task: str
    model: str
    accuracy: Metric | None = None
    done: int = 0
    total: int = 0
    state: str
    started: str = ""
    problem: str = ""
    """Why the folder can't be read, without secrets."""


def folders_below(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs and trainings, in natural order; symbolic links are not followed.

    The evaluations inside a training belong to it.
    """
    pending = [(folder, DEEPEST)]
    while pending:
        path, levels = pending.pop()
        try:
            entries = list(os.scandir(path))
        except OSError:
            continue  # deleted or not readable: it has no row
        if {RUN, SAMPLES, TRAINING} & {entry.name for entry in entries}:
            yield path
        elif levels:
            inside = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            inside.sort(key=lambda entry: natural(entry.name), reverse=True)
            pending += [(Path(entry.path), levels - 1) for entry in inside]


def stamp_of(folder: Path, levels: int = 2) -> Stamp:
    """The files that a report reads, at most `levels` folders deep, without checkpoints."""
    found: list[tuple[str, int, int]] = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return ()
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                if levels and not entry.name.startswith("checkpoint-"):
                    found += stamp_of(Path(entry.path), levels - 1)
            elif entry.name not in (LOCK, REPORT) and not entry.name.endswith(".part"):
                status = entry.stat()
                found.append((entry.path, status.st_mtime_ns, status.st_size))
        except FileNotFoundError:
            continue  # replaced meanwhile
    return tuple(found)


def is_locked(folder: Path) -> bool:
    """Whether a process of this machine writes the run; only looks, since a lock would stop it."""
    try:
        inode = (folder / LOCK).stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(line.split()[5].endswith(f":{inode}") for line in locks.splitlines())


class _LineVerdict(msgspec.Struct):
    correct: bool | None = None


class _Line(msgspec.Struct):
    key: str
    task: str
    id: str
    verdict: _LineVerdict


def decode_line(line: bytes) -> _Line:
    """A row's fields; msgspec's decoder refuses lone surrogates and NaN, which rows may hold."""
    return msgspec.convert(json.loads(line), _Line)


@dataclass
class RowTally:
    """The verdicts of a samples.jsonl so far. Each line is read once."""

    path: Path
    origin: object = None
    offset: int = 0
    rows: dict[str, _Line] = field(default_factory=dict)

    def update(self, started: str) -> None:
        """Read the lines that are new; all of them if the run that began at `started` is new."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                origin = (started, status.st_ino)
                if self.origin != origin or status.st_size < self.offset:
                    self.origin, self.offset = origin, 0
                    self.rows.clear()
                file.seek(self.offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    row = decode_line(line)
                    self.offset += len(line)
                    self.rows[row.key] = row
        except FileNotFoundError:
            self.rows.clear()

    def accuracy(self, task: str) -> Metric | None:
        """The accuracy over the judged completions; None without any."""
        groups: dict[str, list[float]] = defaultdict(list)
        for row in self.rows.values():
            if row.task == task and row.verdict.correct is not None:
                groups[row.id].append(float(row.verdict.correct))
        return SHARES.mean(list(groups.values())) if groups else None


@dataclass
class LiveRun:
    """A folder of a run or a training, read again only when it changed."""

    path: Path
    name: str
    stamp: Stamp = ()
    is_running: bool = False
    rows: Sequence[LiveRow] = ()

    def __post_init__(self) -> None:
        self._tally = RowTally(self.path / SAMPLES)

    @property
    def identifier(self) -> str:
        """The name in addresses."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]

    def update(self) -> None:
        """Read what changed."""
        stamp, running = stamp_of(self.path), self._is_running()
        if (stamp, running) == (self.stamp, self.is_running) and self.rows:
            return
        self.is_running = running
        try:
            is_training = (self.path / TRAINING).is_file()
            self.rows = [self._training()] if is_training else list(self._run())
        except (
            RewardkitError,
            OSError,
            ValueError,
            LookupError,
            TypeError,
            RecursionError,
        ) as error:
            # another program may have written the folder; its page says what is wrong
            text = printable(redact(str(error)))
            self.rows = [LiveRow(task="", model="", state="unreadable", problem=text)]
        self.stamp = stamp

    def _is_running(self) -> bool:
        files = (self.path / name for name in (SAMPLES, TRAIN_LOG, RUN, TRAINING))
        changed = [file.stat().st_mtime for file in files if file.is_file()]
        recent = bool(changed) and time.time() - max(changed) < IDLE_SECONDS
        return recent or is_locked(self.path)

    def _state(self, sessions: Sequence[Mapping[str, Any]]) -> str:
        if sessions and sessions[-1].get("ended"):
            return "done"
        return "running" if self.is_running else "unfinished"

    def _run(self) -> Iterator[LiveRow]:
        record = read_run_record(self.path / RUN)
        state = self._state(record.get("sessions", ()))
        started = str(record.get("started") or "")
        summary: Mapping[str, Any] = {}
        if state == "done" and (self.path / SUMMARY).is_file():
            summary = read_run_summary(self.path / SUMMARY)
        else:
            self._tally.update(started)
        tasks = summary.get("tasks", {})
        counted = dict.fromkeys(row.task for row in self._tally.rows.values())
        for task in dict.fromkeys([*record.get("tasks", {}), *tasks, *counted]):
            own = tasks.get(task)
            metrics = own["metrics"] if own else {}
            stored = metrics.get("accuracy")
            done = sum(row.task == task for row in self._tally.rows.values())
            yield LiveRow(
                task=task,
                model=str(record.get("settings", {}).get("model", "")),
                accuracy=Metric(**stored) if stored else self._tally.accuracy(task),
                done=own["completions"] if own else done,
                total=planned_completions(record.get("tasks", {}).get(task, {})),
                state="failed" if summary.get("failed") else state,
                started=started,
            )

    def _training(self) -> LiveRow:
        record = read_document(self.path / TRAINING)
        check_format(self.path / TRAINING, record)
        settings, session = record["fingerprint"]["settings"], record["sessions"][-1]
        log = self.path / TRAIN_LOG
        entries = msgspec.json.decode(log.read_bytes()) if log.is_file() else []
        evaluated = [one for entry in entries for one in entry["evaluation"].values()]
        accuracy = evaluated[-1].get("accuracy") if evaluated else None
        return LiveRow(
            task=f"{settings['task']}, training",
            model=str(session["model"]),
            accuracy=Metric(**accuracy) if accuracy else None,
            done=int(session.get("steps") or (entries[-1]["step"] if entries else 0)),
            total=max(0, int(settings.get("trainer", {}).get("max_steps", 0)))
            if isinstance(settings.get("trainer"), dict)
            else 0,
            state=self._state(record["sessions"]),
            started=str(session["started"]),
        )
