"""A real model of 135 million parameters: downloaded, converted, trained for a few steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(3600)
def test_a_short_start_and_a_few_steps_teach_the_form(tmp_path: Path) -> None:
    model = tmp_path / "model"
    subprocess.run([sys.executable, ROOT / "scripts/real-model", model], check=True)
    arguments = ["gsm8k", f"--model={model}", f"--output={tmp_path / 'real'}", "--seeds=0"]
    short = ["--start=20", "--steps=4", "--completions=16", "--problems=8"]
    script = str(ROOT / "examples/real_model.py")
    command = [sys.executable, script, *arguments, *short]
    threads = {"OMP_NUM_THREADS": str(os.cpu_count())}  # the tests' own is one
    subprocess.run(command, check=True, env=os.environ | threads)
    story = json.loads((tmp_path / "real/real.json").read_text(encoding="utf-8"))["gsm8k, seed 0"]
    start, learnt = (stage["evaluations"] for stage in story["stages"])
    assert start["0"]["format_rate"][0] == 0.0  # the instruct model never writes the tags
    assert learnt["4"]["format_rate"][0] >= 0.5
    assert all("<answer>" in reply["completion"] for reply in story["after"])
