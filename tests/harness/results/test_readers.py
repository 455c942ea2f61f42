"""Readers give a file's content or one of rewardkit's errors, for any bytes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rewardkit import Sample
from rewardkit.errors import DataError, RewardkitError, RunMismatch
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.results.comparison import read_run
from rewardkit.harness.results.completion_row import CompletionRow, read_samples
from rewardkit.harness.results.data_files import read_rows

pytestmark = pytest.mark.slow

FIXTURE = Path(__file__).parents[2] / "fixtures" / "version_0_2_0" / "whole"
LINE: dict[str, Any] = json.loads((FIXTURE / "samples.jsonl").read_text().splitlines()[0])
RECORD: dict[str, Any] = json.loads((FIXTURE / "run.json").read_text())

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
fuzzed = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@contextlib.contextmanager
def own_errors(said: str = "") -> Iterator[None]:
    """Accept only errors of rewardkit with this text."""
    try:
        yield
    except RewardkitError as error:
        if said not in str(error):
            raise


@st.composite
def changed(draw: Callable[..., Any], original: dict[str, Any]) -> Any:
    """The object with the value at one path replaced or removed."""
    changed = json.loads(json.dumps(original))
    place = changed
    while True:
        key = draw(st.sampled_from(sorted(place)))
        if isinstance(place[key], dict) and place[key] and draw(st.booleans()):
            place = place[key]
            continue
        if draw(st.booleans()):
            del place[key]
        else:
            place[key] = draw(VALUES)
        return changed


@fuzzed
@given(line=VALUES | changed(LINE))
def test_a_row_is_read_or_refused_with_its_line(tmp_path: Path, line: Any) -> None:
    (tmp_path / "samples.jsonl").write_text(json.dumps(LINE) + "\n" + json.dumps(line) + "\n")
    rows = read_samples(tmp_path)
    assert next(rows).key == LINE["key"]
    with own_errors("samples.jsonl, line 2 isn't a row"):
        json.dumps(next(rows).as_json())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("run.json", "[]", r"run\.json isn't the record of a run: .* again with --overwrite"),
        (
            "run.json",
            '{"format": 1, "tasks": []}',
            r"Expected `object`, .* at `\$\.tasks`",
        ),
        ("run.json", "{}", r"run\.json doesn't state its format, .* Restore it from a copy"),
        (
            "run.json",
            '{"format": 2, "tasks": []}',
            r"has format 2, and rewardkit \S+ reads up to format 1; upgrade it: pip install",
        ),
        ("samples.jsonl", "[1]\n", r"line 1 isn't a row .*: Expected `object`, got `array`"),
        (
            "samples.jsonl",
            '{"key": "a"}\n',
            r"line 1 isn't a row .* required field `task`",
        ),
        ("samples.jsonl", "[" * 100_000 + "\n", r"samples\.jsonl, line 1 isn't JSON"),
    ],
)
def test_an_error_names_the_file_the_cause_and_the_remedy(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    for file in FIXTURE.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / name).write_text(content)
    with pytest.raises(RunMismatch, match=said):
        read_run(tmp_path, "accuracy")


def test_fields_of_a_later_version_survive_a_rewrite() -> None:
    row = CompletionRow.from_json({**LINE, "reviewed": True}, "a row")
    assert row.as_json() == {**LINE, "reviewed": True}


@fuzzed
@given(
    source=st.text(max_size=60)
    | st.lists(
        st.sampled_from(["+++\n", "reading = ", "'a'\n", "{{ ", " }}", "{% ", " %}", "if ", "x"]),
        max_size=12,
    ).map("".join)
)
def test_any_text_as_a_prompt(tmp_path: Path, source: str) -> None:
    (tmp_path / "p.jinja").write_text(source, errors="surrogatepass")
    with own_errors():
        load_template("p", tmp_path / "p.jinja").messages(Sample("1", "q", "0"))


@fuzzed
@given(content=st.binary(max_size=80))
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_any_bytes_as_a_data_file(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"d{suffix}").write_bytes(content)
    with own_errors():
        read_rows(tmp_path / f"d{suffix}")


def test_a_parquet_file_with_a_damaged_page_is_named(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    file = tmp_path / "d.parquet"
    parquet.write_table(pyarrow.table({"a": [f"text {n}" for n in range(5000)]}), file)
    content = bytearray(file.read_bytes())
    content[40:400] = b"\xff" * 360
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"d\.parquet is a damaged Parquet file"):
        read_rows(file)
