"""A run with too many errors ends with the first of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewardkit import Sample, hookimpl, registry
from rewardkit.registry import Plugin
from tests.support.commands import Result, rewardkit, run_command

pytestmark = pytest.mark.slow


def test_the_first_error_is_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": f"q{n}", "answer": "#### 1", "completion": "#### 1"} for n in range(6)]
    data, replies = tmp_path / "data.jsonl", tmp_path / "few.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    replies.write_text("".join(json.dumps({**rows[n], "id": n}) + "\n" for n in range(2)))
    command = ["eval", "--task", "gsm8k", "--data", data, "--model", replies]
    command += ["--backend", "replay", "--quiet", "-o", tmp_path / "run"]
    assert [run_command(*command, "--shard", f"{number}/2") for number in (1, 2)] == [1, 1]
    capsys.readouterr()
    assert run_command("merge", tmp_path / "run") == 1
    said = "the first error: gsm8k/2/0: nothing was generated: few.jsonl holds no "
    assert said in capsys.readouterr().err
    assert run_command(*command) == 1
    assert said in capsys.readouterr().err


class Broken:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"broken": broken, "brittle": brittle}


def broken(text: str, sample: Sample) -> bool:
    return bool(sample.columns["gone"])


def brittle(text: str, sample: Sample) -> bool:
    return float(text) == float(sample.reference)


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Score four completions, one of which has no reference that can be read."""
    offers = registry.with_plugins([Plugin("broken", Broken())])
    monkeypatch.setattr(registry, "installed", lambda: offers)
    file = tmp_path / "rows.jsonl"
    pairs = [("it is 4", "4"), ("it is 5", "4"), ("it is 4", "4"), ("it is 4", "")]
    rows = ({"completion": text, "reference": reference} for text, reference in pairs)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return lambda *arguments: rewardkit("score", str(file), "--verifier", *arguments)


READS_ALL = ("exact", "--verifier-arg", 'pattern="[0-9]+"')


def test_a_scoring_with_many_errors_fails_as_an_evaluation_does(
    scored: Callable[..., Result],
) -> None:
    end = scored(*READS_ALL)
    assert end.status == 1
    assert "1 of 4 completions ended in errors, more than --max-errors 0.05 allows" in end.err
    assert "the first error: 3: the reference is blank" in end.err
    assert scored(*READS_ALL, "--max-errors", "0.25").status == 0


def test_a_metric_that_is_too_low_fails(scored: Callable[..., Result]) -> None:
    typed = (*READS_ALL, "--max-errors", "0.5", "--fail-under")
    assert scored(*typed, "accuracy=0.6").status == 0
    end = scored(*typed, "accuracy=0.7", "--json")
    assert end.status == 1
    assert "accuracy of exact is 0.6667, below --fail-under accuracy=0.7" in end.err
    assert json.loads(end.out)["tasks"]["exact"]["judged"] == 3
    end = scored(*typed, "acuracy=0.1")
    assert end.status == 1
    assert "no metric named 'acuracy'; did you mean 'accuracy'?" in end.err
    assert scored(*typed, "accuracy=high").status == 2


def test_a_verifier_that_crashes_on_everything_fails_with_its_first_exception(
    scored: Callable[..., Result],
) -> None:
    end = scored("broken")
    assert end.status == 1
    assert "nothing was judged" in end.err
    assert "the first error: 0: the verifier raised KeyError: 'gone'" in end.err
    end = scored("brittle", "--max-errors", "1")
    assert end.status == 1
    assert "could not convert string to float: 'it is 4'" in end.err
