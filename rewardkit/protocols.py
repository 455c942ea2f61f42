"""The classes and protocols of plugins, and the values that an engine takes and gives."""

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
"""A `Verifier`, or any function or object that is called like one."""

AT_ONCE = 64
"""The default of `concurrency`: verdicts that an async verifier gives at once."""


class Verifier:
    """Reads the answer in a text, reads the reference, and compares. A plain function is enough.

    A verifier's parameters are keyword-only arguments of the function, or fields of a class whose
    instances are called. A function, or a class that isn't derived from this class, may have any of
    these attributes too.
    """

    reads: tuple[str, ...] = ()
    """The answer forms that the verifier reads, as prompts name them; the usual form first."""
    for_evaluation: tuple[str, ...] = ()
    """Values of `reading` that accept what a reply doesn't state. A trainer warns of them."""
    thinking: str | None = None
    """"strip": the verifier reads the text after the thinking. "keep": also thinking that no text
    follows. "whole": all of the text. None: as the task or the user says."""
    deadline: float | None = None
    """The seconds that a verdict may take, if the user sets no timeout."""
    needs_reference: bool = True
    """Whether a row must have a reference."""
    reference_columns: tuple[str, ...] = ()
    """Columns that may hold a row's reference if the user names none, such as ("schema",)."""
    reads_list: bool = False
    """Whether an answer must meet all references, which the verifier gets as a JSON list."""
    concurrency: int | None = None
    """How many verdicts an async verifier gives at once; None means 64."""
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
        """The verifiers that this verifier combines, by name (`Combination`)."""
        return {}

    def prepare(self) -> None:
        """Do the start-up work (imports, tables), before any deadline starts."""
        for member in self.members.values():
            member.prepare()

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict on `text` within milliseconds, whatever it holds, or None.

        The method runs in the caller's process. If it returns None, `__call__` judges the text in a
        worker, under the deadline.
        """
        return None

    def stages(self, text: str, sample: Sample, /) -> Iterator[Verdict]:
        """Yield the verdict so far, with `timeout` for undecided parts, and at last the verdict.

        If a text passes a limit on the way, the last yielded verdict counts.
        """
        yield Verdict.of(self(text, sample))

    def judge_batch(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts on texts with their samples, in order.

        A verifier that overrides this method judges in the caller's process, within its own limits.
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
        """Return what `judge_batch` returns, each verdict within its seconds of time and within
        `max_wall` seconds by the clock.

        A verifier that can end its processes overrides this method. The method may return an
        exception in place of a verdict; that text is then judged once more.
        """
        return self.judge_batch(items)

    def explain(self, text: str, sample: Sample, /) -> Sequence[tuple[str, str]]:
        """Return (label, value) pairs for `verify --explain`: how both sides were read, and what
        was compared."""
        return ()

    def notes(self, sample: Sample, /) -> Sequence[str]:
        """Return short remarks on a row's reference for `check`, the same for the same fault."""
        return ()

    def isolation_level(self) -> str:
        """Return how programs are confined, "" if the verifier runs no programs.

        UsageError if programs can't be confined.
        """
        return next(
            filter(None, (member.isolation_level() for member in self.members.values())), ""
        )


_JUDGING = {"quick", "stages", "judge_batch", "judge_within"}


class FunctionVerifier(Verifier):
    """A callable that isn't a `Verifier`, or is async, with the attributes of `declaring`.

    An attribute that is a method where `Verifier` has a value, or the reverse, is ignored: it means
    another thing. So are methods that judge if only `__getattr__` finds them: they belong to a
    wrapped verifier.
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
    """Return a callable as a `Verifier`, with its attributes, or those of `declaring`."""
    if isinstance(verifier, FunctionVerifier):
        return verifier
    if isinstance(verifier, Verifier) and not verifier._is_async:
        return verifier
    return FunctionVerifier(verifier, verifier if declaring is None else declaring)


def is_async(verifier: Verifier) -> TypeGuard[FunctionVerifier]:
    """Return whether the verifier is async: it judges several texts at once in an event loop."""
    return isinstance(verifier, FunctionVerifier) and verifier._is_async


def verdicts_at_once(verifier: Verifier) -> int:
    """Return how many verdicts a verifier gives at once: 1 unless the verifier is async.

    UsageError if `concurrency` isn't a whole number of at least 1.
    """
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
    """Return whether a verifier overrides a method of `Verifier`."""
    return getattr(getattr(verifier, method), "__func__", None) is not getattr(Verifier, method)


class Bounded(Verifier):
    """The base class of verifiers that need no worker, because their cost is bounded.

    Subclass it only if the code, and all code that it calls, is linear in the text's length.
    """

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    def quick(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; `__call__` is bounded."""
        return self(text, sample)


class Combination(Verifier):
    """A verifier that combines the verdicts of its members.

    If a member judges batches, each member judges separately, within its own limits.
    """

    @property
    def thinking(self) -> str | None:  # type: ignore[override]  # computed
        """How all members read thinking; "whole" if they differ."""
        return shared_thinking(self.members.values())

    @property
    def needs_reference(self) -> bool:  # type: ignore[override]
        """Whether a member compares with a reference."""
        return any(member.needs_reference for member in self.members.values())

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        """Return the names of the members that judge `text`, each with the part that it reads."""
        raise NotImplementedError

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        """Return the verdict that follows from the members' verdicts."""
        raise NotImplementedError

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        texts = self.texts_for(text, sample)
        members = self.members
        judged = {name: Verdict.of(members[name](part, sample)) for name, part in texts.items()}
        return self.combine(text, sample, judged)

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the combined verdict if every judging member decides quickly, else None."""
        texts = self.texts_for(text, sample)
        decided = self.quick_verdicts(texts, sample)
        return self.combine(text, sample, decided) if len(decided) == len(texts) else None

    def quick_verdicts(self, texts: Mapping[str, str], sample: Sample) -> dict[str, Verdict]:
        """Return the verdicts of the members that decide their texts quickly."""
        members = self.members
        quick = {name: members[name].quick(text, sample) for name, text in texts.items()}
        return {name: verdict for name, verdict in quick.items() if verdict is not None}


def answer_forms(name: str, verifier: VerifierCallable) -> tuple[str, ...]:
    """Return the verifier's answer forms. UsageError if `reads` isn't a tuple of names."""
    reads = as_verifier(verifier).reads
    if isinstance(reads, tuple | list) and all(isinstance(form, str) for form in reads):
        return tuple(reads)
    raise UsageError(
        f"verifier {name!r}: reads is {reads!r:.80}; it must be a tuple of names, such as "
        '("boxed", "answer")'
    )


def reads_list(verifier: VerifierCallable) -> bool:
    """Return whether this verifier, or a member, gets several references as a JSON list."""
    verifier = as_verifier(verifier)
    return verifier.reads_list or any(map(reads_list, verifier.members.values()))


def needs_reference(verifier: VerifierCallable, columns: Mapping[str, object]) -> bool:
    """Return whether a row must have a reference for this verifier."""
    return _verifier_of_row(verifier, columns).needs_reference


def reads_objects(verifier: VerifierCallable, columns: Mapping[str, object]) -> bool:
    """Return whether a row's reference may be an object, which the verifier gets as JSON.

    It may if the verifier's reference is JSON (`reads_list`), or if the verifier needs none.
    """
    chosen = _verifier_of_row(verifier, columns)
    if chosen.members:
        return all(reads_objects(member, columns) for member in chosen.members.values())
    return chosen.reads_list or not chosen.needs_reference


def reference_columns(verifier: VerifierCallable | None) -> tuple[str, ...]:
    """Return the columns that may hold a row's reference if none is named, by preference."""
    chosen = Verifier() if verifier is None else as_verifier(verifier)
    first, *others = REFERENCE_COLUMNS
    declared = [verifier.reference_columns for verifier in (chosen, *chosen.members.values())]
    return tuple(dict.fromkeys([first, *(name for names in declared for name in names), *others]))


def _verifier_of_row(verifier: VerifierCallable, columns: Mapping[str, object]) -> Verifier:
    """The verifier that a row names, if rows name verifiers and this name is known."""
    named = verifier.verifier_of(columns) if hasattr(verifier, "verifier_of") else None
    return as_verifier(named or verifier)


def judges_elsewhere(verifier: VerifierCallable) -> bool:
    """Return whether the verifier, or a verifier that it combines, judges batches."""
    verifier = as_verifier(verifier)
    return overrides(verifier, "judge_batch") or any(
        map(judges_elsewhere, verifier.members.values())
    )


def judges_by_member(verifier: Verifier) -> bool:
    """Return whether a member judges batches, or several texts at once."""
    return any(
        overrides(member, "judge_batch") or is_async(member) or judges_by_member(member)
        for member in verifier.members.values()
    )


def verifier_for(
    reading: str, readings: Mapping[str, VerifierCallable], task: str
) -> VerifierCallable:
    """Return the verifier for an answer style. UsageError if the task doesn't read the style."""
    if reading not in readings:
        raise UsageError(
            f"the prompt asks for answers in the style {reading!r}, which task {task!r} doesn't "
            f"read; it reads {', '.join(sorted(readings))}"
        )
    return readings[reading]


def isolation_of(verifier: VerifierCallable) -> dict[str, str]:
    """Return {"isolation": LEVEL} if a verifier, or a member, runs programs; else {}."""
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
    """A prompt for an engine: the rendered text, and its token ids if rewardkit tokenises the text.

    The text is rendered from `messages` and `tools`.
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

        UsageError if the backend can't show the tools.
        """

    def start(self, requests: int, longest: int) -> None:
        """Load the weights for `requests` requests of at most `longest` tokens each, prompt and
        completion together."""

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Yield each request with its completion as soon as that is finished, in any order."""

    def describe(self) -> Mapping[str, object]:
        """Return name, version, arguments and device, for the run's record."""

    def fingerprint(self) -> Mapping[str, str]:
        """Return hashes of what decides the output: weights, tokenizer, chat template."""

    def close(self) -> None:
        """Release the engine and its memory."""


class BackendExtras:
    """Optional members of a backend, with their defaults.

    A backend needs no base class: it may have any of these names.
    """

    ignored_options: Sequence[str] = ()
    """Options of an evaluation that the backend refuses. The backend's class has this, too."""
    waits: Callable[[], str] | None = None
    """Returns in a few words what the backend waits for, or "". It is called from any thread."""
    check: Callable[[Mapping[str, Collection[str]], int], None] | None = None
    """Raises DataError unless the backend's stored completions belong to these ids of each task,
    this many to each id."""


def backend_extras(backend: object) -> BackendExtras:
    """Return the optional members of a backend, with defaults for members that it lacks."""
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
        """Return the verifier that ignores the form of an answer; None without one."""

    def perfect(self, sample: Sample) -> str:
        """Return a right completion, for `rewardkit check` and as control text of crashes."""


class TaskExtras:
    """Optional members of a task, with their defaults.

    A task needs no base class: it may have any of these names.
    """

    repository: str = ""
    """The data set on the hub, owner/name, with its `configuration` and default `split`."""
    configuration: str | None = None
    split: str = ""
    fewshot_split: str = "train"
    """The split whose rows `--num-fewshot` shows."""
    fewshot_by: str = ""
    """A column in which the rows shown have the problem's value. "": any rows are shown."""
    wording: TaskWording | None = None
    """Words for the prompt strategies; None means generic words."""
    measures: Mapping[str, Measure] = MappingProxyType({})
    """The task's measures, by name."""
    sized: Callable[[str | None, int], Task] | None = None
    """Returns the task with at least this many problems in a split (None: the default split)."""
    posed: Callable[[str, str], tuple[str, Sample]] | None = None
    """Returns for two answers a completion that gives the first, and a sample with the second as
    reference. `verifier()` finds the completion right if they are equal."""
    figures: Callable[[Sequence[CompletionRow]], Sequence[Figure]] | None = None
    """Returns tables, plots and bars from the task's rows."""

    def eval_settings(self) -> Mapping[str, Any]:
        """Return options of an evaluation, such as `temperature`. The user's options win."""
        return {}

    def recorded_definition(self) -> Mapping[str, Any]:
        """Return the whole definition as plain values. A run records them, because the task may not
        be installed later."""
        return {}


def extras(task: Task) -> TaskExtras:
    """Return the optional members of a task, with defaults for members that it lacks."""
    return _filled(TaskExtras(), task)


def _filled(extras: Extras, source: object) -> Extras:
    for name in vars(type(extras)):
        if not name.startswith("_") and hasattr(source, name):
            setattr(extras, name, getattr(source, name))
    return extras
