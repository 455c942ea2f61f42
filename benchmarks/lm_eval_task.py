"""lm-evaluation-harness on the same problems: its task, its command line, its results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

TASK = "gsm8k_same_prompts"


def write_task(folder: Path, problems: Path, max_tokens: int) -> None:
    """Write a task with the given prompts and the two filters of the harness's gsm8k."""
    folder.mkdir()
    task = {
        "task": TASK,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(problems)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{prompt}}",
        "doc_to_target": "{{answer}}",
        "num_fewshot": 0,
        "generation_kwargs": {
            "until": [],
            "do_sample": False,
            "temperature": 0.0,
            "max_gen_toks": max_tokens,
        },
        "metric_list": [
            {
                "metric": "exact_match",
                "aggregation": "mean",
                "higher_is_better": True,
                "ignore_case": True,
                "ignore_punctuation": False,
                "regexes_to_ignore": [",", "\\$", "(?s).*#### ", "\\.$"],
            }
        ],
        "filter_list": [
            _filter("strict-match", {"regex_pattern": "#### (\\-?[0-9\\.\\,]+)"}),
            _filter(
                "flexible-extract",
                {
                    "group_select": -1,
                    "regex_pattern": "(-?[$0-9.,]{2,})|(-?[0-9]+)",
                },
            ),
        ],
    }
    # JSON is YAML
    (folder / f"{TASK}.yaml").write_text(json.dumps(task, indent=2))


def _filter(name: str, regex: dict[str, object]) -> dict[str, object]:
    return {
        "name": name,
        "filter": [{"function": "regex", **regex}, {"function": "take_first"}],
    }


def command(python: str, model: Iterable[str], *, tasks: Path, out: Path) -> list[str]:
    """Return the command line; `model` is its --model option with the model's arguments."""
    return [
        python,
        "-m",
        "lm_eval",
        "run",
        *model,
        "--tasks",
        TASK,
        "--include_path",
        str(tasks),
        "--apply_chat_template",
        "--output_path",
        str(out),
        "--log_samples",
    ]


def name_vllm(folder: Path, version: str) -> Path:
    """Return a folder for PYTHONPATH that holds metadata of a distribution called vllm.

    The harness looks up vLLM's version by that name and does not start without it; the CPU build
    has another name."""
    distribution = folder / f"vllm-{version}.dist-info"
    distribution.mkdir(parents=True)
    (distribution / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n"
    )
    return folder


def read_completions(out: Path) -> dict[str, str]:
    """Return the completions by problem id."""
    (samples,) = out.rglob("samples_*.jsonl")
    with samples.open() as lines:
        rows = [json.loads(line) for line in lines]
    return {row["doc"]["id"]: row["resps"][0][0] for row in rows}
