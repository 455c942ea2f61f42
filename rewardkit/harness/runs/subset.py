"""A subset of a task's problems: the first problems, a random draw by seed, or problems by id."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rewardkit.errors import UnknownName, UsageError


@dataclass(frozen=True, kw_only=True)
class Subset:
    """At most `limit` problems, among those that `id` names; `shuffle` is the seed of the draw."""

    limit: int | None = None
    shuffle: int | None = None
    id: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.shuffle is not None and self.limit is None:
            raise UsageError("--shuffle needs the number of problems to draw; add --limit")

    def record(self) -> dict[str, Any]:
        """The fields that are set, for a run's record; empty if all problems are taken."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}

    def ids(self, known: Iterable[str], task: str) -> frozenset[str]:
        """The ids to take among a task's ids, which may repeat.

        A random subset has the ids whose hash with the seed is smallest. The subset is the same on
        all machines and in any order of the rows, and part of each larger subset with this seed.
        UnknownName for a named id that the task lacks.
        """
        if not self.id and self.shuffle is None and self.limit is not None:
            first: dict[str, None] = {}
            for identifier in known:
                first[identifier] = None
                if len(first) == self.limit:
                    break
            return frozenset(first)
        distinct = dict.fromkeys(known)
        for name in self.id:
            if name not in distinct:
                raise UnknownName.among(f"problem of {task}", name, distinct)
        chosen = [name for name in distinct if not self.id or name in self.id]
        if self.shuffle is not None:
            seed = f"{self.shuffle}/"
            chosen.sort(
                key=lambda name: hashlib.sha256(
                    f"{seed}{name}".encode("utf-8", "surrogatepass")
                ).digest()
            )
        return frozenset(chosen[: self.limit])
