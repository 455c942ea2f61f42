"""A tiny local model as judge, end to end: a run, a checkpoint that replies, verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import run_command
from tests.support.judge_server import judging_server
from tests.support.rows import write_rows
from tests.support.tiny import build

pytestmark = pytest.mark.engines


def tiny_judge(folder: Path, *, one_of: tuple[str, ...] | None) -> Callable[[str], str]:
    """A checkpoint that replies with one token: any, or the likeliest of `one_of`."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = (
        kind.from_pretrained(folder) for kind in (AutoModelForCausalLM, AutoTokenizer)
    )
    allowed = [tokenizer.encode(word, add_special_tokens=False)[-1] for word in one_of or ()]

    def say(prompt: str) -> str:
        turns = [{"role": "user", "content": prompt[-400:]}]
        text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        with torch.no_grad():
            scores = model(**tokenizer(text, return_tensors="pt")).logits[0, -1]
        token = max(allowed, key=lambda one: float(scores[one])) if allowed else scores.argmax()
        return str(tokenizer.decode([int(token)]))

    return say


@pytest.mark.parametrize("one_of", [("S", "D"), None])
def test_a_tiny_model_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_of: tuple[str, ...] | None
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    say = tiny_judge(build(tmp_path / "tiny"), one_of=one_of)
    rows = [
        {"completion": f"\\boxed{{\\text{{thrice {word}}}}}", "reference": "18"}
        for word in ("one", "two", "three", "six")
    ]
    file, run = tmp_path / "f.jsonl", tmp_path / "run"
    write_rows(file, rows)
    with judging_server(say) as server:
        judge = ("--rescue", "judge", "--verifier-arg", "judge.model=tiny", "--verifier-arg")
        more = (f"judge.base_url={server.url}", "--max-errors", 1, "--quiet", "-o", run)
        status = run_command("score", file, "--verifier", "math", *judge, *more)
    lines = (run / "samples.jsonl").read_text().splitlines()
    correct = [json.loads(line)["verdict"]["correct"] for line in lines]
    if one_of:  # constrained to one of two tokens, every reply is a verdict
        assert status == 0
        assert None not in correct
    else:  # random weights say neither
        assert correct == [None] * 4
