"""Rewards with a judge beside the rule: batched, within a budget, and never 0 for its faults."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.endpoint import client
from rewardkit.errors import UsageError
from rewardkit.trainers import reward_funcs
from rewardkit.verifiers.judge.verifier import UNRELATED
from tests.support.judge_server import Handler, JudgeServer, judging_server

pytestmark = pytest.mark.slow

TEXTS = [r"\boxed{18}", r"\boxed{\text{thrice six}}", r"\boxed{19}", "I give up"]
COLUMNS: dict[str, Any] = {"reference": ["18"] * 4, "question": [f"Q{n}?" for n in range(4)]}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(client, "FIRST_PAUSE", 0.01)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judging_server(knows_words) as running:
        yield running


def knows_words(prompt: str) -> str:
    return "S" if "thrice six" in prompt and UNRELATED not in prompt else "D"


def settings(server: JudgeServer, **more: Any) -> dict[str, Any]:
    given = {"base_url": server.url, "model": "m", "timeout": 5, **more}
    return {f"judge.{name}": value for name, value in given.items()}


def rewards(server: JudgeServer, **more: Any) -> list[float | None]:
    (function,), _ = reward_funcs("math", rescue="judge", verifier_args=settings(server, **more))
    return function(TEXTS, **COLUMNS)


def test_a_judge_rescues_rewards_of_one_batch_at_once(server: JudgeServer) -> None:
    assert rewards(server) == [1.0, 1.0, 0.0, 0.0]
    assert len(server.prompts) == 3  # two wrong answers, and one control
    assert "Q1?" in server.prompts[0] + server.prompts[1]


def test_what_the_budget_of_a_step_does_not_cover_has_no_reward(server: JudgeServer) -> None:
    over = threading.Event()

    def answer(handler: Handler, prompt: str) -> None:
        if "19" in prompt:
            over.wait(60)
        handler.reply(knows_words(prompt))

    server.answer = answer
    assert rewards(server, budget=2.0, timeout=60) == [1.0, 1.0, None, 0.0]
    over.set()


def test_a_judge_that_is_down_has_no_reward(server: JudgeServer) -> None:
    server.answer = lambda handler, _: handler.send(500, {})
    assert rewards(server) == [1.0, None, None, 0.0]


def test_only_confirm_takes_a_reward_away(server: JudgeServer) -> None:
    given = settings(server)
    (function,), _ = reward_funcs("math", confirm="judge", verifier_args=given)
    assert function(TEXTS, **COLUMNS) == [0.0, 0.0, 0.0, 0.0]
    assert [judge.model for judge in function.judges] == ["m"]
    assert pickle.loads(pickle.dumps(function)).judges == function.judges


def test_parameters_of_a_judge_need_a_judge(server: JudgeServer) -> None:
    with pytest.raises(UsageError):
        reward_funcs("math", verifier_args=settings(server))
    with pytest.raises(UsageError, match="--rescue takes the verifier judge"):
        reward_funcs("math", rescue="exact")
