"""`rewardkit eval` with real engines: a killed run resumes to the same result."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from rewardkit.records import Sampling
from tests.support.commands import rewardkit
from tests.support.rows import write_rows

pytestmark = pytest.mark.engines

ROWS = 24


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "gsm8k.jsonl"
    rows = [
        {"question": f"She sold {i} clips. How many in all?", "answer": f"So\n#### {i}"}
        for i in range(ROWS)
    ]
    write_rows(path, rows)
    return path


def words(model: Path, data: Path, backend: str, output: Path, *more: str) -> list[str]:
    return [
        *("eval", "--task", "gsm8k", "--model", str(model), "--data", str(data)),
        *("--backend", backend, "--max_tokens", "120", "-o", str(output), "--quiet", *more),
    ]


def command(*arguments: Any) -> list[str]:
    return [sys.executable, "-m", "rewardkit", *words(*arguments)]


def finish(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "samples.jsonl").read_text().splitlines()
    return {row["key"]: row for row in map(json.loads, lines)}


def kill_half_way(arguments: list[str], samples: Path) -> int:
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not samples.exists() or not samples.read_bytes().count(b"\n"):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return samples.read_bytes().count(b"\n")


SMALL_STEPS = {
    "transformers": ["--backend-arg", "batch_size=2"],
    "vllm": ["--backend-arg", "max_num_seqs=2"],
}


@pytest.mark.faults
@pytest.mark.parametrize(
    ("backend", "temperature"),
    [
        ("transformers", "0"),
        ("transformers", "1"),
        pytest.param("vllm", "1", marks=pytest.mark.vllm),
    ],
)
def test_a_killed_evaluation_resumes_to_the_same_result(
    tiny_checkpoint: Path, data: Path, tmp_path: Path, backend: str, temperature: str
) -> None:
    more = [*SMALL_STEPS[backend], "--temperature", temperature]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    done = finish(command(tiny_checkpoint, data, backend, whole, *more))
    assert done.returncode == 0, done.stderr
    assert "Triton" not in done.stderr  # an engine's own chatter, which nobody asked for
    assert "Warning" not in done.stderr
    arguments = command(tiny_checkpoint, data, backend, killed, *more)
    assert 0 < kill_half_way(arguments, killed / "samples.jsonl") < ROWS
    done = finish(arguments)
    assert done.returncode == 0, done.stderr
    assert rows(killed) == rows(whole)
    assert (killed / "summary.json").read_text() == (whole / "summary.json").read_text()
    assert len((killed / "samples.jsonl").read_text().splitlines()) == ROWS


def test_other_weights_under_the_same_path_are_refused(
    tiny_checkpoint: Path, data: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(tiny_checkpoint, model)
    before = sorted(path.name for path in model.iterdir())
    arguments = words(model, data, "transformers", tmp_path / "run", "--limit", "2")
    assert rewardkit(*arguments).status == 0
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-100] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    done = rewardkit(*arguments)
    assert done.status == 1
    assert "differs in model.weights" in done.err
    assert sorted(path.name for path in model.iterdir()) == before


def test_the_record_contains_the_sent_requests(
    tiny_checkpoint: Path, data: Path, tmp_path: Path
) -> None:
    arguments = words(tiny_checkpoint, data, "transformers", tmp_path / "run", "--limit", "2")
    done = rewardkit(*arguments, "--system-prompt", "Be brief.", "--max-tokens", "5", "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["tasks"]["gsm8k"]["truncated"] == 2
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    sampling = json.loads(json.dumps(asdict(Sampling(max_tokens=5))))
    assert record["tasks"]["gsm8k"]["sampling"] == sampling
    assert record["fingerprint"]["model.weights"]
    assert record["backend"]["dtype"] == "float32"
    assert record["backend"]["version"]
    for row in rows(tmp_path / "run").values():
        assert "<|im_start|>system\nBe brief.<|im_end|>" in row["prompt"]
        assert row["completion_tokens"] == 5
        assert row["verdict"]["failure"] == "truncated"
