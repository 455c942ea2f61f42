"""Judging while generation goes on: a thread that judges and writes what has finished."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.harness.metrics.truncation import thinking_is_open
from rewardkit.harness.store.run_folder import Row
from rewardkit.judging import judge_many
from rewardkit.protocols import Verifier
from rewardkit.records import Completion, Failure, Sample, Verdict

BEFORE_AN_ANSWER = (Failure.NO_ANSWER, Failure.FORMAT, Failure.NO_REASONING)


@dataclass(frozen=True, slots=True, eq=False)
class TaskVerifiers:
    """Who judges a task's replies."""

    strict: Verifier
    flexible: Verifier | None


@dataclass(frozen=True, slots=True)
class Generated:
    """A completion on its way to its verdict; `row` holds what is known before it."""

    row: Row
    sample: Sample
    completion: Completion
    judges: TaskVerifiers


def sample_row(
    key: str, task: str, sample: Sample, completion: Completion, *, index: int = 0
) -> Row:
    """A completion as samples.jsonl holds it, all but the prompt and the verdict."""
    return {
        "key": key,
        "task": task,
        "id": sample.id,
        "index": index,
        "prompt": None,
        "completion": completion.text,
        "finish_reason": completion.finish_reason,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "reference": sample.reference,
        "columns": dict(sample.columns),
    }


def judged_rows(batch: Sequence[Generated], workers: int | None = None) -> list[Row]:
    """The rows of a batch, with their verdicts, by judges and in order. `workers` as for
    `judge_many`."""
    rows: list[Row] = []
    for judges in dict.fromkeys(one.judges for one in batch):
        same = [one for one in batch if one.judges is judges]
        strict = _verdicts(judges.strict, same, workers)
        flexible = _flexible(judges.flexible, same, strict, workers)
        rows += [
            {**one.row, "verdict": verdict_fields(verdict), "flexible": forgiving}
            for one, verdict, forgiving in zip(same, strict, flexible, strict=True)
        ]
    return rows


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values."""
    return {
        "correct": verdict.correct,
        "score": verdict.score,
        "answer": verdict.answer,
        "failure": None if verdict.failure is None else verdict.failure.value,
        "parts": dict(verdict.parts),
        "message": verdict.message,
    }


def finished(verdict: Verdict, completion: Completion, prompt: str = "") -> Verdict:
    """The verdict in the light of how the completion ended."""
    if completion.finish_reason == "error":
        return Verdict.unjudged(f"nothing was generated: {completion.message}")
    if verdict.failure not in BEFORE_AN_ANSWER:
        return verdict
    if completion.finish_reason == "length":
        return verdict.with_failure(
            Failure.TRUNCATED, "the token limit was reached before an answer"
        )
    if thinking_is_open(prompt, completion.text):
        return verdict.with_failure(
            Failure.TRUNCATED, "the thinking block is never closed, and no answer is given"
        )
    return verdict


def _verdicts(verifier: Verifier, batch: Sequence[Generated], workers: int | None) -> list[Verdict]:
    items = [(one.completion.text, one.sample) for one in batch]
    verdicts = judge_many(verifier, items, workers=workers)
    return [
        finished(verdict, one.completion, one.row["prompt"] or "")
        for verdict, one in zip(verdicts, batch, strict=True)
    ]


def _flexible(
    verifier: Verifier | None,
    batch: Sequence[Generated],
    strict: Sequence[Verdict],
    workers: int | None,
) -> list[dict[str, Any] | None]:
    """What the forgiving reading finds; whatever is right strictly is right here too."""
    if verifier is None:
        return [None] * len(batch)
    found: list[dict[str, Any] | None] = [
        {"correct": verdict.correct, "answer": verdict.answer} for verdict in strict
    ]
    again = [index for index, verdict in enumerate(strict) if verdict.correct is False]
    items = [(batch[index].completion.text, batch[index].sample) for index in again]
    forgiven = judge_many(verifier, items, workers=workers)
    for index, verdict in zip(again, forgiven, strict=True):
        found[index] = {"correct": verdict.correct, "answer": verdict.answer}
    return found


class JudgingThread:
    """Judge completions as they arrive and write their rows."""

    def __init__(self, write: Callable[[list[Row]], None]) -> None:
        self._write = write
        self._queue: queue.SimpleQueue[Generated | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="judging", daemon=True)
        self._thread.start()

    def put(self, generated: Generated) -> None:
        """Take one more; raises what went wrong with an earlier one."""
        self._raise()
        self._queue.put(generated)

    def finish(self) -> None:
        """Wait until all is judged and written."""
        self._queue.put(None)
        self._thread.join()
        self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            while (batch := self._batch()) is not None:
                self._write(judged_rows(batch))
        except BaseException as error:  # raised again in the caller's thread
            self._failure = error

    def _batch(self) -> list[Generated] | None:
        """Whatever has come, at least one; None at the end."""
        first = self._queue.get()
        if first is None:
            return None
        batch = [first]
        while not self._queue.empty():
            more = self._queue.get()
            if more is None:
                self._queue.put(None)
                break
            batch.append(more)
        return batch
