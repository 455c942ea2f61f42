"""Generate the missing completions of a run, and judge them at the same time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

from rewardkit.errors import BackendError
from rewardkit.harness.run.judging_thread import Generated, JudgingThread
from rewardkit.harness.run.task_plan import RenderedTask
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.harness.store.shard import SOURCE_ROW
from rewardkit.protocols import Backend, Request
from rewardkit.records import Sample

ENDS = 4
"""Token ids of each end of a prompt that its row keeps: they show a doubled BOS."""

OpenRequests = Mapping[str, tuple[Request, Sample, int]]
"""Requests by key, each with its sample and its index among the sample's completions."""


def open_requests(rendered: RenderedTask, done: set[str]) -> OpenRequests:
    """The requests of a task whose completions are missing."""
    return {
        request.key: (request, sample, index)
        for request, sample, index in rendered.requests()
        if request.key not in done
    }


def complete(
    backend: Backend,
    rendered: Sequence[RenderedTask],
    open_requests_by_task: Sequence[OpenRequests],
    write: Callable[[list[SampleRow]], None],
) -> None:
    """Generate and judge the open requests of each task; the engine must be running."""
    judging = JudgingThread(write)
    try:
        for task, requests in zip(rendered, open_requests_by_task, strict=True):
            if requests:
                _generate(backend, task, requests, judging)
    finally:
        # however generation ends, the completions it finished are judged and written
        judging.finish()


def _generate(
    backend: Backend, rendered: RenderedTask, requests: OpenRequests, judging: JudgingThread
) -> None:
    verifiers = rendered.task_plan.verifiers()
    rows = {sample.id: row for row, sample in enumerate(rendered.task_plan.samples)}
    waiting = dict(requests)
    to_generate = [request for request, _, _ in requests.values()]
    completions = backend.generate(to_generate, rendered.sampling)
    try:
        for request, completion in completions:
            _, sample, index = waiting.pop(request.key)
            judging.put(
                Generated(
                    key=request.key,
                    task=rendered.task.name,
                    index=index,
                    sample=sample,
                    completion=completion,
                    verifiers=verifiers,
                    prompt=request.prompt.text,
                    prompt_ends=_ends(request.prompt.token_ids),
                    others={SOURCE_ROW: rows[sample.id]} if rendered.shard else {},
                )
            )
    finally:
        # an abandoned generator leaves its requests queued in the engine
        if isinstance(completions, Generator):
            completions.close()
    if waiting:
        raise BackendError(
            f"the backend ended without completing {len(waiting)} of {len(requests)} requests"
        )


def _ends(ids: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The first and the last few token ids of a prompt; None without ids."""
    return (tuple(ids[:ENDS]), tuple(ids[-ENDS:])) if ids else None
