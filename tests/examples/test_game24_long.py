"""The story of replies that are cut off: what the model was taught, and what the script reads."""

from __future__ import annotations

import statistics
from pathlib import Path
from types import ModuleType

import pytest
from transformers import PreTrainedTokenizerFast

from rewardkit import load_task
from rewardkit.records import Sample, Verdict
from tests.examples.scripts import load_script
from tests.trainers.conftest import DRAW_CURVE, write_points

pytestmark = pytest.mark.engines


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_script("game24_long_story", monkeypatch)


def test_three_quarters_of_the_traces_fit_the_limit(
    story: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = load_script("train_game24_long", monkeypatch)
    tokens = PreTrainedTokenizerFast.from_pretrained(story.MODEL)
    task = load_task("game24")
    verify = task.verifier()
    test = {sample.question for sample in task.load(data=None, split="test", seed=0)}
    *_, traces = script.STAGES
    lengths = []
    for batch in range(30):
        for prompt, reply in traces(48, f"test/{batch}"):
            hand = prompt.removesuffix(" =>")
            assert hand not in test
            ids = tokens.encode(reply)
            assert tokens.unk_token_id not in ids
            lengths.append(len(ids) + 1)
            verdict = Verdict.of(verify(reply, Sample(hand)))
            assert verdict.correct
            assert verdict.parts["process"] == 1
    assert statistics.quantiles(lengths, n=4)[2] == pytest.approx(story.LIMIT, rel=0.15)


def test_the_story_reads_and_draws_what_its_training_wrote(
    story: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DRAW_CURVE, write_points)
    monkeypatch.setattr(story, "LIMIT", 64)  # short, for a quick step
    story.reinforce(tmp_path, steps=1, every=1, seed=0, limit=16)
    entries = story.evaluated(tmp_path)
    assert [entry["step"] for entry in entries] == [0, 1]
    rates = [[story.value(entry, rate) for rate in story.RATES] for entry in entries]
    assert [sum(own) for own in rates] == pytest.approx([1, 1])
    assert story.row(0, entries[0]).startswith(f"| 0, 0 | {rates[0][0]:.1%} | ")
    assert story.tokens(entries[0], 0) < story.tokens(entries[0], 1) == story.LIMIT
    assert story.change(tmp_path, 1, "unfinished_rate").startswith(
        f"{100 * (rates[1][1] - rates[0][1]):+.1f} pts ["
    )
    story.draw({0: entries}, tmp_path / "story.png")
    assert (tmp_path / "story.png").stat().st_size


@pytest.mark.faults  # a minute of training
def test_half_as_many_new_hands_are_cut_off_and_more_are_solved(
    story: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DRAW_CURVE, write_points)
    story.reinforce(tmp_path, steps=8, every=8, seed=0, limit=100)
    before, after = story.evaluated(tmp_path)
    assert story.value(before, "unfinished_rate") >= 0.2
    assert story.value(before, "part_process") >= 0.9
    assert story.value(after, "unfinished_rate") <= story.value(before, "unfinished_rate") / 2
    assert story.value(after, "accuracy") >= story.value(before, "accuracy") + 0.05
    assert story.tokens(after, 0.5) < story.tokens(before, 0.5)
