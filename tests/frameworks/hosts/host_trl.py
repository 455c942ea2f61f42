"""TRL deals the hands of the example's environment, runs its tool, and takes its reward."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
CALL = '<tool_call>\n{{"name": "answer", "arguments": {{"expression": "{}"}}}}\n</tool_call>'
REPLIES = {
    "(1 + 2 + 3) * 4": 1.0,  # right
    "1 + 2 + 3 + 4": 0.35,  # wrong
    "x": 0.0,  # not readable
    "": None,  # no call at all
}


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.delitem(sys.modules, "trl_environment", raising=False)
    return importlib.import_module("trl_environment")


def trained(example: Any, folder: Path) -> Any:
    """One step on one hand whose four replies are scripted."""
    trl, datasets = importlib.import_module("trl"), importlib.import_module("datasets")
    transformers = importlib.import_module("transformers")
    build = importlib.import_module("tests.support.tiny").build
    template = Path(str(trl.__file__)).parent / "chat_templates" / "qwen3.jinja"
    model = str(build(folder / "model", chat_template=template.read_text(encoding="utf-8")))
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)

    class Scripted(trl.GRPOTrainer):  # type: ignore[misc, name-defined]  # trl has no types
        turns = 0

        def _generate_single_turn(self, prompt_ids: Any, *_: Any, **__: Any) -> Any:
            """The call of each reply, then a sentence after the tool's result."""
            self.turns += 1
            texts = [CALL.format(reply) if reply else "I pass." for reply in REPLIES]
            if self.turns > 1:
                texts = ["Done."] * len(prompt_ids)
            ids = [tokenizer(f"{text}<|im_end|>")["input_ids"] for text in texts]
            return [[one for one in own if one != tokenizer.bos_token_id] for own in ids], None

    rows = {"prompt": [[{"role": "user", "content": "Play."}]] * 2, "numbers": [[1, 2, 3, 4]] * 2}
    trainer = Scripted(
        model=transformers.AutoModelForCausalLM.from_pretrained(model),
        reward_funcs=example.log_answers,
        args=trl.GRPOConfig(
            output_dir=str(folder / "out"),
            reward_weights=[0.0],
            log_completions=True,
            max_steps=1,
            logging_steps=1,
            num_generations=4,
            per_device_train_batch_size=4,
            max_completion_length=200,
            use_cpu=True,
            bf16=False,
            report_to="none",
            save_strategy="no",
        ),
        train_dataset=datasets.Dataset.from_dict(rows),
        processing_class=tokenizer,
        environment_factory=example.Game24Environment,
    )
    trainer.train()
    return trainer


def test_the_environment_owns_the_reward_and_its_answers_are_logged(
    example: Any, tmp_path: Path
) -> None:
    trainer = trained(example, tmp_path)
    rewards = trainer._logs["rewards"]["Game24Environment"]
    assert rewards == pytest.approx([score or 0.0 for score in REPLIES.values()])
    answers = list(trainer._logs["extra"]["answer"])
    assert answers[:2] == list(REPLIES)[:2]
    assert answers[3] == example.NO_ANSWER
    results = [str(one) for one in trainer._logs["completion"]]
    assert "'right'" in results[0]
    assert "wrong: it is 10, not 24" in results[1]
    assert trainer.state.log_history[0]["tools/call_frequency"] == pytest.approx(0.75)


def test_a_hand_that_is_none_is_left_out(example: Any) -> None:
    environment = example.Game24Environment()
    environment.reset(numbers=[1, 2, 3])
    environment.answer("24")
    assert environment.get_reward() is None
