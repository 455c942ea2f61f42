"""The scripts with models of their own: what they show them, and how they train them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from rewardkit import load_task
from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.motion import MotionFormat
from tests.examples.scripts import EXAMPLES, load_script

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


def test_the_raw_set_has_its_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("train_mixed_tiny", monkeypatch)
    script.write_task(tmp_path)
    raw, new = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("train.jsonl", "test.jsonl")
    )
    assert Counter(row["kind"] for row in new) == dict.fromkeys(script.KINDS, 200)
    questions = Counter(row["question"] for row in raw)
    assert not questions.keys() & {row["question"] for row in new}
    assert 15 < sum(count - 1 for count in questions.values()) < 50
    kinds = Counter({row["question"]: row["kind"] for row in raw}.values())
    assert [kinds[kind] for kind in script.KINDS] == [400, 200, 400]

    def wrong(row: dict[str, str]) -> bool:
        steps = [step.rsplit(" ", 1) for step in row["question"].split(", ")]
        return bool(row["answer"] != script.formula(steps))

    assert 70 < sum(map(wrong, raw)) < 140
    assert not any(map(wrong, new))


def test_a_stage_of_no_steps_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("warm_start", monkeypatch)
    drawn: list[tuple[str, int, str]] = []

    def first(count: int, seed: str) -> list[tuple[str, str]]:
        drawn.append(("first", count, seed))
        return [("1", "2")]

    def second(count: int, seed: str) -> list[tuple[str, str]]:
        drawn.append(("second", count, seed))
        return [("1", "2")]

    monkeypatch.setattr(sys, "argv", ["", "--output", str(tmp_path), "--steps", "0", "2"])
    script.make(
        about="Two stages.", phrases=(), characters="12", stages={first: 9, second: 9}, batch=4
    )
    assert drawn == [("second", 4, "0/1"), ("second", 4, "0/2")]
    assert LlamaForCausalLM.from_pretrained(tmp_path).num_parameters()


def test_no_steps_leave_the_weights_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("warm_start", monkeypatch)
    model = script.network(8)
    before = [weights.clone() for weights in model.parameters()]
    script.train(model, lambda step: None, steps=0, rate=1e-3)
    after = model.parameters()
    assert all(map(torch.equal, before, after))


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_never_writes_into_the_documentation(script: str) -> None:
    assert "docs/images" not in (EXAMPLES / script).read_text()
