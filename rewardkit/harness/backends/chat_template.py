"""Render chat templates as transformers does, without importing it, which takes 2 s."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rewardkit.errors import UsageError
from rewardkit.protocols import Message


class _GenerationTag(jinja2.ext.Extension):
    """The tag `{% generation %}`, which marks an assistant's text: rendered as its body."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 types it as a plain set

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


_SET_BY_US = ("messages", "tools", "documents", "add_generation_prompt")


def render_chat(template: str, messages: Sequence[Message], variables: Mapping[str, object]) -> str:
    """Render `messages` up to the assistant's turn, with further variables of the template.

    UsageError where the template fails, or for a variable that rendering itself sets.
    """
    for name in _SET_BY_US:
        if name in variables:
            raise UsageError(f"--chat-template-arg {name}=… can't be set: rewardkit sets {name}")
    turns = [{"role": message.role, "content": message.content} for message in messages]
    try:
        return compile_template(template).render(
            messages=turns, tools=None, documents=None, add_generation_prompt=True, **variables
        )
    except jinja2.TemplateError as error:
        raise UsageError(
            f"the model's chat template refuses these messages: {error}; change the prompt's "
            "roles, or use --no-chat-template"
        ) from error


_compiled: dict[str, jinja2.Template] = {}


def compile_template(template: str) -> jinja2.Template:
    """Compile a template in the sandbox that transformers uses; compiled ones are cached."""
    if template not in _compiled:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_GenerationTag, jinja2.ext.loopcontrols],
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        _compiled[template] = environment.from_string(template)
    return _compiled[template]


def _refuse(message: str) -> str:
    raise jinja2.TemplateError(message)


def _to_json(value: object, indent: int | None = None, ensure_ascii: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)
