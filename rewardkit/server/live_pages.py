"""Live pages on loopback: a table of all runs below a folder, and the report of each."""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections import OrderedDict
from pathlib import Path

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
    content_policy,
    html_template,
    page_style,
    render,
)
from rewardkit.harness.report.runs import find_shown, read_runs, run_start
from rewardkit.harness.report.typesetting import latex_library, markdown_library
from rewardkit.harness.store.find_runs import short_names
from rewardkit.harness.store.notes import NOTES, NoteTags, NoteText, SampleNote, write_note
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.printable import printable
from rewardkit.redaction import redact
from rewardkit.server.access import LoopbackMiddleware
from rewardkit.server.live_runs import LiveRun, folders_below, stamp_of
from rewardkit.server.requests import read_body

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
        except (RewardkitError, OSError) as error:
            text = f"{run.name} has no report yet: {printable(redact(str(error)))}"
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
            return PlainTextResponse(printable(redact(str(error))), 500)
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
