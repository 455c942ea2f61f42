"""The record of a run that was done in shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewardkit.cluster.shard_commands import whole_command
from rewardkit.cluster.shard_set import FinishedShard

_PER_SHARD = ("backend", "versions", "hardware")


def merged_record(shards: Sequence[FinishedShard]) -> dict[str, Any]:
    """The record as one machine would have written it, with what each shard ran on."""
    first = shards[0].record
    sessions = [
        {"shard": str(shard.shard), **session}
        for shard in shards
        for session in shard.record.get("sessions", ())
    ]
    record = {name: value for name, value in first.items() if name != "shard"}
    return record | {
        "command": whole_command(first),
        "started": min(str(shard.record.get("started", "")) for shard in shards),
        "sessions": sorted(sessions, key=lambda session: str(session.get("started"))),
        "shards": {
            str(shard.shard): {
                name: shard.record[name] for name in _PER_SHARD if name in shard.record
            }
            for shard in shards
        },
    }
