"""Two real Ray nodes score a file; they are alone in a network namespace, on its loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit.cluster.ray.connection import connected
from rewardkit.errors import BackendError, UsageError
from tests.cli.command import run_command

pytestmark = pytest.mark.engines

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("two_nodes.sh")
NAMESPACE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def write(rows: int) -> None:
    lines = [
        {"id": f"p{n // 4}", "completion": "so " * 80 + f"\\boxed{{{n % 9}}}", "gold": "3"}
        for n in range(rows)
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def on_two_nodes(cpus: int, kill: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CPUS": str(cpus), "KILL": kill}
    return subprocess.run(
        [*NAMESPACE, "bash", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )


def test_two_nodes_write_the_same_bytes_though_an_actor_is_killed() -> None:
    write(60_000)
    done = on_two_nodes(2, kill="yes")
    assert done.returncode == 0, done.stderr
    command = ("score", "rows.jsonl", "--verifier", "math", "--reference-field", "gold")
    assert run_command(*command, "--quiet", "-o", "one") == 0
    for name in ("samples.jsonl", "summary.json"):
        assert Path("run", name).read_bytes() == Path("one", name).read_bytes()
    session = json.loads(Path("run/run.json").read_text())["sessions"][-1]
    assert session["cluster"]["died"] == 1
    assert sum(session["cluster"]["actors"].values()) >= 4


def test_a_cluster_without_cpus_is_an_error_that_says_how_many_there_are() -> None:
    write(10)
    done = on_two_nodes(0)
    assert done.returncode == 1
    assert "each needs 1 CPU, and the Ray cluster has 0 CPUs" in done.stderr


@pytest.mark.parametrize("address", ["somewhere", "host:", ":1", "host:x"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="isn't HOST:PORT"), connected(address):
        pass


def test_an_address_where_nothing_listens_is_an_error_at_once() -> None:
    with pytest.raises(BackendError, match="no Ray cluster answers at"), connected("127.0.0.1:1"):
        pass
