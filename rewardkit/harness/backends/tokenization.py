"""Load a checkpoint's tokenizer from its tokenizer.json, and render its chat template.

AutoTokenizer rebuilds the tokenizer that config.json's model type suggests and ignores a
tokenizer.json of another kind; the file itself is what the model was trained with.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.store.model_folder import loading_error, read_json
from rewardkit.lazy import needs_extra
from rewardkit.protocols import Message, Prompt, Tool


def render_chat(
    template: str,
    messages: Sequence[Message],
    variables: Mapping[str, object],
    model: str,
    tools: Sequence[Tool] = (),
) -> str:
    """Render `messages` and `tools` in transformers' sandbox up to the assistant's turn, with
    further variables of the template.

    UsageError for any error of the template, or for a variable that rendering itself sets.
    """
    import jinja2

    with needs_extra("transformers", "a chat template"):
        from transformers.utils.chat_template_utils import render_jinja_template
    set_by_us = ("messages", *inspect.signature(render_jinja_template).parameters)
    for name in variables:
        if name in set_by_us:
            raise UsageError(f"--chat-template-arg {name}=… can't be set: rewardkit sets {name}")
    try:
        (text,), _ = render_jinja_template(
            [[message.as_json() for message in messages]],
            tools=list(tools) or None,
            chat_template=template,
            add_generation_prompt=True,
            **variables,
        )
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(
            f"the chat template of {model} can't be compiled, line {error.lineno}: "
            f"{error.message}; fix it, or use --no-chat-template"
        ) from error
    except Exception as error:  # strangers write templates: every error of one must name it
        raise UsageError(
            f"the chat template of {model} fails for these messages: {type(error).__name__}: "
            f"{error}; change the prompt's roles or fix the template, or use --no-chat-template"
        ) from error
    return str(text)


_SPECIAL = [f"{kind}_token" for kind in ("bos", "eos", "pad", "unk", "sep", "cls", "mask")]
_SOURCES = ("*.model", "vocab.*", "tekken.json", "*.tiktoken")
_CONTEXT = 8


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A `tokenizers` engine, the checkpoint's special tokens and its chat template, if any."""

    engine: Any  # tokenizers.Tokenizer, which is imported where it is loaded
    special: Mapping[str, str]
    chat_template: str | None
    add_bos: bool | None = None
    model: str = "the model"
    """The model's name in messages."""
    tool_template: str | None = None
    """The chat template for prompts with tools, if the checkpoint has another one for these."""

    def prompt(
        self,
        messages: Sequence[Message],
        *,
        chat: bool,
        arguments: Mapping[str, object] = MappingProxyType({}),
        tools: Sequence[Tool] = (),
    ) -> Prompt:
        """Render with the chat template and its `arguments`; as plain text where there is none or
        `chat` is off. UsageError if the text doesn't show each tool's name."""
        template = (self.tool_template if tools else None) or self.chat_template
        if chat and template is not None:
            variables = {**arguments, **self.special}
            text = _encodable(render_chat(template, messages, variables, self.model, tools))
            ids = self.engine.encode(text, add_special_tokens=False).ids
        else:
            text = _encodable("\n\n".join(message.content for message in messages))
            ids = self._with_bos(text)
        if not ids:
            raise UsageError(
                f"a prompt has no tokens (its text is {text!r}); change the prompt, or the model's "
                "chat template"
            )
        _check_tools(tools, text, self.model)
        return Prompt(text, tuple(ids), tuple(messages), tuple(tools))

    def token_count(self, text: str) -> int:
        """The number of tokens of a completion, without special tokens."""
        return len(self.engine.encode(_encodable(text), add_special_tokens=False).ids)

    def completion_ids(self, prompt: Prompt, text: str, *, chat: bool) -> tuple[int, ...]:
        """The token ids of a completion as it follows the prompt, whose own ids it leaves alone."""
        text, size = _encodable(text), len(prompt.token_ids)
        if chat:
            whole = self.engine.encode(prompt.text + text, add_special_tokens=False).ids
        else:
            whole = self._with_bos(prompt.text + text)
        if tuple(whole[:size]) == prompt.token_ids:
            return tuple(whole[size:])
        return tuple(self.engine.encode(text, add_special_tokens=False).ids)

    def _with_bos(self, text: str) -> list[int]:
        bos = self.special.get("bos_token")
        starts_with_bos = bos is not None and text.startswith(bos)
        ids = list(self.engine.encode(text, add_special_tokens=not starts_with_bos).ids)
        if self.add_bos is None or bos is None or starts_with_bos:
            return ids
        first = self.engine.token_to_id(bos)
        rest = ids[1:] if ids[:1] == [first] else ids
        return [first, *rest] if self.add_bos else rest

    def decode(self, prompt: Sequence[int], completion: Sequence[int]) -> str:
        """The completion's text after the prompt: alone, some decoders would drop a first space."""
        context = list(prompt[-_CONTEXT:])
        before = self.engine.decode(context, skip_special_tokens=True)
        text = self.engine.decode([*context, *completion], skip_special_tokens=True)
        if text.startswith(before):
            return str(text[len(before) :])
        return str(self.engine.decode(list(completion), skip_special_tokens=True))

    def token_id(self, name: str) -> int | None:
        """The id of a special token such as "eos_token", or None."""
        token = self.special.get(name)
        token_id = None if token is None else self.engine.token_to_id(token)
        return None if token_id is None else int(token_id)


def _check_tools(tools: Sequence[Tool], text: str, model: str) -> None:
    for name in (str(tool.get("function", tool).get("name")) for tool in tools):
        if name not in text:
            raise UsageError(
                f"the rows have tools, and the prompt doesn't show {name!r}: the chat template of "
                f"{model} renders no tools, or it isn't used; choose another model, "
                "--prompt tools, or a prompt of your own with {{ tools | tojson }}"
            )


def _encodable(text: str) -> str:
    """The text with a question mark for each half surrogate, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def load(folder: Path, *, trust_remote_code: bool = False) -> Tokenizer:
    """Load the tokenizer in a checkpoint's folder. Raises UsageError or MissingExtra."""
    settings = read_json(folder / "tokenizer_config.json")
    engine = _load_engine(folder, trust_remote_code)
    engine.no_truncation()
    engine.no_padding()
    try:
        _add_missing_tokens(engine, settings)
        templates = _chat_templates(folder, settings)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{folder / 'tokenizer_config.json'}, or the chat template beside it, can't be read "
            f"({type(error).__name__}: {error}); save the tokenizer again with save_pretrained"
        ) from error
    add_bos = settings.get("add_bos_token")
    return Tokenizer(
        engine=engine,
        special=_special_tokens(read_json(folder / "special_tokens_map.json") | settings),
        chat_template=templates.get("default"),
        tool_template=templates.get("tool_use"),
        add_bos=add_bos if isinstance(add_bos, bool) else None,
        model=str(folder),
    )


def _load_engine(folder: Path, trust_remote_code: bool) -> Any:
    path = folder / "tokenizer.json"
    if not path.is_file():
        return _convert_engine(folder, trust_remote_code)
    with needs_extra("transformers", "a local model"):
        from tokenizers import Tokenizer as Engine
    try:
        return Engine.from_file(str(path))
    except Exception as error:  # the Rust library raises a bare Exception
        raise UsageError(f"{path} can't be read as a tokenizer: {error}") from error


def _convert_engine(folder: Path, trust_remote_code: bool) -> Any:
    """Let transformers convert sentencepiece or vocabulary files."""
    if not any(path for pattern in _SOURCES for path in folder.glob(pattern)):
        raise UsageError(f"no tokenizer in {folder}; save it beside the weights")
    with needs_extra("transformers", "this tokenizer"):
        from transformers import AutoTokenizer
    try:
        engine = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=trust_remote_code
        ).backend_tokenizer
    except (OSError, ValueError, AttributeError) as error:
        raise loading_error(
            f"{folder} holds no tokenizer.json, and transformers can't make one of its other "
            "files; save the tokenizer with save_pretrained",
            error,
        ) from error
    return engine


def _add_missing_tokens(engine: Any, settings: Mapping[str, object]) -> None:
    from tokenizers import AddedToken

    added = settings.get("added_tokens_decoder")
    entries = added if isinstance(added, dict) else {}
    for _, entry in sorted(entries.items(), key=lambda item: int(item[0])):
        if engine.token_to_id(entry["content"]) is None:
            engine.add_tokens([AddedToken(**entry)])


def _special_tokens(settings: Mapping[str, object]) -> dict[str, str]:
    tokens = {name: settings.get(name) for name in _SPECIAL}
    texts = {name: t.get("content") if isinstance(t, dict) else t for name, t in tokens.items()}
    return {name: _encodable(text) for name, text in texts.items() if isinstance(text, str)}


def _chat_templates(folder: Path, settings: Mapping[str, object]) -> dict[str, str]:
    """The chat templates by name; the usual one is `default`."""
    files = {
        "default": folder / "chat_template.jinja",
        "tool_use": folder / "additional_chat_templates" / "tool_use.jinja",
    }
    given = settings.get("chat_template")
    listed = given if isinstance(given, list) else [{"name": "default", "template": given}]
    named: dict[Any, Any] = {entry["name"]: entry["template"] for entry in listed}
    named |= {name: file.read_text("utf-8") for name, file in files.items() if file.is_file()}
    return {name: template for name, template in named.items() if isinstance(template, str)}
