"""Runs in tracking tools: the logged values, no uploads, no lost runs."""

from __future__ import annotations

import importlib.machinery
import json
import sqlite3
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import MissingExtra, UnknownName
from rewardkit.harness.report.tracking import check_tools, log_runs, read_tracked_runs

pytestmark = pytest.mark.slow


def finished_run(folder: Path, model: str = "m/checkpoint-20", accuracy: float = 0.5) -> Path:
    metric = {"value": accuracy, "low": 0.25, "high": 0.75, "count": 8}
    figures = {
        "problems": 8,
        "completions": 8,
        "judged": 8,
        "truncated": 1,
        "unjudged": 0,
        "metrics": {"accuracy": metric},
        "groups": {"level": {"3": metric}},
        "failures": {"wrong": 4},
        "lengths": {"all": {"mean": 7.5, "count": 8}},
        "examples": {"wrong": ["t/1/0"]},
        "figures": [],
    }
    folder.mkdir(parents=True)
    record = {
        "format": 1,
        "settings": {"model": model},
        "tasks": {"t": {"prompt": "cot"}},
        "started": "now",
    }
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "summary.json").write_text(json.dumps({"tasks": {"t": figures}, "failed": False}))
    return folder


FIGURES = {
    "t/accuracy": 0.5,
    "t/accuracy/low": 0.25,
    "t/accuracy/high": 0.75,
    "t/groups/level/3": 0.5,
    "t/groups/level/3/low": 0.25,
    "t/groups/level/3/high": 0.75,
    "t/problems": 8,
    "t/completions": 8,
    "t/judged": 8,
    "t/truncated": 1,
    "t/unjudged": 0,
    "t/failures/wrong": 4,
    "t/lengths/all/mean": 7.5,
    "t/lengths/all/count": 8,
}


def test_a_run_is_told_as_numbers_at_its_checkpoints_step(tmp_path: Path) -> None:
    (run,) = read_tracked_runs(finished_run(tmp_path / "run"))
    assert run.name == "t-m-cot"
    assert run.points == [(20, FIGURES)]
    assert run.config["settings"] == {"model": "m/checkpoint-20"}


def test_checkpoints_are_points_of_one_run_and_models_runs_of_their_own(tmp_path: Path) -> None:
    for step in (100, 20):
        finished_run(tmp_path / f"checkpoint-{step}", f"m/checkpoint-{step}/", step / 200)
    finished_run(tmp_path / "base", "org/base")
    (finished_run(tmp_path / "cut", "org/cut") / "summary.json").unlink()
    told = {
        run.name: [(step, figures["t/accuracy"]) for step, figures in run.points]
        for run in read_tracked_runs(tmp_path)
    }
    assert told == {"t-m-cot": [(20, 0.1), (100, 0.5)], "t-base-cot": [(0, 0.5)]}


def install(
    monkeypatch: pytest.MonkeyPatch, name: str, error: Exception | None = None, **contents: Any
) -> list[Any]:
    """A tool that records what it logs, or fails with an error at the first figures."""
    calls: list[Any] = []

    class Logged:
        def __enter__(self) -> Logged:
            return self

        def __exit__(self, kind: object, *_: object) -> None:
            calls.append("failed" if kind else "finished")

    def init(**arguments: Any) -> Logged:
        calls.append(arguments)
        return Logged()

    def log(figures: dict[str, float], step: int) -> None:
        if error:
            raise error
        calls.append((step, figures))

    Logged.log = staticmethod(log)  # type: ignore[attr-defined]
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=f"{name}/__init__.py")
    vars(module).update(
        {"init": init, "log": log, "finish": lambda: calls.append("finished"), **contents}
    )
    monkeypatch.setitem(sys.modules, name, module)
    return calls


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_a_tool_is_told_the_configuration_and_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("WANDB_MODE", "WANDB_PROJECT", "TRACKIO_PROJECT"):
        monkeypatch.delenv(variable, raising=False)
    calls = install(monkeypatch, name)
    check_tools([name])
    noted: list[str] = []
    log_runs(finished_run(tmp_path / "run"), [name], noted.append)
    begun, *rest = calls
    assert noted == []
    assert rest == [(20, FIGURES), "finished"]
    assert (begun["project"], begun["name"]) == ("rewardkit", "t-m-cot")
    assert begun["config"]["started"] == "now"
    assert "space_id" not in begun
    assert begun.get("mode", "offline") == "offline"


def test_a_tool_that_fails_is_noted_and_the_others_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: Any) -> None:
        sys.stdout.write("hello from the tool")
        raise OSError("no room\nat all")

    install(monkeypatch, "trackio", init=broken)
    calls = install(monkeypatch, "wandb")
    noted: list[str] = []
    run = finished_run(tmp_path / "run")
    log_runs(run, ["trackio", "wandb"], noted.append)
    assert noted == [
        f"logging to trackio failed: OSError: no room; the run itself is complete, in {run}"
    ]
    assert calls[-1] == "finished"
    assert capsys.readouterr().out == ""


def test_a_run_of_wandb_goes_online_if_its_user_says_so_and_ends_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "online")
    calls = install(monkeypatch, "wandb", OSError("no room"))
    noted: list[str] = []
    log_runs(finished_run(tmp_path / "run"), ["wandb"], noted.append)
    assert (calls[0]["mode"], calls[-1], len(noted)) == ("online", "failed", 1)


def test_a_tool_that_is_unknown_or_missing_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a folder of its name lies where Python looks, as wandb leaves one."""
    with pytest.raises(UnknownName, match="did you mean 'wandb'"):
        check_tools(["wanbd"])
    (tmp_path / "trackio").mkdir()
    monkeypatch.delitem(sys.modules, "trackio", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingExtra, match=r"pip install 'rewardkit\[trackio\]'"):
        check_tools(["trackio"])


def test_tensorboard_reads_what_is_written(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    noted: list[str] = []
    log_runs(finished_run(tmp_path / "run"), ["tensorboard"], noted.append)
    assert noted == []
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard" / "t-m-cot"))
    events.Reload()
    tags = events.Tags()["tensors"] + events.Tags()["scalars"]
    assert set(tags) == {*FIGURES, "run.json"}
    (accuracy,) = events.Scalars("t/accuracy")
    assert (accuracy.step, accuracy.value) == (20, 0.5)


def test_wandb_keeps_a_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb

    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.chdir(tmp_path)
    noted: list[str] = []
    log_runs(finished_run(tmp_path / "run"), ["wandb"], noted.append)
    assert noted == []
    wandb.teardown()  # its service writes the file to the end
    (offline,) = (tmp_path / "wandb").glob("offline-run-*/run-*.wandb")
    content = offline.read_bytes()
    assert b"t/accuracy/low" in content
    assert b"t-m-cot" in content


def test_trackio_keeps_a_run_in_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "kept"))
    program = (  # a process of its own: trackio reads its folder when it is imported
        "import sys; from pathlib import Path; "
        "from rewardkit.harness.report.tracking import log_runs; "
        "from tests.harness.report.test_trackers import finished_run; "
        "log_runs(finished_run(Path(sys.argv[1])), ['trackio'], sys.exit)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "run")]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[3])
    (database,) = (tmp_path / "kept").glob("rewardkit*.db")
    with sqlite3.connect(database) as connection:
        rows = connection.execute("select step, metrics from metrics").fetchall()
    connection.close()
    ((step, metrics),) = rows
    assert step == 20
    assert "t/accuracy" in str(metrics)
