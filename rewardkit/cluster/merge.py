"""Merge the shards of a run into the folder that one machine would have written."""

from __future__ import annotations

import contextlib
import heapq
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.metrics.summary import summarise_task, usage_of
from rewardkit.harness.run.run import RunSummary, write_results
from rewardkit.harness.scoring.score import summarise_with_figures
from rewardkit.harness.scoring.scoring_plan import resolve_task
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.documents import read_run_record, read_run_summary
from rewardkit.harness.store.files import replaced_file
from rewardkit.harness.store.run_folder import RUN, SUMMARY, RunFolder
from rewardkit.harness.store.sample_row import SAMPLES, SampleRow, as_line, read_samples
from rewardkit.harness.store.shard import SOURCE_ROW, Shard
from rewardkit.protocols import Task

_OPTION = "--shard"


def shard_command(record: Mapping[str, Any], shard: Shard, *, overwrite: bool = False) -> str:
    """The command that runs `shard`, from the record of another shard of the run."""
    words = whole_command(record)
    if _OPTION not in _names(record.get("command", ())):
        more = " and overwrite=True" if overwrite else ""
        return f"the call that wrote the other shards, with shard='{shard}'{more}"
    words = [word for word in words if word != "--overwrite"]
    words += [_OPTION, str(shard), *(["--overwrite"] if overwrite else [])]
    if words[0].rpartition("/")[2] in ("rewardkit", "__main__.py"):
        words[0] = "rewardkit"
    return shlex.join(words)


def whole_command(record: Mapping[str, Any]) -> list[str]:
    """The words of a shard's command without `--shard`."""
    return list(_without_shard(list(map(str, record.get("command", ())))))


def _names(words: Sequence[object]) -> set[str]:
    return {str(word).partition("=")[0] for word in words}


def _without_shard(words: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        if not is_value and not word.startswith(f"{_OPTION}=") and word != _OPTION:
            yield word
        is_value = word == _OPTION and not is_value


@dataclass(frozen=True)
class FinishedShard:
    """A shard whose completions are all judged."""

    shard: Shard
    path: Path
    record: Mapping[str, Any]
    completions: int
    """How many there are, according to its summary."""
    set_by_tasks: Mapping[str, Any]
    """The options that the tasks set, according to its summary."""

    @property
    def max_errors(self) -> float:
        """The largest share of errors of an evaluation. RunMismatch if its record lost it."""
        try:
            return float(self.record["settings"]["max_errors"])
        except KeyError:
            self.refuse(f"its {RUN} has no settings.max_errors")

    def check_row(self, row: SampleRow, number: int) -> None:
        """RunMismatch for a row of another shard, or of a task that the run lacks."""
        if row.task not in self.record.get("tasks", {}):
            self.refuse(f"line {number} of its {SAMPLES} names the unknown task {row.task!r}")
        if not self.shard.takes(row.task, row.id):
            self.refuse(f"line {number} of its {SAMPLES}, {row.key!r}, belongs to another shard")

    def check_count(self, rows: int) -> None:
        """RunMismatch where rows were lost or doubled since the summary."""
        if rows != self.completions:
            self.refuse(f"its {SAMPLES} has {rows:,} completions, its summary {self.completions:,}")

    def refuse(self, cause: str) -> NoReturn:
        """Raise RunMismatch with the command that runs the shard again."""
        raise RunMismatch(
            f"{self.path} can't be merged: {cause}. {_remedy(self.record, self.shard)}"
        )


def finished_shards(run: Path) -> list[FinishedShard]:
    """All shards of a run, in order. RunMismatch if one is missing or belongs to another run."""
    places = _places(run)
    records = {shard: read_run_record(path / RUN) for shard, path in places.items()}
    started = {shard: record for shard, record in records.items() if "fingerprint" in record}
    if not started:
        raise RunMismatch(f"no shard in {run} has a {RUN} yet; wait for the first, or run one")
    _check_one_run(places, started)
    _check_all_there(run, places, started)
    return [_finished(shard, path, records[shard]) for shard, path in sorted(places.items())]


def _places(run: Path) -> dict[Shard, Path]:
    """The folders of the shards in a run's folder, all of one number of shards."""
    if not run.is_dir():
        raise UsageError(f"{run} isn't a folder; give the --output-dir of the shards")
    places: dict[Shard, Path] = {}
    for path in run.iterdir():
        shard = Shard.of_folder(path.name)
        if shard is None or not path.is_dir():
            continue
        if not 1 <= shard.number <= shard.count:
            raise RunMismatch(
                f"{path} is named as shard {shard}, which can't exist; rename it to the number in "
                f"its {RUN}, or move it away"
            )
        places[shard] = path
    if not places:
        raise UsageError(
            f"{run} holds no shards; `rewardkit eval … --shard 1/8 -o {run}` makes one"
        )
    counts = Counter(shard.count for shard in places)
    if len(counts) > 1:
        kept, *others = sorted(counts, key=lambda count: (-counts[count] / count, count))
        surplus = " ".join(f"{run}/shard-*-of-{count}" for count in others)
        raise RunMismatch(
            f"{run} holds shards of {' and of '.join(map(str, sorted(counts)))}; to keep the "
            f"{kept}: rm -r {surplus}"
        )
    return places


def _check_one_run(
    places: Mapping[Shard, Path], records: Mapping[Shard, Mapping[str, Any]]
) -> None:
    """RunMismatch for a shard of another run, or a copy of another shard."""
    texts = {shard: _identity(record) for shard, record in records.items()}
    ((majority, _),) = Counter(texts.values()).most_common(1)
    example = next(records[shard] for shard, text in texts.items() if text == majority)
    for shard, record in records.items():
        if texts[shard] != majority:
            names = _differing(record["fingerprint"], example["fingerprint"])
            raise RunMismatch(
                f"{places[shard]} belongs to another run than the other shards: it differs in "
                f"{', '.join(names) or 'its command'}. {_remedy(example, shard)}"
            )
        written = record.get("shard", {})
        if (written.get("number"), written.get("count")) != (shard.number, shard.count):
            raise RunMismatch(
                f"{places[shard]} holds shard {written.get('number')}/{written.get('count')}, "
                f"a second time or under a wrong name. {_remedy(example, shard)}"
            )


def _check_all_there(
    run: Path, places: Mapping[Shard, Path], records: Mapping[Shard, Mapping[str, Any]]
) -> None:
    """RunMismatch that names each absent or unfinished shard and its command."""
    count = next(iter(places)).count
    shards = [Shard(number, count) for number in range(1, count + 1)]
    open_shards = [
        shard for shard in shards if shard not in records or not (places[shard] / SUMMARY).exists()
    ]
    if open_shards:
        example = next(iter(records.values()))
        lines = [
            f"  {shard_command(example, shard)}  # {'unfinished' if shard in records else 'absent'}"
            for shard in open_shards
        ]
        raise RunMismatch(
            "\n".join([f"{run} lacks {len(open_shards)} of its {count} shards; run:", *lines])
        )


def _identity(record: Mapping[str, Any]) -> str:
    command = record.get("shard", {}).get("command")
    return repr((command, sorted(record["fingerprint"].items())))


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> Sequence[str]:
    return [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]


def _remedy(record: Mapping[str, Any], shard: Shard) -> str:
    return f"To run it again: {shard_command(record, shard, overwrite=True)}"


def _finished(shard: Shard, path: Path, record: Mapping[str, Any]) -> FinishedShard:
    summary = read_run_summary(path / SUMMARY)
    completions = sum(task["completions"] for task in summary["tasks"].values())
    return FinishedShard(shard, path, record, completions, summary.get("set_by_tasks", {}))


_Numbered = tuple[int, int, SampleRow]
"""A row after the number of its source row and its own index."""


def evaluated_rows(shards: Sequence[FinishedShard], tasks: Sequence[str]) -> list[SampleRow]:
    """The rows of an evaluation's shards, by task and in the order of the data."""
    place = {task: number for number, task in enumerate(tasks)}
    numbered: list[_Numbered] = []
    for shard in shards:
        rows = RunFolder(shard.path).rows().values()
        numbered += [_numbered(shard, row, line) for line, row in enumerate(rows, 1)]
        shard.check_count(len(rows))
    numbered.sort(key=lambda one: (place[one[2].task], one[:2]))
    return [row for _, _, row in numbered]


def scored_rows(shards: Sequence[FinishedShard]) -> Iterator[SampleRow]:
    """The rows of a scoring's shards in the order of the file; none stays in memory."""
    streams = [_in_file_order(shard) for shard in shards]
    return (row for _, _, row in heapq.merge(*streams, key=lambda one: one[:2]))


def _in_file_order(shard: FinishedShard) -> Iterator[_Numbered]:
    before = (-1, -1)
    lines = 0
    for lines, row in enumerate(read_samples(shard.path), 1):
        numbered = _numbered(shard, row, lines)
        if numbered[:2] <= before:
            shard.refuse(
                f"line {lines} of its {SAMPLES}, {row.key!r}, is a duplicate or in the wrong place"
            )
        before = numbered[:2]
        yield numbered
    shard.check_count(lines)


def _numbered(shard: FinishedShard, row: SampleRow, line: int) -> _Numbered:
    shard.check_row(row, line)
    others = dict(row.others)
    number = others.pop(SOURCE_ROW, None)
    if not isinstance(number, int):
        shard.refuse(f"line {line} of its {SAMPLES} has no {SOURCE_ROW}")
    return number, row.index, replace(row, others=others)


_PER_SHARD = ("backend", "versions", "hardware")


def merged_record(shards: Sequence[FinishedShard]) -> dict[str, Any]:
    """The record as one machine would have written it, with what each shard ran on."""
    first = shards[0].record
    sessions = [
        {"shard": str(shard.shard), **session}
        for shard in shards
        for session in shard.record.get("sessions", ())
    ]
    record = {name: value for name, value in first.items() if name != "shard"}
    return record | {
        "command": whole_command(first),
        "started": min(str(shard.record.get("started", "")) for shard in shards),
        "sessions": sorted(sessions, key=lambda session: str(session.get("started"))),
        "shards": {
            str(shard.shard): {
                name: shard.record[name] for name in _PER_SHARD if name in shard.record
            }
            for shard in shards
        },
    }


@dataclass(frozen=True)
class _Tasks:
    """The tasks of a run by name, and the columns to group by."""

    installed: Mapping[str, Task]
    group_by: Mapping[str, tuple[str, ...]]


def merge(run: Path, *, overwrite: bool = False) -> RunSummary:
    """Write the rows, the record, the summary and the report of all shards into `run`.

    RunMismatch if the shards are not the whole of one run, or if `run` holds another run.
    """
    shards = finished_shards(run)
    folder = RunFolder(run)
    with contextlib.ExitStack() as locks:
        for shard in shards:
            locks.enter_context(RunFolder(shard.path).locked())
        fingerprint = shards[0].record["fingerprint"]
        locks.enter_context(folder.opened(fingerprint, overwrite=overwrite))
        tasks = _tasks(run, shards[0].record)
        folder.write_record(merged_record(shards))
        if shards[0].record["shard"]["command"] == "score":
            return _merge_scoring(folder, shards, tasks)
        return _merge_evaluation(folder, shards, tasks)


def _tasks(run: Path, record: Mapping[str, Any]) -> _Tasks:
    records: Mapping[str, Any] = record.get("tasks", {})
    resolved = {name: resolve_task(run, name, of_task)[1] for name, of_task in records.items()}
    return _Tasks(
        {name: task for name, task in resolved.items() if task is not None},
        {name: tuple(of_task.get("group_by", ())) for name, of_task in records.items()},
    )


def _merge_scoring(folder: RunFolder, shards: Sequence[FinishedShard], tasks: _Tasks) -> RunSummary:
    tally = Tally()

    def counted() -> Iterator[SampleRow]:
        for row in scored_rows(shards):
            tally.add(row, tasks.group_by[row.task])
            yield row

    _replace_rows(folder, counted())
    samples = folder.path / SAMPLES
    summaries = summarise_with_figures(tally, tasks.installed, tasks.group_by, samples)
    summary = RunSummary(summaries, folder.path, failed=False)
    folder.write_summary(summary.as_json())
    return summary


def _merge_evaluation(
    folder: RunFolder, shards: Sequence[FinishedShard], tasks: _Tasks
) -> RunSummary:
    rows = evaluated_rows(shards, list(tasks.group_by))
    _replace_rows(folder, rows)
    summaries = {
        name: summarise_task(
            tasks.installed[name], [row for row in rows if row.task == name], columns
        )
        for name, columns in tasks.group_by.items()
    }
    errors = sum(summary.unjudged for summary in summaries.values())
    allowed = shards[0].max_errors * len(rows)
    summary = RunSummary(
        summaries, folder.path, errors > allowed, usage_of(rows), shards[0].set_by_tasks
    )
    write_results(folder, summary, rows)
    return summary


def _replace_rows(folder: RunFolder, rows: Iterable[SampleRow]) -> None:
    with replaced_file(folder.path / SAMPLES) as partial, partial.open("wb") as file:
        file.writelines(as_line(row.as_json()).encode() for row in rows)
