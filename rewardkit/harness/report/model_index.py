"""Write a run's metrics as the model-index metadata of a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import RunMismatch, UnknownName, UsageError, needs_extra
from rewardkit.harness.results.documents import read_run_summary
from rewardkit.harness.results.files import check_target, replace_text
from rewardkit.harness.results.names import words
from rewardkit.harness.results.run_folder import SUMMARY, RunFolder
from rewardkit.protocols import TaskExtras, extras

FORMS = (".yaml", ".yml", ".json", ".md")
NAMES = ("accuracy", "accuracy_flexible")
"""The metrics that are written, besides those of `AT_K`."""

AT_K = ("pass@", "pass^", "g-pass@", "mg-pass@", "maj@", "cons@", "avg@")
"""How the names of metrics of k completions start."""


def write_model_index(runs: Sequence[Path], path: Path, *, overwrite: bool) -> str:
    """Write the metrics of one model's runs and return the model's name.

    The suffix of `path` selects YAML, JSON or the metadata of a model card. With `overwrite`, an
    existing card keeps its text and all other metadata.
    """
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"{path.name}: a model-index is written as {', '.join(FORMS)}")
    check_target(path, overwrite=overwrite)
    with needs_extra("data", "a model-index"):
        from huggingface_hub.repocard_data import eval_results_to_model_index
    settings = [RunFolder(run).read_record().get("settings", {}) for run in runs]
    names = list(dict.fromkeys(str(of_run.get("model", "")) for of_run in settings))
    if len(names) > 1:
        raise UsageError(
            f"the runs evaluate several models ({', '.join(names)}); a model-index describes one"
        )
    name, results = (
        Path(names[0]).name or "model",
        [result for run in runs for result in _results(run)],
    )
    text = _content({"model-index": eval_results_to_model_index(name, results)}, path)
    replace_text(path, text)
    return name


def _content(index: dict[str, Any], path: Path) -> str:
    """The file's content, in the format of its suffix. An existing card keeps its text."""
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
            raise UsageError(f"{path} can't be read as a model card: {error}") from error
        index, words = {**card.data.to_dict(), **index}, card.text
    metadata = yaml.safe_dump(index, sort_keys=False, allow_unicode=True)
    return f"---\n{metadata}---\n{words}"


def _results(run: Path) -> Iterator[Any]:
    from huggingface_hub import EvalResult

    record = RunFolder(run).read_record()
    try:
        summaries = read_run_summary(run / SUMMARY)["tasks"]
    except FileNotFoundError:
        raise RunMismatch(
            f"{run} holds no {SUMMARY}: name the folder of a run that has ended"
        ) from None
    for task, summary in summaries.items():
        for metric, figure in summary["metrics"].items():
            if metric in NAMES or metric.startswith(AT_K):
                yield EvalResult(
                    task_type="text-generation",
                    metric_type=metric,
                    metric_name=words(metric),
                    metric_value=figure["value"],
                    metric_args={
                        "interval_95": [figure["low"], figure["high"]],
                        "count": figure["count"],
                    },
                    **_data(task, summary, record),
                )


def _data(name: str, summary: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """The data set, by its hub name if the task has one, and the prompt."""
    try:
        hub = extras(registry.installed().task(name))
    except UnknownName:  # a verifier alone, or a task whose plugin isn't here
        hub = TaskExtras()
    task_record = record.get("tasks", {}).get(name, {})
    sampling, settings = task_record.get("sampling", {}), record.get("settings", {})
    is_default_split = "sampling" in task_record and not settings.get("data")
    prompting = {
        "problems": summary["problems"],
        "prompt": task_record.get("prompt"),
        "num_samples": task_record.get("num_samples"),
        "temperature": sampling.get("temperature"),
    }
    return {
        "dataset_type": hub.repository or name,
        "dataset_name": name,
        "dataset_config": hub.configuration,
        "dataset_split": settings.get("split") or (hub.split if is_default_split else "") or None,
        "dataset_args": {name: value for name, value in prompting.items() if value is not None},
    }
