from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reproductions.py"


def test_a_full_stop_after_the_answer_is_where_value_and_text_differ() -> None:
    rows = [
        {"id": "0", "completion": "So #### 1,800", "answer": "1800"},
        {"id": "1", "completion": "So #### 10. ", "answer": "10"},
        {"id": "2", "completion": "So #### 11", "answer": "10"},
        {"id": "3", "completion": "So 12.", "answer": "13"},
    ]
    found = runpy.run_path(str(SCRIPT))["reproduce"]("ours", rows)
    assert (found.rows, found.by_value, found.as_text) == (4, 2, 1)
    assert found.differ == ["1"]
    assert f"{found.percent:.2f}" == "50.00"
