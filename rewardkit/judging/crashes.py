"""The outcome of a verifier call, a verdict or a crash, and who is to blame for a crash.

A text that crashes the verifier must not stay unjudged: a model could learn to escape its grade. So
the verifier also judges a control text, which must work, with the same sample in the same place. If
the control gets a verdict, the text is to blame; if the control crashes too, the verifier is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rewardkit.errors import Unavailable
from rewardkit.protocols import Verifier, overrides
from rewardkit.records import Failure, Sample, Verdict

LONGEST_MESSAGE = 2000
"""Characters of an exception's text that a verdict keeps."""

TextAndSample = tuple[str, Sample]


@dataclass(frozen=True, slots=True)
class Crash:
    """A verifier raised, or ended its worker. It isn't decided yet who is to blame.

    `partial` is the last verdict of a verifier in stages before the crash. `seconds` is the time of
    the call. `in_worker` is False if the caller's process ran the verifier. `alone`: the text must
    be judged alone, because other texts may have ended the process or used up its memory.
    `used_up`: the machine had no memory or no processes left.
    """

    message: str
    partial: Verdict | None = None
    seconds: float = 0.0
    in_worker: bool = True
    alone: bool = False
    used_up: bool = False

    def blamed_on_text(self) -> Verdict:
        """The verdict when the text is to blame: wrong."""
        if self.partial is None or self.partial.score is None:
            return Verdict.wrong(Failure.CRASHED, message=self.message)
        return replace(self.partial, correct=False, failure=Failure.CRASHED, message=self.message)


VerdictOrCrash = Verdict | Crash


def run_stages(
    verifier: Verifier, text: str, sample: Sample
) -> Iterator[tuple[VerdictOrCrash, bool]]:
    """Yield the outcome and True; for a verifier in stages, first each verdict so far and False."""
    verdict: Verdict | None = None
    try:
        if overrides(verifier, "stages"):
            for stage in verifier.stages(text, sample):
                verdict = Verdict.of(stage)
                yield verdict, False
            if verdict is None:
                raise ValueError("stages() yielded no verdict")
        else:
            verdict = Verdict.of(verifier(text, sample))
    except GeneratorExit:
        raise
    except BaseException as error:  # a verifier may raise anything; the batch goes on
        yield outcome_of_error(error, verdict), True
    else:
        yield verdict, True


def run_quick(
    quick: Callable[[str, Sample], Verdict | None], text: str, sample: Sample
) -> VerdictOrCrash | None:
    """The outcome of a verifier's `quick`; None if a worker must judge the text."""
    try:
        judged = quick(text, sample)
        return None if judged is None else Verdict.of(judged)
    except (RecursionError, MemoryError):  # the caller may have used up its own; a worker has more
        return None
    except KeyboardInterrupt:  # the caller's
        raise
    except BaseException as error:  # a verifier may raise anything; the batch goes on
        return outcome_of_error(error, in_worker=False)


def outcome_of_error(
    error: BaseException, partial: Verdict | None = None, *, in_worker: bool = True
) -> VerdictOrCrash:
    """The outcome of a call that raised: a crash, unless no text can be to blame."""
    if isinstance(error, (Unavailable, ImportError)):
        return Verdict.unjudged(f"the verifier is unavailable: {_describe(error)}")
    message = f"the verifier raised {_describe(error)}"
    if not in_worker and isinstance(error, (MemoryError, RecursionError)):
        return Verdict.unjudged(f"{message}: in the calling process, which has a limit of its own")
    return Crash(message, partial, in_worker=in_worker, alone=isinstance(error, MemoryError))


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)[:LONGEST_MESSAGE]
    except Exception:  # an exception's own code may raise, too
        return name
    return f"{name}: {text}" if text else name


Control = Callable[[Sample], str]
"""Gives a sample's perfect completion, as `Task.perfect` does."""

JudgeBatch = Callable[[Sequence[TextAndSample], Sequence[float]], list[VerdictOrCrash]]
"""Gives the outcomes of items, each within its seconds."""

AGAIN = 0.25
"""The least share of its deadline that a text has when it is judged again."""

USUAL_FORM = (
    "<think>\n{0}\n</think>\n<reasoning>\n{0}\n</reasoning>\n"
    "<answer>\n{0}\n</answer>\n\\boxed{{{0}}}\n#### {0}"
)
"""The reference in the forms that verifiers commonly look for."""


def settle_crashes(
    items: Sequence[TextAndSample],
    crashes: Mapping[int, Crash],
    judge: JudgeBatch,
    *,
    allowed: float,
    control: Control | None,
) -> dict[int, Verdict]:
    """Return the verdicts on the items that crashed, by their index.

    Each item is judged once more first. If the text crashes the verifier again, the text is wrong
    if a control text gets a verdict, and unjudged if none does. `judge` runs the verifier where the
    crashes happened, in new processes.
    """
    left = [max(allowed - crash.seconds, AGAIN * allowed) for crash in crashes.values()]
    again = judge([items[index] for index in crashes], left)
    verdicts = {
        index: verdict
        for index, outcome in zip(crashes, again, strict=True)
        if (verdict := _known(outcome))
    }
    pending = {index: crash for index, crash in crashes.items() if index not in verdicts}
    controls = {index: _control_texts(items[index][1], control) for index in pending}
    for attempt in range(max(map(len, controls.values()), default=0)):
        texts = {i: controls[i][attempt] for i in pending if attempt < len(controls[i])}
        if not texts:
            break
        batch = [(text, _with_control(items[index][1], text)) for index, text in texts.items()]
        for index, outcome in zip(texts, judge(batch, [allowed] * len(batch)), strict=True):
            verdict = _known(outcome)
            if verdict is not None and verdict.correct is not None:
                verdicts[index] = pending.pop(index).blamed_on_text()
    return verdicts | {
        index: Verdict.unjudged(f"{crash.message}; so does a control text")
        for index, crash in pending.items()
    }


def _known(outcome: VerdictOrCrash) -> Verdict | None:
    """The verdict that settles a crash, if any. A timeout settles nothing."""
    if isinstance(outcome, Crash):
        used_up = f"{outcome.message}; the machine's resources are used up"
        return Verdict.unjudged(used_up) if outcome.used_up else None
    return None if outcome.failure is Failure.TIMEOUT else outcome


def _with_control(sample: Sample, text: str) -> Sample:
    """The sample as if the model had written the control text: without calls of tools."""
    columns = {name: value for name, value in sample.columns.items() if name != "tool_calls"}
    if isinstance(columns.get("conversation"), list):
        columns["conversation"] = [{"role": "assistant", "content": text}]
    elif "conversation" in columns:
        columns["conversation"] = text
    return replace(sample, columns=columns)


def _control_texts(sample: Sample, control: Control | None) -> list[str]:
    """The task's perfect completion; else the reference, alone and in the usual forms."""
    if control is not None:
        with contextlib.suppress(Exception):  # a task may raise anything; columns may be missing
            return [control(sample)]
    return [sample.reference, USUAL_FORM.format(sample.reference)]
