"""Where a completion ends: stop tokens and stop strings, the same in every local engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.harness.backends.tokenization import Tokenizer
from rewardkit.protocols import Prompt
from rewardkit.records import Completion

if TYPE_CHECKING:
    import torch

_CONTEXT = 8


class Reader:
    """One completion, read token by token where stop strings ask for it, else at once."""

    def __init__(
        self, tokenizer: Tokenizer, prompt: Prompt, stop_ids: Collection[int], stop: Sequence[str]
    ) -> None:
        self._tokenizer = tokenizer
        self._prompt = prompt.token_ids
        self._stop_ids = stop_ids
        self._stop = [one for one in stop if one]
        self._stream: Any = _stream(prompt.token_ids) if self._stop else None
        self._ids: list[int] = []
        self._text = ""
        self._cut: str | None = None
        self.done = False
        """Whether a stop token or a stop string has ended it."""

    def add(self, ids: Sequence[int]) -> None:
        """Read on; what follows the end is left out."""
        for token in ids:
            if self.done:
                return
            self._ids.append(token)
            if token in self._stop_ids:
                self.done = True
            elif self._stop:
                self._watch(token)

    def _watch(self, token: int) -> None:
        piece = self._decode(token)
        self._text += piece
        ends = []
        for stop in self._stop if piece else ():
            start = self._text.find(stop, max(0, len(self._text) - len(piece) - len(stop) + 1))
            if start >= 0:
                ends.append((start + len(stop), start))
        if ends:
            # the stop string that was complete first, as if characters came one by one
            self._cut = self._text[: min(ends)[1]]
            self.done = True

    def _decode(self, token: int) -> str:
        try:
            return self._stream.step(self._tokenizer.engine, token) or ""
        except Exception:  # the Rust library raises a bare one on bytes that are no UTF-8
            self._stream = _stream(())
            return self._stream.step(self._tokenizer.engine, token) or ""

    def completion(self) -> Completion:
        """What was read; cut at the token limit unless something ended it."""
        ids = self._ids
        text = self._cut
        if text is None:
            ended = ids[:-1] if self.done else ids
            text = self._tokenizer.decode(self._prompt, ended)
        reason = "stop" if self.done else "length"
        return Completion(text, reason, len(self._prompt), len(ids))


def _stream(context: Sequence[int]) -> Any:
    from tokenizers.decoders import DecodeStream

    return DecodeStream(ids=list(context[-_CONTEXT:]), skip_special_tokens=True)


class StopCriteria:
    """The readers as transformers' stopping criteria: which rows of a batch are done."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        """Whether each row is done, after its newest token: rows × length in, rows out."""
        import torch

        for reader, token in zip(self._readers, input_ids[:, -1].tolist(), strict=True):
            reader.add([token])
        return torch.tensor([reader.done for reader in self._readers], device=input_ids.device)
