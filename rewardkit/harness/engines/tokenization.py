"""A checkpoint's tokenizer, as transformers loads it: text to token ids and back."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rewardkit.errors import UsageError, needs_extra
from rewardkit.harness.results.model_folder import loading_error
from rewardkit.protocols import Message, Prompt, Tool

_SOURCES = ("tokenizer.json", "*.model", "vocab.*", "tekken.json", "*.tiktoken")
_CONTEXT = 8


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer of transformers; training gets the same object."""

    loaded: Any
    model: str = "the model"
    """The model's name in messages."""

    @property
    def engine(self) -> Any:
        """The `tokenizers.Tokenizer` behind it."""
        return self.loaded.backend_tokenizer

    @property
    def chat_template(self) -> str | None:
        """The chat template of prompts without tools, if the checkpoint has any."""
        templates = self.loaded.chat_template
        return templates.get("default") if isinstance(templates, dict) else templates

    def prompt(
        self,
        messages: Sequence[Message],
        *,
        chat: bool,
        arguments: Mapping[str, object] = MappingProxyType({}),
        tools: Sequence[Tool] = (),
    ) -> Prompt:
        """Render with the chat template and its `arguments`.

        The prompt is plain text if there is no template or `chat` is off. UsageError if the text
        doesn't show each tool's name.
        """
        if chat and self.chat_template is not None:
            text = _encodable(self._render_chat(messages, arguments, tools))
            ids = self.engine.encode(text, add_special_tokens=False).ids
        else:
            text = _encodable("\n\n".join(message.content for message in messages))
            ids = self._plain_ids(text)
        if not ids:
            raise UsageError(
                f"a prompt has no tokens (its text is {text!r}); change the prompt, or the model's "
                "chat template"
            )
        _check_tools(tools, text, self.model)
        return Prompt(text, tuple(ids), tuple(messages), tuple(tools))

    def _render_chat(
        self, messages: Sequence[Message], arguments: Mapping[str, object], tools: Sequence[Tool]
    ) -> str:
        """Render up to the assistant's turn. UsageError for any error of the template, and for an
        argument that rewardkit sets."""
        import jinja2

        for name in arguments:
            if name in ("messages", *inspect.signature(self.loaded.apply_chat_template).parameters):
                raise UsageError(
                    f"--chat-template-arg {name}=… can't be set: rewardkit sets {name}"
                )
        try:
            text = self.loaded.apply_chat_template(
                [message.as_json() for message in messages],
                tools=list(tools) or None,
                add_generation_prompt=True,
                tokenize=False,
                **arguments,
            )
        except jinja2.TemplateSyntaxError as error:
            raise UsageError(
                f"the chat template of {self.model} can't be compiled, line {error.lineno}: "
                f"{error.message}; fix it, or use --no-chat-template"
            ) from error
        except Exception as error:  # an error of any template must name the template
            raise UsageError(
                f"the chat template of {self.model} fails for these messages: "
                f"{type(error).__name__}: {error}; change the prompt's roles or fix the template, "
                "or use --no-chat-template"
            ) from error
        return str(text)

    def token_count(self, text: str) -> int:
        """The number of tokens of a completion, without special tokens."""
        return len(self.engine.encode(_encodable(text), add_special_tokens=False).ids)

    def completion_ids(self, prompt: Prompt, text: str, *, chat: bool) -> tuple[int, ...]:
        """The token ids of a completion that follows the prompt; the prompt's ids stay the same."""
        text, size = _encodable(text), len(prompt.token_ids)
        if chat:
            whole = self.engine.encode(prompt.text + text, add_special_tokens=False).ids
        else:
            whole = self._plain_ids(prompt.text + text)
        if tuple(whole[:size]) == prompt.token_ids:
            return tuple(whole[size:])
        return tuple(self.engine.encode(text, add_special_tokens=False).ids)

    def _plain_ids(self, text: str) -> list[int]:
        bos = self.loaded.bos_token
        starts_with_bos = bos is not None and text.startswith(bos)
        return list(self.engine.encode(text, add_special_tokens=not starts_with_bos).ids)

    def decode(self, prompt: Sequence[int], completion: Sequence[int]) -> str:
        """The completion's text. Without the prompt, some decoders would drop a first space."""
        context = list(prompt[-_CONTEXT:])
        before = self.engine.decode(context, skip_special_tokens=True)
        text = self.engine.decode([*context, *completion], skip_special_tokens=True)
        if text.startswith(before):
            return str(text[len(before) :])
        return str(self.engine.decode(list(completion), skip_special_tokens=True))


def _check_tools(tools: Sequence[Tool], text: str, model: str) -> None:
    for name in (str(tool.get("function", tool).get("name")) for tool in tools):
        if name not in text:
            raise UsageError(
                f"the rows have tools, and the prompt doesn't show {name!r}: the chat template of "
                f"{model} renders no tools, or it isn't used; choose another model, "
                "--prompt tools, or a prompt of your own with {{ tools | tojson }}"
            )


def _encodable(text: str) -> str:
    """The text with a question mark for each half surrogate: no tokenizer takes those."""
    return text.encode("utf-8", "replace").decode("utf-8")


def load(folder: Path, *, trust_remote_code: bool = False) -> Tokenizer:
    """Load the tokenizer in a checkpoint's folder. Raises UsageError or MissingExtra.

    A tokenizer.json decides alone. AutoTokenizer would ignore its rules, and build the tokenizer
    that tokenizer_config.json or config.json names from the vocabulary.
    """
    if not any(path for pattern in _SOURCES for path in folder.glob(pattern)):
        raise UsageError(f"no tokenizer in {folder}; save it beside the weights")
    with needs_extra("transformers", "a local model"):
        from transformers import AutoTokenizer, PreTrainedTokenizerFast
    loader = PreTrainedTokenizerFast if (folder / "tokenizer.json").is_file() else AutoTokenizer
    try:
        loaded = loader.from_pretrained(
            folder, trust_remote_code=trust_remote_code, local_files_only=True
        )
        loaded.backend_tokenizer.no_truncation()
        loaded.backend_tokenizer.no_padding()
    except Exception as error:  # the Rust library raises a bare Exception
        raise loading_error(
            f"transformers can't load the tokenizer in {folder} from tokenizer.json and the files "
            "beside it; save it again with save_pretrained",
            error,
        ) from error
    return Tokenizer(loaded, str(folder))
