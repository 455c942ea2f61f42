"""`rewardkit score`: files of any system, and runs again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from rewardkit.harness.results.data_files import read_problems
from tests.support.commands import rewardkit, run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow


def score(*arguments: str) -> tuple[int, str, str]:
    return rewardkit("score", *arguments)


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    write_rows(path, rows)
    return str(path)


def accuracy(out: str, name: str) -> float:
    value: float = json.loads(out)["tasks"][name]["metrics"]["accuracy"]["value"]
    return value


def test_a_tasks_own_columns_are_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "f.jsonl",
        [
            {"question": "a", "answer": "#### 5", "response": "#### 5"},
            {"question": "b", "answer": "#### 6", "response": "#### 5"},
        ],
    )
    status, out, err = score(file, "--task", "gsm8k", "--json")
    assert status == 0, err
    assert accuracy(out, "gsm8k") == 0.5


@pytest.mark.parametrize(
    ("row", "completion", "reference"),
    [
        (
            {"gold": {"final": "1/2"}, "out": [], "reply": {"text": r"\boxed{0.5}"}},
            *("reply.text", "gold.final"),
        ),
        (
            {"choices": [{"text": "no answer"}, {"text": r"\boxed{4}"}], "gold": [4]},
            *("choices.1.text", "gold.0"),
        ),
    ],
)
def test_a_verifier_and_paths_of_fields_do_without_a_task(
    tmp_path: Path, row: dict[str, Any], completion: str, reference: str
) -> None:
    fields = ["--completion-field", completion, "--reference-field", reference]
    file = write(tmp_path / "f.jsonl", [row])
    status, out, err = score(file, "--verifier", "math", *fields, "--json")
    assert status == 0, err
    assert accuracy(out, "math") == 1.0


def test_another_marker_and_labels_of_several_models(tmp_path: Path) -> None:
    file = write(
        tmp_path / "f.jsonl",
        [
            {
                "truth": "so\nA: 18",
                "small": {"text": "so\nA: 26", "right": False},
                "large": {"text": "so\nA: $18.00", "right": True},
            },
            {
                "truth": "so\nA: 3",
                "small": {"text": "so\nA: 3", "right": False},
                "large": {"text": "so\nA: 3", "right": True},
            },
        ],
    )
    fields = ["--task", "gsm8k", "--verifier-arg", "marker=A:", "--reference-field", "truth"]
    for size in ("small", "large"):
        fields += ["--completion-field", f"{size}.text", "--label-field", f"{size}.right"]
    status, out, err = score(file, *fields)
    assert status == 0, err
    assert "3 of 4 verdicts agree with the labels" in out
    assert "gsm8k/1/0: right, labelled False" in out


def test_the_flexible_reading_finds_the_reference_by_the_marker_too(tmp_path: Path) -> None:
    rows = [{"completion": said, "reference": "so 3 + 1\nA: 4"} for said in ("A: 4", "4", "5")]
    fields = ["--task", "gsm8k", "--verifier-arg", "marker=A:", "--reference-field", "reference"]
    status, out, err = score(write(tmp_path / "f.jsonl", rows), *fields, "--json")
    assert status == 0, err
    metrics = json.loads(out)["tasks"]["gsm8k"]["metrics"]
    assert metrics["accuracy"]["value"] == pytest.approx(1 / 3)
    assert metrics["accuracy_flexible"]["value"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", ["f.jsonl", "f.csv"])
def test_a_file_without_rows_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    for options in ((), ("-o", str(tmp_path / "out"))):
        status, _, err = score(str(tmp_path / name), "--verifier", "math", *options)
        assert status == 2
        assert "holds no rows" in err
    assert not (tmp_path / "out" / "summary.json").exists()


def test_completions_are_joined_to_their_problems_by_id(tmp_path: Path) -> None:
    data = write(
        tmp_path / "data.jsonl",
        [
            {"id": "x", "question": "a", "answer": "#### 5"},
            {"id": "y", "question": "b", "answer": "#### 6"},
        ],
    )
    file = write(
        tmp_path / "f.jsonl",
        [{"id": "y", "completion": "#### 6"}, {"id": "x", "completion": "#### 5"}],
    )
    status, out, err = score(file, "--task", "gsm8k", "--data", data, "--json")
    assert status == 0, err
    assert accuracy(out, "gsm8k") == 1.0


@pytest.mark.parametrize(
    ("row", "options", "said"),
    [
        ({"a": "x"}, ["--verifier", "math"], "row 1 has nothing in reference, answer, solution"),
        ({"reference": None, "a": 1}, ["--verifier", "math"], "target; it has reference"),
        (
            {"reference": "1", "completion": None},
            ["--verifier", "math"],
            "row 1 has no text in any of completion, ",
        ),
        ({"reference": "1", "a": {"b": "x"}}, ["--verifier", "math"], "it has reference, a.b"),
        (
            {"reference": "1", "a": [{"b": "x"}, {"b": "y"}]},
            ["--verifier", "math", "--completion-field", "a.2.b"],
            "row 1 has no text in 'a.2.b'; it has reference, a.0.b;",
        ),
        (
            {"reference": "1", "a": 5},
            ["--verifier", "math", "--completion-field", "a"],
            "row 1 has no text in 'a'",
        ),
        ({"completion": "1"}, ["--task", "gsm8k"], "has no column 'question'"),
        (
            {"completion": "1", "reference": "1", "ok": "maybe"},
            ["--verifier", "math", "--completion-field", "completion", "--label-field", "ok"],
            "'maybe', not true or false",
        ),
        (
            {"completion": "1", "reference": "1"},
            ["--verifier", "math", "--label-field", "ok"],
            "row 1 has nothing in 'ok'",
        ),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, row: dict[str, Any], options: list[str], said: str
) -> None:
    status, _, err = score(write(tmp_path / "f.jsonl", [row]), *options)
    assert status == 2
    assert said in err


def test_a_run_is_judged_again_and_flips_are_told(tmp_path: Path) -> None:
    data = write(
        tmp_path / "data.jsonl",
        [{"question": str(i), "answer": f"#### {i}"} for i in range(3)],
    )
    replies = write(
        tmp_path / "replies.jsonl", [{"id": str(i), "completion": f"#### {i}"} for i in range(3)]
    )
    run = tmp_path / "run"
    replayed = ("--data", data, "--backend", "replay", "--model", replies)
    assert rewardkit("eval", "--task", "gsm8k", *replayed, "-o", run, "--quiet").status == 0
    assert "0 verdicts flipped" in score(str(run))[1]
    samples = run / "samples.jsonl"
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    rows[0]["completion"] = "#### 9"
    write(samples, rows)
    status, out, err = score(str(run), "-o", str(tmp_path / "again"))
    assert status == 0, err
    assert "1 verdicts flipped" in out
    assert f"{rows[0]['key']}: right → wrong, read 9" in out
    again = (tmp_path / "again" / "samples.jsonl").read_text().splitlines()
    assert [json.loads(line)["verdict"]["correct"] for line in again].count(False) == 1


@pytest.mark.parametrize("damage", [{"columns": None}, {"columns": "question"}, {"id": [1]}])
def test_a_damaged_line_of_a_run_is_a_row_like_any_other(
    tmp_path: Path, damage: dict[str, object]
) -> None:
    fields = {"key": "math/1/0", "task": "math", "id": "1", "index": 0, "columns": {}}
    row = {**fields, "verdict": {}, "completion": r"\boxed{7}", "reference": "7", **damage}
    lines = write(tmp_path / "samples.jsonl", [row])
    assert score(str(lines), "--verifier", "math")[0] == 0
    assert read_problems(lines) == [row]


def test_the_lines_of_a_run_have_their_columns_and_calls_for_another_verifier(
    tmp_path: Path,
) -> None:
    functions = [{"name": "f", "parameters": {"properties": {"s": {"type": "string"}}}}]
    row = {"question": "?", "function": functions, "possible_answer": [{"f": {"s": ["1.5"]}}]}
    data = write(tmp_path / "data.jsonl", [{"id": name, **row} for name in "ab"])
    call = {"type": "function", "function": {"name": "f", "arguments": '{"s": "15"}'}}
    message = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    first, second = {"id": "a", "completion": "f(s='1.5')"}, {"id": "b", "completion": message}
    replies = write(tmp_path / "replies.jsonl", [first, second])
    replayed = ("--task", "bfcl", "--data", data, "--backend", "replay", "--model", replies)
    assert rewardkit("eval", *replayed, "-o", tmp_path / "run", "--quiet").status == 0
    judged = ("--verifier", "tool_calls", "--verifier-arg", "rules=bfcl", "--quiet")
    for folder, rules in (("ours", judged[:2]), ("bfcl", judged)):
        lines = str(tmp_path / "run" / "samples.jsonl")
        assert score(lines, *rules, "-o", str(tmp_path / folder))[0] == 0
    found = {
        folder: [
            json.loads(line)["verdict"]["correct"]
            for line in (tmp_path / folder / "samples.jsonl").read_text().splitlines()
        ]
        for folder in ("run", "ours", "bfcl")
    }
    assert found == {"run": [True, False], "ours": [True, False], "bfcl": [True, True]}


def test_a_run_judged_again_keeps_its_groups(tmp_path: Path) -> None:
    data = write(
        tmp_path / "data.jsonl",
        [
            {"points": [0, 1, 2, 3, 4], "targets": [5, 6, 7, 8, 9], "distribution": where}
            for where in ("in", "out")
        ],
    )
    reply = "[Analysis]\n[ANSWER]\n(5.0), (6.0), (7.0), (8.0), (9.0)\n[End]"
    replies = write(
        tmp_path / "replies.jsonl", [{"id": str(i), "completion": reply} for i in range(2)]
    )
    run = tmp_path / "run"
    replayed = ("--data", data, "--backend", "replay", "--model", replies)
    assert rewardkit("eval", "--task", "motion", *replayed, "-o", run, "--quiet").status == 0
    status, out, err = score(str(run), "--json")
    assert status == 0, err
    before = json.loads((run / "summary.json").read_text())["tasks"]["motion"]
    assert set(before["groups"]["distribution"]) == {"in", "out"}
    assert {figure["kind"] for figure in before["figures"]} == {"table", "plot", "bars"}
    # a task's own figures need the texts, which are kept with -o
    assert json.loads(out)["tasks"]["motion"] == {**before, "figures": []}


def some_solutions(tmp_path: Path) -> str:
    rows = [
        {"id": f"p{i // 2}", "question": "q", "answer": "#### 5", "completion": f"#### {i}"}
        for i in range(6)
    ]
    return write(tmp_path / "f.jsonl", rows)


def test_a_folder_is_finished_once_and_then_told_again(tmp_path: Path) -> None:
    file, run = some_solutions(tmp_path), tmp_path / "run"
    command = [file, "--task", "gsm8k", "-o", str(run), "--json"]
    _, first, _ = score(*command)
    written = (run / "samples.jsonl").read_bytes()
    status, second, err = score(*command)
    assert (status, json.loads(second)) == (0, json.loads(first))
    assert "6 completions are judged already; resuming" in err
    assert (run / "samples.jsonl").read_bytes() == written
    assert [json.loads(line)["key"] for line in written.splitlines()] == [
        f"gsm8k/p{i // 2}/{i % 2}" for i in range(6)
    ]
    summary = json.loads(first)["tasks"]["gsm8k"]
    assert (summary["problems"], summary["completions"]) == (3, 6)
    assert "pass@2" in summary["metrics"]


def test_a_folder_is_bound_to_the_file_and_the_verifier(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, run = some_solutions(tmp_path), str(tmp_path / "run")
    assert score(file, "--task", "gsm8k", "-o", run)[0] == 0
    other = [file, "--task", "gsm8k", "--verifier-arg", "marker=A:", "-o", run]
    status, _, err = score(*other)
    assert status == 1
    assert "belongs to another run, which differs in " in err
    assert "gsm8k.verifier: " in err
    with Path(file).open("a") as more:
        more.write('{"question": "q", "answer": "#### 5", "completion": "#### 5"}\n')
    assert "differs in file" in score(file, "--task", "gsm8k", "-o", run)[2]
    assert score(*other, "--overwrite")[0] == 0
    problem = {"id": "1", "question": "q", "answer": "#### 5", "completion": "#### 5"}
    one = write(tmp_path / "one.jsonl", [problem])
    rows = ["--data", one, "--model", one, "--backend", "replay"]
    assert run_command("eval", "--task", "gsm8k", *rows, "-o", run) == 1
    said = r"in columns: .*; and in \d+ more\. Choose another --output-dir"
    assert re.search(said, capsys.readouterr().err)


def test_a_folder_is_not_judged_into_itself(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    score(some_solutions(tmp_path), "--task", "gsm8k", "-o", run)
    status, _, err = score(run, "-o", run, "--overwrite")
    assert status == 2
    assert "is the folder of the completions to score" in err
    assert (tmp_path / "run" / "samples.jsonl").stat().st_size


@pytest.mark.parametrize(
    "option",
    [
        ("--task", "gsm8k"),
        ("--task-arg", "test=3"),
        ("--verifier-arg", "marker=A:"),
        ("--completion-field", "out"),
        ("--reference-field", "gold"),
        ("--data", "rows.jsonl"),
    ],
    ids=lambda option: option[0],
)
def test_an_option_about_a_file_is_refused_for_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    assert run_command("score", tmp_path, *option) == 1
    assert "holds no run.json; give a run's folder or a file" in capsys.readouterr().err
    (tmp_path / "run.json").write_text("{}")
    assert run_command("score", tmp_path, *option) == 2
    assert f"{option[0]} has no effect on a run's folder" in capsys.readouterr().err


def test_what_a_verifier_alone_judged_is_judged_again(tmp_path: Path) -> None:
    rows = [{"reference": "(1.0, 2.0)", "completion": r"\boxed{4}"}, {"reference": "4"}]
    rows[1]["completion"] = r"\boxed{4.0}"
    file, run = write(tmp_path / "f.jsonl", rows), str(tmp_path / "run")
    how = ["--verifier", "math", "--verifier-arg", "require_simplified=true"]
    assert score(file, *how, "-o", run)[0] == 0
    status, out, err = score(run)
    assert status == 0, err
    assert "0 verdicts flipped" in out


def test_a_label_that_disagrees_is_no_flip_when_a_run_is_judged_again(tmp_path: Path) -> None:
    rows = [{"reference": "4", "completion": r"\boxed{3}", "label": True}]
    file, run = write(tmp_path / "f.jsonl", rows), str(tmp_path / "run")
    fields = ["--completion-field", "completion", "--label-field", "label"]
    out = score(file, "--verifier", "math", *fields, "-o", run)[1]
    assert "0 of 1 verdicts agree with the labels" in out
    assert "0 verdicts flipped" in score(run)[1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_are_judged_as_lines_are(tmp_path: Path, suffix: str) -> None:
    rows = [{"reference": "5", "completion": f"so,\n#### {i}"} for i in range(10)]
    file = tmp_path / f"f.{suffix}"
    if suffix == "csv":
        file.write_text(
            "reference,completion\n"
            + "".join(f'{row["reference"]},"{row["completion"]}"\n' for row in rows)
        )
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    status, out, err = score(str(file), "--verifier", "gsm8k", "--json")
    assert status == 0, err
    assert accuracy(out, "gsm8k") == 0.1


def test_a_tasks_own_figures_come_from_the_rows_on_disk(tmp_path: Path) -> None:
    rows = [
        {"numbers": [1, 2, 3, 4], "completion": r"\boxed{(1+2+3)*4}", "completion_tokens": 9},
        {"numbers": [1, 2, 3, 4], "completion": "no", "completion_tokens": 3},
    ]
    run = tmp_path / "run"
    status, _, err = score(write(tmp_path / "f.jsonl", rows), "--task", "game24", "-o", str(run))
    assert status == 0, err
    kept = json.loads((run / "summary.json").read_text())["tasks"]["game24"]
    assert kept["figures"]
    assert score(str(run), "-o", str(tmp_path / "again"))[0] == 0
    again = json.loads((tmp_path / "again" / "summary.json").read_text())["tasks"]["game24"]
    assert again == kept


def test_each_file_is_a_run_of_its_own_for_a_page_that_compares_them(tmp_path: Path) -> None:
    row = {"id": "a", "completion": r"\boxed{4}", "reference": "4"}
    for name in ("Qwen2.5-1.5B.jsonl", "larger.json"):
        (tmp_path / name).write_text(json.dumps([row] if name.endswith("json") else row))
    command = ("score", str(tmp_path / "*.json*"), "--verifier", "math", "--each")
    assert run_command(*command, "-o", str(tmp_path / "models")) == 0
    names = sorted(path.parent.name for path in tmp_path.glob("models/*/summary.json"))
    assert names == ["Qwen2.5-1.5B", "larger"]
    page = tmp_path / "page.html"
    assert run_command("report", str(tmp_path / "models"), "-o", str(page), "--open", "no") == 0
    assert "Qwen2.5-1.5B" in page.read_text()


def test_a_run_that_fails_leaves_no_other_file_unscored(tmp_path: Path) -> None:
    for name, answer in (("a", "5"), ("b", "4")):
        row = {"id": "a", "completion": rf"\boxed{{{answer}}}", "reference": "4"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
    command = ("score", str(tmp_path / "*.jsonl"), "--verifier", "math", "--each")
    limit = ("--fail-under", "accuracy=0.5")
    assert run_command(*command, *limit, "-o", str(tmp_path / "runs")) == 1
    assert len([*tmp_path.glob("runs/*/summary.json")]) == 2


def test_each_needs_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    assert run_command("score", str(tmp_path / "a.jsonl"), "--verifier", "math", "--each") == 2
    assert "--output-dir" in capsys.readouterr().err


def figures(run: Path) -> dict[str, list[list[Any]]]:
    tasks = json.loads((run / "summary.json").read_text())["tasks"]
    return {figure["title"]: figure["rows"] for figure in tasks["math"]["figures"]}


def test_two_verifiers_are_compared_row_by_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = [(r"\boxed{1/2}", "0.5"), (r"\boxed{3}", "3"), (r"\boxed{4}", "3"), ("", None)]
    rows = [{"id": str(n), "completion": c, "reference": r} for n, (c, r) in enumerate(replies)]
    file, run = write(tmp_path / "f.jsonl", rows), tmp_path / "run"
    both = ("--and", "exact", "--verifier-arg", "exact.ignore_case=true", "--max-errors", 1)
    assert run_command("score", file, "--verifier", "math", *both, "-o", run) == 0
    shown = capsys.readouterr().out
    assert "math ↓ exact →" in shown
    assert "kappa" in shown
    assert "math/0/0" in shown
    stored = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    assert [row["second"]["correct"] for row in stored] == [False, True, False, None]
    first = figures(run)
    assert first["agreement with exact: 3 of 4"] == [
        ["right", 1, 1, 0],
        ["wrong", 0, 1, 0],
        ["unjudged", 0, 0, 1],
    ]
    assert [row[0] for row in first["differences from exact"]] == ["math/0/0"]
    # the same command counts what is stored; a run's folder repeats its second verifier
    assert run_command("score", file, "--verifier", "math", *both, "-o", run) == 0
    assert figures(run) == first
    again = tmp_path / "again"
    assert run_command("score", run, "--max-errors", 1, "-o", again) == 0
    assert figures(again) == first
    assert run_command("report", run, "-o", tmp_path / "page.html") == 0
    assert "agreement with exact" in (tmp_path / "page.html").read_text()


def test_a_run_is_compared_with_a_verifier_that_it_did_not_use(tmp_path: Path) -> None:
    rows = [{"completion": r"\boxed{1/2}", "reference": "0.5"}]
    file, run = write(tmp_path / "f.jsonl", rows), tmp_path / "run"
    assert run_command("score", file, "--verifier", "math", "-o", run) == 0
    assert run_command("score", run, "--and", "exact", "-o", tmp_path / "both") == 0
    assert figures(tmp_path / "both")["agreement with exact: 0 of 1"][0] == ["right", 0, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--and", "exakt"), "no verifier named 'exakt'; did you mean 'exact'?"),
        (("--and", "exact", "--verifier-arg", "exact.case=1"), "no parameter of verifier 'exact'"),
    ],
)
def test_a_second_verifier_that_is_misnamed_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "f.jsonl", [{"completion": "1", "reference": "1"}])
    assert run_command("score", file, "--verifier", "math", *arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())
