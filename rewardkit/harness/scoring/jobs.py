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
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar, cast

import cloudpickle

from rewardkit.errors import DataError, JudgingError, RunMismatch
from rewardkit.harness.results.agreement import Agreement
from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow, as_line
from rewardkit.harness.results.data_files import Chunk, JsonLines, Source, field_value
from rewardkit.harness.results.run_folder import SOURCE_ROW, Shard
from rewardkit.harness.results.summary import require_cluster
from rewardkit.harness.runs.judging_thread import (
    Generated,
    TaskVerifiers,
    generated,
    judged_rows,
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
from rewardkit.protocols import Task
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.judge.use import add_uses, take_judge_uses

if TYPE_CHECKING:
    from rewardkit.verifiers.judge.use import Uses

COMPLETIONS_OF_ROW = "completions_of_row"
"""The field of a stored row with the number of completions in its row of the file, where that is
another than usual."""

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
    agreement: Agreement = field(default_factory=Agreement)
    lines: list[bytes] = field(default_factory=list)
    """The lines for samples.jsonl, if any are written; until numbered, they hold `INDEX`."""
    ids: list[tuple[str, int]] = field(default_factory=list)
    """The id of each row of the file and the number of its completions, until numbered."""
    limits: LimitCounts = field(default_factory=LimitCounts)
    judges: Uses = field(default_factory=dict)

    def extend(self, other: ChunkResult) -> None:
        """Add the counts of another chunk."""
        self.tally.extend(other.tally)
        self.agreement.extend(other.agreement)
        self.limits.add(other.limits)
        add_uses(self.judges, other.judges)

    def number(self, task: str, indices: Sequence[int]) -> None:
        """Give each completion its index and its key."""
        self.tally.number(indices)
        if self.lines:
            self.lines = [
                line.replace(INDEX, b"%d" % index, 2)
                for index, line in zip(indices, self.lines, strict=True)
            ]
        ids = [identifier for identifier, count in self.ids for _ in range(count)]
        for agreement in (self.agreement, *self.tally.seconds.values()):
            agreement.shown = [
                replace(shown, key=f"{task}/{ids[at]}/{indices[at]}")
                for shown in agreement.shown
                for at in [shown.position]
            ]


def unnumbered_line(row: CompletionRow) -> bytes:
    """A line of samples.jsonl with `INDEX` in both places of the index."""
    line = as_line({**row.as_json(), "key": f"{row.task}/{row.id}/", "index": 0})
    # a string can't contain these bytes, because JSON escapes the quotes in it
    line = line.replace(b'", "task": ', INDEX + b'", "task": ', 1)
    return line.replace(b'"index": 0', b'"index": ' + INDEX, 1)


@dataclass(frozen=True, kw_only=True)
class _JobOptions:
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
    def leaves_out_rows(self) -> bool:
        """Whether some rows of the file aren't judged; the others store their number."""
        return self.shard is not None or self.chosen is not None

    def _takes(self, task: str, identifier: str) -> bool:
        if self.chosen is not None and identifier not in self.chosen[task]:
            return False
        return self.shard is None or self.shard.takes(task, identifier)


@dataclass(frozen=True)
class FileJob(_JobOptions):
    """Judge the completions of a file from any system.

    A row's sample comes from `samples` by the row's `id`, if there are any; else `task` reads it
    from the row, or it is the row's reference field. Raises DataError, which names the row and the
    missing field.
    """

    source: Source
    name: str
    verifiers: TaskVerifiers
    columns: FileFields
    task: Task | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)
    joined: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further columns of the rows by id, where no task reads them."""
    group_by: Sequence[str] = ()
    """The columns that figures are grouped by."""

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """Judge the rows of a chunk."""
        result = ChunkResult()
        batch: list[Generated] = []
        for number, row in self._rows(chunk):
            sample, lacking = self._judgeable(row, number)
            if not self._takes(self.name, sample.id):
                continue
            if self.cluster is not None:
                require_cluster(self.cluster, sample.columns, f"row {number + 1}")
            of_row = completions(row, number, self.columns)
            result.ids.append((sample.id, len(of_row)))
            others = {SOURCE_ROW: number} if self.leaves_out_rows else {}
            if len(of_row) != self.columns.completions_a_row:
                others[COMPLETIONS_OF_ROW] = len(of_row)
            for index, one in enumerate(of_row):
                given = None if one.has_text else WITHOUT_COMPLETION
                if lacking is not None:
                    why = str(lacking).partition(";")[0]
                    given = Verdict.unjudged(f"{NO_REFERENCE}: {why}")
                batch.append(
                    generated(
                        *(self.name, sample, index, one.completion, self.verifiers, given),
                        label=one.label,
                        others=others,
                    )
                )
        for position, judged in enumerate(_judged(batch, self.workers, result)):
            result.tally.add(judged, self.columns_of(self.name), position)
            result.agreement.add_labelled(judged, position)
            if self.keep_rows:
                result.lines.append(unnumbered_line(judged))
        return result

    @property
    def leaves_out_rows(self) -> bool:
        """Also where the file repeats each row for each filter."""
        return super().leaves_out_rows or self.columns.filter is not None

    def taking(self, subset: Subset) -> FileJob:
        """The job of a subset of the problems. UnknownName for an id that no row has."""
        if not subset.record():
            return self
        ids = (self._judgeable(row, number)[0].id for number, row in self._all_rows())
        return replace(self, chosen={self.name: subset.ids(ids, self.name)})

    def checked(self) -> FileJob:
        """The job with the name of the completions' field. DataError if no row of the file has a
        completion, or none a reference: then a field is misnamed."""
        named = (completion_field(row) for _, row in self._all_rows())
        field = None if self.columns.completions else next(filter(None, named), None)
        columns = self.columns if field is None else replace(self.columns, completions=(field,))
        job = replace(self, columns=columns)
        for lacks in (
            job._lacks_reference,
            job._lacks_completion,
            job._lacks_group,
            job._lacks_label,
        ):
            faults = (lacks(row, number) for number, row in self._all_rows())
            first = next(faults, None)
            if first is not None and all(faults):
                raise first
        return job

    def _rows(self, chunk: Chunk) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The numbered rows to read, each with the columns that --data has for its id."""
        for number, row in enumerate(self.source.rows(chunk), chunk.first):
            plain = self.columns.plain_row(row)
            if plain is None:
                continue
            if self.joined:
                plain = {
                    **_joined(self.joined, self.columns.identifier(plain, number), number),
                    **plain,
                }
            yield number, plain

    def _all_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        return (row for chunk in self.source.chunks(0) for row in self._rows(chunk))

    def _lacks_completion(self, row: Mapping[str, Any], number: int) -> DataError | None:
        found = completions(row, number, self.columns)
        if any(one.has_text or one.completion.finish_reason == "error" for one in found):
            return None
        fields = self.columns.completions
        where = f"{fields[0]!r}" if fields else f"any of {', '.join(COMPLETION_FIELDS)}"
        return missing(row, number, f" has no text in {where}", "--completion-field")

    def _lacks_reference(self, row: Mapping[str, Any], number: int) -> DataError | None:
        return self._judgeable(row, number)[1]

    def _lacks_label(self, row: Mapping[str, Any], number: int) -> DataError | None:
        lacking = [name for name in self.columns.labels if field_value(row, name) is None]
        what = f" has nothing in {lacking[0]!r}" if lacking else ""
        return missing(row, number, what, "--label-field") if lacking else None

    def _lacks_group(self, row: Mapping[str, Any], number: int) -> DataError | None:
        known = self._judgeable(row, number)[0].columns
        lacking = [name for name in self.group_by if name not in known]
        return missing(row, number, f" has no {lacking[0]!r}", "--group-by") if lacking else None

    def columns_of(self, task: str) -> Sequence[str]:
        """The columns that the figures need."""
        return (*self.group_by, *filter(None, [self.cluster]))

    def _judgeable(self, row: Mapping[str, Any], number: int) -> tuple[Sample, NoReference | None]:
        """A row's sample, and the error if it has no reference."""
        try:
            return self._sample(row, number), None
        except NoReference as error:
            identifier = self.columns.identifier(row, number)
            return Sample("", id=identifier, columns=row), error

    def _sample(self, row: Mapping[str, Any], number: int) -> Sample:
        """A row's sample. NoReference if the row lacks its reference or a column of the task."""
        identifier = self.columns.identifier(row, number)
        if self.samples:
            sample = _joined(self.samples, identifier, number)
            return replace(sample, columns={**row, **sample.columns})
        if self.columns.reference is None and self.task is not None:
            try:
                sample = self.task.sample(row, number)
            except DataError as error:
                raise NoReference(str(error)) from error
            return replace(sample, id=identifier) if self.columns.id else sample
        texts = references(row, number, self.columns, self.verifiers.strict)
        return Sample(texts[0], id=identifier, columns=row, references=texts[1:])


Joined = TypeVar("Joined")


def _joined(by_id: Mapping[str, Joined], identifier: str, number: int) -> Joined:
    """What --data has for a row's id. DataError if it has nothing."""
    if identifier not in by_id:
        raise DataError(f"row {number + 1} has the id {identifier!r}, which --data lacks")
    return by_id[identifier]


@dataclass(frozen=True)
class RunJob(_JobOptions):
    """Judge a run's completions again; each row stores its earlier verdict as `before`."""

    source: JsonLines
    verifiers: Mapping[str, TaskVerifiers]
    group_by: Mapping[str, tuple[str, ...]]
    dropped: frozenset[int] = frozenset()
    """Numbers of the rows that a later row with the same key replaces."""

    def taking(self, subset: Subset) -> RunJob:
        """The job of a subset of each task's problems. UnknownName for an id that no row has."""
        if not subset.record():
            return self
        ids: dict[str, dict[str, None]] = {task: {} for task in self.verifiers}
        for chunk in self.source.chunks(0):
            for _, row in self._rows(chunk):
                ids[row.task][row.id] = None
        chosen = {task: subset.ids(known, task) for task, known in ids.items()}
        return replace(self, chosen=chosen)

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """Judge the rows of a chunk again."""
        rows = [row for number, row in self._rows(chunk) if number not in self.dropped]
        result = ChunkResult()
        judged = _judged([self._generated(row) for row in rows], self.workers, result)
        by_key = {row.key: row for row in judged}
        for row in (by_key[earlier.key] for earlier in rows):
            result.tally.add(row, self.columns_of(row.task))
            result.agreement.add(row, row.earlier)
            if self.keep_rows:
                result.lines.append(as_line(row.as_json()))
        return result

    def columns_of(self, task: str) -> Sequence[str]:
        """The columns that a task's figures need."""
        return (*self.group_by[task], *filter(None, [self.cluster]))

    def _rows(self, chunk: Chunk) -> Iterable[tuple[int, CompletionRow]]:
        for number, fields in enumerate(self.source.rows(chunk), chunk.first):
            place = f"{self.source.path}, line {number + 1}"
            row = CompletionRow.from_json(fields, place)
            if row.task not in self.verifiers:
                raise RunMismatch(
                    f"{place} belongs to the task {row.task!r}, which the run's run.json lacks; "
                    "restore run.json, or remove the row"
                )
            if self.cluster is not None:
                require_cluster(self.cluster, row.columns, place)
            if not self.leaves_out_rows:
                yield number, row
            elif self._takes(row.task, row.id):
                yield number, replace(row, others={**row.others, SOURCE_ROW: number})

    def _generated(self, row: CompletionRow) -> Generated:
        before = BriefVerdict(row.verdict.correct, row.verdict.answer)
        judged = partial(replace, row, before=before)
        verifiers = self.verifiers[row.task]
        return Generated(row.generated, row.prompt or "", row.sample, verifiers, judged)


Job = FileJob | RunJob


def pickled_job(job: Job, where: str) -> bytes:
    """The job, pickled. JudgingError if it can't be sent to `where`."""
    try:
        return bytes(cloudpickle.dumps(job))
    except Exception as error:  # pickling runs code of verifiers and tasks
        raise JudgingError(
            f"the verifier can't be sent to {where}: {type(error).__name__}: {error}; "
            "it must not hold open files, locks or the like"
        ) from error


def _judged(
    batch: Sequence[Generated], workers: int | None, result: ChunkResult
) -> Sequence[CompletionRow]:
    """The judged rows of a batch; `result` gets the counts of verdicts that had more time."""
    rows = judged_rows(batch, workers)
    result.limits.add(take_limit_counts())
    result.judges = take_judge_uses()
    return rows


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
                "a judging process ended by itself, perhaps for lack of memory; what was judged "
                "before is stored, and the same command resumes"
            ) from error
        except BaseException:
            caller.close()  # ends the processes in the midst of their chunks
            raise


def _start_judging(pickled: bytes, alive: Connection) -> None:
    """Load the job in a new process, which ends with the caller, however that ends."""
    global _job
    threading.Thread(target=_exit_with_caller, args=(alive,), daemon=True).start()
    os.setsid()  # Ctrl-C is for the caller
    with contextlib.suppress(OSError):  # closed
        os.dup2(2, 1)  # the caller's standard output is for results
    try:
        _job = pickle.loads(pickled)
    except Exception as error:  # a plugin's own; every chunk is answered with this error
        message = (
            f"the verifier can't be loaded into a judging process: {type(error).__name__}: "
            f"{error}; what it needs must be importable in a fresh interpreter"
        )

        def refuse(_: Chunk) -> ChunkResult:
            raise JudgingError(message)

        _job = refuse


_job: Callable[[Chunk], ChunkResult]
"""The job of this process, where it is one of several."""


def _judge_chunk(chunk: Chunk) -> bytes:
    return pickled_result(_job, chunk)


def _exit_with_caller(alive: Connection) -> None:
    alive.poll(None)  # until the other end is closed
    os._exit(1)
