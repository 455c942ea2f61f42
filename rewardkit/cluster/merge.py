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

from rewardkit.errors import RunMismatch
from rewardkit.harness.results.completion_row import SAMPLES, CompletionRow, as_line, read_samples
from rewardkit.harness.results.documents import read_run_record, read_run_summary
from rewardkit.harness.results.files import replaced_file
from rewardkit.harness.results.run_folder import RUN, SOURCE_ROW, SUMMARY, RunFolder, Shard
from rewardkit.harness.results.summary import shortcomings, summarise_tasks, usage_of
from rewardkit.harness.runs.run import RunSummary, write_results
from rewardkit.harness.scoring.score import summarise_tally
from rewardkit.harness.scoring.scoring_plan import resolve_task
from rewardkit.harness.scoring.tally import Tally
from rewardkit.protocols import Task
from rewardkit.verifiers.judge.use import run_totals

_OPTION = "--shard"


def shard_command(record: Mapping[str, Any], shard: Shard, *, overwrite: bool = False) -> str:
    """Return the command that runs `shard`, from the record of another shard of the run."""
    command = [str(word) for word in record.get("command", ())]
    if all(word.partition("=")[0] != _OPTION for word in command):
        more = " and overwrite=True" if overwrite else ""
        return f"the call that wrote the other shards, with shard='{shard}'{more}"
    words = [word for word in whole_command(record) if word != "--overwrite"]
    words += [_OPTION, str(shard), *(["--overwrite"] if overwrite else [])]
    if words[0].rpartition("/")[2] in ("rewardkit", "__main__.py"):
        words[0] = "rewardkit"
    return shlex.join(words)


def whole_command(record: Mapping[str, Any]) -> list[str]:
    """Return the words of a shard's command without `--shard`."""
    words: list[str] = []
    is_value = False
    for word in map(str, record.get("command", ())):
        if not is_value and word.partition("=")[0] != _OPTION:
            words.append(word)
        is_value = word == _OPTION and not is_value
    return words


@dataclass(frozen=True)
class FinishedShard:
    """A shard whose completions are all judged."""

    shard: Shard
    path: Path
    record: Mapping[str, Any]
    summary: Mapping[str, Any]

    def check_count(self, rows: int) -> None:
        """Raise RunMismatch if rows were lost or doubled since the summary."""
        completions = sum(task["completions"] for task in self.summary["tasks"].values())
        if rows != completions:
            self.refuse(f"its {SAMPLES} has {rows:,} completions, its summary {completions:,}")

    def refuse(self, cause: str) -> NoReturn:
        """Raise RunMismatch with the command that runs the shard again."""
        raise RunMismatch(
            f"{self.path} can't be merged: {cause}. {_remedy(self.record, self.shard)}"
        )


def finished_shards(run: Path) -> list[FinishedShard]:
    """Return all shards of a run, in order.

    RunMismatch if a shard is missing or belongs to another run.
    """
    places = _places(run)
    records = {shard: read_run_record(path / RUN) for shard, path in places.items()}
    started = {shard: record for shard, record in records.items() if "fingerprint" in record}
    if not started:
        raise RunMismatch(f"no shard in {run} has a {RUN} yet; wait for the first, or run one")
    _check_one_run(places, started)
    _check_all_there(run, places, started)
    return [
        FinishedShard(shard, path, records[shard], read_run_summary(path / SUMMARY))
        for shard, path in sorted(places.items())
    ]


def _places(run: Path) -> dict[Shard, Path]:
    """The folders of the shards in a run's folder. RunMismatch if their counts differ."""
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
    """Raise RunMismatch for a shard of another run, or a copy of another shard."""
    texts = {
        shard: repr((record.get("shard", {}).get("command"), sorted(record["fingerprint"].items())))
        for shard, record in records.items()
    }
    ((majority, _),) = Counter(texts.values()).most_common(1)
    example = next(records[shard] for shard, text in texts.items() if text == majority)
    for shard, record in records.items():
        if texts[shard] != majority:
            found, expected = record["fingerprint"], example["fingerprint"]
            names = [
                name
                for name in sorted({*found, *expected})
                if found.get(name) != expected.get(name)
            ]
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
    """Raise RunMismatch, with the command of each absent or unfinished shard."""
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


def _remedy(record: Mapping[str, Any], shard: Shard) -> str:
    return f"To run it again: {shard_command(record, shard, overwrite=True)}"


_Numbered = tuple[int, int, CompletionRow]
"""The number of the source row, the completion's index, and the row."""


def evaluated_rows(shards: Sequence[FinishedShard], tasks: Sequence[str]) -> list[CompletionRow]:
    """Return the rows of an evaluation's shards, by task and in the order of the data."""
    place = {task: number for number, task in enumerate(tasks)}
    numbered: list[_Numbered] = []
    for shard in shards:
        rows = RunFolder(shard.path).rows().values()
        numbered += [_numbered(shard, row, line) for line, row in enumerate(rows, 1)]
        shard.check_count(len(rows))
    numbered.sort(key=lambda numbered_row: (place[numbered_row[2].task], numbered_row[:2]))
    return [row for _, _, row in numbered]


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


def _numbered(shard: FinishedShard, row: CompletionRow, line: int) -> _Numbered:
    """Raise RunMismatch for a row of another shard, or of a task that the run lacks."""
    if row.task not in shard.record.get("tasks", {}):
        shard.refuse(f"line {line} of its {SAMPLES} names the unknown task {row.task!r}")
    if not shard.shard.takes(row.task, row.id):
        shard.refuse(f"line {line} of its {SAMPLES}, {row.key!r}, belongs to another shard")
    others = dict(row.others)
    number = others.pop(SOURCE_ROW, None)
    if not isinstance(number, int):
        shard.refuse(f"line {line} of its {SAMPLES} has no {SOURCE_ROW}")
    return number, row.index, replace(row, others=others)


def merged_record(shards: Sequence[FinishedShard]) -> dict[str, Any]:
    """Return the record that one machine would have written, with what each shard ran on."""
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
                name: shard.record[name]
                for name in ("backend", "versions", "hardware")
                if name in shard.record
            }
            for shard in shards
        },
    }


def merge(run: Path) -> RunSummary:
    """Write the rows, the record, the summary and the report of all shards into `run`.

    RunMismatch if the shards are not the whole of one run, or if `run` holds another run.
    """
    shards = finished_shards(run)
    folder = RunFolder(run)
    stored = folder.read_record().get("fingerprint")
    if stored and stored != shards[0].record["fingerprint"]:
        raise RunMismatch(f"{run} holds shards and another run; move one of them elsewhere")
    with contextlib.ExitStack() as locks:
        for shard in shards:
            locks.enter_context(RunFolder(shard.path).locked())
        fingerprint = shards[0].record["fingerprint"]
        locks.enter_context(folder.opened(fingerprint, overwrite=False))
        folder.write_record(merged_record(shards))
        if shards[0].record["shard"]["command"] == "score":
            return _merge_scoring(folder, shards)
        return _merge_evaluation(folder, shards)


def _tasks(
    folder: RunFolder, record: Mapping[str, Any]
) -> tuple[dict[str, Task], dict[str, tuple[str, ...]], dict[str, float | None]]:
    """By name the installed tasks of a run, the columns to group by, and the timeouts."""
    tasks: Mapping[str, Any] = record.get("tasks", {})
    resolved = {name: resolve_task(folder.path, name, task) for name, task in tasks.items()}
    return (
        {name: task for name, (_, task) in resolved.items() if task is not None},
        {name: tuple(task.get("group_by", ())) for name, task in tasks.items()},
        {name: verifiers.timeout for name, (verifiers, _) in resolved.items()},
    )


def _merge_scoring(folder: RunFolder, shards: Sequence[FinishedShard]) -> RunSummary:
    tasks, group_by, timeouts = _tasks(folder, shards[0].record)
    cluster = shards[0].record["settings"].get("cluster")
    tally = Tally()

    def counted() -> Iterator[CompletionRow]:
        """The rows in the order of the file. No row stays in memory."""
        for _, _, row in heapq.merge(
            *map(_in_file_order, shards), key=lambda numbered_row: numbered_row[:2]
        ):
            tally.add(row, (*group_by[row.task], *filter(None, [cluster])))
            yield row

    _replace_rows(folder, counted())
    summaries = summarise_tally(
        *(tally, tasks, group_by, timeouts), samples=folder.path / SAMPLES, cluster=cluster
    )
    summary = RunSummary(summaries, folder.path, judges=run_totals(folder.read_record()))
    folder.write_summary(summary.as_json())
    return summary


def _merge_evaluation(folder: RunFolder, shards: Sequence[FinishedShard]) -> RunSummary:
    first = shards[0]
    tasks, group_by, timeouts = _tasks(folder, first.record)
    if "max_errors" not in first.record.get("settings", {}):
        first.refuse(f"its {RUN} has no settings.max_errors")
    rows = evaluated_rows(shards, list(group_by))
    _replace_rows(folder, rows)
    settings = first.record["settings"]
    summaries = summarise_tasks(rows, tasks, group_by, timeouts, settings.get("cluster"))
    failures = shortcomings(
        summaries,
        max_errors=settings["max_errors"],
        fail_under=settings.get("fail_under", {}),
    )
    set_by_tasks = first.summary.get("set_by_tasks", {})
    judges = run_totals(folder.read_record())
    summary = RunSummary(summaries, folder.path, failures, usage_of(rows), set_by_tasks, judges)
    write_results(folder, summary, rows)
    return summary


def _replace_rows(folder: RunFolder, rows: Iterable[CompletionRow]) -> None:
    with replaced_file(folder.path / SAMPLES) as partial, partial.open("wb") as file:
        file.writelines(as_line(row.as_json()) for row in rows)
