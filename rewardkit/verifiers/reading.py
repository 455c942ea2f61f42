"""Find answers in a text: boxes, tags, markers, numbers. Linear in the text's length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

OPEN_ANSWER = re.compile(r"<answer>", re.IGNORECASE | re.ASCII)
CLOSE_ANSWER = re.compile(r"</answer>", re.IGNORECASE | re.ASCII)

BOX_TOKEN = re.compile(
    r"(?P<box>(?:\\{1,2}f?b|\x08)ox(?:ed)?(?![a-zA-Z])\s*\{)"  # \boxed{, \fbox{, \box{
    r"|\\boxed\s+(?P<bare>[^\s$\\{}]*[0-9][^\s$\\{}]*|[a-zA-Z](?=[\s.$]))"  # \boxed 5
    r"|\\[\\{}\x08]"  # an escaped brace or a line break
    r"|(?P<open>\{)|(?P<close>\})"
)

NUMBER = re.compile(
    r"(?P<sign>(?<![0-9A-Za-z)\]}%])[-+−–])?"
    r"(?:\\?[$€£¥]\s?(?P<inner>[-−–])?)?"
    r"(?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?P<exponent>[eE][-+]?[0-9]+(?![0-9A-Za-z]))?"
    r"(?P<percent>\s?\\?%)?"
)

SCALES = {
    "hundred": "1e2",
    "thousand": "1e3",
    "million": "1e6",
    "billion": "1e9",
    "trillion": "1e12",
    "quadrillion": "1e15",
    "quintillion": "1e18",
}
"""Words that scale the number before them."""

_USUAL_NUMBER = 20
"""Characters; a longer last number is looked for in the whole text."""

NESTING = 4
"""How many boxes directly inside each other count as one; deeper boxes stay text."""


def answer_block(text: str) -> str | None:
    """Return the content of the last `<answer>…</answer>`, in any case; None without one.

    >>> answer_block("<answer>3</answer> No: <answer>4</answer>")
    '4'
    """
    tags = answer_tags(text)
    return text[tags[0].end() : tags[1].start()] if tags else None


def answer_tags(text: str) -> tuple[re.Match[str], re.Match[str]] | None:
    """Return the opening and the closing tag of the last complete answer block."""
    close = last_match(CLOSE_ANSWER, text) if "<" in text else None
    opening = last_match(OPEN_ANSWER, text, close.start()) if close else None
    return (opening, close) if opening and close else None


def boxes(text: str) -> list[str]:
    r"""Return the contents of all outermost `\boxed{…}`, `\fbox{…}` and `\boxed 5`, in order.

    Braces must balance; `\{` and `\}` are text. A box that is never closed is skipped, and complete
    boxes inside it count. A box that holds only another box counts as that box.

    >>> boxes(r"First \boxed{3}, then \boxed{\frac{1}{2}}.")
    ['3', '\\frac{1}{2}']
    """
    return [unnest(text[start:end]) for start, end in box_spans(text)[0]]


def box_spans(text: str) -> tuple[list[tuple[int, int]], int]:
    """Where the contents of the outermost boxes are, and where the last open box starts, or -1."""
    spans: list[tuple[int, int]] = []
    opened: list[int | None] = []  # for each open brace: where its box's content starts, or None
    word = text.find("ox")  # braces before it close no box, and to search them takes long
    first = len(text[:word].rstrip("bf\\\x08"))
    for token in BOX_TOKEN.finditer(text, first) if word >= 0 else ():
        kind = token.lastgroup
        if kind == "box":
            opened.append(token.end())
        elif kind == "open":
            opened.append(None)
        elif kind == "bare":
            spans.append(token.span("bare"))
        elif kind == "close" and opened:
            start = opened.pop()
            if start is not None:
                while spans and spans[-1][0] >= start:
                    spans.pop()
                spans.append((start, token.start()))
    return spans, max(filter(None, opened), default=-1)


def after_marker(text: str, marker: str) -> str | None:
    """Return the rest of the line after the last `marker`, such as `####`; None without one.

    >>> after_marker("2 + 2 = 4 #### 4", "####")
    '4'
    """
    _, separator, rest = text.rpartition(marker)
    if not separator:
        return None
    return rest.strip().partition("\n")[0].strip()


def numbers(text: str) -> Iterator[tuple[str, Decimal]]:
    """Yield each number in the text as written, and its exact value.

    Thousands commas, a leading currency sign, a sign, scientific notation and percent (50% is 0.5)
    are read. A number whose exponent is too large for a decimal is skipped.

    >>> list(numbers("$1,200 at 5%"))
    [('$1,200', Decimal('1200')), ('5%', Decimal('0.05'))]
    """
    for match in NUMBER.finditer(text):
        value = _value(match)
        if value is not None:
            yield match.group().strip(), value


def last_number(text: str) -> tuple[str, Decimal] | None:
    """Return the last number in the text, as written, and its exact value; None without one."""
    last = last_number_match(text)
    value = _value(last) if last else None
    return (last.group().strip(), value) if last and value is not None else None


def last_number_match(text: str) -> re.Match[str] | None:
    """Return the match of `NUMBER` that is the last in the text; None without one."""
    digit = max(text.rfind(digit) for digit in "0123456789")
    if digit < 0:
        return None
    last = last_match(NUMBER, text, start=max(0, digit - 2 * _USUAL_NUMBER))
    if last is not None and last.start() >= digit - _USUAL_NUMBER:
        return last
    return last_match(NUMBER, text)  # it begins earlier


_FENCE = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<quote>>[ \t>]*+)?(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)?"
    r"(?P<fence>`{3,}+|~{3,}+)(?P<info>[ \t]*+\{?\.?(?P<language>[^\s`{},:]*+)[^`\n]*)$",
    re.MULTILINE,
)
_QUOTED = re.compile(r"^[ \t]*> ?", re.MULTILINE)


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a text in Markdown, as (language in lower case, content).

    Blocks in a quotation count, and Pandoc's `{.python}`. A fence that is indented by four more
    than the one that opens a block belongs to its content.

    >>> fenced_blocks("Here:\\n```json\\n{}\\n```")
    [('json', '{}\\n')]
    """
    if "```" not in text and "~~~" not in text:
        return []
    blocks, opening = [], None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif not _is_level(fence, opening):
            continue
        elif not fence["info"].strip():
            blocks.append(_block(text, opening, fence.start()))
            opening = None
        elif not opening["info"].strip():  # that one closed what no fence had opened
            opening = fence
    if opening is not None and text[opening.end() :].strip():  # cut off
        blocks.append(_block(text, opening, len(text)))
    return blocks


def _is_level(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a fence may close a block: of its kind, and indented less than four further."""
    indents = [len(mark["indent"].expandtabs(4)) for mark in (fence, opening)]
    return (
        fence["fence"].startswith(opening["fence"])
        and (fence["quote"] is None) == (opening["quote"] is None)
        and indents[0] < indents[1] + 4
    )


def _block(text: str, opening: re.Match[str], end: int) -> tuple[str, str]:
    content = text[opening.end() + 1 : end]
    return opening["language"].lower(), _QUOTED.sub("", content) if opening["quote"] else content


def fenced_block(text: str, *languages: str) -> str:
    """Return the last fenced block in one of `languages`, else the last without one, else the text.

    A fence alone at the end of a text is no part of it.

    >>> fenced_block("```sql\\nSELECT 1\\n```\\nwhich gives\\n```\\n1\\n```", "sql")
    'SELECT 1\\n'
    """
    blocks = fenced_blocks(text)
    labelled = [block for label, block in blocks if label in languages]
    bare = [block for label, block in blocks if not label]
    if not blocks:
        *_, last = [None, *_FENCE.finditer(text)]
        text = text[: last.start()] if last and not text[last.end() :].strip() else text
    return [text, *bare, *labelled][-1]


def _value(match: re.Match[str]) -> Decimal | None:
    exponent = (match["exponent"] or "e0")[1:]
    if len(exponent) > 18:
        return None
    shift = int(exponent) - (2 if match["percent"] else 0)
    negative = (match["sign"] or "+") in "-−–" or match["inner"] is not None
    written = f"{'-' if negative else ''}{match['digits'].replace(',', '')}e{shift}"
    try:
        return Decimal(written)
    except InvalidOperation:
        return None


def last_match(
    pattern: re.Pattern[str], text: str, end: int | None = None, *, start: int = 0
) -> re.Match[str] | None:
    """Return the last match of `pattern` in the text from `start` to `end`; None without one."""
    last = None
    for match in pattern.finditer(text, start, len(text) if end is None else end):
        last = match
    return last


def unnest(content: str) -> str:
    """Return the content of a box without boxes directly inside it."""
    content = content.rstrip().lstrip(" \n")  # a tab or a form feed may stand for a backslash
    for _ in range(NESTING):
        match = BOX_TOKEN.match(content) if content.endswith("}") else None
        if not (match and match["box"]):
            break
        inner = content[match.end() : -1]
        if not _balanced(inner):
            break
        content = inner.strip()
    return content


def _balanced(text: str) -> bool:
    depth = 0
    for token in BOX_TOKEN.finditer(text):
        depth += bool(token["box"] or token["open"]) - bool(token["close"])
        if depth < 0:
            return False
    return depth == 0
