"""The commands as users type them; every error says what was meant."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rewardkit.cli.main import COMMANDS
from tests.support.commands import rewardkit
from tests.support.runs import row, write_run

HEAVY = (
    *("aiohttp", "datasets", "flint", "math_verify", "matplotlib"),
    *("sympy", "torch", "transformers", "trl", "vllm"),
)

GAME24 = ("eval", "--task", "game24", "--model", "m")
REPLIES = Path(__file__).parents[2] / "benchmarks/real_replies/replies.jsonl"


def loaded_by(arguments: list[str], names: Sequence[str]) -> tuple[str, list[str]]:
    """What a command prints, and which of these modules it loads."""
    program = (
        f"import sys; sys.argv = {['rewardkit', *arguments]}\n"
        "from rewardkit.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        f"print('LOADED', *[name for name in {list(names)} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    printed, _, loaded = done.stdout.rpartition("LOADED")
    return printed, loaded.split()


@pytest.mark.slow
def test_an_evaluation_loads_what_it_uses(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n')
    (tmp_path / "replies.jsonl").write_text('{"id": "0", "completion": "#### 2"}\n')
    arguments = ["eval", "--task", "gsm8k", "--data", str(tmp_path / "rows.jsonl"), "--backend"]
    arguments += ["replay", "--model", str(tmp_path / "replies.jsonl"), "-o", str(tmp_path / "run")]
    unused = (
        "rewardkit.harness.engines.ray",
        "rewardkit.harness.tasks.motion.task",
        "rewardkit.verifiers.math",
        "ssl",
    )
    printed, loaded = loaded_by(arguments, (*HEAVY, *unused))
    assert "1 problem" in printed
    assert loaded == []


def test_help_loads_nothing_heavy() -> None:
    unused = ("jinja2", "rewardkit.harness.tasks", "rewardkit.registry")
    printed, loaded = loaded_by(["--help"], (*HEAVY, *unused))
    assert loaded == []
    assert all(command in printed for command in COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "completions"),
    [("rewardkit ev", ["eval"]), ("rewardkit eval --ta", ["--task", "--task-arg"])],
)
def test_a_shell_completes_commands_and_options(words: str, completions: list[str]) -> None:
    program = "import sys; sys.argv[0] = 'rewardkit'; from rewardkit.cli.main import run; run()"
    place = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **place, "_REWARDKIT_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == completions, done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "first"),
    [
        (["math", "--reference", "0.5", r"\boxed{1/2}"], 0, "right"),
        (["math", "--reference", "0.5", r"\boxed{1/3}"], 1, "wrong"),
        (["math", "--reference", "", r"\boxed{1/3}"], 2, "unjudged"),
        (["choice", "--reference", "B", "(B)"], 1, "wrong: format"),
        (["choice", "--reference", "B", "(B)", "--verifier-arg", "reading=lenient"], 0, "right"),
        (["gsm8k", "--reference", "18", "#### 18"], 0, "right"),
        (["motion", "--reference", "(1.0)", "x"], 2, "unjudged"),
    ],
)
def test_verify_prints_the_verdict_and_exits_by_it(
    arguments: list[str], status: int, first: str
) -> None:
    found, out, _ = rewardkit("verify", *arguments)
    assert (found, out.splitlines()[0]) == (status, first)


def test_verify_explains_how_both_sides_were_read() -> None:
    reply = r"\boxed{\frac{1}{2}\cdot\sqrt{8}}"
    found, out, _ = rewardkit("verify", "math", reply, "--explain", "--reference", r"\sqrt 2")
    assert found == 0
    assert "(1/2)·√(8)" in out
    assert "√(2)" in out
    assert "320 bits that agree" in out


def test_verify_explains_no_less_than_it_prints_without_explain() -> None:
    arguments = ("verify", "gsm8k", "--reference", "4", "#### 4")
    _, plain, _ = rewardkit(*arguments)
    _, explained, _ = rewardkit(*arguments, "--explain")
    assert explained.startswith(plain.rstrip())


def test_verify_needs_a_reference_only_if_the_verifier_does() -> None:
    status, out, _ = rewardkit("verify", "int", "<answer>4</answer>")
    assert (status, out.splitlines()[0]) == (0, "right")
    status, _, err = rewardkit("verify", "math", r"\boxed{4}")
    assert status == 2
    assert "verifier 'math' compares with a reference; give --reference TEXT" in err


def test_verify_reads_standard_input_and_gives_json() -> None:
    status, out, _ = rewardkit(
        "verify", "math", "-", "--reference", "3", "--json", stdin="so\n\\boxed{3}"
    )
    assert status == 0
    assert json.loads(out)["answer"] == "3"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "maths", "--reference", "1", "x"], "did you mean 'math'"),
        (["verify", "math", "--reference", "1", "x", "--verifier-arg", "a"], "isn't KEY=VALUE"),
        (["verify", "choice", "--reference", "A", "x", "--verifier-arg", "reading=a"], "reading"),
        (["eval", "--task", "gms8k", "--model", "m"], "did you mean 'gsm8k'"),
        (["eval", "--task", "motion", "--model", "m", "--temprature", "1"], "--temperature"),
        (["eval", "--task", "motion", "--model", "m", "--temperature", "-1"], "temperature is -1"),
        (["eval", "--task", "motion", "--model", "m", "-n", "4"], "set --temperature"),
        (["eval", "--task", "motion", "--model", "m", "--backend", "vlm"], "did you mean 'vllm'"),
        (["eval", "--task", "motion", "--model", "m", "--prompt", "motoin"], "mean 'motion'"),
        (["eval", "--task", "motion", "--model", "m", "--prompt", "./p.jinja"], "can't be read"),
        (["eval", "--task", "gsm8k", "--model", "m", "--data", "no.jsonl"], "no data file"),
        (["eval", "--task", "motion", "--model", "m", "cot"], "'cot' follows no option"),
        (["eval", "--task", "motion", "--model", "nope/checkpoint-*"], "no folder matches --model"),
        (["eval", "--task", "motion", "--model", "m", "--prompt", "motion,boxd"], "mean 'boxed'"),
        (["eval", "--task", "motion", "--model", "m", "--watch-timeout", "3"], "add --watch"),
        pytest.param(
            ["eval", "--task", "motion", "--model", "./nope", "--backend", "transformers"],
            "nope",
            marks=pytest.mark.engines,
        ),
        (
            ["eval", "--task", "gsm8k", "--model", "m", "--prompt", "choice", "--data", "no.jsonl"],
            "style 'strict', which task 'gsm8k' doesn't read",
        ),
        (
            ["eval", "--task", "motion", "--model", "m", "--prompt", "xml"],
            "prompt 'xml' doesn't fit task 'motion'; these do: auto_cot, cot, motion, motion_short",
        ),
        (
            [*GAME24, "--prompt", "direct", "--num-fewshot", "2"],
            "--num-fewshot has no effect",
        ),
        (
            [*GAME24, "--prompt", "cot", "--num-fewshot", "2", "--fewshot-data", "no.jsonl"],
            "--fewshot-data no.jsonl: there is no data file",
        ),
        (["score", "no.jsonl", "--task", "gsm8k"], "no data file"),
        (["score", str(REPLIES)], "--task NAME, --verifier NAME or --verifier-field COLUMN"),
        (["eval", "--task", "motion", "--model", "m", "--log-to", "wanbd"], "mean 'wandb'"),
        (["export", "nowhere", "--parquet", "s.parquet"], "nowhere holds no run.json"),
        (
            ["export", "nowhere"],
            "give --parquet, --csv, --figures, --tables, --latex or --model-index",
        ),
        (["list", "verfiers"], "verifiers"),
    ],
)
def test_a_bad_argument_exits_2_and_says_what_was_meant(arguments: list[str], said: str) -> None:
    status, out, err = rewardkit(*arguments)
    assert status == 2, (out, err)
    assert said in " ".join(err.split())
    assert "Traceback" not in err


@pytest.mark.slow
def test_list_names_the_plugin() -> None:
    status, out, _ = rewardkit("list", "tasks")
    assert status == 0
    rows = [line.split()[:3] for line in out.splitlines()]
    assert ["task", "gsm8k", "rewardkit"] in rows


@pytest.mark.slow
def test_list_says_of_each_prompt_what_it_is_and_which_tasks_take_it() -> None:
    status, out, _ = rewardkit("list", "backends")
    assert "Read completions from the JSONL file that --model names." in out
    status, out, _ = rewardkit("list", "prompts")
    assert status == 0
    entries = " ".join(out.split()).split(" prompt ")
    by_name = {entry.split()[0]: entry for entry in entries[1:]}
    taking = by_name["cot"].rpartition("Tasks: ")[2].removesuffix(".").split(", ")
    assert {"aqua", "game24", "gsm8k", "math500", "motion", "aime24"} <= {*taking}
    choosing = "aqua, arc, commonsense_qa, gpqa_diamond, mmlu, mmlu_pro."
    assert by_name["choice"].endswith(f"the letter in <answer>. Tasks: {choosing}")
    assert by_name["motion_short"].endswith("Tasks: motion.")


@pytest.mark.slow
def test_check_says_what_is_well_and_what_is_not(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(
        '{"question": "a", "answer": "#### 1,000"}\n{"question": "b", "answer": "#### none"}\n'
    )
    status, out, _ = rewardkit("check", "--task", "gsm8k", "--data", str(data))
    assert status == 1
    assert "task gsm8k: 1 of 2 references judge themselves right" in out
    assert "'none'" in out
    status, out, _ = rewardkit("check", "--task", "motion", "--task", "game24")
    assert status == 0, out
    assert "task game24: 200 of 200" in out
    assert "task motion: takes the prompts auto_cot, cot, motion, motion_short; each renders" in out
    status, out, _ = rewardkit("check", "--task", "gms8k")
    assert status == 1
    assert "did you mean 'gsm8k'" in out


@pytest.mark.slow
def test_check_counts_references_that_look_rounded_or_were_repaired(tmp_path: Path) -> None:
    answers = ["0.458", "3.25", "\\$2.40", "7", "24^\textcirc", "1.618"]
    lines = [json.dumps({"problem": "a", "answer": answer}) for answer in answers]
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(lines) + "\n")
    status, out, _ = rewardkit("check", "--task", "math500", "--data", str(data))
    assert status == 0, out
    rounded = [line for line in out.splitlines() if "looks rounded" in line]
    repaired = [line for line in out.splitlines() if "read as repaired" in line]
    assert len(rounded) == len(repaired) == 1
    assert "2 of 6 references" in rounded[0]
    assert "'0.458'" in rounded[0]
    assert "'1.618'" in rounded[0]
    assert "1 of 6 references" in repaired[0]


def test_version() -> None:
    assert rewardkit("--version")[1].startswith("rewardkit 0.")


def test_a_folder_that_cannot_be_made_is_named_without_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text('{"reference": "5", "completion": "\\\\boxed{5}"}\n')
    status, _, err = rewardkit("score", str(file), "--verifier", "math", "-o", "/proc/none/run")
    assert status == 1
    assert err.startswith("rewardkit: /proc/none/run can't be written: No such file or directory")


def test_report_writes_a_page_of_the_runs_named(tmp_path: Path) -> None:
    for name in ("before", "after"):
        write_run(tmp_path / name, [row("1")])
    page = tmp_path / "both.html"
    found, out, err = rewardkit(
        "report", str(tmp_path / "before"), str(tmp_path / "after"), "-o", str(page)
    )
    assert (found, out, err) == (0, f"{page}\n", "2 runs: before, after\n")
    assert "2 runs" in page.read_text()
    found, out, _ = rewardkit("report", str(tmp_path))
    assert (found, out) == (0, f"{tmp_path / 'report.html'}\n")
    found, out, _ = rewardkit("report", str(tmp_path / "before"), "-o", str(tmp_path / "after"))
    assert (found, out) == (0, f"{tmp_path / 'after' / 'report.html'}\n")
    with contextlib.chdir(tmp_path):
        assert rewardkit("report", "before", "after", "--open", "no")[1] == "report.html\n"
    status, _, err = rewardkit("report", str(tmp_path / "nowhere"))
    assert (status, "nowhere isn't a folder; give one" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "holds no run"),
        (["-o", "none/page.html"], "isn't a folder; create it"),
        (["--open", "perhaps"], "isn't one of auto, yes, no"),
    ],
)
def test_report_says_what_was_wrong(tmp_path: Path, arguments: list[str], says: str) -> None:
    found, _, err = rewardkit("report", str(tmp_path), *arguments)
    assert found == 2
    assert says in err


@pytest.mark.slow
def test_a_command_loads_no_other_ones() -> None:
    modules = [f"rewardkit.cli.{name}" for name in COMMANDS]
    _, loaded = loaded_by(["list", "recipes"], modules)
    assert loaded == ["rewardkit.cli.list"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("eval --model m --limit abc", "'--limit': it must be a whole number"),
        ("eval --model m --limit 1.5", "'--limit': it must be a whole number"),
        ("eval --model m --temperature hot", "'--temperature': it must be a number"),
        ("score f --timeout x", "'--timeout': it must be a number"),
        ("view . --port 99999", "'--port': it must be at most 65535"),
        ("view . --port -1", "'--port': it must be at least 0"),
        ("serve --port x", "'--port': it must be a whole number"),
        ("train --seed x", "'--seed': it must be a whole number"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(command: str, said: str) -> None:
    end = rewardkit(*command.split())
    assert end.status == 2
    text = " ".join(end.err.replace("│", " ").split())
    assert said in text
    assert "Input should" not in text
    assert "parse" not in text
