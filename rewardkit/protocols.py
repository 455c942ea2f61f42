"""The protocols that plugins implement, and the values they exchange with an engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static, iscoroutine, iscoroutinefunction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar, cast

from rewardkit.errors import UsageError
from rewardkit.records import REFERENCE_COLUMNS, Completion, Sample, Sampling, Verdict
from rewardkit.text.thinking import shared_thinking

if TYPE_CHECKING:
    from rewardkit.harness.prompts.wording import TaskWording
    from rewardkit.harness.results.completion_row import CompletionRow
    from rewardkit.harness.results.figures import Figure
    from rewardkit.harness.results.measure import Measure

Judged = Verdict | bool | float
Extras = TypeVar("Extras")
VerifierCallable = Callable[[str, Sample], Judged]
"""A `Verifier`, or any function or object that is called as one."""

AT_ONCE = 64
"""Verdicts that an async verifier gives at once, unless it says how many."""


class Verifier:
    """Read the answer in `text`, read the reference, compare. A plain function is enough.

    A verifier's parameters are keyword-only arguments of the function, or fields of a class whose
    instances are called. A function, or a class that isn't derived from this one, may have any of
    these attributes too.
    """

    reads: tuple[str, ...] = ()
    """The answer forms that it reads, as prompts name them; first its own."""
    for_evaluation: tuple[str, ...] = ()
    """Values of `reading` that take what a reply doesn't state; a trainer warns of them."""
    thinking: str | None = None
    """"strip": it reads the text after the thinking; "keep": also thinking that no text follows;
    "whole": all of the text; None: as the task or the user says."""
    deadline: float | None = None
    """The seconds that a verdict may take, if the user sets no timeout."""
    needs_reference: bool = True
    """Whether a row must have a reference."""
    reference_columns: tuple[str, ...] = ()
    """Columns that may hold a row's reference where the user names none, such as ("schema",)."""
    reads_list: bool = False
    """Whether several references are one, a JSON list, all to be met; else one must be met."""
    concurrency: int | None = None
    """How many verdicts an async verifier gives at once; None: 64."""
    set_by_caller: tuple[str, ...] = ()
    """Parameters that a task's file can't set: they decide what runs, is read or gets a key."""

    _is_async = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls._is_async = iscoroutinefunction(cls.__call__)

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        """Return a verdict on `text`, whether it is right, or a score in [0, 1]."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    @property
    def members(self) -> Mapping[str, Verifier]:
        """The verifiers that it combines, by name (`Combination`)."""
        return {}

    def prepare(self) -> None:
        """Do the start-up work (imports, tables), before any deadline starts."""
        for member in self.members.values():
            member.prepare()

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict on `text` within milliseconds, whatever it holds, or None.

        It runs in the caller's own process. None sends the text to a worker, where `__call__` runs
        under the deadline.
        """
        return None

    def stages(self, text: str, sample: Sample, /) -> Iterator[Verdict]:
        """Yield the verdict so far, with undecided parts as `timeout`; the last is `__call__`'s.

        When a text passes a limit on the way, the last verdict yielded counts.
        """
        yield Verdict.of(self(text, sample))

    def judge_batch(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts on texts with their samples, in order.

        A verifier that has a method of its own judges in the caller's process, within limits of
        its own.
        """
        return [Verdict.of(self(text, sample)) for text, sample in items]

    def judge_within(
        self,
        items: Sequence[tuple[str, Sample]],
        seconds: Sequence[float],
        *,
        max_wall: float,
        workers: int | None,
    ) -> Sequence[Verdict | Exception]:
        """Return what `judge_batch` does, each verdict within its seconds and `max_wall` by the
        clock.

        A verifier whose processes it can end has a method of its own. In place of a verdict it
        returns what was raised for that text alone, which is then judged once more.
        """
        return self.judge_batch(items)

    def explain(self, text: str, sample: Sample, /) -> Sequence[tuple[str, str]]:
        """Return (label, value) pairs for `verify --explain`: how both sides were read, and what
        was compared."""
        return ()

    def notes(self, sample: Sample, /) -> Sequence[str]:
        """Return short remarks on a row's reference for `check`, the same words for all rows that
        share one."""
        return ()

    def isolation_level(self) -> str:
        """Return how programs are confined, "" if it runs none.

        UsageError where programs can't be confined.
        """
        return next(
            filter(None, (member.isolation_level() for member in self.members.values())), ""
        )


_JUDGING = {"quick", "stages", "judge_batch", "judge_within"}


class FunctionVerifier(Verifier):
    """A callable that isn't a `Verifier`, or is async, with what `declaring` declares.

    A method in place of a `Verifier`'s value, or a value in place of a method, means another thing;
    and methods that judge, where `__getattr__` finds them, would judge in place of `__call__`.
    """

    def __init__(self, function: Any, declaring: Any) -> None:
        self.function = function
        called = getattr(function, "func", function)  # functools.partial
        self._is_async = iscoroutinefunction(called) or iscoroutinefunction(type(called).__call__)
        for name in dir(Verifier):
            if name != "members" and not name.startswith("_") and hasattr(declaring, name):
                value = getattr(declaring, name)
                has_own = name not in _JUDGING or getattr_static(declaring, name, None) is not None
                if has_own and callable(value) == callable(getattr(Verifier, name)):
                    setattr(self, name, value)

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        judged: Any = self.function(text, sample)
        if iscoroutine(judged):  # to its end, in the worker
            import asyncio

            judged = asyncio.run(judged)
        return cast("Judged", judged)

    def __repr__(self) -> str:
        return repr(self.function)


def as_verifier(verifier: Any, declaring: Any = None) -> Verifier:
    """Return a callable, async or not, as a `Verifier`, with what it or `declaring` declares."""
    if isinstance(verifier, FunctionVerifier):
        return verifier
    if isinstance(verifier, Verifier) and not verifier._is_async:
        return verifier
    return FunctionVerifier(verifier, verifier if declaring is None else declaring)


def is_async(verifier: Verifier) -> TypeGuard[FunctionVerifier]:
    """Return whether the verifier is async: it judges several texts at once, in an event loop."""
    return isinstance(verifier, FunctionVerifier) and verifier._is_async


def verdicts_at_once(verifier: Verifier) -> int:
    """Return how many verdicts a verifier gives at once, 1 unless it is async. UsageError if its
    `concurrency` isn't a whole number of at least 1."""
    if not is_async(verifier):
        return 1
    number = AT_ONCE if verifier.concurrency is None else verifier.concurrency
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise UsageError(
            f"concurrency of the verifier {verifier!r} is {number!r}; it must be a whole number of "
            "at least 1"
        )
    return number


def overrides(verifier: Verifier, method: str) -> bool:
    """Return whether a verifier has a method of its own in place of `Verifier`'s."""
    return getattr(getattr(verifier, method), "__func__", None) is not getattr(Verifier, method)


class Bounded(Verifier):
    """The base class of verifiers whose cost is bounded, so that they need no worker.

    Subclass it only for code that is linear in the text's length and calls nothing that isn't.
    """

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    def quick(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; `__call__` is bounded."""
        return self(text, sample)


class Combination(Verifier):
    """Several verifiers as one, which judges by its members.

    If a member judges batches, each member judges by itself, within limits of its own.
    """

    @property
    def thinking(self) -> str | None:  # type: ignore[override]  # computed
        """How all members read thinking; "whole" if they differ."""
        return shared_thinking(self.members.values())

    @property
    def needs_reference(self) -> bool:  # type: ignore[override]
        """Whether one of the members compares with a reference."""
        return any(member.needs_reference for member in self.members.values())

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        """Return the members that judge `text`, with what each reads of it."""
        raise NotImplementedError

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        """Return the verdict that follows from those of the members."""
        raise NotImplementedError

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        texts = self.texts_for(text, sample)
        members = self.members
        judged = {name: Verdict.of(members[name](part, sample)) for name, part in texts.items()}
        return self.combine(text, sample, judged)

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the combined verdict if every member that judges decides quickly, else None."""
        texts = self.texts_for(text, sample)
        decided = self.quick_verdicts(texts, sample)
        return self.combine(text, sample, decided) if len(decided) == len(texts) else None

    def quick_verdicts(self, texts: Mapping[str, str], sample: Sample) -> dict[str, Verdict]:
        """Return the verdicts of the members that decide their texts quickly."""
        members = self.members
        quick = {name: members[name].quick(text, sample) for name, text in texts.items()}
        return {name: verdict for name, verdict in quick.items() if verdict is not None}


def answer_forms(name: str, verifier: VerifierCallable) -> tuple[str, ...]:
    """Return the forms that the verifier declares. UsageError if `reads` isn't a tuple of names."""
    reads = as_verifier(verifier).reads
    if isinstance(reads, tuple | list) and all(isinstance(form, str) for form in reads):
        return tuple(reads)
    raise UsageError(
        f"verifier {name!r}: reads is {reads!r:.80}; it must be a tuple of names, such as "
        '("boxed", "answer")'
    )


def reads_list(verifier: VerifierCallable) -> bool:
    """Return whether several references are one for this verifier, or for one that it combines."""
    verifier = as_verifier(verifier)
    return verifier.reads_list or any(map(reads_list, verifier.members.values()))


def needs_reference(verifier: VerifierCallable, columns: Mapping[str, object]) -> bool:
    """Return whether a row must have a reference for this verifier."""
    return _verifier_of_row(verifier, columns).needs_reference


def reads_objects(verifier: VerifierCallable, columns: Mapping[str, object]) -> bool:
    """Return whether a row's reference may be an object, which the verifier gets as its JSON.

    It may for a verifier whose reference is JSON (`reads_list`), and for one that needs none.
    """
    chosen = _verifier_of_row(verifier, columns)
    if chosen.members:
        return all(reads_objects(member, columns) for member in chosen.members.values())
    return chosen.reads_list or not chosen.needs_reference


def reference_columns(verifier: VerifierCallable | None) -> tuple[str, ...]:
    """Return the columns that may hold a row's reference where none is named, by preference."""
    chosen = Verifier() if verifier is None else as_verifier(verifier)
    first, *others = REFERENCE_COLUMNS
    declared = [verifier.reference_columns for verifier in (chosen, *chosen.members.values())]
    return tuple(dict.fromkeys([first, *(name for names in declared for name in names), *others]))


def _verifier_of_row(verifier: VerifierCallable, columns: Mapping[str, object]) -> Verifier:
    """The verifier that a row names, where rows name theirs and it is known."""
    named = verifier.verifier_of(columns) if hasattr(verifier, "verifier_of") else None
    return as_verifier(named or verifier)


def judges_elsewhere(verifier: VerifierCallable) -> bool:
    """Return whether the verifier, or one that it combines, judges batches itself."""
    verifier = as_verifier(verifier)
    return overrides(verifier, "judge_batch") or any(
        map(judges_elsewhere, verifier.members.values())
    )


def judges_by_member(verifier: Combination) -> bool:
    """Return whether one of the members judges batches itself, or several texts at once."""
    return any(
        overrides(member, "judge_batch")
        or is_async(member)
        or (isinstance(member, Combination) and judges_by_member(member))
        for member in verifier.members.values()
    )


def verifier_for(
    reading: str, readings: Mapping[str, VerifierCallable], task: str
) -> VerifierCallable:
    """The verifier for an answer style. UsageError for a style that the task doesn't read."""
    if reading not in readings:
        raise UsageError(
            f"the prompt asks for answers in the style {reading!r}, which task {task!r} doesn't "
            f"read; it reads {', '.join(sorted(readings))}"
        )
    return readings[reading]


def isolation_of(verifier: VerifierCallable) -> dict[str, str]:
    """Return {"isolation": LEVEL} if a verifier runs programs, or one that it combines; else {}."""
    level = as_verifier(verifier).isolation_level()
    return {"isolation": level} if level else {}


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
    """An engine that generates. Construction is cheap; `start` loads the weights.

    A backend may have more: the members of `BackendExtras`.
    """

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


class BackendExtras:
    """What a backend may have besides the members of `Backend`, and what it has otherwise.

    A backend needs no base class: it may have any of these names.
    """

    ignored_options: Sequence[str] = ()
    """The options of an evaluation that it refuses; what creates the backend has it too."""
    waits: Callable[[], str] | None = None
    """Returns what it waits for, in a few words, or "". It is called from any thread."""
    check: Callable[[Mapping[str, Collection[str]], int], None] | None = None
    """Raises DataError unless completions that exist already belong to these ids of each task, so
    many to each."""


def backend_extras(backend: object) -> BackendExtras:
    """Return what a backend has of `BackendExtras`, with the defaults of what it lacks."""
    return _filled(BackendExtras(), backend)


class Task(Protocol):
    """Problems, their prompt, and the verifier of their completions.

    A task may have more: the members of `TaskExtras`.
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

    def verifier(self, reading: str | None = None) -> VerifierCallable:
        """Return the strict verifier for the answer style that the prompt asks for."""

    def flexible(self) -> VerifierCallable | None:
        """Return the verifier that ignores the form of an answer, or None if there is none."""

    def perfect(self, sample: Sample) -> str:
        """Return a completion that is right: for `rewardkit check`, and to judge crashes."""


class TaskExtras:
    """What a task may have besides the members of `Task`, and what it has otherwise.

    A task needs no base class: it may have any of these names.
    """

    repository: str = ""
    """Its data set on the hub, owner/name; with `configuration`, and `split`, the default one."""
    configuration: str | None = None
    split: str = ""
    fewshot_split: str = "train"
    """The split whose rows `--num-fewshot` shows."""
    fewshot_by: str = ""
    """A column: the rows shown have the problem's value there. Empty: any rows."""
    wording: TaskWording | None = None
    """Words for the prompt strategies; None: generic ones."""
    measures: Mapping[str, Measure] = MappingProxyType({})
    """Measures of its own, by name."""
    sized: Callable[[str | None, int], Task] | None = None
    """Returns the same task with at least so many problems in a split (None: the default)."""
    posed: Callable[[str, str], tuple[str, Sample]] | None = None
    """Returns a completion that gives an answer, and a sample whose reference is another answer:
    `verifier()` finds the completion right when the two are equal."""
    figures: Callable[[Sequence[CompletionRow]], Sequence[Figure]] | None = None
    """Returns tables, plots and bars from the task's rows."""

    def eval_settings(self) -> Mapping[str, Any]:
        """Return options of an evaluation by name, such as `temperature`; what the user gives
        replaces them."""
        return {}

    def recorded_definition(self) -> Mapping[str, Any]:
        """Return the whole definition as plain values, for a task that may not be installed later:
        a run records it."""
        return {}


def extras(task: Task) -> TaskExtras:
    """Return what a task has of `TaskExtras`, with the defaults of what it lacks."""
    return _filled(TaskExtras(), task)


def _filled(extras: Extras, source: object) -> Extras:
    for name in vars(type(extras)):
        if not name.startswith("_") and hasattr(source, name):
            setattr(extras, name, getattr(source, name))
    return extras
