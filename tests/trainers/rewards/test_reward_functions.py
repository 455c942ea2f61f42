from __future__ import annotations

import asyncio
import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from rewardkit import Unavailable, load_task, load_verifier, trainers, verify_batch
from rewardkit.errors import DataError, MissingExtra, UnknownName, UsageError
from rewardkit.protocols import VerifierCallable
from rewardkit.records import Sample
from rewardkit.trainers import reward_func, reward_funcs
from rewardkit.verifiers.game24 import game24
from rewardkit.verifiers.gsm8k import gsm8k_xml
from rewardkit.verifiers.motion import motion
from rewardkit.verifiers.r1_zero import R1ZeroFormat
from rewardkit.verifiers.rubric import Rubric

TARGETS = "(6.0), (7.0), (8.0), (9.0), (10.0)"
RIGHT = f"[Analysis] [ANSWER] {TARGETS} [End]"


def names(task: str, **more: str) -> tuple[list[str], list[float]]:
    functions, weights = reward_funcs(task, **more)  # type: ignore[arg-type]
    return [function.__name__ for function in functions], weights


@pytest.mark.parametrize("verifier", ["math", "gsm8k", "steps"])
def test_a_reading_for_evaluation_is_warned_of(
    verifier: str, caplog: pytest.LogCaptureFixture
) -> None:
    reward_func(load_verifier(verifier, reading="flexible"))
    assert not caplog.records
    reward_func(load_verifier(verifier, reading="lenient"))
    reward_funcs(load_verifier(verifier, reading="lenient"))
    assert len(caplog.records) == 2
    assert "use reading='flexible'" in caplog.text


def test_a_score_is_scaled_from_low_to_high() -> None:
    reward = reward_func("math", low=-1.0, high=1.0)
    completions = [r"\boxed{1/2}", r"\boxed{3}", "no box"]
    assert reward(completions, answer=["0.5", "4", "4"]) == [1.0, -1.0, -1.0]


def test_rewards_are_the_scores_of_verify_batch() -> None:
    completions = [RIGHT, "[Analysis] [ANSWER] (6.0), (7.5) [End]", "", "(6.0)"]
    rewards = reward_func("motion", high=6.0)(completions, reference=[TARGETS] * 4)
    verdicts = verify_batch("motion", completions, [TARGETS] * 4)
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    assert rewards == pytest.approx([6 * score for score in scores], abs=1e-9)


def test_an_unjudged_completion_has_no_reward() -> None:
    reward = reward_func("math")
    assert reward([r"\boxed{1}"] * 2, answer=["1", None]) == [1.0, None]
    functions, _ = reward_funcs("motion")
    for function in functions:  # in all of them: TRL takes a None in one for 0
        assert function([RIGHT, RIGHT], reference=[TARGETS, "?"])[1] is None


def test_conversational_completions_and_what_trl_adds() -> None:
    reward = reward_func("gsm8k")
    chat = [{"role": "assistant", "content": "#### 72"}]
    got = reward(
        completions=[chat],
        prompts=[[{"role": "user", "content": "?"}]],
        completion_ids=[[1]],
        answer=["72"],
        trainer_state=object(),
        environments=[object()],
        log_extra=lambda *_: None,
        log_metric=lambda *_: None,
    )
    assert got == [1.0]


class ThinkingTask:
    """A task whose verifier crashes on text without a closing tag, as its perfect reply has."""

    name = "thinking"

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        return Sample(str(row["answer"]))

    def verifier(self, reading: str | None = None) -> VerifierCallable:
        return after_thinking

    def perfect(self, sample: Sample) -> str:
        return f"<think>.</think>{sample.reference}"


def after_thinking(text: str, sample: Sample) -> bool:
    return text.split("</think>")[1] == sample.reference


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_reply_that_crashes_the_verifier_pays_low(low: float) -> None:
    replies = ["<think>4</think>4", "4", "<think>4</think>5"]
    reward = reward_func(after_thinking, low=low)
    assert reward(replies, answer=["4"] * 3) == [1.0, low, low]


def test_a_reply_that_crashes_a_task_s_verifier_pays_nothing() -> None:
    functions, _ = reward_funcs(ThinkingTask())  # type: ignore[arg-type]  # a part of a task
    replies = ["<think>4</think>4", "4", "<think>4</think>5"]
    assert functions[0](replies, answer=["4"] * 3) == [1.0, 0.0, 0.0]


def test_a_verifier_that_crashes_on_the_control_text_too_judges_nothing() -> None:
    def crashes_on_b(text: str, sample: Sample) -> bool:
        return {"a": True}[sample.reference]

    assert reward_func(crashes_on_b)(["x", "x"], answer=["a", "b"]) == [1.0, None]


def test_an_unavailable_verifier_leaves_any_text_unjudged() -> None:
    def asks_a_server(text: str, sample: Sample) -> bool:
        if text == "unlucky":
            raise Unavailable("the server can't be reached")
        return True

    assert reward_func(asks_a_server)(["lucky", "unlucky"], answer=["a", "a"]) == [1.0, None]


def test_columns_are_left_as_they_are() -> None:
    columns: dict[str, Any] = {"answer": ["72", None], "numbers": [[1], [2]]}
    before = copy.deepcopy(columns)
    reward_func("gsm8k")(["#### 72", "x"], **columns)
    assert columns == before


@pytest.mark.parametrize(
    ("task", "more", "expected"),
    [
        ("motion", {}, (["accuracy", "format"], [5.0, 1.0])),
        (
            "gsm8k",
            {"verifier": "gsm8k_xml"},
            (
                ["correctness", "int", "strict_format", "soft_format", "xmlcount"],
                [2.0, 0.5, 0.5, 0.5, 0.5],
            ),
        ),
        ("gsm8k", {}, (["gsm8k"], [1.0])),
        ("gsm8k", {"reading": "xml"}, (["gsm8k"], [1.0])),
        ("gsm8k", {"reading": "r1_zero"}, (["r1_zero", "r1_zero_format"], [1.0, 0.0])),
        ("math500", {"reading": "r1_zero"}, (["r1_zero", "r1_zero_format"], [1.0, 0.0])),
        ("math500", {}, (["math500"], [1.0])),
        ("aqua", {}, (["aqua"], [1.0])),
        ("game24", {}, (["outcome", "process", "length"], [0.55, 0.30, 0.15])),
        ("r1_zero", {}, (["r1_zero", "r1_zero_format"], [1.0, 0.0])),
        (
            "gsm8k_xml",
            {},
            (
                ["correctness", "int", "strict_format", "soft_format", "xmlcount"],
                [2.0, 0.5, 0.5, 0.5, 0.5],
            ),
        ),
    ],
)
def test_a_tasks_functions_and_weights(task: str, more: dict[str, str], expected: object) -> None:
    assert names(task, **more) == expected


@pytest.mark.parametrize(
    ("task", "rubric", "completion", "columns"),
    [
        ("motion", motion, RIGHT, {"reference": TARGETS}),
        ("motion", motion, "[Analysis] [ANSWER] (6.0) [End]", {"reference": TARGETS}),
        (
            "gsm8k_xml",
            gsm8k_xml,
            "<reasoning>\na\n</reasoning>\n<answer>\n72\n</answer>\nok",
            {"answer": "so #### 72"},
        ),
        ("game24", game24, "8 - 7 = 1\nAnswer: (8 - 7) * 4 * 8", {"numbers": [4, 7, 8, 8]}),
    ],
)
def test_the_weighted_sum_is_the_rubrics_reward(
    task: str, rubric: Rubric, completion: str, columns: dict[str, Any]
) -> None:
    functions, weights = reward_funcs(task)
    listed: dict[str, Any] = {name: [value] for name, value in columns.items()}
    completions = [completion]
    total: float = sum(
        weight * (function(completions, **listed)[0] or 0.0)
        for function, weight in zip(functions, weights, strict=True)
    )
    named = "gsm8k" if task == "gsm8k_xml" else task
    sample = load_task(named).sample({"question": "(1), (2), (3), (4), (5)", **columns}, 0)
    assert total == pytest.approx(rubric.reward(rubric(completion, sample)), abs=1e-9)


def test_a_task_object_a_rubric_or_a_verifier_is_accepted() -> None:
    assert reward_funcs(load_task("motion"))[1] == [5.0, 1.0]
    assert reward_funcs(motion)[1] == [5.0, 1.0]
    functions, weights = reward_funcs(load_verifier("gsm8k", reading="boxed"), reference="gold")
    assert (functions[0].__name__, weights) == ("gsm8k_reading_boxed", [1.0])
    assert functions[0]([r"\boxed{3}"], gold=["3"]) == [1.0]


def test_a_rubric_with_a_gate_is_one_reward_and_its_parts_are_logged() -> None:
    parts = {"exact": load_verifier("exact"), "f1": load_verifier("f1")}
    rubric = Rubric(parts, {"exact": 2.0, "f1": 1.0}, decides="exact", gate=["exact"])
    functions, weights = reward_funcs(rubric)
    (reward,) = functions
    logged: dict[str, float] = {}
    completions, references = ["Oslo", "Oslo now"], ["Oslo", "Oslo"]
    found = reward(completions, reference=references, log_metric=logged.__setitem__)
    verdicts = verify_batch(rubric, completions, references)
    paid = [rubric.reward(verdict) for verdict in verdicts]
    assert [weights[0] * (score or 0.0) for score in found] == paid == [3.0, 0.0]
    assert logged["exact_f1/exact"] == 0.5
    assert 0.5 < logged["exact_f1/f1"] < 1.0


def test_functions_survive_pickling_and_still_share_their_judge() -> None:
    for task in ("motion", "gsm8k", "game24", "math500", "aqua", "r1_zero"):
        functions = pickle.loads(pickle.dumps(reward_funcs(task)[0]))
        assert [function.__name__ for function in functions] == names(task)[0]
        assert len({id(function.judge) for function in functions}) == 1


def test_pickling_looks_into_no_module_that_imports_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Lazy(ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise ModuleNotFoundError(f"{self.__name__} can't give {name}")

    imported = dict(sys.modules)
    for name in imported:
        monkeypatch.delitem(sys.modules, name)
    for name, module in {"lazy": Lazy("lazy"), **imported}.items():  # before all others
        monkeypatch.setitem(sys.modules, name, module)
    assert pickle.loads(pickle.dumps(reward_funcs("gsm8k")[0]))


def test_a_hostile_completion_is_wrong_in_time() -> None:
    functions, _ = reward_funcs("math500", timeout=0.5)
    rewards = functions[0]([r"\boxed{9^{9^{9^{9}}} + x}", r"\boxed{72}"], reference=["72", "72"])
    assert rewards == [0.0, 1.0]


def test_a_part_of_a_rubric_that_ran_out_of_time_is_0_and_the_others_stand() -> None:
    def hangs(text: str, sample: Sample) -> bool:
        while True:
            pass

    parts: dict[str, VerifierCallable] = {"a": hangs, "b": hangs, "format": R1ZeroFormat()}
    functions, _ = reward_funcs(Rubric(parts, dict.fromkeys(parts, 1.0), "a"), timeout=0.2)
    completions, answers = ["<think>x</think> <answer>1</answer>"], ["1"]
    rewards = [function(completions, answer=answers) for function in functions]
    assert rewards == [[0.0], [0.0], [1.0]]


def test_two_functions_of_one_name_are_refused() -> None:
    batch: dict[str, Any] = {"completions": ["a"], "answer": ["a"], "log_metric": lambda *_: None}
    first, second = (reward_func(lambda text, sample: bool(text)) for _ in range(2))
    assert first(**batch) == first(**batch) == [1.0]
    with pytest.raises(UsageError, match="two reward functions are named 'lambda'"):
        second(**batch)
    named = reward_func(lambda text, sample: True, name="second")
    assert first(**batch) == named(**batch) == [1.0]
    assert second(["a"], answer=["a"]) == [1.0]  # nothing is logged


def test_trls_asynchronous_trainer_calls_all_functions_at_once_with_less() -> None:
    functions = pickle.loads(pickle.dumps(reward_funcs("motion")[0]))
    group = {
        "completions": [RIGHT, ""],
        "prompts": ["?"] * 2,
        "completion_ids": [[1], [2]],
        "reference": [TARGETS] * 2,
    }

    async def scored() -> list[list[float | None]]:
        calls = (asyncio.to_thread(function, **group) for function in functions)
        return list(await asyncio.gather(*calls))

    assert asyncio.run(scored()) == [[1.0, 0.0], [0.7, 0.0]]


def test_an_async_verifier_is_awaited() -> None:
    async def right(text: str, sample: Sample) -> bool:
        return text == sample.reference

    assert reward_func(right)(["a", "b"], answer=["a", "a"]) == [1.0, 0.0]


@pytest.mark.parametrize(("low", "high"), [(1.0, 0.0), (0.0, math.inf), (math.nan, 1.0)])
def test_a_scale_that_is_not_finite_and_rising_is_an_error(low: float, high: float) -> None:
    with pytest.raises(UsageError, match="must be finite, and low lower"):
        reward_func("math", low=low, high=high)


def test_errors_name_what_is_wrong() -> None:
    with pytest.raises(UnknownName, match="did you mean 'gsm8k'"):
        reward_funcs("gms8k")
    with pytest.raises(UnknownName, match="did you mean 'math'"):
        reward_func("mahts")
    with pytest.raises(UsageError, match="3 is neither a verifier's name nor a callable"):
        reward_func(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="timeout is 0"):
        reward_func("math", timeout=0)
    with pytest.raises(UsageError, match="max_wall is 0.1; it must be at least the timeout"):
        reward_func("math", max_wall=0.1)
    with pytest.raises(UsageError, match="workers is 0"):
        reward_func("math", workers=0)
    with pytest.raises(DataError, match="no column 'gold'"):
        reward_func("math", reference="gold")(["a"], answer=["1"])
    with pytest.raises(DataError, match="row 1 has neither a column 'points'"):
        reward_funcs("motion")[0][0]([RIGHT], level=["1"])
    with pytest.raises(DataError, match="'answer' has 2 values for 1 completions"):
        reward_func("math")(["a"], answer=["1", "2"])
    with pytest.raises(DataError, match="1 completions, but 2 prompts"):
        reward_func("math")(["a"], prompts=["p", "q"], answer=["1"])
    trainers.check_columns(["prompt", "answer"])
    for name in ("prompts", "completions", "trainer_state", "log_extra", "environments"):
        with pytest.raises(UsageError, match=f"a column '{name}', a name that TRL"):
            trainers.check_columns(["prompt", name])


@pytest.mark.slow
def test_rewards_import_neither_torch_nor_trl() -> None:
    code = """
import sys
from rewardkit.trainers import reward_func, reward_funcs
reward_funcs("motion"), reward_func("math")
assert not {"torch", "trl", "transformers", "sympy"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.engines
def test_the_error_for_missing_libraries_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("momentum", "recipe_trainer"):
        monkeypatch.delitem(sys.modules, f"rewardkit.trainers.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "trl", None)
    with pytest.raises(MissingExtra, match=r"needs trl, .* 'rewardkit\[train\]'"):
        _ = trainers.MomentumGRPOTrainer
    with pytest.raises(AttributeError, match="no attribute 'PPOTrainer'"):
        _ = trainers.PPOTrainer
