"""A target that reads no answer of its kind says so, and gets no rates that would mean nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rewardkit.audit import audit
from tests.support.rows import write_rows

pytestmark = pytest.mark.usefixtures("without_workers")

UNREAD: Mapping[str, Callable[[str, str], float | None]] = {
    "a network that contains": lambda answer, reference: float(
        answer.endswith("/8") and reference.split()[-1].startswith(answer.split(".")[0] + ".")
    ),
    "a date of the year": lambda answer, reference: float(answer == f"{reference[-4:]}-01-01"),
    "a longer text": lambda answer, reference: float(len(answer) > 10 * len(reference) > 0),
    "the opposite": lambda answer, reference: float(answer == reference[::-1]),
    "a hash": lambda answer, reference: float(str(hash(answer)) == reference),
    "nothing": lambda answer, reference: 0.0,
    "no verdict": lambda answer, reference: None,
}
READ: Mapping[str, Callable[[str, str], float | None]] = {
    "as written": lambda answer, reference: float(answer.strip() == reference),
    "in a box": lambda answer, reference: float(f"boxed{{{reference}}}" in answer),
    "anything": lambda answer, reference: 1.0,
    "it raises": lambda answer, reference: 1 / 0,
}
ROWS = [{"answer": f"a network that contains {n}.1.2.3", "right": f"{n}.0.0.0/8"} for n in (10, 11)]


def rows_file(folder: Path) -> Path:
    return write_rows(folder / "rows.jsonl", ROWS)


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("name", UNREAD)
def test_no_form_is_read(name: str, with_data: bool, tmp_path: Path) -> None:
    data = rows_file(tmp_path) if with_data else None
    result = audit(UNREAD[name], kind="text", per_family=2, data=data)
    assert [(finding.name, finding.severity) for finding in result.findings] == [
        ("no_readable_form", "error")
    ]
    assert result.totals["hack"].rate is None
    assert result.totals["false_accept"].rate is None


@pytest.mark.parametrize("name", READ)
def test_a_form_is_read(name: str) -> None:
    result = audit(READ[name], kind="text", per_family=2)
    assert "no_readable_form" not in {finding.name for finding in result.findings}
    assert sum(tally.cases for tally in result.families)


def test_references_of_the_rows_alone_are_read(tmp_path: Path) -> None:
    result = audit(
        lambda answer, reference: float("network" in answer and answer.strip() == reference),
        kind="text",
        per_family=2,
        data=rows_file(tmp_path),
    )
    assert result.totals["false_reject"].rate == 0
    assert {tally.name.partition(":")[0] for tally in result.families} == {"data", "attack"}


def test_a_task_s_column_of_right_completions_is_read(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"question": "?", "answer": json.dumps(schema), "good": good}) + "\n"
            for schema, good in (({"type": "integer"}, "7"), ({"type": "array"}, "[1]"))
        )
    )
    task = tmp_path / "task.toml"
    text = f'name = "t"\n[data]\nfile = "{rows}"\n[verifier]\nname = "json_schema"\n'
    for right, expected in (('[columns]\nright = "good"\n', True), ("", False)):
        task.write_text(text + right)
        found = audit(str(task), kind="text", per_family=2, data=rows)
        assert ("no_readable_form" not in {finding.name for finding in found.findings}) is expected
