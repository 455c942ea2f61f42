"""The samples of one split, none of which asks a question that another split already asks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rewardkit.errors import UsageError
from rewardkit.harness.tasks.motion.laws import Law, draw_paths
from rewardkit.harness.tasks.motion.rows import sample_of_path
from rewardkit.records import Sample

MOST_DRAWS = 1000
"""How many times a question is drawn again before the ranges count as too narrow."""


def draw_split(
    law: Law,
    split: str,
    count: int,
    *,
    dimensions: int,
    seed: int,
    distribution: str,
    excluded: Collection[str] = (),
) -> list[Sample]:
    """Return `count` samples by seed, none with a question in `excluded`.

    A question that is excluded is drawn again with a seed of its own, so that all other samples
    stay the same. UsageError if the law has no other question to offer.
    """
    paths = draw_paths(law, count, dimensions=dimensions, seed=f"{split}/{seed}")
    samples = []
    for index, path in enumerate(paths):
        identifier = f"{split}-{index:04d}"
        sample = sample_of_path(path, identifier, distribution)
        if sample.question in excluded:
            again = draw_paths(
                law, MOST_DRAWS, dimensions=dimensions, seed=f"{split}/{seed}/{index}"
            )
            others = (sample_of_path(path, identifier, distribution) for path in again)
            sample = _first_new(others, excluded, split)
        samples.append(sample)
    return samples


def _first_new(samples: Iterable[Sample], excluded: Collection[str], split: str) -> Sample:
    for sample in samples:
        if sample.question not in excluded:
            return sample
    raise UsageError(
        f"the ranges of motion are too narrow: the split {split!r} would repeat questions of "
        "another split; widen starts, speeds, amplitudes or periods"
    )
