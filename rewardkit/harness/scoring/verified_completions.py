"""A run's verified completions as rows to train on: replies for SFT, pairs for DPO and KTO."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.prompts.solutions import reply_columns, turns
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.prompts.template import PromptTemplate
from rewardkit.harness.results.completion_row import CompletionRow, current_rows
from rewardkit.harness.results.data_files import Row, as_json
from rewardkit.harness.results.documents import read_run_record
from rewardkit.harness.results.names import counted
from rewardkit.harness.results.run_folder import RUN, find_runs
from rewardkit.harness.runs.judging_thread import TaskVerifiers
from rewardkit.harness.scoring.scoring_plan import resolve_task
from rewardkit.judging import JudgingOptions
from rewardkit.judging.rows import judge_samples
from rewardkit.protocols import Task
from rewardkit.records import Sample
from rewardkit.text.thinking import ThinkingTags, in_think_tags, split_thinking


@dataclass(frozen=True, slots=True)
class TrainingReply:
    """A completion as a reply to the prompt to train on."""

    sample: Sample
    index: int
    text: str
    correct: bool | None
    cut_off: bool
    """Whether the completion ended at the token limit."""
    changed: bool
    """Whether the run's verdict is on another text or on another form of the answer."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which of a problem's completions to take: `most`, in the order that `choose` names."""

    choose: str = "first"
    most: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.choose not in ORDERS:
            raise UnknownName.among("order", self.choose, ORDERS)

    def __call__(self, replies: Sequence[TrainingReply]) -> list[TrainingReply]:
        """Put the replies to one problem in order, and leave out repeated replies."""
        distinct: dict[str, TrainingReply] = {}
        for reply in replies:
            distinct.setdefault(" ".join(reply.text.split()), reply)
        return ORDERS[self.choose](list(distinct.values()), self.seed)


def _most_different_first(replies: list[TrainingReply], seed: int) -> list[TrainingReply]:
    """The first one, then each time the one that shares the fewest pairs of words with any before.

    Likeness is the Jaccard index of the sets of neighbouring words.
    """
    words = [reply.text.split() for reply in replies]
    pairs = [set(zip(("", *text), (*text, ""), strict=True)) for text in words]
    likeness = [0.0] * len(replies)
    rest, order = list(range(len(replies))), list[int]()
    while rest:
        order.append(min(rest, key=likeness.__getitem__))
        rest.remove(order[-1])
        last = pairs[order[-1]]
        for place in rest:
            shared = len(last & pairs[place]) / len(last | pairs[place])
            likeness[place] = max(likeness[place], shared)
    return [replies[place] for place in order]


ORDERS: Mapping[str, Callable[[list[TrainingReply], int], list[TrainingReply]]] = {
    "first": lambda replies, _: replies,
    "shortest": lambda replies, _: sorted(replies, key=lambda reply: len(reply.text)),
    "random": lambda replies, seed: sorted(
        replies, key=lambda reply: random.Random(f"{seed}/{reply.sample.id}/{reply.index}").random()
    ),
    "diverse": _most_different_first,
}
"""The orders of a problem's replies, by name."""


@dataclass(frozen=True)
class RunReplies:
    """The judged completions of a run's problems, as replies to a prompt."""

    task: Task
    template: PromptTemplate
    problems: Sequence[Sequence[TrainingReply]]


def read_replies(
    run: Path,
    name: str,
    *,
    prompt: str | None = None,
    thinking: str = "keep",
    timeout: float | None = None,
) -> RunReplies:
    """Read a run's completions of the task `name` as replies to `prompt`, by default the run's.

    A completion is judged again if its text changes, because thinking is stripped or was returned
    separately, or if the prompt asks for another form of the answer. UsageError if the run has no
    completion of the task, or its prompt can't be built again.
    """
    if thinking not in ("keep", "strip"):
        raise UnknownName.among("choice of --thinking", thinking, ("keep", "strip"))
    folder, *others = find_runs([run])
    if others:
        raise UsageError(f"{run} holds {1 + len(others)} runs; name one")
    record = read_run_record(folder / RUN)
    recorded = record.get("tasks", {})
    if name not in recorded:
        raise UnknownName.among(f"task in {run}", name, recorded)
    _, task = resolve_task(folder, name, recorded[name])
    if task is None:
        raise UsageError(f"{run} was scored by a verifier; score its file with --task first")
    template = _prompt_of(task, recorded[name], record.get("settings", {}), prompt)
    judging = {**recorded[name], "reading": template.reading}
    same_form = judging == recorded[name]
    verifiers, _ = resolve_task(folder, name, judging | ({"timeout": timeout} if timeout else {}))
    samples: dict[str, Sample] = {}
    replies = []
    for row in current_rows(folder):
        if row.task == name and row.finish_reason != "error":
            if row.id not in samples:
                samples[row.id] = task.sample({"id": row.id, **row.columns}, 0)
            tags = verifiers.thinking_tags
            reply = _reply(row, samples[row.id], thinking, same_form=same_form, tags=tags)
            replies.append(reply)
    return RunReplies(task, template, _judged(verifiers, replies))


def _prompt_of(
    task: Task, recorded: Mapping[str, Any], settings: Mapping[str, Any], prompt: str | None
) -> PromptTemplate:
    """The prompt of this name; None: the one that the run sent, or the task's for a scored file."""
    if prompt is not None or "prompt_hash" not in recorded:
        return resolve_prompt(task, prompt)
    names = ("system_prompt", "num_fewshot", "fewshot_data")
    given: dict[str, Any] = {name: settings.get(name) for name in names}
    options = EvalOptions(**given, seed=settings.get("seed", 0))
    template = resolve_prompt(task, settings.get("prompt"), options)
    if template.hash() != recorded["prompt_hash"]:
        raise UsageError(
            f"prompt {template.name!r} has changed since the run sent it; restore it, or name the "
            "prompt of the rows with --prompt"
        )
    return template


def _reply(
    row: CompletionRow,
    sample: Sample,
    thinking: str,
    *,
    same_form: bool,
    tags: ThinkingTags | None = None,
) -> TrainingReply:
    if row.tool_calls:
        raise UsageError(
            f"{row.key} has tool calls that the server separated from its text, so the text to "
            "train on is unknown; evaluate with the backend vllm or transformers, which keep it"
        )
    text = row.completion
    if thinking == "strip":
        common, prompt = in_think_tags(text, tags), in_think_tags(row.prompt or "", tags)
        text = split_thinking(common, prompt)[1].lstrip()
    elif row.reasoning:
        text = f"<think>\n{row.reasoning}\n</think>\n\n{text}"
    changed = text != row.completion or not same_form
    cut_off = row.finish_reason == "length"
    return TrainingReply(sample, row.index, text, row.verdict.correct, cut_off, changed)


def _judged(
    verifiers: TaskVerifiers, replies: Sequence[TrainingReply]
) -> list[list[TrainingReply]]:
    """The replies by problem, the changed ones with new verdicts."""
    changed = [reply for reply in replies if reply.changed]
    verdicts = iter(
        judge_samples(
            verifiers.strict,
            [in_think_tags(reply.text, verifiers.thinking_tags) for reply in changed],
            [reply.sample for reply in changed],
            JudgingOptions(verifiers.timeout, thinking=verifiers.thinking),
            verifiers.control,
        )
    )
    problems: dict[str, list[TrainingReply]] = {}
    for reply in replies:
        reply = replace(reply, correct=next(verdicts).correct) if reply.changed else reply
        problems.setdefault(reply.sample.id, []).append(reply)
    return list(problems.values())


def completion_rows(run: RunReplies, select: Selection) -> tuple[list[Row], str, str]:
    """The right replies as rows for SFT, a summary of them, and of those that are left out.

    If the run drew several completions a problem, a row's id is the problem's, a slash and the
    completion's number. DataError if the task would read another problem from a row.
    """
    several = any(reply.index for problem in run.problems for reply in problem)
    rows, solved, left_out = [], 0, Counter[str]()
    for problem in run.problems:
        right = [reply for reply in problem if reply.correct]
        finished = [reply for reply in right if not reply.cut_off]
        distinct = select(finished)
        taken = distinct[: select.most]
        solved += bool(taken)
        left_out["cut off at the token limit"] += len(right) - len(finished)
        left_out["repeated"] += len(finished) - len(distinct)
        left_out["over --per-problem"] += len(distinct) - len(taken)
        rows += [
            _row(run, reply, f"{reply.sample.id}/{reply.index}" if several else reply.sample.id)
            for reply in taken
        ]
    if not rows:
        raise DataError("no completion of the run is right, so there is nothing to train on")
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
    summary = f"{counted(len(rows), 'right completion')} of {_share(solved, run)}"
    return rows, summary, reasons and f"; left out {reasons}"


def _row(run: RunReplies, reply: TrainingReply, name: str) -> Row:
    added = reply_columns(run.template, reply.sample, reply.text)
    row = {**reply.sample.columns, "id": name, **added}
    read = run.task.sample(json.loads(as_json(row)), 0)
    same = (read.id, read.reference) == (name, reply.sample.reference)
    if not same or turns(run.template.messages(read)) != added["prompt"]:
        raise DataError(
            f"task {run.task.name!r} would read another problem from the row of {name!r}: the "
            f"id decides its options, or it reads one of the columns id, {', '.join(added)}, "
            "which the row needs; rename that column in the data, and evaluate again"
        )
    return row


def _share(problems: int, run: RunReplies) -> str:
    return f"{problems:,} of {counted(len(run.problems), 'problem')}"


def preference_pairs(run: RunReplies, select: Selection) -> tuple[list[Row], str, str]:
    """Right and wrong replies to one problem as rows for TRL's DPOTrainer and KTOTrainer.

    Each right reply gets the wrong one nearest in length that no pair has yet. The rows have no
    other columns: KTOTrainer, which splits the pairs, accepts none. Also returns a summary, and one
    of the lengths.
    """
    pairs: list[tuple[TrainingReply, TrainingReply]] = []
    for problem in run.problems:
        unpaired = select([reply for reply in problem if reply.correct is False])
        taken = select([reply for reply in problem if reply.correct and not reply.cut_off])
        for chosen in taken[: min(len(unpaired), select.most or len(taken))]:
            nearest = min(unpaired, key=lambda reply: abs(len(reply.text) - len(chosen.text)))
            unpaired.remove(nearest)
            pairs.append((chosen, nearest))
    rows: list[Row] = [
        {
            "prompt": turns(run.template.messages(chosen.sample)),
            "chosen": [{"role": "assistant", "content": chosen.text}],
            "rejected": [{"role": "assistant", "content": rejected.text}],
        }
        for chosen, rejected in pairs
    ]
    if not pairs:
        raise DataError("no problem of the run has both a right and a wrong completion to pair")
    right, wrong = ([len(reply.text) for reply in side] for side in zip(*pairs, strict=True))
    paired = len({reply.sample.id for reply, _ in pairs})
    lengths = f"; median characters: {median(right):,.0f} of right ones"
    lengths += f", {median(wrong):,.0f} of wrong ones"
    return rows, f"{counted(len(rows), 'pair')} of {_share(paired, run)}", lengths
