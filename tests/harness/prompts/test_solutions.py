"""Worked solutions: right by the task's verifier, in the form that each prompt asks for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.solutions import solve_samples
from rewardkit.harness.prompts.strategies import prompts_of, resolve_prompt
from rewardkit.harness.prompts.wording import EXAMPLES
from rewardkit.plugin import TaskWording
from rewardkit.records import Sample, Verdict
from rewardkit.registry import installed
from tests.support.rows import write_rows

TASKS = ("aqua", "game24", "gsm8k", "math500", "motion")


def examples(name: str) -> list[Sample]:
    """The worked problems that the task's prompts show."""
    rows = tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    task = installed().task(name)
    return [task.sample({"id": str(at), **row}, at) for at, row in enumerate(rows["example"])]


CASES = [
    (name, prompt, long)
    for name in TASKS
    for prompt in prompts_of(installed().task(name))
    for long in ((0.0,) if name == "motion" else (0.0, 1.0))
]


@pytest.mark.parametrize(("name", "prompt", "long"), CASES)
def test_every_solution_is_right_in_every_prompt(name: str, prompt: str, long: float) -> None:
    task = installed().task(name)
    template, samples = resolve_prompt(task, prompt), examples(name)
    solutions = solve_samples(task, template, samples, long=long, seed=3)
    assert None not in solutions
    for sample, solution in zip(samples, solutions, strict=True):
        assert solution
        verdict = Verdict.of(task.verifier(template.reading)(solution.completion, sample))
        assert verdict.correct


@pytest.mark.parametrize(
    ("prompt", "whole"),
    [
        ("direct", "#### 18"),
        (
            "xml",
            "<reasoning>\nThe baker makes 6 * 14 = 84 rolls.\n"
            "After the morning, 84 - 59 = 25 rolls are left.\n"
            "After he gives 7 away, 25 - 7 = 18 rolls are left.\n"
            "</reasoning>\n<answer>\n18\n</answer>",
        ),
    ],
)
def test_a_reply_has_the_form_that_the_prompt_asks_for(prompt: str, whole: str) -> None:
    task = installed().task("gsm8k")
    solutions = solve_samples(
        task, resolve_prompt(task, prompt), examples("gsm8k")[:1], long=0, seed=0
    )
    assert [solution and solution.completion for solution in solutions] == [whole]


def test_the_xml_form_earns_all_format_rewards() -> None:
    from rewardkit.trainers import reward_funcs

    task, samples = installed().task("gsm8k"), examples("gsm8k")
    solutions = solve_samples(task, resolve_prompt(task, "xml"), samples, long=0.5, seed=0)
    functions, _ = reward_funcs("gsm8k_xml")
    for function in functions:
        rewards = function(
            prompts=[""] * len(samples),
            completions=[solution.completion for solution in solutions if solution],
            answer=[sample.columns["answer"] for sample in samples],
        )
        assert rewards == [pytest.approx(rewards[0])] * len(samples), function.__name__
        assert rewards[0] is not None
        assert rewards[0] > 0, function.__name__


def test_a_share_of_the_solutions_is_long_by_the_seed() -> None:
    task = installed().task("game24")
    template, samples = resolve_prompt(task), task.load(data=None, split="train", seed=0)[:40]
    first, again, other = (
        solve_samples(task, template, samples, long=0.25, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other
    for solution in first:
        assert solution
        assert solution.long == ("Back to" in solution.completion)
    assert sum(solution.long for solution in first if solution) == 10


def test_a_short_solution_of_game24_is_its_worked_reply() -> None:
    task = installed().task("game24")
    samples = task.load(data=None, split="test", seed=0)[:5]
    solutions = solve_samples(task, resolve_prompt(task), samples, long=0, seed=0)
    assert [one and one.completion for one in solutions] == [task.perfect(one) for one in samples]


def test_wrong_solutions_are_left_out(tmp_path: Path) -> None:
    task, file = installed().task("math500"), tmp_path / "rows.jsonl"
    rows = [
        {"problem": "1 + 1?", "solution": r"It is \boxed{2}.", "answer": "2"},
        {"problem": "1 + 2?", "solution": "A figure.", "answer": ""},
    ]
    write_rows(file, rows)
    samples = task.load(data=str(file), split=None, seed=0)
    solutions = solve_samples(task, resolve_prompt(task), samples, long=0, seed=0)
    assert solutions[0]
    assert solutions[1] is None
    with pytest.raises(DataError, match="no worked solution of task 'math500' is judged right"):
        solve_samples(task, resolve_prompt(task), samples[1:], long=0, seed=0)


@pytest.mark.parametrize(("long", "said"), [(1.5, "from 0 to 1"), (1.0, "no long solutions")])
def test_a_share_that_cannot_be_written_is_refused(long: float, said: str) -> None:
    task = installed().task("motion")
    samples = task.load(data=None, split="train", seed=0)[:2]
    with pytest.raises(UsageError, match=said):
        solve_samples(task, resolve_prompt(task), samples, long=long, seed=0)


def test_a_tasks_words_may_lack_long_solutions() -> None:
    assert TaskWording(instruction="Go.", noun="X", forms={"": "{}"}).long_solution is None
