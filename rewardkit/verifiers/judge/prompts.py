"""How a judge is asked, and how its reply is read: a form for each kind of model.

A judge is shown the question, the reference and the extracted answer, and nothing else that a model
wrote: each on one line, cut to a length, without what could end its fence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rewardkit.records import Sample
from rewardkit.thinking import text_to_read
from rewardkit.transcripts import question_in
from rewardkit.verifiers.reading import fenced_block

PromptName = Literal["chat", "json", "compass", "xverify", "general"]

LONGEST_QUESTION, LONGEST_REFERENCE, LONGEST_ANSWER = 4_000, 1_000, 500
"""Characters that a judge is shown; more are cut off."""

_FENCES = re.compile(r'"{2,}|`{2,}|#{2,}|<(?=[|/｜A-Za-z])|\[/?INST')
"""The starts of what separates the parts of a form, or the turns of a chat template."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a judge is shown."""

    question: str
    reference: str
    answer: str

    @classmethod
    def of(cls, answer: str, sample: Sample) -> Comparison:
        """The comparison of an extracted answer with a sample's references."""
        question = sample.question or question_in(sample.columns)
        return cls(
            _as_data(question, LONGEST_QUESTION),
            _as_data(" or ".join((sample.reference, *sample.references)), LONGEST_REFERENCE),
            _as_data(answer, LONGEST_ANSWER),
        )


def _as_data(text: str, longest: int) -> str:
    """The text on one line; a blank breaks each start of a fence."""
    line = " ".join(text[: 2 * longest].split())
    line = _FENCES.sub(lambda found: " ".join(found[0]) + " " * (len(found[0]) == 1), line)
    return line if len(line) <= longest else f"{line[:longest]}…"


@dataclass(frozen=True)
class Form:
    """A prompt and the replies to it. `same` and `different` are patterns of a whole reply."""

    template: str
    same: str
    different: str
    max_tokens: int
    chat: bool = True
    """Whether the prompt is a user's message, or the start of a text."""

    def prompt(self, shown: Comparison) -> str:
        """The prompt."""
        return self.template.format(
            question=shown.question, reference=shown.reference, answer=shown.answer
        )

    def read(self, reply: str) -> bool | None:
        """Whether a reply says that the answers are the same; None if it says neither."""
        reply = text_to_read(reply, "strip").strip()
        for pattern, same in ((self.same, True), (self.different, False)):
            if pattern and re.fullmatch(pattern, reply, re.IGNORECASE | re.DOTALL):
                return same
        return None if self.same else _read_json(reply)


def _read_json(reply: str) -> bool | None:
    try:
        said = json.loads(fenced_block(reply, "json"))
    except (ValueError, RecursionError):
        return None
    same = said.get("same") if isinstance(said, dict) else None
    return same if isinstance(same, bool) else None


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


FORMS: Mapping[PromptName, Form] = {
    "chat": Form(_text("chat.txt"), "S", "D", 1),
    "json": Form(_text("json.txt"), "", "", 2048),
    # the input that these models were trained on, to the letter: src/prompts.py of
    # open-compass/CompassVerifier, the prompt of IAAR-Shanghai/xVerify as OpenCompass has it, and
    # the model card of TIGER-Lab/general-verifier
    "compass": Form(_text("compass.txt"), "A", "[BC]", 1),
    "xverify": Form(_text("xverify.txt"), r"\[?correct\]?\.?", r"\[?incorrect\]?\.?", 6),
    "general": Form(
        _text("general.txt"),
        *(r".*Final Decision:\W*yes\W*", r".*Final Decision:\W*no\W*", 1024),
        chat=False,
    ),
}
