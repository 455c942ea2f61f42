"""The tokens of a completion that the spans of its verdict cover."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rewardkit.records import Span


def tokens_of_spans(
    tokenizer: Any, ids: Sequence[int], text: str, spans: Sequence[Span]
) -> list[list[int]]:
    """For each span, the places in `ids` of the tokens that it covers, also in part.

    The spans are those of `text`, which is the decoded completion or a part of it; of another text
    they cover no token.
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
            if start < min(end, one.end + shift) and one.start + shift < end
        ]
        for one in spans
    ]


def _ends(tokenizer: Any, ids: Sequence[int], decoded: str) -> list[int]:
    """Where the text of each token ends in the decoded text; a token that completes no character
    ends where it begins."""
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
    for count in range(1, len(ids) + 1):  # quadratic, but of any tokenizer
        prefix = tokenizer.decode(ids[:count], skip_special_tokens=True).rstrip("\ufffd")
        length = max(length, len(prefix))
        ends.append(length)
    return ends
