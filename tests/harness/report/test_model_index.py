"""Figures as a model card's metadata, which huggingface_hub reads back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.report.model_index import write_model_index


def run(folder: Path, *, model: str = "out/my-model", task: str = "gsm8k", **settings: Any) -> Path:
    metric = {"value": 0.5, "low": 0.25, "high": 0.75, "count": 8}
    names = ("accuracy", "accuracy_flexible", "score", "pass@4", "maj@4")
    counts = dict.fromkeys(("problems", "completions", "judged", "unjudged", "truncated"), 8)
    summary = {**counts, "metrics": dict.fromkeys(names, metric), "groups": {}, "failures": {}}
    told = {"prompt": "cot", "num_samples": 4, "sampling": {"temperature": 0.7}}
    record = {"format": 1, "settings": {"model": model, **settings}, "tasks": {task: told}}
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "summary.json").write_text(json.dumps({"tasks": {task: summary}}))
    return folder


def test_the_hub_reads_the_figures_back_from_a_card(tmp_path: Path) -> None:
    file = tmp_path / "card.md"
    assert write_model_index([run(tmp_path / "run")], file, overwrite=False) == "my-model"
    card = ModelCard.load(file)
    assert card.data.model_name == "my-model"
    found = {result.metric_type: result for result in card.data.eval_results}
    assert set(found) == {"accuracy", "accuracy_flexible", "pass@4", "maj@4"}
    accuracy = found["accuracy"]
    assert (accuracy.metric_value, accuracy.metric_name) == (0.5, "accuracy")
    assert accuracy.metric_args == {"interval_95": [0.25, 0.75], "count": 8}
    assert (accuracy.dataset_type, accuracy.dataset_config, accuracy.dataset_split) == (
        "openai/gsm8k",
        "main",
        "test",
    )
    assert accuracy.dataset_args == {
        "problems": 8,
        "prompt": "cot",
        "num_samples": 4,
        "temperature": 0.7,
    }


@pytest.mark.parametrize("name", ["m.yaml", "m.yml", "m.json"])
def test_several_tasks_of_a_model_stand_in_one_index(tmp_path: Path, name: str) -> None:
    runs = [run(tmp_path / "a"), run(tmp_path / "b", task="of-a-plugin", data="mine.jsonl")]
    write_model_index(runs, tmp_path / name, overwrite=False)
    # JSON is YAML
    card = ModelCard(f"---\n{(tmp_path / name).read_text()}\n---\n")
    _, results = model_index_to_eval_results(card.data.to_dict()["model-index"])  # type: ignore[no-untyped-call]
    assert [(one.dataset_type, one.dataset_split) for one in results[::4]] == [
        ("openai/gsm8k", "test"),
        ("of-a-plugin", None),
    ]


def test_a_card_keeps_its_words_and_its_other_metadata(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    text = "---\nlicense: mit\ntags:\n- grpo\n---\n# Mine\n\nÜber *this* model.\n"
    file.write_text(text)
    one = run(tmp_path / "run")
    with pytest.raises(UsageError, match="use --overwrite"):
        write_model_index([one], file, overwrite=False)
    assert file.read_text() == text
    write_model_index([one], file, overwrite=True)
    card = ModelCard.load(file)
    assert (card.data.license, card.data.tags) == ("mit", ["grpo"])
    assert len(card.data.eval_results) == 4
    assert card.text.strip() == "# Mine\n\nÜber *this* model."
    again = file.read_text()
    write_model_index([one], file, overwrite=True)
    assert file.read_text() == again


def test_what_a_model_index_can_not_hold_is_refused(tmp_path: Path) -> None:
    file, one = tmp_path / "m.yaml", run(tmp_path / "a")
    with pytest.raises(UsageError, match=r"\.yaml, \.yml, \.json, \.md"):
        write_model_index([one], tmp_path / "m.txt", overwrite=False)
    with pytest.raises(UsageError, match=r"several models \(out/my-model, other\)"):
        write_model_index([one, run(tmp_path / "b", model="other")], file, overwrite=False)
    (one / "summary.json").unlink()
    with pytest.raises(RunMismatch, match="a run that has ended"):
        write_model_index([one], file, overwrite=False)
    assert not file.exists()
