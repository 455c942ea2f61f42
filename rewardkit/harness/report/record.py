"""A run's record as a person reads it: sections of names and values."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

Section = tuple[str, list[tuple[str, str]]]


def command(record: Mapping[str, Any]) -> str:
    """The command line, as a shell takes it, wherever rewardkit lies here; empty where none is
    recorded."""
    words = [str(word) for word in record.get("command", ())]
    if words and PurePath(words[0]).name in ("rewardkit", "__main__.py"):
        words[0] = "rewardkit"
    return shlex.join(words)


def in_short(record: Mapping[str, Any]) -> list[str]:
    """What a reader wants to know first: the engine, and how the tasks were asked and sampled."""
    tasks = record.get("tasks", {}).values()
    words = [
        record.get("backend", {}).get("name"),
        *(f"prompt {task['prompt']}" for task in tasks if "prompt" in task),
        *(f"temperature {task['sampling']['temperature']}" for task in tasks if "sampling" in task),
        *(
            f"{task['num_samples']} completions a problem"
            for task in tasks
            if task.get("num_samples", 1) > 1
        ),
    ]
    return [str(word) for word in dict.fromkeys(words) if word]


def sections(record: Mapping[str, Any]) -> list[Section]:
    """What the record says, the parts that decide a result first."""
    told: list[tuple[str, Any]] = [
        ("Settings", record.get("settings")),
        *_tasks(record),
        ("Engine", record.get("backend")),
        ("Versions", record.get("versions")),
        ("Hardware", record.get("hardware")),
        ("Fingerprint", record.get("fingerprint")),
        ("Sessions", _sessions(record)),
    ]
    return [(title, list(_flat(values))) for title, values in told if values]


def whole(record: Mapping[str, Any]) -> str:
    """run.json, as it lies in the folder."""
    return json.dumps(record, indent=2, ensure_ascii=False, default=str)


def _tasks(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, told in record.get("tasks", {}).items():
        yield f"Task {name}", told


def _sessions(record: Mapping[str, Any]) -> dict[str, str]:
    return {
        str(number): f"{session.get('started')} – {session.get('ended') or 'not ended'}"
        for number, session in enumerate(record.get("sessions", ()), 1)
    }


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif value is not None and value not in ("", [], ()):
            yield f"{before}{name}", value if isinstance(value, str) else json.dumps(value)
