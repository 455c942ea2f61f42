"""`rewardkit audit` as users type it: exit status, errors, commands that repeat what was found."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from rewardkit.audit import assert_sound
from rewardkit.audit.cases import Case
from rewardkit.audit.run import AuditOptions, Commands
from tests.support.commands import rewardkit

pytestmark = pytest.mark.slow

GRADER = '''
import re

def reward(completions, answer, **kwargs):
    """Pays the last number, as written."""
    texts = [c if isinstance(c, str) else c[0]["content"] for c in completions]
    found = [re.findall(r"-?[0-9]+", text) for text in texts]
    return [float(n[-1:] == [str(a)]) for n, a in zip(found, answer)]
'''


def as_json(*arguments: object) -> dict[str, Any]:
    done = rewardkit("audit", *arguments, "--json")
    assert done.status == 0, done.err
    plain: dict[str, Any] = json.loads(done.out)
    return plain


def replayed(command: str) -> int:
    """The exit status of a printed command, split as a shell splits it."""
    words = shlex.split(command)
    assert words[0] == "rewardkit"
    return rewardkit(*words[1:]).status


def test_a_verifier_of_ours_needs_no_kind() -> None:
    plain = as_json("gsm8k", "--per-family", 3, "--family", "near miss")
    assert (plain["kind"], plain["form"]) == ("number", "#### {}")
    assert {family["kind"] for family in plain["families"]} == {"false_accept"}
    assert plain["totals"]["false_accept"]["errors"] == 0


def test_a_function_needs_a_kind(tmp_path: Path) -> None:
    (tmp_path / "grader.py").write_text(GRADER)
    done = rewardkit("audit", f"{tmp_path}/grader.py:reward")
    assert done.status == 2
    assert "doesn't show which answers it judges; add --kind NAME, one of math," in done.err


def test_every_printed_command_repeats_its_finding(tmp_path: Path) -> None:
    (tmp_path / "grader.py").write_text(GRADER)
    plain = as_json(f"{tmp_path}/grader.py:reward", "--kind", "number", "--per-family", 4)
    found = [
        finding for finding in plain["findings"] if not finding["family"].startswith("behaviour")
    ]
    assert {finding["name"] for finding in found} >= {"false_reject", "hack"}
    for finding in found:
        assert replayed(finding["command"]) == (1 if finding["expected"] == "right" else 0), finding


@pytest.mark.parametrize("text", ["-", "--help", "", "a\nb", "it's", "\x00", "\ud800", "$(x) `y`"])
def test_any_text_can_be_repeated(text: str) -> None:
    case = Case("any", text, text, right=True, columns={"options": ["x", "'y'"]})
    assert replayed(Commands("exact", AuditOptions(), "text").of_case(case)) == (0 if text else 2)


def test_fail_on_sets_the_exit_status() -> None:
    choice = ("choice", "--per-family", 3, "--family", "spelling")
    assert rewardkit("audit", *choice, "--fail-on", "false_accept=0").status == 0
    done = rewardkit("audit", *choice, "--fail-on", "false_accept=0,false_reject=0.01")
    assert done.status == 1
    assert "rewardkit: false_reject (right answers refused): " in done.err


def test_a_rate_that_no_case_gave_is_no_success() -> None:
    done = rewardkit("audit", "gsm8k", "--family", "near", "--fail-on", "false_reject=0.5")
    assert done.status == 1
    assert "no case had a verdict" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fail-on", "false_accepts=0"), "did you mean 'false_accept'?"),
        (("--fail-on", "hang=2"), "a rate from 0 to 1"),
        (("--kind", "maths"), "did you mean 'math'?"),
        (("--data", "nowhere.jsonl"), "there is no data file 'nowhere.jsonl'"),
        (("--case", "{}"), '--case takes {"completion"'),
        (("--budget", "0"), "--budget is 0"),
    ],
)
def test_a_wrong_argument_says_what_is_meant(arguments: tuple[str, ...], message: str) -> None:
    done = rewardkit("audit", "gsm8k", *arguments)
    assert done.status == 2
    assert message in done.err


def test_every_output_is_written(tmp_path: Path) -> None:
    outputs = ("--markdown", tmp_path / "a.md", "-o", tmp_path)
    done = rewardkit("audit", "exact", "--family", "near miss", "--per-family", 2, *outputs)
    assert done.status == 0
    assert done.out.startswith(
        "exact: 14 cases of 7 families, kind text, seed 0, answers written as …"
    )
    assert (tmp_path / "a.md").read_text().startswith("### Audit of `exact`")
    assert "Audit of <bdi>exact</bdi>" in (tmp_path / "audit.html").read_text()


def test_own_rows_take_part(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"gold": f"so\n#### {n}"}) + "\n" for n in (3, 3, 8)))
    plain = as_json("gsm8k", "--data", data, "--reference-field", "gold", "--per-family", 1)
    families = {family["name"]: family for family in plain["families"]}
    assert families["data: its own reference"]["n"] == 3
    assert plain["totals"]["false_accept"]["errors"] == 0


def test_two_verifiers_judge_the_same_cases() -> None:
    plain = as_json("math", "--against", "gsm8k", "--kind", "number", "--per-family", 2)
    both = [(family["name"], family["n"]) for family in plain["families"]]
    assert both == [(family["name"], family["n"]) for family in plain["against"]["families"]]


def test_a_reward_that_is_sound_passes_and_another_one_names_its_smallest_error() -> None:
    assert_sound("exact", per_family=4)
    with pytest.raises(AssertionError, match=r"choice isn't sound: .*\n  false_reject in 'spell"):
        assert_sound("choice", per_family=4)
    assert_sound("choice", per_family=4, allow={"false_reject": 0.3})


def test_the_command_of_a_behaviour_finds_it_again(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "def reward(answer, reference):\n    print(answer)\n    return float(answer == reference)\n"
    )
    target = (f"{tmp_path}/loud.py:reward", "--kind", "text")
    plain = as_json(*target, "--per-family", 1, "--family", "behaviour: stdout")
    (found,) = plain["findings"]
    assert found["name"] == "stdout"
    again = rewardkit(*shlex.split(found["command"])[1:], "--json")
    assert json.loads(again.out)["findings"] == [found]


def test_references_are_written_as_the_reward_reads_them(tmp_path: Path) -> None:
    (tmp_path / "picky.py").write_text(
        "from rewardkit import verify\n"
        "def reward(answer, reference):\n"
        "    return reference.startswith('$') and verify('math', answer, reference).correct\n"
    )
    target = (f"{tmp_path}/picky.py:reward", "--kind", "math", "--per-family", 1)
    plain = as_json(*target, "--family", "near miss: sign")
    assert (plain["form"], plain["reference_form"]) == (r"\boxed{{{}}}", "${}$")
    assert as_json("math", "--per-family", 1, "--family", "numbers")["reference_form"] == "{}"
