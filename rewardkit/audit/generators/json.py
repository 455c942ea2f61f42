"""Documents for a JSON Schema: layouts that change nothing, and documents that break it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from rewardkit.audit.cases import Draw, families_of
from rewardkit.audit.generators import texts

FORMS = ("```json\n{}\n```", "<answer>{}</answer>", "{}")
PROBES = (('{"required": ["n"]}', '{"n": 1}', '{"m": 1}'),)

Document = dict[str, Any]

SCHEMA: Document = texts()["json"]
LAYOUTS: Mapping[str, Callable[[Document], str]] = {
    "one line": json.dumps,
    "indented": lambda document: json.dumps(document, indent=4),
    "no spaces": lambda document: json.dumps(document, separators=(",", ":")),
    "keys in another order": lambda document: json.dumps(dict(reversed(document.items()))),
    "optional keys left out": lambda document: json.dumps(
        {key: document[key] for key in SCHEMA["required"]}
    ),
    "escaped letters": lambda document: json.dumps(document).replace("n", r"\u006e"),
}
BREAKS: Mapping[str, Callable[[Document], str]] = {
    "a required key missing": lambda document: json.dumps(
        {key: value for key, value in document.items() if key != "name"}
    ),
    "a key more": lambda document: json.dumps({**document, "extra": 1}),
    "a number as text": lambda document: json.dumps({**document, "count": "7"}),
    "a fraction": lambda document: json.dumps({**document, "count": 7.5}),
    "above the maximum": lambda document: json.dumps({**document, "count": 101}),
    "text too long": lambda document: json.dumps({**document, "name": "x" * 13}),
    "empty text": lambda document: json.dumps({**document, "name": ""}),
    "no allowed value": lambda document: json.dumps({**document, "colour": "pink"}),
    "empty list": lambda document: json.dumps({**document, "sizes": []}),
    "null": lambda document: json.dumps({**document, "done": None}),
    "a list around it": lambda document: json.dumps([document]),
    "single quotes": lambda document: json.dumps(document).replace('"', "'"),
    "a comma at the end": lambda document: f"{json.dumps(document)[:-1]},}}",
    "cut off": lambda document: json.dumps(document)[:-2],
    "a key twice": lambda document: f'{{"count": 7, {json.dumps(document)[1:]}',
}


def _document(rng: Random) -> Document:
    return {
        "count": rng.randint(0, 100),
        "name": "".join(rng.choices("abcdehn", k=rng.randint(1, 12))),
        "colour": rng.choice(("red", "green", "blue")),
        "done": rng.random() < 0.5,
        "sizes": [rng.randint(-9, 9) / 2 for _ in range(rng.randint(1, 3))],
    }


def families(form: str) -> dict[str, Draw]:
    """All families of documents, written as `form`."""

    def pair(write: Callable[[Document], str], rng: Random) -> tuple[str, str]:
        return write(_document(rng)), json.dumps(SCHEMA)

    layouts = {f"layout: {name}": partial(pair, write) for name, write in LAYOUTS.items()}
    breaks = {f"broken: {name}": partial(pair, write) for name, write in BREAKS.items()}
    return {**families_of(layouts, form, right=True), **families_of(breaks, form, right=False)}
