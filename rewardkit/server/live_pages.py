"""Live pages on loopback: a table of all runs below a folder, and the report of each."""

from __future__ import annotations

import base64
import functools
import hashlib
import threading
import time
from collections import OrderedDict
from pathlib import Path

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from rewardkit.errors import RewardkitError, UsageError
from rewardkit.harness.report.page import content_policy, page_style, render
from rewardkit.harness.report.runs import find_shown, read_runs
from rewardkit.harness.report.typesetting import latex_library, markdown_library
from rewardkit.printable import printable
from rewardkit.redaction import redact
from rewardkit.server.access import LoopbackMiddleware
from rewardkit.server.live_runs import LiveRun, folders_below, stamp_of

TABLE_SECONDS, REPORT_SECONDS = 5, 30
"""Seconds after which a browser asks again for the table, and for the report of a running run."""

MOST_PAGES = 8
"""Rendered reports that are kept."""

LOOK_SECONDS = 1.0
"""Least time between two looks at the folder."""


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
                kept = (tag, render(read_runs(find_shown([run.path]))))
            self._pages[run.identifier] = kept
            self._pages.move_to_end(run.identifier)
            while len(self._pages) > MOST_PAGES:
                self._pages.popitem(last=False)
            return kept[1]

    async def table(self, request: Request) -> Response:
        """`GET /`: the table of all runs."""
        runs = await run_in_threadpool(self.runs)
        page = table_template().render(folder=str(self.folder), runs=runs, style=table_style())
        page = page.encode(errors="backslashreplace").decode()
        return _page(request, page, _hash(page), table_policy(), TABLE_SECONDS)

    async def one(self, request: Request) -> Response:
        """`GET /runs/ID`: the report of a run or a training."""
        runs = {run.identifier: run for run in await run_in_threadpool(self.runs)}
        run = runs.get(request.path_params["identifier"])
        if run is None:
            return PlainTextResponse("there is no such run; go back to the table at /", 404)
        seconds = REPORT_SECONDS if any(row.state == "running" for row in run.rows) else None
        tag = _hash(repr(await run_in_threadpool(stamp_of, run.path)))
        if request.headers.get("if-none-match") == f'"{tag}"':
            return Response(status_code=304, headers=_headers(tag, seconds))
        try:
            page = await run_in_threadpool(self.report, run, tag)
        except (RewardkitError, OSError) as error:
            text = f"{run.name} has no report yet: {printable(redact(str(error)))}"
            headers = {"Refresh": str(TABLE_SECONDS)}
            return PlainTextResponse(text, 503, headers=headers)
        libraries = [markdown_library(), latex_library()]  # the page's own policy may allow fewer
        return _page(request, page, tag, content_policy(libraries), seconds)


def _page(request: Request, page: str, tag: str, policy: str, seconds: int | None) -> Response:
    headers = _headers(tag, seconds)
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    policy = f"{policy}; frame-ancestors 'none'"
    return HTMLResponse(page, headers={**headers, "Content-Security-Policy": policy})


def _headers(tag: str, seconds: int | None) -> dict[str, str]:
    refresh = {"Refresh": str(seconds)} if seconds else {}
    return {
        "ETag": f'"{tag}"',
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        **refresh,
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


@functools.cache
def table_style() -> str:
    """The style of the report with that of the table."""
    own = Path(__file__).with_name("live_runs.css").read_text(encoding="utf-8")
    return f"{page_style()}\n{own}"


def table_policy() -> str:
    """The content security policy of the table: its style, no script and no network."""
    digest = base64.b64encode(hashlib.sha256(table_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@functools.cache
def table_template() -> jinja2.Template:
    """The table's HTML; all text from files is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("live_runs.html.jinja")


def create_view(folder: Path) -> Starlette:
    """The application. UsageError if `folder` isn't a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} isn't a folder; name one that holds runs, such as runs/")
    pages = LivePages(folder.resolve())
    return Starlette(
        routes=[Route("/", pages.table), Route("/runs/{identifier}", pages.one)],
        middleware=[Middleware(LoopbackMiddleware)],
    )
