"""OpenRLHF's executor loads the reward file and calls it after each generation."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from shared_cases import adapter_file, cases, check_cases, scores

PROMPT = "What is it? "


class Tokenizer:
    """Each character is a token."""

    def __call__(self, *, text: str, **_: object) -> dict[str, Any]:
        return {"input_ids": torch.tensor([[ord(character) for character in text]])}

    def decode(self, ids: list[int], **_: object) -> str:
        return "".join(map(chr, ids))


class Engine:
    """Generates a text that is known before."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def generate(self, *_: object, **__: object) -> Any:
        ids = [ord(character) for character in self._text]
        output = SimpleNamespace(token_ids=ids, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def outputs(executor: Any, verifier: str) -> list[dict[str, Any]]:
    """OpenRLHF's outputs for the cases, all generated at once."""
    settings = SimpleNamespace(max_tokens=10, logprobs=None)

    async def generate() -> list[dict[str, Any]]:
        calls = [
            executor.execute(PROMPT, label, settings, 10**6, Tokenizer(), Engine(text))
            for text, label in cases(verifier)
        ]
        return list(await asyncio.gather(*calls))

    return asyncio.run(generate())


def executed(executor: Any, prompt: str, reply: str, *, most: int = 10**6) -> Any:
    """OpenRLHF's output for a prompt and a reply, with the prompt's last `most` - 10 tokens."""
    return asyncio.run(
        executor.execute(
            prompt=prompt,
            label="4",
            sampling_params=SimpleNamespace(max_tokens=10, logprobs=None),
            max_length=most,
            hf_tokenizer=Tokenizer(),
            llm_engine=Engine(reply),
            images=None,
        )
    )


LONG = r"Is the number \boxed{4}, or is it another one? Think about it, then say so. "


@pytest.mark.parametrize("most", [10**6, 60])
@pytest.mark.parametrize(("reply", "reward"), [("I do not know.", 0.0), (r"\boxed{4}", 1.0)])
def test_the_prompt_s_answer_does_not_pay(
    reply: str, reward: float, most: int, tmp_path: Path
) -> None:
    agent = importlib.import_module("openrlhf.utils.agent")
    from rewardkit.frameworks.openrlhf import agent_executor

    by_text = agent.SingleTurnAgentExecutor([adapter_file("openrlhf", "math", tmp_path)])
    for executor in (by_text, agent_executor("math")()):
        output = executed(executor, LONG, reply, most=most)
        assert (output["reward"], output["scores"]) == (reward, reward)
        assert output["extra_logs"]["unjudged"] == 0.0


@pytest.mark.parametrize("verifier", ["math", "regex"])
def test_the_verdicts_are_those_of_verify_batch(verifier: str, tmp_path: Path) -> None:
    check_cases()
    agent = importlib.import_module("openrlhf.utils.agent")
    executor = agent.SingleTurnAgentExecutor([adapter_file("openrlhf", verifier, tmp_path)])
    judged = outputs(executor, verifier)
    assert [output["reward"] for output in judged] == scores(verifier)
    assert [output["scores"] for output in judged] == scores(verifier)
    assert sum(output["extra_logs"]["unjudged"] for output in judged) >= 1
    shapes = {tuple(torch.tensor([output["reward"]]).shape) for output in judged}
    assert shapes == {(1,)}  # as the trainer's samples hold it
