from __future__ import annotations

import asyncio
import copy
import functools
import math
import pickle
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from rewardkit import load_task, load_verifier, trainers, verify_batch
from rewardkit.errors import DataError, MissingExtra, UnknownName, UsageError
from rewardkit.protocols import VerifierCallable
from rewardkit.records import Sample
from rewardkit.registry import resolve
from rewardkit.trainers import reward_func, reward_funcs
from rewardkit.trainers.rewards.reward_functions import reward_name
from rewardkit.verifiers.choice import Choice
from rewardkit.verifiers.gsm8k import Gsm8k, gsm8k_xml
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.motion import MotionAccuracy, motion
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


def test_columns_are_left_as_they_are() -> None:
    columns: dict[str, Any] = {"answer": ["72", None], "numbers": [[1], [2]]}
    before = copy.deepcopy(columns)
    reward_func("gsm8k")(["#### 72", "x"], **columns)
    assert columns == before


XML_PARTS = "correctness int strict_format soft_format xmlcount"
XML_WEIGHTS = [2.0, 0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("task", "more", "parts", "weights"),
    [
        ("motion", {}, "accuracy format", [5.0, 1.0]),
        ("gsm8k", {"verifier": "gsm8k_xml"}, XML_PARTS, XML_WEIGHTS),
        ("gsm8k", {}, "gsm8k", [1.0]),
        ("gsm8k", {"reading": "xml"}, "gsm8k", [1.0]),
        ("gsm8k", {"reading": "r1_zero"}, "r1_zero r1_zero_format", [1.0, 0.0]),
        ("math500", {"reading": "r1_zero"}, "r1_zero r1_zero_format", [1.0, 0.0]),
        ("math500", {}, "math500", [1.0]),
        ("aqua", {}, "aqua", [1.0]),
        ("game24", {}, "outcome process length", [0.55, 0.30, 0.15]),
        ("r1_zero", {}, "r1_zero r1_zero_format", [1.0, 0.0]),
        ("gsm8k_xml", {}, XML_PARTS, XML_WEIGHTS),
    ],
)
def test_a_tasks_functions_and_weights(
    task: str, more: dict[str, str], parts: str, weights: list[float]
) -> None:
    assert names(task, **more) == (parts.split(), weights)


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
from rewardkit.registry import resolve
from rewardkit.trainers import reward_func, reward_funcs
from rewardkit.trainers.rewards.reward_functions import reward_name
from rewardkit.verifiers.choice import Choice
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


def longer(text: str, sample: Sample, *, least: int = 3) -> bool:
    return len(text) >= least


@pytest.mark.parametrize(
    ("verifier", "name"),
    [
        ("math", "math"),
        (longer, "longer"),
        (functools.partial(longer, least=9), "longer_least_9"),
        (lambda text, sample: True, "lambda"),
        (MotionAccuracy(), "motion_accuracy"),
        (Gsm8k(), "gsm8k"),
        (Gsm8k(reading="boxed"), "gsm8k_reading_boxed"),
        (Choice(reading="lenient"), "choice_reading_lenient"),
        (load_verifier("math", require_simplified=True), "math_require_simplified_true"),
        (motion, "accuracy_format"),
    ],
)
def test_names_differ_between_verifiers_and_their_parameters(verifier: object, name: str) -> None:
    assert reward_name(verifier) == name


@pytest.mark.parametrize("name", ["gsm8k", "game24", "motion"])
def test_a_name_of_both_is_the_verifier_with_the_rows_of_the_task(name: str) -> None:
    resolved = resolve(name)
    assert resolved.verifier == load_verifier(name) == load_task(name).verifier()
    assert resolved.task == load_task(name)


def test_a_name_of_one_kind_is_that() -> None:
    assert (resolve("math").verifier, resolve("math").task) == (Math(), None)
    assert resolve("hendrycks_math").verifier == Math()
    assert resolve("gsm8k", "xml").verifier == load_verifier("gsm8k", reading="xml")
    assert resolve("gsm8k", marker="A:").verifier == load_verifier("gsm8k", marker="A:")
    with pytest.raises(UnknownName, match="did you mean 'motion'"):
        resolve("motoin")
    assert resolve("gsm8k_xml").verifier is gsm8k_xml
