"""The raw set of `train_mixed_tiny.py` has the faults that it says, and its test set has none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.examples.scripts import load_script

pytestmark = pytest.mark.engines


def test_the_raw_set_has_its_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("train_mixed_tiny", monkeypatch)
    script.write_task(tmp_path)
    raw, new = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("train.jsonl", "test.jsonl")
    )
    assert Counter(row["kind"] for row in new) == dict.fromkeys(script.KINDS, 200)
    questions = Counter(row["question"] for row in raw)
    assert not questions.keys() & {row["question"] for row in new}
    assert 15 < sum(count - 1 for count in questions.values()) < 50
    kinds = Counter({row["question"]: row["kind"] for row in raw}.values())
    assert [kinds[kind] for kind in script.KINDS] == [400, 200, 400]

    def wrong(row: dict[str, str]) -> bool:
        steps = [step.rsplit(" ", 1) for step in row["question"].split(", ")]
        return bool(row["answer"] != script.formula(steps))

    assert 70 < sum(map(wrong, raw)) < 140
    assert not any(map(wrong, new))
