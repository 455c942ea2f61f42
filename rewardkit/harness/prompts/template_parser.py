"""Reads a prompt's text: its blocks, what it sets, and the variables that it uses.

Outside of blocks stands the user's message. `system` is the system message; `opening` stands
before the first of the user's messages; `example` and `reply` are rendered for each example, as
turns of the user and of the assistant before the question. A template may set `reading`, the style
in which it asks for the answer; `stop`, texts that end a completion; `shows`, the kind of the
task's own examples that it wants; and `about`, a line for `rewardkit list`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2 import meta, nodes

from rewardkit.errors import UsageError
from rewardkit.harness.prompts.wording import Kind

BLOCKS = ("system", "opening", "example", "reply")
KINDS: tuple[Kind, ...] = ("example", "long")
USER = "user"
"""The part that stands outside of blocks."""


@dataclass(frozen=True)
class Parsed:
    """A template's parts by block, what it sets, and all variables that it uses and doesn't set."""

    parts: Mapping[str, jinja2.Template]
    variables: frozenset[str]
    reading: str | None
    stop: tuple[str, ...]
    shows: Kind
    about: str


def parse(name: str, source: str) -> Parsed:
    """The template `source`; UsageError, with the line, where it is none."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    try:
        tree = environment.parse(source)
        variables = frozenset(meta.find_undeclared_variables(tree))
        parts = _parts(environment, tree)
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"prompt {name!r}, line {error.lineno}: {error.message}") from error
    _check_blocks(name, set(parts) - {USER})
    return Parsed(parts, variables, **_settings(name, tree))


def _parts(environment: jinja2.Environment, tree: nodes.Template) -> dict[str, jinja2.Template]:
    """The blocks by their name, and under "user" what stands outside of them."""
    blocks = [node for node in tree.body if isinstance(node, nodes.Block)]
    for inner_block in tree.find_all(nodes.Block):
        if inner_block not in blocks:
            raise jinja2.TemplateSyntaxError(
                f"block {inner_block.name!r} stands inside of something else; blocks are messages "
                "of their own and stand alone",
                inner_block.lineno,
            )
    body = nodes.Template([node for node in tree.body if node not in blocks], lineno=1)
    inner = {block.name: nodes.Template(block.body, lineno=block.lineno) for block in blocks}
    for part in (body, *inner.values()):
        part.set_environment(environment)
    return {name: environment.from_string(part) for name, part in {**inner, USER: body}.items()}


def _check_blocks(name: str, blocks: set[str]) -> None:
    unknown = sorted(blocks - set(BLOCKS))
    if unknown:
        raise UsageError(
            f"prompt {name!r} has blocks {unknown}; known are {', '.join(map(repr, BLOCKS))}"
        )
    if ("example" in blocks) != ("reply" in blocks):
        lone = "example" if "example" in blocks else "reply"
        raise UsageError(
            f"prompt {name!r} has a block {lone!r} alone; 'example' and 'reply' go together: "
            "what the user asks and what the assistant answers"
        )


def _settings(name: str, tree: nodes.Template) -> dict[str, Any]:
    """What the template sets, of `_SETTINGS`; UsageError for a value that isn't of its kind."""
    found: dict[str, Any] = {"reading": None, "stop": (), "shows": "example", "about": ""}
    for node in tree.find_all(nodes.Assign):
        if not isinstance(node.target, nodes.Name) or node.target.name not in _SETTINGS:
            continue
        setting = node.target.name
        wanted, fits = _SETTINGS[setting]
        value = _constant(node.node)
        if not fits(value):
            raise UsageError(
                f"prompt {name!r}, line {node.lineno}: {setting} must be {wanted}, "
                "as it stands, not computed"
            )
        found[setting] = value
    stop = found["stop"]
    return found | {"stop": (stop,) if isinstance(stop, str) else tuple(stop)}


def _constant(value: nodes.Node) -> object:
    try:
        return value.as_const() if isinstance(value, nodes.Expr) else None
    except nodes.Impossible:
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return _is_text(value) or (isinstance(value, list | tuple) and all(map(_is_text, value)))


_SETTINGS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "reading": ("a text", _is_text),
    "stop": ("a list of texts", _is_texts),
    "shows": (" or ".join(map(repr, KINDS)), KINDS.__contains__),
    "about": ("a text", _is_text),
}
