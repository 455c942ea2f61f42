from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.cli.check import check_installation
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.solutions import solve_samples
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.tasks.game24 import Game24Task
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


def test_the_split_tot_has_ranks_901_to_1000() -> None:
    hands = Game24Task().load(data=None, split="tot", seed=5)
    assert len({sample.question for sample in hands}) == 100
    assert (hands[0].question, hands[-1].question) == ("4 5 6 10", "4 9 10 13")
    for sample in hands:
        reply = Game24Task().perfect(sample)
        assert rewardkit.Verdict.of(Game24Task().verifier()(reply, sample)).correct


def test_the_file_of_tree_of_thoughts_is_read(tmp_path: Path) -> None:
    file = tmp_path / "24.csv"
    file.write_text("Rank,Puzzles,AMT (s)\n1,1 1 4 6,4.4\n2,1 1 11 11,4.41\n")
    read = Game24Task().load(data=str(file), split=None, seed=0)
    assert [sample.question for sample in read] == ["1 1 4 6", "1 1 11 11"]


def test_a_game_may_have_hands_without_a_solution() -> None:
    task = rewardkit.load_task("game24", unsolvable=True)
    samples = [
        *task.load(data=None, split="train", seed=0),
        *task.load(data=None, split="test", seed=0),
    ]
    assert len(samples) == 1820
    unsolved = [sample for sample in samples if task.perfect(sample) == "Answer: no solution"]
    assert len(unsolved) == 1820 - 1362
    (message,) = resolve_prompt(task).messages(samples[0])
    assert '"Answer: no solution"' in message.content
    (message,) = resolve_prompt(Game24Task()).messages(samples[0])
    assert "no solution" not in message.content


@pytest.mark.parametrize("prompt", ["game24_unsolvable", "few_shot", "cot", "xml"])
@pytest.mark.parametrize("long", [0.0, 1.0])
def test_worked_solutions_say_where_there_is_none(prompt: str, long: float) -> None:
    task = Game24Task(unsolvable=True)
    samples = task.load(data=None, split="test", seed=0)[:40]
    solutions = solve_samples(task, resolve_prompt(task, prompt), samples, long=long, seed=0)
    assert None not in solutions
    said = [one for one in solutions if one and "no solution" in one.completion]
    assert len(said) == sum(task.perfect(one) == "Answer: no solution" for one in samples) > 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"unsolvable": True, "test": 1820}, "there are 1820 quadruples"),
        ({"highest": 14}, "1 to 13"),
        ({"highest": 0}, "highest is 0"),
        ({"test": "9"}, "it must be a whole number"),
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


def hands(folder: Path, *rows: str) -> str:
    file = folder / "hands.jsonl"
    file.write_text("".join(f'{{"numbers": {row}}}\n' for row in rows))
    return str(file)


def test_check_names_a_hand_without_a_solution(tmp_path: Path) -> None:
    data = hands(tmp_path, "[4, 6, 8, 8]", "[1, 1, 1, 1]")
    findings = list(check_installation(tasks=["game24"], plugins=[], data=data))
    (bad,) = [finding for finding in findings if not finding.passed]
    assert bad.title == "task game24: 1 of 2 references judge themselves right"
    assert bad.details[0] == "1: the hand 1 1 1 1 has no solution"


@pytest.mark.parametrize("hand", ["[1, 2, 3, 14]", "[0, 2, 3, 4]", "[1, 2, 3]", '"a b c d"'])
def test_a_hand_out_of_range_is_refused_with_its_row(tmp_path: Path, hand: str) -> None:
    data = hands(tmp_path, "[4, 6, 8, 8]", hand)
    with pytest.raises(DataError, match=r"row 2: '.*' isn't four numbers from 1 to 13"):
        Game24Task().load(data=data, split=None, seed=0)
