"""The shapes that a plugin implements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rewardkit.records import Completion, Sample, Sampling, Verdict

Judged = Verdict | bool | float


class Verifier(Protocol):
    """Reads the answer in `text`, reads the reference, compares. A plain function is enough.

    Parameters of a verifier are keyword-only arguments of the function, or fields of a class
    whose instances are called.
    """

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        """The verdict on `text`, as one, as a bool, or as a score in [0, 1]."""
        ...


@runtime_checkable
class QuickVerifier(Protocol):
    """A verifier that decides some texts in bounded time, in the caller's own process.

    `quick` must return within milliseconds whatever the text holds; None hands the text to a
    worker, where `__call__` runs under the deadline.
    """

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """The verdict on `text`, or None where it would take long."""
        ...

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        """The verdict on `text`, however long it takes."""
        ...


@runtime_checkable
class PreparedVerifier(Protocol):
    """A verifier with start-up work (imports, tables), done in a worker before any clock runs."""

    def prepare(self) -> None:
        """Do the start-up work."""
        ...


@runtime_checkable
class StagedVerifier(Protocol):
    """A verifier of several parts, which tells what they decided as they do.

    Where a text passes a limit on the way, the last that was told is its verdict.
    """

    def stages(self, text: str, sample: Sample, /) -> Iterator[Verdict]:
        """The verdict so far, undecided parts out of time; the last one is that of `__call__`."""
        ...

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        """The verdict on `text`, however long it takes."""
        ...


class Bounded:
    """The base of verifiers whose cost is bounded by construction: they need no worker.

    Subclass it only for code that is linear in the text's length and calls nothing that isn't.
    """

    def quick(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict itself: `__call__` is bounded."""
        return self(text, sample)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict on `text`."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat; `role` is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to the engine: `text` as rendered, and its token ids where we tokenise."""

    text: str
    token_ids: tuple[int, ...] = ()
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One completion to draw: its key in the run, its prompt and its own seed."""

    key: str
    prompt: Prompt
    seed: int


class Backend(Protocol):
    """An engine. Construction is light; `start` loads the weights."""

    @property
    def max_model_len(self) -> int | None:
        """Tokens of prompt and completion together, where the engine's limit is known."""
        ...

    def render(self, messages: Sequence[Message]) -> Prompt:
        """The prompt exactly as it will be sent."""
        ...

    def start(self, requests: int, longest: int) -> None:
        """Load the weights, for so many requests of at most `longest` tokens each, prompt
        and completion together."""
        ...

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as it finishes, in any order."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Name, version, arguments and device, for the run's record."""
        ...

    def fingerprint(self) -> Mapping[str, str]:
        """Hashes of what decides the output: weights, tokenizer, chat template."""
        ...

    def close(self) -> None:
        """Release the engine and its memory."""
        ...


class Task(Protocol):
    """Problems, how to ask them and who judges the replies.

    Optional: `wording`, a `rewardkit.harness.prompts.wording.TaskWording`, its words for the prompt
    strategies.
    """

    @property
    def name(self) -> str:
        """What users type."""
        ...

    @property
    def prompt(self) -> str:
        """The name of the default prompt."""
        ...

    @property
    def max_tokens(self) -> int:
        """The default limit of a completion's length."""
        ...

    @property
    def group_by(self) -> tuple[str, ...]:
        """Columns by which accuracy is also reported apart."""
        ...

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """The samples of `split` (None: the default one), from the hub or the file `data`."""
        ...

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """One row of a data file, the one at `index`, as a sample."""
        ...

    def verifier(self, reading: str | None = None) -> Verifier:
        """The strict verifier, in the answer style that the prompt asked for."""
        ...

    def flexible(self) -> Verifier | None:
        """The verifier that forgives form, or None where the task has no such reading."""
        ...

    def perfect(self, sample: Sample) -> str:
        """A completion that is right by construction, for `rewardkit check`."""
        ...


@runtime_checkable
class SizedTask(Protocol):
    """A task that generates its problems, as many as are asked for."""

    def sized(self, split: str | None, count: int) -> Task:
        """The same task with at least `count` problems in this split (None: the default one)."""
        ...
