"""The content of a task's TOML file, and the errors of an invalid one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rewardkit
from rewardkit.cli.check import check_installation
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.tasks.defined.definition import (
    TaskDefinition,
    definition_of,
    plain_definition,
    read_definition,
)

LEAST = '[data]\nfile = "rows.jsonl"\n[verifier]\nname = "exact"\n'
MIXED = '[data]\nfile = "rows.jsonl"\n[columns]\nverifier = "kind"\n[verifier]\nnames = ["exact"]\n'


def written(folder: Path, contents: str) -> str:
    (folder / "rows.jsonl").write_text(
        json.dumps({"question": "Capital of Norway?", "answer": "Oslo", "level": 1})
        + "\n"
        + json.dumps({"question": "Capital of Italy?", "answer": "Rome", "level": 2})
        + "\n"
    )
    path = folder / "mine.toml"
    path.write_text(contents)
    return str(path)


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (LEAST + "[columns]\nqestion = 'q'", r"key of \[columns\] in .*mine.toml.*'question'"),
        ("promt = 'boxed'\n" + LEAST, r"key in .*mine.toml named 'promt'; did you mean 'prompt'"),
        (LEAST + "[sampling]\ntemperature = 'hot'", "sampling.temperature is 'hot'.*a number"),
        (LEAST + "[sampling]\nnum_samples = 0", "sampling.num_samples is 0.*at least 1"),
        (LEAST + "[sampling]\ntop_p = 1.5", "sampling.top_p is 1.5.*above 0 and at most 1"),
        (LEAST + "[fewshot]\ncount = -1", "fewshot.count is -1; it must be at least 0"),
        (LEAST + "[sampling]\nnum_samples = true", "sampling.num_samples is true.*whole number"),
        ("max_tokens = 1.5\n" + LEAST, "max_tokens is 1.5; it must be a whole number"),
        ("group_by = [1]\n" + LEAST, r"group_by is \[1\]; it must be text or a list of texts"),
        ("columns = 'q'\n" + LEAST, "columns is a section; set columns.KEY"),
        (
            LEAST + "[choices]\nanswer = 'number'",
            "choices.answer is 'number'.*one of letter, index",
        ),
        (LEAST + "[columns]\nquestion = []", "columns.question is empty"),
        ("name = 'a/b'\n" + LEAST, "name is 'a/b'; it must be without a slash"),
        (LEAST + "parameters = 'x'", "verifier.parameters is 'x'; it must be a table"),
        ("[verifier]\nname = 'exact'", r"\[data\] needs a repository .* or a file"),
        ("[data]\nfile = 'rows.jsonl'", r"\[verifier\] needs a name"),
        (LEAST.replace('name = "exact"', "names = ['exact']"), "verifier.names belongs together"),
        (
            MIXED + "parameters = {ignore_case = true}",
            "parameters.ignore_case is True; there are several",
        ),
        (MIXED + "parameters.exat = {}", "no verifier.names of .* named 'exat'; did you mean 'ex"),
        (MIXED + "flexible = {reading = 'lenient'}", "verifier.flexible needs a single verifier"),
        (LEAST.replace("exact", "exat"), "mine.toml: no verifier named 'exat'.*'exact'"),
        (LEAST + "parameters = {ignore_caps = true}", "mine.toml: no parameter of verifier 'exact"),
        (LEAST + "flexible = {reading = 'loose'}", "mine.toml: verifier 'exact': reading is"),
        ("prompt = 'boxxed'\n" + LEAST, "mine.toml: no prompt named 'boxxed'.*'boxed'"),
        ("prompt = 'none.jinja'\n" + LEAST, "mine.toml: the prompt file .* can't be read"),
        ("prompt = 'gsm8k'\n" + LEAST, "mine.toml: the prompt asks for answers in the style"),
        (LEAST + "[columns]\nreference_pattern = '('", "reference_pattern isn't a regular"),
        ("= =", "isn't TOML"),
    ],
)
def test_an_error_names_the_file_the_key_and_the_remedy(
    tmp_path: Path, contents: str, said: str
) -> None:
    path = written(tmp_path, contents)
    with pytest.raises(UsageError, match=said):
        rewardkit.load_task(path)
    (_, finding) = check_installation(tasks=[path], plugins=["rewardkit"], data=None)
    assert not finding.passed


CODE = LEAST.replace("exact", "code")
SEVERAL = MIXED.replace('"exact"', '"exact", "code", "sql"')


@pytest.mark.parametrize(
    ("contents", "key"),
    [
        (CODE + "parameters = {isolation = 'none'}", "isolation"),
        (CODE + "parameters = {language = 'sh', commands = {sh = ['sh', '{src}']}}", "commands"),
        (CODE + "parameters = {checker = 'os:system'}", "checker"),
        (CODE + "flexible = {isolation = 'none'}", "isolation"),
        (LEAST.replace("exact", "sql") + "parameters = {databases = '/'}", "databases"),
        (LEAST.replace("exact", "judge") + "parameters = {base_url = 'http://h'}", "base_url"),
        (SEVERAL + "[verifier.parameters.code]\nisolation = 'none'", "isolation"),
        (SEVERAL + "[verifier.parameters.sql]\ndatabases = '/'", "databases"),
    ],
)
def test_a_file_sets_nothing_that_runs_reads_or_sends(
    tmp_path: Path, contents: str, key: str
) -> None:
    path = written(tmp_path, contents)
    with pytest.raises(UsageError, match=f"mine.toml: .* sets {key} of .*only the command line"):
        rewardkit.load_task(path)


@pytest.mark.parametrize(
    "contents",
    [
        CODE + "parameters = {timeout = 2.0, score = 'share', in_process = true}",
        LEAST.replace("exact", "sql") + "parameters = {columns = 'any'}",
        LEAST.replace("exact", "judge") + "parameters = {votes = 3}",
        SEVERAL + "[verifier.parameters.code]\ntimeout = 2.0",
    ],
)
def test_a_file_sets_other_parameters(tmp_path: Path, contents: str) -> None:
    assert rewardkit.load_task(written(tmp_path, contents)).name == "mine"


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="no task file 'none.toml'"):
        rewardkit.load_task("none.toml")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[columns]\nquestion = 'q'", "row 1 has no column 'q', which task 'mine' reads"),
        ("[columns]\nreference = 'a'", "row 1 has no column 'a'"),
        ("[columns]\nreference_pattern = '#(.*)'", "row 1: .*columns.reference_pattern"),
        ("[columns]\nreference_boxed = true", "row 1: 'answer' holds no box"),
        ("[filter]\nsubject = 'x'", "no row has the column 'subject', which `filter` names"),
        ("[filter]\nlevel = 3", "no row's 'level' is one of"),
        ("[choices]\ncolumns = 'options'", "row 1 of task 'mine': no column 'options'"),
        ("[choices]\ncolumns = ['level', 'answer']", "row 1 of .*'Oslo' is none of the options'"),
    ],
)
def test_rows_that_do_not_fit_name_the_row_and_the_column(
    tmp_path: Path, more: str, said: str
) -> None:
    task = rewardkit.load_task(written(tmp_path, LEAST + more))
    with pytest.raises(UsageError, match=said):
        task.load(data=None, split=None, seed=0)


def test_files_are_beside_the_toml_file(tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("Say: {{ question }}")
    path = written(tmp_path, "prompt = 'own.jinja'\n" + LEAST + "[filter]\nlevel = [2, 3]")
    task = rewardkit.load_task(path)
    assert [sample.reference for sample in task.load(data=None, split=None, seed=0)] == ["Rome"]
    findings = list(check_installation(tasks=[path], plugins=[], data=None))
    assert all(finding.passed for finding in findings), findings


@pytest.mark.slow
def test_check_names_a_default_prompt_whose_examples_are_missing(tmp_path: Path) -> None:
    path = written(tmp_path, "prompt = 'cot'\n" + LEAST)
    (finding,) = (
        finding
        for finding in check_installation(tasks=[path], plugins=[], data=None)
        if not finding.passed
    )
    assert "'cot' shows examples" in finding.title
    assert "count in [fewshot]" in finding.title
    path = written(tmp_path, "prompt = 'cot'\n" + LEAST + "[fewshot]\ncount = 1")
    findings = check_installation(tasks=[path], plugins=[], data=None)
    assert all(finding.passed for finding in findings)


def test_a_definition_survives_being_recorded(tmp_path: Path) -> None:
    more = "[choices]\ncolumns = ['a', 'b']\n[sampling]\ntemperature = 0.6\n[filter]\nlevel = [1]"
    definition = read_definition(Path(written(tmp_path, "group_by = 'level'\n" + LEAST + more)))
    recorded = json.loads(json.dumps(plain_definition(definition)))
    assert definition_of(recorded, "run.json", name="x") == definition
    assert plain_definition(TaskDefinition()) == {}


def test_dots_reach_inside_a_column(tmp_path: Path) -> None:
    row = {"problem": {"text": "Capital of Peru?"}, "answers": {"value": "Lima"}}
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    more = "[columns]\nquestion = 'problem.text'\nreference = 'answers.value'"
    task = rewardkit.load_task(written(tmp_path, LEAST + more))
    (sample,) = task.load(data=str(tmp_path / "own.jsonl"), split=None, seed=0)
    assert (sample.question, sample.reference) == ("Capital of Peru?", "Lima")


def test_a_reference_is_taken_out_of_its_column(tmp_path: Path) -> None:
    rows = [{"question": "?", "answer": r"First \boxed{1}, then \boxed{x = 72}."}]
    (tmp_path / "own.jsonl").write_text(json.dumps(rows[0]))
    more = "[columns]\nreference_boxed = true\nreference_pattern = '= (.*)'"
    task = rewardkit.load_task(written(tmp_path, LEAST + more))
    samples = task.load(data=str(tmp_path / "own.jsonl"), split=None, seed=0)
    assert samples[0].reference == "72"


def task_with_pattern(folder: Path, pattern: str, answer: str) -> str:
    (folder / "rows.jsonl").write_text(json.dumps({"question": "q", "answer": answer}) + "\n")
    path = folder / "mine.toml"
    path.write_text(
        f'[data]\nfile = "rows.jsonl"\n[columns]\nreference_pattern = "{pattern}"\n'
        '[verifier]\nname = "exact"\n'
    )
    return str(path)


@pytest.mark.slow
def test_a_reference_pattern_without_end_is_an_error_in_time(tmp_path: Path) -> None:
    path = task_with_pattern(tmp_path, "(a+)+$", "a" * 60 + "!")
    task = rewardkit.load_task(path)
    said = r"row 1: '\(a\+\)\+\$' \(columns.reference_pattern\) takes too long"
    with pytest.raises(DataError, match=said):
        task.load(data=None, split=None, seed=0)
    with pytest.raises(DataError, match=said):
        task.sample({"question": "q", "answer": "a" * 60 + "!"}, 0)
    findings = list(check_installation(tasks=[path], plugins=[], data=None))
    assert any("takes too long" in line for finding in findings for line in finding.details)


def test_a_reference_pattern_searches_all_of_its_column(tmp_path: Path) -> None:
    path = task_with_pattern(tmp_path, "<think> *([0-9])", "<think> 7 </think> so 8")
    (sample,) = rewardkit.load_task(path).load(data=None, split=None, seed=0)
    assert sample.reference == "7"


def test_a_check_renders_the_default_prompt_as_an_evaluation_does(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "q", "answer": "4"}) + "\n")
    (tmp_path / "own.jinja").write_text("{{ no_such_column.name }}")
    path = tmp_path / "mine.toml"
    path.write_text('prompt = "own.jinja"\n' + LEAST)
    findings = list(check_installation(tasks=[str(path)], plugins=[], data=None))
    failed = [finding for finding in findings if not finding.passed]
    assert any("own.jinja" in line for finding in failed for line in finding.details)


RUBRIC = """
[data]
file = "rows.jsonl"
[verifier]
names = ["exact", "f1"]
[verifier.parameters.exact]
ignore_case = true
[verifier.rubric]
weights = { exact = 3.0, f1 = 1.0 }
all = ["exact"]
gate = ["f1"]
thresholds = { f1 = 0.5 }
"""


def test_several_verifiers_judge_each_row_as_a_rubric(tmp_path: Path) -> None:
    path = written(tmp_path, RUBRIC)
    task = rewardkit.load_task(path)
    verdict = rewardkit.verify(task.verifier(), "oslo", "Oslo")
    assert (verdict.correct, verdict.parts) == (True, {"exact": 1.0, "f1": 1.0})
    verdict = rewardkit.verify(task.verifier(), "Oslo city", "Oslo")
    assert verdict.correct is False
    assert verdict.score == pytest.approx(2 / 3 / 4, abs=1e-12)
    findings = check_installation(tasks=[path], plugins=[], data=None)
    assert all(finding.passed for finding in findings)


def test_a_rubric_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, RUBRIC.replace('gate = ["f1"]', 'gate = ["f2"]'))
    with pytest.raises(UsageError, match=r"\[verifier.rubric\] gate lists {'f2'}"):
        rewardkit.load_task(path).verifier()
