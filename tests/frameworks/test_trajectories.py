"""Every host and every route of the server: whose answer is read, against which references."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy
import pyarrow
import pytest
from pydantic import BaseModel, ConfigDict
from starlette.testclient import TestClient

import rewardkit.rewards
from rewardkit.errors import DataError
from rewardkit.frameworks import openrlhf, rllm, slime, verifiers, verl
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.server.app import ServerSettings, create_app
from rewardkit.text.transcripts import last_message
from tests import test_one_verdict as routes
from tests.support.chat_templates import FAMILIES, SPEAKERS, trajectory

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("skyrl_gym_base")]

Pay = Callable[[Any, Any], float | None]
"""The reward of a completion for a reference."""

BOX, NO_IDEA = r"It is \boxed{4}.", "I do not know."


def of_skyrl_gym(text: str, reference: object) -> float:
    from rewardkit.frameworks import skyrl_gym

    environment = skyrl_gym.environment_class("math")(
        extras={"reward_spec": {"ground_truth": reference}}
    )
    return float(environment.step(text)["reward"])


def by_route(route: Any) -> Pay:
    return lambda text, reference: route("math", [text], reference)[0] or 0.0


ROUTES_OF_HOSTS: tuple[Any, ...] = (routes.verl, routes.slime, routes.areal, routes.easyr1)
ROUTES_OF_HOSTS += (routes.ms_swift, routes.verifiers, routes.rllm, routes.lm_eval)
ADAPTERS: dict[str, Pay] = {
    **{route.__name__: by_route(route) for route in ROUTES_OF_HOSTS},
    "openrlhf": lambda text, reference: openrlhf.math(["Q " + text], ["Q "], [reference])[
        "rewards"
    ],
    "skyrl_gym": of_skyrl_gym,
    "trl": lambda text, reference: (
        rewardkit.rewards.math([text, BOX], reference=[reference, "4"])[0] or 0.0
    ),
}
ROUTES: dict[str, Callable[[str, Any], dict[str, Any]]] = {
    "/v1/score": lambda text, reference: {
        "verifier": "math",
        "items": [{"completion": text, "reference": reference}],
    },
    "/rm/math": lambda text, reference: {"response": text, "label": reference},
    "/get_reward/math": lambda text, reference: {
        "query": ["Q " + text],
        "prompts": ["Q "],
        "labels": [reference],
    },
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = create_app(ServerSettings(verifiers=("math",)))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def score_of(client: TestClient, path: str, text: str, reference: object) -> float:
    answer = client.post(path, json=ROUTES[path](text, reference))
    assert answer.status_code == 200, answer.text
    body = answer.json()
    if path == "/v1/score":
        return float(body["verdicts"][0]["score"] or 0)
    return float(body if isinstance(body, float) else body.get("rewards", body.get("reward")))


def payers(client: TestClient) -> Iterator[tuple[str, Pay]]:
    yield from ADAPTERS.items()
    for path in ROUTES:
        yield path, partial(score_of, client, path)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("speaker", SPEAKERS)
def test_only_the_model_s_own_answer_pays(client: TestClient, family: str, speaker: str) -> None:
    another_s = trajectory(family, speaker, statement=BOX, reply=NO_IDEA)
    own = trajectory(family, speaker, statement=r"\boxed{5}", reply=BOX)
    for name, pay in payers(client):
        assert (pay(another_s, "4"), pay(own, "4")) == (0.0, 1.0), name


def test_without_special_tokens_a_tool_s_answer_does_not_pay(client: TestClient) -> None:
    text = f"\nuser\n<tool_response>\n{BOX}\n</tool_response>\nassistant\n"
    for name, pay in payers(client):
        assert pay(text + NO_IDEA, "4") == 0.0, name
        assert pay(text + BOX, "4") == 1.0, name


ALTERNATIVES = [["5", "4"], ("5", 4), ["4", None]]
ARRAYS = [numpy.array([5, 4]), numpy.array(["4"], dtype=object), pyarrow.array(["5", "4"])]


def test_several_references_are_alternatives(client: TestClient) -> None:
    for name, pay in payers(client):
        for references in [*ALTERNATIVES, *([] if name in ROUTES else ARRAYS)]:
            assert pay(BOX, references) == 1.0, (name, references)
            assert pay(r"\boxed{7}", references) == 0.0, (name, references)


def test_no_reference_is_unjudged_and_no_other_column_takes_its_place() -> None:
    for name, pay in ADAPTERS.items():
        for missing in (None, float("nan"), [], [None]):
            assert pay(BOX, missing) == 0.0, name
    assert verl.math("d", BOX, None, {"answer": "4"})["unjudged"] == 1.0
    sample = SimpleNamespace(response=BOX, label=None, metadata={"answer": "4"})
    assert asyncio.run(slime.math(None, sample)) == 0.0
    assert rewardkit.rewards.math([BOX, BOX], reference=[None, "4"]) == [None, 1.0]


def test_no_reference_is_unjudged_on_every_route(client: TestClient) -> None:
    for path in ROUTES:
        assert score_of(client, path, BOX, None) == 0.0, path


@pytest.mark.parametrize("reference", [[["4"]], ["4", {"a": 1}]])
def test_any_other_reference_is_an_error(client: TestClient, reference: object) -> None:
    for pay in ADAPTERS.values():
        with pytest.raises(DataError, match="the reference in the column"):
            pay(BOX, reference)
    for path in ROUTES:
        answer = client.post(path, json=ROUTES[path](BOX, reference))
        assert answer.status_code == 422, path
        assert "the reference in the column" in answer.json()["detail"]


def test_no_completion_is_no_answer(client: TestClient) -> None:
    assert verl.math("d", None, "4")["failure"] == "no_answer"
    for name, pay in ADAPTERS.items():
        if name not in ("openrlhf", "rllm"):  # they make the text themselves
            assert pay(None, "4") == 0.0, name
    body = ROUTES["/v1/score"]("", "4")
    body["items"][0]["completion"] = None
    verdict = client.post("/v1/score", json=body).json()["verdicts"][0]
    assert verdict["failure"] == "no_answer"


CHAT = [
    {"role": "assistant", "content": "Let me look."},
    {"role": "tool", "content": BOX},
    {"role": "assistant", "content": NO_IDEA},
    {"role": "user", "content": BOX},
]
OWN = [{"role": "user", "content": "?"}, {"role": "assistant", "content": [{"text": BOX}]}]


def test_of_messages_the_assistant_s_last_is_read(client: TestClient) -> None:
    assert [verl.math("d", chat, "4")["score"] for chat in (CHAT, OWN)] == [0.0, 1.0]
    assert rewardkit.rewards.math([CHAT, OWN], reference=["4", "4"]) == [0.0, 1.0]
    body = ROUTES["/v1/score"]("", "4")
    body["items"] = [{"completion": chat, "reference": "4"} for chat in (CHAT, OWN)]
    verdicts = client.post("/v1/score", json=body).json()["verdicts"]
    assert [verdict["score"] for verdict in verdicts] == [0.0, 1.0]


class Message(BaseModel):
    """A message or a call of verifiers 0.4.0: its fields are attributes."""

    model_config = ConfigDict(extra="allow")
    tool_calls: list[Any] | None = None


def verifiers_chat(name: str, chat: list[dict[str, Any]], reference: str) -> float:
    """A trace of a chat whose first reply the prompt supplied."""
    messages: list[Any] = [Message(**message) for message in chat]
    for message in messages:
        if calls := getattr(message, "tool_calls", None):
            message.tool_calls = [
                Message.model_validate({"id": "1", **call["function"]}) for call in calls
            ]
    own = [message for message in messages if message.role == "assistant"][1:]
    reply = own[-1].content.strip() if own else ""
    task = SimpleNamespace(model_dump=lambda: {"answer": reference})
    trace = SimpleNamespace(
        last_reply=reply,
        record_metric=lambda *_: None,
        messages=messages,
        assistant_messages=own,
    )
    return float(asyncio.run(getattr(verifiers, name)(task, trace)))


def rllm_chat(name: str, chat: list[dict[str, Any]], reference: str) -> float:
    """An episode of training: each step has the chat so far."""
    ends = [end for end, message in enumerate(chat, 1) if message["role"] == "assistant"][1:]
    steps = [
        SimpleNamespace(
            output=chat[end - 1]["content"],
            model_response=chat[end - 1]["content"],
            chat_completions=chat[:end],
        )
        for end in ends
    ]
    trajectory = SimpleNamespace(output=None, steps=steps)
    episode = SimpleNamespace(artifacts={}, trajectories=[trajectory])
    return float(getattr(rllm, name)({"ground_truth": reference}, episode)["reward"])


CALL = {"type": "function", "function": {"name": "f", "arguments": '{"n": 4}'}}
ANOTHER = {"type": "function", "function": {"name": "f", "arguments": '{"n": 5}'}}
CALL_OF_4 = '[{"name": "f", "arguments": {"n": 4}}]'
SUPPLIED = [
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": BOX},
    {"role": "user", "content": "Look it up."},
]


def looked_up(reply: str, *calls: dict[str, Any], first: dict[str, Any]) -> list[dict[str, Any]]:
    last = {"role": "assistant", "content": reply, **({"tool_calls": [*calls]} if calls else {})}
    return [
        *SUPPLIED,
        {"role": "assistant", "content": "", "tool_calls": [first]},
        {"role": "tool", "content": BOX, "tool_call_id": "1"},
        last,
    ]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Sample]]:
    """The items that reach the verifiers."""
    items: list[tuple[str, Sample]] = []

    def judge(_: object, given: list[tuple[str, Sample]], *__: object, **___: object) -> Any:
        items.extend(given)
        return [Verdict.wrong(Failure.WRONG)] * len(given)

    monkeypatch.setattr("rewardkit.judging.rows.judge_many", judge)
    return items


@pytest.mark.parametrize("pay", [verifiers_chat, rllm_chat])
class TestHostsWithMessages:
    def test_what_only_a_tool_or_the_prompt_states_does_not_pay(self, pay: Any) -> None:
        assert pay("math", looked_up(NO_IDEA, first=CALL), "4") == 0.0
        assert pay("math", looked_up(BOX, first=CALL), "4") == 1.0
        assert pay("math", SUPPLIED, "4") == 0.0

    def test_the_calls_of_the_last_message_are_judged(self, pay: Any) -> None:
        assert pay("tool_calls", looked_up("", CALL, first=ANOTHER), CALL_OF_4) == 1.0
        assert pay("tool_calls", looked_up("", ANOTHER, first=CALL), CALL_OF_4) == 0.0
        assert pay("tool_calls", looked_up("Done.", first=CALL), CALL_OF_4) == 0.0

    def test_verifiers_get_the_whole(self, pay: Any, judged: list[tuple[str, Sample]]) -> None:
        pay("math", looked_up(NO_IDEA, CALL, first=ANOTHER), "4")
        ((text, sample),) = judged
        conversation: Any = sample.columns["conversation"]
        assert text == NO_IDEA
        assert [turn["role"] for turn in conversation] == [
            *("user", "assistant", "user", "assistant", "tool", "assistant")
        ]
        assert [last_message(conversation, role) for role in ("tool", "assistant")] == [
            *(BOX, NO_IDEA)
        ]
        assert sample.columns["tool_calls"] == [CALL]


def test_a_trace_that_ends_with_a_tool_s_message_closes_with_the_model_s(
    judged: list[tuple[str, Sample]],
) -> None:
    chat = looked_up(NO_IDEA, first=CALL)[:-1]
    verifiers_chat("math", chat, "4")
    ((text, sample),) = judged
    conversation: Any = sample.columns["conversation"]
    assert (text, conversation[-1]["tool_calls"]) == ("", [CALL])
    assert len(conversation) == len(chat) - 1


def test_an_answer_that_an_rllm_agent_extracted_follows_its_conversation(
    judged: list[tuple[str, Sample]],
) -> None:
    chat = looked_up(NO_IDEA, first=CALL)
    step = SimpleNamespace(output=None, model_response=NO_IDEA, chat_completions=chat)
    last = SimpleNamespace(output=None, steps=[step])
    for answer in ("5", None, [{"role": "assistant", "content": "5"}]):
        episode = SimpleNamespace(artifacts={"answer": answer}, trajectories=[last])
        rllm.math({"ground_truth": "4"}, episode)
    (extracted, sample), (from_messages, _) = judged
    assert (extracted, from_messages) == ("5", "5")
    assert sample.columns["conversation"] == [*chat, {"role": "assistant", "content": "5"}]


class TestVerlManager:
    PIECES: tuple[str, ...] = (
        "",
        "Look it up. ",
        rf"<information>{BOX}</information> ",
        NO_IDEA,
        BOX,
        "<pad>",
    )
    PIECES += ('<tool_call>{"name": "f", "arguments": {"n": 4}}</tool_call>',)

    @pytest.fixture
    def score(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
        """The score of a trajectory of pieces over a stand-in for verl's manager `naive`."""
        torch = pytest.importorskip("torch")

        class Naive:
            def __init__(self, config: Any, tokenizer: Any, compute_score: Any) -> None:
                self.tokenizer, self.compute_score = tokenizer, compute_score
                self.loop = asyncio.get_running_loop()

            async def run_single(self, data: Any) -> Any:
                (responses,), (attended,) = data.batch["responses"], data.batch["attention_mask"]
                length = attended[-len(responses) :].sum()
                (model,) = data.non_tensor_batch["reward_model"]
                (extra,) = data.non_tensor_batch.get("extra_info", [{}])
                text = self.tokenizer.decode(responses[:length], skip_special_tokens=True)
                return self.compute_score("d", text, model["ground_truth"], extra)

        class Batch(SimpleNamespace):
            def __getitem__(self, _: slice) -> Batch:
                return self

            @classmethod
            def from_dict(cls, tensors: Any, non_tensors: Any) -> Batch:
                return cls(batch=tensors, non_tensor_batch=non_tensors)

        path = "verl.experimental.reward_loop.reward_manager.naive"
        for end in range(1, 6):
            name = ".".join(path.split(".")[:end])
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        vars(sys.modules[path])["NaiveRewardManager"] = Naive
        verl._reward_manager.cache_clear()

        def decode(ids: Any, *, skip_special_tokens: bool) -> str:
            assert not skip_special_tokens
            return "".join(self.PIECES[int(one)] for one in ids)

        def score(
            name: str, responses: list[int], mask: list[int], reference: str, **rows: Any
        ) -> float:
            tensors = {
                "responses": torch.tensor([responses]),
                "attention_mask": torch.tensor([[1, 1, *(one != 5 for one in responses)]]),
                "response_mask": torch.tensor([mask]),
            }
            facts = {"reward_model": [{"ground_truth": reference}], **rows}

            async def judge() -> Any:
                tokenizer = SimpleNamespace(decode=decode)
                manager = verl.RewardManager(None, tokenizer, getattr(verl, name))
                return await manager.run_single(Batch.from_dict(tensors, facts))

            return float(asyncio.run(judge())["score"])

        return score

    def test_what_only_a_tool_states_does_not_pay(self, score: Callable[..., float]) -> None:
        assert score("math", [1, 2, 3, 5], [1, 0, 1, 0], "4") == 0.0
        assert score("math", [1, 2, 4, 5], [1, 0, 1, 0], "4") == 1.0

    def test_the_calls_of_the_last_turn_are_judged(self, score: Callable[..., float]) -> None:
        assert score("tool_calls", [1, 2, 6], [1, 0, 1], CALL_OF_4) == 1.0
        assert score("tool_calls", [6, 2, 3], [1, 0, 1], CALL_OF_4) == 0.0

    def test_verifiers_get_the_whole(
        self, score: Callable[..., float], judged: list[tuple[str, Sample]]
    ) -> None:
        row = {"level": 3, "conversation": "the data's own"}
        for rows in ({"extra_info": [row]}, {}):
            score("math", [1, 2, 3, 5], [1, 0, 1, 0], "4", **rows)
        assert [text for text, _ in judged] == [NO_IDEA] * 2
        whole = "".join(self.PIECES[1:4])
        assert [sample.columns["conversation"] for _, sample in judged] == [whole] * 2
        assert judged[0][1].columns["level"] == 3
        assert row["conversation"] == "the data's own"  # samples of a prompt share the row


class TestOpenRlhf:
    PROMPT = "Is the cafe\u0301 number \\boxed{4}? Say what you think of it.\n"

    @pytest.mark.parametrize("query", [PROMPT.replace("e\u0301", "é"), PROMPT[12:]])
    def test_the_prompt_s_answer_does_not_pay(self, client: TestClient, query: str) -> None:
        body = {"prompts": [self.PROMPT], "labels": ["4"]}
        for reply, reward in ((NO_IDEA, 0.0), (BOX, 1.0)):
            assert openrlhf.math([query + reply], [self.PROMPT], ["4"])["rewards"] == reward
            answer = client.post("/get_reward", json={"query": [query + reply], **body})
            assert answer.json()["rewards"] == reward

    def test_a_query_without_its_prompt_is_unjudged(self, client: TestClient) -> None:
        query = "Another prompt with \\boxed{4}"
        logs = {"acc": 0.0, "unjudged": 1.0}
        assert openrlhf.math([query], [self.PROMPT], ["4"])["extra_logs"] == logs
        body = {"query": [query], "prompts": [self.PROMPT], "labels": ["4"]}
        assert client.post("/get_reward", json=body).json()["extra_logs"] == logs


def test_a_file_with_transcripts_is_scored_alike(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from rewardkit.cli.main import app

    rows = [
        {"completion": trajectory("qwen", "tool", statement=BOX, reply=NO_IDEA), "reference": "4"},
        {
            "completion": trajectory("llama", "tool", statement="5", reply=BOX),
            "reference": ["4", 5],
        },
        {"completion": CHAT, "reference": "4"},
        {"completion": OWN, "reference": ["5", "4"]},
    ]
    file, folder = tmp_path / "rows.jsonl", tmp_path / "run"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for source in (file, folder):
        words = ["score", str(source), "--verifier", "math", "-o", str(folder)]
        if source == folder:
            words = ["score", str(source), "-o", str(tmp_path / "again")]
        done = CliRunner().invoke(app(words), words)
        assert done.exit_code == 0, done.output
    for scored in (folder, tmp_path / "again"):
        lines = (scored / "samples.jsonl").read_text().splitlines()
        verdicts = [json.loads(line)["verdict"]["correct"] for line in lines]
        assert verdicts == [False, True, False, True]
