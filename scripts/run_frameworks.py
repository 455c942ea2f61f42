"""Run the tests of the adapters with the real trainers and harnesses.

    scripts/frameworks verl slime       # these
    scripts/frameworks --light          # those that CI runs; says which it leaves out
    scripts/frameworks --newest         # all that are on PyPI, in their newest release; run weekly

tests/frameworks/NAME.txt lists what a host adds to the packages of this Python, with exact
versions; tests/frameworks/hosts/host_NAME.py are its tests. Lines in the comments of NAME.txt:

    light               CI runs it
    source: URL COMMIT  the host is not on PyPI; --sources FOLDER has checkouts of such repositories
    python: 3.12        it needs that Python, and all its packages in an environment of its own

Environments are kept in $REWARDKIT_FRAMEWORKS, else in .cache/frameworks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import sysconfig
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT, CalledProcessError, run

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "tests" / "frameworks"
TESTS = PINS / "hosts"
CACHE = Path(os.environ.get("REWARDKIT_FRAMEWORKS") or ROOT / ".cache" / "frameworks")


@dataclass(frozen=True)
class Host:
    """A trainer or a harness, as its file of pins describes it."""

    name: str
    light: bool
    python: str | None
    source: tuple[str, str] | None
    pins: str

    @property
    def package(self) -> str | None:
        """Its name on PyPI; None where its pins don't have it."""
        own = re.search(rf"^({re.sub('_', '[-_]', self.name)})==", self.pins, re.MULTILINE)
        return own[1] if own else None

    @property
    def environment(self) -> Path:
        """The folder of its environment; other pins or another Python give another."""
        identity = "\n".join((self.pins, sys.prefix, sys.version))
        return CACHE / f"{self.name}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def read_host(path: Path) -> Host:
    """Read a file of pins."""
    pins = path.read_text(encoding="utf-8")
    python = re.search(r"^# python: (\S+)$", pins, re.MULTILINE)
    source = re.search(r"^# source: (\S+) (\w+)$", pins, re.MULTILINE)
    return Host(
        path.stem,
        light=bool(re.search(r"^# light$", pins, re.MULTILINE)),
        python=python[1] if python else None,
        source=(source[1], source[2]) if source else None,
        pins=pins,
    )


def install(host: Host) -> Path:
    """Return the host's Python, after making its environment where there is none."""
    folder = host.environment
    done = folder / "installed"
    if done.exists():
        return folder / "bin" / "python"
    python = make_environment(host, folder)
    if host.python or re.search(r"^[^#\s]", host.pins, re.MULTILINE):
        pip_install(python, "--no-deps", "-r", str(PINS / f"{host.name}.txt"))
    if host.python:
        pip_install(python, "--no-deps", "-e", str(ROOT))
    done.touch()
    return python


def install_newest(host: Host) -> Path:
    """Return the Python of a new environment with the host's newest release."""
    python = make_environment(host, CACHE / f"{host.name}-newest")
    own = ["pytest", "-e", str(ROOT)] if host.python else []
    pip_install(python, "--upgrade", str(host.package), *own)
    script = f"import importlib.metadata as m; print(m.version({host.package!r}))"
    version = run([str(python), "-c", script], check=True, stdout=PIPE, text=True).stdout.strip()
    print(f"{host.name}: the newest release for this Python is {version}", flush=True)
    return python


def make_environment(host: Host, folder: Path) -> Path:
    """Return the Python of an empty environment; without a version of its own it adds to ours."""
    base = f"python{host.python}" if host.python else sys.executable
    run([base, "-m", "venv", "--clear", str(folder)], check=True)
    if not host.python:
        purelib = Path(sysconfig.get_path("purelib"))
        inner = purelib.relative_to(sys.prefix)
        (folder / inner / "outer.pth").write_text(f"{purelib}\n")
    return folder / "bin" / "python"


def pip_install(python: Path, *arguments: str) -> None:
    """Install packages into an environment."""
    run([str(python), "-m", "pip", "install", "--quiet", *arguments], check=True)


def checkout(host: Host, sources: Path | None) -> list[str]:
    """Return the host's source as a list of import paths, after cloning it where needed."""
    if host.source is None:
        return []
    url, commit = host.source
    repository = url.rpartition("/")[2]
    if sources is not None:
        return [str(sources / repository)]
    folder = CACHE / f"{repository}-{commit}"
    if not folder.exists():
        run(["git", "clone", "--quiet", url, str(folder)], check=True)
        run(["git", "-C", str(folder), "checkout", "--quiet", commit], check=True)
    return [str(folder)]


def passes_tests(
    host: Host,
    installed: Callable[[Host], Path],
    sources: Path | None,
    verify_dev: Path | None,
) -> bool:
    """Install a host and run its tests; return whether they pass."""
    start = time.monotonic()
    try:
        python = installed(host)
        paths = [*checkout(host, sources), str(ROOT), str(TESTS)]
    except CalledProcessError as error:
        print(f"{host.name}: NOT INSTALLED: {error}", flush=True)
        return False
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    if verify_dev is not None:
        environment["VERIFY_DEV"] = str(verify_dev)
    command = [
        *(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"),
        *("-o", "addopts=--import-mode=importlib", "-o", "filterwarnings=default"),
        *("--disable-warnings", "--confcutdir", str(TESTS)),
        str(TESTS / f"host_{host.name}.py"),
    ]
    done = run(
        command, cwd=ROOT, env=environment, check=False, stdout=PIPE, stderr=STDOUT, text=True
    )
    outcome = "FAILED" if done.returncode else "passed"
    print(f"{done.stdout}{host.name}: {outcome} in {time.monotonic() - start:.0f} s", flush=True)
    return done.returncode == 0


def main() -> int:
    """Run the tests of the hosts that are named; 1 where some fail."""
    hosts = {path.stem: read_host(path) for path in sorted(PINS.glob("*.txt"))}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*hosts, []], metavar="NAME")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--newest", action="store_true", help="without the pins")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verify-dev", type=Path, help="its rows are further cases")
    options = parser.parse_args()
    on_pypi = [name for name, host in hosts.items() if host.package]
    light = [name for name, host in hosts.items() if host.light]
    names = options.names or (on_pypi if options.newest else light)
    if not (options.names or options.light or options.newest):
        parser.error(f"name hosts, --light or --newest; there are {', '.join(hosts)}")
    if options.newest and (others := sorted(set(names) - set(on_pypi))):
        parser.error(f"not on PyPI under their own name: {', '.join(others)}")
    installed = install_newest if options.newest else install
    with ThreadPoolExecutor(options.jobs) as executor:
        runs = [
            executor.submit(
                passes_tests, hosts[name], installed, options.sources, options.verify_dev
            )
            for name in names
        ]
    failed = [name for name, ran in zip(names, runs, strict=True) if not ran.result()]
    if options.newest:
        print(f"broken in their newest release: {', '.join(failed) or 'none'}")
    if options.light and (others := [name for name in hosts if name not in names]):
        print(f"not run: {', '.join(others)}; they are run by hand, see docs/guides/frameworks")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
