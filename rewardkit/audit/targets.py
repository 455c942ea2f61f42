"""What is audited: a verifier by name, a reward function, a server or a command."""

from __future__ import annotations

import json
import math
import os
import pkgutil
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rewardkit.audit.cases import Case
from rewardkit.audit.measure import CaseResult
from rewardkit.audit.signatures import SIGNATURES, Signature, entry_point, recognise, score_of
from rewardkit.errors import DataError, JudgingError, UnknownName, UsageError
from rewardkit.frameworks.client import RemoteVerifier, remote
from rewardkit.judging import Control, JudgingOptions, judge_many
from rewardkit.judging.deadline import process_time
from rewardkit.judging.rows import SampleReader, judge_samples
from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.registry import Resolved, known_names, resolve
from rewardkit.text.printable import printable

THRESHOLD = 0.5
"""A completion counts as right from this score on, if the user sets no threshold."""

SECONDS = 10.0
"""A call that takes more time of its own hangs."""

FIRST_SECONDS = 60.0
"""The time limit of a function's first call, which may import much, and of many calls."""


FunctionRequest = Callable[[Callable[..., Any]], Any]
"""What a worker does with a function. The request is pickled, its result is sent as JSON."""

_FAILURES = {Failure.TIMEOUT: "hang", Failure.CRASHED: "crash", Failure.ERROR: "unjudged"}


class Function(Verifier):
    """A verifier that runs requests on a reward function. Only workers import the function."""

    def __init__(self, source: str | Callable[..., Any]) -> None:
        self.source = source
        self._function: Callable[..., Any] | None = None

    def prepare(self) -> None:
        """Import the function, and discard what it prints."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        loaded = self.source if callable(self.source) else _load(self.source)
        if hasattr(loaded, "prepare"):
            loaded.prepare()
        self._function = entry_point(loaded)

    def __call__(self, _: str, sample: Sample, /) -> Verdict:
        """Return the request's result as JSON, in the verdict's answer."""
        request: Any = sample.columns["request"]
        return Verdict.right(answer=json.dumps(request(self._function), default=asdict))


def _load(source: str) -> Any:
    place, _, name = source.rpartition(":")
    is_file = place.endswith(".py")
    sys.path.insert(0, str(Path(place).parent) if is_file else os.getcwd())
    return pkgutil.resolve_name(f"{Path(place).stem if is_file else place}:{name}")


@dataclass(frozen=True)
class DescribeFunction:
    """Finds out how to call the function."""

    signature: str | None

    def __call__(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Return the signature's name, and whether completions are messages; or an error."""
        try:
            signature = recognise(function, self.signature)
            signature.bind(function, [TRIAL], False)
        except UsageError as error:
            return {"error": str(error)}
        return {"signature": signature.name, "messages": _takes_messages(function, signature)}


TRIAL = Case("trial", "It is \\boxed{42}.\n#### 42", "42", True)


def _takes_messages(function: Callable[..., Any], signature: Signature) -> bool:
    """Whether messages work better than text, or text alone confuses the function."""
    if not signature.messages:
        return False
    text, messages = (
        call_reward(function, signature, [TRIAL], messages=form)[0] for form in (False, True)
    )
    if text.failure is None and messages.failure is None:
        return bool(messages.score) > bool(text.score)
    is_confused = "string indices" in text.explanation or "'str' object" in text.explanation
    return is_confused and messages.explanation != text.explanation


def call_reward(
    function: Callable[..., Any], signature: Signature, cases: Sequence[Case], *, messages: bool
) -> list[CaseResult]:
    """Return each case's score, the function's verdict if there is one, and what went wrong."""
    try:
        rewards = signature.call(function, cases, messages)
    except BaseException as error:  # a reward may raise anything, SystemExit included
        return [result_of_error(error)] * len(cases)
    return [result_of_reward(reward) for reward in rewards]


def result_of_reward(reward: object) -> CaseResult:
    """Return the result of a reward."""
    try:
        score = score_of(reward)
    except Exception as error:  # of a reward's own attributes
        return result_of_error(error)
    if score is not None and not math.isfinite(score):
        return result_of_error(ValueError(f"the reward is {score}"))
    failure = "unjudged" if score is None else None
    if isinstance(reward, Verdict):
        return CaseResult(reward.correct, score, failure, reward.message)
    return CaseResult(None, score, failure, repr(reward)[:200])


def result_of_error(error: BaseException) -> CaseResult:
    """Return the result of an exception."""
    return CaseResult(None, None, "exception", f"{type(error).__name__}: {error}"[:500])


@dataclass(frozen=True)
class ScoreCases:
    """Calls the function with cases: all at once, if the function takes batches."""

    cases: tuple[Case, ...]
    signature: str
    messages: bool

    def __call__(self, function: Callable[..., Any]) -> Any:
        """Return the results of `call_reward`, with CPU times but for the worker's first call."""
        signature = recognise(function, self.signature)
        before = _cpu_seconds()
        judged = call_reward(function, signature, self.cases, messages=self.messages)
        seconds = _cpu_seconds() - before
        if _called:
            return [replace(result, seconds=seconds / len(judged)) for result in judged]
        _called.append(True)
        return judged

    def scores(self, function: Callable[..., Any], cases: Sequence[Case]) -> list[CaseResult]:
        """Return the scores of cases, with a call for each case."""
        signature = recognise(function, self.signature)
        return [
            call_reward(function, signature, [case], messages=self.messages)[0] for case in cases
        ]


_called: list[bool] = []
"""Holds an item in a worker that has called its function."""


def _cpu_seconds() -> float:
    """The CPU time of this process and its children, running or ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    children = Path("/proc/thread-self/children")
    running = children.read_text().split() if children.exists() else []
    times = [process_time(int(pid)) for pid in running]
    ended = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return ended + sum(time.computed for time in times if time)


@dataclass(frozen=True)
class FunctionTarget:
    """A reward function, called in workers."""

    name: str
    signature: str
    verifier: Verifier
    messages: bool = False
    threshold: float | None = None

    def judge(self, cases: Sequence[Case]) -> list[CaseResult]:
        """Return a result for each case, in order."""
        requests = [ScoreCases((case,), self.signature, self.messages) for case in cases]
        return [
            reply if isinstance(reply, CaseResult) else self.judged(reply[0])
            for reply in run_requests(self.verifier, requests)
        ]

    def judged(self, fields: Mapping[str, Any]) -> CaseResult:
        """Return a result of `call_reward` that was sent as JSON."""
        return by_threshold(CaseResult(**fields), self.threshold)


def by_threshold(judged: CaseResult, threshold: float | None) -> CaseResult:
    """Return a result with a verdict by its score, if it has no verdict or there is a threshold."""
    if judged.score is None or (judged.correct is not None and threshold is None):
        return judged
    return replace(judged, correct=judged.score >= (THRESHOLD if threshold is None else threshold))


def run_requests(
    verifier: Verifier, requests: Sequence[FunctionRequest], seconds: float | None = None
) -> list[Any | CaseResult]:
    """Return the results of requests; for a request that hung or crashed, how it failed."""
    items = [("", Sample("", columns={"request": request})) for request in requests]
    verdicts = judge_many(verifier, items, JudgingOptions(seconds or SECONDS))
    results: list[Any | CaseResult] = []
    for verdict in verdicts:
        failure = "hang" if verdict.failure is Failure.TIMEOUT else "crash"
        failed = CaseResult(None, None, failure, verdict.message)
        results.append(json.loads(verdict.answer or "null") if verdict.correct else failed)
    return results


@dataclass(frozen=True)
class VerifierTarget:
    """A verifier of rewardkit, here or on a server."""

    name: str
    verifier: Verifier
    reader: SampleReader = field(default_factory=SampleReader)
    options: JudgingOptions = field(default_factory=JudgingOptions)
    threshold: float | None = None
    control: Control | None = None
    """Writes a task's right completion."""

    def judge(self, cases: Sequence[Case]) -> list[CaseResult]:
        """Return a result for each case, in order."""
        samples = [self._sample(case.reference, case.columns) for case in cases]
        completions = [case.completion for case in cases]
        verdicts = judge_samples(self.verifier, completions, samples, self.options)
        return [by_threshold(_judged(verdict), self.threshold) for verdict in verdicts]

    def right_completion(self, reference: Any, columns: Mapping[str, Any]) -> str | None:
        """Return a row's right completion by the task; None if there is no task or completion."""
        sample = self._sample(reference, columns)
        if self.control is None or isinstance(sample, Verdict):
            return None
        try:
            return self.control(sample)
        except DataError:
            return None

    def _sample(self, reference: Any, columns: Mapping[str, Any]) -> Sample | Verdict:
        return self.reader({**columns, "reference": reference})


def _judged(verdict: Verdict) -> CaseResult:
    failure = _FAILURES.get(verdict.failure) if verdict.failure else None
    return CaseResult(verdict.correct, verdict.score, failure, verdict.message)


@dataclass(frozen=True)
class CommandTarget:
    """A command that reads rows as JSON lines and prints a score, or an object with it, for each.

    A row has `completion`, `reference` and the further columns.
    """

    name: str
    threshold: float | None = None

    def judge(self, cases: Sequence[Case]) -> list[CaseResult]:
        """Return a result for each case, in order. If a batch fails, each half is run alone."""
        scores, failure, explanation = self._run(cases)
        if scores is not None and len(scores) == len(cases):
            return [by_threshold(result_of_reward(score), self.threshold) for score in scores]
        if len(cases) > 1:
            half = len(cases) // 2
            return self.judge(cases[:half]) + self.judge(cases[half:])
        return [CaseResult(None, None, failure, explanation)] * len(cases)

    def _run(self, cases: Sequence[Case]) -> tuple[list[Any] | None, str, str]:
        rows = (
            {**case.columns, "completion": case.completion, "reference": case.reference}
            for case in cases
        )
        with subprocess.Popen(
            shlex.split(self.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(
                    "".join(json.dumps(row) + "\n" for row in rows), SECONDS + len(cases)
                )
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None, "hang", f"no answer to {len(cases)} rows"
        if process.returncode:
            return None, "crash", f"exit status {process.returncode}"
        try:
            return [json.loads(line) for line in output.splitlines()], "exception", "other lines"
        except ValueError as error:
            return None, "exception", printable(f"a line of its output isn't JSON: {error}")


Target = FunctionTarget | VerifierTarget | CommandTarget
"""What is audited."""


def as_function(target: Target) -> FunctionTarget | None:
    """Return the target as a function in a worker; None for a server and a command."""
    if isinstance(target, FunctionTarget):
        return target
    if isinstance(target, VerifierTarget) and not isinstance(target.verifier, RemoteVerifier):
        function = Function(target.verifier)
        return FunctionTarget(target.name, "rewardkit", function, threshold=target.threshold)
    return None


_FUNCTION = re.compile(r"[^\s:]+:[^\W\d][\w.]*")


def resolve_target(
    source: str | Callable[..., Any],
    signature: str | None = None,
    threshold: float | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Target:
    """Return the target that `source` names.

    `source` is a verifier, a task, `module:function`, `file.py:function`, a server's address, a
    command that reads JSON lines, or a function. `parameters` are the verifier's or the task's.
    UsageError if the target can't be loaded, or if the function's host isn't recognised.
    """
    if parameters and source not in known_names():
        raise UsageError(f"--verifier-arg needs a verifier's name, and {source!r} isn't one")
    if not isinstance(source, str):
        return _function(getattr(source, "__name__", repr(source)), source, signature, threshold)
    if source.startswith(("http://", "https://")):
        return _server(source, threshold)
    if source in known_names() or source.endswith(".toml"):
        found: Resolved = resolve(source, **parameters)
        options = found.limits(JudgingOptions())
        reader = found.reader()
        return VerifierTarget(source, found.verifier, reader, options, threshold, found.control)
    if _FUNCTION.fullmatch(source):
        return _function(source, source, signature, threshold)
    if shutil.which((shlex.split(source) or [""])[0]):
        return CommandTarget(source, threshold)
    raise UnknownName.among("verifier or task", source, known_names())


def _function(
    name: str, source: str | Callable[..., Any], signature: str | None, threshold: float | None
) -> FunctionTarget:
    if signature not in (None, *SIGNATURES):
        raise UnknownName.among("signature", str(signature), SIGNATURES)
    verifier = Function(source)
    try:
        (found,) = run_requests(verifier, [DescribeFunction(signature)], FIRST_SECONDS)
    except JudgingError as error:
        raise UsageError(f"{name} can't be loaded: {error}") from error
    if isinstance(found, CaseResult):
        raise UsageError(f"{name} can't be called: its first call ended: {found.explanation}")
    if "error" in found:
        raise UsageError(f"{name}: {found['error']}")
    return FunctionTarget(name, found["signature"], verifier, found["messages"], threshold)


def _server(address: str, threshold: float | None) -> VerifierTarget:
    """A server's verifier, which `?verifier=` names if there are several."""
    import httpx

    url = urlsplit(address)
    server = f"{url.scheme}://{url.netloc}{url.path.removesuffix('/').removesuffix('/v1/score')}"
    names = parse_qs(url.query).get("verifier", [])
    if not names:
        try:
            names = httpx.get(f"{server}/v1/verifiers").raise_for_status().json()["verifiers"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{server} doesn't list its verifiers: {error}") from error
    if len(names) != 1:
        raise UsageError(
            f"{server} offers {', '.join(names)}; name one: {server}/v1/score?verifier={names[0]}"
        )
    return VerifierTarget(address, remote(server, verifier=names[0]), threshold=threshold)
