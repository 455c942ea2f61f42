"""What a target's text means, and that each host's own example is called as its host calls it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx
import pytest

from rewardkit.audit.cases import Case
from rewardkit.audit.measure import CaseResult
from rewardkit.audit.signatures import SIGNATURES, entry_point, recognise
from rewardkit.audit.targets import (
    TRIAL,
    CommandTarget,
    DescribeFunction,
    VerifierTarget,
    by_threshold,
    call_reward,
    resolve_target,
)
from rewardkit.errors import UnknownName, UsageError
from rewardkit.frameworks import areal, easyr1, lm_eval, openrlhf, rllm, slime, verifiers, verl
from rewardkit.records import Verdict
from tests.audit import host_rewards
from tests.audit.host_rewards import HOSTS

CASES = [
    Case("right", r"So \boxed{42}.", "42", True),
    Case("wrong", r"So \boxed{41}.", "42", False),
    Case("right", r"So \boxed{\pi}.", r"\pi", True),
]


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_s_own_example_is_recognised_and_called_as_the_host_calls_it(name: str) -> None:
    function = entry_point(getattr(host_rewards, name))
    described = DescribeFunction(None)(function)
    assert described.get("signature") == HOSTS[name], described
    cases = [TRIAL, CASES[1]]
    signature = SIGNATURES["plain"] if name == "gold_first" else recognise(function)
    signature = recognise(function, signature.name)
    scored = [
        call_reward(function, signature, [case], messages=described["messages"])[0]
        for case in cases
    ]
    assert [result.failure for result in scored] == [None, None], scored
    assert scored[0].score == 1.0
    assert (scored[1].score or 0.0) < 0.5


@pytest.mark.parametrize(
    ("reward", "signature"),
    [
        (verl.math, "verl"),
        (openrlhf.math, "openrlhf"),
        (easyr1.math, "easyr1"),
        (slime.math, "slime_group"),
        (areal.math, "areal"),
        (rllm.math, "rllm"),
        (verifiers.math, "verifiers"),
        (lm_eval.math, "lm_eval"),
    ],
)
def test_the_adapters_of_rewardkit_are_recognised(reward: object, signature: str) -> None:
    function = entry_point(reward)
    assert recognise(function).name == signature
    (scored,) = call_reward(function, SIGNATURES[signature], [TRIAL], messages=False)
    assert scored.score == 1.0, scored


def test_parameters_of_no_host_are_an_error_that_names_the_choices() -> None:
    error = DescribeFunction(None)(host_rewards.unknown)["error"]
    assert "(first, second)" in error
    assert "--signature, one of " in error
    assert "openrlhf" in error
    assert DescribeFunction("plain")(host_rewards.unknown)["signature"] == "plain"
    with pytest.raises(UnknownName, match="no signature named 'verll'; did you mean 'verl'"):
        recognise(host_rewards.unknown, "verll")
    assert "passes no 'first'" in DescribeFunction("trl")(host_rewards.unknown)["error"]


@pytest.mark.parametrize(
    ("reward", "explanation"),
    [
        (lambda answer, reference: "yes", "holds no score"),
        (lambda answer, reference: float("nan"), "the reward is nan"),
        (lambda answer, reference: 1 / 0, "ZeroDivisionError"),
        (lambda answer, reference: sys.exit(3), "SystemExit: 3"),
    ],
)
def test_a_reward_without_a_number_is_an_exception(reward: object, explanation: str) -> None:
    (scored,) = call_reward(reward, SIGNATURES["plain"], [TRIAL], messages=False)  # type: ignore[arg-type]
    assert scored.failure == "exception"
    assert explanation in scored.explanation


def test_a_reward_that_also_needs_a_column_shows_that_it_takes_messages() -> None:
    def code_reward(completions: list[list[dict[str, str]]], **kwargs: list[str]) -> list[float]:
        programs = [completion[-1]["content"] for completion in completions]
        return [float(len(programs) == len(kwargs["verification_info"]))]

    assert DescribeFunction(None)(code_reward) == {"signature": "trl", "messages": True}


def test_a_batch_with_another_number_of_rewards_is_an_exception() -> None:
    scored = call_reward(lambda completions: [1.0], SIGNATURES["trl"], CASES, messages=False)
    assert "1 rewards for 3 completions" in scored[2].explanation


@pytest.mark.parametrize(
    ("correct", "score", "threshold", "expected"),
    [
        (None, 0.5, None, True),
        (None, 0.4, None, False),
        (None, None, 0.5, None),
        (False, 0.7, None, False),
        (False, 0.7, 0.7, True),
        (True, 0.7, 0.8, False),
        (False, 0.0, 0.0, True),
    ],
)
def test_a_score_decides_without_a_verdict_and_where_the_user_sets_a_threshold(
    correct: bool | None, score: float | None, threshold: float | None, expected: bool | None
) -> None:
    assert by_threshold(CaseResult(correct, score), threshold).correct is expected


def test_a_verifier_s_name_means_the_verifier() -> None:
    target = resolve_target("exact")
    judged = target.judge([Case("", "Paris", "Paris", True), Case("", "Rome", "Paris", False)])
    assert [result.correct for result in judged] == [True, False]
    assert isinstance(target, VerifierTarget)
    (judged_one,) = resolve_target("f1", threshold=0.5).judge(
        [Case("", "the city Paris", "Paris", True)]
    )
    assert judged_one.score
    assert judged_one.correct is (judged_one.score >= 0.5)


def test_a_name_that_means_nothing_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'choice'"):
        resolve_target("choize")


def test_a_command_reads_rows_and_prints_scores(tmp_path: Path) -> None:
    script = tmp_path / "grade.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    if row['completion'] == 'crash': sys.exit(3)\n"
        "    print(json.dumps({'score': float(row['reference'] in row['completion'])}))\n"
    )
    target = resolve_target(f"{sys.executable} {script}")
    assert isinstance(target, CommandTarget)
    judged = target.judge([*CASES[:2], Case("", "crash", "42", False)])
    assert [result.correct for result in judged] == [True, False, None]
    assert judged[2].failure == "crash"
    assert judged[2].explanation == "exit status 3"
    (silent,) = CommandTarget("true").judge(CASES[:1])
    assert silent.failure == "exception"


@pytest.mark.slow
def test_a_file_s_function_is_imported_and_called_in_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "grader.py"
    file.write_text(
        "import os, time\n"
        f"assert os.getpid() != {json.dumps(__import__('os').getpid())}\n"
        "def reward(answer, reference):\n"
        "    if 'hang' in answer: time.sleep(1000)\n"
        "    if 'die' in answer: os._exit(3)\n"
        "    return float(reference in answer)\n"
        "odd = 5\n"
    )
    monkeypatch.setattr("rewardkit.audit.targets.SECONDS", 0.3)
    target = resolve_target(f"{file}:reward")
    texts = ["42", "41", "hang", "die", "42"]
    judged = target.judge([Case("", text, "42", text == "42") for text in texts])
    assert [result.correct for result in judged] == [True, False, None, None, True]
    assert [result.failure for result in judged] == [None, None, "hang", "crash", None]
    with pytest.raises(UsageError, match=r"can't be loaded: .*5 can't be called"):
        resolve_target(f"{file}:odd")
    with pytest.raises(UsageError, match=r"can't be loaded: .*no_such_module"):
        resolve_target("no_such_module:reward")


@pytest.mark.slow
def test_a_function_s_own_workers_may_need_more_memory_than_its_own(tmp_path: Path) -> None:
    file = tmp_path / "grader.py"
    file.write_text(
        "import mmap, rewardkit\n"
        "class Large:\n"
        "    def prepare(self):\n"
        "        self.held = mmap.mmap(-1, 2**31)\n"
        "    def __call__(self, text, sample):\n"
        "        return text == sample.reference\n"
        "def reward(answer, reference):\n"
        "    return rewardkit.verify(Large(), answer, reference).score\n"
    )
    judged = resolve_target(f"{file}:reward").judge(
        [Case("", text, "42", text == "42") for text in ("42", "41")]
    )
    assert [result.correct for result in judged] == [True, False], judged


def test_a_server_s_only_verifier_is_asked_and_of_several_one_must_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offered, asked = ["choice"], []

    def answer(_: object, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/verifiers":
            return httpx.Response(200, json={"verifiers": offered, "parameters": {}})
        body = json.loads(request.content)
        asked.append(body["verifier"])
        verdict = Verdict.judged(body["items"][0]["completion"] == "B", answer=None).as_json()
        return httpx.Response(200, json={"verdicts": [verdict]})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    target = resolve_target("http://127.0.0.1:8000/v1/score")
    (judged,) = target.judge([Case("", "B", "B", True)])
    assert judged.correct is True
    assert isinstance(target, VerifierTarget)
    offered.append("math")
    with pytest.raises(UsageError, match=r"offers choice, math; name one: .*\?verifier=choice"):
        resolve_target("http://127.0.0.1:8000/v1/score")
    resolve_target("http://127.0.0.1:8000/v1/score?verifier=math").judge([Case("", "B", "B", True)])
    assert asked == ["choice", "math"]
