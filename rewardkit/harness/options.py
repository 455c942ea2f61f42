"""The table of options: each one's type, range, default and description, once.

The command line, `evaluate()`, EvaluationCallback, recipes and task files read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from rewardkit.settings import NonNegativeInt, PositiveInt, Seconds, Share, about, types_of
from rewardkit.text.thinking import Thinking, ThinkingTags

SharePositive = Annotated[float, Meta(gt=0, le=1)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DataOptions:
    """The problems to evaluate on, the parameters of their task, or the columns of their rows."""

    data: Annotated[
        str | None, about("A JSONL, Parquet or CSV file with the data set's columns; or a hub id.")
    ] = None
    split: Annotated[str | None, about("The data set's split; by default the task's own.")] = None
    limit: Annotated[PositiveInt | None, about("Number of problems; by default all.")] = None
    shuffle: Annotated[
        NonNegativeInt | None,
        about("Draw the problems of --limit at random, by this seed.", metavar="SEED"),
    ] = None
    id: Annotated[
        tuple[str, ...], about("Take the problem with this id; repeatable.", metavar="NAME")
    ] = ()
    task_args: Annotated[Mapping[str, Any], about("A parameter of the task; repeatable.")] = field(
        default_factory=dict
    )
    question_field: Annotated[
        str | None, about("The column with the problem; by default question.")
    ] = None
    reference_field: Annotated[
        str | None, about("The column with the reference, if the verifier reads one.")
    ] = None
    choices_field: Annotated[
        tuple[str, ...],
        about(
            "The column with the list of options, or a column with one option, repeated; the "
            "reference is an option's letter or label."
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PromptOptions:
    """The examples that prompts show, and how prompts are sent."""

    num_fewshot: Annotated[
        NonNegativeInt | None, about("Examples drawn from the train split, for few_shot and cot.")
    ] = None
    fewshot_data: Annotated[
        str | None, about("A file to draw examples from, instead of the train split.")
    ] = None
    system_prompt: Annotated[str | None, about("A system prompt, instead of the prompt's own.")] = (
        None
    )
    chat_template: Annotated[bool, about("Send plain text, without the chat template.")] = True
    chat_template_args: Annotated[
        Mapping[str, Any],
        about("An argument of the chat template, such as enable_thinking=false; repeatable."),
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SamplingOptions:
    """How completions are drawn."""

    num_samples: Annotated[PositiveInt, about("Completions per problem.", short="-n")] = 1
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=100)], about("Sampling temperature; 0 is greedy.")
    ] = 0.0
    top_p: Annotated[SharePositive, about("Nucleus sampling; 1 is off.")] = 1.0
    top_k: Annotated[NonNegativeInt, about("Sample from the k most likely tokens; 0 is off.")] = 0
    min_p: Annotated[
        Share, about("Drop tokens less likely than this share of the likeliest one; 0 is off.")
    ] = 0.0
    presence_penalty: Annotated[
        Penalty, about("Subtracted from the logit of a token already generated.")
    ] = 0.0
    frequency_penalty: Annotated[
        Penalty, about("Subtracted from a token's logit for each time that it was generated.")
    ] = 0.0
    repetition_penalty: Annotated[
        Annotated[float, Meta(ge=0.01, le=100)],
        about("Divides the logits of tokens in prompt and completion; 1 is off."),
    ] = 1.0
    max_tokens: Annotated[
        PositiveInt | None, about("Longest completion; by default the task's own.")
    ] = None
    stop: Annotated[tuple[str, ...], about("Text that ends a completion; repeatable.")] = ()
    seed: Annotated[
        Annotated[int, Meta(ge=0, le=2**63 - 1)],
        about("Seed of sampling, examples and generated data."),
    ] = 0


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ThinkingOptions:
    """How long models think, and how much of the thinking verifiers read."""

    thinking: Annotated[
        Thinking | None,
        about(
            "How to read a thinking block: strip ignores it, keep reads it if no answer follows. "
            "The default is the task's or the verifier's; to score a run again, the run's own."
        ),
    ] = None
    thinking_tags: Annotated[
        ThinkingTags | None,
        about(
            "What opens and closes a thinking block, where the model's tags aren't among those "
            "that are known.",
            metavar="OPEN CLOSE",
        ),
    ] = None
    thinking_token_budget: Annotated[
        NonNegativeInt | None,
        about("Tokens after which vLLM, or a server that supports it, closes a thinking block."),
    ] = None
    reasoning_effort: Annotated[
        str | None, about("How long the openai backend's model thinks, such as low or high.")
    ] = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BackendOptions:
    """The engine and its parameters."""

    backend: Annotated[
        str, about("auto, vllm, transformers, openai, replay, or a plugin's backend.")
    ] = "auto"
    tensor_parallel_size: Annotated[PositiveInt, about("GPUs that share one model.")] = 1
    data_parallel_size: Annotated[
        PositiveInt, about("Copies of the model, for vLLM; needs Ray.")
    ] = 1
    dtype: Annotated[str, about("auto, float32, bfloat16 or float16.")] = "auto"
    max_model_len: Annotated[
        PositiveInt | None, about("Most tokens of prompt and completion together.")
    ] = None
    gpu_memory_utilization: Annotated[
        SharePositive | None, about("Share of the GPU's memory that vLLM takes.")
    ] = None
    backend_args: Annotated[
        Mapping[str, Any], about("An argument for the backend itself; repeatable.")
    ] = field(default_factory=dict)
    base_url: Annotated[str | None, about("Address of an OpenAI-compatible server.")] = None
    trust_remote_code: Annotated[
        bool, about("Run the Python code that a checkpoint brings; read it first.")
    ] = False


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class VerdictOptions:
    """The verifier, its time limit, and when a run counts as failed."""

    verifier: Annotated[str | None, about("The verifier that judges the rows, without a task.")] = (
        None
    )
    verifier_args: Annotated[
        Mapping[str, Any],
        about("A parameter of the verifier, or NAME.KEY=VALUE if there are several; repeatable."),
    ] = field(default_factory=dict)
    verifier_field: Annotated[str | None, about("The column that names each row's verifier.")] = (
        None
    )
    rescue: Annotated[
        str | None,
        about("judge: a model judges the answers that the verifier calls wrong.", metavar="NAME"),
    ] = None
    confirm: Annotated[
        str | None,
        about("judge: a model judges the answers that the verifier calls right.", metavar="NAME"),
    ] = None
    max_errors: Annotated[
        Share, about("Largest share of unjudged completions before the run fails.")
    ] = 0.05
    fail_under: Annotated[
        Mapping[str, float],
        about("Fail where a metric is lower; repeatable.", metavar="METRIC=VALUE"),
    ] = field(default_factory=dict)
    timeout: Annotated[
        Seconds | None,
        about("Seconds for a verdict; by default the verifier's own deadline, or 1."),
    ] = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FolderOptions:
    """The run's folder."""

    output_dir: Annotated[str | None, about("Write into this folder.", short="-o")] = None
    overwrite: Annotated[bool, about("Discard the folder's content.")] = False


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ClusterOptions:
    """Work on many machines."""

    shard: Annotated[
        str | None,
        about("Part I of N of the problems; commands that read runs merge them.", metavar="I/N"),
    ] = None
    ray: Annotated[
        str | None,
        about("Use the Ray cluster at HOST:PORT; auto finds or starts one.", metavar="ADDRESS"),
    ] = None
    engines: Annotated[
        PositiveInt | None,
        about("Copies of the model on the Ray cluster; by default all that fit."),
    ] = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AllOptions(
    DataOptions,
    PromptOptions,
    SamplingOptions,
    ThinkingOptions,
    BackendOptions,
    VerdictOptions,
    FolderOptions,
    ClusterOptions,
):
    """The options of `rewardkit eval` and `evaluate()`, except tasks, model and prompt."""


DEFAULTS: Mapping[str, Any] = vars(AllOptions())

PANELS: Mapping[str, type] = {
    "What": DataOptions,
    "Prompt": PromptOptions,
    "Sampling": SamplingOptions,
    "Thinking": ThinkingOptions,
    "Engine": BackendOptions,
    "Judging": VerdictOptions,
    "Output": FolderOptions,
    "Many machines": ClusterOptions,
}
"""The panels of `rewardkit eval --help`, in order."""


def flag(name: str) -> str:
    """An option's name on the command line.

    >>> flag("task_args"), flag("max_tokens"), flag("chat_template")
    ('--task-arg', '--max-tokens', '--no-chat-template')
    """
    singular = name.removesuffix("s") if name.endswith("_args") else name
    return f"--{'no-' if DEFAULTS.get(name) is True else ''}{singular.replace('_', '-')}"


class CallbackKwargs(TypedDict, total=False):
    """The options of EvaluationCallback, except the prompt; a test compares the types."""

    data: str | None
    split: str | None
    limit: int | None
    shuffle: int | None
    id: tuple[str, ...]
    num_fewshot: int | None
    fewshot_data: str | None
    system_prompt: str | None
    chat_template: bool
    chat_template_args: Mapping[str, Any]
    num_samples: int
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    max_tokens: int | None
    stop: tuple[str, ...]
    seed: int
    thinking_token_budget: int | None
    thinking: Thinking | None
    thinking_tags: ThinkingTags | None
    reasoning_effort: str | None
    timeout: float | None


CALLBACK_TYPES = {name: types_of(AllOptions)[name] for name in CallbackKwargs.__annotations__}


class EvalKwargs(CallbackKwargs, total=False):
    """AllOptions as keyword arguments, for type checkers; a test compares the types."""

    task_args: Mapping[str, Any]
    question_field: str | None
    reference_field: str | None
    choices_field: tuple[str, ...]
    backend: str
    tensor_parallel_size: int
    data_parallel_size: int
    dtype: str
    max_model_len: int | None
    gpu_memory_utilization: float | None
    backend_args: Mapping[str, Any]
    base_url: str | None
    trust_remote_code: bool
    verifier: str | None
    verifier_args: Mapping[str, Any]
    verifier_field: str | None
    rescue: str | None
    confirm: str | None
    max_errors: float
    fail_under: Mapping[str, float]
    output_dir: str | None
    overwrite: bool
    shard: str | None
    ray: str | None
    engines: int | None
