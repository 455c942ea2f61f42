"""Each adapter called as its trainer calls it, with objects that have the trainer's attributes.

The tests in hosts/ use the trainers themselves; see scripts/frameworks.
"""

from __future__ import annotations

import ast
import asyncio
import pickle
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rewardkit.errors import DataError, UsageError
from rewardkit.frameworks import (
    areal,
    easyr1,
    lighteval,
    lm_eval,
    ms_swift,
    nemo_gym,
    openrlhf,
    rllm,
    skyrl_gym,
    slime,
    verifiers,
    verl,
)
from rewardkit.text.transcripts import last_message

FRAMEWORKS = Path(verl.__file__).parent
GUIDES = FRAMEWORKS.parents[1] / "docs/guides/frameworks"
RIGHT, WRONG, UNREADABLE = (r"\boxed{1/2}", "0.5"), (r"\boxed{3}", "4"), (r"\boxed{5}", "")


class TestVerl:
    def test_the_score_and_what_was_read(self) -> None:
        info = verl.math("data", *RIGHT, {"index": 3})
        assert info == {"score": 1.0, "acc": 1.0, "unjudged": 0.0, "pred": "1/2", "failure": ""}

    def test_reward_kwargs_are_its_parameters(self) -> None:
        assert verl.math("data", *WRONG, None, low=-1.0)["score"] == -1.0
        assert verl.reward_function("math", low=-1.0)("data", *WRONG)["score"] == -1.0

    def test_columns_that_are_not_plain_stay_in_the_trainer(self) -> None:
        assert verl.math("data", *RIGHT, {"image": object()})["score"] == 1.0
        served = {"reward_router_address": "127.0.0.1:80", "reward_model_tokenizer": object()}
        assert verl.math("data", *RIGHT, **served)["score"] == 1.0


class TestLmEval:
    def test_repeats_are_a_list_and_give_means(self) -> None:
        figures = lm_eval.exact({"answer": "A"}, [["A", "B"]])
        assert figures == {"acc": 0.5, "score": 0.5, "unjudged": 0.0}
        assert lm_eval.exact({"answer": None}, ["A"]) == {"acc": 0.0, "score": 0.0, "unjudged": 1.0}

    def test_a_prompt_of_several_turns_is_refused(self, tmp_path: Path) -> None:
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"question": "2 + 3?", "answer": "#### 5"}\n')
        assert "2 + 3?" in lm_eval.problems("gsm8k", data=str(rows))["test"]["prompt"][0]
        with pytest.raises(UsageError, match="has 2 turns and lm-eval takes one"):
            lm_eval.problems("gsm8k", prompt="xml", data=str(rows))


class TestOpenRlhf:
    def test_one_query_gives_numbers(self) -> None:
        rewards = openrlhf.math([r"2+3? \boxed{5}<|im_end|>"], ["2+3?"], ["5"])
        assert rewards == {"rewards": 1.0, "scores": 1.0, "extra_logs": {"acc": 1.0, "unjudged": 0}}

    def test_several_give_lists(self) -> None:
        rewards = openrlhf.exact(["Q? A</s>", "Q? <eos>", "Q? A"], ["Q? "] * 3, ["A", "A", None])
        assert rewards["rewards"] == rewards["scores"] == [1.0, 0.0, 0.0]
        assert rewards["extra_logs"]["unjudged"] == [0.0, 0.0, 1.0]


class TestMsSwift:
    def test_a_batch_with_its_columns(self) -> None:
        texts, references = zip(RIGHT, WRONG, UNREADABLE, strict=True)
        reward = ms_swift.math(args=None)
        columns = {"solution": list(references), "trainer_state": None, "id": [1, 2, 3]}
        assert reward(list(texts), **columns) == [1.0, 0.0, None]


class TestVerifiers:
    def test_the_last_reply_is_judged_and_recorded(self) -> None:
        metrics: dict[str, float] = {}
        task = SimpleNamespace(model_dump=lambda: {"prompt": "1/2?", "answer": "0.5", "idx": 3})
        trace = SimpleNamespace(
            last_reply=RIGHT[0],
            record_metric=metrics.__setitem__,
            messages=[],
            assistant_messages=[],
        )
        assert asyncio.run(verifiers.math(task, trace)) == 1.0
        assert metrics == {"math/unjudged": 0.0}


class TestSlime:
    def sample(self, response: str, label: str | None) -> Any:
        return SimpleNamespace(response=response, label=label, prompt="?", metadata={"level": 3})

    def test_of_a_masked_sample_the_last_run_of_tokens_is_judged(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tokenizer = SimpleNamespace(decode=lambda ids: "".join(map(chr, ids)))
        rollout = ModuleType("slime.rollout.sglang_rollout")
        rollout.GenerateState = lambda args: SimpleNamespace(tokenizer=tokenizer)  # type: ignore[attr-defined]
        for name in ("slime", "slime.rollout"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, rollout.__name__, rollout)
        call, result = "Look it up. ", r"<information>\boxed{4}</information> "
        for reply, score in (("I do not know.", 0.0), (r"\boxed{4}", 1.0)):
            text = call + result + reply
            sample = self.sample(text, "4")
            sample.tokens = [ord(character) for character in "prompt " + text]
            sample.loss_mask = [1] * len(call) + [0] * len(result) + [1] * len(reply)
            assert asyncio.run(slime.math(None, sample)) == score
        rows: list[Any] = []

        def score_rows(texts: object, given: list[Any]) -> tuple[list[float], object]:
            rows.extend(given)
            return [0.0], None

        with monkeypatch.context() as patched:
            patched.setattr(slime, "scorer", lambda name: SimpleNamespace(score=score_rows))
            asyncio.run(slime.math(None, sample))
        assert rows[0]["conversation"] == text
        sample.loss_mask = [1] * len(text)
        assert asyncio.run(slime.exact(None, self.sample("A", "A"))) == 1.0

    def test_a_group_is_a_list(self) -> None:
        group = [self.sample(*RIGHT), self.sample(*WRONG), self.sample(*UNREADABLE)]
        assert asyncio.run(slime.math(None, group)) == [1.0, 0.0, 0.0]
        judged = slime.reward_function("math", unjudged=-1)(None, group, evaluation=True)
        assert asyncio.run(judged) == [1.0, 0.0, -1.0]


class TestAreal:
    def test_it_is_picklable(self) -> None:
        for reward in (areal.math, areal.RewardFunction("math", low=-1)):
            assert pickle.loads(pickle.dumps(reward))("?", RIGHT[0], answer=RIGHT[1]) == 1.0


class TestRllm:
    def episode(self, **parts: Any) -> Any:
        return SimpleNamespace(**{"artifacts": {}, "trajectories": [], **parts})

    def test_the_reward_and_its_signals(self) -> None:
        task = SimpleNamespace(metadata={"ground_truth": "0.5"})
        result = rllm.math(task, self.episode(artifacts={"answer": RIGHT[0]}))
        assert result == {
            "reward": 1.0,
            "is_correct": True,
            "signals": {"acc": 1.0, "unjudged": 0.0},
            "metadata": {"pred": "1/2", "failure": ""},
        }

    def test_where_the_text_is(self) -> None:
        step = SimpleNamespace(output=None, model_response="B", chat_completions=[])
        tool_call = SimpleNamespace(output=None, model_response="", chat_completions=[])
        by_steps = SimpleNamespace(output=None, steps=[step, tool_call])
        by_output = SimpleNamespace(output="B", steps=[])
        messages = [{"role": "assistant", "content": "B"}, {"role": "tool", "content": "A"}]
        by_messages = SimpleNamespace(output=messages, steps=[])
        for trajectory in (by_steps, by_output, by_messages):
            episode = self.episode(trajectories=[trajectory])
            assert rllm.exact({"ground_truth": "B"}, episode)["reward"] == 1.0
        assert rllm.exact({"ground_truth": "B"}, self.episode())["reward"] == 0.0


class TestEasyR1:
    def test_a_batch_gives_numbers_only(self) -> None:
        inputs = [
            {"response": text, "response_length": 3, "ground_truth": reference}
            for text, reference in (RIGHT, UNREADABLE)
        ]
        assert easyr1.math(inputs, low=-1) == [
            {"overall": 1.0, "accuracy": 1.0, "unjudged": 0.0},
            {"overall": 0.0, "accuracy": 0.0, "unjudged": 1.0},
        ]


class TestLighteval:
    @pytest.fixture
    def compute(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        """The metric's `compute` over stand-ins for lighteval."""
        contents: dict[str, dict[str, object]] = {
            "lighteval": {},
            "lighteval.metrics": {},
            "lighteval.metrics.metrics_sample": {"SampleLevelComputation": object},
            "lighteval.metrics.utils": {},
            "lighteval.metrics.utils.metric_utils": {"SampleLevelMetricGrouping": SimpleNamespace},
            "lighteval.tasks": {},
            "lighteval.tasks.requests": {"SamplingMethod": SimpleNamespace(GENERATIVE=1)},
        }
        for name, attributes in contents.items():
            module = ModuleType(name)
            vars(module).update(attributes)
            monkeypatch.setitem(sys.modules, name, module)
        return lighteval.metric("math").sample_level_fn.compute

    @pytest.mark.parametrize(
        ("golds", "score", "unjudged"),
        [(["4"], 0.5, 0.0), (["7", "4"], 0.5, 0.0), (["7"], 0.0, 0.0), ([], 0.0, 1.0)],
    )
    def test_one_gold_is_enough(
        self, compute: Any, golds: list[str], score: float, unjudged: float
    ) -> None:
        document = SimpleNamespace(specific=None, query="?", get_golds=lambda: golds)
        response = SimpleNamespace(final_text=[r"\boxed{4}", r"\boxed{5}"])
        figures = {"rewardkit_math": score, "rewardkit_math_unjudged": unjudged}
        assert compute(document, response) == figures


@pytest.mark.usefixtures("skyrl_gym_base")
class TestSkyRlGym:
    def test_a_step_ends_the_episode(self) -> None:
        step = skyrl_gym.environment_class("math")(
            extras={"reward_spec": {"ground_truth": "0.5"}}
        ).step(RIGHT[0])
        facts = {"acc": 1.0, "unjudged": 0.0, "pred": "1/2", "failure": ""}
        assert step == {"observations": [], "reward": 1.0, "done": True, "metadata": facts}

    def test_a_row_without_its_reference_is_an_error(self) -> None:
        with pytest.raises(DataError, match="no column"):
            skyrl_gym.environment_class("math")(extras={}).step(RIGHT[0])


class TestNemoGym:
    @pytest.mark.parametrize(
        ("fields", "reference"),
        [
            ({"expected_answer": 5, "answer": "so 5"}, 5),
            ({"verifier_metadata": {"expected_answer": "5"}}, "5"),
            ({"expected_answer": None, "verifier_metadata": {"expected_answer": "5"}}, "5"),
            ({"answer": "5", "verifier_metadata": None}, None),
        ],
    )
    def test_where_the_reference_is(self, fields: dict[str, Any], reference: object) -> None:
        assert nemo_gym.reference_row(fields).get("reference") == reference

    @pytest.mark.parametrize(
        ("output", "text"),
        [
            (
                [{"content": "a"}, {"type": "message", "content": [{"text": "b"}, {"text": "c"}]}],
                "bc",
            ),
            ([{"type": "message", "content": "a"}, {"type": "function_call"}], "a"),
            ([{"type": "message", "content": 3}, {"type": "reasoning"}], ""),
            ([], ""),
            ([{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}], "a"),
            (
                [
                    {"type": "message", "role": "assistant", "content": [{"text": "a"}]},
                    {"type": "function_call_output", "output": "b"},
                    {"type": "message", "role": "system", "content": "c"},
                    {"type": "message", "role": "developer", "content": "d"},
                    {"type": "message", "role": "tool", "content": [{"text": "e"}]},
                    {"type": "message", "role": None, "content": "f"},
                ],
                "a",
            ),
            ([{"type": "message", "role": "user", "content": "b"}], ""),
        ],
    )
    def test_the_text_is_the_assistant_s_last_message(self, output: list[Any], text: str) -> None:
        assert last_message(nemo_gym.output_messages(output)) == text

    def test_calls_are_the_assistant_s_and_what_they_return_is_the_tool_s(self) -> None:
        call = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"}
        made = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages = nemo_gym.output_messages(
            [
                {"type": "message", "role": "assistant", "content": "I look."},
                *[call, call],
                {"type": "function_call_output", "output": "4", "call_id": "1"},
                call,
            ]
        )
        assert messages == [
            {"role": "assistant", "content": "I look.", "tool_calls": [made, made]},
            {"role": "tool", "content": "4"},
            {"role": "assistant", "content": "", "tool_calls": [made]},
        ]


class TestFiles:
    """The files of the documentation, for the trainers that take a file."""

    def load(self, host: str, folder: Path) -> dict[str, Any]:
        page = (GUIDES / f"{host}.md").read_text(encoding="utf-8")
        file = folder / "reward.py"
        file.write_text(page.partition("<<'END'\n")[2].partition("END\n")[0])
        return runpy.run_path(str(file))

    def test_openrlhf(self, tmp_path: Path) -> None:
        reward_func = self.load("openrlhf", tmp_path)["reward_func"]
        assert reward_func([RIGHT[0]], [""], [RIGHT[1]])["rewards"] == 1.0

    def test_ms_swift(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rewards = ModuleType("swift.rewards")
        rewards.orms = {}  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "swift", ModuleType("swift"))
        monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
        self.load("ms-swift", tmp_path)
        assert rewards.orms["rewardkit_math"]()([RIGHT[0]], solution=[RIGHT[1]]) == [1.0]

    def test_easyr1(self, tmp_path: Path) -> None:
        names = self.load("easyr1", tmp_path)
        assert (names["REWARD_NAME"], names["REWARD_TYPE"]) == ("math", "batch")
        inputs = [{"response": RIGHT[0], "ground_truth": RIGHT[1]}]
        assert names["compute_score"](inputs)[0]["overall"] == 1.0


LOADERS = [
    areal.RewardFunction,
    easyr1.reward_function,
    lighteval.metric,
    lm_eval.process_results,
    lambda name, **parameters: ms_swift.reward_class(name, **parameters)(),
    nemo_gym.resources_server,
    openrlhf.agent_executor,
    openrlhf.reward_function,
    rllm.evaluator,
    skyrl_gym.environment_class,
    slime.reward_function,
    verifiers.reward_function,
    verl.reward_function,
]


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"timeout": "2"}, "timeout is '2'; it must be a positive number"),
        ({"timeout": 0}, "timeout is 0; it must be a positive number"),
        ({"workers": "2"}, "workers is '2'"),
        ({"low": "0"}, "low is '0'"),
        ({"timout": 2}, "timout"),
    ],
)
def test_a_wrong_parameter_is_an_error_while_the_host_loads(
    load: Any, parameters: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load("math", **parameters)


@pytest.mark.parametrize("path", sorted(FRAMEWORKS.glob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_no_host(path: Path) -> None:
    imports = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import)]
    froms = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
    names = [alias.name for node in imports for alias in node.names]
    names += [node.module or "" for node in froms]
    roots = {name.partition(".")[0] for name in names}
    loaded_by = {"inspect_ai"} if path.stem == "inspect_ai" else set()  # its entry point
    assert roots <= {"rewardkit", *loaded_by, *sys.stdlib_module_names}
