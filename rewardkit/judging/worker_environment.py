"""The environment variables that a worker gets: all but those that look like secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

PASSED_VARIABLE = "REWARDKIT_WORKER_ENV"
"""Holds names of variables, separated by commas, that workers get whatever their names."""

_SECRET = re.compile(
    r"(^|_)(key|keys|token|tokens|pat|pass|auth|jwt|sas|cookie|cookies|dsn|connstr)(_|$)"
    r"|^(?!oldpwd$)\w+pwd(_|$)"
    r"|apikey|accesskey|secret|passw|passphrase|credential|webhook|connection_?string"
    r"|((^|_)(db|pg|jdbc|smtp)|database|postgres|mysql|maria|mongo|redis|amqp|rabbit|broker|sqlalchemy"
    r"|elastic|kafka|clickhouse)([a-z]*_)+(url|uri)s?(_|$)",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"://[^\s/?#@]*:[^\s/?#@]+@")


def looks_secret(name: str, value: str = "") -> bool:
    """Return whether a variable's name is like that of a key, a token or a password, or whether its
    value is an address with a password.

    >>> [name for name in ("HF_TOKEN", "HOME", "TOKENIZERS_PARALLELISM") if looks_secret(name)]
    ['HF_TOKEN']
    """
    return bool(_SECRET.search(name) or _PASSWORD_IN_URL.search(value))


def passed_variables(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in `names` and in REWARDKIT_WORKER_ENV, sorted, each once."""
    listed = os.environ.get(PASSED_VARIABLE, "").split(",")
    return tuple(sorted({*names, *(name.strip() for name in listed)} - {""}))


def worker_environment(
    passed: Iterable[str], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment without variables that look like secrets, but with `passed` ones."""
    kept = set(passed)
    return {
        name: value
        for name, value in environment.items()
        if name in kept or not looks_secret(name, value)
    }
