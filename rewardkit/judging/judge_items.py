"""Judge texts within their limits: here if the cost is bounded, in worker processes otherwise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice

from rewardkit.available_resources import available_cores
from rewardkit.errors import ResourcesUsedUp, UsageError
from rewardkit.judging.crashes import (
    Control,
    Crash,
    TextAndSample,
    VerdictOrCrash,
    outcome_of_error,
    run_quick,
    settle_crashes,
)
from rewardkit.judging.options import JudgingOptions
from rewardkit.judging.pool import ForkServerGone, end_idle_workers, pool_in_use
from rewardkit.judging.threaded_call import call_undisturbed, running_call
from rewardkit.protocols import (
    Combination,
    Verifier,
    VerifierCallable,
    as_verifier,
    is_async,
    judges_by_member,
    overrides,
    reads_list,
    verdicts_at_once,
)
from rewardkit.records import Sample, Verdict
from rewardkit.text.thinking import placed_text_to_read, text_to_read, thinking_of
from rewardkit.text.transcripts import ANALYSIS, model_text, without_special_tokens

HEADROOM = 0.15
"""The share of a deadline kept back for reading the text here and replacing a killed worker."""

CHUNK = 16
"""Items sent to a worker at once: enough to hide the trip, few enough to share out evenly."""

FORK_SERVERS = 3
"""Fork servers that may end by themselves, one after another, without a verdict."""

DEFAULTS = JudgingOptions()


def judge(
    verifier: VerifierCallable,
    text: str,
    sample: Sample,
    options: JudgingOptions = DEFAULTS,
    *,
    control: Control | None = None,
) -> Verdict:
    """Return the verdict on one completion. Callable from any thread."""
    return judge_many(verifier, [(text, sample)], options, control=control)[0]


def judge_many(
    verifier: VerifierCallable,
    items: Sequence[TextAndSample],
    options: JudgingOptions = DEFAULTS,
    *,
    control: Control | None = None,
) -> list[Verdict]:
    """Return the verdicts on `items`, in order, each within the limits of `options`.

    A text that exceeds its deadline is wrong (`timeout`). A text that crashes the verifier is wrong
    (`crashed`), unless a control text crashes the verifier in the same place. `control` gives a
    sample's perfect completion; without `control`, the reference is the control text. A lost worker
    is replaced, and other texts keep their verdicts. An item gets the same verdict in any batch.
    The verifier reads the model's last turn of a transcript (`rewardkit.text.transcripts`), and the
    part of it that `rewardkit.text.thinking` chooses.
    """
    return call_undisturbed(
        partial(_judge_last_turns, as_verifier(verifier), items, options, control)
    )


def _judge_last_turns(
    verifier: Verifier,
    items: Sequence[TextAndSample],
    options: JudgingOptions,
    control: Control | None,
) -> list[Verdict]:
    keeps_thinking = thinking_of(verifier, options.thinking) == "keep"
    texts = [text for text, _ in items]
    items = [_last_turn(text, sample, keeps_thinking) for text, sample in items]
    verdicts = _judge_alternatives(verifier, items, options, control)
    turns = zip(verdicts, items, texts, strict=True)
    return [
        verdict.in_text(turn, text) if verdict.spans else verdict
        for verdict, (turn, _), text in turns
    ]


def _judge_alternatives(
    verifier: Verifier,
    items: Sequence[TextAndSample],
    options: JudgingOptions,
    control: Control | None,
) -> list[Verdict]:
    if not any(sample.references for _, sample in items):
        return _judge_with_one_reference(verifier, items, options, control)
    alternatives = [[sample.reference, *sample.references] for _, sample in items]
    if reads_list(verifier):
        items = [
            (text, replace(sample, reference=json.dumps(references), references=()))
            if sample.references
            else (text, sample)
            for (text, sample), references in zip(items, alternatives, strict=True)
        ]
        return _judge_with_one_reference(verifier, items, options, control)
    pairs = [
        (text, replace(sample, reference=reference, references=()))
        for (text, sample), references in zip(items, alternatives, strict=True)
        for reference in references
    ]
    verdicts = iter(_judge_with_one_reference(verifier, pairs, options, control))
    best = []
    for references in alternatives:
        found = list(islice(verdicts, len(references)))
        highest = max(found, key=lambda verdict: -1.0 if verdict.score is None else verdict.score)
        unjudged = (verdict for verdict in found if verdict.score is None)
        best.append(highest if highest.correct else next(unjudged, highest))
    return best


def _judge_with_one_reference(
    verifier: Verifier,
    items: Sequence[TextAndSample],
    options: JudgingOptions,
    control: Control | None,
) -> list[Verdict]:
    given, options = options, options.of(verifier)
    allowed = options.seconds * (1 - HEADROOM)
    thinking = thinking_of(verifier, options.thinking)

    def judge_batch(
        batch: Sequence[TextAndSample], seconds: Sequence[float], *, in_new_workers: bool = False
    ) -> list[VerdictOrCrash]:
        if in_new_workers:  # what a crash left in a worker would meet the next text there
            end_idle_workers(verifier, options)
        if thinking is not None:
            batch = [(text_to_read(text, thinking), sample) for text, sample in batch]
        return _outcomes(
            verifier,
            batch,
            seconds,
            options=options,
            given=given,
            only_in_workers=in_new_workers,
        )

    verdicts: dict[int, Verdict] = {}
    crashed: dict[tuple[bool, int], dict[int, Crash]] = {}
    """By group: those of a group happened in the same place; a crash to judge alone is a group."""
    for i, outcome in enumerate(judge_batch(items, [allowed] * len(items))):
        if isinstance(outcome, Verdict):
            verdicts[i] = outcome
        else:
            group = (outcome.in_worker, i if outcome.alone else -1)
            crashed.setdefault(group, {})[i] = outcome
    for (in_worker, _), crashes in crashed.items():
        judge_there = partial(judge_batch, in_new_workers=in_worker)
        verdicts |= settle_crashes(items, crashes, judge_there, allowed=allowed, control=control)
    for i, verdict in verdicts.items():
        if verdict.spans and thinking is not None:
            text = items[i][0]
            read, at = placed_text_to_read(text, thinking)
            verdicts[i] = verdict.in_text(read, text, at)
    return [verdicts[i] for i in range(len(items))]


def _last_turn(text: str, sample: Sample, keeps_thinking: bool) -> TextAndSample:
    """The item to judge; where a transcript is cut, the column `conversation` has the whole."""
    last = model_text(text)
    if last.startswith(ANALYSIS) and not keeps_thinking:
        last = ""
    if last != text and last != without_special_tokens(text):
        sample = replace(sample, columns={"conversation": text, **sample.columns})
    return last, sample


def _outcomes(
    verifier: Verifier,
    items: Sequence[TextAndSample],
    seconds: Sequence[float],
    *,
    options: JudgingOptions,
    given: JudgingOptions,
    only_in_workers: bool,
) -> list[VerdictOrCrash]:
    """Return the outcome of each item within its seconds; `given` are the caller's own options."""
    if overrides(verifier, "judge_batch"):
        return _batch_outcomes(verifier, items, seconds, given)
    if isinstance(verifier, Combination) and judges_by_member(verifier):
        judge_member = partial(
            _outcomes, options=options, given=given, only_in_workers=only_in_workers
        )
        return _judge_by_member(verifier, items, seconds, judge_member)
    outcomes: list[VerdictOrCrash | None] = [None] * len(items)
    if overrides(verifier, "quick") and not only_in_workers:
        outcomes = [run_quick(verifier.quick, text, sample) for text, sample in items]
    tries = FORK_SERVERS
    while waiting := outcomes.count(None):
        try:
            _judge_in_workers(verifier, items, seconds, outcomes, options)
        except ForkServerGone:  # once more, with another one
            tries = FORK_SERVERS if outcomes.count(None) < waiting else tries - 1
            if not tries:
                raise
    return [outcome for outcome in outcomes if outcome is not None]


def _batch_outcomes(
    verifier: Verifier,
    items: Sequence[TextAndSample],
    seconds: Sequence[float],
    options: JudgingOptions,
) -> list[VerdictOrCrash]:
    """Return the outcome of each item; if the caller sets no timeout, within its own limits."""
    wall = math.inf
    if options.timeout is not None or options.max_wall is not None:
        wall = options.backstop * (1 - HEADROOM)
    if options.timeout is None:
        seconds = [math.inf] * len(items)
    try:
        judged = list(verifier.judge_within(items, seconds, max_wall=wall, workers=options.workers))
        if len(judged) != len(items):
            raise ValueError(f"{len(judged)} verdicts on {len(items)} texts")
        return [
            _of_batch(result) if isinstance(result, Exception) else Verdict.of(result)
            for result in judged
        ]
    except (KeyboardInterrupt, UsageError):  # the caller's
        raise
    except BaseException as error:  # a verifier may raise anything; each text is judged alone
        return [_of_batch(error)] * len(items)


def _of_batch(error: BaseException) -> VerdictOrCrash:
    """The outcome of an error of a batch: another text, or the machine, may be to blame."""
    outcome = outcome_of_error(error, in_worker=False)
    if isinstance(outcome, Crash):
        return replace(outcome, alone=True, used_up=isinstance(error, ResourcesUsedUp))
    return outcome


def _judge_in_workers(
    verifier: Verifier,
    items: Sequence[TextAndSample],
    seconds: Sequence[float],
    outcomes: list[VerdictOrCrash | None],
    options: JudgingOptions,
) -> None:
    """Fill in the missing outcomes, in worker processes."""
    waiting = [index for index, outcome in enumerate(outcomes) if outcome is None]
    call = running_call()
    workers = options.workers or available_cores()
    backstop = options.backstop * (1 - HEADROOM)
    if is_async(verifier):
        spread = min(workers, verdicts_at_once(verifier), len(waiting))
        at_once = verdicts_at_once(verifier) // spread
        size = -(-len(waiting) // spread)
    else:
        at_once = 0
        size = max(1, min(CHUNK, len(waiting) // (2 * workers)))

    def judge_chunk(left: list[int], at_once: int = at_once) -> None:
        while left:  # a lost worker leaves some
            call.check()
            batch, allowed = [items[index] for index in left], [seconds[index] for index in left]
            with pool.borrow(workers) as worker:
                judged = worker.judge(batch, allowed, backstop, at_once)
            if at_once:
                pool.warn_of_blocking(verifier, worker, min(allowed))
            for place, outcome in judged.items():
                outcomes[left[place]] = outcome
            left = [index for place, index in enumerate(left) if place not in judged]

    def judge_alone(index: int) -> None:
        judge_chunk([index], min(at_once, 1))

    chunks = [waiting[start : start + size] for start in range(0, len(waiting), size)]
    with pool_in_use(verifier, options) as pool:
        if len(chunks) == 1:
            judge_chunk(chunks[0])
        else:
            with ThreadPoolExecutor(min(workers, len(chunks))) as threads:
                list(threads.map(judge_chunk, chunks))
        if alone := [index for index in waiting if outcomes[index] is None]:
            with ThreadPoolExecutor(min(workers, len(alone))) as threads:
                list(threads.map(judge_alone, alone))


def _judge_by_member(
    verifier: Combination,
    items: Sequence[TextAndSample],
    seconds: Sequence[float],
    judge_member: Callable[
        [Verifier, Sequence[TextAndSample], Sequence[float]], list[VerdictOrCrash]
    ],
) -> list[VerdictOrCrash]:
    """Return the outcome of each item. Each member has the item's seconds for itself.

    In a worker, waiting for a server would count against the deadline of all members.
    """
    texts: list[Mapping[str, str]] = []
    outcomes: list[dict[str, VerdictOrCrash]] = [{} for _ in items]
    failed: dict[int, VerdictOrCrash] = {}
    for i, (text, sample) in enumerate(items):
        try:
            texts.append(verifier.texts_for(text, sample))
        except KeyboardInterrupt:  # the caller's
            raise
        except BaseException as error:  # a form may raise anything; the batch goes on
            texts.append({})
            failed[i] = outcome_of_error(error, in_worker=False)
    for name, member in verifier.members.items():
        chosen = [i for i, by_name in enumerate(texts) if name in by_name]
        batch = [(texts[i][name], items[i][1]) for i in chosen]
        judged = judge_member(member, batch, [seconds[i] for i in chosen]) if chosen else []
        for i, outcome in zip(chosen, judged, strict=True):
            outcomes[i][name] = outcome
    return [
        failed.get(i) or _combined(verifier, text, sample, outcomes[i])
        for i, (text, sample) in enumerate(items)
    ]


def _combined(
    verifier: Combination, text: str, sample: Sample, outcomes: Mapping[str, VerdictOrCrash]
) -> VerdictOrCrash:
    verdicts = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Verdict)}
    crashes = [outcome for outcome in outcomes.values() if isinstance(outcome, Crash)]
    try:
        combined = verifier.combine(text, sample, verdicts)
    except KeyboardInterrupt:  # as above
        raise
    except BaseException as error:
        return outcome_of_error(error, in_worker=False)
    if crashes:
        return replace(crashes[0], partial=combined if verdicts else None)
    return combined
