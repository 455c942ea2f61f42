"""Answer LaTeX in a normal spelling: what only decorates is gone, what means something stays."""

from __future__ import annotations

import re

_SPELLINGS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[−–]", "-"),
        (r",\s?\\!\s*|\{\s*,\s*\}", ","),
        (r"\{\s*:\s*\}", ":"),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits)(?![a-zA-Z])", ""),
        (r"\\(?:quad|qquad|enspace|thinspace)(?![a-zA-Z])|\\[,;:! ]|~", " "),
        (r"\\[()\[\]]|(?<!\\)\$", " "),
        (r"\\leq?(?![a-zA-Z])|≤", r"\\le "),
        (r"\\geq?(?![a-zA-Z])|≥", r"\\ge "),
        (r"\\neq?(?![a-zA-Z])|≠", r"\\ne "),
        (r"\\lbrace(?![a-zA-Z])", r"\\{"),
        (r"\\rbrace(?![a-zA-Z])", r"\\}"),
        (r"π", r"\\pi "),
        (r"∞", r"\\infty "),
        (r"·|⋅|\\cdot(?![a-zA-Z])", r"\\cdot "),
        (r"×|\\times(?![a-zA-Z])", r"\\times "),
        (r"√", r"\\sqrt "),
        (r"\\(?:degree|text\{\s*degrees?\s*\})|\^\s*\{?\s*\\circ\s*\}?|°", "°"),
        (r"\\(?:mathrm|mathbf|mathit|textbf|textit|textrm|mbox|textnormal)(?=\s*\{)", r"\\text"),
    )
]
_SPELLED = re.compile(r"[^ !-#%-\[\]_-z|]|\{,")  # what no pattern above is about: most plain text
_SPACES = re.compile(r"\s+")
_SPACE_AROUND_SYMBOLS = re.compile(r"(?<=[^a-zA-Z0-9]) | (?=[^a-zA-Z0-9\\])")


def normal(latex: str) -> str:
    """The same answer in one spelling: fractions, spacing, brackets, dashes, degrees."""
    if _SPELLED.search(latex):
        for pattern, replacement in _SPELLINGS:
            latex = pattern.sub(replacement, latex)
    latex = _SPACES.sub(" ", latex).strip()
    latex = _SPACE_AROUND_SYMBOLS.sub("", latex)
    return (latex if latex.endswith("..") else latex.rstrip(".")).strip()
