from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.backends import tokenization
from rewardkit.harness.options import AllOptions
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.run.plan import plan_task
from rewardkit.harness.store.data_files import CURATED, write_rows
from rewardkit.protocols import Prompt
from rewardkit.trainers import reward_funcs, train_dataset
from rewardkit.trainers.training.training_plan import check_same_prompts
from rewardkit.trainers.training.training_rows import TrainingRows, by_pass_rate, render_rows
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
    from transformers import PreTrainedTokenizerFast

    file = written(tmp_path / "rows.jsonl", [{**row, "tools": [TOOL]} for row in GSM8K])
    plan = plan_task(rewardkit.load_task("gsm8k"), "question", AllOptions(data=file))
    rows = render_rows(plan, tokenization.load(tiny_checkpoint), chat=True, max_prompt_length=None)
    assert all("f_x" in text for text in rows.trl_prompts())
    check_same_prompts(PreTrainedTokenizerFast.from_pretrained(tiny_checkpoint), rows)
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


def rows_of_gsm8k() -> TrainingRows:
    samples = [rewardkit.load_task("gsm8k").sample(row, index) for index, row in enumerate(GSM8K)]
    prompts = [Prompt(sample.question) for sample in samples]
    return TrainingRows(samples, prompts, False, left_out=1, reply_lengths=[5, 6, 7])


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three problems with four completions each: 1, 4 and 2 of them are right."""
    folder = tmp_path_factory.mktemp("solved")
    replies = [
        {"id": str(number), "completion": f"#### {40 + number if place < right else 0}"}
        for number, right in enumerate((1, 4, 2))
        for place in range(4)
    ]
    data = written(folder / "data.jsonl", GSM8K)
    completions = written(folder / "replies.jsonl", replies)
    arguments = ["--task", "gsm8k", "--data", data, "--model", completions, "-n", "4"]
    run = folder / "run"
    drawn = ["--temperature", "1", "--backend", "replay", "--quiet", "-o", str(run)]
    assert run_command("eval", *arguments, *drawn) == 0
    return run


@pytest.mark.parametrize(
    ("pass_rates", "kept"), [((0.0, 1.0), [1, 2, 0]), ((0.2, 0.9), [2, 0]), ((0.5, 0.5), [2])]
)
def test_a_curriculum_keeps_problems_by_pass_rate_and_begins_with_the_easiest(
    solved: Path, pass_rates: tuple[float, float], kept: list[int]
) -> None:
    notes: list[str] = []
    rows = by_pass_rate(rows_of_gsm8k(), solved, "gsm8k", pass_rates, notes.append)
    assert [sample.id for sample in rows.samples] == list(map(str, kept))
    assert [prompt.text for prompt in rows.prompts] == [GSM8K[one]["question"] for one in kept]
    assert rows.reply_lengths == [5 + one for one in kept]
    assert rows.left_out == 1 + 3 - len(kept)
    assert notes[0].startswith(f"{len(kept)} of 3 problems have a pass rate from")


def test_a_curated_set_orders_its_own_problems(tmp_path: Path) -> None:
    rates = [{"id": str(one), "pass_rate": rate} for one, rate in enumerate((0.25, 1.0, 0.5))]
    write_rows(rates, tmp_path / CURATED, overwrite=False)
    rows = by_pass_rate(rows_of_gsm8k(), tmp_path, "gsm8k", (0.0, 0.9), print)
    assert [sample.id for sample in rows.samples] == ["2", "0"]


@pytest.mark.parametrize(
    ("task", "folder", "pass_rates", "said"),
    [
        ("gsm8k", "run", (0.6, 0.9), "no pass rate in .* they are from 0.25 to 1"),
        ("motion", "run", (0.0, 1.0), "3 of 3 problems have no judged completion"),
        ("gsm8k", "none", (0.0, 1.0), "holds no samples.jsonl; give the folder of a run"),
    ],
)
def test_a_curriculum_without_pass_rates_is_refused(
    solved: Path, task: str, folder: str, pass_rates: tuple[float, float], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        by_pass_rate(rows_of_gsm8k(), solved.parent / folder, task, pass_rates, print)
