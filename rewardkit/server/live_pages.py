"""Live pages on loopback: a table of all runs below a folder, and the report of each."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from rewardkit.errors import RewardkitError, UsageError
from rewardkit.harness.report.page import (
    LivePage,
    allowed,
    compare_runs,
    content_policy,
    html_template,
    latex_library,
    markdown_library,
    page_style,
    render,
)
from rewardkit.harness.report.runs import (
    TRAIN_LOG,
    find_shown,
    read_runs,
    run_identifier,
    run_start,
)
from rewardkit.harness.results.completion_row import SAMPLES, read_rows_from
from rewardkit.harness.results.documents import (
    NOTES,
    NoteTags,
    NoteText,
    SampleNote,
    check_format,
    planned_completions,
    read_document,
    read_run_record,
    read_run_summary,
    write_note,
)
from rewardkit.harness.results.metric import SHARES, Metric
from rewardkit.harness.results.run_folder import (
    LOCK,
    REPORT,
    RUN,
    SUMMARY,
    RunFolder,
    natural,
    short_names,
)
from rewardkit.server.access import LoopbackMiddleware
from rewardkit.server.requests import read_body
from rewardkit.text.printable import printable
from rewardkit.text.redaction import redact

TRAINING = "training.json"

DEEPEST_FOLDER = 6
"""Maximum depth of a run in the folder."""

IDLE_SECONDS = 120
"""Seconds without a change after which a run that no process locks counts as unfinished."""

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a folder, with their times of change and their sizes."""


@dataclass(frozen=True, kw_only=True)
class LiveRow:
    """One task of a run, or a training; `done` and `total` are completions, or steps."""

    task: str
    model: str
    accuracy: Metric | None = None
    done: int = 0
    total: int = 0
    state: str
    started: str = ""
    problem: str = ""
    """Why the run failed, or why the folder can't be read; without secrets."""


def folders_below(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs and trainings, in natural order; symbolic links are not followed.

    The evaluations in the folder of a training belong to the training.
    """
    for name, inside, files in os.walk(folder):  # leaves out folders that it can't read
        path = Path(name)
        is_shown = not {RUN, SAMPLES, TRAINING, TRAIN_LOG}.isdisjoint(files)
        if is_shown:
            yield path
        if is_shown or len(path.relative_to(folder).parts) == DEEPEST_FOLDER:
            inside.clear()
        inside.sort(key=natural)


def stamp_of(folder: Path) -> Stamp:
    """The files of a report, at a depth of two folders at most, without checkpoints."""
    stamp: list[tuple[str, int, int]] = []
    for name, inside, files in os.walk(folder):  # leaves out folders that it can't read
        is_deepest = len(Path(name).relative_to(folder).parts) == 2
        inside[:] = sorted(
            child for child in inside if not (is_deepest or child.startswith("checkpoint-"))
        )
        for file in sorted(files):
            if file not in (LOCK, REPORT) and not file.endswith(".part"):
                path = os.path.join(name, file)
                with contextlib.suppress(OSError):  # replaced meanwhile, or a link in a circle
                    status = os.stat(path)
                    stamp.append((path, status.st_mtime_ns, status.st_size))
    return tuple(stamp)


def is_locked(folder: Path) -> bool:
    """Whether a process of this machine has locked the run; taking the lock would stop it."""
    try:
        inode = (folder / LOCK).stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(line.split()[5].endswith(f":{inode}") for line in locks.splitlines())


@dataclass
class LiveRun:
    """The folder of a run or a training, read again after changes."""

    path: Path
    name: str
    stamp: Stamp = ()
    is_running: bool = False
    rows: Sequence[LiveRow] = ()
    _verdicts: dict[str, tuple[str, str, bool | None]] = field(default_factory=dict)
    """For each key of samples.jsonl, the task, the problem and whether the completion is right."""
    _source: object = None
    """The start of the run, and the file of `_verdicts`."""
    _offset: int = 0
    """The number of bytes of the file that have been read; each line is read once."""

    @property
    def identifier(self) -> str:
        """The name of the run in addresses."""
        return run_identifier(self.path)

    def update(self) -> None:
        """Read the changes."""
        stamp = stamp_of(self.path)
        running = self._is_running(stamp)
        if (stamp, running) == (self.stamp, self.is_running) and self.rows:
            return
        self.is_running = running
        try:
            is_training = any((self.path / name).is_file() for name in (TRAINING, TRAIN_LOG))
            rows = [self._training()] if is_training else list(self._run())
            self.rows = msgspec.convert(rows, list[LiveRow])
        except Exception as error:  # a folder of another program may hold anything
            self.rows = [LiveRow(task="", model="", state="unreadable", problem=_as_text(error))]
        self.stamp = stamp

    def _is_running(self, stamp: Stamp) -> bool:
        written = {str(self.path / name) for name in (SAMPLES, TRAIN_LOG, RUN, TRAINING)}
        changed = (time_ns / 1e9 for file, time_ns, _ in stamp if file in written)
        return time.time() - max(changed, default=0) < IDLE_SECONDS or is_locked(self.path)

    def _state(self, *, ended: object) -> str:
        if ended:
            return "done"
        return "running" if self.is_running else "unfinished"

    def _run(self) -> Iterator[dict[str, Any]]:
        """The fields of a row for each task of a run."""
        record = read_run_record(self.path / RUN)
        session = (record.get("sessions") or [{}])[-1]
        # an interrupted session also ends, but writes no summary
        has_summary = (self.path / SUMMARY).is_file()
        state = self._state(ended=session.get("ended") and has_summary)
        started = str(record.get("started") or "")
        error = session.get("error")
        summary: Mapping[str, Any] = {}
        if state == "done" and not error:
            summary = read_run_summary(self.path / SUMMARY)
        else:
            self._read_new_rows(started)
        tasks = summary.get("tasks", {})
        counted = Counter(task for task, _, _ in self._verdicts.values())
        for task in dict.fromkeys([*record.get("tasks", {}), *tasks, *counted]):
            summarised = tasks.get(task)
            yield {
                "task": task,
                "model": str(record.get("settings", {}).get("model", "")),
                "accuracy": (
                    summarised["metrics"].get("accuracy") if summarised else self._accuracy(task)
                ),
                "done": summarised["completions"] if summarised else counted[task],
                "total": planned_completions(record.get("tasks", {}).get(task, {})),
                "state": "failed" if error or summary.get("failed") else state,
                "started": started,
                "problem": _as_text(error or ""),
            }

    def _read_new_rows(self, started: str) -> None:
        """Read the new lines; all lines if the run has started again."""
        samples = self.path / SAMPLES
        status = samples.stat() if samples.exists() else None
        source = (started, status and status.st_ino)
        if status is None or self._source != source or status.st_size < self._offset:
            self._source, self._offset = source, 0
            self._verdicts.clear()
        for end, row in read_rows_from(samples, self._offset):
            self._offset = end
            self._verdicts[row.key] = (row.task, row.id, row.verdict.correct)

    def _accuracy(self, task: str) -> Metric | None:
        groups: dict[str, list[float]] = defaultdict(list)
        for of_row, problem, correct in self._verdicts.values():
            if of_row == task and correct is not None:
                groups[problem].append(float(correct))
        return SHARES.mean(list(groups.values())) if groups else None

    def _training(self) -> dict[str, Any]:
        """The fields of a training's row, from record and log; a script writes only the log."""
        log = self.path / TRAIN_LOG
        entries = json.loads(log.read_bytes()) if log.is_file() else []
        tasks = dict.fromkeys(task for entry in entries for task in entry["evaluation"])
        sessions = [entry["training"] for entry in entries if "training" in entry] or [{}]
        row = {
            "task": ", ".join(tasks),
            "model": sessions[-1].get("model", ""),
            "total": sessions[-1].get("max_steps", 0),
            "started": sessions[0].get("started", ""),
        }
        # in a resumed training, an earlier entry has this key too
        ended: object = bool(entries) and "train_runtime" in entries[-1]["logs"]
        steps = entries[-1]["step"] if entries else 0
        if (self.path / TRAINING).is_file():
            record = read_document(self.path / TRAINING)
            check_format(self.path / TRAINING, record)
            settings, session = record["fingerprint"]["settings"], record["sessions"][-1]
            trainer = settings.get("trainer")
            total = trainer.get("max_steps", 0) if isinstance(trainer, dict) else 0
            row |= {"task": settings["task"], "total": max(0, total)}
            row |= {name: session[name] for name in ("model", "started")}
            ended, steps = session.get("ended"), session.get("steps") or steps
        evaluated = [metrics for entry in entries for metrics in entry["evaluation"].values()]
        return {
            **row,
            "task": f"{row['task']}, training",
            "accuracy": evaluated[-1].get("accuracy") if evaluated else None,
            "done": steps,
            "state": self._state(ended=ended),
        }


def _as_text(error: object) -> str:
    return printable(redact(str(error)))


TABLE_SECONDS, REPORT_SECONDS = 5, 30
"""Seconds after which a browser asks again for the table, and for changes of a report."""

MOST_PAGES = 8
"""Number of rendered reports in memory."""

LOOK_SECONDS = 1.0
"""Minimum time between two reads of the folder."""

TABLE = Path(__file__).with_name("live_runs.html.jinja")

NO_RUN = "there is no run at this address; go back to the table at /"

LARGEST_NOTE = 200_000
"""Maximum number of bytes of a request that stores a note."""


class NoteRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `POST /runs/ID/notes`: the run's name on the page, and the sample's key."""

    run: str
    key: str
    note: NoteText
    tags: NoteTags


class LivePages:
    """The runs in a folder, and their pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: dict[Path, LiveRun] = {}
        self._looked = 0.0
        self._lock = threading.Lock()
        self._render = functools.lru_cache(MOST_PAGES)(_render)

    def runs(self) -> list[LiveRun]:
        """The runs in the folder, read again after changes."""
        with self._lock:
            if time.monotonic() - self._looked > LOOK_SECONDS or not self._runs:
                self._runs = {path: self._run(path) for path in folders_below(self.folder)}
                for run in self._runs.values():
                    run.update()
                self._looked = time.monotonic()
            return list(self._runs.values())

    def _run(self, path: Path) -> LiveRun:
        name = path.relative_to(self.folder).as_posix() if path != self.folder else path.name
        return self._runs.get(path) or LiveRun(path, name)

    def _runs_at(self, identifiers: str) -> tuple[LiveRun, ...]:
        """The runs in an address, where commas separate them."""
        runs = {run.identifier: run for run in self.runs()}
        try:
            return tuple(runs[identifier] for identifier in identifiers.split(","))
        except KeyError:
            raise HTTPException(404, NO_RUN) from None

    async def table(self, request: Request) -> Response:
        """`GET /`: the table of all runs."""
        runs = await run_in_threadpool(self.runs)
        tag = _hash(repr([(run.name, run.rows) for run in runs]))
        style = f"{page_style()}\n{_beside_table('.css')}"
        script = _beside_table(".js")
        policy = (
            f"default-src 'none'; script-src {allowed([script])}; "
            f"style-src {allowed([style])}; connect-src 'self'; base-uri 'none'; "
            "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )
        page = functools.partial(
            html_template(TABLE).render,
            folder=str(self.folder),
            runs=runs,
            style=style,
            script=script,
            tag=tag,
            seconds=TABLE_SECONDS,
        )
        return await _answer(request, tag, policy, page)

    async def report(self, request: Request) -> Response:
        """`GET /runs/ID`: the report of a run or a training; `ID,ID` is a comparison."""
        identifiers = request.path_params["identifier"]
        paths = tuple(run.path for run in await run_in_threadpool(self._runs_at, identifiers))
        tag = await run_in_threadpool(_tag, paths)
        live = LivePage(f"/runs/{identifiers}/notes", tag.partition("-")[0], seconds=REPORT_SECONDS)

        def page() -> str:
            with self._lock:
                return self._render(paths, tag, live)

        libraries = [markdown_library(), latex_library()]  # the policy in the page may allow fewer
        try:
            return await _answer(request, tag, content_policy(libraries, live), page)
        except Exception as error:  # a folder of another program may hold anything
            names = ", ".join(path.name for path in paths)
            text = f"{names} has no report yet: {_as_text(error)}"
            return PlainTextResponse(text, 503, headers={"Refresh": str(TABLE_SECONDS)})

    async def note(self, request: Request) -> Response:
        """`POST /runs/ID/notes`: store a note on a sample in the folder of its run."""
        body = await read_body(request, NoteRequest, largest=LARGEST_NOTE)
        try:
            await run_in_threadpool(self._store, request.path_params["identifier"], body)
        except (RewardkitError, OSError) as error:
            return PlainTextResponse(_as_text(error), 500)
        return Response(status_code=204)

    def _store(self, identifier: str, body: NoteRequest) -> None:
        folders = find_shown([run.path for run in self._runs_at(identifier)])
        folder = dict(zip(short_names(folders), folders, strict=True)).get(body.run)
        if folder is None:
            raise HTTPException(404, NO_RUN)
        started = run_start(RunFolder(folder).read_record())
        with self._lock:
            write_note(folder, body.key, SampleNote(body.note, body.tags, started))


def _render(folders: tuple[Path, ...], tag: str, live: LivePage) -> str:
    """The report of runs; `tag` is the key of the cache."""
    shown = find_shown(folders)
    return render(read_runs(shown), compare_runs(shown), live)


def _tag(folders: tuple[Path, ...]) -> str:
    """The tag of a report: a hash of the runs, and a hash of their notes."""
    stamp = [file for folder in folders for file in stamp_of(folder)]
    notes = [file for file in stamp if Path(file[0]).name == NOTES]
    return f"{_hash(repr([file for file in stamp if file not in notes]))}-{_hash(repr(notes))}"


async def _answer(request: Request, tag: str, policy: str, page: Callable[[], str]) -> Response:
    """The page, unless the browser has it already or only asks for its tag."""
    headers = {
        "ETag": f'"{tag}"',
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if request.method == "HEAD":
        return Response(headers=headers)
    content = (await run_in_threadpool(page)).encode(errors="backslashreplace")
    headers["Content-Security-Policy"] = f"{policy}; frame-ancestors 'none'"
    return HTMLResponse(content, headers=headers)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


@functools.cache
def _beside_table(suffix: str) -> str:
    return TABLE.with_name(f"live_runs{suffix}").read_text(encoding="utf-8")


def create_view(folder: Path) -> Starlette:
    """The application. UsageError if `folder` isn't a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} isn't a folder; name a folder with runs, such as runs/")
    pages = LivePages(folder.resolve())
    return Starlette(
        routes=[
            Route("/", pages.table),
            Route("/runs/{identifier}", pages.report),
            Route("/runs/{identifier}/notes", pages.note, methods=["POST"]),
        ],
        middleware=[Middleware(LoopbackMiddleware)],
    )
