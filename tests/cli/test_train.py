"""`rewardkit train` as users type it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.main import app
from rewardkit.errors import UsageError
from rewardkit.harness.runs import progress
from rewardkit.harness.runs.progress import TrainingProgress
from tests.support.commands import Result, rewardkit
from tests.trainers.conftest import DRAW_CURVE, write_points

pytestmark = pytest.mark.engines

TINY = [
    "num_generations=2",
    "per_device_train_batch_size=2",
    "gradient_accumulation_steps=1",
    "max_completion_length=6",
    "max_steps=2",
    "logging_steps=1",
    "prompt=motion_short",
    "evaluation.every=1",
    "evaluation.limit=2",
    "evaluation.max_tokens=6",
]


def arguments(model: Path, output: Path, *more: str) -> list[str]:
    settings = [word for setting in TINY for word in ("--set", setting)]
    return ["train", "motion", "--model", str(model), *settings, "-o", str(output), *more]


@pytest.fixture(scope="module", autouse=True)
def undrawn_curve() -> Iterator[None]:
    """Write what the curve would show: drawing takes longer than a step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DRAW_CURVE, write_points)
        yield


@pytest.fixture(scope="module")
def trained(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The folder of a training of two steps, and what the command printed."""
    output = tmp_path_factory.mktemp("trained") / "out"
    return output, rewardkit(*arguments(tiny_checkpoint, output))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["train", "moton"], "no recipe named 'moton'; did you mean 'motion'?"),
        (
            ["train", "./none.toml"],
            "there is no recipe file 'none.toml'; see `rewardkit list recipes`",
        ),
        (["train", "--model", "m"], "recipe 'any' names no task; pass --task NAME"),
        (["train", "motion", "--set", "beta"], "--set 'beta' isn't KEY=VALUE"),
        (["train", "motion", "--set", "btea=1"], "did you mean 'beta'?"),
    ],
)
def test_a_bad_argument_exits_2_and_says_what_was_meant(given: list[str], said: str) -> None:
    status, out, err = rewardkit(*given)
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err


def test_list_names_the_recipes() -> None:
    status, out, _ = rewardkit("list", "recipes")
    assert status == 0
    rows = [line.split()[:3] for line in out.splitlines()]
    for name in ("motion", "gsm8k-xml", "game24", "r1-zero"):
        assert ["recipe", name, "rewardkit"] in rows
    assert "predict the next five" in out


def test_check_prints_the_resolved_configuration_and_writes_nothing(
    tiny_checkpoint: Path, tmp_path: Path, capsys: Any
) -> None:
    app()(
        arguments(tiny_checkpoint, tmp_path / "out", "--check", "--seed", "3"),
        standalone_mode=False,
    )
    out = capsys.readouterr().out
    assert "a step: 1 prompt × 2 = 2 completions" in out
    assert "[trainer]" in out
    assert "beta = 0.04" in out
    assert "seed = 3" in out
    assert 'prompt = "motion_short"' in out
    assert not (tmp_path / "out").exists()


def test_any_task_is_trained_by_its_name(tiny_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        "".join(f'{{"question": "{n} + 1?", "answer": "{n + 1}"}}\n' for n in range(8))
    )
    (tmp_path / "sums.toml").write_text('[data]\nfile = "rows.jsonl"\n[verifier]\nname = "gsm8k"\n')
    given = ["--task", str(tmp_path / "sums.toml"), "--model", str(tiny_checkpoint)]
    given += ["--set", "max_completion_length=6", "--set", "evaluation.max_tokens=6", "--check"]
    status, out, err = rewardkit("train", *given)
    assert status == 0
    assert "# recipe any; output runs/train-" in out
    assert "8 of 8 problems of the evaluation are also trained on" in " ".join(err.split())
    (tmp_path / "others.jsonl").write_text('{"question": "What is left?", "answer": "0"}\n')
    given += ["--set", f"evaluation.data={tmp_path}/others.jsonl"]
    assert "also trained on" not in rewardkit("train", *given)[2]


def test_check_refuses_a_tracking_tool_that_is_not_installed(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.integrations import integration_utils

    monkeypatch.setattr(integration_utils, "is_wandb_available", lambda: False)
    given = arguments(tiny_checkpoint, tmp_path / "out", "--check", "--set", "report_to=wandb")
    with pytest.raises(UsageError, match="report_to is wandb, which isn't installed; pip install"):
        app()(given, standalone_mode=False)


def test_what_check_prints_is_a_recipe(tiny_checkpoint: Path, tmp_path: Path, capsys: Any) -> None:
    given = arguments(
        tiny_checkpoint,
        tmp_path / "out",
        "--check",
        "--set",
        'about="Δ \\"x\\""',
        "--set",
        "generation_kwargs={min_p = 0.1}",
        "--set",
        "eps=1e-6",
    )
    app()(given, standalone_mode=False)
    first = capsys.readouterr().out
    mine = tmp_path / "motion.toml"
    mine.write_text(first, encoding="utf-8")
    app()(["train", str(mine), "-o", str(tmp_path / "out"), "--check"], standalone_mode=False)
    assert capsys.readouterr().out == first


def test_a_training_says_how_it_went_and_what_to_type_next(
    trained: tuple[Path, Result],
) -> None:
    output, (_, out, err) = trained
    lines = [" ".join(line.replace("│", " ").split()) for line in out.splitlines()]
    assert any(line.startswith("before 0 0.0%") for line in lines)
    assert any(line.startswith("after 2 0.0%") for line in lines)
    assert f"final model {output}/final" in lines
    assert f"log, curve {output}/train_log.json, {output}/eval_curve.png" in lines
    assert (
        f"next rewardkit eval --task motion --model {output}/final --prompt motion_short" in lines
    )
    assert "step 0: accuracy motion 0.0%" in err
    assert "step 1/2: reward 0.000 (accuracy reward 0.000, format reward 0.000), KL " in err
    assert "of the time" in err
    assert "{'" not in out + err  # TRL's own lines


def test_quiet_says_warnings_alone_on_stderr(
    tiny_checkpoint: Path, tmp_path: Path, capsys: Any
) -> None:
    calm = ("--set", "truncation_share=1", "--quiet")
    app()(arguments(tiny_checkpoint, tmp_path / "out", *calm), standalone_mode=False)
    out, err = capsys.readouterr()
    (warning,) = err.splitlines()
    assert warning.startswith("warning: 50 of 50 worked replies of task 'motion' are longer than")
    assert "final model" in out
    assert not any(line.startswith("! sign") for line in out.splitlines())


SIGN = "warning: sign at step 1: motion: 100.0% of the"


def test_signs_are_said_also_to_the_quiet_and_again_at_the_end(
    tiny_checkpoint: Path, tmp_path: Path, trained: tuple[Path, Result]
) -> None:
    quiet = rewardkit(*arguments(tiny_checkpoint, tmp_path / "out", "--quiet"))
    for _, out, err in (trained[1], quiet):
        (said,) = (line for line in err.splitlines() if line.startswith(SIGN))
        sign = said.removeprefix("warning: sign at step 1: ")
        assert f"! sign        {sign}" in out.splitlines()
    others = [line for line in quiet.err.splitlines() if "worked replies" not in line]
    assert [line.startswith(SIGN) for line in others] == [True]


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_a_line_tells_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    bar = TrainingProgress()
    bar.started(10, 4)
    clock.now = 30.0
    bar.stepped(6)
    bar.logged({"reward": 1.5, "rewards/a/mean": None, "kl": 0.01, "reward_share": 0.002})  # type: ignore[dict-item]
    bar.ended()
    assert capsys.readouterr().err.splitlines() == [
        "training 10 steps, from step 4 on",
        "step 6/10: reward 1.500 (a reward unjudged), KL 0.0100, "
        "rewards 0.2% of the time, 0:01:00 left",
    ]
