r"""Find the answer in a completion or a reference: boxes, the answer block, the text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from rewardkit.thinking import Thinking, text_to_read
from rewardkit.verifiers.announcement import ANNOUNCEMENT, LAST_PART, standing
from rewardkit.verifiers.gsm8k import CHANGED_BEFORE, last_stated_number
from rewardkit.verifiers.math.lexicon import SCALES
from rewardkit.verifiers.math.parsed_answer import read_answer
from rewardkit.verifiers.math.spelling import repaired
from rewardkit.verifiers.reading import NUMBER, answer_block, boxes, closed_boxes

LONGEST_SHORT = 200
"""Characters of the longest text that may be one answer as a whole."""

LONGEST_ANNOUNCED = 400
"""Characters after an announcement in which its answer starts."""

MOST_ANNOUNCEMENTS = 16
"""Maximum number of announcements to read, from the end."""

MOST_WORDS = 4
"""Words of the longest answer in words."""

_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}\s*[\s:]")
_CLOSING_REMARK = re.compile(
    r"(?:\s*(?:I hope (?:it|this|that) (?:is|was) correct|</s>|\[END\]|<eos>"
    r"|<\|[a-z_]{1,30}\|>(?:user|assistant|system)?)[.!\s]*){1,3}\Z",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(r"(?:\A|[.!?。\n)\]]\s*|\s)(?:Therefore|Thus|Hence|So)\b,?")
_COPULA = re.compile(r"(?:\b(?:is|are|was|equals|be|there (?:is|are))\b|=|≈)")
_NAME = re.compile(r"[A-Za-z][A-Za-z\s]*(?:\([A-Za-z,\s]*\))?")
_SIGNS = re.compile(r"[0-9$\\=]")
_BOLD_END = re.compile(r"\*\*([^*\n]{1,200})\*\*[.\s]*\Z")
_SENTENCE_END = re.compile(
    r"[.!?。](?=\s|\Z)|\n|(?<=\S),?\s\(?(?:since|because|which|not|as\s(?:it|that|this))\b"
    r"|(?<=\S),\s(?:although|though|whereas|while|neither|whose|with|for|[a-z]{3,8}er\sthan|more\sthan|less\sthan)\b"
    r"|\srather\sthan\b"
)
_LINKS = re.compile(
    rf"(?:{_COPULA.pattern}|\b(?:gives?|reads?|remains?|so|hence|thus|then|when|for|at)\b|:)[,\s]"
)
"""What a sentence may have before the answer that it states."""
_CALCULATION = re.compile(r"[^A-Za-z=]{1,100}=")
_BREAK = re.compile(r"[.!?。]\s|\n")
_HEAD = re.compile(
    r"(?P<head>[^,;(]{1,200}?)(?:[;—–]\s|\s\(|,\s(?:and|but|while|whereas|though|so|where)\s)"
)
_LEADING = re.compile(r"[\s*_:：=]+|(?:given by|simply|just|therefore|thus|approximately)\b")
_DELIMITER = re.compile(r"\\[\[\]()]|\\.|\$\$|\$|\n[ \t]*\n", re.DOTALL)
_CLOSES = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_BETWEEN = re.compile(r"\s*(?:,|,?\s(?:and|or)\b)\s*")
_AMOUNT = re.compile(r"\s?(?:[0-9]|<<)")
_FRACTION = r"[0-9]{1,12}\s?/\s?[0-9]{1,12}(?![0-9.,/]*[0-9/]|\s+of\s+[$0-9])"
_NUMBER_END = re.compile(rf"(?<![0-9,./])(?:-?{_FRACTION}|[0-9]{{1,12}},[0-9]{{1,2}})\Z")
_NUMBER = re.compile(
    rf"(?<![0-9,.A-Za-z])(?:[0-9]{{1,12}},[0-9]{{1,2}}(?![0-9,])|-?{_FRACTION}|{NUMBER.pattern})"
    rf"(?:\s?(?:{'|'.join(SCALES)}|factorial)s?\b)?"
)


def flexible_answer(text: str) -> str | None:
    """Return the answer given outside of boxes and answer blocks; None without one.

    The first kind that holds an answer counts, the last one of its kind: a text that is one answer
    as a whole; an announcement (`The answer is 5`, `####`, bold at the end); a last line that is
    an answer; a concluding sentence; what the last sentence states (`They meet at (2, -1)`); a
    formula between its own delimiters; a number; words.
    """
    text = text[-LAST_PART:].strip()
    if remark := _CLOSING_REMARK.search(text, max(0, len(text) - 3 * 60)):
        text = text[: remark.start()]
    if whole := _whole(text):
        return whole
    if announced := _announced(text):
        return _asserted(text, *announced)
    statements = (_last_line, _concluded, _last_statement)
    for reader in (*statements, _last_formula, _last_number, _last_words):
        if answer := reader(text):
            return _asserted(text, answer, max(0, text.rfind(answer)))
    return None


def _asserted(text: str, answer: str, start: int) -> str | None:
    """Return the answer that the text stands by: the last one that replaces another, or None."""
    for _ in range(MOST_ANNOUNCEMENTS):
        start = text.find(answer, start)
        if start < 0:
            return answer
        stands = standing(text, start, start + len(answer))
        if stands.replaced_at is None:
            about = (stands.about or answer[0] == "~") and answer[0] != "≈"
            return None if stands.taken_back else f"≈ {answer}" if about else answer
        start = stands.replaced_at
        answer = _first_answer(text[start : start + LONGEST_ANNOUNCED]) or answer
    return None


def _whole(text: str) -> str | None:
    """Return the text where it is short and one answer as a whole."""
    if not text or len(text) > LONGEST_SHORT or "\n" in text or ANNOUNCEMENT.search(text):
        return None
    opening = _CONCLUSION.match(text)  # So x = 5
    bare = text[opening.end() if opening else 0 :].removesuffix(".").strip()
    formulas = list(_formulas(bare))
    if formulas:
        (start, end), content = formulas[0]
        return content if len(formulas) == 1 and (start, end) == (0, len(bare)) else None
    return bare if _reads_as_answer(bare) else None


def _last_line(text: str) -> str | None:
    """Return the last line where it is one answer as a whole."""
    before, blank, last = text.rpartition("\n")
    if not blank or before.rstrip().endswith((",", "=", "+")) or not _SIGNS.search(last):
        return None
    return _whole(last)


def _announced(text: str) -> tuple[str, int] | None:
    """Return the answer that the last announcement gives, and where it may start.

    An announcement is `The answer is 5`, or bold at the end.
    """
    bold = _BOLD_END.search(text, max(0, len(text) - 210))
    if bold and (answer := _first_answer(bold[1])):
        return answer, bold.start()
    for announcement in reversed(deque(ANNOUNCEMENT.finditer(text), maxlen=MOST_ANNOUNCEMENTS)):
        end = announcement.end()
        answer = _first_answer(text[end : end + LONGEST_ANNOUNCED])
        if answer:
            return answer, end
    return None


def _concluded(text: str) -> str | None:
    """Return the answer of a concluding last sentence: `Therefore, there are 12 of them.`"""
    start = max(0, len(text) - LONGEST_ANNOUNCED)
    *_, last = (None, *_CONCLUSION.finditer(text, start))
    if last is None or _SENTENCE_END.search(text, last.end(), len(text) - 1):
        return None
    return _first_answer(text[last.end() :])


def _last_statement(text: str) -> str | None:
    """Return what the last sentence states as a whole: `The lines meet at (2, -1).`"""
    *_, start = (0, *(end.end() for end in _BREAK.finditer(text[:-1])))
    sentence = text[start:]
    end = _SENTENCE_END.search(sentence)
    sentence = (sentence[: end.start()] if end else sentence).strip()
    if len(sentence) > LONGEST_SHORT or "$" in sentence or "\\" in sentence:
        return None
    for part in reversed(sentence.split("; ")):
        for link in _LINKS.finditer(part):
            rest = part[link.end() :].strip()
            if _SIGNS.search(rest) and not _CALCULATION.match(rest) and _is_answer(rest):
                return rest
    return None


def _last_words(text: str) -> str | None:
    """Return the words with which a text without any value ends: `So the triangle is isosceles.`"""
    words = re.split(r"\b(?:is|are)\b", text[-LONGEST_SHORT:])
    rest = words[-1].strip(" .!") if len(words) > 1 else ""
    return rest if _is_answer(rest) else None


def _first_answer(rest: str) -> str | None:
    """Return the answer in the text after an announcement.

    It is the whole sentence, else what follows its last "is", else its first formula or number.
    """
    while lead := _LEADING.match(rest):
        rest = rest[lead.end() :]
    if formula := _formula_at_start(rest):
        return formula
    end = _SENTENCE_END.search(rest)
    sentence = (rest[: end.start()] if end else rest).replace("**", "").strip()
    if _is_answer(sentence):
        return sentence
    if (head := _HEAD.match(sentence)) and _is_answer(head["head"]):
        return head["head"]
    formulas = list(_listed(sentence))
    *_, copula = (
        None,
        *(
            found
            for found in _COPULA.finditer(sentence)
            if not any(start <= found.start() < end for (start, end), _ in formulas)
        ),
    )
    after = sentence[copula.end() :].strip() if copula else ""
    if after and (_is_answer(after) or _formula_at_start(after)):
        return _formula_at_start(after) or after
    formula = next((inside for _, inside in formulas if not _NAME.fullmatch(inside)), None)
    return _first_number(after) or formula or _first_number(sentence)


def _is_answer(text: str) -> bool:
    short = 0 < len(text) <= LONGEST_SHORT and "$" not in text[1:-1] and "\\(" not in text
    return short and _reads_as_answer(text)


def _reads_as_answer(text: str) -> bool:
    """Whether it is mathematics that we read, or a few words."""
    parsed = read_answer(text)
    if parsed.verbal:
        return parsed.tree is not None and len(parsed.words.split()) <= MOST_WORDS
    return parsed.tree is not None and not _PROSE.search(text)


def _formula_at_start(text: str) -> str | None:
    """The formula with which the text starts, or the list of them."""
    (start, _), content = next(_listed(text[:LONGEST_ANNOUNCED]), ((1, 1), ""))
    return None if start else content


def _listed(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The formulas, those of a list of values as one: `$x=3$ and $x=5$`."""
    (start, end), content, name = (0, 0), "", ""
    for (opens, closes), inside in _formulas(text):
        named = inside.rpartition("=")[0].strip()
        if content and named == name and _BETWEEN.fullmatch(text, end, opens):
            end, content = closes, text[start:closes]
            continue
        if content:
            yield (start, end), content
        (start, end), content, name = (opens, closes), inside, named
    if content:
        yield (start, end), content


def _formulas(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The formulas that close their own delimiters: their positions and contents."""
    opened: tuple[str, int, int] | None = None
    for token in _DELIMITER.finditer(text):
        sign = token.group()
        if sign.startswith("\n"):
            opened = None if opened and opened[0] == "$" else opened
        elif opened and sign == _CLOSES[opened[0]]:
            delimiter, start, inside = opened
            content = text[inside : token.start()]
            amounts = _AMOUNT.match(content) and _AMOUNT.match(text, token.end())
            if delimiter == "$" and amounts:  # $5 and $6
                opened = (sign, token.start(), token.end())
                continue
            opened = None
            if content.strip():
                yield (start, token.end()), content.strip()
        elif sign in _CLOSES:
            opened = (sign, token.start(), token.end())


def _last_formula(text: str) -> str | None:
    """The last formula, or list of them; a bare name does not count where a number follows."""
    *_, ((_, end), content) = (((0, 0), ""), *_listed(text))
    named = _NAME.fullmatch(content) and re.search("[0-9]", text[end:])
    return None if named or not content else content


def _first_number(text: str) -> str | None:
    """The first number of a short text, with its sign, decimal comma, scale or `half of`."""
    number = _NUMBER.search(text)
    if number is None:
        return None
    changed = CHANGED_BEFORE.search(text, 0, number.start())
    return text[changed.start() if changed else number.start() : number.end()].strip()


def _last_number(text: str) -> str | None:
    """The last number with the words that change it: "5 or 6" is not one value."""
    stated = last_stated_number(text)
    if stated is None:
        return None
    start = text.rfind(stated)
    if text[start - 1 : start].isalpha() and text[start - 1].isascii() and stated[0].isdigit():
        return None
    end = start + len(stated)
    whole = _NUMBER_END.search(text, max(0, end - 40), end)  # 3/4, 2,5
    return whole.group() if whole else stated


_PLACEHOLDER = re.compile(r"(?:\\[hv]?phantom\s*\{[^{}]*\}|\\(?:square|Box|quad|_)|[_?\s.])*")
_STARRED = re.compile(r"\A\*\*(.+)\*\*\Z", re.DOTALL)


def answers(text: str, reading: str, thinking: Thinking = "strip") -> list[str]:
    """Return every answer that the completion gives, in order.

    A box that is opened after the last whole box and never closed leaves no answer. Without a box,
    the flexible reading gives at most one.
    """
    text = text_to_read(text, thinking)
    block = answer_block(text)
    source = text if block is None else block
    found = _boxed(source)
    if reading == "boxed" or found:
        return found
    if block is not None:
        return [block]
    answer = flexible_answer(source)
    return [] if answer is None else [answer]


def _boxed(text: str) -> list[str]:
    r"""The boxes without placeholders such as \boxed{\phantom{0}}, unless all are placeholders."""
    found = closed_boxes(text)
    if not found or not found[-1].strip(" ?\n"):
        return found[-1:]
    filled = [box for box in found if not _PLACEHOLDER.fullmatch(box)] or found
    return [_STARRED.sub(r"\1", box) if box.startswith("**") else box for box in filled]


@lru_cache(maxsize=4096)
def bare_reference(reference: str) -> str:
    """The reference without its box, its dollar signs and the words around it."""
    reference = repaired(reference)
    found = boxes(reference) if "ox" in reference else []
    bare = (found[-1] if found else reference).strip()
    inside = bare.strip("$").strip()
    if "$" not in inside.replace(r"\$", ""):
        return inside
    around, _, rest = bare.partition("$")
    formula, closed, after = rest.strip("$").partition("$")
    words = f"{around} {after}"
    plain = closed and not re.search(r"[0-9\\$=]", words) and len(words.split()) > 1
    return formula.strip() if plain else bare
