"""One name gives one verdict, whichever route a text takes to it."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

import rewardkit
from rewardkit.builtin import rewardkit_tasks, rewardkit_verifiers
from rewardkit.server.app import ServerSettings, create_app
from rewardkit.trainers import reward_func, reward_funcs
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

Scores = list[float | None]
Route = Callable[[str, list[str], str], Scores]

VERIFIERS, TASKS = dict(rewardkit_verifiers()), rewardkit_tasks()
del VERIFIERS["sql"]  # a reference alone judges nothing: it needs a column with a database
del VERIFIERS["judge"]  # it needs a model on a server: tests/verifiers/test_judge.py
POINTS = "(6.0), (7.0), (8.0), (9.0), (10.0)"
WORDS = "the quick fox"
ASKED = '[{"id": "keywords:existence", "kwargs": {"keywords": ["18"]}}]'
CALL = '[{"f": {"n": [18]}}]'
ASSERTS = '["assert f(1) == 2", "assert f(2) == 3"]'
REFERENCES = {
    "aqua": "B",
    "arc": "B",
    "bbh": WORDS,
    "bfcl": CALL,
    "choice": "B",
    "code": ASSERTS,
    "commonsense_qa": "B",
    "exact": WORDS,
    "f1": WORDS,
    "game24": "4 7 8 8",
    "game24_length": "4 7 8 8",
    "game24_outcome": "4 7 8 8",
    "game24_process": "4 7 8 8",
    "gpqa_diamond": "B",
    "humaneval": ASSERTS,
    "ifbench": ASKED,
    "ifeval": ASKED,
    "instructions": ASKED,
    "json_schema": '{"const": 18}',
    "livecodebench": '{"inputs": ["1"], "outputs": ["2"], "fn_name": "f"}',
    "mbpp": ASSERTS,
    "mmlu": "B",
    "mmlu_pro": "B",
    "motion": POINTS,
    "motion_accuracy": POINTS,
    "motion_format": POINTS,
    "regex": "the (quick|slow) fox",
    "tool_calls": CALL,
}
"""The reference of each verifier and task; that of all others is 18."""

ANSWERS = ["18", "18.0", "17", "36/2", "B", "(B)", "C", WORDS, "a fox", POINTS, "(6), (7.5)"]
ANSWERS += ["(7 - 8 / 8) * 4 = 24", "8 - 7 + 4 + 8", "", "5 or 18"]
FORMS = [
    "{}",
    "#### {}",
    r"\boxed{{{}}}",
    "<answer>{}</answer>",
    "Answer: {}",
    "The answer is {}.",
    "<think>\n9 + 9\n</think> <answer> {} </answer>",
    "<reasoning>\n9 + 9\n</reasoning>\n<answer>\n{}\n</answer>\n",
    "[Analysis]\nS1 Δx1 = 1\nS2 v = 1.0\nS3\n[ANSWER]\n{}\n[End]",
]
STEPS = [
    "",
    "8 / 8 = 1\n7 - 1 = 6\n",
    "Wait.\n",
    "<think>maybe 18</think>\n",
    "<think>",
    "9 + 9 = 18\n",
]


def texts(count: int = 300) -> list[str]:
    """Every answer in every form, and further texts round them, drawn with a fixed seed."""
    plain = [form.format(answer) for form in FORMS for answer in ANSWERS]
    longer = [steps + text + end for steps in STEPS for text in plain for end in ("", "\nDone")]
    return plain + random.Random("one verdict").sample(longer, count - len(plain))


TEXTS = texts()
PROGRAMS = ["", "no program"] + [
    f"So:\n```python\ndef f(n):\n    {body}\n```"
    for body in ("return n + 1", "return 2", "return n", "import os; os._exit(0)", "return (n")
]


CALLS = ["", "no call", "f(n=18)", "f(n=17)", "<think>f(n=18)</think>", "[f(n=18), f(n=18)]"]
CALLS += ['<tool_call>{"name": "f", "arguments": {"n": 18}}</tool_call>', "[TOOL_CALLS]f"]


def texts_for(name: str) -> list[str]:
    """The texts that tell right from wrong for a verifier or a task."""
    if name in ("bfcl", "tool_calls"):
        return CALLS
    return PROGRAMS if name in ("code", "humaneval", "livecodebench", "mbpp") else TEXTS


def adapter(host: str, name: str) -> Any:
    return getattr(importlib.import_module(f"rewardkit.frameworks.{host}"), name)


def verify_batch(name: str, texts: list[str], reference: str) -> Scores:
    verifier = name if name in VERIFIERS else rewardkit.load_task(name).verifier()
    verdicts = rewardkit.verify_batch(verifier, texts, [reference] * len(texts), workers=1)
    return [verdict.score for verdict in verdicts]


def verify(name: str, texts: list[str], reference: str) -> Scores:
    return [rewardkit.verify(name, text, reference).score for text in texts]


def server(name: str, texts: list[str], reference: str) -> Scores:
    items = [{"completion": text, "reference": reference} for text in texts]
    app = create_app(ServerSettings(verifiers=(name,), workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.post("/v1/score", json={"verifier": name, "items": items})
        rewards = [
            client.post("/rm", json={"response": text, "label": reference}) for text in texts[:9]
        ]
    scores = [verdict["score"] for verdict in answer.json()["verdicts"]]
    assert [reward.json() for reward in rewards] == [score or 0.0 for score in scores[:9]]
    return scores


def command(folder: Path, *arguments: str) -> Scores:
    assert run_command(*arguments, "-o", folder / "out", "--quiet") == 0
    lines = (folder / "out" / "samples.jsonl").read_text().splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: int(row["id"]))
    return [row["verdict"]["score"] for row in rows]


def one_reward(name: str, texts: list[str], reference: str) -> Scores:
    return reward_func(name, workers=1)(texts, reference=[reference] * len(texts))


def total_of_rewards(name: str, texts: list[str], reference: str) -> Scores:
    functions, weights = reward_funcs(name, workers=1)
    columns: dict[str, Any] = {"prompts": ["?"] * len(texts), "reference": [reference] * len(texts)}
    rewards = [function(texts, **columns) for function in functions]
    return [
        None
        if None in scores
        else sum(weight * score for weight, score in zip(weights, scores, strict=True))
        / sum(weights)
        for scores in zip(*rewards, strict=True)
    ]


def by_path(name: str, texts: list[str], reference: str) -> Scores:
    reward = getattr(importlib.import_module("rewardkit.rewards"), name)
    scores: Scores = reward(texts, reference=[reference] * len(texts))
    return scores


def verl(name: str, texts: list[str], reference: str) -> Scores:
    infos = [adapter("verl", name)("data", text, reference) for text in texts]
    return [None if info["unjudged"] else info["score"] for info in infos]


def openrlhf(name: str, texts: list[str], reference: str) -> Scores:
    count = len(texts)
    judged = adapter("openrlhf", name)(
        [f"? {text}" for text in texts], ["? "] * count, [reference] * count
    )
    return judged_or_none(judged["rewards"], judged["extra_logs"]["unjudged"])


def ms_swift(name: str, texts: list[str], reference: str) -> Scores:
    scores: Scores = adapter("ms_swift", name)()(texts, reference=[reference] * len(texts))
    return scores


def easyr1(name: str, texts: list[str], reference: str) -> Scores:
    rows = adapter("easyr1", name)(
        [{"response": text, "ground_truth": reference} for text in texts]
    )
    return [None if row["unjudged"] else row["overall"] for row in rows]


def slime(name: str, texts: list[str], reference: str) -> Scores:
    group = [SimpleNamespace(response=text, label=reference, metadata={}) for text in texts]
    scores: Scores = asyncio.run(adapter("slime", name)(None, group))
    return scores


def areal(name: str, texts: list[str], reference: str) -> Scores:
    return [adapter("areal", name)("?", text, reference=reference) for text in texts]


def rllm(name: str, texts: list[str], reference: str) -> Scores:
    episodes = [SimpleNamespace(artifacts={"answer": text}, trajectories=[]) for text in texts]
    return [
        adapter("rllm", name)({"reference": reference}, episode)["reward"] for episode in episodes
    ]


def lm_eval(name: str, texts: list[str], reference: str) -> Scores:
    return [adapter("lm_eval", name)({"reference": reference}, [text])["score"] for text in texts]


def verifiers(name: str, texts: list[str], reference: str) -> Scores:
    task = SimpleNamespace(model_dump=lambda: {"reference": reference})

    async def judge_all() -> Scores:
        reward = adapter("verifiers", name)
        traces = [
            SimpleNamespace(
                last_reply=text, record_metric=lambda *_: None, messages=[], assistant_messages=[]
            )
            for text in texts
        ]
        return [await reward(task, trace) for trace in traces]

    return asyncio.run(judge_all())


def judged_or_none(scores: Sequence[float], unjudged: Sequence[float]) -> Scores:
    return [None if flag else score for score, flag in zip(scores, unjudged, strict=True)]


ANY_NAME: list[Route] = [one_reward, total_of_rewards, by_path, verl, openrlhf, ms_swift, easyr1]
ANY_NAME += [slime, areal, rllm, lm_eval, verifiers]
WITHOUT_A_FLAG = (slime, areal, rllm, lm_eval, verifiers)
"""Adapters whose hosts take nothing but a number: an unjudged completion is 0."""


@pytest.mark.parametrize("name", sorted({*VERIFIERS, *TASKS}))
def test_rewards_and_adapters_pay_what_verify_says(name: str) -> None:
    reference, texts = REFERENCES.get(name, "18"), texts_for(name)
    expected = verify_batch(name, texts, reference)
    assert len(set(expected)) > 1, "the texts don't tell right from wrong"
    for route in ANY_NAME:
        known = [score or 0.0 for score in expected] if route in WITHOUT_A_FLAG else expected
        assert route(name, texts, reference) == pytest.approx(known, abs=1e-12), route.__name__


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes rows.jsonl with texts as completions, and the columns given."""
    monkeypatch.chdir(tmp_path)

    def write(texts: Sequence[str] = TEXTS, **columns: object) -> None:
        lines = [
            {"id": str(index), "question": "?", "completion": text, **columns}
            for index, text in enumerate(texts)
        ]
        write_rows("rows.jsonl", lines)

    return write


@pytest.mark.parametrize("name", sorted(VERIFIERS))
def test_verify_eval_score_and_the_server_agree(
    name: str, rows: Callable[..., None], tmp_path: Path
) -> None:
    reference, texts = REFERENCES.get(name, "18"), texts_for(name)
    rows(texts, reference=reference, options=["6", "18", "9", "72"])
    fields = ["--reference-field", "reference", "--verifier", name]
    Path("plain.jinja").write_text("{{ question }}")  # it asks for no answer style of its own
    replay = ["--data", "rows.jsonl", "--question-field", "question", "--model", "rows.jsonl"]
    replay += ["--prompt", "plain.jinja", "--backend", "replay"]
    expected = verify_batch(name, texts, reference)
    assert verify(name, texts, reference) == expected
    assert server(name, texts, reference) == expected
    assert command(tmp_path / "1", "score", "rows.jsonl", *fields) == expected
    shown = ["--choices-field", "options"] if name == "choice" else []
    assert command(tmp_path / "2", "eval", *replay, *fields, *shown) == expected


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("gsm8k", {"answer": "9 + 9 = 18 #### 18"}),
        ("game24", {"numbers": [4, 7, 8, 8]}),
        ("motion", {"points": [1, 2, 3, 4, 5], "targets": [6, 7, 8, 9, 10]}),
    ],
)
def test_a_task_of_the_same_name_judges_its_rows_as_the_verifier_does(
    name: str, columns: dict[str, Any], rows: Callable[..., None], tmp_path: Path
) -> None:
    rows(**columns)
    sample = rewardkit.load_task(name).sample({"question": "?", **columns}, 0)
    references = [sample.reference] * len(TEXTS)
    more = [{"question": "?", **columns}] * len(TEXTS)
    verdicts = rewardkit.verify_batch(name, TEXTS, references, columns=more, workers=1)
    expected = [verdict.score for verdict in verdicts]
    evaluated = ["--task", name, "--data", "rows.jsonl"]
    replay = ["--model", "rows.jsonl", "--backend", "replay"]
    assert command(tmp_path / "1", "eval", *evaluated, *replay) == expected
    assert command(tmp_path / "2", "score", "rows.jsonl", "--task", name) == expected
    listed: dict[str, Any] = {key: [value] * len(TEXTS) for key, value in columns.items()}
    assert reward_func(name, workers=1)(TEXTS, **listed) == expected
    info = [adapter("areal", name)("?", text, **columns) for text in TEXTS]
    assert info == expected
