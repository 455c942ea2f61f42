"""A set is the same to the byte, whether one process, two Ray nodes or two shards judged it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.two_nodes import on_two_nodes
from tests.curate.planted import plant
from tests.support.commands import run_command

pytestmark = pytest.mark.engines


def test_ray_and_shards_give_the_same_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plant(400, 4, seed=5).write(tmp_path)
    file = ("problems.jsonl", "--rollouts", "rollouts.jsonl", "--verifier", "math")
    options = ("--keep", "0.05..0.95", "--against", "eval.jsonl", "--quiet")
    assert run_command("curate", *file, *options, "-o", "one") == 0

    done = on_two_nodes("curate", *file, *options, "-o", "ray", cpus=(1, 1))
    assert done.returncode == 0, done.stderr

    score = ("score", "rollouts.jsonl", "--data", "problems.jsonl", "--reference-field", "answer")
    for shard in ("1/2", "2/2"):
        parts = ("--shard", shard, "-o", "parts")
        assert run_command(*score, "--verifier", "math", *parts, "--quiet") == 0
    assert run_command("curate", "parts", *options, "-o", "shards") == 0

    for name in ("kept.parquet", "dropped.parquet"):
        whole = Path("one", name).read_bytes()
        assert whole == Path("ray", name).read_bytes()
        assert whole == Path("shards", name).read_bytes()
