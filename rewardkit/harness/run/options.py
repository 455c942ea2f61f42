"""The options of an evaluation, the single source for the command line and the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from rewardkit.harness.run.option import Option


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
