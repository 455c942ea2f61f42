"""A model that thinks, on every engine: the same texts are read, and the same verdicts given."""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from tests.support.rows import write_rows
from tests.support.thinking_checkpoint import REPLIES, build_thinking

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

served = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "vllm_server.py"))["served"]

REFERENCES = ("5", "8", "3")
ARGUMENTS = (
    *("--dtype", "float32", "--enforce-eager", "--max-model-len", "256", "--max-num-seqs", "8"),
    *("--reasoning-parser", "deepseek_r1"),
)
ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "ERROR"}


class Runs:
    """Evaluates the checkpoint's three questions, and reads the rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = str(build_thinking(folder / "model"))
        rows = [
            {"question": question, "answer": reference}
            for question, reference in zip(REPLIES, REFERENCES, strict=True)
        ]
        write_rows(folder / "rows.jsonl", rows)

    def rows(self, name: str, model: str = "", **options: Any) -> list[dict[str, Any]]:
        """The rows of an evaluation, in the order of the problems."""
        rewardkit.evaluate(
            (),
            model or self.model,
            prompt="question",
            data=str(self.folder / "rows.jsonl"),
            reference_field="answer",
            verifier="math",
            max_tokens=40,
            output_dir=str(self.folder / name),
            **options,
        )
        lines = (self.folder / name / "samples.jsonl").read_text().splitlines()
        return sorted(map(json.loads, lines), key=lambda row: str(row["key"]))

    def summary(self, name: str) -> dict[str, Any]:
        """The content of a run's summary.json."""
        content: dict[str, Any] = json.loads((self.folder / name / "summary.json").read_text())
        return content


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("thinking"))


@pytest.fixture(scope="module")
def address(runs: Runs) -> Iterator[Any]:
    """The address of a server with a reasoning parser, once it has started."""
    log = runs.folder / "server.log"
    server = served(
        sys.executable, Path(runs.model), "tiny", os.environ | ENVIRONMENT, log, ARGUMENTS
    )
    with ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        # it starts while the engines in this process run
        yield pool.submit(stack.enter_context, server)


@pytest.mark.faults
@pytest.mark.vllm
def test_engines_and_a_server_with_a_reasoning_parser_give_the_same_verdicts(
    runs: Runs, address: Any
) -> None:
    local = runs.rows("transformers", backend="transformers")
    offline = runs.rows("vllm", backend="vllm")
    options = {"backend": "openai", "base_url": address.result()}
    apart = runs.rows("server", "tiny", **options)
    verdicts = [
        [(row["verdict"]["correct"], row["verdict"]["answer"]) for row in rows]
        for rows in (local, offline, apart)
    ]
    assert verdicts[0] == [(True, "5"), (False, None), (False, None)]
    assert verdicts[1] == verdicts[2] == verdicts[0]
    assert [row["completion"] for row in offline] == [row["completion"] for row in local]
    assert [row["prompt_ends"] for row in offline] == [row["prompt_ends"] for row in local]
    for row, whole in zip(apart, local, strict=True):
        text = row["completion"]
        joined = row["reasoning"] + ("</think>" + text if text else "")
        assert joined == whole["completion"]
        assert row["prompt_tokens"] == whole["prompt_tokens"]
        assert row["completion_tokens"] == whole["completion_tokens"]
    for name in ("transformers", "vllm", "server"):
        metrics = runs.summary(name)["tasks"]["rows"]["metrics"]
        assert metrics["thinking_unclosed_rate"]["value"] == pytest.approx(1 / 3)

    off = runs.rows("off", backend="transformers", chat_template_args={"enable_thinking": False})
    assert {row["completion"] for row in off} == {"The answer is \\boxed{40}."}

    budget = runs.rows("budget", "tiny", thinking_token_budget=4, **options)
    assert all(row["completion"] for row in budget)
    assert not runs.summary("budget")["tasks"]["rows"]["metrics"].get("thinking_unclosed_rate")
