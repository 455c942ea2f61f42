"""Call a reward as its host does, and read its score. The parameters' names show the host."""

from __future__ import annotations

import asyncio
import inspect
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from rewardkit.audit.cases import Case
from rewardkit.errors import UnknownName, UsageError
from rewardkit.records import REFERENCE_COLUMNS, Sample, Verdict, references_of

Arguments = Mapping[str, Any]

QUESTION = "What is the answer?"

GOLD = (
    *("reference", "references", "gold", "golden", "target", "targets", "expected", "label"),
    *("ground_truth", "solution", "truth", "correct_answer", "reference_answer", "gold_answer"),
)
"""Names of a plain function's reference; `answer` is a reference only beside a completion."""

GIVEN = (
    *("answer", "completion", "response", "text", "output", "prediction", "pred", "predicted"),
    *("model_output", "candidate", "given", "solution_str", "predict_str", "generated", "reply"),
)
"""Names of a plain function's completion."""

SCORES = (
    *("score", "reward", "rewards", "overall", "value", "scores", "correct", "is_correct"),
    *("acc", "accuracy", "exact_match"),
)
"""The keys and attributes that may hold the score, by preference."""


@dataclass(frozen=True)
class Signature:
    """How a host calls a reward.

    Each of `marks` is a set of parameters whose names show the host. `arguments` returns all
    arguments for a case, or for all cases of a `batch`. The `positional` arguments may have any
    names. With `messages` a completion may be a list of messages.
    """

    name: str
    marks: tuple[str, ...]
    arguments: Callable[[Any, bool], Arguments]
    positional: tuple[str, ...] = ()
    batch: bool = False
    messages: bool = False

    def call(
        self, function: Callable[..., Any], cases: Sequence[Case], messages: bool
    ) -> list[object]:
        """Return the function's reward for each case. ValueError if the numbers differ."""
        if not self.batch:
            return [self._call(function, [case], messages) for case in cases]
        rewards = _listed(self._call(function, cases, messages))
        if len(rewards) != len(cases):
            raise ValueError(f"{len(rewards)} rewards for {len(cases)} completions")
        return rewards

    def start(self, function: Callable[..., Any], cases: Sequence[Case], messages: bool) -> Any:
        """Call the function; return the reward, or an awaitable of the reward."""
        positional, named = self.bind(function, cases, messages)
        return function(*positional, **named)

    def _call(self, function: Callable[..., Any], cases: Sequence[Case], messages: bool) -> Any:
        result = self.start(function, cases, messages)
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result

    def bind(
        self, function: Callable[..., Any], cases: Sequence[Case], messages: bool
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments that the function takes. UsageError if the function needs others."""
        arguments = self.arguments(cases if self.batch else cases[0], messages)
        parameters = inspect.signature(function).parameters
        first = [arguments[name] for name in self.positional]
        rest = dict(list(parameters.items())[len(first) :])
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in rest.values())
        variadic = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        needed = [
            name
            for name, parameter in rest.items()
            if parameter.default is parameter.empty and parameter.kind not in variadic
        ]
        missing = [name for name in needed if name not in arguments]
        if missing:
            raise UsageError(
                f"the signature {self.name!r} passes no {', '.join(map(repr, missing))}; it passes "
                f"{', '.join(map(repr, arguments))} and the row's columns: wrap the function"
            )
        left = arguments.keys() - set(self.positional)
        return first, {name: arguments[name] for name in left if takes_all or name in rest}


async def _awaited(result: Any) -> Any:
    return await result


def _listed(rewards: object) -> list[object]:
    """The rewards of a batch, from a list, an array, or a mapping with a list or an array."""
    if isinstance(rewards, Mapping):
        rewards = next(rewards[name] for name in ("rewards", *SCORES) if name in rewards)
    rewards = getattr(rewards, "tolist", lambda: rewards)()
    return list(rewards) if isinstance(rewards, (list, tuple)) else [rewards]


def _row(case: Case) -> dict[str, Any]:
    return {**dict.fromkeys(REFERENCE_COLUMNS, case.reference), **case.columns}


def _question(case: Case) -> str:
    return str(case.columns.get("question", case.columns.get("prompt", QUESTION)))


def _reply(case: Case, messages: bool) -> Any:
    return [{"role": "assistant", "content": case.completion}] if messages else case.completion


def _prompt(case: Case, messages: bool) -> Any:
    return [{"role": "user", "content": _question(case)}] if messages else _question(case)


def _of_trl(cases: Sequence[Case], messages: bool) -> Arguments:
    rows = [_row(case) for case in cases]
    names = {name for row in rows for name in row}
    return {
        **{name: [row.get(name) for row in rows] for name in names},
        "prompts": [_prompt(case, messages) for case in cases],
        "completions": [_reply(case, messages) for case in cases],
        "completion_ids": [list(range(len(case.completion))) for case in cases],
        "trainer_state": None,
        "log_extra": lambda *_: None,
        "log_metric": lambda *_: None,
    }


def _of_verl(case: Case, _: bool) -> Arguments:
    return {
        "data_source": str(case.columns.get("data_source", "openai/gsm8k")),
        "solution_str": case.completion,
        "ground_truth": case.reference,
        "extra_info": {"index": 0, "split": "train", "question": _question(case), **case.columns},
    }


def _of_openrlhf(cases: Sequence[Case], _: bool) -> Arguments:
    return {
        "queries": [_question(case) + case.completion for case in cases],
        "prompts": [_question(case) for case in cases],
        "labels": [case.reference for case in cases],
    }


def _of_easyr1(cases: Sequence[Case], _: bool) -> Arguments:
    rewards = [
        {
            "response": case.completion,
            "response_length": len(case.completion),
            "ground_truth": case.reference,
            "data_type": "text",
            "data_source": "openai/gsm8k",
        }
        for case in cases
    ]
    return {"reward_inputs": rewards}


def _of_prime(case: Case, messages: bool) -> Arguments:
    facts = {
        "prompt": _prompt(case, messages),
        "completion": _reply(case, messages),
        "answer": case.reference,
        "info": dict(case.columns),
        "task": "default",
    }
    parser = SimpleNamespace(parse_answer=lambda _: case.completion, parse=lambda text: text)
    return {**_row(case), **facts, "state": {**facts, "turn": 1}, "parser": parser}


class Record(SimpleNamespace):
    """A host's object, whose attributes `model_dump()` returns as a mapping."""

    def model_dump(self, **_: object) -> dict[str, Any]:
        return dict(vars(self))


def _of_trace(case: Case, _: bool) -> Arguments:
    asked = Record(role="user", content=_question(case))
    reply = Record(role="assistant", content=case.completion, tool_calls=None)
    trace = Record(
        last_reply=case.completion,
        messages=[asked, reply],
        assistant_messages=[reply],
        record_metric=lambda *_: None,
    )
    return {"task": Record(prompt=_question(case), **_row(case)), "trace": trace}


def _of_slime(case: Case, _: bool) -> Arguments:
    sample = SimpleNamespace(
        prompt=_question(case),
        response=case.completion,
        label=case.reference,
        metadata=dict(case.columns),
        loss_mask=None,
    )
    return {"args": SimpleNamespace(), "sample": sample}


def _of_slime_group(cases: Sequence[Case], _: bool) -> Arguments:
    samples = [_of_slime(case, False)["sample"] for case in cases]
    return {"args": SimpleNamespace(), "samples": samples}


def _of_areal(case: Case, _: bool) -> Arguments:
    ids = list(range(len(case.completion)))
    passed = {"prompt": _question(case), "completions": case.completion}
    return {**_row(case), **passed, "prompt_ids": [0], "completion_ids": ids}


def _of_rllm(case: Case, _: bool) -> Arguments:
    task = {**_row(case), "question": _question(case)}
    episode = SimpleNamespace(artifacts={"answer": case.completion}, trajectories=[])
    return {"task": SimpleNamespace(metadata=task, **task), "episode": episode}


def _of_lm_eval(case: Case, _: bool) -> Arguments:
    row = {"target": case.reference, "problem": _question(case), "question": _question(case)}
    return {"doc": {**row, **_row(case)}, "results": [case.completion]}


def _of_ours(case: Case, _: bool) -> Arguments:
    reference, *others = references_of(case.reference) or ("",)
    sample = Sample(reference, _question(case), columns=_row(case), references=tuple(others))
    return {"text": case.completion, "sample": sample}


def _plain(case: Case, _: bool) -> Arguments:
    return {"answer": case.completion, "reference": case.reference}


_ALL = (
    Signature("areal", ("completions prompt_ids",), _of_areal),
    Signature("trl", ("completions",), _of_trl, batch=True, messages=True),
    Signature("verl", ("solution_str ground_truth",), _of_verl),
    Signature("openrlhf", ("queries labels",), _of_openrlhf, batch=True),
    Signature("easyr1", ("reward_inputs",), _of_easyr1, batch=True),
    Signature("slime", ("args sample",), _of_slime, ("args", "sample")),
    Signature("slime_group", ("args samples",), _of_slime_group, ("args", "samples"), batch=True),
    Signature("rewardkit", ("sample",), _of_ours, ("text", "sample")),
    Signature("verifiers", ("trace",), _of_trace, ("task", "trace")),
    Signature("rllm", ("episode",), _of_rllm, ("task", "episode")),
    Signature("lm_eval", ("results",), _of_lm_eval, ("doc", "results")),
    Signature(
        "prime",
        ("completion answer", "completion state", "completion info"),
        _of_prime,
        messages=True,
    ),
    Signature("plain", (), _plain, ("answer", "reference")),
)
SIGNATURES = {signature.name: signature for signature in _ALL}
_SWAPPED = Signature("plain", (), _plain, ("reference", "answer"))


def recognise(function: Callable[..., Any], name: str | None = None) -> Signature:
    """Return the signature of this name, or the signature that the function's parameters show.

    UnknownName for an unknown name, UsageError if the parameters show no signature.
    """
    if name is not None and name not in SIGNATURES:
        raise UnknownName.among("signature", name, SIGNATURES)
    parameters = list(inspect.signature(function).parameters)
    if name is None and (host := _host(parameters)):
        return host
    if name not in (None, "plain"):
        return SIGNATURES[str(name)]
    first, second, *_ = [*parameters, "", ""]
    is_given, is_gold = first in GIVEN and second in (*GOLD, "answer"), first in (*GOLD, "answer")
    if is_gold and second in GIVEN:
        return _SWAPPED
    if is_given or name == "plain":
        return SIGNATURES["plain"]
    raise UsageError(
        f"the parameters ({', '.join(parameters)}) fit no known host: name the host with "
        f"--signature, one of {', '.join(SIGNATURES)}; or wrap the function in a function of "
        "(answer, reference)"
    )


def _host(parameters: Sequence[str]) -> Signature | None:
    """The first signature whose marks are all among the parameters."""
    hosts = (
        host for host in _ALL if any({*marks.split()} <= {*parameters} for marks in host.marks)
    )
    return next(hosts, None)


def entry_point(loaded: Any) -> Callable[..., Any]:
    """Return what a host calls: a class is instantiated, a factory is called.

    UsageError for an object that can't be called.
    """
    if isinstance(loaded, type):
        return entry_point(loaded())
    if not callable(loaded):
        raise UsageError(f"{loaded!r:.80} can't be called; name a function or a class")
    parameters = inspect.signature(loaded).parameters.values()
    takes_none = all(parameter.default is not parameter.empty for parameter in parameters)
    if takes_none and _host([parameter.name for parameter in parameters]) is None:
        return entry_point(loaded())
    return loaded  # type: ignore[no-any-return]


def score_of(reward: object) -> float | None:
    """Return the number in a reward, or None for None. ValueError for anything else."""
    reward = getattr(reward, "item", lambda: reward)()  # numpy's and torch's numbers
    if reward is None or isinstance(reward, Verdict):
        return None if reward is None else reward.score
    if isinstance(reward, numbers.Real):
        return float(reward)
    if isinstance(reward, (list, tuple)) and reward:
        return score_of(reward[0])
    return score_of(_named_score(reward))


def _named_score(reward: object) -> object:
    fields = reward if isinstance(reward, Mapping) else getattr(reward, "__dict__", {})
    fields = dict(fields)
    for name in SCORES:
        if name in fields:
            return fields[name]
    figures = [value for value in fields.values() if isinstance(value, numbers.Real)]
    if isinstance(reward, Mapping) and figures:
        return figures[0]
    raise ValueError(f"the reward is {reward!r:.100}, which holds no score")
