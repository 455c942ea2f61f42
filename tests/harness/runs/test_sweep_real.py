"""Sweeps with real engines: a killed sweep resumes; an engine is released before the next."""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.harness.engines.transformers import TransformersBackend
from rewardkit.harness.engines.vllm import VllmBackend
from rewardkit.harness.runs import sweep
from tests.support.commands import Result
from tests.support.commands import rewardkit as run_here
from tests.support.rows import write_rows
from tests.support.tiny import build

pytestmark = pytest.mark.engines

ROWS = 8


@pytest.fixture(autouse=True)
def undrawn_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no curve: test_sweep.py does, and it takes as long as an evaluation."""
    monkeypatch.setattr(sweep, "draw_curve", lambda points, path: path.touch())


@pytest.fixture
def training(tmp_path: Path) -> Path:
    """A training's folder, with its data beside the checkpoints 9 and 10."""
    run = tmp_path / "run"
    for step in (9, 10):
        checkpoint = build(run / f"checkpoint-{step}", seed=step)
        state = {"global_step": step, "max_steps": 10}
        (checkpoint / "trainer_state.json").write_text(json.dumps(state))
    rows = [
        {"question": f"She sold {i} clips. How many in all?", "answer": f"So\n#### {i}"}
        for i in range(ROWS)
    ]
    write_rows(run / "gsm8k.jsonl", rows)
    return run


def words(run: Path, output: Path, *more: str) -> list[str]:
    return [
        *("eval", "--task", "gsm8k", "--data", str(run / "gsm8k.jsonl"), "--max-tokens", "60"),
        *("--backend", "transformers", "--backend-arg", "batch_size=2", "-o", str(output)),
        *("--prompt", "gsm8k,boxed", "--json", "--quiet", *more),
    ]


def command(run: Path, output: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "rewardkit", *words(run, output, *more)]


def figures(out: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in run.items() if name != "output_dir"}
        for run in json.loads(out)
    ]


@pytest.mark.faults
def test_a_killed_sweep_resumes_to_the_same_result(training: Path, tmp_path: Path) -> None:
    shell = [str(training / "checkpoint-10"), str(training / "checkpoint-9")]
    whole = subprocess.run(
        command(training, tmp_path / "whole", "--model", *shell),
        capture_output=True,
        text=True,
        check=False,
    )
    assert whole.returncode == 0, whole.stderr
    labels = [f"checkpoint-{step}+{prompt}" for step in (9, 10) for prompt in ("gsm8k", "boxed")]
    assert [run["label"] for run in json.loads(whole.stdout)] == labels
    quoted = command(training, tmp_path / "killed", "--model", str(training / "checkpoint-*"))
    third = tmp_path / "killed" / labels[2] / "samples.jsonl"
    process = subprocess.Popen(quoted, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not third.exists() or not third.read_bytes().count(b"\n"):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    first = (tmp_path / "killed" / labels[0] / "samples.jsonl").read_bytes()
    again = subprocess.run(quoted, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert figures(again.stdout) == figures(whole.stdout)
    assert (tmp_path / "killed" / labels[0] / "samples.jsonl").read_bytes() == first
    assert (tmp_path / "killed" / "eval_curve.png").read_bytes().startswith(b"\x89PNG")
    for label in labels:
        lines = (tmp_path / "killed" / label / "samples.jsonl").read_text().splitlines()
        assert len(lines) == ROWS


class Waits(io.StringIO):
    """The standard error of a command; acts once, when the watch says that it waits."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self._act = act
        self.acted = False

    def write(self, text: str) -> int:
        written = super().write(text)
        if not self.acted and "waiting for new checkpoints" in self.getvalue():
            self.acted = True
            self._act()
        return written


def watched(training: Path, output: Path, act: Callable[[], None]) -> Result:
    """Watch the training here; a process of its own would load torch again."""
    loud = [word for word in words(training, output, "--watch") if word != "--quiet"]
    err = Waits(act)
    done = run_here(*loud, "--model", str(training), err=err)
    assert err.acted, done.err
    return done


def test_a_watch_evaluates_new_checkpoints_and_ends_with_the_training(
    training: Path, tmp_path: Path
) -> None:
    """The last checkpoint is moved in file by file, its state last, while the watch waits."""
    late, target = tmp_path / "late", training / "checkpoint-10"
    target.rename(late)

    def move() -> None:
        target.mkdir()
        for path in sorted(late.iterdir(), key=lambda path: path.name == "trainer_state.json"):
            time.sleep(0.01)
            shutil.copy(path, target)

    mover = threading.Thread(target=move)
    done = watched(training, tmp_path / "out", mover.start)
    mover.join()
    assert done.status == 0, done.err
    assert [run["step"] for run in json.loads(done.out)] == [9, 9, 10, 10]
    assert (tmp_path / "out" / "eval_curve.png").exists()


def test_an_interrupted_watch_prints_its_table(training: Path, tmp_path: Path) -> None:
    (training / "checkpoint-10").rename(tmp_path / "late")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    done = watched(training, tmp_path / "out", timer.start)
    timer.join()
    assert done.status == 0, done.err
    assert done.err.endswith("stopped; the same command resumes\n")
    labels = ["checkpoint-9+gsm8k", "checkpoint-9+boxed"]
    assert [run["label"] for run in json.loads(done.out)] == labels


def test_a_damaged_checkpoint_fails_only_its_own_run(training: Path, tmp_path: Path) -> None:
    weights = training / "checkpoint-9" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:3000])
    arguments = words(training, tmp_path / "out", "--model", str(training / "checkpoint-*"))
    done = run_here(*arguments)
    assert done.status == 1
    assert "checkpoint-9+gsm8k, checkpoint-9+boxed: transformers can't load" in done.err
    assert "Traceback" not in done.err
    assert [run["failed"] for run in json.loads(done.out)] == [True, True, False, False]


BACKENDS = {"transformers": TransformersBackend, "vllm": VllmBackend}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", ["transformers", pytest.param("vllm", marks=pytest.mark.vllm)])
def test_an_engine_is_released_before_the_next_one_loads(
    training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    backend: Any = BACKENDS[name]
    loaded: list[weakref.ref[Any]] = []
    starts: list[str] = []
    start = backend.start

    def watched(self: Any, requests: int, longest: int) -> None:
        gc.collect()
        assert not [one for one in loaded if one() is not None]
        start(self, requests, longest)
        starts.append(f"{self.folder.name}: {requests}")
        loaded.extend(map(weakref.ref, weights(self)))

    monkeypatch.setattr(backend, "start", watched)
    runs = rewardkit.evaluate(
        "gsm8k",
        [str(training / "checkpoint-*")],
        prompt=["gsm8k", "boxed"],
        backend=name,
        data=str(training / "gsm8k.jsonl"),
        max_tokens=12,
        output_dir=str(tmp_path / "out"),
    )
    assert [run.error for run in runs] == [None] * 4
    assert starts == [f"checkpoint-9: {2 * ROWS}", f"checkpoint-10: {2 * ROWS}"]
    gc.collect()
    assert len(loaded) >= 2
    assert not [one for one in loaded if one() is not None]


def weights(backend: Any) -> list[Any]:
    """The large allocations: the model, and vLLM's cache of keys and values."""
    if isinstance(backend, TransformersBackend):
        return [backend._model]
    engine: Any = backend._engine
    runner = engine._llm.llm_engine.model_executor.driver_worker.worker.model_runner
    return [runner.model, *runner.kv_caches]
