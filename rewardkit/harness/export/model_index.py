"""A run's figures as the model-index metadata of a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import MissingExtra, RunMismatch, UnknownName, UsageError
from rewardkit.harness.export.whole import whole_file
from rewardkit.harness.folder import SUMMARY, RunFolder

FORMS = (".yaml", ".yml", ".json", ".md")
NAMES = {"accuracy": "accuracy, strict", "accuracy_flexible": "accuracy, flexible"}
"""What is told of a model, pass@k and maj@k besides."""


def write_model_index(runs: Sequence[Path], path: Path, *, overwrite: bool) -> str:
    """The figures of runs of one model, as YAML, JSON or the head of a model card, by the suffix
    of `path`; gives the model's name. With `overwrite`, a card that exists keeps its text and all
    of its metadata but the model-index.
    """
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"{path.name}: a model-index is written as {', '.join(FORMS)}")
    try:
        from huggingface_hub import ModelCard
        from huggingface_hub.repocard_data import eval_results_to_model_index
        from huggingface_hub.utils._fixes import yaml_dump
    except ImportError as error:
        raise MissingExtra.needing("huggingface_hub", "data", "a model-index") from error
    name, results = _model(runs), [result for run in runs for result in _results(run)]
    index = {"model-index": eval_results_to_model_index(name, results)}
    earlier = path.exists()
    with whole_file(path, overwrite=overwrite) as part:
        if path.suffix.lower() == ".json":
            text = json.dumps(index, indent=2, ensure_ascii=False) + "\n"
        else:
            text = yaml_dump(index, sort_keys=False)
        if path.suffix.lower() == ".md":
            text = _card(ModelCard, path, text, index) if earlier else f"---\n{text}---\n"
        part.write_text(text, encoding="utf-8")
    return name


def _card(model_card: Any, path: Path, text: str, index: Mapping[str, Any]) -> str:
    """The card at `path` with these results instead of its own."""
    from huggingface_hub.utils._fixes import yaml_dump

    card = model_card.load(path, ignore_metadata_errors=False)
    told = {**card.data.to_dict(), **index}
    return f"---\n{yaml_dump(told, sort_keys=False)}---\n{card.text}"


def _model(runs: Sequence[Path]) -> str:
    names = list(dict.fromkeys(_settings(run).get("model", "") for run in runs))
    if len(names) > 1:
        raise UsageError(
            f"the runs are of several models ({', '.join(names)}); a model-index tells of one"
        )
    return Path(names[0]).name or "model"


def _settings(run: Path) -> Mapping[str, Any]:
    settings: Mapping[str, Any] = RunFolder(run).read_record().get("settings", {})
    return settings


def _results(run: Path) -> Iterator[Any]:
    from huggingface_hub import EvalResult

    record = RunFolder(run).read_record()
    for task, summary in read_summary(run)["tasks"].items():
        for metric, figure in summary["metrics"].items():
            if metric in NAMES or metric.startswith(("pass@", "maj@")):
                yield EvalResult(
                    task_type="text-generation",
                    metric_type=metric,
                    metric_name=NAMES.get(metric, metric),
                    metric_value=figure["value"],
                    metric_args={"interval_95": [figure["low"], figure["high"]],
                                 "count": figure["count"]},
                    **_data(task, summary, record),
                )  # fmt: skip


def _data(name: str, summary: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """The data set, as the hub names it where the task knows, and how it was asked."""
    try:
        task: Any = registry.installed().task(name)
    except UnknownName:  # a verifier alone, or a task whose plugin isn't here
        task = None
    told = record["tasks"].get(name, {})
    sampling, settings = told.get("sampling", {}), record.get("settings", {})
    whole = "sampling" in told and not settings.get("data")  # else whose rows they are isn't known
    asked = {
        "problems": summary["samples"], "prompt": told.get("prompt"),
        "num_samples": told.get("num_samples"), "temperature": sampling.get("temperature"),
    }  # fmt: skip
    return {
        "dataset_type": getattr(task, "repository", name),
        "dataset_name": name,
        "dataset_config": getattr(task, "configuration", None),
        "dataset_split": settings.get("split") or (getattr(task, "split", None) if whole else None),
        "dataset_args": {name: value for name, value in asked.items() if value is not None},
    }


def read_summary(run: Path) -> dict[str, Any]:
    """What summary.json holds. RunMismatch where the run isn't finished."""
    try:
        summary: dict[str, Any] = json.loads((run / SUMMARY).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunMismatch(
            f"{run} holds no {SUMMARY}: name the folder of a run that has ended"
        ) from None
    return summary
