"""Find problems with the same text: within the set, and in evaluation sets."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

NEAR = 0.7
"""The share of pairs of neighbouring words that near duplicates have in common (Jaccard index)."""

LONG, SHORT = 13, 8
"""Words of a run. Two texts overlap if they share a long run, or half of the short runs."""

OTHER_NUMBERS = "the same words, other numbers"

MOST_COMPARED = 16
"""Evaluated texts that a text is compared with for each kind of run, and that are kept for a run. A
run that more texts have is a phrase of a template."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[-+*/=<>^]")
_NUMBER = re.compile(r"\d")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words, numbers and operators of a text, in lower case.

    >>> tokens("What is $3 + 4{,}000$?")
    ('what', 'is', '3', '+', '4', '000')
    """
    return tuple(_TOKEN.findall(text.casefold()))


def mask_numbers(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words, with 0 for each number."""
    return tuple("0" if _NUMBER.match(word) else word for word in words)


def _numbers(words: Sequence[str]) -> Counter[str]:
    return Counter(word for word in words if _NUMBER.match(word))


def runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """Return all runs of `length` neighbouring words. A shorter text is a run."""
    last = max(1, len(words) - length + 1)
    return [tuple(words[start : start + length]) for start in range(last)]


def duplicates(texts: Sequence[str]) -> list[list[int]]:
    """Return groups of two or more places whose texts are duplicates.

    Two texts are duplicates if they have the same words, numbers and operators in the same order,
    or the same numbers and most pairs of neighbouring words (NEAR). MinHash (A. Broder, On the
    resemblance and containment of documents, 1997) with 32 bands of 4 hashes finds candidates. Each
    is then compared exactly. A text without words has no duplicates.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    words = [tokens(text) for text in texts]
    first: dict[tuple[str, ...], int] = {}
    pairs = [(first.setdefault(found, place), place) for place, found in enumerate(words) if found]
    pairs += _near([(place, words[place]) for place in first.values()])
    ends = tuple(zip(*pairs, strict=True)) if pairs else ((), ())
    edges = coo_array(([1] * len(pairs), ends), shape=(len(texts), len(texts)))
    groups: dict[int, list[int]] = defaultdict(list)
    for place, group in enumerate(connected_components(edges, directed=False)[1]):
        groups[group].append(place)
    return [group for group in groups.values() if len(group) > 1]


def _near(texts: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[tuple[int, int]]:
    import rensa

    pairs = {place: frozenset(runs(text_words, 2)) for place, text_words in texts}
    by_numbers = defaultdict(list)
    for place, text_words in texts:
        by_numbers[tuple(sorted(_numbers(text_words).elements()))].append(place)
    for places in by_numbers.values():
        if len(places) < 2:
            continue
        index = rensa.RMinHashLSH(threshold=NEAR, num_perm=128, num_bands=32)
        for place in places:
            sketch = rensa.RMinHash(num_perm=128, seed=0)
            sketch.update([" ".join(pair) for pair in pairs[place]])
            for other in sorted(index.query(sketch)):
                shared = len(pairs[place] & pairs[other])
                if shared / (len(pairs[place]) + len(pairs[other]) - shared) >= NEAR:
                    yield other, place
                    break
            index.insert(place, sketch)


@dataclass(frozen=True, slots=True)
class Overlap:
    """A text of an evaluation set that overlaps with a problem."""

    set: str
    text: str
    how: str


class Contamination:
    """Knows the runs of words of evaluated texts, and finds the texts that share runs.

    Two texts overlap if they share a run of 13 words (T. Brown et al., Language Models are Few-Shot
    Learners, 2020, appendix C), or half of the evaluated text's runs of 8 words, with or without
    regard to numbers. If neither text has all numbers of the other, they are different problems in
    the same words (OTHER_NUMBERS).
    """

    def __init__(self, sets: Mapping[str, Iterable[str]]) -> None:
        self._texts = [(name, text) for name, texts in sets.items() for text in texts]
        self._long, self._short, self._masked = _Index(LONG), _Index(SHORT), _Index(SHORT)
        self._numbers: list[Counter[str]] = []
        for _, text in self._texts:
            words = tokens(text)
            self._numbers.append(_numbers(words))
            self._long.add(words)
            self._short.add(words)
            self._masked.add(mask_numbers(words))

    def find(self, text: str) -> Overlap | None:
        """Return the evaluated text that overlaps most with this text, or None."""
        words = tokens(text)
        numbers = _numbers(words)
        found = (self._overlap(number, numbers, how) for number, how in self._candidates(words))
        best: Overlap | None = None
        for overlap in found:
            if overlap.how != OTHER_NUMBERS:
                return overlap
            best = best or overlap
        return best

    def _candidates(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        yield from ((number, f"{LONG} words in a row") for number in self._long.share(words, 0.0))
        half = f"half of its runs of {SHORT} words"
        yield from ((number, half) for number in self._short.share(words, 0.5))
        masks = mask_numbers(words)
        yield from ((number, OTHER_NUMBERS) for number in self._masked.share(masks, 0.5))

    def _overlap(self, number: int, numbers: Counter[str], how: str) -> Overlap:
        name, text = self._texts[number]
        evaluated = self._numbers[number]
        same = numbers <= evaluated or evaluated <= numbers
        return Overlap(name, text, how if same else OTHER_NUMBERS)


class _Index:
    """Which texts have a run of so many words. A shorter text is a run."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._sizes: list[int] = []

    def add(self, words: Sequence[str]) -> None:
        """Add the next text."""
        found = set(runs(words, self._length)) if words else set()
        for run in found:
            if len(places := self._places[run]) < MOST_COMPARED:
                places.append(len(self._sizes))
        self._sizes.append(len(found))

    def share(self, words: Sequence[str], least: float) -> Iterator[int]:
        """Yield the texts of whose runs the words have at least a share, most shared runs first."""
        found = (self._places.get(run, ()) for run in set(runs(words, self._length)))
        shared = Counter(chain.from_iterable(found))
        for number, count in shared.most_common(MOST_COMPARED):
            if count >= least * self._sizes[number]:
                yield number
