"""The options that every engine understands or refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

from rewardkit.errors import UnknownName, UsageError
from rewardkit.settings import PositiveInt, read_value
from rewardkit.text.thinking import ThinkingTags

CLIENT_ARGUMENTS = (
    "api_key",
    "concurrency",
    "max_retries",
    "timeout",
    "input_price",
    "output_price",
)
"""Arguments of the openai backend that no server gets and that change no completion."""

LOCAL_OPTIONS = (
    "dtype",
    "max_model_len",
    "tensor_parallel_size",
    "data_parallel_size",
    "gpu_memory_utilization",
    "trust_remote_code",
)
"""Options of engines that load a model here."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The engine options of `rewardkit eval`; `arguments` are its --backend-arg pairs."""

    chat_template: bool = True
    dtype: str = "auto"
    max_model_len: int | None = None
    tensor_parallel_size: int = 1
    data_parallel_size: int = 1
    gpu_memory_utilization: float | None = None
    seed: int = 0
    base_url: str | None = None
    trust_remote_code: bool = False
    """Whether code that a checkpoint brings may run."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    chat_template_args: Mapping[str, object] = field(default_factory=dict)
    reasoning_effort: str | None = None
    thinking_tags: ThinkingTags | None = None
    thinking_token_budget: int | None = None
    """As in `Sampling`, where generation reads it: an engine must be started for it."""

    def __post_init__(self) -> None:
        if self.chat_template_args and not self.chat_template:
            raise UsageError(
                "--chat-template-arg needs the chat template; leave out --no-chat-template"
            )

    def refuse(self, backend: str, *names: str) -> None:
        """Raise UsageError for an option that was set and that `backend` doesn't have."""
        for option in fields(self):
            if option.name in names and getattr(self, option.name) not in (option.default, {}):
                flag = option.name.replace("_args", "_arg").replace("_", "-")
                raise UsageError(f"the {backend} backend takes no --{flag}; leave it out")

    def reject_arguments_named(self, names: Iterable[str], backend: str) -> None:
        """Raise UsageError for a --backend-arg that rewardkit sets itself."""
        for name in sorted(set(self.arguments) & set(names)):
            raise UsageError(
                f"--backend-arg {name}=… can't be passed on to {backend}: rewardkit sets {name}; "
                f"{_REMEDIES.get(name, f'use --{name.replace(chr(95), chr(45))}')}"
            )

    def argument(self, name: str, default: int, *, backend: str) -> int:
        """The argument `name`, a whole number from 1. UsageError for any other value."""
        value = self.arguments.get(name, default)
        count: int = read_value(
            PositiveInt, value, f"--backend-arg {name} of the {backend} backend"
        )
        return count

    def reject_arguments_but(self, known: Iterable[str], backend: str) -> None:
        """Raise UnknownName for a --backend-arg that `backend` doesn't have."""
        names = sorted(known)
        for name in self.arguments:
            if name not in names:
                raise UnknownName.among(f"argument of the {backend} backend", name, names)


_REMEDIES = {
    "model": "use --model",
    "tokenizer": "put the tokenizer in the model's folder",
    "chat_template": "put the template in the model's folder",
    "skip_tokenizer_init": "prompts are sent as token ids",
}
