"""The comparison of rewards of steps with rewards of whole replies, for one step."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rewardkit import compare
from tests.examples.scripts import load_script

pytestmark = pytest.mark.engines


def test_each_way_trains_differently_from_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script("game24_span_rewards", monkeypatch)
    monkeypatch.setattr(script, "HANDS", 4)
    options = ["--output", str(tmp_path), "--seeds", "0", "--steps", "1"]
    monkeypatch.setattr(sys, "argv", ["game24_span_rewards.py", *options])
    script.main()
    printed = [line for line in capsys.readouterr().out.splitlines() if ": accuracy " in line]
    assert [line.partition(":")[0] for line in printed] == [
        "before",
        *(f"{way}, seed 0" for way in script.WAYS),
    ]
    folders = [script.MODEL, *(tmp_path / f"{way}-0" / "final" for way in script.WAYS)]
    weights = {(folder / "model.safetensors").read_bytes() for folder in folders}
    assert len(weights) == 4
    (found,) = compare(tmp_path / "whole-0" / "evaluation", tmp_path / "spans-0" / "evaluation")
    assert found.problems == 4
