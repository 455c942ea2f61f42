"""The options of an evaluation, the single source for the command line and the API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, TypedDict, Unpack, cast, get_args, get_origin, get_type_hints

from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.prompts.fewshot import FewshotSource
from rewardkit.harness.store.shard import Shard
from rewardkit.protocols import Task
from rewardkit.records import Sampling
from rewardkit.thinking import Thinking


@dataclass(frozen=True, slots=True)
class Option:
    """An option's annotation. `low` and `high` bound a number, included; None: no bound."""

    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()
    """The option's names on the command line; without any it is --NAME."""
    metavar: str | None = None


@dataclass(frozen=True, slots=True)
class OptionField:
    """An option with its name and its type, without the `None` of an unset option."""

    name: str
    kind: type
    optional: bool
    option: Option

    def check(self, value: Any) -> Any:
        """Return the value in its own type. UsageError for another type or out of range."""
        if value is None and self.optional:
            return None
        if isinstance(value, os.PathLike) and self.kind is str:
            value = os.fspath(value)
        if self.kind is tuple and isinstance(value, list):
            value = tuple(value)
        kinds: Any = (int, float) if self.kind is float else self.kind
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            raise UsageError(f"{self.name} is {value!r}; it must be {_NAMES[self.kind]}")
        self._check_range(value)
        return value

    def _check_range(self, value: Any) -> None:
        low, high = self.option.low, self.option.high
        if low is not None and high is not None and not low <= value <= high:
            raise UsageError(f"{self.name} is {value}; it must be from {low:g} to {high:g}")
        if low is not None and not low <= value:
            raise UsageError(f"{self.name} is {value}; it must be at least {low:g}")


_NAMES: Mapping[type, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list of texts",
    Mapping: "a mapping",
}


@cache
def option_fields(group: type) -> Mapping[str, OptionField]:
    """The options of a group, by name."""
    return {
        name: _field(name, *get_args(annotation))
        for name, annotation in get_type_hints(group, include_extras=True).items()
    }


def complete(group: type, given: Mapping[str, Any], caller: str) -> dict[str, Any]:
    """Complete the values of a group's options with their defaults.

    UnknownName for a name that is no option; UsageError for a value that an option doesn't take.
    """
    fields = option_fields(group)
    for name in given:
        if name not in fields:
            raise UnknownName.among(f"option of {caller}", name, fields)
    return {
        name: field.check(given[name]) if name in given else field.option.default
        for name, field in fields.items()
    }


def _field(name: str, annotation: Any, option: Option) -> OptionField:
    optional = type(None) in get_args(annotation)
    kind = get_args(annotation)[0] if optional else annotation
    return OptionField(name, get_origin(kind) or kind, optional, option)


class DataOptions(TypedDict, total=False):
    """The problems to evaluate on."""

    data: Annotated[
        str | None, Option(None, "A JSONL, Parquet or CSV file with the data set's columns.")
    ]
    split: Annotated[str | None, Option(None, "The data set's split; by default the task's own.")]
    limit: Annotated[int | None, Option(None, "Number of problems; by default all.", low=1)]


class TaskOptions(TypedDict, total=False):
    """The parameters of the task."""

    task_args: Annotated[
        Mapping[str, Any],
        Option(
            {},
            "A parameter of the task; repeatable.",
            flags=("--task-arg",),
            metavar="KEY=VALUE",
        ),
    ]


class FewshotOptions(TypedDict, total=False):
    """The examples that prompts show."""

    num_fewshot: Annotated[
        int | None,
        Option(None, "Examples drawn from the train split, for few_shot and cot.", low=0),
    ]
    fewshot_data: Annotated[
        str | None, Option(None, "A file to draw examples from, instead of the train split.")
    ]


class SamplingOptions(TypedDict, total=False):
    """Sampling parameters."""

    num_samples: Annotated[
        int, Option(1, "Completions per problem.", low=1, flags=("--num-samples", "-n"))
    ]
    temperature: Annotated[
        float, Option(0.0, "Sampling temperature; 0 is greedy.", low=0, high=100)
    ]
    top_p: Annotated[float, Option(1.0, "Nucleus sampling; 1 is off.", low=1e-9, high=1)]
    top_k: Annotated[int, Option(0, "Sample from the k most likely tokens; 0 is off.", low=0)]
    min_p: Annotated[
        float,
        Option(
            0.0,
            "Drop tokens less likely than this share of the likeliest one; 0 is off.",
            low=0,
            high=1,
        ),
    ]
    presence_penalty: Annotated[
        float,
        Option(0.0, "Subtracted from the logit of a token already generated.", low=-2, high=2),
    ]
    frequency_penalty: Annotated[
        float,
        Option(
            0.0,
            "Subtracted from a token's logit for each time that it was generated.",
            low=-2,
            high=2,
        ),
    ]
    repetition_penalty: Annotated[
        float,
        Option(
            1.0,
            "Divides the logits of tokens in prompt and completion; 1 is off.",
            low=0.01,
            high=100,
        ),
    ]
    max_tokens: Annotated[
        int | None, Option(None, "Longest completion; by default the task's own.", low=1)
    ]
    thinking_token_budget: Annotated[
        int | None,
        Option(
            None,
            "Tokens after which vLLM, or a server that has this, closes a thinking block.",
            low=0,
        ),
    ]
    stop: Annotated[tuple[str, ...], Option((), "Text that ends a completion; repeatable.")]


class RequestOptions(TypedDict, total=False):
    """How prompts are sent, and the seed."""

    seed: Annotated[
        int, Option(0, "Seeds sampling, examples and generated data.", low=0, high=2**63 - 1)
    ]
    system_prompt: Annotated[
        str | None, Option(None, "A system prompt, instead of the prompt's own.")
    ]
    thinking: Annotated[
        str | None,
        Option(
            None,
            "What is read of a thinking block: strip, nothing; keep, all of it where no answer "
            "follows. By default as the verifier does, which is strip for those that read answers.",
        ),
    ]
    chat_template: Annotated[
        bool,
        Option(True, "Send plain text, without the chat template.", flags=("--no-chat-template",)),
    ]
    chat_template_args: Annotated[
        Mapping[str, Any],
        Option(
            {},
            "An argument of the chat template, such as enable_thinking=false; repeatable.",
            flags=("--chat-template-arg",),
            metavar="KEY=VALUE",
        ),
    ]
    reasoning_effort: Annotated[
        str | None,
        Option(None, "How long the openai backend's model thinks, such as low or high."),
    ]


class BackendOptions(TypedDict, total=False):
    """The engine and its parameters."""

    backend: Annotated[
        str, Option("auto", "auto, vllm, transformers, openai, replay, or a plugin's backend.")
    ]
    tensor_parallel_size: Annotated[int, Option(1, "GPUs that share one model.", low=1)]
    data_parallel_size: Annotated[int, Option(1, "Copies of the model, for vLLM.", low=1)]
    dtype: Annotated[str, Option("auto", "auto, float32, bfloat16 or float16.")]
    max_model_len: Annotated[
        int | None, Option(None, "Most tokens of prompt and completion together.", low=1)
    ]
    gpu_memory_utilization: Annotated[
        float | None, Option(None, "Share of the GPU's memory that vLLM takes.", low=1e-9, high=1)
    ]
    backend_args: Annotated[
        Mapping[str, Any],
        Option(
            {},
            "An argument for the backend itself; repeatable.",
            flags=("--backend-arg",),
            metavar="KEY=VALUE",
        ),
    ]
    base_url: Annotated[str | None, Option(None, "Address of an OpenAI-compatible server.")]
    ray: Annotated[
        str | None,
        Option(None, "Generate on the Ray cluster at HOST:PORT, or auto.", metavar="ADDRESS"),
    ]
    engines: Annotated[
        int | None,
        Option(None, "Copies of the model on the Ray cluster; by default all that fit.", low=1),
    ]


class RunOptions(TypedDict, total=False):
    """The run's folder, and when a run counts as failed."""

    output_dir: Annotated[
        str | None, Option(None, "The run's folder.", flags=("--output-dir", "-o"))
    ]
    overwrite: Annotated[
        bool, Option(False, "Discard the folder's content.", flags=("--overwrite",))
    ]
    shard: Annotated[
        str | None,
        Option(
            None,
            "Evaluate part I of N of the problems; `rewardkit merge` joins the parts.",
            metavar="I/N",
        ),
    ]
    max_errors: Annotated[
        float,
        Option(0.05, "Largest share of unjudged completions before the run fails.", low=0, high=1),
    ]


class OwnSetOptions(TypedDict, total=False):
    """How to read and judge the rows of --data without a task."""

    verifier: Annotated[
        str | None,
        Option(None, "Judge the rows of --data, a file or a hub id, without a task."),
    ]
    verifier_args: Annotated[
        Mapping[str, Any],
        Option(
            {},
            "A parameter of the verifier, or, where rows name theirs, NAME.KEY=VALUE; repeatable.",
            flags=("--verifier-arg",),
            metavar="KEY=VALUE",
        ),
    ]
    verifier_field: Annotated[
        str | None, Option(None, "The column that names each row's verifier.")
    ]
    question_field: Annotated[
        str | None, Option(None, "The column with the problem; by default question.")
    ]
    reference_field: Annotated[
        str | None, Option(None, "The column with the reference, if the verifier reads one.")
    ]


class EvaluationOptions(DataOptions, FewshotOptions, SamplingOptions, total=False):
    """The options of a recipe's [evaluation]."""


class CallbackOptions(EvaluationOptions, RequestOptions, total=False):
    """The options of EvaluationCallback, except the prompt."""


class EvalValues(
    CallbackOptions, TaskOptions, OwnSetOptions, BackendOptions, RunOptions, total=False
):
    """The options of `rewardkit eval` and `evaluate()`, except tasks, model and prompt."""


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
