"""Does every route give the verdicts of verify_batch?

    python benchmarks/every_route.py CASES/ [--count 1000]

CASES holds JSONL files of {completion, gold}, a source each. A count of them, drawn with a fixed
seed, goes through `verify_batch`, every adapter, rewards by import path, the routes
of a server that this script starts, and its client. What a route gives back is compared as JSON
text: the whole verdict where it comes back, else the parts of it that do. Prints a table; the exit
status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx

import rewardkit
from rewardkit.frameworks.client import remote

VERIFIERS = {"gsm8k_solutions": "gsm8k", "abel_mcq": "choice"}
"""The verifiers of sources; `math` judges the others."""

Case = tuple[str, str]
Facts = dict[str, Any]
Route = Callable[[str, Sequence[Case]], list[Facts]]


def facts(verdict: rewardkit.Verdict) -> Facts:
    """All that a route may give back of a verdict, under the name that it uses."""
    whole = verdict.as_json()
    return whole | {
        "verdict": whole,
        "reward": verdict.score or 0.0,
        "reward_or_none": verdict.score,
        "acc": float(verdict.correct is True),
        "unjudged": float(verdict.correct is None),
        "pred": verdict.answer or "",
        "failure_text": str(verdict.failure or ""),
    }


def adapter(module: str, verifier: str) -> Any:
    """The attribute that a trainer or a harness loads from its configuration."""
    return getattr(importlib.import_module(f"rewardkit.{module}"), verifier)


def verl(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One call for each completion."""
    compute_score = adapter("frameworks.verl", verifier)
    infos = [compute_score("cases", text, reference, {}) for text, reference in cases]
    return [
        {"reward": info["score"], "failure_text": info["failure"]}
        | {name: info[name] for name in ("acc", "unjudged", "pred")}
        for info in infos
    ]


def openrlhf(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One call for each query."""
    reward_func = adapter("frameworks.openrlhf", verifier)
    results = [reward_func([f"? {text}"], ["? "], [reference]) for text, reference in cases]
    return [{"reward": result["rewards"], **result["extra_logs"]} for result in results]


def ms_swift(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One batch."""
    texts, references = map(list, zip(*cases, strict=True))
    rewards = adapter("frameworks.ms_swift", verifier)()(texts, solution=references)
    return [{"reward_or_none": reward} for reward in rewards]


def verifiers(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """All at once in one event loop."""
    reward = adapter("frameworks.verifiers", verifier)

    async def judge(text: str, reference: str) -> Facts:
        metrics: dict[str, float] = {}
        task = SimpleNamespace(model_dump=lambda: {"answer": reference})
        trace = SimpleNamespace(
            last_reply=text, record_metric=metrics.__setitem__, messages=[], assistant_messages=[]
        )
        return {"reward": await reward(task, trace), "unjudged": metrics[f"{verifier}/unjudged"]}

    async def judge_all() -> list[Facts]:
        return list(await asyncio.gather(*(judge(*case) for case in cases)))

    return asyncio.run(judge_all())


def slime(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """All at once in one event loop, then as a group."""
    custom_rm = adapter("frameworks.slime", verifier)
    samples = [SimpleNamespace(response=text, label=label, metadata={}) for text, label in cases]

    async def judge_all() -> tuple[list[float], list[float]]:
        single = list(await asyncio.gather(*(custom_rm(None, sample) for sample in samples)))
        return single, await custom_rm(None, samples)

    single, group = asyncio.run(judge_all())
    if single != group:
        raise SystemExit("slime's groups and its single samples differ")
    return [{"reward": reward} for reward in single]


def areal(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One call for each completion."""
    reward_fn = adapter("frameworks.areal", verifier)
    return [{"reward": reward_fn("?", text, answer=reference)} for text, reference in cases]


def rllm(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One call for each episode."""
    evaluate = adapter("frameworks.rllm", verifier)
    rows = []
    for text, reference in cases:
        episode = SimpleNamespace(artifacts={"answer": text}, trajectories=[])
        result = evaluate({"ground_truth": reference}, episode)
        told = {"reward": result["reward"], "pred": result["metadata"]["pred"]}
        told["failure_text"] = result["metadata"]["failure"]
        rows.append(told | {name: result["signals"][name] for name in ("acc", "unjudged")})
    return rows


def easyr1(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One batch."""
    compute_score = adapter("frameworks.easyr1", verifier)
    inputs = [{"response": text, "ground_truth": reference} for text, reference in cases]
    return [
        {"reward": row["overall"], "acc": row["accuracy"], "unjudged": row["unjudged"]}
        for row in compute_score(inputs)
    ]


def skyrl_gym(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One environment for each completion. Raise ModuleNotFoundError without SkyRL-gym."""
    environment = adapter("frameworks.skyrl_gym", verifier)
    rows = []
    for text, reference in cases:
        step = environment(extras={"reward_spec": {"ground_truth": reference}}).step(text)
        kept = {name: step["metadata"][name] for name in ("acc", "unjudged", "pred")}
        rows.append({"reward": step["reward"], **kept})
    return rows


def lm_eval(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One call for each problem."""
    process_results = adapter("frameworks.lm_eval", verifier)
    rows = []
    for text, reference in cases:
        figures = process_results({"answer": reference}, [text])
        kept = {name: figures[name] for name in ("acc", "unjudged")}
        rows.append({"reward": figures["score"], **kept})
    return rows


def inspect_ai(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """All at once in one event loop. Raise ModuleNotFoundError without Inspect."""
    score = adapter("frameworks.inspect_ai", "verifier")(verifier)

    async def judge_all() -> list[Any]:
        states = [
            SimpleNamespace(metadata={}, input_text="?", output=SimpleNamespace(completion=text))
            for text, _ in cases
        ]
        return list(
            await asyncio.gather(
                *(score(state, [gold]) for state, (_, gold) in zip(states, cases, strict=True))
            )
        )

    return [
        {
            "reward_or_none": None if isnan(one.as_float()) else one.as_float(),
            "pred": one.answer or "",
            "failure_text": one.metadata["failure"],
        }
        for one in asyncio.run(judge_all())
    ]


def lighteval(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """One call for each problem. Raise ModuleNotFoundError without lighteval."""
    metric = adapter("frameworks.lighteval", verifier)
    name = f"rewardkit_{verifier}"
    rows = []
    for text, reference in cases:
        document = SimpleNamespace(
            specific=None, query="?", get_golds=lambda gold=reference: [gold]
        )
        figures = metric.compute_sample(
            doc=document, model_response=SimpleNamespace(final_text=[text])
        )
        rows.append({"reward": figures[name], "unjudged": figures[f"{name}_unjudged"]})
    return rows


def by_path(verifier: str, cases: Sequence[Case]) -> list[Facts]:
    """`rewardkit.rewards.NAME`, as TRL calls it."""
    texts, references = map(list, zip(*cases, strict=True))
    rewards = adapter("rewards", verifier)(texts, reference=references)
    return [{"reward_or_none": reward} for reward in rewards]


class ServerRoutes:
    """The routes of a server."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx.Client(base_url=url, timeout=60)

    def routes(self) -> dict[str, Route]:
        """The routes by their names in the table."""
        return {
            "`POST /v1/score`": self.score,
            "`POST /rm/NAME` (slime)": self.rm,
            "`POST /get_reward/NAME` (OpenRLHF)": self.get_reward,
            "`frameworks.client.remote`": self.remote,
        }

    def _post(self, path: str, body: Facts) -> Any:
        answer = self._client.post(path, json=body)
        answer.raise_for_status()
        return answer.json()

    def score(self, verifier: str, cases: Sequence[Case]) -> list[Facts]:
        """One request."""
        items = [{"completion": text, "reference": reference} for text, reference in cases]
        answer = self._post("/v1/score", {"verifier": verifier, "items": items})
        return [{"verdict": fields} for fields in answer["verdicts"]]

    def rm(self, verifier: str, cases: Sequence[Case]) -> list[Facts]:
        """One request for each completion."""
        bodies = [{"prompt": "?", "response": text, "label": label} for text, label in cases]
        return [{"reward": self._post(f"/rm/{verifier}", body)} for body in bodies]

    def get_reward(self, verifier: str, cases: Sequence[Case]) -> list[Facts]:
        """One request for each query."""
        rows = []
        for text, label in cases:
            body = {"query": [f"? {text}"], "prompts": ["? "], "labels": [label]}
            answer = self._post(f"/get_reward/{verifier}", body)
            rows.append({"reward": answer["rewards"], **answer["extra_logs"]})
        return rows

    def remote(self, verifier: str, cases: Sequence[Case]) -> list[Facts]:
        """Batches of 256."""
        texts, references = zip(*cases, strict=True)
        verdicts = remote(self._url, verifier=verifier).verify_batch(texts, references)
        return [{"verdict": verdict.as_json()} for verdict in verdicts]


ADAPTERS: dict[str, Route] = {
    "`rewards.NAME` (TRL by path)": by_path,
    "`frameworks.verl`": verl,
    "`frameworks.openrlhf`": openrlhf,
    "`frameworks.ms_swift`": ms_swift,
    "`frameworks.verifiers`": verifiers,
    "`frameworks.slime`": slime,
    "`frameworks.areal`": areal,
    "`frameworks.rllm`": rllm,
    "`frameworks.easyr1`": easyr1,
    "`frameworks.skyrl_gym`": skyrl_gym,
    "`frameworks.lm_eval`": lm_eval,
    "`frameworks.inspect_ai`": inspect_ai,
    "`frameworks.lighteval`": lighteval,
}


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "rewardkit", "serve", "--port", str(port)]
    for name in ("math", *VERIFIERS.values()):
        command += ["--verifier", name]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while not _is_ready(url):
                time.sleep(0.2)
            yield url
        finally:
            process.terminate()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready").is_success
    except httpx.TransportError:
        return False


def read_cases(folder: Path, count: int) -> dict[str, list[Case]]:
    """The cases of each verifier, drawn with a fixed seed."""
    rows = [
        (VERIFIERS.get(path.stem, "math"), (row["completion"], row["gold"]))
        for path in sorted(folder.glob("*.jsonl"))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]
    cases: dict[str, list[Case]] = {}
    for verifier, case in random.Random("every route").sample(rows, min(count, len(rows))):
        cases.setdefault(verifier, []).append(case)
    return cases


def compare(
    name: str, route: Route, cases: dict[str, list[Case]], expected: dict[str, list[Facts]]
) -> int:
    """Print a line of the table; return how many completions differ."""
    differing, names = 0, ""
    for verifier, drawn in cases.items():
        for given, known in zip(route(verifier, drawn), expected[verifier], strict=True):
            same = {key: known[key] for key in given}
            differing += json.dumps(given, sort_keys=True) != json.dumps(same, sort_keys=True)
            names = ", ".join(given)
    shown = names.replace("reward_or_none", "reward").replace("failure_text", "failure")
    total = sum(map(len, cases.values()))
    print(f"| {name} | {shown} | {total:,} | {differing} |", flush=True)
    return differing


def main() -> int:
    """Send the cases through every route; 1 if any verdict differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    cases = read_cases(options.cases, options.count)
    expected = {
        verifier: list(map(facts, rewardkit.verify_batch(verifier, *zip(*drawn, strict=True))))
        for verifier, drawn in cases.items()
    }
    sizes = ", ".join(f"{len(drawn)} of {verifier}" for verifier, drawn in cases.items())
    print(f"{sizes}\n\n| route | gives back | completions | differ |\n|---|---|---|---|")
    differing = 0
    with server() as url:
        for name, route in (ADAPTERS | ServerRoutes(url).routes()).items():
            try:
                differing += compare(name, route, cases, expected)
            except ModuleNotFoundError as error:
                print(f"| {name} | not run: needs {error.name} | | |")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
