from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import DataError
from rewardkit.harness.store import rollouts
from rewardkit.harness.store.rollouts import (
    RolloutRow,
    RolloutWriter,
    all_files,
    keeps_text,
    read_batches,
    write_rows,
)
from rewardkit.records import Failure, Verdict

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
GROUP, MERGED = 2, 6


@pytest.fixture(autouse=True)
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "MERGED", MERGED)


def row(step: int, index: int = 0, **changes: Any) -> RolloutRow:
    fields: dict[str, Any] = {
        "step": step,
        "batch": 0,
        "group": index // GROUP,
        "index": index,
        "finish_reason": "stop",
        "completion_tokens": 3,
        "rewards": [("accuracy", 1.0), ("format", None)],
        "reward": 1.0,
        "advantage": -0.5,
        "prompt": "What is 1 + 1?",
        "completion": f"{step} {index} " + "".join(map(chr, range(200, 400))),
        "columns": {"answer": "2", "points": [1.5, 2.25]},
        "verdicts": {"math": Verdict.wrong(Failure.WRONG, answer="3")},
    }
    return RolloutRow(**fields | changes)


def batch(step: int, rows: int = 4, **changes: Any) -> list[RolloutRow]:
    return [row(step, index, **changes) for index in range(rows)]


def writer(
    folder: Path,
    *,
    step: int = 0,
    share: float = 1.0,
    max_bytes: int = 10**9,
    on_less: Callable[[float], None] = lambda share: None,
) -> RolloutWriter:
    return RolloutWriter(folder, step=step, share=share, max_bytes=max_bytes, on_less=on_less)


def steps(folder: Path) -> list[int]:
    return [rows[0].step for rows in read_batches(folder)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"completion": "a lone \\udc80 surrogate"},
        {"reward": None, "rewards": [("x", None)], "verdicts": {}},
        {"messages": '{"prompt": [], "completion": []}', "columns": {}},
        {"verdicts": {"motion": Verdict(False, 0.1, None, Failure.FORMAT, {"format": 0.1}, "!")}},
        {"verdicts": {"math": Verdict.unjudged("no reference")}, "advantage": None},
    ],
)
def test_a_row_is_read_as_it_was_written(tmp_path: Path, changes: dict[str, Any]) -> None:
    rows = batch(1, **changes)
    writer(tmp_path).add(rows)
    assert list(read_batches(tmp_path)) == [rows]


def test_a_text_that_utf_8_cannot_hold_is_escaped(tmp_path: Path) -> None:
    writer(tmp_path).add(batch(1, completion="\udc80"))
    assert next(read_batches(tmp_path))[0].completion == "\\udc80"


def test_a_column_that_json_lacks_is_text(tmp_path: Path) -> None:
    writer(tmp_path).add(batch(1, columns={"answer": Decimal("0.10")}))
    assert next(read_batches(tmp_path))[0].columns == {"answer": "0.10"}


def test_a_step_may_generate_several_batches(tmp_path: Path) -> None:
    kept = writer(tmp_path)
    kept.add(batch(1))
    kept.add(batch(1, batch=1))
    assert [rows[0].batch for rows in read_batches(tmp_path)] == [0, 1]


def test_many_files_become_one(tmp_path: Path) -> None:
    kept = writer(tmp_path)
    for step in range(1, MERGED + 3):
        kept.add(batch(step))
    assert len(all_files(tmp_path)) == 3
    assert steps(tmp_path) == [*range(1, MERGED + 3)]


def test_a_kill_while_files_are_merged_doubles_no_row(tmp_path: Path) -> None:
    kept = writer(tmp_path)
    for step in range(1, MERGED + 1):
        kept.add(batch(step))
    shutil.copytree(tmp_path, tmp_path / "loose")
    kept.add(batch(MERGED + 1))
    for leftover in (tmp_path / "loose").iterdir():
        leftover.rename(tmp_path / leftover.name)
    assert len(all_files(tmp_path)) == MERGED + 2
    assert steps(tmp_path) == [*range(1, MERGED + 2)]
    writer(tmp_path, step=MERGED + 1)
    assert len(all_files(tmp_path)) == 2


@pytest.mark.parametrize("step", [0, 1, 4, MERGED, MERGED + 1])
def test_a_resumed_training_keeps_the_steps_up_to_its_checkpoint(tmp_path: Path, step: int) -> None:
    kept = writer(tmp_path)
    for number in range(1, MERGED + 2):
        kept.add(batch(number))
    resumed = writer(tmp_path, step=step)
    assert steps(tmp_path) == [*range(1, step + 1)]
    resumed.add(batch(step + 1))
    assert steps(tmp_path) == [*range(1, step + 2)]


def test_a_share_is_of_whole_groups_and_the_numbers_of_all_are_kept(tmp_path: Path) -> None:
    kept = writer(tmp_path, share=0.5)
    for step in range(1, 21):
        kept.add(batch(step, rows=8))
    rows = [row for rows in read_batches(tmp_path) for row in rows]
    texts = {(row.step, row.group) for row in rows if row.has_text}
    assert 20 < len(texts) < 60
    for row in rows:
        assert row.has_text == ((row.step, row.group) in texts) == keeps_text(row, 0.5)
        assert (row.prompt is None) == (row.columns is None) == (not row.has_text)
        assert (row.reward, row.advantage) == (1.0, -0.5)


def test_at_the_bound_texts_are_thinned_evenly(tmp_path: Path) -> None:
    shares: list[float] = []
    whole = writer(tmp_path / "whole")
    kept = writer(tmp_path / "kept", max_bytes=120_000, on_less=shares.append)
    for step in range(1, 11):
        rows = [
            row(step, index, completion=random.Random(f"{step} {index}").randbytes(2000).hex())
            for index in range(16)
        ]
        whole.add(rows)
        kept.add(rows)
    size = sum(file.path.stat().st_size for file in all_files(tmp_path / "kept"))
    assert size <= 120_000 < sum(f.path.stat().st_size for f in all_files(tmp_path / "whole"))
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[-1] < 1
    for rows in read_batches(tmp_path / "kept"):
        assert [row.has_text for row in rows] == [keeps_text(row, shares[-1]) for row in rows]


def test_at_a_bound_that_the_numbers_alone_exceed_nothing_more_is_written(tmp_path: Path) -> None:
    shares: list[float] = []
    kept = writer(tmp_path, max_bytes=1, on_less=shares.append)
    for step in (1, 2, 3):
        kept.add(batch(step))
    assert shares == [0.0]
    assert steps(tmp_path) == [1]


def test_a_smaller_share_keeps_a_part_of_a_larger_one() -> None:
    rows = [row(step, index) for step in range(1, 50) for index in range(0, 8, GROUP)]
    few = [one for one in rows if keeps_text(one, 0.25)]
    assert few
    assert all(keeps_text(one, 0.5) for one in few)


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    writer(tmp_path).add(batch(1))
    (file,) = all_files(tmp_path)
    file.path.write_bytes(file.path.read_bytes()[:100])
    with pytest.raises(DataError, match="step-000001-000"):
        list(read_batches(tmp_path))


def test_a_table_of_another_kind_is_an_error(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "step-000001-000.parquet"
    parquet.write_table(pyarrow.table({"step": [1]}), path)
    with pytest.raises(DataError, match="step-000001-000"):
        list(read_batches(tmp_path))


def test_a_half_written_file_is_never_seen(tmp_path: Path) -> None:
    def rows() -> Any:
        yield row(1)
        assert list(read_batches(tmp_path)) == []
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(rows(), tmp_path / "step-000001-000.parquet")
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys
from itertools import count
from pathlib import Path
from rewardkit.harness.store import rollouts
from tests.harness.store.rollouts.test_rollout_writer import batch, writer
rollouts.MERGED = 3
kept = writer(Path(sys.argv[1]))
for step in count(1):
    kept.add(batch(step))
"""


@pytest.mark.parametrize("last", [2, 7, 12])
def test_a_kill_at_any_time_leaves_whole_steps(tmp_path: Path, last: int) -> None:
    killed = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT)
    while not any(file.last >= last for file in all_files(tmp_path)):
        assert killed.poll() is None
    killed.kill()
    killed.wait()
    batches = list(read_batches(tmp_path))
    assert [rows[0].step for rows in batches] == [*range(1, len(batches) + 1)]
    assert all(rows == batch(rows[0].step) for rows in batches)
