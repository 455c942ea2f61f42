"""`rewardkit curate --review` in headless Chromium: decisions by keyboard alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit.curate import Curated, Finding
from rewardkit.curate.problems import CuratedProblem
from rewardkit.curate.references import DECISIONS, Suspect, read_decisions
from rewardkit.server.review import create_review
from tests.harness.report.chromium import Browser
from tests.server.process import served

pytestmark = pytest.mark.browser


def suspect(name: str, majority: str) -> Finding:
    problem = CuratedProblem(
        *("math", name, f"CuratedProblem {name}: <b>1 + {name}</b>?", "7", (), b"{}"),
        counts={"run": [1, 16]},
        wrong=Counter({majority: 15}),
    )
    found = Suspect(problem, majority, 15 / 16, "the answer differs from the reference")
    return Finding(problem, [], ["suspect"], suspect=found)


@pytest.fixture
def curated(tmp_path: Path) -> Curated:
    return Curated(tmp_path, [suspect("1", "2"), suspect("2", "3"), suspect("3", "4")], [])


@pytest.fixture
def address(curated: Curated) -> Iterator[str]:
    with served(create_review(curated)) as address:
        yield f"{address}/"


def test_a_person_decides_by_keyboard_and_finds_the_decisions_again(
    curated: Curated, address: str
) -> None:
    with Browser() as browser:
        browser.send("Page.navigate", url=address)
        browser.wait_for("document.querySelectorAll('.suspect').length === 3")
        for width in (360, 1400):
            browser.screen(width, 800)
            assert browser.value("document.documentElement.scrollWidth") <= width
        browser.press("j")
        browser.press("a")
        decided = "[...document.querySelectorAll('.decided')].map((one) => one.textContent)"
        browser.wait_for(f"{decided}[0] === 'accept'")
        browser.wait_for("document.activeElement?.dataset?.id === '2'")  # the next one
        browser.press("d")
        browser.wait_for("document.activeElement?.dataset?.id === '3'")
        browser.press("c")
        browser.wait_for("document.activeElement?.value === '4'")  # the majority's answer
        browser.press("Enter")
        browser.wait_for(f"{decided}[2] === 'correct 4'")
        browser.send("Page.reload")
        browser.wait_for(f"{decided}.join() === 'accept,drop,correct 4'")
        assert (browser.errors, browser.dialogs) == ([], [])
    stored = read_decisions(curated.output_dir)
    assert [one.decision for one in stored.values()] == ["accept", "drop", "correct"]
    lines = (curated.output_dir / DECISIONS).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[2])["reference"] == "4"
