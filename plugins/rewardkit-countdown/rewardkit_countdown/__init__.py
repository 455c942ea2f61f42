"""The countdown numbers game: what this plugin offers rewardkit."""

from __future__ import annotations

from pathlib import Path

from rewardkit.plugin import hookimpl


@hookimpl
def rewardkit_verifiers() -> dict[str, str]:
    """One verifier; it is imported when it is first used."""
    return {"countdown": "rewardkit_countdown.verifier:Countdown"}


@hookimpl
def rewardkit_tasks() -> dict[str, str]:
    """One task."""
    return {"countdown": "rewardkit_countdown.task:CountdownTask"}


@hookimpl
def rewardkit_prompts() -> dict[str, str]:
    """One prompt, the task's own."""
    return {"countdown": str(Path(__file__).parent / "countdown.jinja")}
