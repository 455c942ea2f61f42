"""The tokens of a completion that the spans of its verdict cover."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rewardkit.records import Span


def tokens_of_spans(
    tokenizer: Any, ids: Sequence[int], text: str, spans: Sequence[Span]
) -> list[list[int]]:
    """For each span, the places in `ids` of the tokens that the span covers, also in part.

    The spans refer to `text`. If `text` is no part of the decoded completion, no token is covered.
    """
    if not spans:
        return []
    decoded = tokenizer.decode(ids, skip_special_tokens=True)
    shift = decoded.rfind(text)
    if shift < 0:
        return [[] for _ in spans]
    ends = _ends(tokenizer, ids, decoded)
    bounds = list(pairwise([0, *ends]))
    return [
        [
            place
            for place, (start, end) in enumerate(bounds)
            if start < min(end, span.end + shift) and span.start + shift < end
        ]
        for span in spans
    ]


def _ends(tokenizer: Any, ids: Sequence[int], decoded: str) -> list[int]:
    """The end of each token in the decoded text; its start if the token completes no character."""
    from tokenizers.decoders import DecodeStream

    ends, length, text = [], 0, ""
    if (backend := getattr(tokenizer, "backend_tokenizer", None)) is not None:
        stream = DecodeStream(skip_special_tokens=True)
        for token in ids:
            text += stream.step(backend, token) or ""
            ends.append(len(text))
    if text.rstrip("\ufffd") == decoded.rstrip("\ufffd"):
        return ends
    ends = []
    for count in range(1, len(ids) + 1):  # quadratic, but for any tokenizer
        prefix = tokenizer.decode(ids[:count], skip_special_tokens=True).rstrip("\ufffd")
        length = max(length, len(prefix))
        ends.append(length)
    return ends
