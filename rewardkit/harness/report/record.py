"""A run's record as the page shows it: sections of names and values."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

Section = tuple[str, list[tuple[str, str]]]


def command_line(record: Mapping[str, Any]) -> str:
    """The recorded command, quoted for a shell, without the path of rewardkit; empty if none."""
    words = [str(word) for word in record.get("command", ())]
    if words and PurePath(words[0]).name in ("rewardkit", "__main__.py"):
        words[0] = "rewardkit"
    return shlex.join(words)


def outline(record: Mapping[str, Any]) -> list[str]:
    """The engine, prompts and sampling, each in a few words."""
    tasks = record.get("tasks", {}).values()
    words = [
        record.get("backend", {}).get("name"),
        *(f"prompt {task['prompt']}" for task in tasks if "prompt" in task),
        *(
            f"temperature {task['sampling']['temperature']}"
            for task in tasks
            if "temperature" in task.get("sampling", {})
        ),
        *(
            f"{task['num_samples']} completions per problem"
            for task in tasks
            if (task.get("num_samples") or 1) > 1
        ),
    ]
    return [str(word) for word in dict.fromkeys(words) if word]


def sections(record: Mapping[str, Any]) -> list[Section]:
    """The record in sections, those that decide a result first; empty sections are left out."""
    titled: list[tuple[str, Any]] = [
        ("Settings", record.get("settings")),
        *((f"Task {name}", task) for name, task in record.get("tasks", {}).items()),
        ("Engine", record.get("backend")),
        ("Versions", record.get("versions")),
        ("Hardware", record.get("hardware")),
        ("Fingerprint", record.get("fingerprint")),
        ("Sessions", _sessions(record)),
    ]
    return [(title, list(_flat(values))) for title, values in titled if values]


def record_text(record: Mapping[str, Any]) -> str:
    """The text of run.json."""
    return json.dumps(record, indent=2, ensure_ascii=False, default=str)


def _sessions(record: Mapping[str, Any]) -> dict[str, str]:
    return {
        str(number): f"{session.get('started')} – {session.get('ended') or 'not ended'}"
        for number, session in enumerate(record.get("sessions", ()), 1)
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted name, text) pairs of the values that are set."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif value is not None and value not in ("", [], ()):
            yield f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value)
