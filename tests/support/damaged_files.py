"""Every damaged file that the commands are tried with, in one table."""

from __future__ import annotations

GARBLED = {
    "empty": b"",
    "a null byte": b"\x00",
    "UTF-16": b"\xff\xfe\x00",
    "null": b"null\n",
    "a list": b"[]\n",
    "a text": b'"text"\n',
    "a number": b"3\n",
    "no fields": b"{}\n",
    "cut short": b'{"a": \n',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "NaN": b'{"key": NaN, "completion": Infinity}\n',
    "a long number": b"9" * 5000 + b"\n",
    "half a surrogate": '{"\ud800": 1}\n'.encode("utf-8", "surrogatepass"),
    "a format alone": b'{"format": 1}\n',
    "terminal escapes": b'{"format": "\x1b]0;t\x07\x9b2J"}\n',
}
"""Contents that no file of rewardkit has, by what they are."""

RUN_FILES = ("run.json", "samples.jsonl", "summary.json")
USER_FILES = ("mine.toml", "mine.jinja", "recipe.toml", "rows.csv", "rows.parquet", "rows.jsonl")

SHARD_FILES = ("shard-1-of-2/run.json", "shard-2-of-2/samples.jsonl")
SWEEP_FILES = ("rows.jsonl/run.json", "rows.jsonl/samples.jsonl")

CHECKPOINT_DAMAGE = {
    "trainer_state.json": "empty",
    "model.safetensors": "cut",
    "optimizer.pt": "cut",
    "scheduler.pt": "cut",
    "rng_state.pth": "cut",
    "training_args.bin": "cut",
    "the weights": "missing",
    "the optimizer": "missing",
    "the scheduler": "missing",
    "a shard of the weights": "missing",
}
"""What a checkpoint of a training may lack, as test_damaged_checkpoints.py makes it."""

_NAMES = list(GARBLED)
DAMAGED_FILES: list[tuple[str, str]] = [
    *((file, damage) for file in RUN_FILES for damage in (*_NAMES[::2], "terminal escapes")),
    *((file, damage) for file in USER_FILES for damage in (*_NAMES[1::2], "a format alone")),
    *((file, damage) for file in SHARD_FILES + SWEEP_FILES for damage in _NAMES[::5]),
    *CHECKPOINT_DAMAGE.items(),
]
"""(file, damage) pairs; each is tried with every command that reads such a file."""
