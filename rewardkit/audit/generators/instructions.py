"""Texts that follow an instruction, and the same texts with one thing changed that breaks it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from rewardkit.audit.cases import Draw, families_of

FORMS = ("{}",)
_ASKED = '[{"id": "punctuation:no_comma", "kwargs": {}}]'
PROBES = ((_ASKED, "The sea is calm.", "The sea, calm."),)

WORDS = ("river", "window", "copper", "garden", "winter", "engine", "cotton", "candle", "harbour")
SENTENCE = "The old {} stands beside the {} and the people of the town look at it every day."


def _prose(rng: Random) -> str:
    return " ".join(SENTENCE.format(*rng.sample(WORDS, 2)) for _ in range(rng.randint(2, 5)))


def _words(count: int) -> str:
    return " ".join(["The", *["very"] * (count - 3), "calm", "sea"])


def _bullets(count: int) -> str:
    return "\n".join(f"* {WORDS[place]}" for place in range(count))


def _paragraphs(count: int) -> str:
    return "\n***\n".join(SENTENCE.format(*WORDS[place : place + 2]) for place in range(count))


Rule = Callable[[Random], tuple[dict[str, Any], str, str]]
"""Draws the arguments of an instruction, a text that follows it, and a text that doesn't."""

AT_LEAST = {"relation": "at least"}
RULES: Mapping[str, Rule] = {
    "punctuation:no_comma": lambda rng: ({}, text := _prose(rng), text.replace(" and", ", and", 1)),
    "change_case:english_lowercase": lambda rng: ({}, (text := _prose(rng)).lower(), text),
    "change_case:english_capital": lambda rng: (
        {},
        (text := _prose(rng).upper()),
        text.replace("THE OLD", "The old", 1),
    ),
    "keywords:existence": lambda rng: (
        {"keywords": ["zebra", "violin"]},
        f"{(text := _prose(rng))} A zebra plays the violin.",
        f"{text} A zebra plays the viola.",
    ),
    "keywords:forbidden_words": lambda rng: (
        {"forbidden_words": ["zebra"]},
        (text := _prose(rng)),
        f"{text} A zebra looks on.",
    ),
    "keywords:frequency": lambda rng: (
        {"keyword": "zebra", "frequency": (count := rng.randint(2, 5)), **AT_LEAST},
        "A zebra. " * count,
        "A zebra. " * (count - 1),
    ),
    "length_constraints:number_words": lambda rng: (
        {"num_words": (count := rng.randint(5, 60)), **AT_LEAST},
        _words(count),
        _words(count - 1),
    ),
    "length_constraints:number_paragraphs": lambda rng: (
        {"num_paragraphs": (count := rng.randint(2, 4))},
        _paragraphs(count),
        _paragraphs(count + 1),
    ),
    "detectable_format:number_bullet_lists": lambda rng: (
        {"num_bullets": (count := rng.randint(2, 6))},
        _bullets(count),
        _bullets(count + rng.choice((-1, 1))),
    ),
    "detectable_format:title": lambda rng: (
        {},
        f"<<{rng.choice(WORDS)}>>\n\n{(text := _prose(rng))}",
        f"<{rng.choice(WORDS)}>\n\n{text}",
    ),
    "detectable_format:json_format": lambda rng: (
        {},
        (text := json.dumps({rng.choice(WORDS): rng.randint(1, 9)})),
        text[:-1],
    ),
    "detectable_content:number_placeholders": lambda rng: (
        {"num_placeholders": (count := rng.randint(2, 5))},
        " and ".join(f"[{word}]" for word in WORDS[:count]),
        " and ".join(f"[{word}]" for word in WORDS[: count - 1]),
    ),
    "startend:end_checker": lambda rng: (
        {"end_phrase": "That is all."},
        f"{(text := _prose(rng))} That is all.",
        f"{text} That is all. {rng.choice(WORDS)}",
    ),
    "startend:quotation": lambda rng: ({}, f'"{(text := _prose(rng))}"', f'"{text}'),
}


def families(form: str) -> dict[str, Draw]:
    """Return for each instruction a family of texts that follow it, and of texts that don't."""

    def pair(name: str, rule: Rule, place: int, rng: Random) -> tuple[str, str]:
        arguments, *texts = rule(rng)
        return texts[place], json.dumps([{"id": name, "kwargs": arguments}])

    followed, broken = (
        {f"{word}: {name}": partial(pair, name, rule, place) for name, rule in RULES.items()}
        for place, word in enumerate(("followed", "broken"))
    )
    return {**families_of(followed, form, right=True), **families_of(broken, form, right=False)}
