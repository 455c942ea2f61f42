"""The values of an evaluation's options, complete and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Unpack, cast

from rewardkit.errors import UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.prompts.fewshot_source import FewshotSource
from rewardkit.harness.run.option import complete, option_fields
from rewardkit.harness.run.options import EvalValues
from rewardkit.harness.store.shard import Shard
from rewardkit.protocols import Task
from rewardkit.records import Sampling
from rewardkit.thinking import Thinking


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """What to evaluate, and a checked value for every option; `prompt` None is the task's own."""

    tasks: tuple[str | Task, ...]
    model: str
    prompt: str | None = None
    values: EvalValues
    from_tasks: Mapping[str, Any] = field(default_factory=dict)
    """The values that the tasks set because the user did not."""

    @classmethod
    def of(
        cls,
        tasks: tuple[str | Task, ...],
        model: str,
        prompt: str | None = None,
        **given: Unpack[EvalValues],
    ) -> EvalOptions:
        """Complete the values with defaults and check them. Raises UsageError."""
        from rewardkit.harness.run.resolved_tasks import resolved_tasks  # --help needs no tasks

        values = cast("EvalValues", complete(EvalValues, given, "evaluate"))
        for name in ("data", "fewshot_data", "split", "output_dir"):
            if values[name] == "":
                raise UsageError(f"--{name.replace('_', '-')} is empty; name one, or leave it out")
        tasks = resolved_tasks(tasks, values)
        if values["fewshot_data"] is not None and values["num_fewshot"] is None:
            raise UsageError("--fewshot-data holds rows to draw from; say how many: --num-fewshot")
        if values["num_samples"] > 1 and values["temperature"] == 0:
            raise UsageError(
                f"{values['num_samples']} samples a problem at temperature 0 would all be the "
                "same; set --temperature"
            )
        if values["engines"] is not None and values["ray"] is None:
            raise UsageError("--engines counts copies of the model on a Ray cluster; add --ray")
        options = cls(tasks=tasks, model=model, prompt=prompt, values=values)
        options.shard()
        return options

    def fewshot(self) -> FewshotSource | None:
        """The source of few-shot examples; None for the task's own examples."""
        count = self.values["num_fewshot"]
        if count is None:
            return None
        return FewshotSource(count, self.values["seed"], self.values["fewshot_data"])

    def is_given(self, name: str) -> bool:
        """Whether the user set the option to a value other than its default.

        The temperature doesn't count with several completions per problem, which need one above 0.
        """
        if name in self.from_tasks or (name == "temperature" and self.values["num_samples"] > 1):
            return False
        return bool(self.values[name] != option_fields(EvalValues)[name].option.default)  # type: ignore[literal-required]

    def shard(self) -> Shard | None:
        """The part of the problems to evaluate; None: all."""
        text = self.values["shard"]
        return None if text is None else Shard.parse(text)

    def sampling(self) -> Sampling:
        """The sampling parameters; the length is the task's own unless `max_tokens` is set."""
        names = {field.name for field in fields(Sampling)} - {"max_tokens"}
        return Sampling(**_named(self.values, names))

    def thinking(self) -> Thinking | None:
        """What is read of a thinking block; None: as each verifier declares."""
        value = self.values["thinking"]
        if value not in (None, "strip", "keep"):
            raise UsageError(f"--thinking is {value!r}; it must be strip or keep")
        return cast("Thinking | None", value)

    def engine(self) -> EngineOptions:
        """The options for the backend."""
        names = {field.name for field in fields(EngineOptions)} - {"arguments"}
        return EngineOptions(**_named(self.values, names), arguments=self.values["backend_args"])


def _named(values: EvalValues, names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}
