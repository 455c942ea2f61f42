from __future__ import annotations

import re
from typing import Any

from rewardkit.harness.metrics.summary import summarise
from rewardkit.harness.report.page import MOST_SAMPLES, render

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></details><iframe src=//evil.example>",
    "{{ 7 * 7 }}{% raw %}",
    "' onmouseover='alert(1)",
    "<style>*{display:none}</style>",
]


def row(index: int, text: str) -> dict[str, Any]:
    verdict = {
        "correct": False, "score": 0.0, "answer": text, "failure": "wrong",
        "parts": {"form": 0.5}, "message": text,
    }  # fmt: skip
    return {
        "key": f"t/{index}/0", "task": "t", "id": str(index), "index": 0, "prompt": text,
        "completion": text, "finish_reason": "stop", "completion_tokens": 5, "reference": text,
        "columns": {"kind": text}, "verdict": verdict, "flexible": None,
    }  # fmt: skip


def page(rows: list[dict[str, Any]]) -> str:
    record = {"settings": {"model": HOSTILE[0]}, "started": "2026", "command": HOSTILE}
    return render({HOSTILE[0]: summarise(rows, ("kind",))}, rows, record)


def test_what_a_model_wrote_is_escaped_wherever_it_stands() -> None:
    html = page([row(index, text) for index, text in enumerate(HOSTILE)])
    tags = set(re.findall(r"<(\w+)", html))
    assert not tags & {"script", "img", "iframe"}
    assert len(re.findall("<style", html)) == 1
    assert "{{ 7 * 7 }}" in html
    assert not re.search(r"<[^>]* on\w+=", html)


def test_the_page_asks_the_network_for_nothing() -> None:
    html = render({"t": summarise([row(0, "x")])}, [row(0, "x")], {})
    assert not re.search(r"""(src|href|url)\s*[=(]""", html)
    assert "default-src 'none'" in html


def test_a_long_run_shows_its_first_samples_and_says_so() -> None:
    html = page([row(index, "x") for index in range(MOST_SAMPLES + 10)])
    assert html.count("<details>") == MOST_SAMPLES + 1
    assert f"The first {MOST_SAMPLES} of {MOST_SAMPLES + 10}" in html
