"""The first samples of a data set, with some of each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, groupby, islice, zip_longest

from rewardkit.records import Sample


def limited(samples: Sequence[Sample], limit: int | None, group_by: Sequence[str]) -> list[Sample]:
    """Return at most `limit` samples, in the order of the data.

    They are the first ones. If the data come group by group, by the first column of `group_by`,
    they are the first ones of each group in turn: the first ones alone would all be of one group.
    """
    if limit is None or not group_by:
        return list(samples[:limit])
    groups = [str(sample.columns.get(group_by[0], "")) for sample in samples]
    blocks = [group for group, _ in groupby(groups)]
    if len(blocks) != len(set(blocks)):
        return list(samples[:limit])
    indices = defaultdict(list)
    for index, group in enumerate(groups):
        indices[group].append(index)
    in_turn = chain.from_iterable(zip_longest(*indices.values()))
    chosen = islice((index for index in in_turn if index is not None), limit)
    return [samples[index] for index in sorted(chosen)]
