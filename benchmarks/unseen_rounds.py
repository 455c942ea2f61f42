"""Add a round of labelled answers to the unseen set, and record its first run.

    python benchmarks/unseen_rounds.py add ROWS.jsonl "what it is of"
    python benchmarks/unseen_rounds.py run

`add` freezes the rows under a hash before anything judges them. `run` judges the newest round with
our verifiers, once: a round that has a first run is never run again here. docs/unseen.md has the
protocol.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rewardkit.audit import audit
from rewardkit.audit.cases import Case
from rewardkit.audit.labelled import UNSEEN, StratumScore, read_set
from rewardkit.audit.measure import CaseResult

ROUNDS = Path(__file__).parent / "unseen" / "rounds.json"
FIELDS = (
    "id",
    "stratum",
    "verifier",
    "kwargs",
    "completion",
    "reference",
    "label",
    "round",
    "kind",
)


def rounds() -> list[dict[str, Any]]:
    """The rounds with their hashes and first runs."""
    found: list[dict[str, Any]] = json.loads(ROUNDS.read_text())
    return found


def save(entries: Sequence[dict[str, Any]]) -> None:
    """Write the rounds."""
    ROUNDS.write_text(json.dumps(entries, indent=1) + "\n")


def lines(number: int) -> list[str]:
    """The lines of a round as they are stored."""
    stored = gzip.decompress(UNSEEN.read_bytes()).decode().splitlines()
    return [line for line in stored if json.loads(line)["round"] == number]


def digest(some: Sequence[str]) -> str:
    """The hash of a round's lines."""
    return hashlib.sha256("\n".join(some).encode()).hexdigest()


def add(path: Path, of: str) -> None:
    """Append rows with stratum, verifier, completion, reference and label, and freeze them."""
    read_set(str(path))  # names the row that lacks a field
    known, number = rounds(), len(rounds()) + 1
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    new = [
        json.dumps(
            {
                name: ({"kwargs": {}, "kind": ""} | row | {"id": f"{number:02}-{place:04}"})[name]
                for name in FIELDS
            }
        )
        for place, row in enumerate(({**row, "round": number} for row in rows), 1)
    ]
    stored = gzip.decompress(UNSEEN.read_bytes()).decode()
    UNSEEN.write_bytes(gzip.compress((stored + "\n".join(new) + "\n").encode(), 9, mtime=0))
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    entry = {"round": number, "date": date, "of": of, "answers": len(new), "sha256": digest(new)}
    save([*known, entry])
    print(f"round {number}: {len(new)} answers, sha256 {entry['sha256']}")


def run() -> None:
    """Judge the newest round, and record what the verifiers did."""
    *others, newest = rounds()
    if "first_run" in newest:
        sys.exit(f"round {newest['round']} has its first run already: add a new round")
    some = lines(newest["round"])
    if digest(some) != newest["sha256"]:
        sys.exit(f"round {newest['round']} isn't as it was frozen: its hash differs")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "round.jsonl")
        path.write_text("\n".join(some) + "\n")
        judged: dict[str, tuple[Case, CaseResult]] = {}
        for verifier in dict.fromkeys(answer.verifier for answer in read_set(str(path))):
            result = audit(verifier, set=str(path), per_family=len(some))
            judged |= {case.id: (case, verdict) for case, verdict in result.judged}
        strata: dict[str, list[Any]] = {}
        for answer in read_set(str(path)):
            strata.setdefault(answer.stratum, []).append(judged[answer.case.id])
    scores = {name: asdict(StratumScore.of(name, pairs)) for name, pairs in strata.items()}
    counts = ("right", "found", "wrong", "accepted")
    newest["first_run"] = {name: {key: one[key] for key in counts} for name, one in scores.items()}
    save([*others, newest])
    print(json.dumps(newest["first_run"], indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["add"] and len(sys.argv) == 4:
        add(Path(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:] == ["run"]:
        run()
    else:
        sys.exit(__doc__)
