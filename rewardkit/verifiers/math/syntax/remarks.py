"""Remarks after an answer that don't change it: `17 (since x > 0)`, `√12, about 3.46`."""

from __future__ import annotations

import re

_REMARK = re.compile(
    r"\((?:\s|\\text\s*\{|\\[,;])*(?:since|because|given|where|rounded|correct to|to the nearest"
    r"|approx(?:imately|\.)?|about|≈|\\approx|i\.e\.|that is)(?![-a-zA-Z+*/^_]).*\)[\s}$.]*\Z",
    re.DOTALL,
)
_OPENED = re.compile(r"(?:\\(?:left|text(?:bf|it|rm)?\s*\{|q?quad|[,;:! ])|[\s~,])+\Z")
_ABOUT = re.compile(
    r",?\s*\\text\s*\{[\s,]*(?:or |which is |that is )?(?:approximately|approx\.?|about|roughly)"
    r"\s*\}"
)


def without_remark(text: str) -> str:
    r"""The text before a reason or a rounded value in brackets; `\text{or about}` as \approx."""
    if ")" in text and (remark := _REMARK.search(text)):
        before = _OPENED.sub("", text[: remark.start()])
        if before.strip():
            text = before + "}" * (before.count("{") - before.count("}"))
    return _ABOUT.sub(r"\\approx ", text) if r"\text" in text and "a" in text else text
