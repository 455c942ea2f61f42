r"""Judge the unseen answers with public graders and our own verifiers, and write their table.

    python scripts/scoreboard.py FOLDER -o scoreboard.md

Installs each grader at its pinned version below FOLDER, unless it is there, and judges the same
answers with each, in a process of its own: a grader that hangs costs its own row alone. Each is
called as its host calls it; what its host does with a row before is done here. A grader that can't
be installed is named with the reason. FOLDER/audit.html shows where each two of them differ.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from rewardkit.audit import Audit, audit
from rewardkit.audit.cases import Case
from rewardkit.audit.labelled import ANSWERS, MOST, StratumScore, draw_answers, read_set, scores
from rewardkit.audit.measure import CaseResult
from rewardkit.audit.output import page, share_text

Messages = list[dict[str, str]]
Reward = Callable[..., Any]

ROUNDS = Path(__file__).parents[1] / "benchmarks" / "unseen" / "rounds.json"
SECONDS = 3600
"""Time by the clock after which a grader's row is given up."""

INSTALLING = Lock()


def stubs(*packages: str) -> None:
    """Let modules of packages be imported without running the packages' own `__init__`, which
    import trainers."""
    for package in packages:
        parts = Path(*package.split("."))
        places = [str(Path(path, parts)) for path in sys.path if Path(path, parts).is_dir()]
        stub = types.ModuleType(package)
        vars(stub)["__path__"] = places
        sys.modules[package] = stub


class Anything:
    """Stands for whatever a grader's module imports and its grader doesn't use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        generic = {"__class_getitem__": classmethod(lambda cls, _: cls)}
        return type(name, (), generic) if name[0].isupper() else Anything()

    def __call__(self, *_: object, **__: object) -> Anything:
        return self


def blank(*names: str) -> None:
    """Modules that a grader's own module imports, and its grader doesn't use."""
    for name in names:
        module = types.ModuleType(name)
        module.__getattr__ = Anything().__getattr__  # type: ignore[method-assign]
        sys.modules[name] = module


def absent(*names: str) -> None:
    """Let modules that only trainers need be imported although they aren't installed."""
    blank(*(name for name in names if find_spec(name) is None))


# A grader without parameters is a factory: workers are forked from a process that has called it.


def math_verify() -> Reward:
    """math-verify alone."""
    from math_verify import parse, verify

    def reward(answer: str, reference: str) -> float:
        return float(verify(parse(f"${reference}$"), parse(answer)))

    return reward


def written(answer: str, form: str) -> str:
    """The completion of a box alone in the form that a host asks for, as its prompt does."""
    box = re.fullmatch(r"The answer is \$\\boxed\{(.*)\}\$\.", answer, re.DOTALL)
    return form.format(box[1]) if box else answer


def of_solutions(accuracy_reward: Reward) -> Reward:
    """TRL's signature, whose column `solution` holds the reference in dollars."""

    def reward(completions: Sequence[Messages], reference: Sequence[str]) -> list[float | None]:
        return list(accuracy_reward(completions, [f"${one}$" for one in reference]))

    return reward


def trl() -> Reward:
    """TRL's `accuracy_reward`."""
    stubs("trl", "trl.rewards")
    return of_solutions(import_module("trl.rewards.accuracy_rewards").accuracy_reward)


def open_r1() -> Reward:
    """open-r1's `accuracy_reward`."""
    stubs("open_r1", "open_r1.utils")
    blank("open_r1.utils.code_providers", "open_r1.utils.competitive_programming")
    return of_solutions(import_module("open_r1.rewards").accuracy_reward)


def of_verl(name: str, score: Callable[[Any], Any], form: str = "") -> Reward:
    """A `compute_score` of verl, whose result holds the score."""
    stubs("verl", "verl.utils", "verl.utils.reward_score")
    absent("torch")
    module = import_module(f"verl.utils.reward_score.{name}")

    def reward(solution_str: str, ground_truth: str) -> float:
        text = written(solution_str, form) if form else solution_str
        return float(score(module.compute_score(text, ground_truth)))

    return reward


def verl_math() -> Reward:
    """verl's `math_reward`."""
    return of_verl("math_reward", float)


def verl_dapo() -> Reward:
    """verl's `math_dapo`."""
    return of_verl("math_dapo", lambda result: result["score"] > 0, "Answer: {}")


def verl_prime() -> Reward:
    """verl's `prime_math`."""
    return of_verl("prime_math", lambda result: result[0])


def verl_gsm8k() -> Reward:
    """verl's `gsm8k`."""
    return of_verl("gsm8k", float)


def of_lm_eval(task: str, metric: str, form: str = "") -> Reward:
    """A task's `process_results`; the solution ends with the reference in a box."""
    stubs("lm_eval", "lm_eval.tasks", f"lm_eval.tasks.{task}")
    absent("datasets")
    module = import_module(f"lm_eval.tasks.{task}.utils")
    normalized = getattr(module, "normalize_final_answer", str)

    def process_results(doc: dict[str, Any], results: list[str]) -> float:
        solution = rf"\boxed{{{doc['reference']}}}"
        answer = normalized(module.remove_boxed(module.last_boxed_only_string(solution)))
        row = {**doc, "solution": solution, "answer": answer}
        replies = [written(text, form) if form else text for text in results]
        return float(module.process_results(row, replies)[metric])

    return process_results


def hendrycks_math() -> Reward:
    """lm-eval's `hendrycks_math`."""
    return of_lm_eval("hendrycks_math", "exact_match", "The answer is ${}$.")


def minerva_math() -> Reward:
    """lm-eval's `minerva_math`."""
    return of_lm_eval("minerva_math", "math_verify")


def of_inspect(scorer: Any) -> Reward:
    """A scorer of Inspect in one event loop, as in its evaluations; its grade C is right."""
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    loop = asyncio.new_event_loop()

    def reward(answer: str, reference: str) -> float:
        output = ModelOutput.from_content("audited", answer)
        model, asked = ModelName("mockllm/audited"), "What is the answer?"
        state = TaskState(
            model=model, sample_id=1, epoch=1, input=asked, messages=[], output=output
        )
        return float(loop.run_until_complete(scorer(state, Target([reference]))).value == "C")

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


def verifiers_math() -> Reward:
    """verifiers' `MathRubric`; its pool of processes is left out."""
    rubrics = import_module("verifiers.legacy.rubrics.math_rubric")
    parser, most = rubrics.MathRubric().parser, rubrics.MathRubric.MAX_VERIFY_CHARS

    def reward(completion: Messages, answer: str) -> float:
        response = parser.parse_answer(completion) or ""
        return float(rubrics.verify_response(response, answer, most)[0])

    return reward


def rllm_math() -> Reward:
    """rLLM's `rllm_reward_fn_math`."""
    stubs("rllm", "rllm.rewards")
    function = import_module("rllm.rewards.math_reward").rllm_reward_fn_math

    def reward(answer: str, reference: str) -> float:
        return float(function("math", answer, reference).is_correct)

    return reward


def nemo_rl() -> Reward:
    """NeMo-RL's `hf_math_verify`."""
    ray = types.ModuleType("ray")
    vars(ray)["remote"] = lambda *given, **_: given[0] if given else lambda value: value
    sys.modules["ray"] = ray
    absent("torch")
    stubs("nemo_rl", "nemo_rl.environments", "nemo_rl.evals")
    blank(
        *("nemo_rl.data", "nemo_rl.data.interfaces", "nemo_rl.distributed"),
        *("nemo_rl.distributed.batched_data_dict", "nemo_rl.distributed.virtual_cluster"),
        *("nemo_rl.environments.interfaces", "nemo_rl.environments.metrics"),
        "nemo_rl.environments.utils",
    )
    worker = import_module("nemo_rl.environments.math_environment").HFVerifyWorker()

    def reward(answer: str, reference: str) -> float:
        return float(worker.verify([answer], [reference], math_verify_impl="hf_math_verify")[0])

    return reward


def nemo_skills() -> Reward:
    """NeMo-Skills' `math_equal`; it gets the last box."""
    stubs("nemo_skills", "nemo_skills.evaluation")
    utils = types.ModuleType("nemo_skills.utils")
    vars(utils)["get_logger_name"] = str
    sys.modules[utils.__name__] = utils
    grader = import_module("nemo_skills.evaluation.math_grader")

    def reward(answer: str, reference: str) -> float:
        return float(grader.math_equal(reference, grader.extract_answer(answer)))

    return reward


def qwen_math() -> Reward:
    """Qwen2.5-Math's `math_equal`; it gets what its `extract_answer` reads."""
    absent("pebble", "tqdm", "timeout_decorator")
    parser, grader = import_module("parser"), import_module("grader")

    def reward(answer: str, reference: str) -> float:
        prediction = parser.strip_string(parser.extract_answer(answer, "math"))
        gold = parser.extract_answer(rf"\boxed{{{reference}}}", "math")
        return float(grader.math_equal(prediction, gold))

    return reward


def simple_evals_mgsm() -> Reward:
    """simple-evals' `mgsm`; its prompt asks for "Answer:" where GSM8K has ####."""
    absent("openai", "tqdm", "jinja2", "pandas", "numpy", "requests", "blobfile")
    stubs("simple_evals")
    module = import_module("simple_evals.mgsm_eval")

    def reward(answer: str, reference: str) -> float:
        text = answer.replace("####", "Answer:")
        return float(module.score_mgsm(reference, module.parse_answer(text, "Answer")))

    return reward


@dataclass(frozen=True)
class Grader:
    """A public grader: how it is called, where it comes from, and which strata its host judges."""

    reward: Callable[[], Reward]
    source: str
    """What pip installs, or `owner/name@commit` and the folders in it with the packages."""
    needs: tuple[str, ...] = ()
    strata: tuple[str, ...] = ANSWERS

    @property
    def name(self) -> str:
        """Its name in the table."""
        return (self.reward.__doc__ or "").partition(";")[0].rstrip(".")

    @property
    def folder(self) -> str:
        """The folder that it is installed in, next to those of the others."""
        return self.source.partition("@")[0].partition("=")[0].split("/")[-1].replace("-", "_")

    def install(self, folder: Path) -> list[Path]:
        """Install it unless it is there; the folders that Python finds it in."""
        place, path = folder / self.folder, self.source.partition(" ")[2]
        packages = folder / f"{self.folder}.packages"
        if path and not place.is_dir():
            repository, commit = self.source.partition(" ")[0].split("@")
            origin = f"https://github.com/{repository}"
            _run("git", "clone", "-q", "--filter=blob:none", "--no-checkout", origin, str(place))
            _run("git", "-C", str(place), "checkout", "-q", commit)
        wanted = [*self.needs, *([] if path else [self.source])]
        if wanted and not packages.is_dir():
            alone = [] if self.folder in WITH_DEPENDENCIES else ["--no-deps"]
            where = ["--quiet", "--target", str(packages), *alone]
            _run(sys.executable, "-m", "pip", "install", *where, *wanted)
        return [packages, *(place / part for part in path.split())]

    def judge(self, folder: Path) -> Audit | str:
        """Its audit on the unseen answers, in a process of its own; or why there is none.

        The folder keeps what this version has judged; a later run judges what is new.
        """
        answers = [
            answer
            for answer in draw_answers(read_set("unseen"), MOST)
            if answer.stratum in self.strata
        ]
        name = f"{self.reward.__name__}-{sha256(repr(self.source).encode()).hexdigest()[:12]}"
        kept, file = folder / f"{name}.json", folder / f"{name}.jsonl"
        known = json.loads(kept.read_text()) if kept.exists() else {}
        new = [answer.case for answer in answers if answer.case.id not in known]
        rows = (
            {"id": one.id, "completion": one.completion, "reference": one.reference, "label": True}
            for one in new
        )
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        target = f"{Path(__file__).resolve()}:{self.reward.__name__}"
        command = ["-m", "rewardkit", "audit", target, "--set", str(file), "--json"]
        try:
            with INSTALLING:
                places = self.install(folder)
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}
            limits = ["--per-family", str(len(new))]
            if new:
                done = _run(sys.executable, *command, *limits, env=environment, timeout=SECONDS)
                known |= json.loads(done)["answers"]
        except subprocess.CalledProcessError as error:
            return f"can't be installed or called: {error.stderr.strip()[-300:]}"
        except subprocess.TimeoutExpired:
            return f"was not done after {SECONDS} s"
        kept.write_text(json.dumps(known))
        judged = [(answer.case, CaseResult(**known[answer.case.id])) for answer in answers]
        return audit_from(self.name, judged, scores(answers, judged))


def _run(*command: str, **options: Any) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    return str(done.stdout)


def audit_from(
    name: str, judged: Sequence[tuple[Case, CaseResult]], scores: Sequence[StratumScore]
) -> Audit:
    """An audit of the unseen answers; scores are by stratum."""
    return Audit(
        target=name,
        kind="",
        form="{}",
        seed=0,
        findings=(),
        judged=judged,
        set="unseen",
        scores=scores,
    )


def ours_today() -> Audit:
    """Our verifiers, each on its own answers with their options."""
    answers = [answer for answer in read_set("unseen") if answer.stratum in ANSWERS]
    done = [audit(name, set="unseen").judged for name in ("math", "gsm8k", "choice")]
    some = {answer.case.id for answer in answers}
    judged = [pair for pairs in done for pair in pairs if pair[0].id in some]
    return audit_from("rewardkit, today", judged, scores(answers, judged))


def ours_first() -> list[StratumScore]:
    """What our verifiers did when each round was new."""
    rounds = json.loads(ROUNDS.read_text())
    names = ("right", "found", "wrong", "accepted")
    return [
        StratumScore(
            stratum,
            **{
                key: sum(one["first_run"].get(stratum, {}).get(key, 0) for one in rounds)
                for key in names
            },
            unjudged=0,
            hangs=0,
            cpu=None,
        )
        for stratum in ANSWERS
    ]


VERIFY = (
    *("math-verify==0.9.0", "latex2sympy2_extended==1.11.0"),
    "antlr4-python3-runtime==4.13.2",
)
VERL = ("verl==0.9.1", ("pylatexenc==2.10",))
LM_EVAL = ("lm_eval==0.4.13", (*VERIFY[:2], "antlr4-python3-runtime==4.11.0"))
INSPECT = ("inspect_ai==0.3.285", VERIFY[1:])
GRADERS = (
    Grader(math_verify, VERIFY[0], VERIFY[1:]),
    Grader(trl, "trl==1.16.0", (*VERIFY, "packaging")),
    Grader(open_r1, "huggingface/open-r1@1416fa0cf21595d2083b399a2a0bbddd7f6e9563 src", VERIFY),
    Grader(verl_math, *VERL),
    Grader(verl_prime, *VERL),
    Grader(verl_dapo, *VERL),
    Grader(verl_gsm8k, *VERL, strata=("gsm8k",)),
    Grader(hendrycks_math, *LM_EVAL),
    Grader(minerva_math, *LM_EVAL),
    Grader(inspect_math, *INSPECT),
    Grader(inspect_match, *INSPECT, strata=("gsm8k",)),
    Grader(inspect_letter, *INSPECT, strata=("choice",)),
    Grader(verifiers_math, "verifiers==0.3.1"),
    Grader(rllm_math, "rllm-org/rllm@9beb6e0f676a46d38858991fd79ac5f8e0b16d4c .", VERL[1]),
    Grader(nemo_rl, "NVIDIA-NeMo/RL@7ea279abfbeb698b092856d0dab61e7cf39bc909 .", VERIFY),
    Grader(nemo_skills, "NVIDIA/NeMo-Skills@0b012df8a09cd4730d31b16e90a0d8f13d145fb8 .", VERIFY),
    Grader(
        qwen_math,
        "QwenLM/Qwen2.5-Math@a45202bd16f1ec06f433442dc1152d0074773465 "
        "evaluation evaluation/latex2sympy",
        ("antlr4-python3-runtime==4.11.1", "word2number==1.1", "regex"),
    ),
    Grader(
        simple_evals_mgsm,
        "openai/simple-evals@ee3b0318d8d1d9d72755a4120879be65f7c07e9e ..",
        strata=("gsm8k",),
    ),
)
WITH_DEPENDENCIES = ("inspect_ai", "verifiers")
"""Packages that are installed with all that they require."""

NOT_RUN = {
    "simple-evals' `math`": "asks a model whether two answers are equal",
    "NeMo-Gym's `math_with_judge`": "its releases need Python 3.12 or newer",
}


def main() -> None:
    """Judge with all graders, two at a time, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where graders are installed")
    parser.add_argument("--only", action="append", default=[], help="a grader's function")
    parser.add_argument("-o", "--output", default="scoreboard.md", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    graders = [one for one in GRADERS if not options.only or one.reward.__name__ in options.only]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda one: one.judge(options.folder), graders))
    audits = [ours_today(), *(one for one in results if isinstance(one, Audit))]
    reasons = {
        grader.name: result
        for grader, result in zip(graders, results, strict=True)
        if isinstance(result, str)
    }
    text = "\n".join(tables(audits, ours_first(), NOT_RUN | reasons))
    options.output.write_text(text + "\n")
    plain = [replace(one, target=one.target.replace("`", "")) for one in audits]
    chain = plain[-1]
    for one in plain[-2::-1]:
        chain = replace(one, against=chain)
    (options.folder / "audit.html").write_text(page(chain))
    print(text)


def tables(
    audits: Sequence[Audit], first: Sequence[StratumScore], reasons: Mapping[str, str]
) -> Iterator[str]:
    """F1 by stratum, then each stratum with precision and recall, and what was not run."""
    by_name = {"rewardkit, first run": {score.stratum: score for score in first}}
    by_name |= {one.target: {score.stratum: score for score in one.scores} for one in audits}
    yield f"| F1 | {' | '.join(ANSWERS)} | CPU ms | hangs | no verdict |"
    yield f"|---|{'---|' * (len(ANSWERS) + 3)}"
    for name, found in by_name.items():
        cells = [f1(found[stratum]) if stratum in found else "" for stratum in ANSWERS]
        some = [found[stratum] for stratum in ANSWERS if stratum in found]
        timed = [(score.cpu, score.right + score.wrong) for score in some if score.cpu is not None]
        count = sum(n for _, n in timed)
        cpu = f"{1000 * sum(one * n for one, n in timed) / count:.2g}" if timed else ""
        hangs, missing = sum(one.hangs for one in some), sum(one.unjudged for one in some)
        yield f"| {' | '.join([name, *cells, cpu, str(hangs), str(missing)])} |"
    for stratum in ANSWERS:
        yield f"\n### {stratum}\n"
        yield "| grader | right found | wrong accepted | precision | recall | F1 |"
        yield "|---|---|---|---|---|---|"
        for name, found in by_name.items():
            if stratum in found:
                one = found[stratum]
                shares = [share_text(s) if s else "" for s in (one.precision, one.recall, one.f1)]
                counts = [f"{one.found:,} of {one.right:,}", f"{one.accepted:,} of {one.wrong:,}"]
                yield f"| {' | '.join([name, *counts, *shares])} |"
    yield ""
    yield from (f"- {name}: {reason}" for name, reason in reasons.items())
    python = ".".join(map(str, sys.version_info[:2]))
    yield f"\n{datetime.now(UTC):%Y-%m-%d}; rewardkit {version('rewardkit')}, Python {python}"
    yield from sorted({f"- {one.source}" for one in GRADERS})


def f1(score: StratumScore) -> str:
    """F1 without its interval."""
    return f"{score.f1.value:.3f}".removeprefix("0") if score.f1 else ""


if __name__ == "__main__":
    main()
