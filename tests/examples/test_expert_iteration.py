"""The script of expert iteration: its commands work on few hands, and its rows add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.scripts import load_script
from tests.support.commands import run_command

pytestmark = pytest.mark.engines


def test_a_round_plays_keeps_what_is_right_and_learns_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script("expert_iteration", monkeypatch)
    commands: list[tuple[object, ...]] = []

    def run(*arguments: object) -> None:
        commands.append(arguments)
        assert run_command(*arguments) == 0

    monkeypatch.setattr(script, "run", run)
    shorter = [word.replace(str(script.LIMIT), "104") for word in script.SAMPLING]
    monkeypatch.setattr(script, "SAMPLING", shorter)
    script.story(tmp_path / "story", 0, rounds=1, hands=6, samples=2, test=1)
    printed = capsys.readouterr().out
    assert [command[0] for command in commands] == [
        *("data", "eval"),  # the model as it is, on new hands
        *("data", "eval", "data", "train", "eval"),
    ]
    assert "| 0, 0 | – |" in printed
    learnt = (tmp_path / "story" / "round-1" / "rows.jsonl").read_text().splitlines()
    assert f"| 0, 1 | {len(learnt)} |" in printed
    assert "seed 0, round 1: accuracy " in printed
