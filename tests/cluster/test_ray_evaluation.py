"""Two real Ray nodes evaluate a checkpoint; the rows are those of one machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.two_nodes import ROOT, on_two_nodes
from tests.support.commands import run_command

pytestmark = pytest.mark.engines


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": "so " * (n % 7) + f"{n}?", "answer": f"#### {n}"} for n in range(20)]
    Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def evaluation(model: Path, *more: object) -> tuple[object, ...]:
    return (
        *("eval", "--task", "gsm8k", "--data", "data.jsonl", "--model", model, "-n", 4),
        *("--backend", "transformers", "--backend-arg", "batch_size=8", "--temperature", 0.8),
        *("--max-tokens", 24, "--quiet", *more),
    )


def record(folder: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(folder, "run.json").read_text())
    return content


def test_two_nodes_generate_the_same_rows_though_an_engine_is_killed(tiny_checkpoint: Path) -> None:
    command = evaluation(tiny_checkpoint)
    on_cluster = (*command, "-o", "run", "--engines", 2)
    done = on_two_nodes(*on_cluster, kill=("[ -s run/samples.jsonl ]", "ray::EngineActor.generate"))
    assert done.returncode == 0, done.stderr
    assert run_command(*command, "-o", "one") == 0
    rows = [sorted(Path(name, "samples.jsonl").read_text().splitlines()) for name in ("run", "one")]
    assert rows[0] == rows[1]
    assert Path("run/summary.json").read_bytes() == Path("one/summary.json").read_bytes()
    run = record("run")
    assert run["fingerprint"] == record("one")["fingerprint"]
    assert run["backend"]["device"] == "cpu"
    cluster = run["sessions"][-1]["cluster"]
    assert cluster["died"] == 1
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
    )
    assert run_command(*command, "-o", "one") == 0
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    generating = "pgrep -f ^ray::EngineActor.generate"
    done = on_two_nodes(*command, "-o", "run", cpus=(0, 1), kill=(generating, "VLLM::EngineCore"))
    assert done.returncode == 0, done.stderr
    rows = [sorted(Path(name, "samples.jsonl").read_text().splitlines()) for name in ("run", "one")]
    assert rows[0] == rows[1]
    assert record("run")["sessions"][-1]["cluster"]["died"] == 1


def test_a_node_with_another_version_of_the_checkpoint_is_an_error(tiny_checkpoint: Path) -> None:
    other = Path("other")
    other.mkdir()
    for path in tiny_checkpoint.iterdir():
        other.joinpath(path.name).write_bytes(path.read_bytes())
    with other.joinpath("model.safetensors").open("ab") as file:
        file.write(b" ")
    node = f"unshare --mount {ROOT}/tests/cluster/bind.sh {other.absolute()} {tiny_checkpoint}"
    done = on_two_nodes(*evaluation(tiny_checkpoint), cpus=(0, 2), node=node)
    assert done.returncode == 1
    assert "127.0.0.3) can't start" in done.stderr
    assert "differs in weights from the copy where the command runs" in done.stderr


def test_a_node_without_the_checkpoint_is_an_error(tiny_checkpoint: Path) -> None:
    shutil.copytree(tiny_checkpoint, "models/tiny")
    models, empty = Path("models").absolute(), Path("empty").absolute()
    empty.mkdir()
    node = f"unshare --mount {ROOT}/tests/cluster/bind.sh {empty} {models}"
    done = on_two_nodes(*evaluation(models / "tiny"), cpus=(0, 2), node=node)
    assert done.returncode == 1
    message = f"127.0.0.3) can't start: there is no {models}/tiny; copy the model to all nodes"
    assert message in done.stderr


ANOTHER_VERSION = "import rewardkit; rewardkit.__version__ = '0.0.1'"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("sitecustomize.py", ANOTHER_VERSION, "(127.0.0.3) has rewardkit 0.0.1, and this machine"),
        (
            "rewardkit/__init__.py",
            "",
            "an engine can't start: ModuleNotFoundError: No module named 'rewardkit.harness'",
        ),
    ],
    ids=["another version", "without rewardkit"],
)
def test_a_node_with_another_rewardkit_or_none_is_an_error(
    file: str, content: str, message: str
) -> None:
    place = Path("on_node", file)
    place.parent.mkdir(parents=True)
    place.write_text(content)
    rows = [json.dumps({"id": str(n), "index": i, "text": ""}) for n in range(20) for i in range(4)]
    Path("replies.jsonl").write_text("\n".join(rows))
    command = ("eval", "--task", "gsm8k", "--data", "data.jsonl", "--quiet")
    replay = ("--backend", "replay", "--model", "replies.jsonl")
    path = f"env PYTHONPATH={Path('on_node').absolute()}:{ROOT}"
    done = on_two_nodes(*command, *replay, cpus=(0, 2), node=path)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_cluster_without_cpus_is_an_error_that_says_how_many_there_are(
    tiny_checkpoint: Path,
) -> None:
    done = on_two_nodes(*evaluation(tiny_checkpoint), cpus=(0, 0), seconds_to_start=1)
    assert done.returncode == 1
    assert "for 1 s: each needs 1 CPU, and the Ray cluster has 0 CPUs, 0 of them" in done.stderr


def test_engines_without_a_cluster_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command("eval", "--task", "gsm8k", "--model", "m", "--engines", 2) == 2
    assert "--engines counts copies of the model on a Ray cluster" in capfd.readouterr().err
