"""Show the control characters of foreign text instead of sending them to a terminal.

Completions, references, file names and servers' messages may hold escape sequences, which set a
terminal's title or clipboard, hide text or write over it.
"""

from __future__ import annotations

import logging
import re

_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""C0 without the newline, C1, line separators, and what changes the direction of text."""


def printable(text: str) -> str:
    r"""Return the text with an escape for each control character but newlines, and spaces for tabs.

    The escapes are JSON's: the strings of a JSON document keep their values.

    >>> printable("\x1b]0;title\x07")
    '\\u001b]0;title\\u0007'
    """
    return _CONTROL.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    return "    " if match[0] == "\t" else f"\\u{ord(match[0]):04x}"


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a module. Its messages are printable."""
    logger = logging.getLogger(name)
    logger.addFilter(_make_printable)
    return logger


def _make_printable(record: logging.LogRecord) -> bool:
    record.msg, record.args = printable(record.getMessage()), ()
    return True
