"""Multiple choice: compare the stated option letter with the reference."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.announcement import (
    ANNOUNCEMENT,
    IN_CHINESE,
    LAST_PART,
    LEAD,
    Reading,
    standing,
    stated_answer,
    unwrapped,
)
from rewardkit.verifiers.exact import Normalisation
from rewardkit.verifiers.reading import answer_block, boxes

SHORT = 40
"""Characters of a completion that may be an answer without a cue: "(B) 42"."""

STATEMENTS = 500
"""How many statements are read, from the last one backwards."""

_WRAP = (
    r"(?:\\(?:f?box(?:ed)?|text(?:bf|rm|it|sf|tt)?|math(?:bf|rm|it|sf)|bf|rm)(?![a-zA-Z])"
    r"|\b(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Aa]nswer|[Ee]ither|[Bb]oth)s?\b"
    r"|\\\(|[\s*_`'\"“‘(\[{$（【:：=])"
)
_ARTICLE = r"(?!\s+(?!(?:and|or|as|because|but|by|due|for|from|given|is|not|since|with)\b)[a-z])"
_STATED_LETTER = (
    rf"(?:(?P<upper>[B-HJ-Z]|[AI]{_ARTICLE})(?![A-Za-z0-9'’^+]|_[A-Za-z0-9{{]|-\w)"
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
_SUBJECT_FIRST = re.compile(  # A and C are too big
    rf"{_WRAP}{{0,12}}[A-J](?:(?:,|,?\s(?:and|or))\s[A-J]){{0,9}}{_SUBJECT.pattern}"
)
_SENTENCE = re.compile(r"[.!?]\s|\n|\b(?:because|since|while|whereas|but|not)\b")
_MENTION = re.compile(
    r"(?:(?:\b[Oo]ption|\b[Cc]hoice|\b[Ll]etter)\s{1,4}[*(\"'$]{0,4}|(?<!\S)[*$]{0,3}\(|\*\*)"
    r"(?P<letter>[A-Z])(?![A-Za-z0-9'’])"
)
_ENDING = re.compile(
    r"(?:\b(?:is|are|be|so|choose|pick|select|with|get|leav(?:es|ing)|points\sto|settle\son|go\sfor)|[:=：→])\s{0,4}[*(\"'$]{0,4}"
    r"(?P<letter>[A-Z])[)\"'$*.!\s]{0,8}\Z"
)
_CUE = re.compile(  # each alternative starts with a literal: then the scan is fast
    r"##+|\\boxed|\\fbox|\\box(?![a-zA-Z])"
    r"|(?:answer|Answer|ANSWER|choice|Choice|option|Option|selection|Selection)s?"
    r"(?:\s{1,4}\w{1,20}){0,3}?\s{0,4}[*_]{0,2}(?:[:：=]|\b(?:is|are|be|IS)\b[:：]?)"
    r"|(?:choose|pick|select|go\swith)\b"
    r"|(?:wait|Wait|actually|Actually|correction|Correction|rather|instead)\b[,:.]?(?:\s+no[,.]?)?"
    r"|(?:[Aa]ntwort|[Rr]éponse|[Rr]espuesta|[Rr]esposta|[Rr]isposta)\s(?:ist|est|es|é|è)\b"
    r"|(?:So|Thus|Hence|Therefore)\b,?(?:\s(?:it|that|this)\s(?:is|must\sbe|leaves))?(?=[\s*_($]{1,8}[A-Z][\s*_)$.!]{0,8}\Z)"
    rf"|{IN_CHINESE}|选择?|選擇?"
)
_BY_OTHERS = re.compile(
    r"\b(?:many|most|some|others?|people|students|they|you|who|might|may|could)\s(?:\w{1,12}\s)?\Z"
    r"|\b(?:(?:mistake|error|temptation)\sis|tempting|wrong)\sto\s\Z"
)
_OPTION_TEXT = re.compile(r"(?<![A-Za-z])[A-J]\s?(?:[:=]\s?\S|[).]\s(?=[-$\\0-9]))")
_JUDGEMENT = re.compile(
    r"(?<![A-Za-z0-9\\])(?<!except\s)(?<![a-z]\sbut\s)(?P<letters>(?:[A-Z][)*]{0,3}(?:,\s|,?\s(?:and|or|&)\s)\(?){0,5}[A-Z])"
    r"[)*\"'\]$]{0,4}\s{1,4}(?P<verb>is|are|must\sbe)\s{1,4}(?P<no>not\s{1,4})?"
    r"(?:the\s{1,4}|an?\s{1,4})?(?:only\s{1,4})?"
    r"(?:(?P<praise>correct|right|best|answer|(?:option|choice|one)\sthat\s(?:fits|works|holds))"
    r"|incorrect|wrong|distractor|trap|decoy|mistake|guess)\b"
)
_LABELLED = re.compile(
    r"[\s>#-]{0,8}(?:\*\*|\$)?(?:[Oo]ption\s)?(?:\((?P<a>[A-Za-z])\)|(?P<b>[A-Z])(?:[).:：、]|\*\*|\s{0,4}\Z))"
)


def stated_letters(text: str) -> frozenset[str]:
    """Return the letters, in upper case, of the last answer that `text` states; empty without one.

    More than one letter is a hedge: "A or B". A statement is a box, a `####`, "the answer is",
    "B is correct" and the like. A later statement replaces an earlier one, and "not B" withdraws
    B. Without a statement the last line counts, or the first, if it offers one letter. A
    completion that ends in an empty `####` states nothing.

    >>> sorted(stated_letters("I think A. Wait, the answer is B or C."))
    ['B', 'C']
    """
    text = text.strip()[-LAST_PART:]
    if text.endswith("##"):
        return frozenset()
    if whole := _whole(text):
        return whole
    denied: frozenset[str] = frozenset()
    for found in _last_statements(text):
        judged = found.re is _JUDGEMENT
        letters, against = _judged(text, found) if judged else _read(text, found.end())
        if letters:
            return letters - denied
        denied |= against
    return _from_lines(text) - denied


def _whole(text: str) -> frozenset[str]:
    """Return the letters that a short text offers without calling them the answer: "(B) 42"."""
    if len(text) > SHORT or "\n" in text or _JUDGEMENT.search(text) or ANNOUNCEMENT.search(text, 1):
        return _NONE
    letters, _ = _offered(text, 0)
    return _NONE if _lists_options(text) or _SUBJECT_FIRST.match(text) else letters


def _lists_options(line: str) -> bool:
    """Whether a line says what several options are: A: 3, B: 4."""
    return len(_OPTION_TEXT.findall(line)) > 1


def _last_statements(text: str) -> list[re.Match[str]]:
    """Return the cues before answers, and judgements such as "B is correct", the last first."""
    cues = (
        cue
        for cue in _CUE.finditer(text)
        if not _BY_OTHERS.search(text, max(0, cue.start() - 30), cue.start())
    )
    found = [*cues, *_JUDGEMENT.finditer(text)]
    starts = {match: match.start() if match.re is _JUDGEMENT else match.end() for match in found}
    return sorted(found, key=starts.__getitem__, reverse=True)[:STATEMENTS]


Letters = tuple[frozenset[str], frozenset[str]]
"""The letters that a statement stands by, and those that it takes back."""

_NONE: frozenset[str] = frozenset()


def _judged(text: str, judgement: re.Match[str]) -> Letters:
    listed = judgement["letters"]
    if judgement["verb"] == "is" and "or" not in listed:  # the answer is A, and B is wrong
        listed = listed[-1]
    letters = frozenset(re.findall("[A-Z]", listed))
    stands = not standing(text, *judgement.span("letters")).taken_back
    return (letters, _NONE) if _praises(judgement) and stands else (_NONE, letters)


def _praises(judgement: re.Match[str]) -> bool:
    return bool(judgement["praise"]) != bool(judgement["no"])


def _after_lead(text: str, start: int) -> int:
    """Return where a letter may be offered after words such as "definitely"."""
    lead = LEAD.match(text, start)
    return lead.end() if lead and not _OFFER.match(text, start) else start


def _offered(text: str, start: int) -> Letters:
    """Return the letters listed at `start`, or where the text replaces them by others."""
    for _ in range(STATEMENTS):
        start = _after_lead(text, start)
        offer = _OFFER.match(text, start)
        if offer is None:
            break
        letters = _offers(text, start)
        stands = standing(text, *offer.span("upper" if offer["upper"] else "lower"))
        if stands.replaced_at is None:
            return (_NONE, letters) if stands.taken_back or stands.about else (letters, _NONE)
        start = stands.replaced_at
    return _NONE, _NONE


def _read(text: str, start: int) -> Letters:
    """Return the letters of the statement after a cue, or those marked as options."""
    start = _after_lead(text, start)
    rest = text[start : start + 300]
    end = _SENTENCE.search(rest)
    sentence = rest[: end.start()] if end else rest
    first = _OFFER.match(text, start)
    if first and not _SUBJECT.match(text, first.end()):
        letters, against = _offered(text, start)
        more = {more["letter"] for more in _MORE.finditer(sentence)} if letters else set()
        return letters | more, against
    return frozenset(mention["letter"] for mention in _MENTION.finditer(sentence)), _NONE


def _offers(text: str, start: int) -> frozenset[str]:
    """Return the letters listed at `start`: "B", "(A) and (C)", "A, B", "A. B. C."."""
    letters: set[str] = set()
    offer = _OFFER.match(text, start)
    for _ in range(STATEMENTS):
        if not offer:
            break
        letters.add((offer["upper"] or offer["lower"]).upper())
        listed = _LISTED.match(text, offer.end())
        offer = _OFFER.match(text, listed.end()) if listed else None
        if listed and offer and not _continues(text, listed, offer):
            break
    return frozenset(letters)


def _continues(text: str, listed: re.Match[str], offer: re.Match[str]) -> bool:
    """Return whether a further letter is offered, rather than the start of a new remark."""
    if listed["word"] or listed["comma"]:
        return _SUBJECT.match(text, offer.end()) is None
    return _CLOSED.match(text, offer.end()) is not None


def _from_lines(text: str) -> frozenset[str]:
    """Return the letter that the last or the first line offers without calling it the answer."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or _lists_options(lines[-1][-300:]):
        return frozenset()
    labels = [label for label in map(_LABELLED.match, lines) if label]
    letters = frozenset((label["a"] or label["b"]).upper() for label in labels)
    last = lines[-1][-300:]
    if len(letters) == 1 and (_LABELLED.match(lines[-1]) or _LABELLED.match(lines[0])):
        return letters | {more["letter"] for more in _MORE.finditer(last)}
    found = [*_MENTION.finditer(last), *filter(None, [_ENDING.search(last)])]
    if re.search(r"\b(?:not|never|incorrect|wrong|cannot|except)\b|n['’]t\b", last, re.I):
        return _NONE
    spans = (mention.span("letter") for mention in found)
    return frozenset(
        last[start] for start, end in spans if not standing(last, start, end).taken_back
    )


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
    """Return the letter of the one option whose text `answer` states; None without one.

    >>> named_option("The answer is Oslo.", ["Bergen", "Oslo"])
    'B'
    """
    stated = _LOOSE(unwrapped(stated_answer(answer, "lenient")))
    if not stated or (len(stated) == 1 and stated.isalpha()):
        return None
    texts = [_LOOSE(unwrapped(text)) for text in option_texts(column)]
    if texts.count(stated) != 1 or texts.index(stated) >= len(LETTERS):
        return None
    return LETTERS[texts.index(stated)]


_LETTER = re.compile(r"[A-Z]")
_REFERENCE = re.compile(r"\s*[(\[]?\s*([A-Za-z])\s*[)\].:]?\s*")


@dataclass(frozen=True)
class Choice(Bounded):
    """Right if the completion states the reference's option letter; score 1 or 0.

    `strict`: the completion, stripped, or its last box is exactly one upper-case letter. `lenient`
    also reads "(B)", "B.", "The answer is B", "**B**". The last statement counts, because a
    completion may change its mind; two letters offered as one answer are wrong. If there is an
    `<answer>` block, only that block is read. The reference is "B", "(B)" or "b)". `options` is the
    column with the options' texts: `lenient` then also takes the text of one option for its letter.

    >>> Choice(reading="lenient")("The answer is A. Wait, it is (B).", Sample("B")).correct
    True
    """

    thinking = "strip"
    reads = ("strict",)

    reading: Reading = "strict"
    options: str = ""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        reference = _REFERENCE.fullmatch(sample.reference)
        if reference is None:
            return Verdict.unjudged(
                f"the reference {sample.reference[:80]!r} isn't an option letter"
            )
        block = answer_block(text)
        answer = (text if block is None else block).strip()
        stated = stated_letters(answer)
        if self.reading == "lenient":
            letter = named_option(answer, sample.columns.get(self.options))
        else:
            letter = _exact_letter(answer) if len(stated) < 2 else None
        if letter:
            return Verdict.judged(letter == reference[1].upper(), answer=letter)
        return self._judge_stated(stated, reference[1].upper())

    def _judge_stated(self, stated: frozenset[str], reference: str) -> Verdict:
        answer = ", ".join(sorted(stated))
        if not stated:
            return Verdict.wrong(Failure.NO_ANSWER, message="no option letter is stated")
        if self.reading == "strict":
            return Verdict.wrong(
                Failure.FORMAT, answer=answer, message="the answer is not one bare letter"
            )
        if len(stated) > 1:
            return Verdict.wrong(
                Failure.WRONG, answer=answer, message="several letters are offered"
            )
        return Verdict.judged(answer == reference, answer=answer)


def _exact_letter(answer: str) -> str | None:
    if _LETTER.fullmatch(answer):
        return answer
    boxed = boxes(answer)
    return boxed[-1] if boxed and _LETTER.fullmatch(boxed[-1]) else None
