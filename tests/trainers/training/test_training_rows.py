from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.engines import tokenization
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.runs.plan import plan_task
from rewardkit.trainers import reward_funcs, train_dataset
from rewardkit.trainers.training.training_rows import render_rows
from tests.support.commands import run_command

GSM8K = [
    {
        "question": f"What is 40 + {number}?",
        "answer": f"40 + {number} = {40 + number}\n#### {40 + number}",
    }
    for number in range(3)
]


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("prompt", ["motion", "motion_short", "cot"])
def test_rows_have_evaluation_s_prompts_and_the_columns_that_rewards_read(
    prompt: str,
) -> None:
    task = rewardkit.load_task("motion")
    rows = train_dataset("motion", prompt=prompt, limit=4)
    samples = task.load(data=None, split="train", seed=0)[:4]
    template = resolve_prompt(task, prompt)
    assert list(rows["prompt"]) == [
        [{"role": turn.role, "content": turn.content} for turn in template.messages(sample)]
        for sample in samples
    ]
    functions, _ = reward_funcs("motion")
    columns: dict[str, Any] = {
        name: list(rows[name]) for name in rows.column_names if name != "prompt"
    }
    for function in functions:
        found = function([task.perfect(sample) for sample in samples], **columns)
        assert found == [1.0] * 4


TOOL = {"type": "function", "function": {"name": "f_x"}}


@pytest.mark.engines
def test_rows_with_tools_are_trained_on_as_evaluation_renders_them(
    tmp_path: Path, tiny_checkpoint: Path
) -> None:
    file = written(tmp_path / "rows.jsonl", [{**row, "tools": [TOOL]} for row in GSM8K])
    plan = plan_task(rewardkit.load_task("gsm8k"), "question", EvalOptions(data=file))
    tokenizer = tokenization.load(tiny_checkpoint)
    rows = render_rows(plan, tokenizer, chat=True, max_prompt_length=None)
    texts = rows.dataset()["prompt"][:]
    assert all("f_x" in text for text in texts)
    sent = tokenizer.loaded(text=texts)["input_ids"]
    assert sent == [list(prompt.token_ids) for prompt in rows.prompts]
    with pytest.raises(UsageError, match="train with `rewardkit train`"):
        train_dataset("gsm8k", prompt="question", data=file)


def test_the_examples_that_a_task_sets_are_shown_as_in_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "rows.jsonl", [{"question": f"{n} + 1?", "answer": n} for n in range(9)])
    Path("mine.toml").write_text(
        'prompt = "few_shot"\n[data]\nfile = "rows.jsonl"\n[verifier]\nname = "math"\n'
        '[fewshot]\ncount = 2\nfile = "rows.jsonl"\n'
    )
    replies = [{"id": str(number), "completion": ""} for number in range(9)]
    written(tmp_path / "replies.jsonl", replies)
    arguments = ["--task", "mine.toml", "--model", "replies.jsonl", "--backend", "replay"]
    assert run_command("eval", *arguments, "--quiet", "-o", "run") == 0
    samples = Path("run/samples.jsonl").read_text().splitlines()
    evaluated = [json.loads(line)["prompt"] for line in samples]
    rows = train_dataset(rewardkit.load_task("mine.toml"))
    trained = ["\n\n".join(turn["content"] for turn in turns) for turns in rows["prompt"]]
    assert trained == evaluated
    assert all(prompt.count("+ 1?") == 3 for prompt in evaluated)


def test_a_data_file_is_prompted_in_the_form_that_its_rewards_read(tmp_path: Path) -> None:
    data = written(tmp_path / "f.jsonl", GSM8K)
    rows = train_dataset("gsm8k", prompt="xml", data=data, system_prompt="Be brief.")
    assert [turns[0] for turns in rows["prompt"]] == [
        {"role": "system", "content": "Be brief."}
    ] * 3
    functions, _ = reward_funcs("gsm8k", verifier="gsm8k_xml")
    correctness = next(one for one in functions if one.__name__ == "correctness")
    reply = "<reasoning>\n.\n</reasoning>\n<answer>\n41\n</answer>\n"
    columns: dict[str, Any] = {
        name: list(rows[name]) for name in rows.column_names if name != "prompt"
    }
    assert correctness([reply] * 3, **columns) == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("rows", "kind", "said"),
    [
        ([{**GSM8K[0], "completions": "x"}], UsageError, "completions"),
        ([{**GSM8K[0], "level": 1}, {**GSM8K[1], "level": "two"}], DataError, "mixes types"),
    ],
    ids=["a name that TRL reserves", "a column of two types"],
)
def test_rows_that_trl_cannot_take_are_refused(
    rows: list[dict[str, object]], kind: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=said):
        train_dataset("gsm8k", data=written(tmp_path / "f.jsonl", rows))
