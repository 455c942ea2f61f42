"""Show the four systems on a real model of 135 million parameters: fine-tune, reinforce, evaluate.

    scripts/real-model smol
    python examples/real_model.py gsm8k boxed game24 r1-zero --model smol --output real

Each system is two commands of rewardkit, which this script prints and runs: a short supervised
training, without which the model never writes the form that the reward asks for, then the
system's own recipe. The problems are easy on purpose (word_problems.py), since a model of this
size solves none of GSM8K's own in the form asked. Problems and hands that are evaluated on are
never trained on. Weights are float32: steps of 5e-6 are smaller than what bfloat16 can hold.

Writes real.json: for each system and seed the evaluations by step with 95% intervals, the seconds
of each stage, and three replies before and after. `--start 2 --steps 2` tries everything.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RATES = ("accuracy", "accuracy_flexible", "format_rate", "unfinished_rate", "score")


class System(NamedTuple):
    """The two trainings of a system; each setting is one of `rewardkit train --set`."""

    start: str
    recipe: str
    data: str
    """The beginning of the files' names; "" for problems that the task makes."""
    tokens: int
    """The longest completion."""
    starting: Mapping[str, object] = {}
    both: Mapping[str, object] = {}
    reinforcing: Mapping[str, object] = {}


SYSTEMS = {
    "gsm8k": System("gsm8k-sft", "gsm8k-xml", "", 100),
    "boxed": System(
        "gsm8k-sft",
        str(ROOT / "examples/boxed.toml"),
        "maths_",
        200,
        {"task": "math500", "data.long": 1.0},
        {"prompt": "boxed"},
        {"learning_rate": 5e-6},
    ),
    "game24": System(
        "game24-sft",
        "game24",
        "game24",
        200,
        {"data.long": 0.25, "data.max_total_length": 320},
        {},
        {"learning_rate": 5e-6},
    ),
    "r1-zero": System("gsm8k-sft", "r1-zero", "", 100, {"prompt": "r1_zero"}),
}


def main() -> None:
    """Run the systems with each seed, several at once where asked, and write real.json."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="+", choices=SYSTEMS, metavar="SYSTEM")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cpu")
    parser.add_argument("--start", type=int, default=30, help="steps of supervised training")
    parser.add_argument("--steps", type=int, default=60, help="steps of reinforcement")
    parser.add_argument("--completions", type=int, default=64, help="completions of a step")
    parser.add_argument("--problems", type=int, default=200, help="problems to evaluate on")
    parser.add_argument("--at-once", type=int, default=1, help="trainings at a time")
    options = parser.parse_args()
    options.output.mkdir(parents=True)
    problems(options.output, options.problems)
    every = list(product(options.systems, options.seeds))
    stories: dict[str, Any] = {}
    with ThreadPoolExecutor(options.at_once) as pool:
        for (system, seed), story in zip(
            every, pool.map(lambda each: show(each[0], each[1], options), every), strict=True
        ):
            stories[f"{system}, seed {seed}"] = story
            text = json.dumps(stories, indent=1, ensure_ascii=False)
            (options.output / "real.json").write_text(text + "\n", encoding="utf-8")
            for stage in story["stages"]:
                print(system, seed, stage["command"].split()[2], f"{stage['seconds']} s")
                for step, rates in stage["evaluations"].items():
                    print(" ", step, rates, flush=True)


def problems(folder: Path, count: int) -> None:
    """Write the word problems, and the hands of the 24-point game that are evaluated on."""
    script = ROOT / "examples/word_problems.py"
    command = [sys.executable, str(script), "--output", str(folder / "sums"), f"--test={count}"]
    subprocess.run(command, check=True)
    for split in ("train", "test"):
        hands = [f"--split={split}", "-o", str(folder / f"sums/game24{split}.jsonl")]
        hands += [f"--count={count}"] if split == "test" else []
        subprocess.run([sys.executable, "-m", "rewardkit", "data", "game24", *hands], check=True)


def show(name: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Train by both recipes; return what each evaluation found, and replies before and after."""
    system, folder = SYSTEMS[name], options.output / f"{name}-{seed}"
    data = options.output / "sums" / f"{system.data}train.jsonl"
    shared = {
        "save_strategy": "no",
        "gradient_accumulation_steps": 1,
        "evaluation.data": data.with_name(f"{system.data}test.jsonl"),
        "evaluation.max_tokens": system.tokens,
        "dtype": "float32",
        **system.both,
    }
    if options.device == "cpu":
        shared["bf16"] = False
    start = train(
        system.start,
        options.model,
        data,
        folder / "start",
        seed,
        {
            **shared,
            "max_steps": options.start,
            "per_device_train_batch_size": 16,
            "learning_rate": 2e-5,
            "evaluation.every": options.start,
            **system.starting,
        },
    )
    learnt = train(
        system.recipe,
        folder / "start/final",
        data,
        folder / "learnt",
        seed,
        {
            **shared,
            "max_steps": options.steps,
            "per_device_train_batch_size": options.completions,
            "max_completion_length": system.tokens,
            "learning_rate": 5e-6,
            "evaluation.every": max(1, options.steps // 2),
            **system.reinforcing,
        },
    )
    first, last = (folder / f"{stage}/evaluation" for stage in ("start", "learnt"))
    return {
        "stages": [start, learnt],
        "before": replies(min(first.iterdir())),
        "after": replies(max(last.iterdir())),
    }


def train(
    recipe: str,
    model: Path,
    data: Path,
    folder: Path,
    seed: int,
    settings: Mapping[str, object],
) -> dict[str, Any]:
    """Run `rewardkit train`; return the command, its seconds and its evaluations."""
    command = ["rewardkit", "train", recipe, "--model", model, "--data", data, "-o", folder]
    command += [f"--seed={seed}"]
    command += [f"--set={key}={toml(value)}" for key, value in settings.items()]
    line = shlex.join(map(str, command))
    before = time.monotonic()
    with (folder.parent.parent / f"{folder.parent.name}-{folder.name}.log").open("w") as log:
        print(line, file=log, flush=True)
        run = [sys.executable, "-m", *map(str, command)]
        if subprocess.run(run, stdout=log, stderr=subprocess.STDOUT).returncode:
            sys.exit(f"{line}\nfailed: {log.name} says why")
    return {
        "command": line,
        "seconds": round(time.monotonic() - before),
        "evaluations": evaluations(folder),
    }


def toml(value: object) -> str:
    """A setting's value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def evaluations(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Rates with their interval, and the median of tokens, by evaluated step."""
    log = json.loads((folder / "train_log.json").read_text(encoding="utf-8"))
    found = {}
    for entry in log:
        for task, metrics in (entry["evaluation"] or {}).items():
            lengths = entry["lengths"][task]
            found[str(entry["step"])] = {
                rate: [round(metrics[rate][part], 3) for part in ("value", "low", "high")]
                for rate in RATES
                if rate in metrics
            } | {"median tokens": [lengths[len(lengths) // 2]]}
    return found


def replies(evaluation: Path) -> list[dict[str, Any]]:
    """The first three problems of an evaluation, each with its reply and its verdict."""
    rows = (evaluation / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {"id": row["id"], "completion": row["completion"], "correct": row["verdict"]["correct"]}
        for row in map(json.loads, sorted(rows)[:3])
    ]


if __name__ == "__main__":
    main()
