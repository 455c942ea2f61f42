"""What to evaluate, resolved: the options given, else what the tasks set, else the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Unpack

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.options import DEFAULTS, AllOptions, EvalKwargs, flag
from rewardkit.harness.prompts.fewshot import FewshotSource
from rewardkit.harness.store.shard import Shard
from rewardkit.protocols import ConfiguredTask, Task
from rewardkit.records import Sampling
from rewardkit.settings import read_values, types_of

_OF_EXAMPLES = ("num_fewshot", "fewshot_data")


@dataclass(frozen=True, kw_only=True)
class EvalOptions(AllOptions):
    """What to evaluate, and a checked value for every option; `prompt` None is the task's own."""

    tasks: tuple[str | Task, ...]
    model: str
    prompt: str | None = None
    from_tasks: Mapping[str, Any] = field(default_factory=dict)
    """The values that the tasks set because the user did not."""

    @classmethod
    def of(
        cls,
        tasks: tuple[str | Task, ...],
        model: str,
        prompt: str | None = None,
        **given: Unpack[EvalKwargs],
    ) -> EvalOptions:
        """Complete what is given with defaults, and check it. Raises UsageError."""
        return _checked(_resolved(cls(tasks=tasks, model=model, prompt=prompt), given))

    def given(self) -> dict[str, Any]:
        """Every option's value by name, without tasks, model and prompt."""
        return {name: getattr(self, name) for name in DEFAULTS}

    def is_given(self, name: str) -> bool:
        """Whether the user set the option to a value other than its default.

        The temperature doesn't count with several completions per problem, which need one above 0.
        """
        if name in self.from_tasks or (name == "temperature" and self.num_samples > 1):
            return False
        return bool(getattr(self, name) != DEFAULTS[name])

    def set_by_tasks(self) -> dict[str, Any]:
        """The options that the tasks set to other values than the defaults."""
        return {name: value for name, value in self.from_tasks.items() if value != DEFAULTS[name]}

    def fewshot(self) -> FewshotSource | None:
        """The source of few-shot examples; None for the task's own examples."""
        if self.num_fewshot is None:
            return None
        return FewshotSource(self.num_fewshot, self.seed, self.fewshot_data)

    def part(self) -> Shard | None:
        """The part of the problems to evaluate; None: all."""
        return None if self.shard is None else Shard.parse(self.shard)

    def sampling(self) -> Sampling:
        """The sampling parameters; the length is the task's own unless `max_tokens` is set."""
        names = {one.name for one in fields(Sampling)} - {"max_tokens"}
        return Sampling(**{name: getattr(self, name) for name in names})

    def engine(self) -> EngineOptions:
        """The options for the backend."""
        names = {one.name for one in fields(EngineOptions)} - {"arguments"}
        shared = {name: getattr(self, name) for name in names}
        return EngineOptions(**shared, arguments=self.backend_args)


def options_for(
    tasks: tuple[str | Task, ...],
    model: str,
    prompt: str | None = None,
    **given: Unpack[EvalKwargs],
) -> EvalOptions:
    """Return the options of an evaluation: what is given, else what the tasks set, else defaults.

    UsageError if two tasks set an option differently and it isn't given.
    """
    options = _resolved(EvalOptions(tasks=tasks, model=model, prompt=prompt), given)
    settings = _settings(options, given)
    return _checked(replace(options, from_tasks=settings, **_read(settings)))


def _resolved(options: EvalOptions, given: Mapping[str, Any]) -> EvalOptions:
    """The options with what is given, and with the tasks' files read."""
    from rewardkit.harness.run.resolved_tasks import resolved_tasks  # --help needs no tasks

    options = replace(options, **_read(given))
    for name in ("data", "fewshot_data", "split", "output_dir"):
        if getattr(options, name) == "":
            raise UsageError(f"{flag(name)} is empty; name one, or leave it out")
    return replace(options, tasks=resolved_tasks(options.tasks, options))


def _read(given: Mapping[str, Any]) -> dict[str, Any]:
    return read_values(types_of(AllOptions), given, among="option of evaluate")


def _checked(options: EvalOptions) -> EvalOptions:
    """Return the options. UsageError for those that contradict each other."""
    if options.fewshot_data is not None and options.num_fewshot is None:
        raise UsageError("--fewshot-data holds rows to draw from; say how many: --num-fewshot")
    if options.num_samples > 1 and options.temperature == 0:
        raise UsageError(
            f"{options.num_samples} samples a problem at temperature 0 would all be the "
            "same; set --temperature"
        )
    if options.engines is not None and options.ray is None:
        raise UsageError("--engines counts copies of the model on a Ray cluster; add --ray")
    options.part()
    return options


def settings_note(options: EvalOptions) -> str:
    """Return a sentence about the options that the tasks set; empty if they set none."""
    settings = as_typed(options.set_by_tasks())
    return f"set by the task: {settings}; an option that you type replaces it" if settings else ""


def as_typed(settings: Mapping[str, Any]) -> str:
    """Return options as they are typed: --temperature 0.6."""
    return " ".join(f"{flag(name)} {value}" for name, value in settings.items())


def _settings(options: EvalOptions, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the tasks set and `given` doesn't; examples only for the tasks' own prompts."""
    settings: dict[str, Any] = {}
    resolved = [
        registry.installed().task(task) if isinstance(task, str) else task for task in options.tasks
    ]
    each = {
        task.name: task.eval_settings() if isinstance(task, ConfiguredTask) else {}
        for task in resolved
    }
    for name in dict.fromkeys(name for values in each.values() for name in values):
        if name in given or (options.prompt is not None and name in _OF_EXAMPLES):
            continue
        values = {task: of_task.get(name) for task, of_task in each.items()}
        if len({*values.values()}) > 1:
            said = ", ".join(f"{task}: {value}" for task, value in values.items())
            raise UsageError(
                f"the tasks set {name} differently ({said}); give {flag(name)}, or evaluate them "
                "separately"
            )
        settings[name] = next(iter(values.values()))
    return settings
