"""The verifiers of a task, and the thread that judges completions while others are generated."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rewardkit import registry
from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow, SecondVerdict
from rewardkit.harness.results.rates import numbered
from rewardkit.judging import Control, JudgingOptions
from rewardkit.judging.rows import judge_samples
from rewardkit.protocols import Task, Verifier, VerifierCallable
from rewardkit.records import Completion, Failure, Sample, Verdict
from rewardkit.registry import timeout_of
from rewardkit.text.thinking import (
    THINK,
    Thinking,
    ThinkingTags,
    in_think_tags,
    place_in_own_tags,
    text_to_read,
    thinking_is_open,
    thinking_of,
)

if TYPE_CHECKING:
    from rewardkit.verifiers.judge.verifier import Judge

ALL_THINKING = "the budget went into thinking, and no answer came"
"""The message if a server returned thinking separately, and no completion."""

NOTHING = "nothing was generated: "
"""The start of the message if the engine failed."""

BEFORE_AN_ANSWER = (Failure.NO_ANSWER, Failure.FORMAT, Failure.NO_REASONING)


@dataclass(frozen=True, slots=True, eq=False)
class TaskVerifiers:
    """The verifiers that judge a task's replies."""

    strict: VerifierCallable
    flexible: VerifierCallable | None
    control: Control | None = None
    """Writes the task's perfect completion: the control text after a verifier crashes."""
    thinking: Thinking | None = None
    """How to read a thinking block; None: as each verifier declares."""
    timeout: float | None = None
    """Seconds for a verdict; None: each verifier's own deadline."""
    thinking_tags: ThinkingTags | None = None
    """The tags of the model's thinking, if rewardkit doesn't know them."""
    second: VerifierCallable | None = None
    """Also judges all completions, so that the verdicts of the two verifiers can be compared."""
    second_name: str = ""
    rescue: Judge | None = None
    """Judges answers that `strict` calls wrong."""
    confirm: Judge | None = None
    """Judges answers that `strict` calls right."""


def verifiers_of_task(
    task: Task, reading: str | None, thinking: Thinking | None, timeout: float | None
) -> TaskVerifiers:
    """A task's verifiers for an answer style. The default timeout is the task's."""
    limits = thinking, timeout or timeout_of(task)
    return TaskVerifiers(task.verifier(reading), task.flexible(), task.perfect, *limits)


@dataclass(frozen=True, slots=True)
class JudgingItem:
    """A completion to judge."""

    completion: Completion
    prompt: str
    sample: Sample
    verifiers: TaskVerifiers
    row: Callable[..., CompletionRow]
    """Makes the completion's row from `verdict`, `flexible` and `second`."""
    given: Verdict | None = None
    """The verdict if there is nothing to judge: no completion, or no reference."""

    def in_think_tags(self) -> JudgingItem:
        """The completion with the common tags in place of the model's tags."""
        tags = self.verifiers.thinking_tags
        if tags is None:
            return self
        completion = replace(self.completion, text=in_think_tags(self.completion.text, tags))
        return replace(self, completion=completion, prompt=in_think_tags(self.prompt, tags))


def judging_item(
    task: str,
    sample: Sample,
    index: int,
    completion: Completion,
    verifiers: TaskVerifiers,
    given: Verdict | None = None,
    **others: Any,
) -> JudgingItem:
    """A completion to judge, or with a `given` verdict. `others` are further fields of the row."""
    row = partial(
        CompletionRow,
        key=f"{task}/{sample.id}/{index}",
        task=task,
        id=sample.id,
        index=index,
        completion=completion.text,
        finish_reason=completion.finish_reason,
        reference=sample.reference,
        references=sample.references,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        columns=sample.columns,
        reasoning=completion.reasoning,
        thinking_tokens=completion.thinking_tokens,
        cost=completion.cost,
        tool_calls=completion.tool_calls,
        **others,
    )
    return JudgingItem(completion, others.get("prompt") or "", sample, verifiers, row, given)


def judge_rows(batch: Sequence[JudgingItem], workers: int | None = None) -> list[CompletionRow]:
    """The rows of a batch, with their verdicts, in order. `workers` as for `judge_many`."""
    rows: dict[int, CompletionRow] = {}
    for verifiers in dict.fromkeys(item.verifiers for item in batch):
        places = [place for place, item in enumerate(batch) if item.verifiers is verifiers]
        same = [batch[place].in_think_tags() for place in places]
        options = JudgingOptions(verifiers.timeout, workers=workers, thinking=verifiers.thinking)
        strict = _judge_strictly(verifiers, same, options)
        if tags := verifiers.thinking_tags:
            texts = [batch[place].completion.text for place in places]
            strict = [_place_spans(*pair, tags) for pair in zip(strict, texts, strict=True)]
        flexible = _judge_flexibly(verifiers, same, strict, options)
        second: Sequence[SecondVerdict | None] = [None] * len(same)
        if verifiers.second is not None:
            name, others = verifiers.second_name, TaskVerifiers(verifiers.second, None)
            second = [
                SecondVerdict(verdict.correct, verdict.answer, verifier=name)
                for verdict in _judge_strictly(others, same, options)
            ]
        for place, item, *verdicts in zip(places, same, strict, flexible, second, strict=True):
            verdict, brief, other = verdicts
            rows[place] = item.row(verdict=verdict, flexible=brief, second=other)
    return [rows[place] for place in range(len(batch))]


def _place_spans(verdict: Verdict, text: str, tags: ThinkingTags) -> Verdict:
    """The verdict with spans of `text`, which was judged with the common tags."""
    spans = (
        replace(
            span,
            start=place_in_own_tags(text, tags, span.start),
            end=place_in_own_tags(text, tags, span.end),
        )
        for span in verdict.spans
    )
    return replace(verdict, spans=tuple(spans)) if verdict.spans else verdict


def _adjust_to_end(
    verdict: Verdict, completion: Completion, prompt: str, *, unread: bool
) -> Verdict:
    """Adjust a verdict to the completion's end; `unread` if the completion is only thinking."""
    if completion.finish_reason == "error":
        return Verdict.unjudged(NOTHING + completion.message.removeprefix(NOTHING))
    if completion.tool_calls and verdict.failure not in BEFORE_AN_ANSWER:
        return verdict
    if verdict.correct is False and not completion.text and verdict.failure in BEFORE_AN_ANSWER:
        only_thinking = completion.thinking_tokens or completion.reasoning
        without_text = completion.message or (ALL_THINKING if only_thinking else "")
        if without_text:
            return verdict.with_failure(Failure.NO_ANSWER, without_text)
    if verdict.failure not in BEFORE_AN_ANSWER and not (verdict.correct is False and unread):
        return verdict
    if completion.finish_reason == "length":
        return verdict.with_failure(
            Failure.TRUNCATED, "the token limit was reached before an answer"
        )
    if thinking_is_open(prompt, completion.text):
        return verdict.with_failure(
            Failure.NO_ANSWER, "the thinking block is never closed, and no answer is given"
        )
    return verdict


def _judge_texts(
    verifier: VerifierCallable,
    batch: Sequence[JudgingItem],
    options: JudgingOptions,
    control: Control | None,
) -> tuple[list[str], list[Verdict]]:
    """The text to read of each completion, and the verdicts, which may be given.

    If the prompt opens a thinking block that is never closed, the text begins with the opening
    tag. If thinking is kept and the server returned nothing else, the text is the thinking. If the
    server separated calls of tools from the text, both are judged as a message.
    """
    reads = thinking_of(verifier, options.thinking)
    opening, closing = THINK
    texts: list[str] = []
    replies: list[str | list[dict[str, Any]]] = []
    for item in batch:
        text, calls = item.completion.text, item.completion.tool_calls
        if reads == "keep" and item.completion.reasoning and not text.strip():
            text = f"{opening}{item.completion.reasoning}{closing}"
        elif reads and thinking_is_open(item.prompt, text) and not thinking_is_open("", text):
            text = opening + text
        texts.append(text)
        message = {"role": "assistant", "content": text, "tool_calls": list(calls)}
        replies.append([message] if calls else text)
    samples = [item.given or item.sample for item in batch]
    return texts, judge_samples(verifier, replies, samples, options, control)


def _judge_strictly(
    verifiers: TaskVerifiers, batch: Sequence[JudgingItem], options: JudgingOptions
) -> list[Verdict]:
    thinking = thinking_of(verifiers.strict, options.thinking)
    texts, verdicts = _judge_texts(verifiers.strict, batch, options, verifiers.control)
    if verifiers.rescue or verifiers.confirm:
        from rewardkit.verifiers.judge.verifier import with_judges  # loads the client

        samples = [item.given or item.sample for item in batch]
        completions = list(zip(texts, samples, strict=True))
        judges = {"rescue": verifiers.rescue, "confirm": verifiers.confirm}
        verdicts = with_judges(verdicts, completions, **judges)
    adjusted = []
    for verdict, text, item in zip(verdicts, texts, batch, strict=True):
        # whether the text is a thinking block that is never closed, and nothing of it is read
        unread = (
            thinking is not None
            and thinking_is_open("", text)
            and not text_to_read(text, thinking).strip()
        )
        verdict = verdict.in_text(text, item.completion.text)
        adjusted.append(_adjust_to_end(verdict, item.completion, item.prompt, unread=unread))
    return adjusted


def _judge_flexibly(
    verifiers: TaskVerifiers,
    batch: Sequence[JudgingItem],
    strict: Sequence[Verdict],
    options: JudgingOptions,
) -> Sequence[BriefVerdict | None]:
    """The flexible verdicts; a completion that is right strictly is also right flexibly."""
    if verifiers.flexible is None:
        return [None] * len(batch)
    verdicts = list(strict)
    wrong = [place for place, verdict in enumerate(strict) if verdict.correct is False]
    again = [batch[place] for place in wrong]
    _, forgiven = _judge_texts(verifiers.flexible, again, options, verifiers.control)
    for place, verdict in zip(wrong, forgiven, strict=True):
        verdicts[place] = verdict
    return [
        BriefVerdict(verdict.correct, verdict.answer, numbered(verdict.parts))
        for verdict in verdicts
    ]


class JudgingThread:
    """Judge completions as they arrive and write their rows."""

    def __init__(self, write: Callable[[list[CompletionRow]], None]) -> None:
        self._write = write
        self._queue: queue.SimpleQueue[JudgingItem | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="judging", daemon=True)
        self._thread.start()

    def put(self, item: JudgingItem) -> None:
        """Queue a completion. Raise the error of an earlier completion."""
        if self._failure is not None:
            raise self._failure
        self._queue.put(item)

    def finish(self) -> None:
        """Wait until all queued completions are judged and written."""
        self._queue.put(None)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        """Judge all queued completions together, again and again, until None ends the queue."""
        try:
            ended = False
            while not ended:
                batch = [self._queue.get()]
                while not self._queue.empty():
                    batch.append(self._queue.get())
                ended = batch[-1] is None
                if waiting := [item for item in batch if item is not None]:
                    self._write(judge_rows(waiting))
        except BaseException as error:  # raised again in the caller's thread
            self._failure = error


def parameters_by_verifier(
    arguments: Mapping[str, Any], names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return each verifier's parameters, which are named VERIFIER.KEY.

    >>> parameters_by_verifier({"exact.ignore_case": True}, ["exact", "math"])
    {'exact': {'ignore_case': True}}
    """
    parameters: dict[str, dict[str, Any]] = {}
    for key, value in arguments.items():
        name, dot, parameter = key.partition(".")
        if not dot:
            raise UsageError(
                f"--verifier-arg {key}: there are several verifiers; name the verifier, such as "
                f"{names[0]}.{key}={value}"
            )
        if name not in names:
            raise UnknownName.among("verifier", name, names)
        parameters.setdefault(name, {})[parameter] = value
    return parameters


def own_parameters(arguments: Mapping[str, Any], others: Iterable[str | None]) -> dict[str, Any]:
    """Return the parameters without those of `others`, which are named NAME.KEY.

    >>> own_parameters({"units": "strict", "judge.votes": 3}, ["judge", None])
    {'units': 'strict'}
    """
    names = {f"{name}." for name in others if name}
    return {key: value for key, value in arguments.items() if not any(map(key.startswith, names))}


@dataclass(frozen=True, kw_only=True)
class SecondOpinions:
    """The names of further verifiers, and their parameters as NAME.KEY."""

    second: str | None = None
    """Judges all completions, to compare the verdicts: `score --and`."""
    rescue: str | None = None
    """Judges answers that the rule calls wrong."""
    confirm: str | None = None
    """Judges answers that the rule calls right."""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def given(
        arguments: Mapping[str, Any], **names: str | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields that are set, and the other parameters among `--verifier-arg`."""
        named = {field: name for field, name in names.items() if name}
        rest = own_parameters(arguments, named.values())
        theirs = {key: value for key, value in arguments.items() if key not in rest}
        return {**named, "parameters": theirs} if named else {}, rest

    def added_to(self, verifiers: TaskVerifiers) -> TaskVerifiers:
        """The task's verifiers with these. UnknownName for a verifier that isn't installed,
        UsageError if `rescue` or `confirm` isn't a judge."""
        if self.second:
            verifiers = replace(verifiers, second=self._load(self.second), second_name=self.second)
        if not (self.rescue or self.confirm):
            return verifiers
        from rewardkit.verifiers.judge.verifier import as_judge  # loads the client

        rescue = as_judge(self._load(self.rescue), "--rescue") if self.rescue else None
        confirm = as_judge(self._load(self.confirm), "--confirm") if self.confirm else None
        return replace(verifiers, rescue=rescue, confirm=confirm)

    def _load(self, name: str) -> Verifier:
        names = [other for other in (self.second, self.rescue, self.confirm) if other]
        parameters = parameters_by_verifier(self.parameters, names).get(name, {})
        return registry.installed().verifier(name, **parameters)
