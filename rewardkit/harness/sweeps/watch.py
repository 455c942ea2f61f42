"""Watch a training for new checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rewardkit.harness.store.checkpoints import STATE, ends_training, family, is_complete, matching

SECONDS_BETWEEN_LOOKS = 3.0


def watch(
    models: Sequence[str],
    note: Callable[[str], None],
    *,
    timeout: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[str]:
    """Each checkpoint once, in the order of their steps, until every training watched is over or
    `timeout` seconds have brought no new one. What takes them may take its time."""
    trainings = _Trainings(list(dict.fromkeys(family(model) for model in models)))
    since, waiting_noted = clock(), False
    while True:
        checkpoint = trainings.next()
        if checkpoint is not None:
            yield checkpoint
            since, waiting_noted = clock(), False
            continue
        left = None if timeout is None else timeout - (clock() - since)
        if trainings.over or (left is not None and left <= 0):
            note(trainings.why_ended())
            return
        if not waiting_noted:
            note(f"waiting for new checkpoints: {', '.join(trainings.patterns)}; Ctrl-C ends it")
            waiting_noted = True
        sleep(SECONDS_BETWEEN_LOOKS if left is None else min(left, SECONDS_BETWEEN_LOOKS))


class _Trainings:
    """The state of the watched trainings, whose checkpoints match the patterns."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = patterns
        self._seen: set[str] = set()
        self._over: dict[str, dict[str, bool]] = {pattern: {} for pattern in patterns}
        """For each pattern, whether the training in each folder is over."""

    def next(self) -> str | None:
        """Return the next complete checkpoint that was not returned before, or None."""
        for pattern in self.patterns:
            for checkpoint in self._unseen(pattern):
                path = Path(checkpoint)
                if is_complete(path):
                    self._seen.add(checkpoint)
                    folders = self._over[pattern]
                    # checked now, because it may be deleted during its evaluation
                    folders[str(path.parent)] = ends_training(path)
                    return checkpoint
        return None

    @property
    def over(self) -> bool:
        """Whether all trainings have written their last checkpoint."""
        return all(folders and all(folders.values()) for folders in self._over.values())

    def why_ended(self) -> str:
        """A sentence on why the watch ended, with the checkpoints that stayed incomplete."""
        why = "the training is over" if self.over else "no new checkpoint came in time"
        left = [checkpoint for pattern in self.patterns for checkpoint in self._unseen(pattern)]
        if left:
            why += f"; left out, since their {STATE} or weights are incomplete: {', '.join(left)}"
        return why

    def _unseen(self, pattern: str) -> list[str]:
        return [checkpoint for checkpoint in matching(pattern) if checkpoint not in self._seen]
