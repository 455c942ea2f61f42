"""What the terminal and the report call each figure of summary.json: one name for one idea."""

from __future__ import annotations

VIEW_PORT = 8001
"""The port of `rewardkit view`, in its addresses."""

COMPLETIONS_LINK = ". Completions: "
"""Ends the message of a sign, before the address of completions."""

PART = "part_"
"""Starts the key of a component's mean; the rest is the component's own name."""

FLEXIBLE = "_flexible"
"""Ends the key of a figure of the flexible verdicts."""

WORDS = {
    "accuracy_untruncated": "accuracy, untruncated",
    "accuracy_truncated": "accuracy, truncated",
    "error": "unjudged",
    "error_rate": "wrong rate",
    "mae": "MAE",
    "mse": "MSE",
    "wrong_steps": "right answer, wrong steps",
}
"""The words of the keys for which replacing underscores by spaces is not enough."""

TRUNCATED = "truncated at the token limit or in an open thinking block, with or without an answer"
UNJUDGED = "unjudged and left out of the means"
"""The states of completions that warnings count."""


def words(key: str) -> str:
    """The words for a metric, a count, a failure or another key: `error_rate` is "wrong rate"."""
    if key.endswith(FLEXIBLE):
        return f"{words(key.removesuffix(FLEXIBLE))}, flexible"
    if key.startswith(PART):
        return reward_words(key.removeprefix(PART))
    return WORDS.get(key, key.replace("_", " "))


def reward_words(name: str) -> str:
    """The words for a reward by its own name, which may be another figure's: "accuracy reward"."""
    return name if "reward" in name else f"{name} reward"


def counted(count: int, noun: str) -> str:
    """The number with its noun: "1 problem", "2,000 problems"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def be(count: int) -> str:
    """The verb after a number of things: "1 completion is", "2 completions are"."""
    return "is" if count == 1 else "are"


def cluster_column(given: str | None, recorded: str | None = None) -> str | None:
    """The column of clusters that is given, else the recorded one; None if `none` is given."""
    return recorded if given is None else given if given != "none" else None
