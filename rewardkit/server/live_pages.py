"""Live pages on loopback: a table of all runs below a folder, and the report of each."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from rewardkit.errors import RewardkitError, UsageError
from rewardkit.harness.metrics.metric import SHARES, Metric
from rewardkit.harness.report.page import (
    LivePage,
    allowed,
    content_policy,
    html_template,
    latex_library,
    markdown_library,
    page_style,
    render,
)
from rewardkit.harness.report.runs import TRAIN_LOG, find_shown, read_runs, run_start
from rewardkit.harness.store.documents import (
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
from rewardkit.harness.store.run_folder import (
    LOCK,
    REPORT,
    RUN,
    SUMMARY,
    RunFolder,
    natural,
    short_names,
)
from rewardkit.harness.store.sample_row import SAMPLES
from rewardkit.printable import printable
from rewardkit.redaction import redact
from rewardkit.server.access import LoopbackMiddleware
from rewardkit.server.requests import read_body

TRAINING = "training.json"

DEEPEST = 6
"""Maximum depth of a run below the folder."""

IDLE_SECONDS = 120
"""Seconds without a change after which a run that no process locks counts as unfinished."""

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a folder, each with its time of change and its size."""


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
    """Why the run failed or the folder can't be read, without secrets."""


class _Settings(msgspec.Struct):
    task: str
    trainer: Any = None


class _Fingerprint(msgspec.Struct):
    settings: _Settings


class _Session(msgspec.Struct):
    model: str
    started: str
    ended: str | None = None
    steps: int | None = None


class _Training(msgspec.Struct):
    """What the table reads in training.json."""

    fingerprint: _Fingerprint
    sessions: Annotated[list[_Session], msgspec.Meta(min_length=1)]


class _LogEntry(msgspec.Struct):
    """What the table reads in an entry of train_log.json."""

    step: int
    evaluation: dict[str, dict[str, Any]]


def folders_below(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs and trainings, in natural order; symbolic links are not followed.

    The evaluations inside a training belong to it.
    """
    for name, inside, files in os.walk(folder):  # leaves out what it can't read
        path = Path(name)
        is_shown = not {RUN, SAMPLES, TRAINING}.isdisjoint(files)
        if is_shown:
            yield path
        if is_shown or len(path.relative_to(folder).parts) == DEEPEST:
            inside.clear()
        inside.sort(key=natural)


def stamp_of(folder: Path, levels: int = 2) -> Stamp:
    """The files that a report reads, at most `levels` folders deep, without checkpoints."""
    found: list[tuple[str, int, int]] = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return ()
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                if levels and not entry.name.startswith("checkpoint-"):
                    found += stamp_of(Path(entry.path), levels - 1)
            elif entry.name not in (LOCK, REPORT) and not entry.name.endswith(".part"):
                status = entry.stat()
                found.append((entry.path, status.st_mtime_ns, status.st_size))
        except OSError:
            continue  # replaced meanwhile, or a link in a circle
    return tuple(found)


def is_locked(folder: Path) -> bool:
    """Whether a process of this machine writes the run; only looks, since a lock would stop it."""
    try:
        inode = (folder / LOCK).stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(line.split()[5].endswith(f":{inode}") for line in locks.splitlines())


class _LineVerdict(msgspec.Struct):
    correct: bool | None = None


class _Line(msgspec.Struct):
    key: str
    task: str
    id: str
    verdict: _LineVerdict


def decode_line(line: bytes) -> _Line:
    """A row's fields; msgspec's decoder refuses lone surrogates and NaN, which rows may hold."""
    return msgspec.convert(json.loads(line), _Line)


@dataclass
class RowTally:
    """The verdicts of a samples.jsonl so far. Each line is read once."""

    path: Path
    origin: object = None
    offset: int = 0
    rows: dict[str, _Line] = field(default_factory=dict)

    def update(self, started: str) -> None:
        """Read the lines that are new; all of them if the run that began at `started` is new."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                origin = (started, status.st_ino)
                if self.origin != origin or status.st_size < self.offset:
                    self.origin, self.offset = origin, 0
                    self.rows.clear()
                file.seek(self.offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    row = decode_line(line)
                    self.offset += len(line)
                    self.rows[row.key] = row
        except FileNotFoundError:
            self.rows.clear()

    def accuracy(self, task: str) -> Metric | None:
        """The accuracy over the judged completions; None without any."""
        groups: dict[str, list[float]] = defaultdict(list)
        for row in self.rows.values():
            if row.task == task and row.verdict.correct is not None:
                groups[row.id].append(float(row.verdict.correct))
        return SHARES.mean(list(groups.values())) if groups else None


@dataclass
class LiveRun:
    """A folder of a run or a training, read again only when it changed."""

    path: Path
    name: str
    stamp: Stamp = ()
    is_running: bool = False
    rows: Sequence[LiveRow] = ()

    def __post_init__(self) -> None:
        self._tally = RowTally(self.path / SAMPLES)

    @property
    def identifier(self) -> str:
        """The name in addresses."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]

    def update(self) -> None:
        """Read what changed."""
        stamp = stamp_of(self.path)
        running = self._is_running(stamp)
        if (stamp, running) == (self.stamp, self.is_running) and self.rows:
            return
        self.is_running = running
        try:
            is_training = (self.path / TRAINING).is_file()
            self.rows = [self._training()] if is_training else list(self._run())
        except Exception as error:  # a folder of another program may hold anything
            self.rows = [LiveRow(task="", model="", state="unreadable", problem=_shown(error))]
        self.stamp = stamp

    def _is_running(self, stamp: Stamp) -> bool:
        written = {str(self.path / name) for name in (SAMPLES, TRAIN_LOG, RUN, TRAINING)}
        changed = (time_ns / 1e9 for file, time_ns, _ in stamp if file in written)
        return time.time() - max(changed, default=0) < IDLE_SECONDS or is_locked(self.path)

    def _state(self, *, ended: object) -> str:
        if ended:
            return "done"
        return "running" if self.is_running else "unfinished"

    def _run(self) -> Iterator[LiveRow]:
        record = read_run_record(self.path / RUN)
        session = (record.get("sessions") or [{}])[-1]
        # an interrupted session ends too, but writes no summary
        summarised = (self.path / SUMMARY).is_file()
        state = self._state(ended=session.get("ended") and summarised)
        started = str(record.get("started") or "")
        error = session.get("error")
        summary: Mapping[str, Any] = {}
        if state == "done" and not error:
            summary = read_run_summary(self.path / SUMMARY)
        else:
            self._tally.update(started)
        tasks = summary.get("tasks", {})
        counted = Counter(row.task for row in self._tally.rows.values())
        for task in dict.fromkeys([*record.get("tasks", {}), *tasks, *counted]):
            own = tasks.get(task)
            metrics = own["metrics"] if own else {}
            stored = metrics.get("accuracy")
            yield LiveRow(
                task=task,
                model=str(record.get("settings", {}).get("model", "")),
                accuracy=Metric(**stored) if stored else self._tally.accuracy(task),
                done=own["completions"] if own else counted[task],
                total=planned_completions(record.get("tasks", {}).get(task, {})),
                state="failed" if error or summary.get("failed") else state,
                started=started,
                problem=_shown(error or ""),
            )

    def _training(self) -> LiveRow:
        document = read_document(self.path / TRAINING)
        check_format(self.path / TRAINING, document)
        record, log = msgspec.convert(document, _Training), self.path / TRAIN_LOG
        entries = (
            msgspec.json.decode(log.read_bytes(), type=list[_LogEntry]) if log.is_file() else []
        )
        settings, session = record.fingerprint.settings, record.sessions[-1]
        trainer = settings.trainer if isinstance(settings.trainer, dict) else {}
        evaluated = [one for entry in entries for one in entry.evaluation.values()]
        accuracy = evaluated[-1].get("accuracy") if evaluated else None
        return LiveRow(
            task=f"{settings.task}, training",
            model=session.model,
            accuracy=msgspec.convert(accuracy, Metric) if accuracy else None,
            done=session.steps or (entries[-1].step if entries else 0),
            total=max(0, msgspec.convert(trainer.get("max_steps", 0), int)),
            state=self._state(ended=session.ended),
            started=session.started,
        )


def _shown(error: object) -> str:
    return printable(redact(str(error)))


TABLE_SECONDS, REPORT_SECONDS = 5, 30
"""Seconds after which a browser asks again for the table, and whether a report has changed."""

MOST_PAGES = 8
"""Rendered reports that are kept."""

LOOK_SECONDS = 1.0
"""Least time between two looks at the folder."""

TABLE = Path(__file__).with_name("live_runs.html.jinja")

LARGEST_NOTE = 200_000
"""Maximum number of bytes of a request that stores a note."""


class NoteRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `POST /runs/ID/notes`: the run's name on the page, and the sample's key."""

    run: str
    key: str
    note: NoteText
    tags: NoteTags


class LivePages:
    """What is below a folder, and the pages that are rendered from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: dict[Path, LiveRun] = {}
        self._looked = 0.0
        self._pages: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._lock = threading.Lock()

    def runs(self) -> list[LiveRun]:
        """The runs below the folder, read again where they changed."""
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

    def report(self, run: LiveRun, tag: str) -> str:
        """The report of a run; rendered unless the page with this tag is kept."""
        with self._lock:
            kept = self._pages.get(run.identifier)
            if kept is None or kept[0] != tag:
                runs = read_runs(find_shown([run.path]))
                kept = (tag, render(runs, live=_live(run, tag)))
            self._pages[run.identifier] = kept
            self._pages.move_to_end(run.identifier)
            while len(self._pages) > MOST_PAGES:
                self._pages.popitem(last=False)
            return kept[1]

    async def table(self, request: Request) -> Response:
        """`GET /`: the table of all runs."""
        runs = await run_in_threadpool(self.runs)
        tag = _hash(repr([(run.name, run.rows) for run in runs]))
        if known := _without_page(request, tag):
            return known
        page = html_template(TABLE).render(
            folder=str(self.folder),
            runs=runs,
            style=table_style(),
            script=table_script(),
            tag=tag,
            seconds=TABLE_SECONDS,
        )
        return _page(page.encode(errors="backslashreplace").decode(), tag, table_policy())

    async def one(self, request: Request) -> Response:
        """`GET /runs/ID`: the report of a run or a training."""
        runs = {run.identifier: run for run in await run_in_threadpool(self.runs)}
        run = runs.get(request.path_params["identifier"])
        if run is None:
            return PlainTextResponse("there is no such run; go back to the table at /", 404)
        tag = await run_in_threadpool(_tag, run)
        if known := _without_page(request, tag):
            return known
        try:
            page = await run_in_threadpool(self.report, run, tag)
        except Exception as error:  # a folder of another program may hold anything
            text = f"{run.name} has no report yet: {_shown(error)}"
            headers = {"Refresh": str(TABLE_SECONDS)}
            return PlainTextResponse(text, 503, headers=headers)
        libraries = [markdown_library(), latex_library()]  # the page's own policy may allow fewer
        return _page(page, tag, content_policy(libraries, _live(run, tag)))

    async def note(self, request: Request) -> Response:
        """`POST /runs/ID/notes`: store a note on a sample in the folder of its run."""
        body = await read_body(request, NoteRequest, largest=LARGEST_NOTE)
        try:
            await run_in_threadpool(self._store, request.path_params["identifier"], body)
        except (RewardkitError, OSError) as error:
            return PlainTextResponse(_shown(error), 500)
        return Response(status_code=204)

    def _store(self, identifier: str, body: NoteRequest) -> None:
        path = next((run.path for run in self.runs() if run.identifier == identifier), None)
        folders = find_shown([path]) if path else []
        folder = dict(zip(short_names(folders), folders, strict=True)).get(body.run)
        if folder is None:
            raise HTTPException(404, "there is no such run; go back to the table at /")
        started = run_start(RunFolder(folder).read_record())
        with self._lock:
            write_note(folder, body.key, SampleNote(body.note, body.tags, started))


def _live(run: LiveRun, tag: str) -> LivePage:
    address = f"/runs/{run.identifier}/notes"
    return LivePage(address, version=tag.partition("-")[0], seconds=REPORT_SECONDS)


def _tag(run: LiveRun) -> str:
    """The tag of a run's report: what changes with the run, then what changes with its notes."""
    stamp = stamp_of(run.path)
    notes = [file for file in stamp if Path(file[0]).name == NOTES]
    return f"{_hash(repr([file for file in stamp if file not in notes]))}-{_hash(repr(notes))}"


def _without_page(request: Request, tag: str) -> Response | None:
    """The answer to a browser that has the page already, or asks only whether it has changed."""
    if request.headers.get("if-none-match") == f'"{tag}"':
        return Response(status_code=304, headers=_headers(tag))
    return Response(headers=_headers(tag)) if request.method == "HEAD" else None


def _page(page: str, tag: str, policy: str) -> Response:
    policy = f"{policy}; frame-ancestors 'none'"
    return HTMLResponse(page, headers={**_headers(tag), "Content-Security-Policy": policy})


def _headers(tag: str) -> dict[str, str]:
    return {
        "ETag": f'"{tag}"',
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


@functools.cache
def table_style() -> str:
    """The style of the report with that of the table."""
    own = TABLE.with_name("live_runs.css").read_text(encoding="utf-8")
    return f"{page_style()}\n{own}"


@functools.cache
def table_script() -> str:
    """The script that loads the table again when it has changed."""
    return TABLE.with_name("live_runs.js").read_text(encoding="utf-8")


def table_policy() -> str:
    """The content security policy of the table: its style, its script, no network but itself."""
    return (
        f"default-src 'none'; script-src {allowed([table_script()])}; "
        f"style-src {allowed([table_style()])}; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def create_view(folder: Path) -> Starlette:
    """The application. UsageError if `folder` isn't a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} isn't a folder; name one that holds runs, such as runs/")
    pages = LivePages(folder.resolve())
    return Starlette(
        routes=[
            Route("/", pages.table),
            Route("/runs/{identifier}", pages.one),
            Route("/runs/{identifier}/notes", pages.note, methods=["POST"]),
        ],
        middleware=[Middleware(LoopbackMiddleware)],
    )
