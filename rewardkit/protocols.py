"""The protocols that plugins implement, and the values they exchange with an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rewardkit.errors import UsageError
from rewardkit.records import REFERENCE_COLUMNS, Completion, Sample, Sampling, Verdict

Judged = Verdict | bool | float


class Verifier(Protocol):
    """Read the answer in `text`, read the reference, compare. A plain function is enough.

    A verifier's parameters are keyword-only arguments of the function, or fields of a class whose
    instances are called.
    """

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        """Return a verdict on `text`, whether it is right, or a score in [0, 1]."""


@runtime_checkable
class QuickVerifier(Verifier, Protocol):
    """A verifier that decides some texts in bounded time, in the caller's own process.

    `quick` must return within milliseconds whatever the text holds. None sends the text to a
    worker, where `__call__` runs under the deadline.
    """

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict on `text`, or None if that would take long."""


@runtime_checkable
class PreparedVerifier(Protocol):
    """A verifier with start-up work (imports, tables), done before any deadline starts."""

    def prepare(self) -> None:
        """Do the start-up work."""


@runtime_checkable
class StagedVerifier(Verifier, Protocol):
    """A verifier of several parts that yields a verdict after each.

    When a text passes a limit on the way, the last verdict yielded counts.
    """

    def stages(self, text: str, sample: Sample, /) -> Iterator[Verdict]:
        """Yield the verdict so far, with undecided parts as `timeout`; the last is `__call__`'s."""


@runtime_checkable
class BatchVerifier(Verifier, Protocol):
    """A verifier that has batches judged elsewhere, within limits of its own.

    It is called in the caller's process, without the deadline of `rewardkit.verify_batch`.
    """

    def judge_batch(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts on texts with their samples, in order."""


@runtime_checkable
class CompositeVerifier(Protocol):
    """A verifier that combines the verdicts of others, its members.

    If a member is a `BatchVerifier`, each member judges by itself, within limits of its own.
    """

    @property
    def members(self) -> Mapping[str, Verifier]:
        """The verifiers by name."""

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        """Return the members that judge `text`, with what each reads of it."""

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        """Return the verdict that follows from those of the members."""


@runtime_checkable
class ExplainingVerifier(Protocol):
    """A verifier that explains its verdicts: `rewardkit verify --explain`."""

    def explain(self, text: str, sample: Sample, /) -> Sequence[tuple[str, str]]:
        """Return (label, value) pairs: how both sides were read, and what was compared."""


@runtime_checkable
class NotesReferences(Protocol):
    """A verifier that says what is remarkable about a row's reference: `rewardkit check --task`."""

    def notes(self, sample: Sample, /) -> Sequence[str]:
        """Return short remarks, the same words for all rows that share one."""


@runtime_checkable
class DeclaresThinking(Protocol):
    """A verifier that says how it reads thinking.

    "strip": it reads the text after the thinking; "keep": also thinking that no text follows;
    "whole": all of the text.
    """

    thinking: str | None


@runtime_checkable
class DeclaresDeadline(Protocol):
    """A verifier that says how many seconds a verdict may take, if the user sets no timeout."""

    deadline: float


@runtime_checkable
class DeclaresReference(Protocol):
    """A verifier that says whether a row must have a reference. For others it must."""

    needs_reference: bool


@runtime_checkable
class DeclaresForms(Protocol):
    """A verifier that names the answer forms it reads, as prompts name them; first its own."""

    reads: tuple[str, ...]


_DECLARATIONS = (
    *("thinking", "deadline", "needs_reference", "reads", "reads_list", "reference_columns"),
)


def with_declarations(wrapper: Any, verifier: object) -> Any:
    """Return `wrapper`, which calls `verifier`, with the attributes that the verifier declares."""
    for name in _DECLARATIONS:
        if hasattr(verifier, name):
            setattr(wrapper, name, getattr(verifier, name))
    return wrapper


def answer_forms(name: str, verifier: object) -> tuple[str, ...]:
    """Return the forms that the verifier declares. UsageError if `reads` isn't a tuple of names."""
    reads = getattr(verifier, "reads", ())
    if isinstance(reads, tuple | list) and all(isinstance(form, str) for form in reads):
        return tuple(reads)
    raise UsageError(
        f"verifier {name!r}: reads is {reads!r:.80}; it must be a tuple of names, such as "
        '("boxed", "answer")'
    )


def reads_list(verifier: object) -> bool:
    """Return whether several references are one for this verifier, a JSON list, all to be met.

    It, or one that it combines, says so with an attribute: `reads_list = True`. For others, one of
    the references must be met.
    """
    if getattr(verifier, "reads_list", False):
        return True
    members = verifier.members if isinstance(verifier, CompositeVerifier) else {}
    return any(map(reads_list, members.values()))


def needs_reference(verifier: Verifier, columns: Mapping[str, object]) -> bool:
    """Return whether a row must have a reference for this verifier.

    A verifier that reads none says so with an attribute: `needs_reference = False`.
    """
    return getattr(_verifier_of_row(verifier, columns), "needs_reference", True)


def reads_objects(verifier: Verifier, columns: Mapping[str, object]) -> bool:
    """Return whether a row's reference may be an object, which the verifier gets as its JSON.

    It may for a verifier whose reference is JSON (`reads_list`), and for one that needs none.
    """
    chosen = _verifier_of_row(verifier, columns)
    if isinstance(chosen, CompositeVerifier):
        return all(reads_objects(member, columns) for member in chosen.members.values())
    return getattr(chosen, "reads_list", False) or not needs_reference(chosen, columns)


def reference_columns(verifier: object) -> tuple[str, ...]:
    """Return the columns that may hold a row's reference where none is named, by preference.

    A verifier names columns of its own with an attribute: `reference_columns = ("schema",)`.
    """
    first, *others = REFERENCE_COLUMNS
    members = verifier.members.values() if isinstance(verifier, CompositeVerifier) else ()
    own = [getattr(one, "reference_columns", ()) for one in (verifier, *members)]
    return tuple(dict.fromkeys([first, *(name for names in own for name in names), *others]))


def _verifier_of_row(verifier: Any, columns: Mapping[str, object]) -> Any:
    """The verifier that a row names, where rows name theirs and it is known."""
    return (
        verifier.verifier_of(columns) or verifier if hasattr(verifier, "verifier_of") else verifier
    )


def verifier_for(reading: str, readings: Mapping[str, Verifier], task: str) -> Verifier:
    """The verifier for an answer style. UsageError for a style that the task doesn't read."""
    if reading not in readings:
        raise UsageError(
            f"the prompt asks for answers in the style {reading!r}, which task {task!r} doesn't "
            f"read; it reads {', '.join(sorted(readings))}"
        )
    return readings[reading]


def isolation_of(verifier: object) -> dict[str, str]:
    """Return {"isolation": LEVEL} if a verifier, or one that it combines, runs programs, else {}.

    It has a method `isolation_level`, which raises UsageError where programs can't be confined.
    """
    if hasattr(verifier, "isolation_level"):
        return {"isolation": verifier.isolation_level()}
    members = verifier.members.values() if isinstance(verifier, CompositeVerifier) else ()
    return next(filter(None, map(isolation_of, members)), {})


class Bounded:
    """The base class of verifiers whose cost is bounded, so that they need no worker.

    Subclass it only for code that is linear in the text's length and calls nothing that isn't.
    """

    def quick(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; `__call__` is bounded."""
        return self(text, sample)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")


def quick_verdict(verifier: Verifier, text: str, sample: Sample) -> Verdict | None:
    """Return the verdict of a verifier's `quick`; None if it has none."""
    quick = getattr(verifier, "quick", None)  # isinstance() of a protocol takes 10 µs
    verdict: Verdict | None = None if quick is None else quick(text, sample)
    return verdict


Tool = Mapping[str, Any]
"""A function that the model may call, as OpenAI writes it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat; `role` is "system", "user", "assistant" or "tool".

    `others` are further fields of the turn, such as `tool_calls` and `tool_call_id`.
    """

    role: str
    content: str
    others: Mapping[str, object] = field(default_factory=dict, hash=False)

    def as_json(self) -> dict[str, Any]:
        """Return the turn as chat templates, servers and TRL take it."""
        return {"role": self.role, "content": self.content, **self.others}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an engine gets: the rendered text, and its token ids if rewardkit tokenises it.

    `messages` and `tools` are what it is rendered from.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class Request:
    """A completion to generate: its key in the run, its prompt and its seed."""

    key: str
    prompt: Prompt
    seed: int


class Backend(Protocol):
    """An engine that generates. Construction is cheap; `start` loads the weights."""

    @property
    def max_model_len(self) -> int | None:
        """The engine's limit on the tokens of prompt and completion together; None if unknown."""

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        """Return the prompt exactly as it will be sent, with the tools that the model may call.

        UsageError if it can't show the tools.
        """

    def start(self, requests: int, longest: int) -> None:
        """Load the weights, for this number of requests of at most `longest` tokens each, prompt
        and completion together."""

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Yield each request with its completion when that is finished, in any order."""

    def describe(self) -> Mapping[str, object]:
        """Return name, version, arguments and device, for the run's record."""

    def fingerprint(self) -> Mapping[str, str]:
        """Return hashes of what decides the output: weights, tokenizer, chat template."""

    def close(self) -> None:
        """Release the engine and its memory."""


@runtime_checkable
class IgnoresOptions(Protocol):
    """A backend's constructor that names the options of an evaluation that it refuses."""

    ignored_options: Sequence[str]


class Task(Protocol):
    """Problems, their prompt, and the verifier of their completions.

    A task may have more: the members of `WordedTask`, `SizedTask`, `HubTask`, `FewshotTask`,
    `ConfiguredTask`, `RecordedTask`, `ShowsFigures`, `HasMeasures` and `ComparesAnswers`.
    """

    @property
    def name(self) -> str:
        """The name that users type."""

    @property
    def prompt(self) -> str:
        """The name of the default prompt."""

    @property
    def max_tokens(self) -> int:
        """The default limit on a completion's tokens."""

    @property
    def group_by(self) -> tuple[str, ...]:
        """Columns for whose values accuracy is also reported separately."""

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """Return the samples of `split` (None: the default), from the hub or the file `data`."""

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """Return the sample of a data file's row; `index` counts from 0."""

    def verifier(self, reading: str | None = None) -> Verifier:
        """Return the strict verifier for the answer style that the prompt asks for."""

    def flexible(self) -> Verifier | None:
        """Return the verifier that ignores the form of an answer, or None if there is none."""

    def perfect(self, sample: Sample) -> str:
        """Return a completion that is right: for `rewardkit check`, and to judge crashes."""


@runtime_checkable
class SizedTask(Protocol):
    """A task that generates any number of problems."""

    def sized(self, split: str | None, count: int) -> Task:
        """Return the same task with at least `count` problems in this split (None: the default)."""


@runtime_checkable
class HubTask(Protocol):
    """A task over a data set on the hub: owner/name, its configuration, and the default split."""

    repository: str
    configuration: str | None
    split: str


@runtime_checkable
class FewshotTask(Protocol):
    """A task that says which rows `--num-fewshot` shows.

    They are rows of `fewshot_split` that share the problem's value in the column `fewshot_by`
    (empty: any rows). Other tasks show any rows of "train".
    """

    fewshot_split: str
    fewshot_by: str


@runtime_checkable
class ConfiguredTask(Protocol):
    """A task that sets options of an evaluation; an option that the user gives replaces its own."""

    def eval_settings(self) -> Mapping[str, Any]:
        """Return the options by name, such as `temperature`."""


@runtime_checkable
class RecordedTask(Protocol):
    """A task whose run records the whole definition, because it may not be installed later."""

    def recorded_definition(self) -> Mapping[str, Any]:
        """Return the definition as plain values."""
