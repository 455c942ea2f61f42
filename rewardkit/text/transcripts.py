"""Find the model's last turn in a transcript.

Hosts pass whole trajectories: prompts, tool results and users' turns beside the model's turns. In a
text, the markers of chat templates separate the turns: ChatML (Qwen), Llama 3 and 4, Mistral,
gpt-oss, DeepSeek, Gemma, GLM, Phi and Kimi. Parts of a text are left out; nothing is added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

LONGEST_SPECIAL = 44
"""Characters of the longest special token that is dropped."""

FEWEST_MATCHING = 16
"""Characters of a prompt cut off at its start that the start of a query must match."""

_SPECIAL = re.compile(
    r"(?:<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|<(?:eos|bos|pad|end_of_turn)>)\Z"
)
_TAG = re.compile(r"<(?:[|｜]|/?tool_response>|start_of_)")
"""How each marker but Mistral's starts. `re` finds a fixed first character quickly."""

_MARKER = re.compile(
    r"""<\|im_(?:start|user|assistant|system)\|>(?P<chatml>[^\n<]{0,80})(?:<\|im_(?:sep|middle)\|>)?
    |<\|(?:start_header_id|header_start)\|>(?P<llama>[^\n<]{0,80})<\|(?:end_header_id|header_end)\|>
    |(?:<\|start\|>(?P<author>[^<]{0,200}))?(?:<\|channel\|>(?P<channel>[^<]{0,200}))?
        (?:<\|constrain\|>[^<]{0,80})?<\|message\|>
    |<\|(?P<bare>user|assistant|system|developer|tool|observation|ipython)\|>
    |<start_of_turn>(?P<gemma>\w{1,20})
    |<｜(?P<deepseek>User|Assistant|tool▁outputs?▁(?:begin|end))｜>
    |\[(?P<mistral>/?(?:INST|TOOL_RESULTS|SYSTEM_PROMPT|AVAILABLE_TOOLS))\]
    |<(?P<block>/?tool_response)>""",
    re.VERBOSE,
)
_LINE_OR_MARKER = re.compile(
    rf"(?m:^(?P<line>user|assistant|system|tool)\n)|{_MARKER.pattern}", re.VERBOSE
)
_LINE_OF_ANOTHER = re.compile(r"^(?:user|system|tool)\n", re.MULTILINE)
_LINE_OF_THE_MODEL = "\nassistant\n"

_NAMES_OF_THE_MODEL = ("assistant", "model")
_ENDS = ("/INST", "/TOOL_RESULTS", "tool▁outputs▁end", "tool▁output▁end")
"""Markers that end another speaker's text. The model's text follows."""

Owner = Literal["text", "thinking", "call"] | None
ANALYSIS = "<|channel|>analysis<|message|>"

_REPEATED_IMAGE = re.compile(
    r"(<\|?\w{0,20}(?:image|img|video|audio|pad)\w{0,20}\|?>)\1+", re.IGNORECASE
)


def model_text(text: str) -> str:
    r"""Return the last assistant turn of a text, without special tokens at its end.

    A text without markers is the model's. If decoding has dropped the special tokens, a line
    `assistant` after a line `user`, `tool` or `system` is a marker. Of gpt-oss's channels, `final`
    is read. Thinking that no other channel follows stays, as a block that isn't closed.

    >>> model_text("<|im_start|>user\n\\boxed{4}?<|im_end|>\n<|im_start|>assistant\nNo.<|im_end|>")
    'No.'
    """
    markers = _markers(text)
    if markers is None or markers.search(text) is None:
        return without_special_tokens(text)
    last = ""
    for part, owner, has_header in _turns(text, markers):
        if owner is not None and (has_header or part.strip()):
            last = {"text": part, "thinking": ANALYSIS + part, "call": ""}[owner]
    return without_special_tokens(last).strip()


def _markers(text: str) -> re.Pattern[str] | None:
    if _LINE_OF_THE_MODEL in text:
        first = _LINE_OF_ANOTHER.search(text)
        if first and first.start() < text.rfind(_LINE_OF_THE_MODEL):
            return _LINE_OR_MARKER
    is_marked = _TAG.search(text) or "INST]" in text or "TOOL_RESULTS]" in text
    return _MARKER if is_marked else None


def _turns(text: str, markers: re.Pattern[str]) -> Iterator[tuple[str, Owner, bool]]:
    """Yield each part between markers, its owner, and whether a header opens it.

    The owner is None for another's text.
    """
    owner: Owner = "text"
    enclosing: Owner = "text"
    start, has_header = 0, False
    for match in markers.finditer(text):
        kind = match.lastgroup or "message"
        name = "" if kind == "message" else match[kind]
        ends_another = name in _ENDS or name == "/tool_response"
        yield text[start : match.start()], None if ends_another else owner, has_header
        if kind == "block":
            owner = enclosing if ends_another else None
        else:
            owner = enclosing = _owner(match, kind, name)
        start, has_header = match.end(), not ends_another
    yield text[start:], owner, has_header


def _owner(match: re.Match[str], kind: str, name: str) -> Owner:
    if kind in ("author", "channel", "message"):
        author, channel = match["author"] or "assistant", match["channel"] or ""
        if author.split()[:1] != ["assistant"]:
            return None
        if "to=" in author + channel:
            return "call"
        return "text" if channel.strip() in ("", "final") else "thinking"
    first = name.strip().partition(" ")[0].lower()
    return "text" if name in _ENDS or first in _NAMES_OF_THE_MODEL else None


def without_special_tokens(text: str) -> str:
    """Return the text without special tokens at its end, and without white space before them.

    >>> without_special_tokens("so it is 5.<|im_end|></s>")
    'so it is 5.'
    """
    kept, end = len(text), len(text.rstrip())
    while text.endswith(">", 0, end):
        token = _SPECIAL.search(text, max(0, end - LONGEST_SPECIAL), end)
        if token is None:
            break
        end = token.start()
        while end and text[end - 1].isspace():
            end -= 1
        kept = end
    return text[:kept]


def without_prompt(query: str, prompt: str) -> str | None:
    """Return what follows the prompt in a query; None if the query doesn't start with the prompt.

    Decoding may compose characters, change white space, repeat an image's token, and lose the start
    of a long prompt. At least FEWEST_MATCHING characters of the prompt's end must be left.
    """
    if query.startswith(prompt):
        return query[len(prompt) :]
    text = _composed(query).lstrip("\ufffd")
    places = [place for place, character in enumerate(text) if not character.isspace()]
    found = "".join(text[place] for place in places)
    wanted = "".join(_composed(prompt).split())
    start = 0
    while start >= 0:
        if found.startswith(wanted[start:]):
            matching = len(wanted) - start
            return text[places[matching] :] if matching < len(places) else ""
        start = wanted.find(found[:FEWEST_MATCHING], start + 1, len(wanted))
        if len(wanted) - start < FEWEST_MATCHING:
            break
    return None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", _REPEATED_IMAGE.sub(r"\1", text))


def last_message(turns: object, role: str = "assistant") -> str:
    """Return a text as it is, or the text of the last message of `role`; "" without one.

    Parts of a message that are no text, such as images, are left out.
    """
    return turns if isinstance(turns, str) else message_text(last_turn(turns, role))


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message; "" without one."""
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def last_calls(turns: object) -> tuple[Mapping[str, Any], ...]:
    """Return the tool calls of the assistant's last message.

    >>> last_calls([{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}])
    ({'function': {'name': 'f'}},)
    """
    calls = last_turn(turns).get("tool_calls")
    listed = calls if isinstance(calls, (list, tuple)) else ()
    return tuple(call for call in listed if isinstance(call, Mapping))


def last_reasoning(turns: object) -> str:
    """Return the thinking that a server separated from the assistant's last message; or ""."""
    return message_reasoning(last_turn(turns))


def message_reasoning(message: Mapping[str, Any]) -> str:
    """Return the thinking that a server separated from a message's content; or ""."""
    values = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((value for value in values if isinstance(value, str) and value), "")


def last_turn(turns: object, role: str = "assistant") -> Mapping[str, Any]:
    """Return the last message of `role`; an empty mapping without one."""
    messages = turns if isinstance(turns, (list, tuple)) else ()
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") == role:
            return message
    return {}


QUESTION_COLUMNS = ("question", "problem", "prompt", "input", "query", "instruction", "messages")
"""Columns that may hold the question, by preference."""


def question_in(columns: Mapping[str, object]) -> str:
    """Return the question in a row's columns; "" without one."""
    questions = (last_message(columns.get(name), "user") for name in QUESTION_COLUMNS)
    return next(filter(None, questions), "")


def chat_text(value: object) -> object:
    """Return the text of the assistant's last message of a list; another value as it is."""
    is_chat = (
        isinstance(value, list) and value and all(isinstance(message, Mapping) for message in value)
    )
    return last_message(value) if is_chat else value


def last_run(mask: Sequence[int]) -> slice:
    """Return the last run of tokens that a mask marks as the model's.

    >>> last_run([1, 1, 0, 1, 1, 0])
    slice(3, 5, None)
    """
    end = len(mask)
    while end and not mask[end - 1]:
        end -= 1
    start = end
    while start and mask[start - 1]:
        start -= 1
    return slice(start, end)
