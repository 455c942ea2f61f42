"""What holds for both engines that run a checkpoint here; vLLM is the real one, on a CPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from rewardkit.harness.engines.transformers import TransformersBackend
from rewardkit.harness.engines.vllm import VllmBackend
from rewardkit.harness.options import EngineOptions
from rewardkit.harness.prompts.chat import tools_of
from rewardkit.protocols import Message, Request
from rewardkit.records import Sampling
from tests.harness.engines.sample_requests import complete, requests, start

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:vllm"),
    pytest.mark.filterwarnings("ignore:.*torch.distributed.reduce_op.*:FutureWarning"),
]

GREEDY = Sampling(max_tokens=24)
DRAWN = Sampling(max_tokens=24, temperature=1.0)
Local = TransformersBackend | VllmBackend


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(TransformersBackend, id="transformers"),
        pytest.param(VllmBackend, id="vllm", marks=pytest.mark.vllm),
    ],
)
def backend(request: pytest.FixtureRequest, tiny_checkpoint: Path) -> Iterator[Local]:
    found: Local = request.param(str(tiny_checkpoint), EngineOptions())
    start(found, requests(found, samples=4), 128)  # room for tools
    yield found
    found.close()


def test_greedy_completions_are_the_same_again_and_alone(backend: Local) -> None:
    sent = requests(backend)
    together = complete(backend, sent, GREEDY)
    assert complete(backend, sent, GREEDY) == together
    for request in sent[:3]:
        assert complete(backend, [request], GREEDY)[request.key] == together[request.key]


def test_tools_reach_the_engine_through_the_chat_template(
    backend: Local, tiny_checkpoint: Path
) -> None:
    from transformers import PreTrainedTokenizerFast

    tools = tools_of({"function": [{"name": "a.b", "parameters": {"type": "dict"}}]})
    prompt = backend.render([Message("user", "How many?")], tools)
    rendered = PreTrainedTokenizerFast.from_pretrained(tiny_checkpoint).apply_chat_template(
        [{"role": "user", "content": "How many?"}], tools=tools, add_generation_prompt=True
    )
    assert "a_b" in prompt.text
    assert list(prompt.token_ids) == rendered["input_ids"]
    found = complete(backend, [Request("test/0/0", prompt, 0)], GREEDY)["test/0/0"]
    assert found.prompt_tokens == len(prompt.token_ids)


def test_lengths_and_reasons_are_kept(backend: Local) -> None:
    sent = requests(backend)
    for request in sent:
        found = complete(backend, [request], GREEDY)[request.key]
        assert found.prompt_tokens == len(request.prompt.token_ids)
        assert found.completion_tokens is not None
        if found.finish_reason == "length":
            assert found.completion_tokens == GREEDY.max_tokens
        else:
            assert found.finish_reason == "stop"
            assert found.completion_tokens <= GREEDY.max_tokens


def test_an_end_of_sequence_is_a_stop_and_not_in_the_text(backend: Local) -> None:
    drawn = complete(backend, requests(backend, samples=4), replace(DRAWN, max_tokens=64))
    ended = [one for one in drawn.values() if one.finish_reason == "stop"]
    assert ended
    assert not any("<|im_end|>" in one.text for one in drawn.values())
    assert all(one.completion_tokens <= 64 for one in ended if one.completion_tokens)


def test_the_checkpoint_s_own_tokenizer_writes_the_text(
    backend: Local, tiny_checkpoint: Path
) -> None:
    own = Tokenizer.from_file(str(tiny_checkpoint / "tokenizer.json"))
    found = complete(backend, requests(backend), GREEDY)
    assert not any("▁" in one.text for one in found.values())
    assert any(" " in one.text for one in found.values())
    text = next(iter(found.values())).text
    assert own.decode(own.encode(text, add_special_tokens=False).ids) == text


def test_a_stop_string_ends_the_text_before_it(backend: Local) -> None:
    sent = requests(backend)
    whole = complete(backend, sent, GREEDY)
    first = sent[0].key
    stop = whole[first].text[6:9]
    cut = complete(backend, sent, replace(GREEDY, stop=(stop, "never said")))
    assert cut[first].text == whole[first].text.partition(stop)[0]
    assert cut[first].finish_reason == "stop"
    assert (cut[first].completion_tokens or 0) < (whole[first].completion_tokens or 0)
    for key, completion in cut.items():
        assert stop not in completion.text
        if stop not in whole[key].text:
            assert completion == whole[key]


def test_a_stop_string_inside_the_thinking_ends_nothing(backend: Local) -> None:
    sent = requests(backend)[:2]
    opened = [
        replace(one, prompt=replace(one.prompt, text=f"{one.prompt.text}<think>")) for one in sent
    ]
    whole = complete(backend, opened, GREEDY)
    stop = whole[sent[0].key].text[6:9]
    assert complete(backend, opened, replace(GREEDY, stop=(stop,))) == whole
    assert complete(backend, sent, replace(GREEDY, stop=(stop,))) != complete(backend, sent, GREEDY)


def test_samples_of_one_prompt_differ_and_come_back(backend: Local) -> None:
    sent = requests(backend, samples=4)
    drawn = complete(backend, sent, DRAWN)
    for number in range(3):
        assert len({drawn[f"test/{number}/{index}"].text for index in range(4)}) == 4
    assert complete(backend, sent, DRAWN) == drawn
    others = requests(backend, samples=4, seed=7)
    assert complete(backend, others, DRAWN) != drawn


def test_seeds_hold_beside_more_prompts_than_one_step_takes(backend: Local) -> None:
    sent = requests(backend, samples=20)
    assert sum(len(request.prompt.token_ids) for request in sent) > 4096
    together = complete(backend, sent, replace(DRAWN, max_tokens=4))
    alone = complete(backend, sent[:5], replace(DRAWN, max_tokens=4))
    assert alone == {key: together[key] for key in alone}


def test_a_narrow_draw_is_greedy(backend: Local) -> None:
    sent = requests(backend)
    greedy = {key: one.text for key, one in complete(backend, sent, GREEDY).items()}
    for narrow in (replace(DRAWN, top_k=1), replace(DRAWN, top_p=1e-6)):
        drawn = complete(backend, sent, narrow)
        assert {key: one.text for key, one in drawn.items()} == greedy


def test_abandoned_requests_leave_nothing_behind(backend: Local) -> None:
    sent = requests(backend)
    whole = complete(backend, sent, GREEDY)
    stream = backend.generate(sent, GREEDY)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert complete(backend, sent, GREEDY) == whole


def test_the_record_says_what_ran(backend: Local) -> None:
    found = backend.describe()
    assert found["dtype"] == "float32"
    assert found["device"] == "cpu"
    assert found["chat_template"] == "on"
    assert found["version"]
    assert found["seed"]
    json.dumps(found)


@pytest.mark.vllm
def test_both_engines_say_the_same_and_start_again(tiny_checkpoint: Path) -> None:
    said = []
    for kind in (TransformersBackend, VllmBackend):
        backend: Local = kind(str(tiny_checkpoint), EngineOptions())
        sent = requests(backend)
        start(backend, sent)
        said.append({key: one.text for key, one in complete(backend, sent, GREEDY).items()})
        backend.close()
        backend.close()
    agreeing = [key for key in said[0] if said[0][key] == said[1][key]]
    assert len(agreeing) >= len(said[0]) - 1
