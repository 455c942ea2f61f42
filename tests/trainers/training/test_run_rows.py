"""The rows of a run's completions train: supervised here, DPO and KTO in TRL's own trainers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewardkit.harness.results.data_files import read_rows, write_rows
from rewardkit.trainers import game24_search_trace, train
from tests.harness.scoring.test_verified_completions import evaluated
from tests.support.commands import run_command

pytestmark = pytest.mark.engines

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    replies = ["2 + 2 = 4\n#### 4", "It is 4.\n#### 4", "2 + 2 = 5\n#### 5", "#### 22"]
    return evaluated(
        tmp_path_factory.mktemp("runs") / "a", {"sums": replies, "tens": replies}, prompt="gsm8k"
    )


def rows_file(run: Path, path: Path, *options: str) -> Path:
    assert run_command("data", "gsm8k", "--from", run, *options, "-o", path) == 0
    return path


@pytest.mark.parametrize("method", ["DPO", "KTO"])
def test_the_pairs_train_in_trl(
    run: Path, tiny_checkpoint: Path, tmp_path: Path, method: str
) -> None:
    import trl
    from datasets import Dataset

    rows = read_rows(rows_file(run, tmp_path / "pairs.parquet", "--pairs"))
    config: Any = getattr(trl, f"{method}Config")
    trainer: Any = getattr(trl, f"{method}Trainer")(
        model=str(tiny_checkpoint),
        args=config(
            output_dir=str(tmp_path / "out"),
            max_steps=1,
            per_device_train_batch_size=2,
            use_cpu=True,
            bf16=False,
            report_to="none",
        ),
        train_dataset=Dataset.from_list(rows),
    )
    before = [weight.clone() for weight in trainer.model.parameters()]
    trainer.train()
    assert trainer.state.global_step == 1
    assert any(
        not old.equal(new) for old, new in zip(before, trainer.model.parameters(), strict=True)
    )


ONE_SHOT = """\
+++
about = "One worked hand with dead ends, then the hand."
reading = "line"
+++
4 7 8 8 =>
7 + 8 = 15 (left: 4 8 15)
8 * 4 = 32 (left: 15 32)
No way to 24 from 15 32. Back to 4 7 8 8.
4 + 7 = 11 (left: 8 8 11)
11 - 8 = 3 (left: 3 8)
3 * 8 = 24 (left: 24)
Answer: ((4 + 7) - 8) * 8 = 24
{{ question }} =>
"""


def test_chains_written_after_one_example_are_learnt_without_it(tmp_path: Path) -> None:
    prompt, model = tmp_path / "one_shot.jinja", EXAMPLES / "game24-long"
    prompt.write_text(ONE_SHOT)
    hands, replies = tmp_path / "hands.jsonl", tmp_path / "replies.jsonl"
    numbers = {"one": (1, 2, 3, 4), "two": (2, 3, 4, 12), "wrong": (3, 3, 8, 8)}
    written = {name: game24_search_trace(hand, name) for name, hand in numbers.items()}
    written["wrong"] = written["one"]
    asked = [{"id": name, "numbers": list(hand)} for name, hand in numbers.items()]
    write_rows(asked, hands, overwrite=False)
    answered = [{"id": name, "completion": text} for name, text in written.items()]
    write_rows(answered, replies, overwrite=False)
    chains, rows = tmp_path / "chains", tmp_path / "rows.jsonl"
    arguments = ["--task", "game24", "--data", hands, "--prompt", prompt, "--quiet"]
    replayed = ["--backend", "replay", "--model", replies, "-o", chains]
    assert run_command("eval", *arguments, *replayed) == 0
    select = ["--prompt", "game24_short", "--per-problem", "1"]
    assert run_command("data", "game24", "--from", chains, *select, "-o", rows) == 0
    learnt = read_rows(rows)
    assert [row["completion"][0]["content"] for row in learnt] == [written["one"], written["two"]]
    assert all(len(row["prompt"][0]["content"].splitlines()) == 1 for row in learnt)
    settings = {"prompt": "game24_short", "data.long": 0, "max_steps": 1, "evaluation.every": 0}
    result = train(
        "game24-sft",
        model=str(model),
        data=str(rows),
        output_dir=str(tmp_path / "out"),
        settings=settings,
    )
    assert result.steps == 1
