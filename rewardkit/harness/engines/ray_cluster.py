"""The connection to a Ray cluster, and the versions that its nodes must have."""

from __future__ import annotations

import contextlib
import os
import platform
import socket
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from rewardkit import __version__
from rewardkit.errors import BackendError, UsageError, needs_extra

AUTO = "auto"
THIS_MACHINE = "local"
"""The address of a cluster that starts on this machine."""
Actor = TypeVar("Actor")
_SECONDS_TO_ANSWER = 10.0
_REMEDY = (
    "`ray status` on the head node shows the address, and `--ray auto` starts a cluster on this "
    "machine"
)

# RFC 9113: a client begins with this text and an empty SETTINGS frame; a server answers with one
_FRAME_HEAD = 9
_SETTINGS = 4
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0])


@contextlib.contextmanager
def connect(address: str) -> Iterator[Any]:
    """Yield the module `ray`, connected to the cluster at HOST:PORT until the block ends.

    `auto` is the address in RAY_ADDRESS, or a cluster that starts on this machine. BackendError if
    no cluster answers, or if the cluster has another version of Ray or Python.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with needs_extra("ray", "--ray"):
        import ray
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS", THIS_MACHINE)
    if address != THIS_MACHINE:
        _check_answers(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray raises RuntimeError, ConnectionError, ValueError and its own
        cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise BackendError(
            f"the Ray cluster at {address} can't be used: {cause}. Ray and Python must have the "
            "same versions here and on its nodes; the port must be that of the head node, as "
            "`ray status` shows it; a cluster that asks for a token needs the same RAY_AUTH_TOKEN"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise BackendError if no Ray cluster answers: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"--ray {address!r} isn't HOST:PORT, such as 10.0.0.1:6379, or auto")
    try:
        with socket.create_connection((host, int(port)), timeout=_SECONDS_TO_ANSWER) as connection:
            is_ray = "RAY_USE_TLS" in os.environ or _speaks_http2(connection)
    except (OSError, OverflowError) as error:
        raise BackendError(f"no Ray cluster answers at {address}: {error}; {_REMEDY}") from error
    if not is_ray:
        raise BackendError(f"the server at {address} isn't a Ray cluster; {_REMEDY}")


def _speaks_http2(connection: socket.socket) -> bool:
    """Whether the server answers as Ray's gRPC does: with a SETTINGS frame of HTTP/2."""
    connection.sendall(_PREFACE)
    frame = b""
    try:
        while len(frame) < _FRAME_HEAD and (more := connection.recv(_FRAME_HEAD - len(frame))):
            frame += more
    except TimeoutError:
        return False
    return len(frame) == _FRAME_HEAD and frame[3] == _SETTINGS


def cause_of(error: BaseException) -> str:
    """The last line of the error's text: in an actor's traceback, the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:600] if lines else type(error).__name__


def versions() -> dict[str, str]:
    """The versions here that all nodes must have."""
    return {"rewardkit": __version__, "python": platform.python_version()}


def describe_node() -> dict[str, str]:
    """The name and the versions of the node where this process runs."""
    import ray

    return {"node": f"{platform.node()} ({ray.util.get_node_ip_address()})", **versions()}


def check_versions(node: Mapping[str, str]) -> None:
    """Raise BackendError if a node runs another version of rewardkit or Python."""
    for name, here in versions().items():
        if node[name] != here:
            raise BackendError(
                f"node {node['node']} has {name} {node[name]}, and this machine {here}; "
                "install the same version on all nodes"
            )


def ended_calls(ray: Any, calls: dict[Any, Actor]) -> Iterator[tuple[Actor, Any]]:
    """Remove the calls that have ended, and yield the actor and the reference of each."""
    if calls:
        ready, _ = ray.wait(list(calls), num_returns=len(calls), timeout=0)
        for reference in ready:
            yield calls.pop(reference), reference


def resources_of(ray: Any) -> str:
    """The numbers of CPUs and GPUs of the cluster, in words."""
    total, free = ray.cluster_resources(), ray.available_resources()
    counts = [
        f"{total.get(kind, 0):g} {kind}s, {free.get(kind, 0):g} of them free"
        for kind in ("CPU", "GPU")
    ]
    return f"the Ray cluster has {' and '.join(counts)}"
