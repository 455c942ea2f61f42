"""Read a completion's tokens up to a stop token or a stop string, alike in every local engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.harness.backends.tokenization import Tokenizer
from rewardkit.protocols import Prompt
from rewardkit.records import Completion
from rewardkit.thinking import split_thinking

if TYPE_CHECKING:
    import torch

_CONTEXT = 8


class CompletionReader:
    """Collects one completion: token by token if there are stop strings, else all at once."""

    def __init__(
        self, tokenizer: Tokenizer, prompt: Prompt, stop_ids: Collection[int], stop: Sequence[str]
    ) -> None:
        self._tokenizer = tokenizer
        self._prompt = prompt.token_ids
        self._prompt_text = prompt.text
        self._stop_ids = stop_ids
        self._stop = [text for text in stop if text]
        self._stream: Any = _stream(prompt.token_ids) if self._stop else None
        self._ids: list[int] = []
        self._text = ""
        self._cut: str | None = None
        self.done = False
        """Whether a stop token or a stop string has ended the completion."""

    def add(self, ids: Sequence[int]) -> None:
        """Read more tokens; those after the end are ignored."""
        for token in ids:
            if self.done:
                return
            self._ids.append(token)
            if token in self._stop_ids:
                self.done = True
            elif self._stop:
                self._find_stop(token)

    def _find_stop(self, token: int) -> None:
        """Decode the token and end the text before a stop string."""
        piece = self._decode(token)
        self._text += piece
        ends = []
        for stop in self._stop if piece else ():
            start = self._text.find(stop, max(0, len(self._text) - len(piece) - len(stop) + 1))
            if start >= 0:
                ends.append((start + len(stop), start))
        if ends:
            # the stop string that is complete first, as if characters came one by one
            self._cut = self._text[: min(ends)[1]]
            self.done = True

    def _decode(self, token: int) -> str:
        try:
            return self._stream.step(self._tokenizer.engine, token) or ""
        except Exception:  # the Rust library raises a bare Exception on invalid UTF-8
            self._stream = _stream(())
            return self._stream.step(self._tokenizer.engine, token) or ""

    def completion(self) -> Completion:
        """The completion; its finish reason is "length" unless something ended it."""
        ids = self._ids
        text = self._cut
        if text is None:
            ended = ids[:-1] if self.done else ids
            text = self._tokenizer.decode(self._prompt, ended)
        reason = "stop" if self.done else "length"
        thinking = self._thinking_tokens(text)
        return Completion(text, reason, len(self._prompt), len(ids), thinking_tokens=thinking)

    def _thinking_tokens(self, text: str) -> int | None:
        """Number of tokens up to the end of the thinking; None without any."""
        thinking, answer = split_thinking(text, self._prompt_text)
        if not thinking:
            return None
        if not answer:
            return len(self._ids)
        engine = self._tokenizer.engine
        end = engine.token_to_id("</think>")
        if end in self._ids:
            return len(self._ids) - self._ids[::-1].index(end)
        return len(engine.encode(thinking, add_special_tokens=False).ids)


def _stream(context: Sequence[int]) -> Any:
    from tokenizers.decoders import DecodeStream

    return DecodeStream(ids=list(context[-_CONTEXT:]), skip_special_tokens=True)


class StopCriteria:
    """Stopping criteria for transformers: a reader for each row of the batch."""

    def __init__(self, readers: Sequence[CompletionReader]) -> None:
        self._readers = readers

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        """Read each row's newest token. Shapes: rows × length in, a bool per row out."""
        import torch

        for reader, token in zip(self._readers, input_ids[:, -1].tolist(), strict=True):
            reader.add([token])
        return torch.tensor([reader.done for reader in self._readers], device=input_ids.device)
