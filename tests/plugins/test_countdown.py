"""A plugin of a third party, installed as a stranger's package and used from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "plugins" / "rewardkit-countdown"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the distribution is installed, entry point and all."""
    target = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--target",
            target,
            SOURCE,
        ],
        check=True,
        capture_output=True,
    )
    return target


def rewardkit(site: Path, *arguments: str, plugins: str | None = None) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "120"}
    if plugins is not None:
        environment["REWARDKIT_PLUGINS"] = plugins
    done = subprocess.run(
        [sys.executable, "-m", "rewardkit", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_it_is_found_and_named_as_the_owner(site: Path) -> None:
    status, out, _ = rewardkit(site, "list", "verifiers")
    assert status == 0
    assert any("countdown" in line.split()[1:3] for line in out.splitlines() if line.strip())


def test_its_references_judge_themselves_right(site: Path) -> None:
    status, out, _ = rewardkit(site, "check", "--plugin", "countdown")
    assert status == 0, out
    assert "100 of 100 references judge themselves right" in out
    assert (
        "takes the prompts answer, auto_cot, cot, countdown, direct, few_shot, long_cot, r1_zero, "
        "think_answer, xml; each renders on every row"
    ) in out


def test_it_ships_a_task_as_a_toml_file(site: Path, tmp_path: Path) -> None:
    status, out, err = rewardkit(site, "check", "--task", "countdown_values")
    assert status == 0, out + err
    assert "6 of 6 references judge themselves right" in out
    replies = [{"id": str(number), "completion": r"\boxed{98}"} for number in range(6)]
    file = tmp_path / "replies.jsonl"
    write_rows(file, replies)
    run = ["eval", "--task", "countdown_values", "--model", str(file), "--backend", "replay"]
    status, out, err = rewardkit(site, *run, "-o", str(tmp_path / "run"), "--json")
    assert status == 0, err
    groups = json.loads(out)["tasks"]["countdown_values"]["groups"]["count"]
    assert {group: figure["value"] for group, figure in groups.items()} == {"3": 0.25, "4": 0.0}


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        ("<answer>(44 + 19) + 35</answer>", 0, "right"),
        ("<answer>44 + 19 + 35 = 98</answer>", 0, "right"),
        ("<answer>44 + 54</answer>", 1, "wrong\n"),
        ("<answer>44 + 19</answer>", 1, "score      0.1"),
        ("98", 1, "no answer"),
        ("<answer>__import__('os')</answer>", 1, "format"),
        ("<answer>" + "(" * 100_000 + "</answer>", 1, "format"),
    ],
)
def test_its_verifier_judges(site: Path, reply: str, status: int, said: str) -> None:
    reference = json.dumps({"target": 98, "numbers": [44, 19, 35]})
    found, out, _ = rewardkit(site, "verify", "countdown", "--reference", reference, reply)
    assert found == status
    assert said in out


def test_an_unreadable_reference_is_unjudged(site: Path) -> None:
    status, out, _ = rewardkit(site, "verify", "countdown", "--reference", "98", "<answer>1")
    assert (status, out.split()[0]) == (2, "unjudged")


def test_it_scores_a_file(site: Path, tmp_path: Path) -> None:
    rows = [
        {"numbers": [1, 2, 3], "target": 6, "completion": "<answer>1 * 2 * 3</answer>"},
        {"numbers": [1, 2, 3], "target": 7, "completion": "<answer>1 * 2 * 3</answer>"},
    ]
    file = tmp_path / "replies.jsonl"
    write_rows(file, rows)
    status, out, err = rewardkit(site, "score", str(file), "--task", "countdown", "--json")
    assert status == 0, err
    assert json.loads(out)["tasks"]["countdown"]["metrics"]["accuracy"]["value"] == 0.5


def test_it_can_be_left_out(site: Path) -> None:
    status, _, err = rewardkit(site, "verify", "countdown", "--reference", "{}", "x", plugins="")
    assert status == 2
    assert "no verifier named 'countdown'" in err
