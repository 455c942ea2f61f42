"""Expert iteration on the 24-point game: sample, keep what is right, learn it, and again.

    python examples/expert_iteration.py --output story

A round is three commands. `rewardkit eval` lets the model play hands of the train split, a few
times each; `rewardkit data --from` keeps the right replies, the shortest first; `rewardkit train`
learns them, supervised. Each round has other hands, and begins with the model of the round before,
the first with examples/game24-long. All figures come from the 200 hands of the test split, which
no round contains.

Prints the commands, the rates by round, and what changed with its interval.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from rewardkit import compare

MODEL = Path(__file__).parent / "game24-long"
LIMIT = 216
"""Tokens of a completion, at most."""
RATES = ("accuracy", "unfinished_rate", "error_rate")
SAMPLING = (
    *("--prompt", "game24_short", "--backend", "transformers", "--quiet"),
    *("--temperature", "0.7", "--top-p", "0.9", "--max-tokens", str(LIMIT)),
)
TRAINING = {
    "prompt": "game24_short",
    "data.long": 0,  # the rows have completions of their own
    "learning_rate": 5e-4,
    "num_train_epochs": 2,
    "per_device_train_batch_size": 32,
    "gradient_accumulation_steps": 1,
    "evaluation.every": 0,
    "save_strategy": "no",
}


def run(*arguments: object) -> None:
    """Run a command of rewardkit, with one thread, and show it."""
    words = list(map(str, arguments))
    print(f"$ rewardkit {shlex.join(words)}", flush=True)
    subprocess.run(
        [sys.executable, "-m", "rewardkit", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def write_hands(file: Path, split: str, first: int, count: int) -> Path:
    """Write some hands of a split of seed 0, whatever the seed of the story."""
    written = file.parent / f"{split}-all.jsonl"
    if not written.exists():
        run("data", "game24", "--split", split, "-o", written)
    lines = written.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[first : first + count]), encoding="utf-8")
    return file


def play(model: Path, hands: Path, samples: int, seed: int, output: Path) -> Path:
    """Let the model reply to the hands; returns the folder of the run."""
    options = ("--data", hands, "-n", samples, "--seed", seed, "-o", output)
    run("eval", "--task", "game24", "--model", model, *SAMPLING, *options)
    return output


def improve(model: Path, hands: Path, samples: int, seed: int, output: Path) -> Path:
    """A round: the model learns its own right replies to the hands."""
    played, rows = play(model, hands, samples, seed, output / "run"), output / "rows.jsonl"
    select = ("--choose", "shortest", "--per-problem", 2)
    run("data", "game24", "--from", played, *select, "-o", rows)
    settings = [word for key, value in TRAINING.items() for word in ("--set", f"{key}={value}")]
    options = ("--data", rows, "--seed", seed, "-o", output / "sft")
    run("train", "game24-sft", "--model", model, *options, *settings)
    return output / "sft" / "final"


def row(seed: int, number: int, played: Path, learnt: str) -> str:
    """A round as a row of the table."""
    summary = json.loads((played / "summary.json").read_text(encoding="utf-8"))["tasks"]["game24"]
    metrics: dict[str, dict[str, Any]] = summary["metrics"]
    rates = (f"{metrics[name]['value']:.1%}" for name in RATES)
    return f"| {seed}, {number} | {learnt} | {' | '.join(rates)} | {median_tokens(played):.0f} |"


def median_tokens(played: Path) -> float:
    """The median length of the replies."""
    lines = (played / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    lengths = sorted(json.loads(line)["completion_tokens"] for line in lines)
    return float(lengths[len(lengths) // 2])


def story(output: Path, seed: int, *, rounds: int, hands: int, samples: int, test: int) -> None:
    """Run the rounds of one seed; print a row for each, and what changed."""
    output.mkdir(parents=True)
    new = write_hands(output / "test.jsonl", "test", 0, test)
    model, tests, table = MODEL, [play(MODEL, new, 1, seed, output / "test-0")], []
    table.append(row(seed, 0, tests[0], "–"))
    for number in range(1, rounds + 1):
        folder = output / f"round-{number}"
        folder.mkdir()
        share = write_hands(folder / "hands.jsonl", "train", (number - 1) * hands, hands)
        model = improve(model, share, samples, 10 * seed + number, folder)
        tests.append(play(model, new, 1, seed, output / f"test-{number}"))
        learnt = len((folder / "rows.jsonl").read_text(encoding="utf-8").splitlines())
        table.append(row(seed, number, tests[-1], str(learnt)))
    print("\n".join(table))
    for number, after in enumerate(tests[1:], 1):
        (compared,) = compare(tests[0], after, metric="accuracy")
        change = compared.difference
        print(
            f"seed {seed}, round {number}: accuracy {100 * change.value:+.1f} pts "
            f"[{100 * change.low:+.1f}, {100 * change.high:+.1f}]",
            flush=True,
        )


def main() -> None:
    """Run the story once for each seed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--hands", type=int, default=300, help="hands of a round")
    parser.add_argument("--samples", type=int, default=3, help="replies to each hand")
    parser.add_argument("--test", type=int, default=200, help="hands to test on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    print(f"| seed, round | replies learnt | {' | '.join(RATES)} | median tokens |")
    print("|---" * 6 + "|")
    for seed in options.seeds:
        story(
            options.output / str(seed),
            seed,
            rounds=options.rounds,
            hands=options.hands,
            samples=options.samples,
            test=options.test,
        )


if __name__ == "__main__":
    main()
