"""Texts without the differences that a comparison ignores, and the references to compare with."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.records import Sample

_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Which differences between two texts count for nothing."""

    case: bool = False
    articles: bool = False
    punctuation: bool = False
    white_space: bool = False

    def __call__(self, text: str) -> str:
        """Return `text` in lower case, without punctuation, articles and runs of white space."""
        if self.case:
            text = text.lower()
        if self.punctuation:
            text = text.translate(_PUNCTUATION)
        if self.articles:
            text = _ARTICLES.sub(" ", text)
        return " ".join(text.split()) if self.white_space else text.strip()

    def equal(self, answer: str, reference: str) -> bool:
        """Return whether two texts are equal; a reference of nothing but, say, punctuation is
        compared as it is written."""
        normalised = self(reference)
        return self(answer) == normalised if normalised else answer.strip() == reference.strip()


SQUAD = Normalisation(case=True, articles=True, punctuation=True, white_space=True)
"""The normalisation of SQuAD's evaluation (Rajpurkar et al. 2016)."""


def accepted_references(sample: Sample, aliases: str) -> list[str]:
    """Return the reference and what the column `aliases` holds, a text or a list of texts.

    Dots reach inside the column: `answers.text`. Raises ValueError if the row lacks it.

    >>> accepted_references(Sample("NYC", columns={"also": ["New York"]}), "also")
    ['NYC', 'New York']
    """
    if not aliases:
        return [sample.reference]
    value: object = sample.columns
    for part in aliases.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(f"the row has no column {aliases!r}")
        value = value[part]
    more = value if isinstance(value, list | tuple) else [value]
    return [sample.reference, *(str(text) for text in more if text is not None)]
