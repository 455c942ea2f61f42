"""Prompts from Jinja2 templates.

A template is text: one user message. It may hold a `{% block system %}…{% endblock %}`, which is
the system message, and `{% set reading = "boxed" %}`, the style in which it asks for the answer.
Its variables are `question` and the columns of the data set's row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import jinja2
from jinja2 import nodes

from rewardkit.errors import UsageError
from rewardkit.protocols import Message
from rewardkit.records import Sample


@dataclass(frozen=True)
class PromptTemplate:
    """A template that was found and parsed. `reading` None: the task's own style."""

    name: str
    source: str
    reading: str | None
    system: str | None
    _user_part: jinja2.Template
    _system_part: jinja2.Template | None

    def messages(self, sample: Sample) -> list[Message]:
        """The system message, if any, and the user's."""
        variables = {**sample.columns, "question": sample.question}
        system = self.system
        try:
            user = self._user_part.render(variables).strip()
            if system is None and self._system_part is not None:
                system = self._system_part.render(variables).strip()
        except jinja2.TemplateError as error:
            raise UsageError(
                f"prompt {self.name!r} doesn't render for sample {sample.id!r}: {error}; "
                f"its variables here: {', '.join(sorted(variables))}"
            ) from error
        turns = [Message("system", system)] if system else []
        return [*turns, Message("user", user)]

    def hash(self) -> str:
        """Identifies what is asked: the template's text and the system prompt set over it."""
        return hashlib.sha256(f"{self.source}\0{self.system}".encode()).hexdigest()


def load_template(name: str, path: str | Path, system: str | None = None) -> PromptTemplate:
    """The template in the file at `path`; `system` replaces its system message."""
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt file {str(path)!r} can't be read: {error}") from error
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    try:
        tree = environment.parse(source)
        blocks = [node for node in tree.body if isinstance(node, nodes.Block)]
        tree.body = [node for node in tree.body if not isinstance(node, nodes.Block)]
        user = environment.from_string(tree)
        parts = {block.name: environment.from_string(_template(block)) for block in blocks}
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"prompt {name!r}, line {error.lineno}: {error.message}") from error
    if set(parts) - {"system"}:
        raise UsageError(f"prompt {name!r} has blocks {sorted(parts)}; only 'system' is known")
    return PromptTemplate(name, source, _reading(tree), system, user, parts.get("system"))


def _template(block: nodes.Block) -> nodes.Template:
    template = nodes.Template(block.body, lineno=block.lineno)
    if block.environment is not None:
        template.set_environment(block.environment)
    return template


def _reading(tree: nodes.Template) -> str | None:
    for node in tree.find_all(nodes.Assign):
        target, value = node.target, node.node
        if isinstance(target, nodes.Name) and target.name == "reading":
            return str(value.as_const()) if isinstance(value, nodes.Expr) else None
    return None
