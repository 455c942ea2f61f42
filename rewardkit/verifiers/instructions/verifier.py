"""`instructions`: what a prompt asked for, checked by rule."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal
from unicodedata import category

from rewardkit.errors import MissingExtra
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.instructions import ifbench, ifeval, ifrlvr  # noqa: F401  register kinds
from rewardkit.verifiers.instructions.kinds import KINDS, Arguments
from rewardkit.verifiers.instructions.words import language, published_language

Instruction = tuple[str, Arguments]


@dataclass(frozen=True)
class Instructions(Verifier):
    """Right if the text follows all instructions of the row; the score is 1 or 0.

    The instructions are in the columns `instruction_id_list` and `kwargs`, as IFEval has them; else
    the reference is a JSON list of `{"id", "kwargs"}`; where it is blank, they are in the column
    `ground_truth`, as open-instruct has it. `reading="loose"` takes the best of eight variants of
    the text: without its first or last line, without asterisks. `score="share"` pays the share of
    followed instructions. `rules="published"` judges as the published checkers do, "fixed" repairs
    their known errors. `vacuous="unpaid"`, for training, pays nothing for an instruction that an
    empty text would follow, such as not to use a word: the share counts the other instructions, and
    a broken instruction counts as not followed. `parts` has each instruction by its number and
    kind.

    >>> row = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    >>> Instructions()("Yes, I can.", Sample("", columns=row)).parts
    {'0 punctuation:no_comma': 0.0}
    """

    thinking = "strip"
    needs_reference = False

    rules: Literal["fixed", "published"] = "fixed"
    reading: Literal["strict", "loose"] = "strict"
    score: Literal["all", "share"] = "all"
    vacuous: Literal["paid", "unpaid"] = "paid"

    def __post_init__(self) -> None:
        if self.rules == "published" and find_spec("langdetect") is None:
            raise MissingExtra.needing("langdetect", "ifeval", "rules='published'")

    def prepare(self) -> None:
        (published_language if self.rules == "published" else language)("This is English.")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        try:
            asked = _asked(sample)
        except ValueError as error:
            return Verdict.unjudged(f"the instructions can't be read: {error}")
        try:
            followed = [self._followed(text, *instruction) for instruction in asked]
        except re.error as error:
            return Verdict.unjudged(f"the instructions can't be read: {error}")
        names = [f"{n} {name}" for n, (name, _) in enumerate(asked)]
        paid = [not done or self._pays(*asked[n]) for n, done in enumerate(followed)]
        return self._verdict(dict(zip(names, followed, strict=True)), paid)

    def _pays(self, name: str, arguments: Arguments) -> bool:
        return self.vacuous == "paid" or not getattr(KINDS[name], self.rules)("", **arguments)

    def _followed(self, text: str, name: str, arguments: Arguments) -> bool:
        check = getattr(KINDS[name], self.rules)
        texts = _variants(text) if self.reading == "loose" else [text]
        says_something = str.strip if self.rules == "published" else _is_visible
        return any(check(variant, **arguments) for variant in texts if says_something(variant))

    def _verdict(self, followed: Mapping[str, bool], paid: Sequence[bool]) -> Verdict:
        missed = [name for name, done in followed.items() if not done]
        share = 1 - len(missed) / sum(paid) if any(paid) else 0.0
        verdict = Verdict.scored(
            share if self.score == "share" else float(share == 1),
            message=f"not followed: {', '.join(missed)}" if missed else "",
        )
        return replace(verdict, parts={name: float(done) for name, done in followed.items()})


BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Fillers that Unicode counts as letters and symbols, and that show nothing."""


def _is_visible(text: str) -> bool:
    """Whether any character shows: a text of invisible ones breaks no rule, and follows none."""
    return any(
        not sign.isspace() and sign not in BLANK_LETTERS and category(sign)[0] != "C"
        for sign in text
    )


def _asked(sample: Sample) -> list[Instruction]:
    found = [_instruction(name, given) for name, given in _named(sample)]
    if not found:
        raise ValueError("there are none")
    return found


def _instruction(name: str, given: Mapping[str, Any]) -> Instruction:
    name = name.removeprefix("en:")
    if name not in KINDS:
        raise ValueError(f"no kind is named {name!r}")
    try:
        return name, KINDS[name].arguments(given)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _named(sample: Sample) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The ids and arguments in the reference, or in the columns of the published sets."""
    columns = sample.columns
    if "instruction_id_list" in columns:  # the reference may be another verifier's
        listed = [{"id": columns["instruction_id_list"], "kwargs": columns.get("kwargs")}]
    elif sample.reference.strip():
        listed = _json(sample.reference)
    else:
        listed = _json(columns.get("ground_truth", "[]"))
    for entry in map(_json, listed if isinstance(listed, list) else [listed]):
        if not isinstance(entry, Mapping):
            raise ValueError(f"{entry!r:.80} isn't an object with id and kwargs")
        names = _listed(entry.get("id", entry.get("instruction_id")))
        arguments = _listed(_json(entry.get("kwargs")) or [{}] * len(names))
        if len(arguments) != len(names):
            raise ValueError(f"{len(names)} ids, but {len(arguments)} kwargs")
        for name, given in zip(names, arguments, strict=True):
            if not isinstance(given or {}, Mapping):
                raise ValueError(f"the kwargs of {name} are {given!r:.80}, not an object")
            yield str(name), given or {}


def _json(value: object) -> Any:
    """The value of JSON, or of a Python literal, which open-instruct writes."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise error from None


def _listed(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else [value]


def _variants(text: str) -> list[str]:
    """The eight texts of the loose reading: first and last line dropped, asterisks removed."""
    lines = text.split("\n")
    cut = [lines, lines[1:], lines[:-1], lines[1:-1]]
    texts = ["\n".join(kept).strip() if kept is not lines else text for kept in cut]
    return [*texts, *(variant.replace("*", "") for variant in texts)]
