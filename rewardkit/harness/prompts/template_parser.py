"""Parse a prompt's text into its settings, its blocks and the variables that it uses.

A prompt may begin with settings in TOML between two lines `+++`: `reading`, the style in which it
asks for the answer; `stop`, texts that end a completion; `shows`, the kind of the task's own
examples that it wants; `reply`, the form of a worked reply if no block says it; and `about`, a line
for `rewardkit list`. The rest is a Jinja2 template. Outside of blocks is the user's message.
`system` is the system message; `opening` comes before the first of the user's messages; `example`
and `reply` are rendered for each example, as turns of the user and of the assistant before the
question.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.runtime import Context

from rewardkit.errors import UsageError
from rewardkit.harness.prompts.sandbox import Sandbox, limited
from rewardkit.harness.prompts.wording import Kind

BLOCKS = ("system", "opening", "example", "reply")
KINDS: tuple[Kind, ...] = ("example", "long")
USER = "user"
"""The part outside the blocks."""

_PLAIN_REPLY = "{{ example.solution }}\n{{ example.answer }}"

_FENCE = "+++"
_SET_OF_0_1_0 = re.compile(r"{%-?\s*set\s+(reading|stop|shows|about)\s*=.*?%}\s*", re.DOTALL)


@dataclass(frozen=True)
class ParsedTemplate:
    """A template, its settings, and all variables that it uses without setting them."""

    template: jinja2.Template
    variables: frozenset[str]
    reading: str | None
    stop: tuple[str, ...]
    shows: Kind
    about: str
    reply: jinja2.Template | None = None
    """How a worked reply is written, for training on solutions; it is no part of the prompt."""

    @cached_property
    def parts(self) -> frozenset[str]:
        """Its blocks, and "user"."""
        return frozenset({*self.template.blocks, USER})

    @cached_property
    def _globals(self) -> dict[str, Any]:
        # a template keeps its globals in a ChainMap, which is slow to copy for each rendering
        return dict(self.template.globals)

    def render(self, part: str, variables: Mapping[str, Any]) -> str:
        """Render one part. Raises any exception that a template can raise."""
        template = self.template
        blocks = template.blocks
        if part == USER:
            blocks = dict.fromkeys(blocks, _nothing)
        context = Context(
            template.environment, {**self._globals, **variables}, template.name, blocks
        )
        function = template.root_render_func if part == USER else blocks[part]
        with limited():
            return "".join(function(context)).strip()

    def render_reply(self, variables: Mapping[str, Any]) -> str:
        """A worked reply: by the block, by the setting, else the solution and the answer."""
        if "reply" in self.parts:
            return self.render("reply", variables)
        with limited():
            return (self.reply or _compiled_reply(_PLAIN_REPLY)).render(variables).strip()


def parse(name: str, source: str) -> ParsedTemplate:
    """Parse the template `source`. UsageError names the line that is wrong."""
    front_matter, body = _split(name, source)
    _refuse_settings_of_0_1_0(name, body)
    # the lines of the front matter stay, empty, so that an error names the file's line
    lines = "\n" * (source.count("\n") - body.count("\n"))
    try:
        template, tree = Sandbox().compiled(lines + body)
        _check_blocks(name, tree)
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"prompt {name!r}, line {error.lineno}: {error.message}") from error
    except (jinja2.TemplateError, RecursionError, ValueError) as error:
        raise UsageError(f"prompt {name!r} can't be compiled: {error}") from error
    variables = frozenset(meta.find_undeclared_variables(tree))
    settings = _settings(name, front_matter)
    reply = settings.pop("reply")
    return ParsedTemplate(
        template, variables, **settings, reply=None if reply is None else _reply(name, reply)
    )


def is_of_0_1_0(earlier: str, today: str) -> bool:
    """Whether `earlier` is the prompt `today`, with its settings in the form of rewardkit 0.1.0."""
    _, body = _split("", today)
    return _SET_OF_0_1_0.sub("", earlier).strip() == body.strip() != earlier.strip()


def _reply(name: str, source: str) -> jinja2.Template:
    try:
        return _compiled_reply(source)
    except (jinja2.TemplateError, RecursionError, ValueError) as error:
        raise UsageError(f"prompt {name!r}: its `reply` can't be compiled: {error}") from error


@functools.lru_cache(maxsize=64)
def _compiled_reply(source: str) -> jinja2.Template:
    return Sandbox().compiled(source)[0]


def _nothing(context: Context) -> Iterator[str]:
    return iter(())


def _split(name: str, source: str) -> tuple[str, str]:
    """Split a prompt into its front matter and its template."""
    first, _, rest = source.partition("\n")
    if first.strip() != _FENCE:
        return "", source
    lines = rest.split("\n")
    for place, line in enumerate(lines):
        if line.strip() == _FENCE:
            return "\n".join(lines[:place]), "\n".join(lines[place + 1 :])
    raise UsageError(f"prompt {name!r}: the line +++ that ends its settings is missing; add it")


def _refuse_settings_of_0_1_0(name: str, body: str) -> None:
    setting = _SET_OF_0_1_0.search(body)
    if setting is not None:
        raise UsageError(
            f"prompt {name!r} sets {setting[1]!r} with {{% set %}}, as rewardkit 0.1.0 read it; "
            f"write `{setting[1]} = …` in TOML between two lines +++ at the top of the file"
        )


def _check_blocks(name: str, tree: nodes.Template) -> None:
    blocks = set()
    for block in tree.find_all(nodes.Block):
        blocks.add(block.name)
        if block not in tree.body:
            raise UsageError(
                f"prompt {name!r}, line {block.lineno}: block {block.name!r} is nested; "
                "each block is a message of its own, so move it to the top level"
            )
    unknown = sorted(blocks - set(BLOCKS))
    if unknown:
        raise UsageError(
            f"prompt {name!r} has unknown blocks {unknown}; known: {', '.join(map(repr, BLOCKS))}"
        )
    if ("example" in blocks) != ("reply" in blocks):
        lone = "example" if "example" in blocks else "reply"
        raise UsageError(
            f"prompt {name!r} has a block {lone!r} alone; define both 'example' and 'reply': "
            "the user's question and the assistant's answer"
        )


def _settings(name: str, front_matter: str) -> dict[str, Any]:
    """Read the settings of the front matter. UsageError for an unknown name or a wrong type."""
    try:
        settings = tomllib.loads(front_matter)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"prompt {name!r}: its settings aren't TOML: {error}") from error
    for setting, value in settings.items():
        if setting not in _SETTINGS:
            names = ", ".join(_SETTINGS)
            raise UsageError(f"prompt {name!r} has no setting {setting!r}; known: {names}")
        kind, fits = _SETTINGS[setting]
        if not fits(value):
            raise UsageError(f"prompt {name!r}: {setting} is {value!r}; it must be {kind}")
    stop = settings.get("stop", ())
    return {
        "reading": settings.get("reading"),
        "stop": (stop,) if isinstance(stop, str) else tuple(stop),
        "shows": settings.get("shows", "example"),
        "about": settings.get("about", ""),
        "reply": settings.get("reply"),
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return _is_text(value) or (isinstance(value, list) and all(map(_is_text, value)))


_SETTINGS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "reading": ("a text", _is_text),
    "stop": ("a list of texts", _is_texts),
    "shows": (" or ".join(map(repr, KINDS)), KINDS.__contains__),
    "about": ("a text", _is_text),
    "reply": ("a text", _is_text),
}
