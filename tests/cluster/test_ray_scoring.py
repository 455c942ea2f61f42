"""Two real Ray nodes score a file; they are alone in a network namespace, on its loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster.two_nodes import on_two_nodes
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.engines

SCORE = ("score", "rows.jsonl", "--verifier", "math", "--reference-field", "gold", "--quiet")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(rows: int) -> None:
    lines = [
        {"id": f"p{n // 4}", "completion": "so " * 80 + f"\\boxed{{{n % 9}}}", "gold": "3"}
        for n in range(rows)
    ]
    write_rows("rows.jsonl", lines)


@pytest.mark.faults
def test_two_nodes_write_the_same_bytes_though_an_actor_is_killed() -> None:
    write(60_000)
    done = on_two_nodes(*SCORE, "-o", "run", cpus=(1, 1), kill="ray::JudgingActor")
    assert done.returncode == 0, done.stderr
    assert run_command(*SCORE, "-o", "one") == 0
    for name in ("samples.jsonl", "summary.json"):
        assert Path("run", name).read_bytes() == Path("one", name).read_bytes()
    session = json.loads(Path("run/run.json").read_text())["sessions"][-1]
    assert session["cluster"]["died"] == 1
    assert len(session["cluster"]["actors"]) == 2


@pytest.mark.faults
def test_programs_are_judged_on_two_nodes_as_on_one_machine() -> None:
    lines = [
        {
            "completion": f"```python\nprint(int(input()) + {n % 3})\n```",
            "tests": json.dumps({"inputs": ["1", "5"], "outputs": ["2", "6"]}),
        }
        for n in range(30)
    ]
    write_rows("rows.jsonl", lines)
    command = ("score", "rows.jsonl", "--verifier", "code", "--reference-field", "tests", "--quiet")
    done = on_two_nodes(*command, "-o", "run", cpus=(1, 1))
    assert done.returncode == 0, done.stderr
    assert run_command(*command, "-o", "one") == 0
    samples = Path("run/samples.jsonl").read_bytes()
    assert samples == Path("one/samples.jsonl").read_bytes()
    assert samples.count(b'"correct": true') == 10
