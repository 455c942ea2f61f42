# ruff: noqa: RUF009 - `setting` makes fields of a dataclass
"""The options of an evaluation: the type, range, default and description of each.

The command line, `evaluate()`, EvaluationCallback, recipes and task files read the options here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from rewardkit.config import (
    NonNegativeInt,
    PositiveInt,
    Seconds,
    Share,
    read_value,
    setting,
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

PANELS = "What", "Prompt", "Sampling", "Thinking", "Engine", "Judging", "Output", "Many machines"
"""The panels of `rewardkit eval --help`, in order."""

_what, _prompt, _sampling, _thinking, _engine, _judging, _output, _machines = (
    partial(setting, panel=panel) for panel in PANELS
)

CLIENT_ARGUMENTS = (
    *("api_key", "concurrency", "max_retries", "timeout", "input_price", "output_price"),
)
"""Arguments of the openai backend that the server doesn't get and that change no completion."""

LOCAL_OPTIONS = (
    *("dtype", "max_model_len", "tensor_parallel_size", "data_parallel_size"),
    *("gpu_memory_utilization", "trust_remote_code"),
)
"""Options of engines that load a model on this machine."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How an engine loads a model, and how the model is prompted."""

    chat_template: bool = _prompt(True, "Send plain text, without the chat template.")
    chat_template_args: Mapping[str, Any] = _prompt(
        {}, "An argument of the chat template, such as enable_thinking=false; repeatable."
    )
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = _sampling(
        0, "Seed of sampling, examples and generated data."
    )
    thinking_tags: ThinkingTags | None = _thinking(
        None,
        "The texts that open and close thinking, if rewardkit doesn't know the tags.",
        metavar="OPEN CLOSE",
    )
    thinking_token_budget: NonNegativeInt | None = _thinking(
        None, "Tokens after which vLLM, or a server with this option, closes a thinking block."
    )
    reasoning_effort: str | None = _thinking(
        None, "How long a model behind a server thinks, such as low or high."
    )
    tensor_parallel_size: PositiveInt = _engine(1, "GPUs that share one model.")
    data_parallel_size: PositiveInt = _engine(1, "Copies of the model, for vLLM; needs Ray.")
    dtype: str = _engine("auto", "auto, float32, bfloat16 or float16.")
    max_model_len: PositiveInt | None = _engine(
        None, "Maximum tokens of prompt and completion together."
    )
    gpu_memory_utilization: SharePositive | None = _engine(
        None, "Share of the GPU's memory for vLLM."
    )
    base_url: str | None = _engine(None, "Address of an OpenAI-compatible server.")
    trust_remote_code: bool = _engine(
        False, "Run the Python code in the checkpoint's folder; read the code first."
    )


@dataclass(frozen=True, kw_only=True)
class EngineOptions(ModelOptions):
    """The engine options of `rewardkit eval`; `arguments` are the --backend-arg pairs."""

    arguments: Mapping[str, object] = field(default_factory=dict)

    def refuse(self, backend: str, *names: str) -> None:
        """Raise UsageError for an option that is set and that `backend` doesn't have."""
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

    verifier: str | None = _judging(None, "The verifier that judges the rows, without a task.")
    verifier_args: Mapping[str, Any] = _judging(
        {}, "A parameter of the verifier; NAME.KEY=VALUE for several verifiers; repeatable."
    )
    verifier_field: str | None = _judging(None, "The column that names each row's verifier.")
    rescue: str | None = _judging(
        None, "judge: a model judges the answers that the verifier calls wrong.", metavar="NAME"
    )
    confirm: str | None = _judging(
        None, "judge: a model judges the answers that the verifier calls right.", metavar="NAME"
    )
    max_errors: Share = _judging(0.05, "Fail if a larger share of the completions is unjudged.")
    fail_under: Mapping[str, float] = _judging(
        {}, "Fail if a metric is lower than its value; repeatable.", metavar="METRIC=VALUE"
    )
    timeout: Seconds | None = _judging(
        None, "Seconds for a verdict; by default the verifier's deadline, or 1."
    )


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """The run's folder."""

    output_dir: str | None = _output(None, "Write into this folder.", short="-o")
    overwrite: bool = _output(False, "Discard the folder's content.")


_PLACES = ("overwrite", "output_dir", "shard", "ray", "engines")
"""Options for places: folders and machines."""


@dataclass(frozen=True, kw_only=True)
class EvalOptions(VerdictOptions, FolderOptions, ModelOptions):
    """What to evaluate, and every option of `rewardkit eval` and `evaluate()`."""

    tasks: tuple[Task, ...] = ()
    model: str = ""
    prompt: str | None = None
    """None: the task's default."""
    set_by_tasks: Mapping[str, Any] = field(default_factory=dict)
    """The options that the tasks set to other values than the defaults."""

    data: str | None = _what(
        None, "A JSONL, Parquet or CSV file with the data set's columns; or a hub id."
    )
    split: str | None = _what(None, "The data set's split; by default the task's.")
    limit: PositiveInt | None = _what(None, "Number of problems; by default all.")
    shuffle: NonNegativeInt | None = _what(
        None, "Draw the problems of --limit at random, by this seed.", metavar="SEED"
    )
    id: tuple[str, ...] = _what(
        (), "Use only the problem with this id; repeatable.", metavar="NAME"
    )
    cluster: str | None = _what(
        None,
        "A column that dependent problems share, such as a passage: intervals count each value as "
        "one trial. `none` ignores a run's column.",
        metavar="COLUMN",
    )
    task_args: Mapping[str, Any] = _what({}, "A parameter of the task; repeatable.")
    question_field: str | None = _what(None, "The column with the problem; by default question.")
    reference_field: str | None = _what(
        None, "The column with the reference, if the verifier needs a reference."
    )
    choices_field: tuple[str, ...] = _what(
        (),
        "The column with the list of options, or a column with one option, repeated; the reference "
        "is an option's letter or label.",
    )
    num_fewshot: NonNegativeInt | None = _prompt(
        None, "Examples drawn from the train split, for the prompts few_shot and cot."
    )
    fewshot_data: str | None = _prompt(None, "A file of examples, in place of the train split.")
    system_prompt: str | None = _prompt(None, "A system prompt, in place of the prompt's.")
    num_samples: PositiveInt = _sampling(1, "Completions per problem.", short="-n")
    temperature: Annotated[float, Meta(ge=0, le=100)] = _sampling(
        0.0, "Sampling temperature; 0 is greedy."
    )
    top_p: SharePositive = _sampling(1.0, "Nucleus sampling; 1 is off.")
    top_k: NonNegativeInt = _sampling(0, "Sample from the k most likely tokens; 0 is off.")
    min_p: Share = _sampling(
        0.0, "Drop tokens less likely than this share of the likeliest token; 0 is off."
    )
    presence_penalty: Penalty = _sampling(
        0.0, "Subtracted from the logit of each token that was generated."
    )
    frequency_penalty: Penalty = _sampling(
        0.0, "Subtracted from a token's logit for each time that the token was generated."
    )
    repetition_penalty: Annotated[float, Meta(ge=0.01, le=100)] = _sampling(
        1.0, "Divides the logits of tokens in prompt and completion; 1 is off."
    )
    max_tokens: PositiveInt | None = _sampling(
        None, "Maximum tokens of a completion; by default the task's limit."
    )
    stop: tuple[str, ...] = _sampling((), "A text that ends a completion; repeatable.")
    thinking: Thinking | None = _thinking(
        None,
        "strip ignores thinking blocks; keep reads a block if no answer follows. The default is "
        "the task's or the verifier's; for a run to score, the run's.",
    )
    backend: str = _engine(
        "auto", "auto, vllm, transformers, openai, replay, or a plugin's backend."
    )
    backend_args: Mapping[str, Any] = _engine({}, "An argument of the backend; repeatable.")
    shard: str | None = _machines(
        None, "Part I of N of the problems; commands that read runs merge the parts.", metavar="I/N"
    )
    ray: str | None = _machines(
        None,
        "Use the Ray cluster at HOST:PORT; auto finds or starts a cluster.",
        metavar="ADDRESS",
    )
    engines: PositiveInt | None = _machines(
        None, "Copies of the model on the Ray cluster; by default all that fit."
    )

    def check(self) -> EvalOptions:
        """Return the options. UsageError for an option that needs or contradicts another."""
        for name in ("data", "fewshot_data", "split", "output_dir"):
            if getattr(self, name) == "":
                raise UsageError(f"{flag(name)} is empty; name one, or leave it out")
        if self.fewshot_data is not None and self.num_fewshot is None:
            raise UsageError("--fewshot-data needs a number of examples; add --num-fewshot")
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
            raise UsageError("--engines needs a Ray cluster; add --ray")
        self.part()
        return replace(self, cluster=None) if self.cluster == "none" else self

    def record(self) -> dict[str, Any]:
        """The model, the prompt, and the options except those for places, without secrets."""
        names = [name for name in ("model", "prompt", *DEFAULTS) if name not in _PLACES]
        settings: dict[str, Any] = redact_value({name: getattr(self, name) for name in names})
        return settings

    def is_given(self, name: str) -> bool:
        """Whether the user set the option to a value other than its default.

        With several completions per problem, the temperature doesn't count: it must be above 0.
        """
        if name in self.set_by_tasks or (name == "temperature" and self.num_samples > 1):
            return False
        return bool(getattr(self, name) != DEFAULTS[name])

    def part(self) -> Shard | None:
        """The part of the problems to evaluate; None: all of them."""
        from rewardkit.harness.results.run_folder import Shard  # --help needs none of it

        return None if self.shard is None else Shard.parse(self.shard)

    def sampling(self) -> Sampling:
        """The sampling parameters. The plan sets the token limit."""
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
    panel_of = {option.name: option.metadata.get("panel") for option in fields(EvalOptions)}
    # the options of EvalOptions itself come before those of its bases
    names = [
        name for owner in EvalOptions.__mro__ for name in vars(owner).get("__annotations__", ())
    ]
    return {name: types[name] for panel in panels for name in names if panel_of[name] == panel}


OPTIONS: Mapping[str, Any] = options_in(*PANELS)
"""The type of each option, in the order of the panels."""

DEFAULTS: Mapping[str, Any] = {name: vars(EvalOptions())[name] for name in OPTIONS}


def flag(name: str) -> str:
    """Return an option's name on the command line.

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
