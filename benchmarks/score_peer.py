"""Judge a file of {completion, reference} with math-verify, in a loop or in a pool of processes.

python benchmarks/score_peer.py FILE.jsonl PROCESSES
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import sys
from pathlib import Path


def grade(line: str) -> bool:
    """Return whether the boxed answer equals the reference, as TRL's accuracy reward does."""
    from math_verify import LatexExtractionConfig, parse, verify

    row = json.loads(line)
    boxed = [LatexExtractionConfig(boxed_match_priority=0)]
    return bool(verify(parse(f"${row['reference']}$"), parse(row["completion"], boxed)))


def main() -> None:
    """Print the number of right completions."""
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    processes = int(sys.argv[2])
    with Path(sys.argv[1]).open() as lines:
        if processes == 1:
            print(sum(map(grade, lines)))
            return
        with multiprocessing.Pool(processes) as pool:
            print(sum(pool.imap(grade, lines, chunksize=100)))


if __name__ == "__main__":
    main()
