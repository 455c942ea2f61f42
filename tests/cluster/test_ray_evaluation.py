"""Two real Ray nodes evaluate a checkpoint; the rows are those of one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.two_nodes import on_two_nodes
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.engines


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_problems(20)


def write_problems(count: int) -> None:
    rows = [{"question": "so " * (n % 7) + f"{n}?", "answer": f"#### {n}"} for n in range(count)]
    write_rows("data.jsonl", rows)


def evaluation(model: Path, *more: object) -> tuple[object, ...]:
    return (
        *("eval", "--task", "gsm8k", "--data", "data.jsonl", "--model", model, "-n", 4),
        *("--backend", "transformers", "--backend-arg", "batch_size=8", "--temperature", 0.8),
        *("--max-tokens", 24, "--quiet", *more),
    )


def record(folder: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(folder, "run.json").read_text())
    return content


@pytest.mark.faults
def test_two_nodes_generate_the_same_rows_though_an_engine_is_killed(tiny_checkpoint: Path) -> None:
    command = evaluation(tiny_checkpoint)
    write_problems(100)  # the kill comes in time on a quiet machine too
    on_cluster = (*command, "-o", "run", "--engines", 2)
    done = on_two_nodes(*on_cluster, kill="ray::EngineActor.generate")
    assert done.returncode == 0, done.stderr
    assert run_command(*command, "-o", "one") == 0
    rows = [sorted(Path(name, "samples.jsonl").read_text().splitlines()) for name in ("run", "one")]
    assert rows[0] == rows[1]
    assert Path("run/summary.json").read_bytes() == Path("one/summary.json").read_bytes()
    run = record("run")
    assert run["fingerprint"] == record("one")["fingerprint"]
    assert run["backend"]["device"] == "cpu"
    cluster = run["sessions"][-1]["cluster"]
    assert cluster["died"] == 1, done.stderr
    assert len(cluster["nodes"]) == 2
    assert sum(node["engines"] for node in cluster["nodes"].values()) >= 2


@pytest.mark.faults
@pytest.mark.vllm
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_the_process_of_a_vllm_engine_is_killed_and_another_engine_does_its_requests(
    tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        *("eval", "--task", "gsm8k", "--data", "data.jsonl", "--model", tiny_checkpoint),
        *("--backend", "vllm", "--max-tokens", 200, "--quiet"),
        *("--backend-arg", "max_num_seqs=8"),  # generating takes long enough for the kill
    )
    write_problems(100)
    assert run_command(*command, "-o", "one") == 0
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    # where the first variable of its environment was changed, a process can't set its title
    engine = r"VLLM::EngineCore|\S+/python\S* .*multiprocessing\.spawn"
    done = on_two_nodes(*command, "-o", "run", cpus=(0, 1), kill=engine)
    assert done.returncode == 0, done.stderr
    rows = [sorted(Path(name, "samples.jsonl").read_text().splitlines()) for name in ("run", "one")]
    assert rows[0] == rows[1]
    assert record("run")["sessions"][-1]["cluster"]["died"] == 1, done.stderr
