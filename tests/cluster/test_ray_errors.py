"""What two real Ray nodes that can't do the work say: one cluster, changed between commands."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.cluster.two_nodes import ADDRESS, HERE, ROOT
from tests.support.commands import run_command
from tests.support.namespaces import in_namespace
from tests.support.rows import write_rows

pytestmark = pytest.mark.engines

PATIENCE = {"no cpus": 1, "no cpus to score": 1}
"""Seconds to wait for an actor on a cluster that has no room; 25 elsewhere, to start one."""
ANOTHER_VERSION = f"""
__path__ = [{str(ROOT / "rewardkit")!r}]
exec(open(__path__[0] + "/__init__.py").read())
__version__ = "0.0.1"
"""
CASES = {
    "no cpus": "for 1 s: each needs 1 CPU, and the Ray cluster has 0 CPUs, 0 of them",
    "no cpus to score": "could start for 1 s: each needs 1 CPU, and the Ray cluster has 0 CPUs",
    "other weights": "differs in weights from the copy where the command runs",
    "no checkpoint": "127.0.0.3) can't start: there is no {models}/tiny; copy the model to all",
    "another version": "(127.0.0.3) has rewardkit 0.0.1, and this machine",
    "no rewardkit": "an engine can't start: ModuleNotFoundError: No module named 'rewardkit.har",
}


def commands(folder: Path, model: Path) -> dict[str, tuple[object, ...]]:
    """The command of each case."""
    evaluation = ("eval", "--task", "gsm8k", "--data", folder / "data.jsonl", "--quiet")
    engine = ("--backend", "transformers", "--max-tokens", 4)
    replay = (*evaluation, "--backend", "replay", "--model", folder / "replies.jsonl")
    score = ("score", folder / "rows.jsonl", "--verifier", "math", "--reference-field", "gold")
    return {
        "no cpus": (*evaluation, *engine, "--model", model),
        "no cpus to score": (*score, "--quiet"),
        "other weights": (*evaluation, *engine, "--model", model),
        "no checkpoint": (*evaluation, *engine, "--model", folder / "models" / "tiny"),
        "another version": replay,
        "no rewardkit": replay,
    }


def write_data(folder: Path) -> None:
    """Two problems, their replies, and a row to score."""
    files = {
        "data.jsonl": [{"question": f"{n}?", "answer": f"#### {n}"} for n in range(2)],
        "replies.jsonl": [{"id": str(n), "text": ""} for n in range(2)],
        "rows.jsonl": [{"id": "0", "completion": "\\boxed{3}", "gold": "3"}],
    }
    for name, rows in files.items():
        write_rows(folder / name, rows)


def cases(folder: Path, model: Path) -> list[dict[str, object]]:
    """Each case's command, and the shell's that change the cluster before it."""
    bind = shlex.join(["bash", str(HERE / "bind.sh")])
    other, models, empty = (shlex.quote(str(folder / name)) for name in ("other", "models", "none"))
    on_node = folder / "on_node"
    before = {
        "other weights": f"start_node 2 env PYTHONPATH={shlex.quote(f'{on_node}:{ROOT}')} "
        f"unshare --mount {bind} {other} {shlex.quote(str(model))} {bind} {empty} {models}",
        "another version": f"mv {on_node}.version {on_node}/rewardkit",
        "no rewardkit": f"rm -r {on_node}/rewardkit; mv {on_node}.none {on_node}/rewardkit",
    }
    return [
        {
            "name": name,
            "before": before.get(name, "true"),
            "seconds": PATIENCE.get(name, 25),
            "command": [*map(str, words), "--ray", ADDRESS, "-o", str(folder / str(number))],
        }
        for number, (name, words) in enumerate(commands(folder, model).items())
    ]


@pytest.fixture(scope="module")
def ended(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Each case's exit status, a space, and what its command said."""
    folder = tmp_path_factory.mktemp("cluster")
    write_data(folder)
    shutil.copytree(tiny_checkpoint, folder / "models" / "tiny")
    other = shutil.copytree(tiny_checkpoint, folder / "other")
    with (other / "model.safetensors").open("ab") as file:
        file.write(b" ")
    for name, content in (("version", ANOTHER_VERSION), ("none", "")):
        (folder / f"on_node.{name}").mkdir()
        (folder / f"on_node.{name}" / "__init__.py").write_text(content)
    for name in ("none", "on_node"):
        (folder / name).mkdir()
    given, script = folder / "cases.json", HERE / "failing_commands.py"
    given.write_text(json.dumps(cases(folder, tiny_checkpoint)))
    start = f". {HERE / 'nodes.sh'}; start_head 0; export -f start_node; export memory"
    run = shlex.join([sys.executable, str(script), str(given)])
    done = in_namespace("bash", "-c", f"{start}; {run}", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    results: dict[str, str] = json.loads((folder / "results.json").read_text())
    return {name: text.replace(str(folder), "") for name, text in results.items()}


@pytest.mark.parametrize("case", CASES)
def test_a_cluster_that_can_not_do_the_work_is_an_error_that_says_why(
    ended: dict[str, str], case: str
) -> None:
    assert ended[case].startswith("1 "), ended[case]
    assert CASES[case].format(models="/models") in ended[case]


def test_engines_without_a_cluster_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command("eval", "--task", "gsm8k", "--model", "m", "--engines", 2) == 2
    assert "--engines needs a Ray cluster" in capfd.readouterr().err
