"""The options of an evaluation: each one's type, range, default and description, once.

The command line, `evaluate()`, EvaluationCallback, recipes and task files read them here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, inspect

from rewardkit.config import (
    NonNegativeInt,
    PositiveInt,
    Seconds,
    Share,
    about,
    read_value,
    types_of,
)
from rewardkit.errors import UnknownName, UsageError
from rewardkit.protocols import Task
from rewardkit.records import Sampling
from rewardkit.text.redaction import redact_value
from rewardkit.text.thinking import Thinking, ThinkingTags

if TYPE_CHECKING:  # --help needs none of it
    from rewardkit.harness.results.run_folder import Shard

SharePositive = Annotated[float, Meta(gt=0, le=1)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]

PANELS = (
    *("What", "Prompt", "Sampling", "Thinking", "Engine", "Judging", "Output", "Many machines"),
)
"""The panels of `rewardkit eval --help`, in order."""

_what, _prompt, _sampling, _thinking, _engine, _judging, _output, _machines = (
    partial(about, panel=panel) for panel in PANELS
)

CLIENT_ARGUMENTS = (
    "api_key",
    "concurrency",
    "max_retries",
    "timeout",
    "input_price",
    "output_price",
)
"""Arguments of the openai backend that no server gets and that change no completion."""

LOCAL_OPTIONS = (
    "dtype",
    "max_model_len",
    "tensor_parallel_size",
    "data_parallel_size",
    "gpu_memory_utilization",
    "trust_remote_code",
)
"""Options of engines that load a model here."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How an engine loads a model, and how prompts are put to it."""

    chat_template: Annotated[bool, _prompt("Send plain text, without the chat template.")] = True
    chat_template_args: Annotated[
        Mapping[str, Any],
        _prompt("An argument of the chat template, such as enable_thinking=false; repeatable."),
    ] = field(default_factory=dict)
    seed: Annotated[
        Annotated[int, Meta(ge=0, le=2**63 - 1)],
        _sampling("Seed of sampling, examples and generated data."),
    ] = 0
    thinking_tags: Annotated[
        ThinkingTags | None,
        _thinking(
            "What opens and closes a thinking block, where the model's tags aren't among those "
            "that are known.",
            metavar="OPEN CLOSE",
        ),
    ] = None
    thinking_token_budget: Annotated[
        NonNegativeInt | None,
        _thinking(
            "Tokens after which vLLM, or a server that supports it, closes a thinking block."
        ),
    ] = None
    reasoning_effort: Annotated[
        str | None, _thinking("How long the openai backend's model thinks, such as low or high.")
    ] = None
    tensor_parallel_size: Annotated[PositiveInt, _engine("GPUs that share one model.")] = 1
    data_parallel_size: Annotated[
        PositiveInt, _engine("Copies of the model, for vLLM; needs Ray.")
    ] = 1
    dtype: Annotated[str, _engine("auto, float32, bfloat16 or float16.")] = "auto"
    max_model_len: Annotated[
        PositiveInt | None, _engine("Most tokens of prompt and completion together.")
    ] = None
    gpu_memory_utilization: Annotated[
        SharePositive | None, _engine("Share of the GPU's memory that vLLM takes.")
    ] = None
    base_url: Annotated[str | None, _engine("Address of an OpenAI-compatible server.")] = None
    trust_remote_code: Annotated[
        bool, _engine("Run the Python code that a checkpoint brings; read it first.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class EngineOptions(ModelOptions):
    """The engine options of `rewardkit eval`; `arguments` are its --backend-arg pairs."""

    arguments: Mapping[str, object] = field(default_factory=dict)

    def refuse(self, backend: str, *names: str) -> None:
        """Raise UsageError for an option that was set and that `backend` doesn't have."""
        for option in fields(self):
            if option.name in names and getattr(self, option.name) not in (option.default, {}):
                flag = option.name.replace("_args", "_arg").replace("_", "-")
                raise UsageError(f"the {backend} backend takes no --{flag}; leave it out")

    def reject_arguments_named(self, names: Iterable[str], backend: str) -> None:
        """Raise UsageError for a --backend-arg that rewardkit sets itself."""
        for name in sorted(set(self.arguments) & set(names)):
            raise UsageError(
                f"--backend-arg {name}=… can't be passed on to {backend}: rewardkit sets {name}; "
                f"{_REMEDIES.get(name, f'use --{name.replace(chr(95), chr(45))}')}"
            )

    def argument(self, name: str, default: int, *, backend: str) -> int:
        """The argument `name`, a whole number from 1. UsageError for any other value."""
        value = self.arguments.get(name, default)
        count: int = read_value(
            PositiveInt, value, f"--backend-arg {name} of the {backend} backend"
        )
        return count

    def reject_arguments_but(self, known: Iterable[str], backend: str) -> None:
        """Raise UnknownName for a --backend-arg that `backend` doesn't have."""
        names = sorted(known)
        for name in self.arguments:
            if name not in names:
                raise UnknownName.among(f"argument of the {backend} backend", name, names)


_REMEDIES = {
    "model": "use --model",
    "tokenizer": "put the tokenizer in the model's folder",
    "chat_template": "put the template in the model's folder",
    "skip_tokenizer_init": "prompts are sent as token ids",
}


@dataclass(frozen=True, kw_only=True)
class VerdictOptions:
    """The verifier, its time limit, and when a run counts as failed."""

    verifier: Annotated[
        str | None, _judging("The verifier that judges the rows, without a task.")
    ] = None
    verifier_args: Annotated[
        Mapping[str, Any],
        _judging(
            "A parameter of the verifier, or NAME.KEY=VALUE if there are several; repeatable."
        ),
    ] = field(default_factory=dict)
    verifier_field: Annotated[
        str | None, _judging("The column that names each row's verifier.")
    ] = None
    rescue: Annotated[
        str | None,
        _judging(
            "judge: a model judges the answers that the verifier calls wrong.", metavar="NAME"
        ),
    ] = None
    confirm: Annotated[
        str | None,
        _judging(
            "judge: a model judges the answers that the verifier calls right.", metavar="NAME"
        ),
    ] = None
    max_errors: Annotated[
        Share, _judging("Largest share of unjudged completions before the run fails.")
    ] = 0.05
    fail_under: Annotated[
        Mapping[str, float],
        _judging("Fail where a metric is lower; repeatable.", metavar="METRIC=VALUE"),
    ] = field(default_factory=dict)
    timeout: Annotated[
        Seconds | None,
        _judging("Seconds for a verdict; by default the verifier's own deadline, or 1."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """The run's folder."""

    output_dir: Annotated[str | None, _output("Write into this folder.", short="-o")] = None
    overwrite: Annotated[bool, _output("Discard the folder's content.")] = False


_PLACES = ("overwrite", "output_dir", "shard", "ray", "engines")
"""Options that say where to work."""


@dataclass(frozen=True, kw_only=True)
class EvalOptions(VerdictOptions, FolderOptions, ModelOptions):
    """What to evaluate, and every option of `rewardkit eval` and `evaluate()`."""

    tasks: tuple[Task, ...] = ()
    model: str = ""
    prompt: str | None = None
    """None: the task's own."""
    set_by_tasks: Mapping[str, Any] = field(default_factory=dict)
    """The options that the tasks set to other values than the defaults."""

    data: Annotated[
        str | None, _what("A JSONL, Parquet or CSV file with the data set's columns; or a hub id.")
    ] = None
    split: Annotated[str | None, _what("The data set's split; by default the task's own.")] = None
    limit: Annotated[PositiveInt | None, _what("Number of problems; by default all.")] = None
    shuffle: Annotated[
        NonNegativeInt | None,
        _what("Draw the problems of --limit at random, by this seed.", metavar="SEED"),
    ] = None
    id: Annotated[
        tuple[str, ...], _what("Take the problem with this id; repeatable.", metavar="NAME")
    ] = ()
    cluster: Annotated[
        str | None,
        _what(
            "The column of problems that depend on each other, such as their passage: intervals "
            "take its values as trials. `none` ignores the column that a run recorded.",
            metavar="COLUMN",
        ),
    ] = None
    task_args: Annotated[Mapping[str, Any], _what("A parameter of the task; repeatable.")] = field(
        default_factory=dict
    )
    question_field: Annotated[
        str | None, _what("The column with the problem; by default question.")
    ] = None
    reference_field: Annotated[
        str | None, _what("The column with the reference, if the verifier reads one.")
    ] = None
    choices_field: Annotated[
        tuple[str, ...],
        _what(
            "The column with the list of options, or a column with one option, repeated; the "
            "reference is an option's letter or label."
        ),
    ] = ()
    num_fewshot: Annotated[
        NonNegativeInt | None, _prompt("Examples drawn from the train split, for few_shot and cot.")
    ] = None
    fewshot_data: Annotated[
        str | None, _prompt("A file to draw examples from, instead of the train split.")
    ] = None
    system_prompt: Annotated[
        str | None, _prompt("A system prompt, instead of the prompt's own.")
    ] = None
    num_samples: Annotated[PositiveInt, _sampling("Completions per problem.", short="-n")] = 1
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=100)], _sampling("Sampling temperature; 0 is greedy.")
    ] = 0.0
    top_p: Annotated[SharePositive, _sampling("Nucleus sampling; 1 is off.")] = 1.0
    top_k: Annotated[
        NonNegativeInt, _sampling("Sample from the k most likely tokens; 0 is off.")
    ] = 0
    min_p: Annotated[
        Share, _sampling("Drop tokens less likely than this share of the likeliest one; 0 is off.")
    ] = 0.0
    presence_penalty: Annotated[
        Penalty, _sampling("Subtracted from the logit of a token already generated.")
    ] = 0.0
    frequency_penalty: Annotated[
        Penalty, _sampling("Subtracted from a token's logit for each time that it was generated.")
    ] = 0.0
    repetition_penalty: Annotated[
        Annotated[float, Meta(ge=0.01, le=100)],
        _sampling("Divides the logits of tokens in prompt and completion; 1 is off."),
    ] = 1.0
    max_tokens: Annotated[
        PositiveInt | None, _sampling("Longest completion; by default the task's own.")
    ] = None
    stop: Annotated[tuple[str, ...], _sampling("Text that ends a completion; repeatable.")] = ()
    thinking: Annotated[
        Thinking | None,
        _thinking(
            "How to read a thinking block: strip ignores it, keep reads it if no answer follows. "
            "The default is the task's or the verifier's; to score a run again, the run's own."
        ),
    ] = None
    backend: Annotated[
        str, _engine("auto, vllm, transformers, openai, replay, or a plugin's backend.")
    ] = "auto"
    backend_args: Annotated[
        Mapping[str, Any], _engine("An argument for the backend itself; repeatable.")
    ] = field(default_factory=dict)
    shard: Annotated[
        str | None,
        _machines(
            "Part I of N of the problems; commands that read runs merge them.", metavar="I/N"
        ),
    ] = None
    ray: Annotated[
        str | None,
        _machines("Use the Ray cluster at HOST:PORT; auto finds or starts one.", metavar="ADDRESS"),
    ] = None
    engines: Annotated[
        PositiveInt | None,
        _machines("Copies of the model on the Ray cluster; by default all that fit."),
    ] = None

    def checked(self) -> EvalOptions:
        """Return the options; UsageError if one of them needs another, or contradicts it."""
        for name in ("data", "fewshot_data", "split", "output_dir"):
            if getattr(self, name) == "":
                raise UsageError(f"{flag(name)} is empty; name one, or leave it out")
        if self.fewshot_data is not None and self.num_fewshot is None:
            raise UsageError("--fewshot-data holds rows to draw from; say how many: --num-fewshot")
        if self.num_samples > 1 and self.temperature == 0:
            raise UsageError(
                f"{self.num_samples} completions per problem at temperature 0 would all be the "
                "same; set --temperature"
            )
        if self.chat_template_args and not self.chat_template:
            raise UsageError(
                "--chat-template-arg needs the chat template; leave out --no-chat-template"
            )
        if self.engines is not None and self.ray is None:
            raise UsageError("--engines counts copies of the model on a Ray cluster; add --ray")
        self.part()
        return replace(self, cluster=None) if self.cluster == "none" else self

    def recorded(self) -> dict[str, Any]:
        """The model, the prompt and the options that don't say where to work, without secrets."""
        names = [name for name in ("model", "prompt", *DEFAULTS) if name not in _PLACES]
        settings: dict[str, Any] = redact_value({name: getattr(self, name) for name in names})
        return settings

    def is_given(self, name: str) -> bool:
        """Whether the user set the option to a value other than its default.

        The temperature doesn't count with several completions per problem, which need one above 0.
        """
        if name in self.set_by_tasks or (name == "temperature" and self.num_samples > 1):
            return False
        return bool(getattr(self, name) != DEFAULTS[name])

    def part(self) -> Shard | None:
        """The part of the problems to evaluate; None: all."""
        from rewardkit.harness.results.run_folder import Shard  # --help needs none of it

        return None if self.shard is None else Shard.parse(self.shard)

    def sampling(self) -> Sampling:
        """The sampling parameters; the length is the task's own unless `max_tokens` is set."""
        names = types_of(Sampling).keys() - {"max_tokens"}
        return Sampling(**{name: getattr(self, name) for name in names})

    def engine(self) -> EngineOptions:
        """The options for the backend."""
        names = types_of(EngineOptions).keys() & DEFAULTS.keys()
        return EngineOptions(
            **{name: getattr(self, name) for name in names}, arguments=self.backend_args
        )


def options_in(*panels: str) -> dict[str, Any]:
    """The types of the options in these panels, by name."""
    types = types_of(EvalOptions)
    # the class's own options come before those that it shares with others
    names = [
        name for owner in EvalOptions.__mro__ for name in vars(owner).get("__annotations__", ())
    ]
    found = {panel: dict[str, Any]() for panel in panels}
    for name in names:
        described = inspect.type_info(types[name])
        if isinstance(described, inspect.Metadata):
            found.get((described.extra or {}).get("panel", ""), {})[name] = types[name]
    return {name: kind for of_panel in found.values() for name, kind in of_panel.items()}


OPTIONS: Mapping[str, Any] = options_in(*PANELS)
"""The type of each option, in the order of the panels."""

DEFAULTS: Mapping[str, Any] = {name: vars(EvalOptions())[name] for name in OPTIONS}


def flag(name: str) -> str:
    """An option's name on the command line.

    >>> flag("task_args"), flag("max_tokens"), flag("chat_template")
    ('--task-arg', '--max-tokens', '--no-chat-template')
    """
    singular = name.removesuffix("s") if name.endswith("_args") else name
    return f"--{'no-' if DEFAULTS.get(name) is True else ''}{singular.replace('_', '-')}"


CALLBACK_OPTIONS: Mapping[str, Any] = {
    **{name: OPTIONS[name] for name in ("data", "split", "limit", "shuffle", "id")},
    **options_in("Prompt", "Sampling", "Thinking"),
    "timeout": OPTIONS["timeout"],
}
"""The types of the options of EvaluationCallback, except the prompt."""
