"""A run's figures as the model-index metadata of a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import MissingExtra, RunMismatch, UnknownName, UsageError
from rewardkit.harness.store.atomic_write import check_target, replace_text
from rewardkit.harness.store.run_documents import read_run_summary
from rewardkit.harness.store.run_folder import SUMMARY, RunFolder

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
    check_target(path, overwrite=overwrite)
    try:
        from huggingface_hub.repocard_data import eval_results_to_model_index
    except ImportError as error:
        raise MissingExtra.needing("huggingface_hub", "data", "a model-index") from error
    name, results = _model(runs), [result for run in runs for result in _results(run)]
    text = _written({"model-index": eval_results_to_model_index(name, results)}, path)
    replace_text(path, text)
    return name


def _written(index: dict[str, Any], path: Path) -> str:
    """In the form that the suffix says; of a card that exists, with its own words."""
    import yaml
    from huggingface_hub import ModelCard

    if path.suffix.lower() == ".json":
        return json.dumps(index, indent=2, ensure_ascii=False) + "\n"
    if path.suffix.lower() != ".md":
        return str(yaml.safe_dump(index, sort_keys=False, allow_unicode=True))
    words = "\n"
    if path.exists():
        try:
            card = ModelCard.load(path)
        except ValueError as error:
            raise UsageError(f"{path} isn't a model card that can be read: {error}") from error
        index, words = {**card.data.to_dict(), **index}, card.text
    told = yaml.safe_dump(index, sort_keys=False, allow_unicode=True)
    return f"---\n{told}---\n{words}"


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
                    metric_args={
                        "interval_95": [figure["low"], figure["high"]],
                        "count": figure["count"],
                    },
                    **_data(task, summary, record),
                )


def _data(name: str, summary: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """The data set, as the hub names it where the task knows, and how it was asked."""
    try:
        task: Any = registry.installed().task(name)
    except UnknownName:  # a verifier alone, or a task whose plugin isn't here
        task = None
    told = record.get("tasks", {}).get(name, {})
    sampling, settings = told.get("sampling", {}), record.get("settings", {})
    whole = "sampling" in told and not settings.get("data")  # else whose rows they are isn't known
    asked = {
        "problems": summary["samples"],
        "prompt": told.get("prompt"),
        "num_samples": told.get("num_samples"),
        "temperature": sampling.get("temperature"),
    }
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
        return read_run_summary(run / SUMMARY)
    except FileNotFoundError:
        raise RunMismatch(
            f"{run} holds no {SUMMARY}: name the folder of a run that has ended"
        ) from None
