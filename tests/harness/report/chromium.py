"""Headless Chromium, driven through its debugging pipe with the standard library alone."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]

# Chromium reads commands from descriptor 3 and writes to 4
LAUNCH = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"  # noqa: E501
CODES = {"Tab": 9, "Enter": 13, "ArrowDown": 40}
"""The codes of keys that Chromium acts on by their code alone."""

PATIENCE = 300.0
"""Seconds without an answer after which the browser counts as hung."""


def chromium() -> str:
    """Return the browser's path; fail the test with the command that installs one."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.fail("these tests need Chromium; run: sudo scripts/install-programs", pytrace=False)
    return path


class Browser:
    """A browser with one page, and the page's errors, requests and dialogs so far."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._number = 0
        self._buffer = b""

    def __enter__(self) -> Self:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, ours_out = (_high(end) for end in os.pipe())
        ours_in, theirs_out = (_high(end) for end in os.pipe())
        command = [
            sys.executable,
            "-c",
            LAUNCH,
            str(theirs_in),
            str(theirs_out),
            chromium(),
            *FLAGS,
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            command,
            pass_fds=(theirs_in, theirs_out),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._session: str | None = None
        targets = self.send("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return a command's result. Raise RuntimeError with the browser's error."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._result(self._number, method)

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file and wait until its script has painted the page."""
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait_for("performance.getEntriesByName('rewardkit:painted').length")

    def go(self, fragment: str) -> None:
        """Change the page's address and wait until the page has followed."""
        self.value(
            f"new Promise(done => {{ if (location.hash === {json.dumps(fragment)}) return done();"
            " addEventListener('hashchange', () => setTimeout(done), {once: true});"
            f" location.hash = {json.dumps(fragment)}; }})"
        )

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        found = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"]))
        return found["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Wait until the expression is true and return its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := self.value(expression):
                return value
            time.sleep(0.02)
        raise TimeoutError(f"{expression} stayed false; the page said {self.errors}")

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"Enter": "\r"}.get(key, key)
        typed = {"text": text} if len(text) == 1 else {}
        code = {"windowsVirtualKeyCode": CODES[key]} if key in CODES else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **typed, **code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that matches."""
        x, y = self.value(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            " one.scrollIntoView({block: 'nearest'}); const at = one.getBoundingClientRect();"
            " return [at.x + at.width / 2, at.y + at.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screen(self, width: int, height: int, scheme: str = "light") -> None:
        """Set the window's size and the preferred colour scheme."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path) -> None:
        """Save a screenshot as PNG."""
        found = self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def _result(self, number: int, method: str) -> dict[str, Any]:
        while True:
            message = self._read(method)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            self._note(message)

    def _read(self, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            piece = os.read(self._in, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError(f"Chromium didn't answer {method}")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.errors.append(json.dumps(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.errors.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(parameters["message"])


def _high(descriptor: int) -> int:
    """Move a descriptor above those that Chromium uses."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10)
    os.close(descriptor)
    return moved
