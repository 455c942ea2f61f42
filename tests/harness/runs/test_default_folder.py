from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewardkit.harness.runs.options import default_folder, differing_settings, options_for


def folder(**given: Any) -> str:
    return default_folder(options_for(("gsm8k",), "ckpt/model", **given))


def test_the_name_contains_settings_that_differ_from_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder() == folder(temperature=0.0, seed=0) == "runs/gsm8k-model-89cf94d7"
    assert folder(seed=1) != folder()
    assert folder(stop=["a"]) != folder()


def test_the_name_omits_options_that_dont_change_completions() -> None:
    assert folder(max_errors=0.5, tensor_parallel_size=2, overwrite=True) == folder()


def test_a_setting_that_a_record_lacks_has_its_default() -> None:
    assert differing_settings({"top_k": 0, "seed": 3, "model": "m"}) == {"seed": 3, "model": "m"}
