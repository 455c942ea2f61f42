"""The guide for notebooks runs in a kernel, and its page shows what it prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def tables(notebook: Any) -> Iterator[str]:
    """The tables among the outputs: progress bars show times."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            yield from re.findall("<table.*?</table>", data.get("text/html", ""), re.DOTALL)
            yield output.get("text", "")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_the_notebook_runs_and_shows_its_stored_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(GUIDES / "notebook.ipynb", as_version=4)
    stored = list(tables(notebook))
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=120,
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    assert list(tables(notebook)) == stored
    shown = "\n".join(stored)
    for part in ("3 verdicts: 1 right", "questions: 4 problems", "accuracy on", "verdict_answer"):
        assert part in shown
    bars = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "<progress" in output.get("data", {}).get("text/html", "")
    ]
    assert [re.findall('value="(.)" max="(.)"', bar) for bar in bars] == [[("4", "4")]] * 2
