"""lm-eval loads a task file, and evaluates with it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from shared_cases import adapter_file, cases, check_cases, verdicts

TASK = """\
task: cases_{verifier}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: question
doc_to_target: reference
repeats: {repeats}
filter_list:
  - {{name: all, filter: [{{function: take_first_k, k: {repeats}}}]}}
process_results: !function rewardkit.frameworks.lm_eval.{verifier}
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: unjudged, aggregation: mean, higher_is_better: false}}
"""


def model(replies: dict[str, str]) -> Any:
    """A model of lm-eval's that gives known replies."""
    base = importlib.import_module("lm_eval.api.model").LM

    class Replies(base):  # type: ignore[misc, valid-type]
        def generate_until(self, requests: Any, **_: object) -> list[str]:
            return [replies[request.args[0]] for request in requests]

        def loglikelihood(self, requests: Any, **_: object) -> Any:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: Any, **_: object) -> Any:
            raise NotImplementedError

    return Replies()


def evaluated(task: str, folder: Path, replies: dict[str, str]) -> dict[str, Any]:
    manager = importlib.import_module("lm_eval.tasks").TaskManager(
        include_path=str(folder), include_defaults=False
    )
    evaluate = importlib.import_module("lm_eval").simple_evaluate
    result: dict[str, Any] = evaluate(
        model(replies), tasks=[task], task_manager=manager, bootstrap_iters=0, log_samples=True
    )
    return result


@pytest.mark.parametrize("verifier", ["math", "regex"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_the_verdicts_are_those_of_verify_batch(
    verifier: str, repeats: int, tmp_path: Path
) -> None:
    check_cases()
    rows = [
        {"question": f"case {number}", "reference": reference}
        for number, (_, reference) in enumerate(cases(verifier))
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    written = TASK.format(verifier=verifier, rows=tmp_path / "rows.jsonl", repeats=repeats)
    (tmp_path / "cases.yaml").write_text(written)
    replies = {f"case {number}": text for number, (text, _) in enumerate(cases(verifier))}
    result = evaluated(f"cases_{verifier}", tmp_path, replies)
    samples = sorted(result["samples"][f"cases_{verifier}"], key=lambda one: one["doc_id"])
    assert [(sample["score"], sample["unjudged"]) for sample in samples] == [
        (verdict.score or 0.0, float(verdict.score is None)) for verdict in verdicts(verifier)
    ]


def test_the_task_of_the_documentation_has_our_problems_and_prompts(tmp_path: Path) -> None:
    written = tmp_path / "gsm8k.yaml"
    rows = [
        {"question": "What is 2 + 3?", "answer": "2 + 3 = 5\n#### 5"},
        {"question": "What is 4 + 3?", "answer": "4 + 3 = 7\n#### 7"},
    ]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = Path(adapter_file("lm-eval", "gsm8k", tmp_path)).read_text()
    written.write_text(text.replace("{task: gsm8k}", f"{{task: gsm8k, data: {data}}}"))
    import rewardkit.frameworks.lm_eval as adapter

    prompts = adapter.problems("gsm8k", data=str(data))["test"]["prompt"]
    assert all(row["question"] in prompt for row, prompt in zip(rows, prompts, strict=True))
    replies = dict(zip(prompts, ["#### 5", "#### 8"], strict=True))
    result = evaluated("rewardkit_gsm8k", tmp_path, replies)
    assert result["results"]["rewardkit_gsm8k"]["acc,none"] == 0.5
