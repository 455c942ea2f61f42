"""The commands that shards were run with, and those that mend what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rewardkit.harness.store.shard import Shard

_OPTION = "--shard"


def shard_command(record: Mapping[str, Any], shard: Shard, *, overwrite: bool = False) -> str:
    """The command that does `shard`, from the record of another shard of the run."""
    words = whole_command(record)
    if _OPTION not in _names(record.get("command", ())):
        more = " and overwrite=True" if overwrite else ""
        return f"the call that wrote the other shards, with shard='{shard}'{more}"
    words = [word for word in words if word != "--overwrite"]
    words += [_OPTION, str(shard), *(["--overwrite"] if overwrite else [])]
    if words[0].rpartition("/")[2] in ("rewardkit", "__main__.py"):
        words[0] = "rewardkit"
    return shlex.join(words)


def whole_command(record: Mapping[str, Any]) -> list[str]:
    """The words of a shard's command without `--shard`."""
    return list(_without_shard(list(map(str, record.get("command", ())))))


def _names(words: Sequence[object]) -> set[str]:
    return {str(word).partition("=")[0] for word in words}


def _without_shard(words: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        if not is_value and not word.startswith(f"{_OPTION}=") and word != _OPTION:
            yield word
        is_value = word == _OPTION and not is_value
