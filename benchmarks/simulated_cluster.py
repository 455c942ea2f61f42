"""At how many judging cores does the driver of `score --ray` saturate? Simulate 2 to 1,000 actors.

    python benchmarks/simulated_cluster.py

The driver's code is the real one: it reads a file, hands out chunks, numbers, counts and writes the
rows. The cluster is simulated: an actor answers with the result of a chunk that was really judged,
after the time that this took. Time is the driver's processor time, plus Ray's part of each chunk
(--ray-bytes, --ray-offset: measured with real actors), and jumps ahead where the driver waits. So
other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any

from cluster_kills import write_completions

from rewardkit.cluster.judging_actors import InOrder, JudgingActors, SentChunk
from rewardkit.harness.engines.ray_cluster import versions
from rewardkit.harness.results.data_files import Chunk, JsonLines
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.jobs import ChunkResult, Job, pickled_result
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import (
    ScoreOutput,
    ScorePlan,
    VerifierChoice,
    plan_scoring,
)
from rewardkit.harness.scoring.sources import FileFields

ACTORS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
CHUNKS_AN_ACTOR = 6
LEAST_CHUNKS = 300


@dataclass
class Clock:
    """The driver's processor time, plus what was added."""

    added: float = 0.0
    start: float = field(default_factory=time.process_time)

    @property
    def busy(self) -> float:
        """Seconds that the driver computed."""
        return time.process_time() - self.start

    def now(self) -> float:
        """Seconds since the start."""
        return self.busy + self.added

    def reach(self, moment: float) -> None:
        """Jump to the moment, if it is ahead."""
        self.added += max(0.0, moment - self.now())


@dataclass(frozen=True)
class Recording:
    """The result of a judged chunk, pickled, and the seconds that judging took."""

    result: bytes
    seconds: float


@dataclass(eq=False)
class Reference:
    """A value that is there from a moment on."""

    ready: float
    value: Any


@dataclass
class Method:
    """A method of an actor."""

    remote: Callable[..., Any]


class Actor:
    """Answers with recorded results, each chunk after the one before."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._free = 0.0
        described = {"node": "simulated", "reads_file": cluster.offsets, **versions()}
        self.describe = Method(lambda: Reference(0.0, described))
        self.judge = Method(self._judge)

    def _judge(self, chunks: Sequence[SentChunk]) -> Reference:
        cluster = self._cluster
        cluster.clock.added += len(chunks) * cluster.ray_seconds
        judged = [cluster.recordings[sent.number % len(cluster.recordings)] for sent in chunks]
        seconds = sum(recording.seconds for recording in judged)
        self._free = max(self._free, cluster.clock.now()) + seconds
        return Reference(self._free, (seconds, [recording.result for recording in judged]))


class Exceptions:
    """The exceptions of Ray that the driver catches; none is raised."""

    RayError = RayActorError = type("RayError", (Exception,), {})


@dataclass
class Cluster:
    """What the driver uses of the module `ray`."""

    clock: Clock
    recordings: Sequence[Recording]
    actors: int
    offsets: bool
    ray_seconds: float
    """Ray's processor time in the driver for each chunk."""
    exceptions = Exceptions

    def available_resources(self) -> Mapping[str, int]:
        """All CPUs until the actors have started."""
        free, self.actors = self.actors, 0
        return {"CPU": free}

    def remote(self, **_: object) -> Callable[[type], Method]:
        """Return what makes actors."""
        return lambda _: Method(lambda *_: Actor(self))

    def wait(
        self, references: list[Reference], *, num_returns: int = 1, timeout: float = 0
    ) -> tuple[list[Reference], list[Reference]]:
        """The references that are ready; with a timeout, at least one."""
        if timeout:
            self.clock.reach(min(one.ready for one in references))
        now = self.clock.now()
        ready = (one for one in references if one.ready <= now)
        return list(itertools.islice(ready, num_returns)), []

    def get(self, reference: Reference) -> Any:
        """The value of a reference."""
        return reference.value


class Finished(Exception):
    """Ends a scoring before it summarises."""


@dataclass
class SimulatedSpread:
    """Judges the chunks of a scoring on a simulated cluster, and keeps the time."""

    cluster: Cluster
    chunks: int = 0
    completions: int = 0
    seconds: float = 0.0
    driver_seconds: float = 0.0

    def __call__(self, job: Job, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Yield each chunk with its result, in order."""
        actors = JudgingActors(self.cluster, b"", None, print)
        clock = self.cluster.clock = Clock()
        for pair in InOrder(self.cluster, actors, chunks).results():
            self.chunks += 1
            self.completions += pair[0].count
            yield pair
        self.seconds = clock.now()
        self.driver_seconds = clock.busy + self.chunks * self.cluster.ray_seconds
        raise Finished

    def describe(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}


@dataclass(frozen=True)
class RepeatedFile(JsonLines):
    """A file that is read several times over."""

    times: int = 1

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """The chunks of the file, again and again; the last is left out for its size."""
        for _ in range(self.times):
            yield from list(super().chunks(skip))[:-1]


def planned(file: Path, folder: Path) -> ScorePlan:
    """The plan of a scoring."""
    return plan_scoring(
        [file],
        VerifierChoice(verifier="math"),
        FileFields((), "gold", ()),
        ScoreOutput(output_dir=folder),
    )


def record(plan: ScorePlan, file: Path) -> list[Recording]:
    """Judge the file's chunks."""
    recordings = []
    job = replace(plan.job, workers=1)
    for chunk in RepeatedFile(file, 1).chunks(0):
        start = time.process_time()
        result = pickled_result(job, chunk)
        recordings.append(Recording(result, time.process_time() - start))
    return recordings[1:]  # the first one loads what the verifier needs


def row(plan: ScorePlan, file: Path, cluster: Cluster) -> str:
    """Score on the cluster; return a row of the table."""
    actors, seconds = cluster.actors, mean([one.seconds for one in cluster.recordings])
    times = -(-max(LEAST_CHUNKS, CHUNKS_AN_ACTOR * actors) // len(cluster.recordings))
    job = replace(plan.job, source=RepeatedFile(file, times))
    spread = SimulatedSpread(cluster)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Finished):
        score(replace(plan, job=job, output_dir=Path(folder, "run")), Reporter(), spread)
    share = spread.chunks * seconds / actors / spread.seconds
    return (
        f"| {'offsets' if cluster.offsets else 'bytes'} | {actors:,} "
        f"| {spread.completions / spread.seconds:,.0f} | {share:.0%} "
        f"| {spread.driver_seconds / spread.seconds:.0%} "
        f"| {1000 * spread.driver_seconds / spread.chunks:.2f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=50_000, help="completions that are judged")
    parser.add_argument("--ray-bytes", type=float, default=1.2, help="ms of Ray a chunk as bytes")
    parser.add_argument("--ray-offset", type=float, default=0.6, help="ms of Ray an offset")
    parser.add_argument("--actors", type=int, nargs="+", default=ACTORS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.jsonl")
        write_completions(file, arguments.rows)
        plan = planned(file, Path(folder, "unused"))
        recordings = record(plan, file)
        seconds = mean([one.seconds for one in recordings])
        print(f"{len(recordings)} chunks of 256 KiB judged, {1000 * seconds:.1f} ms each\n")
        print(
            "| the actor gets | actors | completions a second | actors busy | driver busy ", end=""
        )
        print("| driver, ms a chunk |\n|---|---|---|---|---|---|", flush=True)
        for offsets in (False, True):
            ray = (arguments.ray_offset if offsets else arguments.ray_bytes) / 1000
            for actors in arguments.actors:
                cluster = Cluster(Clock(), recordings, actors, offsets, ray)
                print(row(plan, file, cluster), flush=True)


if __name__ == "__main__":
    main()
