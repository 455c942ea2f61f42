"""The shards of one run in its folder: read them, and check that they are one run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.store.documents import read_run_record, read_run_summary
from rewardkit.harness.store.run_folder import RUN, SUMMARY
from rewardkit.harness.store.sample_row import SAMPLES, SampleRow
from rewardkit.harness.store.shard import Shard

_OPTION = "--shard"


def shard_command(record: Mapping[str, Any], shard: Shard, *, overwrite: bool = False) -> str:
    """The command that does `shard`, from the record of another shard of the run."""
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
        """RunMismatch for a row of another shard or of no task of the run."""
        if row.task not in self.record.get("tasks", {}):
            self.refuse(f"line {number} of its {SAMPLES} is of the unknown task {row.task!r}")
        if not self.shard.takes(row.task, row.id):
            self.refuse(f"line {number} of its {SAMPLES}, {row.key!r}, belongs to another shard")

    def check_count(self, rows: int) -> None:
        """RunMismatch where rows were lost or doubled since the summary."""
        if rows != self.completions:
            self.refuse(f"its {SAMPLES} has {rows:,} completions, its summary {self.completions:,}")

    def refuse(self, cause: str) -> NoReturn:
        """Raise RunMismatch with the command that does the shard anew."""
        raise RunMismatch(f"{self.path} can't be merged: {cause}. {_anew(self.record, self.shard)}")


def finished_shards(run: Path) -> list[FinishedShard]:
    """All shards of a run, in their order. RunMismatch if one is missing or isn't of the run."""
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
        raise UsageError(f"{run} is no folder; give the --output-dir of the shards")
    places: dict[Shard, Path] = {}
    for path in run.iterdir():
        shard = Shard.of_folder(path.name)
        if shard is None or not path.is_dir():
            continue
        if not 1 <= shard.number <= shard.count:
            raise RunMismatch(
                f"{path} is named as shard {shard}, which can't be; give it its own number, which "
                f"its {RUN} holds, or move it away"
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
                f"{', '.join(names) or 'its command'}. {_anew(example, shard)}"
            )
        written = record.get("shard", {})
        if (written.get("number"), written.get("count")) != (shard.number, shard.count):
            raise RunMismatch(
                f"{places[shard]} holds shard {written.get('number')}/{written.get('count')}, "
                f"a second time or under a wrong name. {_anew(example, shard)}"
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


def _anew(record: Mapping[str, Any], shard: Shard) -> str:
    return f"To do it anew: {shard_command(record, shard, overwrite=True)}"


def _finished(shard: Shard, path: Path, record: Mapping[str, Any]) -> FinishedShard:
    summary = read_run_summary(path / SUMMARY)
    completions = sum(task["completions"] for task in summary["tasks"].values())
    return FinishedShard(shard, path, record, completions, summary.get("set_by_tasks", {}))
