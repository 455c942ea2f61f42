"""The plan of a sweep: checkpoints, prompts, and a label for each pair of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rewardkit.errors import UsageError
from rewardkit.harness.run.options import EvalOptions, default_folder, file_name
from rewardkit.harness.store.training_checkpoints import expand, family, in_order, is_pattern


@dataclass(frozen=True)
class Sweep:
    """Runs that differ in their checkpoint and prompt only, each in a folder inside `folder`.

    `options` hold everything else; a prompt of None is each task's own.
    """

    options: EvalOptions
    models: Sequence[str]
    """The checkpoints; in a watch, the patterns that they match."""
    prompts: Sequence[str | None]
    folder: Path
    prompt_names: Mapping[str | None, str]
    """Each prompt's name in labels; empty for a single prompt."""
    by_model: bool
    """Whether labels include the checkpoint."""
    with_parent: bool
    """Whether labels include its parent folder, because several checkpoints share a name."""

    def label(self, model: str, prompt: str | None) -> str:
        """The run's label and folder: `checkpoint-100`, `cot`, `checkpoint-100+cot`."""
        parts = [_name(model, with_parent=self.with_parent)] if self.by_model else []
        return "+".join([*parts, *([self.prompt_names[prompt]] if self.prompt_names else [])])


def is_sweep(models: Sequence[str], prompts: Sequence[str]) -> bool:
    """Whether the arguments name more than one run, now or as checkpoints are written."""
    return len(in_order(models)) > 1 or len({*prompts}) > 1 or any(map(is_pattern, models))


def plan_sweep(options: EvalOptions, models: Sequence[str], prompts: Sequence[str]) -> Sweep:
    """Plan a sweep over the models that exist. UsageError if a pattern matches none, or if two runs
    would have the same name."""
    checkpoints = expand(models)
    by_model = len(checkpoints) > 1 or len({*prompts}) < 2 or any(map(is_pattern, models))
    names = Counter(_name(model, with_parent=False) for model in checkpoints)
    sweep = _sweep(
        options, checkpoints, prompts, by_model=by_model, with_parent=max(names.values()) > 1
    )
    labels = Counter(
        sweep.label(model, prompt) for model in checkpoints for prompt in sweep.prompts
    )
    for label, count in labels.items():
        if count > 1:
            raise UsageError(
                f"{count} of these runs would be named {label!r}; give them different names"
            )
    return sweep


def plan_watch(options: EvalOptions, models: Sequence[str], prompts: Sequence[str]) -> Sweep:
    """Plan a sweep over all checkpoints, present and future."""
    patterns = list(dict.fromkeys(family(model) for model in models))
    several = len(patterns) > 1 or is_pattern(str(Path(patterns[0]).parent))
    return _sweep(options, patterns, prompts, by_model=True, with_parent=several)


def _sweep(
    options: EvalOptions,
    models: Sequence[str],
    prompts: Sequence[str],
    *,
    by_model: bool,
    with_parent: bool,
) -> Sweep:
    if options.shard:
        raise UsageError("--shard splits one run; give one --model and one --prompt")
    chosen: list[str | None] = [*dict.fromkeys(prompts)] or [None]
    several = chosen if len(chosen) > 1 else ()
    names = {prompt: file_name(Path(prompt or "").stem) for prompt in several}
    folder = options.output_dir
    if not folder:  # a name that stays the same with more checkpoints and prompts
        parents = sorted({str(Path(model).parent) for model in models})
        common = replace(
            options,
            model=",".join(f"{parent}/*" for parent in parents) if by_model else models[0],
            prompt="*" if names else chosen[0],
        )
        folder_names = "+".join(Path(parent).absolute().name for parent in parents)
        folder = default_folder(common, folder_names if by_model else None)
    return Sweep(options, models, chosen, Path(folder), names, by_model, with_parent)


def _name(model: str, *, with_parent: bool) -> str:
    path = Path(model).expanduser().absolute()
    return file_name(f"{path.parent.name}-{path.name}" if with_parent else path.name)
