"""A run's folder, which belongs to one run, grows as completions are judged and survives any kill;
and the run folders below others."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.results.completion_row import SAMPLES, CompletionRow, as_line, read_samples
from rewardkit.harness.results.documents import FORMAT, read_run_record
from rewardkit.harness.results.files import (
    append_bytes,
    check_output_folder,
    replace_text,
    write_errors,
)
from rewardkit.text.redaction import redact_value

SOURCE_ROW = "source_row"
"""The field of a shard's rows that holds the number of the problem's row in its file or data."""

_WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_FOLDER = re.compile(r"shard-([0-9]{1,9})-of-([0-9]{1,9})")


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """Part `number` of `count`, counted from 1. All completions of a problem are in one part."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that `I/N` names. UsageError for other texts."""
        match = _WRITTEN.fullmatch(text.strip())
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.number <= shard.count:
            raise UsageError(f"--shard {text!r} isn't I/N with I from 1 to N, such as 1/8")
        return shard

    @classmethod
    def of_folder(cls, name: str) -> Shard | None:
        """The shard that a folder of this name holds; None if the name isn't a shard's."""
        match = _FOLDER.fullmatch(name)
        return cls(int(match[1]), int(match[2])) if match else None

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def folder(self, run: Path) -> Path:
        """The shard's folder inside the run's."""
        return run / f"shard-{self.number}-of-{self.count}"

    def takes(self, task: str, identifier: str) -> bool:
        """Whether the problem belongs to this shard."""
        key = f"{task}/{identifier}".encode("utf-8", "surrogatepass")
        place = int.from_bytes(hashlib.sha256(key).digest()[:8], "big")
        return place % self.count == self.number - 1

    def record(self, command: str) -> dict[str, object]:
        """The entry in run.json; `command` is `eval` or `score`."""
        return {"number": self.number, "count": self.count, "command": command}


def unmerged_runs(folders: Iterable[Path]) -> list[Path]:
    """The folders, among these and those in them, in which a shard ended after the last merge."""
    shards = [
        shard
        for folder in folders
        for pattern in ("shard-*", "*/shard-*")
        for shard in folder.glob(pattern)
        if Shard.of_folder(shard.name) and _end(shard) >= _end(shard.parent)
    ]
    return sorted({shard.parent for shard in shards})


def _end(run: Path) -> int:
    """When a run's summary was written, 0 if it has none."""
    try:
        return (run / SUMMARY).stat().st_mtime_ns
    except OSError:
        return 0


DEEPEST_RUN = 2
"""Maximum depth of a run below the named folder: OUT/evaluation/step-000010 is at 2."""


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Find the runs in these folders or below them, each once, in natural order of names.

    UsageError where a folder is missing or holds no run.
    """
    by_path: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder} isn't a folder; give one that `rewardkit eval` wrote")
        runs = _runs_in(folder, DEEPEST_RUN)
        if not runs:
            raise UsageError(
                f"{folder} holds no run: neither it nor a folder in it has a {SAMPLES}; "
                "give a folder that `rewardkit eval` wrote"
            )
        for run in runs:
            by_path.setdefault(run.resolve(), run)
    return list(by_path.values())


def short_names(folders: Sequence[Path]) -> list[str]:
    """Each folder's name, with as many parents as make it unique."""
    parts = [folder.resolve().parts for folder in folders]
    names = []
    for path in parts:
        length = 1
        while length < len(path) and sum(path[-length:] == other[-length:] for other in parts) > 1:
            length += 1
        names.append("/".join(path[-length:]))
    return names


def natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key that puts checkpoint-20 before checkpoint-100."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d{1,18})", text)
        if part
    ]


def _runs_in(folder: Path, levels: int) -> list[Path]:
    if (folder / SAMPLES).is_file():
        return [folder]
    if not levels:
        return []
    inside = [entry for entry in folder.iterdir() if entry.is_dir()]
    inside.sort(key=lambda entry: natural(entry.name))
    return [run for entry in inside for run in _runs_in(entry, levels - 1)]


RUN, SUMMARY, REPORT = "run.json", "summary.json", "report.html"
FILES = (RUN, SAMPLES, SUMMARY, REPORT)
LOCK = ".lock"
HASH = re.compile(r"[0-9a-f]{40,}")

MOST_CHANGES = 4
"""Maximum number of differences from another run that an error lists."""


class RunFolder:
    """The files of one run: run.json, samples.jsonl, summary.json, report.html."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def opened(self, fingerprint: Mapping[str, Any], *, overwrite: bool) -> Iterator[None]:
        """Lock the folder for the run with this fingerprint. RunMismatch if another run owns it."""
        self._refuse_foreign()
        with write_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with self.locked():
            if overwrite:
                for path in (*map(self.path.joinpath, FILES), *self.path.glob("*.part")):
                    path.unlink(missing_ok=True)
            self._check(redact_value(fingerprint))
            with contextlib.suppress(FileNotFoundError), (self.path / SAMPLES).open("rb+") as file:
                # a kill can leave an incomplete last line
                file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
            yield

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, which exists. RunMismatch if another process writes it."""
        with write_errors(self.path / LOCK):
            lock_file = (self.path / LOCK).open("w")
        with lock_file as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunMismatch(
                    f"another process is writing {self.path}; wait for it, "
                    "or choose another --output-dir"
                ) from None
            yield

    def read_record(self) -> dict[str, Any]:
        """The content of run.json; empty before the first run. Raises RunMismatch, or UsageError
        if the path is a file."""
        if self.path.is_file():
            raise UsageError(f"{self.path} is a file; --output-dir must name a folder")
        return read_run_record(self.path / RUN)

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Replace run.json atomically, with its format and without secrets."""
        document = {"format": FORMAT, **redact_value(record)}
        replace_text(self.path / RUN, _as_document(document))

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Replace summary.json atomically."""
        replace_text(self.path / SUMMARY, _as_document(summary))

    def rows(self) -> dict[str, CompletionRow]:
        """Read the stored rows by key; a later row replaces an earlier row with the same key."""
        return {row.key: row for row in read_samples(self.path)}

    def append(self, rows: Sequence[CompletionRow]) -> None:
        """Append rows to samples.jsonl in one write."""
        self.append_lines([as_line(row.as_json()) for row in rows])

    def append_lines(self, lines: Sequence[bytes]) -> None:
        """Append lines to samples.jsonl in one write."""
        append_bytes(self.path / SAMPLES, b"".join(lines))

    def keep_rows(self, count: int) -> None:
        """Drop the rows of samples.jsonl after the first `count`."""
        with contextlib.suppress(FileNotFoundError), (self.path / SAMPLES).open("rb+") as file:
            file.truncate(sum(len(line) for line in itertools.islice(file, count)))

    def _refuse_foreign(self) -> None:
        check_output_folder(self.path)
        if self.path.is_dir():
            names = (entry.name for entry in self.path.iterdir())
            present = {name for name in names if Shard.of_folder(name) is None}
            if present and not present & {*FILES, LOCK}:
                raise UsageError(f"{self.path} has files but no run; choose another --output-dir")

    def _check(self, fingerprint: Mapping[str, Any]) -> None:
        record = self.read_record()
        if "fingerprint" not in record:
            if (self.path / SAMPLES).exists():
                lacks = "states no fingerprint" if record else "is missing"
                raise RunMismatch(
                    f"{self.path} has samples, and its {RUN}, which says whose they are, {lacks}; "
                    "restore it from a copy, or use --overwrite to start again"
                )
            return
        if not (self.path / SAMPLES).exists():
            return  # the other run failed before its first completion, so no rows can mix
        before = redact_value(record["fingerprint"])
        differing = [
            name
            for name in sorted({*before, *fingerprint})
            if before.get(name) != plain(fingerprint.get(name))
        ]
        if differing:
            changes = "; ".join(
                _change(name, before.get(name), fingerprint.get(name))
                for name in differing[:MOST_CHANGES]
            )
            if len(differing) > MOST_CHANGES:
                changes += f"; and in {len(differing) - MOST_CHANGES} more"
            raise RunMismatch(
                f"{self.path} belongs to another run, which differs in {changes}. Choose another "
                "--output-dir, or use --overwrite to discard its content"
            )


def _as_document(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """The value after a round trip through JSON."""
    return json.loads(json.dumps(value, default=str))


def _change(name: str, before: object, now: object) -> str:
    if HASH.fullmatch(str(before)) and HASH.fullmatch(str(now)):
        return f"{name}, by its hash"
    return f"{name}: {_short(before)} there, {_short(now)} now"


def _short(value: object) -> str:
    if isinstance(value, str) and len(value) > 60:
        return json.dumps(f"{value[:24]}…", ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:24]}…"
