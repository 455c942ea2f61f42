"""Whose fault a crash is: the text's, or the verifier's and the reference's.

A verifier that raises on one text must not leave it unjudged: a model could learn to escape its
grade. So a control text is judged with the same sample. Where that doesn't crash, the text is to
blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rewardkit.judging.outcomes import Crash, Outcome
from rewardkit.judging.worker import Item
from rewardkit.records import Failure, Sample, Verdict

Control = Callable[[Sample], str]
"""Gives a sample's perfect completion, as `Task.perfect` does."""

_USUAL_FORM = (
    "<think>\n{0}\n</think>\n<reasoning>\n{0}\n</reasoning>\n"
    "<answer>\n{0}\n</answer>\n\\boxed{{{0}}}\n#### {0}"
)
"""The reference in the forms that verifiers commonly look for."""


JudgeItems = Callable[[Sequence[Item], Sequence[float]], list[Outcome]]
"""Gives the outcomes of items, each within its seconds."""

AGAIN = 0.25
"""A text that is judged again has what is left of its deadline, and at least this share of it."""


def settle_crashes(
    items: Sequence[Item],
    crashes: Mapping[int, Crash],
    judge: JudgeItems,
    *,
    allowed: float,
    control: Control | None,
) -> dict[int, Verdict]:
    """Return the verdicts on the items that crashed, by their index.

    Each is judged once more first. A text that crashes again is wrong where a control text gets a
    verdict; where none does, it is unjudged.
    """
    left = [max(allowed - crash.seconds, AGAIN * allowed) for crash in crashes.values()]
    again = judge([items[index] for index in crashes], left)
    verdicts = {
        index: outcome
        for index, outcome in zip(crashes, again, strict=True)
        if isinstance(outcome, Verdict) and outcome.failure is not Failure.TIMEOUT
    }
    pending = {index: crash for index, crash in crashes.items() if index not in verdicts}
    controls = {index: control_texts(items[index][1], control) for index in pending}
    while pending:
        texts = {
            index: text for index in pending if (text := next(controls[index], None)) is not None
        }
        verdicts |= {index: pending[index].unjudged() for index in pending if index not in texts}
        batch = [(text, items[index][1]) for index, text in texts.items()]
        for index, outcome in zip(texts, judge(batch, [allowed] * len(batch)), strict=True):
            if isinstance(outcome, Verdict) and outcome.correct is not None:
                verdicts[index] = pending[index].blamed_on_text()
        pending = {index: crash for index, crash in pending.items() if index not in verdicts}
    return verdicts


def control_texts(sample: Sample, control: Control | None) -> Iterator[str]:
    """Yield the task's perfect completion; else the reference, alone and in the usual forms."""
    if control is not None:
        try:
            yield control(sample)
            return
        except Exception:  # a plugin's task may raise anything, and the sample may lack columns
            pass
    yield sample.reference
    yield _USUAL_FORM.format(sample.reference)
