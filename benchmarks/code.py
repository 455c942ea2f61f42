"""What the verifier `code` takes for right, and how fast, beside other graders of programs.

python benchmarks/code.py mutants humaneval.jsonl.gz      (the file of openai/human-eval)
python benchmarks/code.py cheats --lcb DIR --verl DIR --open-r1 DIR
python benchmarks/code.py speed --lcb DIR

The folders are checkouts: LiveCodeBench's (with lcb_runner/), verl's (with verl/), open-r1's src/.
A grader without its folder is left out. `speed` needs root, for a control group.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gzip
import importlib
import io
import json
import os
import subprocess
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit import verify_batch
from rewardkit.available_resources import available_cores
from rewardkit.confinement import refusal
from rewardkit.verifiers.code.verifier import Code
from tests.confinement.levels import CONFINING
from tests.verifiers.code.cheats import (
    CALL_TESTS,
    CALLS,
    IDIOMS,
    STDIN,
    STDIN_TESTS,
)

Grade = Callable[[str, Mapping[str, Any]], bool]
"""Whether a grader takes a program for right, by tests of inputs and outputs."""


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["mutants", "cheats", "speed"])
    parser.add_argument("file", nargs="?")
    for rival in ("lcb", "verl", "open-r1"):
        parser.add_argument(f"--{rival}")
    parser.add_argument("--turns", nargs=3)
    parser.add_argument("--batch", nargs=3)
    options = parser.parse_args()
    if options.turns:
        count, kind, name = options.turns
        take_turns(graders(options)[name], kind, int(count))
        return
    if options.batch:
        count, kind, name = options.batch
        take_batch(name, kind, int(count), options.lcb)
        return
    if options.what == "mutants":
        mutants(options.file)
    elif options.what == "cheats":
        cheats(graders(options))
    else:
        rivals = ["LiveCodeBench"] if options.lcb else []
        names = [f"rewardkit, {level}" for level in CONFINING] + rivals
        speed(names, sys.argv[1:])
        batches(names, sys.argv[1:])


# Mutants ------------------------------------------------------------------------------------------


def mutants(file: str) -> None:
    """Print how many solutions are right, and of each kind of mutant how many are wrong.

    Mutants are our own, so a plain interpreter may run them: its verdict must be the same.
    """
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    for kind, mutate in {"canonical": lambda tree, _: tree, **MUTATIONS}.items():
        programs = [mutated(row, mutate) for row in rows]
        if kind == "syntax":
            programs = [program.replace(":", "", 1) for program in programs]
        replies = [f"```python\n{program}\n```" for program in programs]
        verdicts = verify_batch(Code(), replies, [row["test"] for row in rows], columns=rows)
        plain = [
            runs(f"{p}\n{r['test']}\ncheck({r['entry_point']})")
            for p, r in zip(programs, rows, strict=True)
        ]
        right = [bool(verdict.correct) for verdict in verdicts]
        unjudged = sum(verdict.correct is None for verdict in verdicts)
        names = [row["task_id"] for row, one in zip(rows, right, strict=True) if one]
        print(
            f"{kind}: {sum(right)} right of {len(rows)}, {unjudged} unjudged; "
            f"{sum(a != b for a, b in zip(right, plain, strict=True))} differ from a plain run",
            names if kind != "canonical" else "",
        )


def mutated(row: Mapping[str, str], mutate: Callable[[Any, Any], Any]) -> str:
    """Return a row's program with its function changed."""
    tree = ast.parse(row["prompt"] + row["canonical_solution"])
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    function = next(node for node in functions if node.name == row["entry_point"])
    mutate(function, copy.deepcopy(function))
    return ast.unparse(ast.fix_missing_locations(tree))


def constant(function: ast.FunctionDef, _: object) -> None:
    """Return 0 whatever the arguments are."""
    function.body = ast.parse("return 0").body


def off_by_one(function: ast.FunctionDef, _: object) -> None:
    """Raise the first integer by one; without any, add one to what is returned."""
    for node in ast.walk(ast.Module(function.body, [])):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            node.value += 1
            return
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value:
            node.value = ast.BinOp(node.value, ast.Add(), ast.Constant(1))
            return


def early_return(function: ast.FunctionDef, _: object) -> None:
    """Return the first argument at once."""
    function.body = ast.parse(f"return {function.args.args[0].arg}").body + function.body


def empty(function: ast.FunctionDef, _: object) -> None:
    """Do nothing."""
    function.body = [ast.Pass()]


MUTATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "constant": constant,
    "off by one": off_by_one,
    "early return": early_return,
    "empty": empty,
    "syntax": lambda tree, _: tree,
}


def runs(source: str) -> bool:
    """Whether a plain interpreter runs a program to its end."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", source], capture_output=True, timeout=20, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


# Graders ------------------------------------------------------------------------------------------


def graders(options: argparse.Namespace) -> dict[str, Grade]:
    """The graders at hand, by name."""
    found: dict[str, Grade] = {
        f"rewardkit, {level}": ours(level) for level in CONFINING if refusal(level) is None
    }
    if options.lcb:
        found["LiveCodeBench"] = livecodebench(options.lcb)
    if options.verl:
        found["verl prime_code"] = verl(options.verl)
    if options.open_r1:
        found["open-r1"] = open_r1(options.open_r1)
    return found


def ours(level: str) -> Grade:
    """Return `code` on a level of isolation."""
    verifier = Code(isolation=level)

    def grade(program: str, tests: Mapping[str, Any]) -> bool:
        (verdict,) = verify_batch(verifier, [program], [json.dumps(tests)])
        return verdict.correct is True

    return grade


def imported(folder: str, name: str, *packages: str, **given: object) -> Any:
    """Import a module of a checkout without running the `__init__` of these packages.

    What is `given` takes the place of what they define.
    """
    for package in packages:
        stub = types.ModuleType(package)
        vars(stub).update(given, __path__=[str(Path(folder, *package.split(".")))])
        sys.modules[package] = stub
    return importlib.import_module(name)


def livecodebench(folder: str) -> Grade:
    """Return LiveCodeBench's `check_correctness`, and its rule that all results are true."""
    sys.path.insert(0, folder)
    module = importlib.import_module("lcb_runner.evaluation.compute_code_generation_metrics")

    def grade(program: str, tests: Mapping[str, Any]) -> bool:
        sample = {"input_output": json.dumps(tests)}
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                results, _ = module.check_correctness(sample, program, timeout=6, debug=False)
            except IndexError:  # the process ended without a result, which counts as wrong
                return False
        return all(bool(one is True or one > 0) for one in results)

    return grade


def verl(folder: str) -> Grade:
    """Return verl's `compute_score` for tests of inputs and outputs."""
    packages = ("verl", "verl.utils", "verl.utils.reward_score")
    module = imported(folder, "verl.utils.reward_score.prime_code", *packages)

    def grade(program: str, tests: Mapping[str, Any]) -> bool:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                return module.compute_score(f"```python\n{program}\n```", dict(tests))[0] is True
            except UnboundLocalError:  # what it raises for a wrong program
                return False

    return grade


def open_r1(folder: str) -> Grade:
    """Return open-r1's `code_reward`; its script runs here instead of in its provider's machine."""
    absent = dict.fromkeys(("is_e2b_available", "is_morph_available"), lambda: False)
    rewards = imported(folder, "open_r1.rewards", "open_r1", "open_r1.utils", **absent)

    class Here:
        def execute_scripts(self, scripts: Sequence[str], languages: object) -> list[float]:
            return [self.reward(script) for script in scripts]

        def reward(self, script: str) -> float:
            lines = [line.removeprefix("    ") for line in script.strip("\n").split("\n")]
            *body, call = [line for line in lines if line.strip()]
            source = "\n".join([*body, f"print({call})"])
            done = subprocess.run(
                [sys.executable, "-c", source], capture_output=True, text=True, check=False
            )
            return float(done.stdout.strip().split("\n")[-1] or 0.0)

    rewards.get_provider = lambda **_: Here()

    def grade(program: str, tests: Mapping[str, Any]) -> bool:
        pairs = zip(tests["inputs"], tests["outputs"], strict=True)
        cases = [{"input": one, "output": other, "type": "stdin_stdout"} for one, other in pairs]
        info = {"language": "python", "test_cases": cases}
        reply = [[{"content": f"```python\n{program}\n```"}]]
        return bool(rewards.code_reward(reply, verification_info=[info])[0] == 1.0)

    return grade


# Programs that cheat, and right programs ----------------------------------------------------------


def cheats(found: Mapping[str, Grade]) -> None:
    """Print which grader takes which program for right."""
    print("| program |", " | ".join(found), "|")
    for name, program in CALLS.items():
        row(f"call: {name}", program, CALL_TESTS, found)
    for name, program in STDIN.items():
        row(f"stdin: {name}", program, STDIN_TESTS, found)
    for name, program in IDIOMS.items():
        apart = "each" in name
        tests = {"inputs": ["1\n2\n" if apart else "1 2\n"] * 2, "outputs": ["3\n"] * 2}
        row(f"right: {name}", f"{program}\nprint(a + b)", tests, found)


def row(name: str, program: str, tests: Mapping[str, Any], found: Mapping[str, Grade]) -> None:
    """Print a program's verdicts."""
    taken = []
    for grader, grade in found.items():
        applies = grader != "open-r1" or "fn_name" not in tests
        taken.append(("right" if grade(program, tests) else "wrong") if applies else "–")
    print(f"| {name} | {' | '.join(taken)} |", flush=True)


# Speed --------------------------------------------------------------------------------------------

TEN = range(10)
KINDS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "stdin": (
        "import sys\nprint(sum(map(int, sys.stdin.read().split())))",
        {"inputs": [f"{n} 1\n" for n in TEN], "outputs": [f"{n + 1}\n" for n in TEN]},
    ),
    "calls": (
        "def add(a, b):\n    return a + b",
        {
            "fn_name": "add",
            "inputs": [f"{n}\n1" for n in TEN],
            "outputs": [f"{n + 1}" for n in TEN],
        },
    ),
}
"""A right program with ten tests."""

TURNS = 40
FEW = 2
"""Turns whose time is subtracted: what starting costs."""
ROUNDS = 4
BATCH = 64
"""Completions of a batch: it is judged on all cores, as each grader does it by itself."""


def speed(names: Sequence[str], arguments: Sequence[str]) -> None:
    """Print what a completion with ten tests takes; graders take turns, each in its own process."""
    for kind in KINDS:
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for _ in range(ROUNDS):
            for name in names:
                few, more = (
                    measured([*arguments, "--turns", str(turns), kind, name])
                    for turns in (FEW, FEW + TURNS)
                )
                spent[name].append(((more[0] - few[0]) / TURNS, (more[1] - few[1]) / TURNS))
        for name, times in spent.items():
            walls, cpus = (
                [1000 * one for one in sorted(column)] for column in zip(*times, strict=True)
            )
            print(
                f"{kind}, {name}: CPU {cpus[0]:.1f}-{cpus[-1]:.1f} ms a completion, "
                f"by the clock {walls[0]:.1f}-{walls[-1]:.1f} ms",
                flush=True,
            )


def batches(names: Sequence[str], arguments: Sequence[str]) -> None:
    """Print what a batch of completions takes by the clock; graders take turns."""
    for kind in KINDS:
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(ROUNDS):
            for name in names:
                few, more = (
                    measured([*arguments, "--batch", str(count), kind, name])[0]
                    for count in (BATCH, 3 * BATCH)
                )
                seconds[name].append((more - few) / 2)
        for name, times in seconds.items():
            print(
                f"{kind}, {name}: {BATCH} completions at once {min(times):.2f}-{max(times):.2f} s",
                flush=True,
            )


def measured(arguments: Sequence[str]) -> tuple[float, float]:
    """Return the time by the clock, and the processor time of a process and all that it starts.

    A control group counts it (version 1, as root): jails are reaped by nobody who could tell.
    """
    group = Path("/sys/fs/cgroup/cpuacct/rewardkit-benchmark")
    group.mkdir(exist_ok=True)
    before = int((group / "cpuacct.usage").read_text())
    started = time.perf_counter()
    shell = f'echo $$ > {group}/cgroup.procs; exec "$@"'
    command = ["sh", "-c", shell, "sh", sys.executable, __file__, *arguments]
    subprocess.run(command, check=True)
    wall = time.perf_counter() - started
    return wall, (int((group / "cpuacct.usage").read_text()) - before) / 1e9


def take_turns(grade: Grade, kind: str, turns: int) -> None:
    """Grade a right program so many times; no two are the same."""
    program, tests = KINDS[kind]
    for turn in range(turns):
        assert grade(f"{program}\n# {turn}", tests)


def take_batch(name: str, kind: str, count: int, folder: str) -> None:
    """Grade so many right programs at once; no two are the same."""
    program, tests = KINDS[kind]
    programs = [f"{program}\n# {number}" for number in range(count)]
    if name == "LiveCodeBench":
        sys.path.insert(0, folder)
        module = importlib.import_module("lcb_runner.evaluation.compute_code_generation_metrics")
        samples = [{"input_output": json.dumps(tests)}] * count
        # real files: its processes enable the fault handler
        with (
            open(os.devnull, "w") as null,
            contextlib.redirect_stdout(null),
            contextlib.redirect_stderr(null),
        ):
            metrics, *_ = module.codegen_metrics(
                samples,
                [[one] for one in programs],
                k_list=[1],
                num_process_evaluate=available_cores(),
            )
        assert metrics["pass@1"] == 1
        return
    verifier = Code(isolation=name.partition(", ")[2])
    verdicts = verify_batch(verifier, programs, [json.dumps(tests)] * count)
    assert all(verdict.correct for verdict in verdicts)


if __name__ == "__main__":
    main()
