r"""Audit public graders and rewardkit's own verifiers, and print their rates.

    pip install --no-deps --target graders verl==0.9.1 lm_eval==0.4.13 verifiers==0.1.5 \
        pylatexenc openai-agents
    git clone --depth 1 https://github.com/huggingface/open-r1 && mv open-r1/src/open_r1 graders/
    python scripts/audit_graders.py --path graders --path /path/with/inspect_ai -o table.md

Each grader is called as its host calls it; what its host does with a row before is done here.
A grader that can't be imported is named as such. One run audits every grader with the same cases,
however long they take.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rewardkit.audit import Audit, audit
from rewardkit.errors import RewardkitError
from rewardkit.judging import close_pools

Messages = list[dict[str, str]]
Reward = Callable[..., Any]

OURS = {
    "math": "math",
    "hendrycks_math": "math",
    "gsm8k": "number",
    "choice": "choice",
    "aqua": "choice",
    "exact": "text",
    "code": "code",
    "instructions": "instructions",
    "tool_calls": "tools",
    "json_schema": "json",
}


# A grader without parameters is a factory: workers are forked from a process that has called it.


def trl() -> Reward:
    """TRL's `accuracy_reward`, which is math-verify; the solution is a formula in dollars."""
    return of_solutions(import_module("trl.rewards").accuracy_reward)


def open_r1() -> Reward:
    """open-r1's `accuracy_reward`; the solution is a formula in dollars."""
    absent = dict.fromkeys(("is_e2b_available", "is_morph_available"), lambda: False)
    rewards = checkout("open_r1.rewards", "open_r1", "open_r1.utils", **absent)
    return of_solutions(rewards.accuracy_reward)


def open_r1_code() -> Reward:
    """open-r1's `code_reward`; its script runs here instead of in its provider's machine."""
    absent = dict.fromkeys(("is_e2b_available", "is_morph_available"), lambda: False)
    rewards = checkout("open_r1.rewards", "open_r1", "open_r1.utils", **absent)
    rewards.get_provider = lambda **_: Here()

    def reward(completions: Sequence[str], reference: Sequence[str]) -> list[float]:
        information = [{"language": "python", "test_cases": cases(one)} for one in reference]
        replies = [[{"role": "assistant", "content": text}] for text in completions]
        return list(rewards.code_reward(replies, verification_info=information))

    return reward


def cases(tests: str) -> list[dict[str, str]]:
    """Tests of stdin in open-r1's form."""
    given = json.loads(tests)
    pairs = zip(given["inputs"], given["outputs"], strict=True)
    return [{"input": one, "output": other, "type": "stdin_stdout"} for one, other in pairs]


class Here:
    """A provider that runs open-r1's scripts in this machine, and prints their last value."""

    def execute_scripts(self, scripts: Sequence[str], languages: object) -> list[float]:
        """The values of the scripts."""
        return [self.value(script) for script in scripts]

    def value(self, script: str) -> float:
        """The number that a script ends with; 0 for one that fails, as with the provider."""
        lines = [line.removeprefix("    ") for line in script.strip("\n").split("\n")]
        *body, last = [line for line in lines if line.strip()]
        source = "\n".join([*body, f"print({last})"])
        command = [sys.executable, "-c", source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return float(done.stdout.strip().split("\n")[-1] or 0.0)


def of_solutions(accuracy_reward: Reward) -> Reward:
    """TRL's signature, whose column `solution` is made of the reference."""

    def reward(completions: Sequence[Messages], reference: Sequence[str]) -> list[float | None]:
        return list(accuracy_reward(completions, [f"${one}$" for one in reference]))

    return reward


def of_verl(name: str, score: Callable[[Any], float] = float) -> Reward:
    """A `compute_score` of verl, whose result holds the score."""
    module = checkout(f"verl.utils.reward_score.{name}", *VERL)

    def reward(solution_str: str, ground_truth: str) -> float:
        return float(score(module.compute_score(solution_str, ground_truth)))

    return reward


def verl() -> Reward:
    """verl's `math_reward`."""
    return of_verl("math_reward")


def verl_dapo() -> Reward:
    """verl's `math_dapo`."""
    return of_verl("math_dapo", lambda result: result["score"])


def verl_prime() -> Reward:
    """verl's `prime_math`."""
    return of_verl("prime_math", lambda result: result[0])


def verl_gsm8k() -> Reward:
    """verl's `gsm8k`."""
    return of_verl("gsm8k")


def verl_code() -> Reward:
    """verl's `prime_code`."""
    return of_verl("prime_code", lambda result: result[0] is True)


def lm_eval() -> Reward:
    """lm-eval's `hendrycks_math`; the solution ends with the reference in a box."""
    module = checkout("lm_eval.tasks.hendrycks_math.utils", *LM_EVAL)

    def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, int]:
        solution = rf"\boxed{{{doc['reference']}}}"
        return dict(module.process_results({**doc, "solution": solution}, results))

    return process_results


def of_inspect(scorer: Any) -> Reward:
    """A scorer of Inspect, called as Inspect calls it; its grade C is right."""
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    async def reward(answer: str, reference: str) -> float:
        output = ModelOutput.from_content("audited", answer)
        state = TaskState(
            model=ModelName("mockllm/audited"),
            sample_id=1,
            epoch=1,
            input="What is the answer?",
            messages=[],
            output=output,
        )
        return float((await scorer(state, Target([reference]))).value == "C")

    return reward


def inspect_math() -> Reward:
    """Inspect's `math`."""
    return of_inspect(import_module("inspect_ai.scorer").math())


def inspect_match() -> Reward:
    """Inspect's `match(numeric=True)`."""
    return of_inspect(import_module("inspect_ai.scorer").match(numeric=True))


def inspect_letter() -> Reward:
    """Inspect's `answer("letter")`."""
    return of_inspect(import_module("inspect_ai.scorer").answer("letter"))


def inspect_exact() -> Reward:
    """Inspect's `exact`."""
    return of_inspect(import_module("inspect_ai.scorer").exact())


def prime() -> Reward:
    """The `MathRubric` of verifiers, which reads the last box."""
    extract = import_module("verifiers.utils.data_utils").extract_boxed_answer
    parser = import_module("verifiers.parsers.parser").Parser(extract_fn=extract)
    rubric = import_module("verifiers.rubrics.math_rubric").MathRubric(parser=parser)

    def reward(completion: Messages, answer: str) -> float:
        return float(rubric.correct_answer_reward_func(parser, completion, answer))

    return reward


LM_EVAL = ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.hendrycks_math")
VERL = ("verl", "verl.utils", "verl.utils.reward_score")

PUBLIC: dict[Callable[..., Any], str] = {
    trl: "math",
    open_r1: "math",
    verl: "math",
    verl_dapo: "math",
    verl_prime: "math",
    lm_eval: "math",
    inspect_math: "math",
    prime: "math",
    verl_gsm8k: "number",
    inspect_match: "number",
    inspect_letter: "choice",
    inspect_exact: "text",
    open_r1_code: "code",
    verl_code: "code",
}


def checkout(name: str, *packages: str, **given: object) -> Any:
    """Import a module without running the `__init__` of these packages, which import trainers.

    What is `given` takes the place of what they define.
    """
    for package in packages:
        if package not in sys.modules:
            places = [
                str(Path(path, *package.split(".")))
                for path in sys.path
                if Path(path, *package.split(".")).is_dir()
            ]
            stub = types.ModuleType(package)
            vars(stub).update(given, __path__=places)
            sys.modules[package] = stub
    return import_module(name)


def main() -> None:
    """Audit all graders, and write the tables."""
    options = parse_arguments()
    sys.path += options.path
    audits: dict[str, Audit] = {}
    targets: list[tuple[str | Reward, str]] = [*PUBLIC.items(), *OURS.items()]
    for target, kind in targets:
        name = name_of(target)
        if options.only and name.replace("`", "") not in options.only:
            continue
        try:
            limits = {"budget": math.inf, "per_family": options.per_family}
            audits[name] = audit(target, kind=kind, seed=options.seed, **limits)
            print(total(name, audits[name]), flush=True)
        except RewardkitError as error:
            print(f"{name}: not audited: {error}", file=sys.stderr)
        close_pools()
        Path(options.output).write_text("\n".join(page(audits)) + "\n")


def page(audits: Mapping[str, Audit]) -> Iterator[str]:
    """The totals of all graders, and for each kind the families in which one errs."""
    yield "| grader | kind | wrong accepted | right refused | attacks paid | failures | behaviour |"
    yield "|---|---|---|---|---|---|---|"
    yield from (total(name, one) for name, one in audits.items())
    for kind in dict.fromkeys(one.kind for one in audits.values()):
        graders = {name: one for name, one in audits.items() if one.kind == kind}
        figures = {name: families(one) for name, one in graders.items()}
        names = dict.fromkeys(family for one in figures.values() for family in one)
        rows = []
        for family in names:
            cells = [figures[name].get(family, ("–", 0)) for name in graders]
            if any(errors for _, errors in cells):
                rows.append(f"| {family} | {' | '.join(text for text, _ in cells)} |")
        if rows:
            yield f"\n| {kind}: family | {' | '.join(graders)} |"
            yield f"|---|{'---|' * len(graders)}"
            yield from rows


def families(result: Audit) -> dict[str, tuple[str, int]]:
    """For each group of families, the errors of its cases as text, and their number."""
    errors: dict[str, list[int]] = {}
    for tally in result.families:
        counts = errors.setdefault(group(tally.name), [0, 0])
        counts[0] += tally.errors
        counts[1] += tally.n
    return {name: (f"{wrong} of {n}", wrong) for name, (wrong, n) in errors.items()}


def group(family: str) -> str:
    """The family's group, such as "spelling: wrapper"; each attack is a group of its own."""
    start, colon, _ = family.rpartition(": ")
    return start if colon and start != "attack" else family


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--path", action="append", default=[], help="a folder with packages")
    parser.add_argument("--only", action="append", default=[], help="a grader's name; default: all")
    parser.add_argument("--per-family", type=int, default=8, help="cases of each family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", default="graders.md")
    return parser.parse_args()


def name_of(target: str | Callable[..., Any]) -> str:
    """A grader's name in the table."""
    if isinstance(target, str):
        return f"`{target}`"
    return (target.__doc__ or "").partition(";")[0].rstrip(".")


def total(name: str, result: Audit) -> str:
    """A grader's line."""
    rates = result.totals
    failures = ", ".join(
        f"{failure} {rates[failure].errors:,}"
        for failure in ("hang", "exception", "crash", "unjudged")
        if rates[failure].errors
    )
    behaviour = {one.name for one in result.findings if one.family.startswith("behaviour")}
    cells = [figure(rates[name]) for name in ("false_accept", "false_reject", "hack")]
    return f"| {' | '.join([name, result.kind, *cells, failures, ', '.join(sorted(behaviour))])} |"


def figure(rate: Any) -> str:
    """Errors of cases, and the rate's interval in percent."""
    if not rate.n:
        return "–"
    return (
        f"{rate.errors:,} of {rate.n:,}: {100 * rate.rate:.1f}% "
        f"({100 * rate.low:.1f}–{100 * rate.high:.1f})"
    )


if __name__ == "__main__":
    main()
