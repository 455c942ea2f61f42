"""Multiple choice: compare the stated option letter with the reference."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.exact import Normalisation, unwrap
from rewardkit.verifiers.languages import LATIN, language_of, load_language
from rewardkit.verifiers.reading import answer_block, boxes
from rewardkit.verifiers.stated import (
    LAST_PART,
    Found,
    Reading,
    last_clause,
    standing_boxes,
    stated,
    stated_answer,
)

SHORT = 40
"""Characters of a completion that may be an answer without a cue: "(B) 42"."""

STATEMENTS = 500
"""Maximum number of letters in a list of letters."""

_WRAP = (
    r"(?:\\(?:f?box(?:ed)?|text(?:bf|rm|it|sf|tt)?|math(?:bf|rm|it|sf)|bf|rm)(?![a-zA-Z])"
    r"|\b(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Aa]nswer|[Ee]ither|[Bb]oth)s?\b"
    r"|\\\(|[\s*_`'\"“‘(<\[{$（【:：=])"
)
_ARTICLE = r"(?!\s+(?!(?:and|or|as|because|but|by|due|for|from|given|is|not|since|with)\b)[a-z])"
_STATED_LETTER = (
    rf"(?:(?P<upper>[B-HJ-Z]|[AI]{_ARTICLE})(?![{LATIN}0-9'’^+]|_[A-Za-z0-9{{]|-\w)"
    r"|(?P<lower>[a-j])(?=[).\]}*$_）\s]{0,8}(?:\Z|\n)|[)）\]]))"
)
_OFFER = re.compile(rf"{_WRAP}{{0,12}}{_STATED_LETTER}")
_FILLER = r"(?:\s(?:maybe|perhaps|possibly|even|else|also|rather|in other words)\b)?"
_LISTED = re.compile(
    r"[\s*_`'\")\]}$）】.]{0,12}"
    rf"(?:(?P<word>\b(?:and/or|and|or)\b{_FILLER}|[/&|或和])"
    rf"|[,;，、]\s?(?P<comma>(?:and|or)\b{_FILLER})?|(?<=[\s.)*}}\]]))"
)
_MORE = re.compile(
    r"(?:\b(?:and|or)\b|/)\s{0,4}(?:[Oo]ption\s{1,2}|[Cc]hoice\s{1,2})?\*{0,2}\(?(?P<letter>[A-Z])[).:]"
)
_CLOSED = re.compile(r"\s{0,4}(?:[^\w\s]|\Z|\n|(?:and|or|[A-Z])\b)")
_SUBJECT = re.compile(
    r"\s+(?:is|isn|are|aren|was|can|cannot|do|don|does|fails?|has|have|would|will)\b"
)
_IS_SUBJECT = re.compile(rf"{_SUBJECT.pattern}|\s*=")
_SUBJECT_FIRST = re.compile(  # A and C are too big
    rf"{_WRAP}{{0,12}}[A-J](?:(?:,|,?\s(?:and|or))\s[A-J]){{0,9}}{_SUBJECT.pattern}"
)
_SEVERAL = re.compile(rf"{_WRAP}{{0,12}}([A-J](?:(?:,|,?\s(?:and|or))\s[A-J]){{1,9}})(?=\sare\b)")
_MENTION = re.compile(
    r"(?:(?:\b[Oo]ption|\b[Cc]hoice|\b[Ll]etter|\b(?:choose|pick|select|go\swith))\s{1,4}[*(\"'$]{0,4}|(?<!\S)[*$]{0,3}\(|\*\*)"
    rf"(?P<letter>[A-Z])(?![{LATIN}0-9'’])"
)
_ENDING = re.compile(
    r"(?:\b(?:is|are|be|(?i:so|hence|thus|therefore),?|choose|pick|select|with|get|leav(?:es|ing)"
    r"|points\sto|settle\son|go\sfor)|[:=：→])\s{0,4}[*(\"'$]{0,4}"
    r"(?P<letter>[A-Z])[)\"'$*.!\s]{0,8}\Z"
)
_NONE: frozenset[str] = frozenset()
_OPTION_TEXT = re.compile(r"(?<![A-Za-z])[A-J]\s?(?:[:=]\s?\S|[).]\s(?=[-$\\0-9]))")
_CLOSING = re.compile(r"[\s*}>\]$]*(?:\\\))?")
_LABEL_END = re.compile(r"[*}$\s]{0,3}[).:：、]")
_LABELLED = re.compile(
    r"[\s>#-]{0,8}(?:\*\*|\$)?(?:[Oo]ption\s)?(?:\((?P<a>[A-Za-z])\)|(?P<b>[A-Z])(?:[).:：、]|\*\*|\s{0,4}\Z))"
)


def stated_letters(text: str) -> frozenset[str]:
    """Return the letters, in upper case, of the last answer in `text`; empty without an answer.

    Several letters are a hedge: "A or B". An answer is in a box, after `####`, or in a sentence
    such as "the answer is B" or "B is correct". A later answer replaces an earlier answer. Without
    these the last line counts, or the first line, if the line offers one letter. A completion that
    ends in an empty `####` has no answer.

    >>> sorted(stated_letters("I think A. Wait, the answer is B or C."))
    ['B', 'C']
    """
    text = text.strip()[-LAST_PART:]
    if text.endswith("##"):
        return _NONE
    if whole := _whole(text):
        return whole
    marked = text.rpartition("##")[2] if "##" in text else ""
    if boxed := [box for box in standing_boxes(text) if _OFFER.match(box)]:
        return frozenset().union(*(_offers(box, 0)[0] for box in boxed))
    if marked.strip() and (offered := _offers(marked, 0)[0]):
        return offered
    announced = stated(text, _offered, at_end=False)
    return frozenset(announced.split(", ")) if announced else _from_lines(text)


def _whole(text: str) -> frozenset[str]:
    """Return the letters that a short text offers without calling them the answer: "(B) 42"."""
    if len(text) > SHORT or "\n" in text or text.endswith("?"):
        return _NONE
    if labelled := re.match(r"([a-j])[.:]\s+\S", text):  # b. 4
        return frozenset(labelled[1].upper())
    letters, end = _offers(text, 0)
    language = language_of(text) or load_language("en")
    if language.announcement.search(text, 1):
        return _NONE
    doubted = language.refusal.search(text[end:]) or language.retraction.search(text[end:])
    lists = (
        len(_OPTION_TEXT.findall(text)) > 1
        or _SUBJECT_FIRST.match(text)
        or _IS_SUBJECT.match(text, end)
    )
    return _NONE if lists or doubted else letters


def _offered(text: str, start: int, end: int) -> Found | None:
    """The letters that a clause offers; an option's text after its letter belongs to it."""
    if several := _SEVERAL.match(text, start, end):  # A and C are
        letters = frozenset(re.findall("[A-J]", several[1]))
        return Found(", ".join(sorted(letters)), several.end(1))
    letters, last = _offers(text, start)
    if not letters:
        return None
    more = {more["letter"] for more in _MORE.finditer(text, last, end)}
    labelled = more or _LABEL_END.match(text, last)
    closed = _CLOSING.match(text, last)
    last = max(end, last) if labelled else closed.end() if closed else last
    return Found(", ".join(sorted(letters | more)), last)


def _offers(text: str, start: int) -> tuple[frozenset[str], int]:
    """Return the letters listed at `start`: "B", "(A) and (C)", "A, B", "A. B. C."; and the end."""
    letters: set[str] = set()
    offer = _OFFER.match(text, start)
    for _ in range(STATEMENTS):
        if not offer:
            break
        letters.add((offer["upper"] or offer["lower"]).upper())
        start = offer.end()
        listed = _LISTED.match(text, offer.end())
        offer = _OFFER.match(text, listed.end()) if listed else None
        if listed and offer:
            is_joined = listed["word"] or listed["comma"]
            subject, closed = (part.match(text, offer.end()) for part in (_SUBJECT, _CLOSED))
            if subject if is_joined else not closed:  # a new remark
                break
    return frozenset(letters), start


def _from_lines(text: str) -> frozenset[str]:
    """Return the letter that the last or the first line offers without calling it the answer."""
    lines = [line for line in text.split("\n") if line.strip()]
    last = lines[-1][-300:] if lines else ""
    if not lines or len(_OPTION_TEXT.findall(last)) > 1:  # A: 3, B: 4
        return _NONE
    labels = [label for label in map(_LABELLED.match, lines) if label]
    letters = frozenset((label["a"] or label["b"]).upper() for label in labels)
    if len(letters) == 1 and (_LABELLED.match(lines[-1]) or _LABELLED.match(lines[0])):
        return letters | {more["letter"] for more in _MORE.finditer(last)}
    clause = last_clause(last)
    found = [*_MENTION.finditer(clause), *filter(None, [_ENDING.search(clause)])]
    return frozenset(mention["letter"] for mention in found)


LETTERS = string.ascii_uppercase

_LOOSE = Normalisation(case=True, white_space=True)


def option_texts(column: object) -> list[str]:
    """Return the options' texts without their letters; empty if the column holds no options.

    A column is a list of texts, a mapping with a list under `text` or `choices`, or a mapping from
    letters to texts.

    >>> option_texts(["A) 21", "B) 34"])
    ['21', '34']
    """
    if isinstance(column, Mapping):
        listed = column.get("text", column.get("choices"))
        column = listed if isinstance(listed, list | tuple) else list(column.values())
    if not isinstance(column, list | tuple):
        return []
    texts = [str(text) for text in column]
    matches = [
        re.match(rf"\s*(?:\({letter}\)|{letter}[).:])\s*", text)
        for letter, text in zip(LETTERS, texts, strict=False)
    ]
    if len(matches) == len(texts) and all(matches):
        return [text[match.end() :] for text, match in zip(texts, matches, strict=True) if match]
    return texts


def named_option(answer: str, column: object) -> str | None:
    """Return the letter of the option whose text is the answer; None if no single option fits.

    >>> named_option("The answer is Oslo.", ["Bergen", "Oslo"])
    'B'
    """
    stated = _LOOSE(unwrap(stated_answer(answer, "lenient")))
    if not stated or (len(stated) == 1 and stated.isalpha()):
        return None
    texts = [_LOOSE(unwrap(text)) for text in option_texts(column)]
    if texts.count(stated) != 1 or texts.index(stated) >= len(LETTERS):
        return None
    return LETTERS[texts.index(stated)]


_LETTER = re.compile(r"[A-Z]")
_REFERENCE = re.compile(r"\s*[(\[]?\s*([A-Za-z])\s*[)\].:]?\s*")


@dataclass(frozen=True)
class Choice(Bounded):
    """Right if the completion states the reference's option letter; score 1 or 0.

    `strict`: the completion, stripped, or its last box is exactly one upper-case letter. `lenient`
    also reads "(B)", "B.", "The answer is B", "**B**". The last answer counts, because a completion
    may change its mind. Two letters as one answer are wrong. If there is an `<answer>` block, only
    the block is read. The reference is "B", "(B)" or "b)". `options` names the column with the
    texts of the options: `lenient` then also reads the text of an option as the option's letter.

    >>> Choice(reading="lenient")("The answer is A. Wait, it is (B).", Sample("B")).correct
    True
    """

    thinking = "strip"
    reads = ("strict",)

    reading: Reading = "strict"
    options: str = ""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        reference = _REFERENCE.fullmatch(sample.reference)
        if reference is None:
            return Verdict.unjudged(
                f"the reference {sample.reference[:80]!r} isn't an option letter"
            )
        block = answer_block(text)
        answer = (text if block is None else block).strip()
        letters = stated_letters(answer)
        if self.reading == "lenient":
            column = sample.columns.get(self.options)
            letter = named_option(answer, column) if column else None
        else:
            bare = filter(_LETTER.fullmatch, (answer, *boxes(answer)[-1:]))
            letter = next(bare, None) if len(letters) < 2 else None
        if letter or (len(letters) == 1 and self.reading == "lenient"):
            letter = letter or min(letters)
            return Verdict.judged(letter == reference[1].upper(), answer=letter)
        if not letters:
            return Verdict.wrong(Failure.NO_ANSWER, message="no option letter is stated")
        listed = ", ".join(sorted(letters))
        if self.reading == "strict":
            message = "the answer is not one bare letter"
            return Verdict.wrong(Failure.FORMAT, answer=listed, message=message)
        return Verdict.wrong(Failure.WRONG, answer=listed, message="several letters are offered")
