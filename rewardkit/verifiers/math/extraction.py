r"""Find the answer in a completion or a reference: boxes, the answer block, the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from rewardkit.text.thinking import Thinking, text_to_read
from rewardkit.verifiers.languages import language_of, load_language
from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.parsed_answer import read_answer
from rewardkit.verifiers.math.spelling import repaired
from rewardkit.verifiers.math.tree import Quantity
from rewardkit.verifiers.reading import NUMBER, after_marker, answer_block, boxes
from rewardkit.verifiers.stated import (
    Found,
    formulas,
    standing_boxes,
    stated,
    states_words,
    without_remark,
)

Reading = Literal["boxed", "flexible", "lenient"]

LONGEST_SHORT = 200
"""Characters of the longest text that may be one answer as a whole."""

LONGEST_ANNOUNCED = 400
"""Characters after an announcement in which its answer ends."""

MOST_WORDS = 4
"""Words of the longest answer in words."""

_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}\s*[\s:,]")
_CONCLUSION = re.compile(r"\s*(?:Therefore|Thus|Hence|So)\b,?\s*")
_BETWEEN = re.compile(rf"\s*(?:[,，、]|,?\s*(?:{'|'.join(lexicon.CONNECTIVES)})(?![a-z]))\s*")
_CLAUSE = re.compile(r"[.,;:!?。，；：！？\n]")
_FRACTION = r"[0-9]{1,12}\s?/\s?[0-9]{1,12}(?![0-9.,/]*[0-9/])"
_NUMBER = re.compile(
    rf"(?:[0-9]{{1,12}},[0-9]{{1,2}}(?![0-9,])|-?{_FRACTION}|{NUMBER.pattern})"
    rf"(?:\s?(?:{'|'.join(lexicon.SCALES)}|factorial)s?\b)?"
)
_LOCAL = re.compile(  # 3,5 and 12 000 in languages with a decimal comma
    r"-?(?:[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?:,[0-9]+)?"
    r"|[0-9]{1,12},(?:[0-9]{1,2}|[0-9]{4,12}))(?![0-9,])"
)
_SECOND = re.compile(rf"\s[^\W\d_]+\.?,?\s(?:(?:{'|'.join(lexicon.CONNECTIVES)})\s)?[0-9]")
_LEFT_SIDE = re.compile(r"[-−$€£(]*[0-9](?:[0-9\s.,()+*/×÷·−–$€£%=-]|\sx\s)*=\s*(?=[-−$€£]?[0-9])")
_GLUED_UNIT = re.compile(r"[A-Za-z]{2,}(?![\w^])")
_GLUED = re.compile(r"(?:[a-zA-Zα-ωπ√^]|\((?=[-0-9A-Za-z√(]))(?!\.)[^\s,;:*，。；]*")
_JOINED = re.compile(r"(?<=[0-9)])\s(?:et|y|und|e)\s(?=[a-z](?:_?[0-9])?\s?=)")
_UNIT = re.compile(r"\s?(?!(?:in|a|at)\b)[^\W\d_]+(?:/[^\W\d_]+)?(?:[²³]|\^[23])?")
_NAMES_AN_ANSWER = re.compile(r"(?:the |our |my |final |only )*(?:answer|solution|result|value)s?")
_NO_NOUNS = frozenset((*lexicon.FUNCTIONS, *lexicon.CONSTANT_WORDS, *lexicon.GREEK))
_WORDS_AFTER = re.compile(
    r"(?:\s(?P<first>[^\W\d_]+))?(?![(^])(?P<more>[^0-9$\\=+*/^<>]*[^\W\d_][^0-9$\\=+*/^<>]*)?\W*\Z"
)


def flexible_answer(text: str) -> str | None:
    """Return the answer stated outside of boxes and answer blocks; None without one.

    It is the text where that is one answer as a whole; what follows the last `####`; what is
    announced or concluded, as `stated` reads it; a last line that is an answer.
    """
    text = without_remark(text)
    if whole := _whole(text):
        return whole
    if "####" in text:
        return after_marker(text, "####") or None
    return stated(text, _taken)


def lenient_answer(text: str) -> str | None:
    """The same, else the last formula, else the last number; for evaluation only."""
    if (answer := flexible_answer(text)) is not None:
        return answer
    text = without_remark(text)
    places = ((start, content) for (start, _), content in _listed(text))
    numbers = ((found.start(), found.group()) for found in _NUMBER.finditer(text))
    *_, formula = (None, *places)
    *_, number = (None, *numbers)
    start, answer = formula or number or (0, None)
    clause = _CLAUSE.split(text[:start])[-1]
    negation = (language_of(clause) or load_language("en")).negation
    return None if negation.search(clause) else answer


def _taken(text: str, start: int, end: int) -> Found | None:
    """The answer at the start of a clause: a formula or a list of them, or one answer as a whole,
    else a number."""
    if listed := _formula_at(text, start):
        return listed
    local = _LOCAL.match(text, start, end)
    if local and language_of(text) is not load_language("en"):
        spelling = re.sub(r"\s", "", local.group()).replace(",", ".")
        text = f"{text[:start]}{spelling:<{len(local.group())}}{text[local.end() :]}"
    clause = text[start:end].replace("**", "").strip(" _\n")
    if _NAMES_AN_ANSWER.fullmatch(clause):
        return None
    equals = _LEFT_SIDE.match(text, start, end)
    if equals and (right := _taken(text, equals.end(), end)):
        return right  # 40 - 25 = 15 cm
    if number := _NUMBER.match(text, start, end):
        return _with_unit(text, number, end, clause)
    clause = _JOINED.sub(", ", clause)
    return Found(clause, end) if _is_answer(clause) else None


def _with_unit(text: str, number: re.Match[str], end: int, clause: str) -> Found | None:
    value = number.group().strip()
    glued = _GLUED_UNIT.match(text, number.end(), end)
    if glued and lexicon.known(glued.group()):
        return Found(f"{value} {glued.group()}", glued.end())  # 14cm
    words = _WORDS_AFTER.match(text, number.end(), end)
    measured = _SECOND.match(text, number.end(), end) is not None  # 3 hours and 20 minutes
    if words and words["first"] not in ("a", "an"):  # 93 dollars a month
        known = lexicon.known_unit(words.group().strip(" *_\n"))  # 42.5 miles per hour
        measured = measured or not words["more"] or known is not None
    if measured and _is_quantity(clause):
        return Found(clause, end)
    noun = words is not None and words["first"] not in _NO_NOUNS  # 34 ans
    if not noun and _is_answer(clause):
        return Found(clause, number.end() if words else end)
    if more := _GLUED.match(text, number.end(), end):  # 12π cm³
        whole = f"{value}{more.group()}"
        return Found(whole, more.end()) if _is_answer(whole) else None
    unit = _UNIT.match(text, number.end(), end)
    if unit and lexicon.known(unit.group().strip().partition("/")[0]):
        whole = text[number.start() : unit.end()].strip()
        value = whole if _is_answer(whole) else value
    return Found(value, number.end())


def _whole(text: str) -> str | None:
    """Return the text where it is short and one answer as a whole."""
    if not text or len(text) > LONGEST_SHORT or "\n" in text or text.endswith("?"):
        return None
    language = language_of(text)
    if language is not None and language.announcement.search(text):
        return None
    opening = _CONCLUSION.match(text)  # So x = 5
    bare = text[opening.end() if opening else 0 :].removesuffix(".").strip()
    if bare.startswith("**") and bare.endswith("**"):
        bare = bare.strip("*").strip()
    if "**" in bare:
        return None
    found = list(formulas(bare))
    if found:
        (start, end), content = found[0]
        return content if len(found) == 1 and (start, end) == (0, len(bare)) else None
    return bare if _reads_as_answer(bare) else None


def _is_quantity(text: str) -> bool:
    return len(text) <= LONGEST_SHORT and isinstance(read_answer(text).tree, Quantity)


def _is_answer(text: str) -> bool:
    short = 0 < len(text) <= LONGEST_SHORT and "$" not in text[1:-1] and "\\(" not in text
    return short and _reads_as_answer(text)


def _reads_as_answer(text: str) -> bool:
    parsed = read_answer(text)
    if parsed.verbal:
        return parsed.tree is not None and len(parsed.words.split()) <= MOST_WORDS
    return parsed.tree is not None and not _PROSE.search(text)


def _formula_at(text: str, start: int) -> Found | None:
    if text[start : start + 1] not in ("$", "\\"):
        return None
    (opens, closes), content = next(_listed(text[start : start + LONGEST_ANNOUNCED]), ((1, 1), ""))
    return None if opens else Found(content, start + closes)


def _listed(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The formulas, those of a list of values as one: `$x=3$ and $x=5$`."""
    (start, end), content, name = (0, 0), "", ""
    for (opens, closes), inside in formulas(text):
        named = inside.rpartition("=")[0].strip().partition("_")[0]
        if content and named == name and _BETWEEN.fullmatch(text, end, opens):
            end, content = closes, f"{content}, {inside}"
            continue
        if content:
            yield (start, end), content
        (start, end), content, name = (opens, closes), inside, named
    if content:
        yield (start, end), content


_WORDS = re.compile(r"(?:\\text\s*\{)?\s*(?P<words>[^\W\d_]{2,}(?:[ -][^\W\d_]{2,}){0,3})\s*\}?")
_ENVIRONMENT = re.compile(r"\\(begin|end)(?:\{boxed\}|boxed(?![a-z]))(?:\s*\{)?")
"""A box that is written, or damaged, as an environment."""
_STARRED = re.compile(r"\A\*\*(.+)\*\*\Z", re.DOTALL)


def answers(
    text: str, reading: Reading, thinking: Thinking = "strip", reference: str = ""
) -> list[str]:
    """Return every answer that the completion gives, in order.

    A box that is opened after the last whole box and never closed leaves no answer. Without a box,
    the flexible and the lenient reading give at most one: the reference, where the reference is
    words with which the reply ends.
    """
    text = text_to_read(text, thinking)
    block = answer_block(text)
    source = text if block is None else block
    if "\\begin" in source and "boxed" in source:
        source = _ENVIRONMENT.sub(lambda end: "}" if end[1] == "end" else r"\boxed{", source)
    found = standing_boxes(source) if "ox" in source else []
    found = [_STARRED.sub(r"\1", box) if box.startswith("**") else box for box in found]
    if reading == "boxed" or found:
        return found
    if block is not None:
        return [block]
    if (words := _WORDS.fullmatch(reference)) and states_words(source, words["words"]):
        return [reference]
    answer = flexible_answer(source) if reading == "flexible" else lenient_answer(source)
    return [] if answer is None else [answer]


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
