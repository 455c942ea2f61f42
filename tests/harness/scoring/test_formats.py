"""The same 200 messy rows in every format that `score` reads give the same figures."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from rewardkit.errors import DataError
from rewardkit.harness.results import data_files
from rewardkit.harness.results.data_files import open_source
from tests.support.commands import run_command

pytestmark = pytest.mark.slow

Row = dict[str, Any]


def replies(number: int) -> list[str | None]:
    """The samples of a problem: right, wrong, thinking, in two forms, and none."""
    right, wrong = rf"So \boxed{{{number}}}.", rf"Or \boxed{{{number + 1}}}."
    kinds: list[str | None] = [
        right,
        wrong,
        f"<think>{wrong}</think>{right}",
        f"<think>{right}",
        None,
    ]
    return [kinds[number % 5], kinds[number // 5 % 5]][: 1 + number % 2]


def chat(number: int, text: str | None) -> list[Row | None]:
    parts = None if text is None else [{"type": "text", "text": text}]
    turns: list[Row | None] = [
        {"role": "user", "content": f"What is {number}?"},
        {"role": "assistant", "content": rf"Let me look: \boxed{{{number + 7}}}"},
        {"role": "tool", "content": rf"\boxed{{{number}}}"},
        {"role": "assistant", "content": parts if number % 3 else text},
        {"role": "tool", "content": rf"\boxed{{{number}}}"},
    ]
    return [*turns, None] if number % 10 == 0 else turns


def reference(number: int) -> str | None:
    return None if number % 40 == 7 else str(number)


def finish(number: int) -> str:
    return "length" if number % 25 == 3 else "stop"


NUMBERS = range(200)


def rows() -> list[Row]:
    return [
        {
            "id": f"p{number}",
            "question": f"What is {number}?",
            "reference": reference(number),
            "outputs": [chat(number, text) for text in replies(number)],
            "finish_reason": finish(number),
        }
        for number in NUMBERS
    ]


def single(text_of: Callable[[int, str | None], Any]) -> Iterator[Row]:
    """A row for each sample, with its problem's id."""
    for row, number in zip(rows(), NUMBERS, strict=True):
        del row["outputs"]
        for text in replies(number):
            yield {**row, "completion": text_of(number, text)}


def lines(values: Iterator[Row] | list[Row]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def jsonl(path: Path) -> None:
    path.write_bytes(lines(rows()))


def array(path: Path) -> None:
    path.write_text(json.dumps(rows(), indent=1))


def gz(path: Path) -> None:
    with gzip.open(path, "wb") as file:
        file.write(lines(rows()))


def zst(path: Path) -> None:
    with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
        file.write(lines(rows()))


def parquet(path: Path) -> None:
    plain = [
        {
            **row,
            "outputs": [
                [turn and {**turn, "content": said(turn)} for turn in one] for one in row["outputs"]
            ],
        }
        for row in rows()
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(plain), path)


def said(turn: Row) -> str | None:
    content = turn["content"]
    text: str | None = content[0]["text"] if isinstance(content, list) else content
    return text


def table(path: Path) -> None:
    values = list(single(lambda number, text: text and json.dumps(chat(number, text))))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(values[0]))
        writer.writeheader()
        writer.writerows(values)


def lm_eval(path: Path) -> None:
    values = []
    for filter_name in ("strict-match", "flexible-extract"):
        for number in NUMBERS:
            texts = replies(number)
            values.append(
                {
                    "doc_id": number,
                    "doc": {"question": f"What is {number}?"},
                    "target": reference(number),
                    "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {}}},
                    "resps": [texts],
                    "filtered_resps": ["4"],
                    "filter": filter_name,
                    "exact_match": 0.0,
                    "finish_reason": finish(number),
                }
            )
    path.write_bytes(lines(values))


def inspect_samples() -> list[Row]:
    return [
        {
            "id": f"p{number}",
            "epoch": epoch,
            "input": f"What is {number}?",
            "target": reference(number),
            "messages": chat(number, text),
            "output": {
                "model": "m",
                "choices": [
                    {
                        "message": {"role": "assistant", "content": text},
                        "stop_reason": "max_tokens" if finish(number) == "length" else "stop",
                    }
                ],
                "completion": text or "",
            },
            "scores": {"match": {"value": "C"}},
        }
        for number in NUMBERS
        for epoch, text in enumerate(replies(number), 1)
    ]


def inspect_json(path: Path) -> None:
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": inspect_samples()}
    path.write_text(json.dumps(log, indent=2))


def inspect_eval(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for sample in inspect_samples():
            archive.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample)
            )


def batch(path: Path) -> None:
    values = [
        {
            "id": f"batch_req_{number}",
            "custom_id": f"p{number}",
            "response": {
                "status_code": 200,
                "body": {
                    "choices": [
                        {
                            "index": index,
                            "message": {"role": "assistant", "content": text},
                            "finish_reason": finish(number),
                        }
                        for index, text in enumerate(replies(number))
                    ],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 9},
                },
            },
            "error": None,
        }
        for number in NUMBERS
    ]
    path.write_bytes(lines(values))
    problems = [{"id": f"p{number}", "reference": reference(number)} for number in NUMBERS]
    (path.parent / "problems.jsonl").write_bytes(lines(problems))


FORMS: list[tuple[str, Callable[[Path], None]]] = [
    ("a.jsonl", jsonl),
    ("a.json", array),
    ("a.jsonl.gz", gz),
    ("a.jsonl.zst", zst),
    ("a.parquet", parquet),
    ("a.csv", table),
    ("samples_task_2026.jsonl", lm_eval),
    ("inspect.json", inspect_json),
    ("log.eval", inspect_eval),
    ("batch_output.jsonl", batch),
]


@pytest.mark.parametrize(("name", "write"), FORMS)
def test_every_format_gives_the_same_figures_by_one_command(
    tmp_path: Path,
    name: str,
    write: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path / name)
    data = ["--data", str(tmp_path / "problems.jsonl")] if write is batch else []
    assert run_command("score", str(tmp_path / name), "--verifier", "math", *data, "--json") == 0
    captured = capsys.readouterr()
    summary = json.loads(captured.out)["tasks"]["math"]
    names = ("problems", "completions", "unjudged", "truncated", "failures")
    assert {name: summary[name] for name in names} == {
        "problems": 200,
        "completions": 300,
        "unjudged": 10,
        "truncated": 64,
        "failures": {"error": 10, "no_answer": 110, "truncated": 8, "wrong": 59},
    }
    shares = [
        sum(is_right(number, text) for text in replies(number)) / len(replies(number))
        for number in NUMBERS
        if reference(number)
    ]
    accuracy = summary["metrics"]["accuracy"]["value"]
    assert accuracy == pytest.approx(sum(shares) / len(shares))
    if write is not table:  # whose empty fields are empty texts
        assert "10 completions without a reference are unjudged (ids " in captured.err
        assert " are missing and wrong (ids " in captured.err


def is_right(number: int, text: str | None) -> bool:
    return bool(text and text.endswith(rf"So \boxed{{{number}}}.") and "<think>So" not in text)


@pytest.mark.parametrize(("name", "write"), FORMS)
def test_rows_come_from_any_row_on(
    tmp_path: Path,
    name: str,
    write: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data_files, "CHUNK_BYTES", 7000)
    monkeypatch.setattr(data_files, "CHUNK_ROWS", 13)
    write(tmp_path / name)
    source = open_source(tmp_path / name)
    whole = [row for chunk in source.chunks(0) for row in source.rows(chunk)]
    for skip in (1, 13, 199, 500):
        assert [row for chunk in source.chunks(skip) for row in source.rows(chunk)] == whole[skip:]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl.gz", b"no gzip", "a.jsonl.gz is damaged"),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 99, mtime=0)[:-12], "a.jsonl.gz is damaged"),
        ("a.jsonl.zst", b"no zstd", "a.jsonl.zst is damaged"),
        ("a.json", b"[1, 2]", "row 1 isn't a JSON object"),
        ("a.json", b'[{"a": 1}', "a.json isn't JSON"),
        ("a.eval", b"no zip", "a.eval can't be read"),
        ("a.parquet.gz", b"", "isn't one of"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        list(data_files.iterate_rows(tmp_path / name))


def test_a_json_file_may_hold_lines_or_one_row(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text, count in (('{"a": 1}\n{"a": 2}\n', 2), ('{\n"a": 1\n}', 1), ("[]", 0), ("", 0)):
        path.write_text(text)
        assert len(data_files.read_rows(path)) == count


def verdicts(folder: Path) -> list[tuple[str, int, bool | None]]:
    stored = map(json.loads, (folder / "samples.jsonl").read_text().splitlines())
    return [(row["id"], row["index"], row["verdict"]["correct"]) for row in stored]


def test_several_files_and_patterns_are_read_as_one(tmp_path: Path) -> None:
    values = list(single(lambda _, text: text))
    (tmp_path / "all.jsonl").write_bytes(lines(values))
    for part in range(3):
        (tmp_path / f"part{part}.jsonl").write_bytes(lines(values[part * 100 : (part + 1) * 100]))
    common = ("--verifier", "math", "--quiet", "--max-errors", "1")
    assert (
        run_command("score", str(tmp_path / "all.jsonl"), *common, "-o", str(tmp_path / "a")) == 0
    )
    pattern = str(tmp_path / "part*.jsonl")
    assert run_command("score", pattern, *common, "-o", str(tmp_path / "b")) == 0
    assert verdicts(tmp_path / "a") == verdicts(tmp_path / "b")
    assert run_command("score", str(tmp_path / "no*.jsonl"), *common) == 2
    assert run_command("score", str(tmp_path), str(tmp_path), *common) == 2


@pytest.mark.parametrize("kept", [0, 1, 2, 7, 299])
def test_a_log_with_rows_left_out_resumes_with_the_same_bytes(tmp_path: Path, kept: int) -> None:
    lm_eval(tmp_path / "log.jsonl")
    command = ("score", str(tmp_path / "log.jsonl"), "--verifier", "math", "--quiet")
    assert run_command(*command, "-o", str(tmp_path / "out")) == 0
    samples = tmp_path / "out" / "samples.jsonl"
    content = samples.read_bytes()
    samples.write_bytes(b"".join(content.splitlines(keepends=True)[:kept]))
    assert run_command(*command, "-o", str(tmp_path / "out")) == 0
    assert samples.read_bytes() == content


def test_figures_are_grouped_by_a_column_and_rows_identified_by_a_field(tmp_path: Path) -> None:
    values = [
        {
            "key": {"n": number // 2},
            "level": number % 2,
            "reference": "4",
            "completion": r"\boxed{4}",
        }
        for number in range(6)
    ]
    (tmp_path / "f.jsonl").write_bytes(lines(values))
    command = ("score", str(tmp_path / "f.jsonl"), "--verifier", "math", "--quiet")
    named = ("--id-field", "key.n", "--group-by", "level", "-o", str(tmp_path / "out"))
    assert run_command(*command, *named) == 0
    assert [one[:2] for one in verdicts(tmp_path / "out")] == [
        (str(number // 2), number % 2) for number in range(6)
    ]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary["tasks"]["math"]["groups"]) == {"level"}
    assert run_command(*command, "--id-field", "nothing") == 2
    assert run_command(*command, "--group-by", "nothing") == 2
    assert run_command(*command, "--format", "openai") == 2


OWN_DATA = """
name = "mine"
[data]
file = "own.jsonl"
[columns]
question = "q"
reference = "a"
[verifier]
name = "math"
"""


@pytest.mark.parametrize("choice", [("--task", "mine.toml"), ("--verifier", "math")])
def test_data_is_joined_by_id_and_the_files_columns_travel(
    tmp_path: Path, choice: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(OWN_DATA)
    Path("own.jsonl").write_bytes(lines([{"id": "z", "q": "0", "a": "9"}]))
    problems = [{"id": f"p{at}", "q": f"What is {at}?", "a": str(at)} for at in range(3)]
    Path("problems.jsonl").write_bytes(lines(problems))
    replied = [
        {"key": f"p{at}", "text": rf"\boxed{{{at}}}", "model": "m", "latency": 0.5}
        for at in (2, 0, 1)
    ]
    Path("f.jsonl").write_bytes(lines(replied))
    fields = ["--id-field", "key"] + (["--reference-field", "a"] if choice[0] != "--task" else [])
    command = ("score", "f.jsonl", *choice, "--data", "problems.jsonl", *fields, "--quiet")
    assert run_command(*command, "--group-by", "model", "-o", "out") == 0
    assert verdicts(Path("out")) == [("p2", 0, True), ("p0", 0, True), ("p1", 0, True)]
    stored = json.loads(Path("out/samples.jsonl").read_text().splitlines()[0])
    assert stored["columns"] == {"id": "p2", "q": "What is 2?", "a": "2"} | replied[0]
    assert run_command(*command, "--overwrite", "-o", "out", "--data", "own.jsonl") == 2
