"""The systems that are compared: command line, environment, and where each writes completions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lm_eval_task

HERE = Path(__file__).parent
REWARDKIT, BARE, LM_EVAL = "rewardkit", "bare script", "lm-eval"
TUNED = ", tuned"
SERVED_NAME = "tiny"
_BATCH = 64
_AT_ONCE = 200
_SMALL_CACHE = {"VLLM_CPU_KVCACHE_SPACE": "1"}
_IN_PROCESS = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


@dataclass(frozen=True, kw_only=True)
class Job:
    """The evaluation that all contenders run. `url` is the server's, if the engine is a server."""

    engine: str
    model: Path
    problems: Path
    max_tokens: int
    rewardkit_python: str
    lm_eval_python: str
    tasks: Path
    url: str = ""


@dataclass(frozen=True)
class Contender:
    """One system. `command` takes the folder to write into, which does not exist yet."""

    name: str
    command: Callable[[Path], list[str]]
    read: Callable[[Path], dict[str, str]]
    environment: Mapping[str, str] = field(default_factory=dict)


def rewardkit(job: Job) -> Contender:
    """`rewardkit eval` as a user types it: hashes, prompts, verdicts and summary included."""
    options = {
        "vllm": ["--backend", "vllm", "--model", str(job.model)],
        "transformers": ["--backend", "transformers", "--model", str(job.model)],
        "server": [
            "--backend",
            "openai",
            "--model",
            SERVED_NAME,
            "--base-url",
            job.url,
            "--backend-arg",
            f"concurrency={_AT_ONCE}",
        ],
    }[job.engine]

    def command(out: Path) -> list[str]:
        return [
            job.rewardkit_python,
            "-m",
            "rewardkit",
            "eval",
            "--task",
            "gsm8k",
            "--data",
            str(job.problems),
            *options,
            "--max-tokens",
            str(job.max_tokens),
            "--output-dir",
            str(out),
        ]

    return Contender(REWARDKIT, command, _rewardkit_completions)


def bare(job: Job) -> Contender:
    """The minimal script with its engine's defaults."""
    if job.engine == "server":
        extra = ["--base-url", job.url, "--concurrency", str(_AT_ONCE)]
    else:
        extra = ["--batch-size", str(_BATCH)] if job.engine == "transformers" else []
    return _bare(job, BARE, extra, _SMALL_CACHE if job.engine == "vllm" else {})


def bare_tuned(job: Job, record: Mapping[str, Any]) -> Contender:
    """The minimal script with the engine settings that rewardkit chose, read from its run.json.

    What remains between the two times is rewardkit's own work."""
    threads = ["--threads", _threads(record)]
    if job.engine == "transformers":
        return _bare(job, BARE + TUNED, ["--batch-size", str(_BATCH), *threads], {})
    chosen = dict(record["backend"]["arguments"])
    for ours in ("model", "skip_tokenizer_init"):
        chosen.pop(ours, None)
    return _bare(job, BARE + TUNED, ["--engine-args", json.dumps(chosen), *threads], {})


def _threads(record: Mapping[str, Any]) -> str:
    if "threads" not in record["backend"]:
        raise SystemExit("rewardkit's run.json doesn't say how many threads its engine had")
    return str(record["backend"]["threads"])


def _bare(job: Job, name: str, extra: list[str], environment: Mapping[str, str]) -> Contender:
    script = "server_client" if job.engine == "server" else job.engine
    model = SERVED_NAME if job.engine == "server" else str(job.model)

    def command(out: Path) -> list[str]:
        return [
            job.rewardkit_python,
            str(HERE / f"bare_{script}.py"),
            model,
            str(job.problems),
            str(out),
            "--max-tokens",
            str(job.max_tokens),
            *extra,
        ]

    return Contender(name, command, _bare_completions, environment)


def lm_eval(job: Job, environment: Mapping[str, str]) -> Contender:
    """lm-evaluation-harness with its defaults, and batches as large as rewardkit's."""
    model = {
        "vllm": [
            "--model",
            "vllm",
            "--batch_size",
            "auto",
            "--model_args",
            f"pretrained={job.model},dtype=float32",
        ],
        "transformers": [
            "--model",
            "hf",
            "--batch_size",
            str(_BATCH),
            "--device",
            "cpu",
            "--model_args",
            f"pretrained={job.model},dtype=float32",
        ],
        "server": [
            "--model",
            "local-chat-completions",
            "--model_args",
            f"model={SERVED_NAME},base_url={job.url}/chat/completions,"
            f"num_concurrent={_AT_ONCE},tokenized_requests=False",
        ],
    }[job.engine]
    cache = _SMALL_CACHE if job.engine == "vllm" else {}
    return _lm_eval(job, LM_EVAL, model, {**environment, **cache})


def lm_eval_tuned(job: Job, environment: Mapping[str, str], record: Mapping[str, Any]) -> Contender:
    """lm-evaluation-harness with the threads that rewardkit uses and the engine in its process."""
    threads = {"OMP_NUM_THREADS": _threads(record)}
    name = LM_EVAL + TUNED
    if job.engine == "transformers":
        model = lm_eval(job, {}).command
        return Contender(name, model, lm_eval_task.read_completions, {**environment, **threads})
    arguments = f"pretrained={job.model},dtype=float32,enforce_eager=True"
    return _lm_eval(
        job,
        name,
        ["--model", "vllm", "--batch_size", "auto", "--model_args", arguments],
        {**environment, **threads, **_SMALL_CACHE, **_IN_PROCESS},
    )


def _lm_eval(job: Job, name: str, model: list[str], environment: Mapping[str, str]) -> Contender:
    def command(out: Path) -> list[str]:
        return lm_eval_task.command(job.lm_eval_python, model, tasks=job.tasks, out=out)

    return Contender(name, command, lm_eval_task.read_completions, environment)


def _rewardkit_completions(out: Path) -> dict[str, str]:
    return _rows(out / "samples.jsonl")


def _bare_completions(out: Path) -> dict[str, str]:
    return _rows(out)


def _rows(path: Path) -> dict[str, str]:
    with path.open() as lines:
        rows = [json.loads(line) for line in lines]
    return {row["id"]: row["completion"] for row in rows}
