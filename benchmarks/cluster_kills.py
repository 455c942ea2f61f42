"""Kill actors, a node and the driver of a run on two Ray nodes, and compare with one machine.

    python benchmarks/cluster_kills.py score --rows 200000
    python benchmarks/cluster_kills.py eval --model examples/game24-tiny

The nodes are alone in a network namespace, on its loopback. Each scenario is one run: an actor, the
second node or the driver is killed with SIGKILL at a fifth, a half and four fifths of the rows, as
soon as an actor works there; a killed node is started again, a killed driver too. In the last
scenario the second node joins at a fifth. Prints a line a scenario: whether the rows (of an
evaluation: sorted) and the summary have the bytes of a run without Ray, and how many of its events
took place. The exit status is 1 if any run differs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ADDRESS = "127.0.0.2:6399"
MOMENTS = (0.2, 0.5, 0.8)
INSIDE = "INSIDE_NAMESPACE"
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_worker_niceness": "0",
    INSIDE: "1",
}


def enter_namespace() -> None:
    """Start this script again in a namespace of its own."""
    namespace = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
    os.environ.update(ENVIRONMENT)
    os.execvp(namespace[0], [*namespace, sys.executable, *sys.argv])


def start_node(number: int) -> None:
    """Start the head (2) or the second node (3), with two CPUs."""
    place = ["--head", "--port=6399", "--include-dashboard=false"]
    place = place if number == 2 else [f"--address={ADDRESS}"]
    subprocess.run(
        [
            *("ray", "start", *place, f"--node-ip-address=127.0.0.{number}", "--num-cpus=2"),
            "--object-store-memory=100000000",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


RAYLET = "raylet/raylet.*--node_ip_address=127.0.0."


def oldest(pattern: str, *more: str) -> int | None:
    """The id of the oldest process whose command matches."""
    found = subprocess.run(["pgrep", "-o", "-f", *more, pattern], capture_output=True, text=True)
    return int(found.stdout) if found.stdout.strip() else None


def actor_on(number: int, actor: str) -> int | None:
    """An actor of a node that is at work. Workers are children of their node's raylet."""
    raylet = oldest(f"{RAYLET}{number}")
    return None if raylet is None else oldest(f"ray::{actor}", "-P", str(raylet))


def restart_node() -> None:
    """Kill the second node, and start it again; on a busy machine, the start may time out."""
    raylet = oldest(f"{RAYLET}3")
    assert raylet is not None
    os.kill(raylet, signal.SIGKILL)
    for _ in range(3):
        time.sleep(1)
        with contextlib.suppress(subprocess.CalledProcessError):
            return start_node(3)
    raise SystemExit("the second node can't be started again")


class Run:
    """One run on the cluster, with its driver."""

    def __init__(self, command: list[str], actor: str, folder: Path, size: int) -> None:
        self._actor = actor
        self._command = [*command, "--ray", ADDRESS, "-o", str(folder)]
        self._rows = folder / "samples.jsonl"
        self._size = size
        self.events = 0
        self._start()

    def _start(self) -> None:
        self._driver = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)

    def kill_driver(self) -> None:
        """Kill the driver while an actor works, and start it again."""
        if self._working(2, 3):
            self._driver.kill()
            self._driver.wait()
            self._start()
            self.events += 1

    def kill_actor(self) -> None:
        """Kill an actor that works."""
        victim = self._working(3, 2)
        if victim:
            os.kill(victim, signal.SIGKILL)
            self.events += 1

    def kill_node(self) -> None:
        """Kill the second node while its actor works, and start it again."""
        if self._working(3):
            restart_node()
            self.events += 1

    def add_node(self) -> None:
        """Start the second node, and wait until an actor works there."""
        start_node(3)
        if self._working(3):
            self.events += 1

    def wait_for(self, share: float) -> None:
        """Wait until this share of the rows is written."""
        while self._driver.poll() is None and self._written() < share * self._size:
            time.sleep(0.02)

    def wait(self) -> int:
        """The driver's exit status."""
        return self._driver.wait()

    def _working(self, *nodes: int) -> int | None:
        """An actor at work on one of these nodes, or None once the driver has ended."""
        while self._driver.poll() is None:
            for number in nodes:
                if actor := actor_on(number, self._actor):
                    return actor
            time.sleep(0.02)
        return None

    def _written(self) -> int:
        return self._rows.stat().st_size if self._rows.exists() else 0


SCENARIOS: dict[str, tuple[tuple[float, ...], Callable[[Run], None]]] = {
    "no kill": ((), Run.kill_driver),
    "an actor killed": (MOMENTS, Run.kill_actor),
    "a node killed": (MOMENTS, Run.kill_node),
    "the driver killed": (MOMENTS, Run.kill_driver),
    "a node joins late": (MOMENTS[:1], Run.add_node),
}
"""What happens at which shares of the rows."""


@contextlib.contextmanager
def cluster(*, late: bool) -> Iterator[None]:
    """Both nodes, or the head alone; ended afterwards."""
    start_node(2)
    if not late:
        start_node(3)
    try:
        yield
    finally:
        subprocess.run(["ray", "stop", "--force"], capture_output=True, check=False)


def same(kind: str, folder: Path, expected: Path) -> bool:
    """Whether two runs have the same rows and the same summary."""
    rows = [(one / "samples.jsonl").read_bytes() for one in (folder, expected)]
    if kind == "eval":
        rows = [b"\n".join(sorted(one.split(b"\n"))) for one in rows]
    summaries = [(one / "summary.json").read_bytes() for one in (folder, expected)]
    return rows[0] == rows[1] and summaries[0] == summaries[1]


def write_completions(path: Path, rows: int) -> None:
    """Write completions of about 200 bytes, four for each problem."""
    with path.open("w") as file:
        for number in range(rows):
            text = "so " * 40 + f"the answer is \\boxed{{{number % 9}}}"
            row = {"id": f"p{number // 4}", "completion": text, "gold": "3"}
            file.write(json.dumps(row) + "\n")


def command_of(arguments: argparse.Namespace, folder: Path) -> tuple[list[str], str]:
    """The command without folder and address, and the title of an actor at work."""
    start = [sys.executable, "-m", "rewardkit", arguments.kind]
    if arguments.kind == "score":
        write_completions(folder / "rows.jsonl", arguments.rows)
        file = str(folder / "rows.jsonl")
        more = ["--verifier", "math", "--reference-field", "gold", "--quiet"]
        return [*start, file, *more], "JudgingActor.judge"
    more = ["--task", "game24", "--model", arguments.model, "--backend", arguments.backend]
    more += ["-n", "4", "--temperature", "0.8", "--limit", str(arguments.limit)]
    more += ["--max-tokens", str(arguments.max_tokens), "--quiet"]
    for pair in arguments.backend_arg:
        more += ["--backend-arg", pair]
    return [*start, *more], "EngineActor.generate"


def main() -> None:
    """Print a line a scenario."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=["score", "eval"])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--model", default="examples/game24-tiny")
    parser.add_argument("--backend", default="transformers")
    parser.add_argument("--backend-arg", action="append", default=[])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--only", help="the scenarios whose name holds this text")
    arguments = parser.parse_args()
    if not os.environ.get(INSIDE):
        enter_namespace()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command, actor = command_of(arguments, folder)
        one = folder / "one"
        subprocess.run([*command, "-o", str(one)], check=True, stdout=subprocess.DEVNULL)
        size = (one / "samples.jsonl").stat().st_size
        print(f"{sum(1 for _ in (one / 'samples.jsonl').open('rb')):,} rows", flush=True)
        different = False
        for number, (title, (shares, event)) in enumerate(SCENARIOS.items()):
            if arguments.only and arguments.only not in title:
                continue
            start = time.monotonic()
            result = folder / f"run{number}"
            with cluster(late=title == "a node joins late"):
                run = Run(command, actor, result, size)
                for share in shares:
                    run.wait_for(share)
                    event(run)
                status = run.wait()
            outcome = "same" if status == 0 and same(arguments.kind, result, one) else "DIFFERENT"
            events = f"{run.events} of {len(shares)} events"
            record = json.loads((result / "run.json").read_text())
            sessions = [session.get("cluster") for session in record["sessions"]]
            seconds = time.monotonic() - start
            print(f"{title}: {outcome}, {events}, {seconds:.0f} s, {sessions}", flush=True)
            different = different or outcome != "same"
    raise SystemExit(different)


if __name__ == "__main__":
    main()
