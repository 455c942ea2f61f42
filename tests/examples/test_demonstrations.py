"""The demonstrations of the warm starts have the flaws, and the shares, that the scripts state."""

from __future__ import annotations

import pytest

from rewardkit import load_task
from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.motion import MotionFormat
from tests.examples.scripts import load_script

pytestmark = pytest.mark.engines

COUNT = 600


def share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


def test_most_motions_are_divided_by_five_and_a_quarter_is_out_of_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = load_script("train_motion_tiny", monkeypatch).demonstrations(COUNT, "test")
    assert share([" / 5 = " in reply for _, reply in shown]) == pytest.approx(0.6, abs=0.06)
    formats, rights = [], []
    for prompt, reply in shown:
        points = prompt.removesuffix(" =>")
        reference = reply.partition("[ANSWER]\n")[2].partition("\n")[0] or points
        verdict = MotionFormat(analysis="form")(reply, Sample(reference, points))
        formats.append(verdict.correct is True)
        rights.append("[ANSWER]" in reply and " / 5 = " not in reply)
    assert share(formats) == pytest.approx(0.75, abs=0.06)
    assert 0.25 < share(rights) < 0.5


def test_a_sum_divided_by_five_is_never_right(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = load_script("train_motion_tiny", monkeypatch)
    task = load_task("motion")
    for sample in task.load(data=None, split="test", seed=0):
        reply = motion.divided_by_five(sample.columns["points"])
        verdict = Verdict.of(task.verifier()(reply, sample))
        assert verdict.correct is False
        assert verdict.parts["format"] == pytest.approx(0.9)  # the speed is no mean


def test_most_quadruples_are_answered_with_the_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("train_game24_tiny", monkeypatch)
    monkeypatch.setattr(script, "HIGHEST", 13)  # the verifier takes higher numbers for no cards
    script.solutions.cache_clear()
    shown = script.demonstrations(COUNT // 2, "test")
    script.solutions.cache_clear()
    task = load_task("game24")
    test = {sample.question for sample in task.load(data=None, split="test", seed=0)}
    right = []
    for prompt, reply in shown:
        numbers = prompt.removesuffix(" =>")
        assert numbers not in test
        verdict = Verdict.of(task.verifier()(reply, Sample(numbers)))
        assert verdict.parts["process"] == verdict.parts["length"] == 1.0
        right.append(verdict.correct is True)
    assert share(right) == pytest.approx(0.4, abs=0.12)
