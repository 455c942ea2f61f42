"""Score FILE into FOLDER with PROCESSES processes; the text "kill" kills the scoring, once.

    python killed.py FILE FOLDER PROCESSES MARK

The file MARK records the kill. The text "sleep" writes the id of the judging process to MARK.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rewardkit import Bounded, Sample, Verdict
from rewardkit.harness.results import data_files
from rewardkit.harness.results.data_files import open_source
from rewardkit.harness.runs.judging_thread import TaskVerifiers
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.jobs import FileJob
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.harness.scoring.sources import FileFields

HOME = os.getpid()


@dataclass(frozen=True)
class Deadly(Bounded):
    home: int
    mark: str

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        if text == "kill" and not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(self.home, signal.SIGKILL)
        if text == "sleep":
            Path(self.mark).write_text(str(os.getpid()))
            time.sleep(600)
        return Verdict.judged(text == sample.reference, answer=text)


class ResumeReporter(Reporter):
    def resumed(self, completions: int) -> None:
        sys.stdout.write(str(completions))


if __name__ == "__main__":
    file, folder, processes, mark = sys.argv[1:]
    data_files.CHUNK_BYTES = 1_500
    job = FileJob(
        source=open_source(Path(file)),
        name="t",
        verifiers=TaskVerifiers(Deadly(HOME, mark), None),
        columns=FileFields(("a", "b"), None, ("right", "right")),
    )
    plan = ScorePlan(job, {}, Path(folder), {"file": 1}, processes=int(processes))
    score(plan, ResumeReporter())
