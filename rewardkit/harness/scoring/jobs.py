"""Judge chunks, in this process or another: parse their rows, judge them, prepare their lines."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import islice
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import cloudpickle

from rewardkit.errors import DataError, JudgingError, RunMismatch
from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow, as_line
from rewardkit.harness.results.data_files import Chunk, JsonLines, Source, all_rows, field_value
from rewardkit.harness.results.run_folder import SOURCE_ROW, Shard
from rewardkit.harness.results.summary import require_cluster
from rewardkit.harness.runs.judging_thread import (
    JudgingItem,
    TaskVerifiers,
    judge_rows,
    judging_item,
)
from rewardkit.harness.runs.subset import Subset
from rewardkit.harness.scoring.sources import (
    COMPLETION_FIELDS,
    FileFields,
    NoReference,
    completion_field,
    completions,
    missing,
    references,
)
from rewardkit.harness.scoring.tally import Tally
from rewardkit.judging import LimitCounts, take_limit_counts
from rewardkit.judging.rows import NO_COMPLETION, NO_REFERENCE
from rewardkit.protocols import Task, reference_columns
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.judge.use import add_uses, take_judge_uses

if TYPE_CHECKING:
    from rewardkit.verifiers.judge.use import Uses

COMPLETIONS_OF_ROW = "completions_of_row"
"""The field of a stored row with the number of completions in its row of the file, if that number
isn't the usual number."""

WITHOUT_COMPLETION = Verdict.wrong(Failure.NO_ANSWER, message=NO_COMPLETION)

INDEX = b"\0"
"""Placeholder for the index in an unnumbered line; JSON itself never contains this byte."""


@dataclass
class ChunkResult:
    """The judged rows of a chunk, or the counts of several chunks.

    Rows of a file have no keys yet: a completion's index depends on the chunks before. `number`
    completes them.
    """

    tally: Tally = field(default_factory=Tally)
    lines: list[bytes] = field(default_factory=list)
    """The lines for samples.jsonl, if any are written; until numbered, they hold `INDEX`."""
    ids: list[tuple[str, int]] = field(default_factory=list)
    """The id of each unnumbered row of the file and the number of its completions."""
    limits: LimitCounts = field(default_factory=LimitCounts)
    judges: Uses = field(default_factory=dict)

    def extend(self, other: ChunkResult) -> None:
        """Add the counts of another chunk."""
        self.tally.extend(other.tally)
        self.limits.add(other.limits)
        add_uses(self.judges, other.judges)

    def number(self, indices: Sequence[int]) -> None:
        """Give each completion its index and its key."""
        self.tally.number(indices)
        pairs = zip(self.lines, indices, strict=False)  # without lines, rows are only counted
        self.lines = [line.replace(INDEX, b"%d" % index, 2) for line, index in pairs]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Judge the completions of a source, chunk by chunk."""

    is_numbered: ClassVar[bool]
    """Whether the source has the completions' indices."""
    source: Source
    group_by: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The columns that figures are grouped by, for each task or verifier."""
    keep_rows: bool = True
    """Whether to prepare the lines of the rows, or only to count the rows."""
    workers: int | None = None
    shard: Shard | None = None
    """The part of the problems to judge; None: all."""
    chosen: Mapping[str, frozenset[str]] | None = None
    """The ids of the problems to judge, by task; None: all."""
    cluster: str | None = None
    """The column of clusters of problems, if the intervals are clustered."""

    @property
    def completions_a_row(self) -> int:
        """The usual number of completions in a row."""
        return 1

    @property
    def leaves_out_rows(self) -> bool:
        """Whether some rows of the file aren't judged; the others store their number."""
        return self.shard is not None or self.chosen is not None

    @property
    def timeouts(self) -> dict[str, float | None]:
        """The seconds for a verdict of each task or verifier; None: the verifier's deadline."""
        raise NotImplementedError

    def problems(self) -> Iterator[tuple[str, str]]:
        """The task or verifier and the id of each row's problem."""
        raise NotImplementedError

    def taking(self, subset: Subset) -> Job:
        """The job of a subset of each task's problems. UnknownName for an id that no row has."""
        if not subset.record():
            return self
        chosen = {
            task: subset.ids((problem for name, problem in self.problems() if name == task), task)
            for task in self.timeouts
        }
        return replace(self, chosen=chosen)

    def columns_of(self, task: str) -> Sequence[str]:
        """The columns that a task's figures need."""
        return (*self.group_by.get(task, ()), *filter(None, [self.cluster]))

    def takes(self, task: str, identifier: str) -> bool:
        """Whether the problem is judged."""
        if self.chosen is not None and identifier not in self.chosen[task]:
            return False
        return self.shard is None or self.shard.takes(task, identifier)

    def completions_of(self, row: Mapping[str, Any], number: int) -> list[JudgingItem]:
        """The completions of a row; none if the row is left out."""
        raise NotImplementedError

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """Judge the rows of a chunk."""
        result = ChunkResult()
        batch: list[JudgingItem] = []
        for number, fields in enumerate(self.source.rows(chunk), chunk.first):
            of_row = self.completions_of(fields, number)
            batch += of_row
            if of_row and not self.is_numbered:
                result.ids.append((of_row[0].sample.id, len(of_row)))
        rows = judge_rows(batch, self.workers)
        result.limits.add(take_limit_counts())
        result.judges = take_judge_uses()
        for row in rows:
            result.tally.add(row, self.columns_of(row.task))
            if self.keep_rows and self.is_numbered:
                result.lines.append(as_line(row.as_json()))
            elif self.keep_rows:
                line = as_line({**row.as_json(), "key": f"{row.task}/{row.id}/", "index": 0})
                # a string can't contain these bytes, because JSON escapes the quotes in it
                line = line.replace(b'", "task": ', INDEX + b'", "task": ', 1)
                result.lines.append(line.replace(b'"index": 0', b'"index": ' + INDEX, 1))
        return result


@dataclass(frozen=True, kw_only=True)
class FileJob(Job):
    """Judge the completions of a file from any system.

    A row's sample comes from `samples` by the row's `id`, if there are any; else `task` reads it
    from the row, or it is the row's reference field. Raises DataError, which names the row and the
    missing field.
    """

    is_numbered = False
    name: str
    verifiers: TaskVerifiers
    columns: FileFields = field(default_factory=FileFields)
    task: Task | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)
    joined: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further columns of the rows by id, where no task reads them."""

    @cached_property
    def _reference_columns(self) -> tuple[str, ...]:
        return reference_columns(self.verifiers.strict)

    @property
    def completions_a_row(self) -> int:
        return self.columns.completions_a_row

    @property
    def leaves_out_rows(self) -> bool:
        return super().leaves_out_rows or self.columns.filter is not None

    @property
    def timeouts(self) -> dict[str, float | None]:
        return {self.name: self.verifiers.timeout}

    def problems(self) -> Iterator[tuple[str, str]]:
        return ((self.name, self._sample(row, number)[0].id) for number, row in self._rows())

    def completions_of(self, row: Mapping[str, Any], number: int) -> list[JudgingItem]:
        plain = self._plain(row, number)
        if plain is None:
            return []
        sample, lacking = self._sample(plain, number)
        if not self.takes(self.name, sample.id):
            return []
        if self.cluster is not None:
            require_cluster(self.cluster, sample.columns, f"row {number + 1}")
        of_row = completions(plain, number, self.columns)
        others = {SOURCE_ROW: number} if self.leaves_out_rows else {}
        if len(of_row) != self.completions_a_row:
            others[COMPLETIONS_OF_ROW] = len(of_row)
        unjudged = None
        if lacking is not None:
            unjudged = Verdict.unjudged(f"{NO_REFERENCE}: {str(lacking).partition(';')[0]}")
        return [
            judging_item(
                *(self.name, sample, index, reply.completion, self.verifiers),
                unjudged or (None if reply.has_text else WITHOUT_COMPLETION),
                label=reply.label,
                others=others,
            )
            for index, reply in enumerate(of_row)
        ]

    def checked(self) -> FileJob:
        """The job with the name of the completions' field. DataError if no row of the file has what
        a field, named or usual, should hold."""
        job = self
        if not self.columns.completions:
            named = filter(None, (completion_field(row) for _, row in self._rows()))
            job = replace(self, columns=replace(self.columns, completions=tuple(islice(named, 1))))
        misnamed: dict[str, DataError] = {}
        for place, (number, row) in enumerate(job._rows()):
            lacking = dict(job._lacking(row, number))
            kept = misnamed if place else lacking
            misnamed = {option: error for option, error in kept.items() if option in lacking}
            if not misnamed:
                return job
        for error in misnamed.values():
            raise error
        return job

    def _rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The numbered rows of the file that aren't left out."""
        for number, row in enumerate(all_rows(self.source)):
            if (plain := self._plain(row, number)) is not None:
                yield number, plain

    def _plain(self, row: Mapping[str, Any], number: int) -> Mapping[str, Any] | None:
        """The row with the columns that --data has for its id; None to leave it out."""
        plain = self.columns.plain_row(row)
        if plain is None or not self.joined:
            return plain
        return {**_joined(self.joined, self.columns.identifier(plain, number), number), **plain}

    def _lacking(self, row: Mapping[str, Any], number: int) -> Iterator[tuple[str, DataError]]:
        """The options whose fields a row lacks, each with the error."""
        sample, no_reference = self._sample(row, number)
        if no_reference is not None:
            yield "reference", no_reference
        of_row = completions(row, number, self.columns)
        if not any(reply.has_text or reply.completion.finish_reason == "error" for reply in of_row):
            fields = self.columns.completions
            where = f"{fields[0]!r}" if fields else f"any of {', '.join(COMPLETION_FIELDS)}"
            option = "--completion-field"
            yield option, missing(row, number, f" has no text in {where}", option)
        for name in self.group_by.get(self.name, ()):
            if name not in sample.columns:
                yield "--group-by", missing(row, number, f" has no {name!r}", "--group-by")
                break
        for name in self.columns.labels:
            if field_value(row, name) is None:
                option = "--label-field"
                yield option, missing(row, number, f" has nothing in {name!r}", option)
                break

    def _sample(self, row: Mapping[str, Any], number: int) -> tuple[Sample, DataError | None]:
        """A row's sample, and the error if it lacks its reference or a column of the task."""
        identifier = self.columns.identifier(row, number)
        if self.samples:
            sample = _joined(self.samples, identifier, number)
            return replace(sample, columns={**row, **sample.columns}), None
        task = self.task if self.columns.reference is None else None
        try:
            if task is not None:
                sample = task.sample(row, number)
                return replace(sample, id=identifier) if self.columns.id else sample, None
            strict = self.verifiers.strict
            texts = references(row, number, self.columns, strict, self._reference_columns)
            return Sample(texts[0], id=identifier, columns=row, references=texts[1:]), None
        except DataError as error:
            if task is None and not isinstance(error, NoReference):
                raise
            return Sample("", id=identifier, columns=row), error


Joined = TypeVar("Joined")


def _joined(by_id: Mapping[str, Joined], identifier: str, number: int) -> Joined:
    """What --data has for a row's id. DataError if it has nothing."""
    if identifier not in by_id:
        raise DataError(
            f"row {number + 1} has the id {identifier!r}, which --data lacks; add the problem, or "
            "name the field of the ids with --id-field"
        )
    return by_id[identifier]


@dataclass(frozen=True, kw_only=True)
class RunJob(Job):
    """Judge a run's completions again; each row stores its earlier verdict as `before`."""

    is_numbered = True
    source: JsonLines
    verifiers: Mapping[str, TaskVerifiers]

    @property
    def timeouts(self) -> dict[str, float | None]:
        return {name: verifiers.timeout for name, verifiers in self.verifiers.items()}

    def problems(self) -> Iterator[tuple[str, str]]:
        for number, fields in enumerate(all_rows(self.source)):
            row = self._row(fields, number)
            yield row.task, row.id

    def completions_of(self, row: Mapping[str, Any], number: int) -> list[JudgingItem]:
        stored = self._row(row, number)
        if not self.takes(stored.task, stored.id):
            return []
        if self.leaves_out_rows:
            stored = replace(stored, others={**stored.others, SOURCE_ROW: number})
        before = BriefVerdict(stored.verdict.correct, stored.verdict.answer)
        judged, verifiers = partial(replace, stored, before=before), self.verifiers[stored.task]
        return [
            JudgingItem(stored.generated, stored.prompt or "", stored.sample, verifiers, judged)
        ]

    def _row(self, fields: Mapping[str, Any], number: int) -> CompletionRow:
        place = f"{self.source.path}, row {number + 1}"
        row = CompletionRow.from_json(fields, place)
        if row.task not in self.verifiers:
            raise RunMismatch(
                f"{place} belongs to the task {row.task!r}, which the run's run.json lacks; "
                "restore run.json, or remove the row"
            )
        if self.cluster is not None:
            require_cluster(self.cluster, row.columns, place)
        return row


def pickled_job(job: Job, where: str) -> bytes:
    """The job, pickled. JudgingError if it can't be sent to `where`."""
    try:
        return bytes(cloudpickle.dumps(job))
    except Exception as error:  # pickling runs code of verifiers and tasks
        raise JudgingError(
            f"the verifier can't be sent to {where}: {type(error).__name__}: {error}; "
            "a verifier must not hold open files or locks"
        ) from error


def pickled_result(job: Callable[[Chunk], ChunkResult], chunk: Chunk) -> bytes:
    """The result of a chunk, or its exception, pickled: the caller raises it again."""
    try:
        return pickle.dumps(job(chunk), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        cause: Exception = error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # an exception class of a plugin
            cause = JudgingError(f"{type(error).__name__}: {error}")
        return pickle.dumps(cause)
    finally:
        _freeze_loaded()


@cache
def _freeze_loaded() -> None:
    """After the first chunk, garbage collection needn't visit what the verifier has imported."""
    gc.collect()
    gc.freeze()


def result_of(pickled: bytes) -> ChunkResult:
    """The result of a chunk, or the exception that it raised."""
    result = pickle.loads(pickled)
    if isinstance(result, BaseException):
        raise result
    return cast("ChunkResult", result)


AHEAD = 4
"""Chunks for each process that may wait for the result of an earlier one."""


def judge_in_processes(
    job: Job, chunks: Iterable[Chunk], processes: int
) -> Iterator[tuple[Chunk, ChunkResult]]:
    """Yield each chunk with its result, in order.

    Each process is a fresh interpreter with one judging thread and its own workers: nothing of the
    caller is forked. It is trusted as the caller is: only its workers run a verifier without a
    bound. An exception of a chunk is raised in that chunk's turn. Raises JudgingError if the job
    can't be sent to a process, or a process ends by itself.
    """
    pickled = pickled_job(job, "other processes")
    fresh = multiprocessing.get_context("spawn")
    alive, caller = fresh.Pipe(duplex=False)
    executor = ProcessPoolExecutor(processes, fresh, _start_judging, (pickled, alive))
    waiting: deque[tuple[Chunk, Future[bytes]]] = deque()
    with alive, caller, executor:
        try:
            for chunk in chunks:
                waiting.append((chunk, executor.submit(_judge_chunk, chunk)))
                if len(waiting) == AHEAD * processes:
                    chunk, future = waiting.popleft()
                    yield chunk, result_of(future.result())
            for chunk, future in waiting:
                yield chunk, result_of(future.result())
        except BrokenProcessPool as error:
            raise JudgingError(
                "a judging process ended by itself, perhaps for lack of memory; earlier verdicts "
                "are stored, and the same command resumes"
            ) from error
        except BaseException:
            caller.close()  # ends the processes in the midst of their chunks
            raise


def _start_judging(pickled: bytes, alive: Connection) -> None:
    """Load the job in a new process. The process ends with the caller, also if the caller is
    killed."""
    global _job

    def exit_with_caller() -> None:
        alive.poll(None)  # until the other end is closed
        os._exit(1)

    threading.Thread(target=exit_with_caller, daemon=True).start()
    os.setsid()  # Ctrl-C is for the caller
    with contextlib.suppress(OSError):  # closed
        os.dup2(2, 1)  # the caller's standard output is for results
    try:
        _job = pickle.loads(pickled)
    except Exception as error:  # a plugin's own; every chunk is answered with this error
        message = (
            f"the verifier can't be loaded into a judging process: {type(error).__name__}: "
            f"{error}; a fresh interpreter must be able to import what the verifier needs"
        )

        def refuse(_: Chunk) -> ChunkResult:
            raise JudgingError(message)

        _job = refuse


_job: Callable[[Chunk], ChunkResult]
"""The job of this process, if several processes judge."""


def _judge_chunk(chunk: Chunk) -> bytes:
    return pickled_result(_job, chunk)
