"""Whether the hub can be reached: one quick probe a process, instead of retries by each library."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

HUB = "https://huggingface.co"
TIMEOUT = 1.5
"""Seconds for the probe, name resolution included."""


@cache
def hub_is_reachable() -> bool:
    """Return whether the hub, or the proxy in front of it, takes a connection in time."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    from urllib.request import getproxies  # it loads ssl, which files need not

    hub = urlsplit(os.environ.get("HF_ENDPOINT") or HUB)
    proxy = getproxies().get(hub.scheme)
    return _accepts(proxy if proxy and "//" in proxy else hub.geturl())


@contextlib.contextmanager
def cache_alone_if_offline() -> Iterator[None]:
    """Let `datasets` read only its cache while the hub can't be reached, without retries."""
    import datasets.config
    import huggingface_hub.constants

    if hub_is_reachable():
        yield
        return
    places: tuple[Any, ...] = (datasets.config, huggingface_hub.constants)
    before = [place.HF_HUB_OFFLINE for place in places]
    try:
        for place in places:
            place.HF_HUB_OFFLINE = True
        yield
    finally:
        for place, value in zip(places, before, strict=True):
            place.HF_HUB_OFFLINE = value


def _accepts(address: str) -> bool:
    """Connect in a thread: a name server that does not answer can't be given a time limit."""
    url = urlsplit(address)
    port = url.port or (443 if url.scheme == "https" else 80)
    connected = threading.Event()

    def connect() -> None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((str(url.hostname), port), TIMEOUT),
        ):
            connected.set()

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    return connected.is_set()
