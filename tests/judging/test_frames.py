"""Frames arrive whole or not at all, whatever the other end writes."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator

import pytest

from rewardkit.judging.frames import HEADER, FrameChannel, FrameError, child_output

LIMIT = 1000


class Ends:
    """A channel that reads under a limit, and the descriptor that feeds it."""

    def __init__(self) -> None:
        self.readable, self.feed = os.pipe()
        self.reader = FrameChannel(self.readable, limit=LIMIT)
        self.writer = FrameChannel(self.feed)
        self._descriptors = {self.readable, self.feed}

    def close(self, *descriptors: int) -> None:
        for descriptor in descriptors or tuple(self._descriptors):
            self._descriptors.discard(descriptor)
            os.close(descriptor)


@pytest.fixture
def ends() -> Iterator[Ends]:
    both = Ends()
    yield both
    both.close()


def test_values_arrive_in_order(ends: Ends) -> None:
    for content in (b"", b"text", b"12"):
        ends.writer.send(content)
    assert [ends.reader.receive(1.0) for _ in range(3)] == [b"", b"text", b"12"]


def test_a_frame_larger_than_a_pipe_holds_arrives(ends: Ends) -> None:
    reader = FrameChannel(ends.readable)
    value = os.urandom(2**20)
    thread = threading.Thread(target=ends.writer.send, args=(value,))
    thread.start()
    assert reader.receive(30.0) == value
    thread.join()


def test_a_frame_that_nobody_takes_is_given_up(ends: Ends) -> None:
    os.set_blocking(ends.feed, False)
    with pytest.raises(TimeoutError, match=r"^no complete frame was taken in time$"):
        ends.writer.send(bytes(2**20), 0.05)


def test_a_frame_over_the_limit_is_refused_before_it_is_read(ends: Ends) -> None:
    os.write(ends.feed, HEADER.pack(2**60))
    with pytest.raises(FrameError, match="over the limit of 1,000"):
        ends.reader.receive(1.0)


def test_the_limit_itself_is_allowed(ends: Ends) -> None:
    ends.writer.send(b"x" * LIMIT)
    assert ends.reader.receive(1.0) == b"x" * LIMIT


def test_a_part_of_a_frame_is_kept_until_the_rest_arrives(ends: Ends) -> None:
    frame = HEADER.pack(4) + b"text"
    for part in (frame[:3], frame[3:10], frame[10:-1]):
        os.write(ends.feed, part)
        with pytest.raises(TimeoutError, match=r"^no complete frame"):
            ends.reader.receive(0.0)
    os.write(ends.feed, frame[-1:])
    assert ends.reader.receive(1.0) == b"text"


@pytest.mark.parametrize("written", [b"", b"abc", HEADER.pack(100) + b"abc"])
def test_a_closed_end_is_noticed(ends: Ends, written: bytes) -> None:
    os.write(ends.feed, written)
    ends.close(ends.feed)
    with pytest.raises(EOFError, match=r"^the other end is closed$"):
        ends.reader.receive()


def test_the_output_of_a_child_goes_to_standard_error_or_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert child_output() == 2

    def closed(descriptor: int) -> None:
        raise OSError(f"{descriptor} is closed")

    with monkeypatch.context() as patched:  # pytest calls it, too
        patched.setattr(os, "fstat", closed)
        assert child_output() == subprocess.DEVNULL
