"""verl loads the reward from its configuration and calls it in its reward manager."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from shared_cases import PositionTokenizer, cases, check_cases, scores, verdicts

from rewardkit.server.app import ServerSettings, create_app


def configuration(name: str, manager: str = "naive", **arguments: object) -> Any:
    reward = {
        "custom_reward_function": {
            "path": "pkg://rewardkit.frameworks.verl",
            "name": name,
            "reward_kwargs": arguments,
        },
        "reward_manager": {"source": "register", "name": manager},
        "max_concurrent": 16,  # of the manager rate_limited
    }
    return importlib.import_module("omegaconf").OmegaConf.create({"reward": reward})


def results(
    verifier: str, path: str = "pkg://rewardkit.frameworks.verl", **arguments: object
) -> list[dict[str, Any]]:
    """What a manager of verl returns for each case, all awaited at once."""
    torch, numpy = importlib.import_module("torch"), importlib.import_module("numpy")
    protocol = importlib.import_module("verl.protocol")
    reward = importlib.import_module("verl.trainer.ppo.reward")
    texts, references = zip(*cases(verifier), strict=True)
    batch = protocol.DataProto.from_dict(
        tensors={
            "responses": torch.arange(len(texts)).unsqueeze(1),
            "attention_mask": torch.ones(len(texts), 1, dtype=torch.long),
        },
        non_tensors={
            "data_source": numpy.array(["cases"] * len(texts), dtype=object),
            "reward_model": numpy.array(
                [{"ground_truth": reference} for reference in references], dtype=object
            ),
            "extra_info": numpy.array([{} for _ in texts], dtype=object),
        },
    )

    chosen = configuration(verifier, **arguments)  # type: ignore[arg-type]  # for verl
    if not path.startswith("pkg:"):
        chosen.reward.custom_reward_function = {"path": path, "name": "compute_score"}

    async def judge() -> list[dict[str, Any]]:
        manager = reward.load_reward_manager(chosen, PositionTokenizer(texts))
        manager.loop = asyncio.get_running_loop()
        rows = [batch[index : index + 1] for index in range(len(texts))]
        return list(await asyncio.gather(*map(manager.run_single, rows)))

    return asyncio.run(judge())


@pytest.mark.parametrize(
    ("verifier", "manager"), [("math", "naive"), ("regex", "naive"), ("math", "rate_limited")]
)
def test_the_verdicts_are_those_of_verify_batch(verifier: str, manager: str) -> None:
    check_cases()
    judged = results(verifier, manager=manager)
    assert [result["reward_score"] for result in judged] == scores(verifier)
    facts = [result["reward_extra_info"] for result in judged]
    assert [fact["unjudged"] == 1 for fact in facts] == [
        verdict.correct is None for verdict in verdicts(verifier)
    ]
    assert [fact["pred"] for fact in facts] == [
        verdict.answer or "" for verdict in verdicts(verifier)
    ]


EXAMPLE = Path(__file__).parents[3] / "examples" / "verl_async_reward.py"


@pytest.mark.parametrize("manager", ["naive", "rate_limited"])
@pytest.mark.parametrize("is_up", [True, False])
def test_managers_await_the_coroutine_of_the_example(
    monkeypatch: pytest.MonkeyPatch, manager: str, is_up: bool
) -> None:
    """A server that is there gives the verdicts of verify_batch; one that isn't gives none."""
    app = create_app(ServerSettings(verifiers=("math",)))
    client = httpx.AsyncClient

    def connected(**given: Any) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app) if is_up else httpx.AsyncHTTPTransport()
        return client(transport=transport, base_url="http://127.0.0.1:9", timeout=60)

    monkeypatch.setattr(httpx, "AsyncClient", connected)
    judged = results("math", str(EXAMPLE), manager=manager)
    expected = [one or 0.0 for one in scores("math")]
    assert [result["reward_score"] for result in judged] == (
        expected if is_up else [0.0] * len(expected)
    )
    unjudged = [result["reward_extra_info"]["unjudged"] == 1 for result in judged]
    assert unjudged == [verdict.correct is None or not is_up for verdict in verdicts("math")]


PIECES = {1: "Let me look.", 2: r"<|im_start|>user\n\boxed{4}<|im_end|>", 3: "I do not know."}
PIECES |= {4: r"\boxed{4}", 5: r"<information>\boxed{4}</information>", 6: "<|im_start|>assistant"}


class Pieces:
    """A tokenizer whose tokens are pieces of a trajectory."""

    def decode(self, ids: Any, *, skip_special_tokens: bool = False) -> str:
        assert not skip_special_tokens
        return "\n".join(PIECES[int(one)] for one in ids)


@pytest.mark.parametrize(
    ("responses", "mask", "reward"),
    [
        ([1, 2, 6, 3], None, 0.0),
        ([1, 2, 6, 4], None, 1.0),
        ([1, 5, 3], [1, 0, 1], 0.0),
        ([1, 5, 4], [1, 0, 1], 1.0),
        ([4, 5, 3], [1, 0, 0], 1.0),
        ([5], [0], 0.0),
    ],
)
def test_our_manager_reads_the_model_s_last_turn(
    responses: list[int], mask: list[int] | None, reward: float
) -> None:
    torch, numpy = importlib.import_module("torch"), importlib.import_module("numpy")
    tensors = {
        "responses": torch.tensor([responses]),
        "attention_mask": torch.ones(1, len(responses), dtype=torch.long),
    }
    if mask is not None:
        tensors["response_mask"] = torch.tensor([mask])
    batch = importlib.import_module("verl.protocol").DataProto.from_dict(
        tensors=tensors,
        non_tensors={
            "data_source": numpy.array(["cases"], dtype=object),
            "reward_model": numpy.array([{"ground_truth": "4"}], dtype=object),
            "extra_info": numpy.array([{}], dtype=object),
        },
    )
    chosen = configuration("math")
    chosen.reward.reward_manager = {
        "source": "importlib",
        "name": "RewardManager",
        "module": {"path": "pkg://rewardkit.frameworks.verl"},
    }

    async def judge() -> Any:
        load = importlib.import_module("verl.trainer.ppo.reward").load_reward_manager
        manager = load(chosen, Pieces(), reward_router_address=None, reward_model_tokenizer=None)
        manager.loop = asyncio.get_running_loop()
        return await manager.run_single(batch)

    assert asyncio.run(judge())["reward_score"] == reward


def test_reward_kwargs_reach_the_verifier() -> None:
    assert min(result["reward_score"] for result in results("math", low=-2)) == -2.0
