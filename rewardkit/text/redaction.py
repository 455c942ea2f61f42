"""Replace secrets by *** in all that is printed, logged or stored.

A secret is the value of an environment variable or an argument whose name says so (API_KEY, TOKEN,
SECRET, PASSWORD), or the credentials in a URL. A value shorter than `SHORTEST` characters is
replaced only next to its name: elsewhere it could be any word.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

MASK = "***"
SHORTEST = 8

_ARGUMENT = (
    r"(?:[\w.-]+[_.-])?(?:api[_-]?key|(?:access|auth|private|secret)[_-]key|secret|password|passwd"
    r"|passphrase|(?:api|access|auth|bearer|hf|hub|security|session)[_-]token)|token"
)
_ARGUMENT_NAME = re.compile(rf"(?:{_ARGUMENT})\Z", re.IGNORECASE)
_VARIABLE_NAME = re.compile(
    r"(?:.*_)?(?:KEY|PASS|PAT|DSN|WEBHOOK(?:_URL)?|CONNECTION_?STRING)\Z|.*(?:APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)\Z",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(r"((?:--[\w-]+=)?([\w.-]+)=).+", re.DOTALL)
# with a colon, so a password, the part before @ may hold / and ?; a mistyped URL may lack a slash
_USERINFO = re.compile(
    r"([a-z][a-z0-9+.-]*:/+)(?:[^/?#\s\"']+|[^/?#@:\s\"']*:[^\s\"']*)@", re.IGNORECASE
)
_ADDRESS_START = re.compile(r"\A(?:[a-z][a-z0-9+.-]*:)?/+", re.IGNORECASE)
_QUERY = re.compile(
    rf"([?&;](?:key|pass|pwd|auth|sig|(?:[\w-]+-)?signature|code|{_ARGUMENT})=)[^&;#\s\"']+",
    re.IGNORECASE,
)

_remembered: set[str] = set()


def is_secret_argument(name: str) -> bool:
    """Return whether an argument or a setting of this name holds a secret."""
    return _ARGUMENT_NAME.match(name) is not None


def remember_secret(value: object) -> None:
    """Redact this value from now on, in every text."""
    if isinstance(value, str) and len(value) >= SHORTEST:
        _remembered.add(value)


def remember_arguments(arguments: Mapping[str, object]) -> None:
    """Remember the values whose names say that they are secrets."""
    for name, value in arguments.items():
        if is_secret_argument(name):
            remember_secret(value)


def remember_url(url: str) -> None:
    """Remember the credentials in a URL, mistyped or not: a server may repeat them elsewhere."""
    user, colon, password = _ADDRESS_START.sub("", url).rpartition("@")[0].partition(":")
    if colon:
        _remembered.add(f"{user}:{password}@")
        remember_secret(password)
        remember_secret(unquote(password))
    for value in _QUERY.finditer(url):
        secret = value[0].removeprefix(value[1])
        remember_secret(unquote_plus(secret))


def redact(text: str) -> str:
    """Return the text with *** in place of known secrets and credentials in URLs."""
    secrets = _remembered | {
        value
        for name, value in os.environ.items()
        if len(value) >= SHORTEST and _VARIABLE_NAME.match(name)
    }
    # as it is, in a URL and in JSON
    forms = [(secret, quote(secret, safe=""), json.dumps(secret)[1:-1]) for secret in secrets]
    for secret in sorted(chain.from_iterable(forms), key=len, reverse=True):
        text = text.replace(secret, f"{MASK}@" if secret.endswith("@") else MASK)
    return _QUERY.sub(rf"\1{MASK}", _USERINFO.sub(rf"\1{MASK}@", text))


def redact_value(value: Any) -> Any:
    """Redact every text inside lists and mappings.

    *** replaces the value of a secret name, in a mapping and in a list of NAME=VALUE words.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        redacted = {name: redact_value(inner) for name, inner in value.items()}
        for name, inner in value.items():
            if isinstance(name, str) and isinstance(inner, str) and is_secret_argument(name):
                redacted[name] = MASK
        return redacted
    if not isinstance(value, list | tuple):
        return value
    items = []
    for item in value:  # an item may be a word of a command line
        assignment = _ASSIGNMENT.match(item) if isinstance(item, str) else None
        hides = assignment is not None and is_secret_argument(assignment[2])
        items.append(f"{assignment[1]}{MASK}" if assignment and hides else redact_value(item))
    return items
