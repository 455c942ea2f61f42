from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.errors import UsageError
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.tasks.game24.task import Game24Task
from rewardkit.registry import installed

CHECKPOINT = Path(__file__).parents[4] / "examples" / "game24-tiny"


def numbers(task: Game24Task, split: str, seed: int = 0) -> list[str]:
    return [sample.question for sample in task.load(data=None, split=split, seed=seed)]


@pytest.mark.parametrize(
    ("settings", "train", "test", "largest"),
    [({}, 1162, 200, 13), ({"highest": 9}, 204, 200, 9), ({"highest": 9, "test": 50}, 354, 50, 9)],
)
def test_a_split_has_its_size_and_its_numbers(
    settings: dict[str, Any], train: int, test: int, largest: int
) -> None:
    task = Game24Task(**settings)
    drawn = {split: numbers(task, split) for split in ("train", "test")}
    assert (len(drawn["train"]), len(drawn["test"])) == (train, test)
    assert not set(drawn["train"]) & set(drawn["test"])
    assert max(int(n) for hand in drawn["train"] for n in hand.split()) == largest


def test_the_first_quadruples_of_seed_0_never_change() -> None:
    assert numbers(Game24Task(), "test")[:2] == ["1 1 4 7", "5 7 12 12"]
    assert numbers(Game24Task(), "test", seed=1) != numbers(Game24Task(), "test")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"highest": 14}, "1 to 13"),
        ({"highest": 0}, "highest is 0"),
        ({"test": "9"}, "a whole number from 1"),
        ({"test": 1362}, "there are 1362 solvable quadruples"),
    ],
)
def test_a_parameter_out_of_bounds_is_named(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rewardkit.load_task("game24", **settings).load(data=None, split=None, seed=0)


@pytest.mark.engines
def test_the_shipped_checkpoint_reads_and_writes_this_task_exactly() -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
    template = load_template("game24_short", installed().prompt("game24_short"))
    task = Game24Task()
    for split in ("train", "test"):
        for sample in task.load(data=None, split=split, seed=0):
            (message,) = template.messages(sample)
            assert message.content == f"{sample.question} =>"
            for text in (message.content, task.perfect(sample)):
                encoded = tokenizer.encode(text)
                assert "<unk>" not in encoded.tokens
                assert tokenizer.decode(encoded.ids) == text
