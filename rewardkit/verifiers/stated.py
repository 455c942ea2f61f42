"""Find the answer that a reply states in words and doesn't take back.

All verifiers that read sentences use this reader. A reply states an answer by an announcement ("The
answer is 5"), by a correction ("No, it is 6"), or at the end: in bold, in a displayed formula, or
in the last sentence ("So they need 5"). languages.toml has a table of words for each language.
Words that deny, hedge, bound or ask for a value leave the answer unstated; so do words before an
announcement that the table lacks. A reply in a language without a table states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from rewardkit.verifiers.languages import LATIN, MASK, Language, language_of, load_language
from rewardkit.verifiers.reading import after_marker, answer_block, box_spans, unnest

Reading = Literal["strict", "lenient"]

LAST_PART = 20_000
"""Characters at the end of a text in which its answer in words is looked for."""

LONGEST_SENTENCE = 1_000
"""Characters at the end of a sentence that are read; more would take time in their square."""

MOST_SENTENCES = 200

_DELIMITER = re.compile(r"\\[\[\]()]|\\.|\$\$|\$|\n[ \t]*\n", re.DOTALL)
_CLOSES = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_AMOUNT = re.compile(r"\s?(?:[0-9]|<<)")
_SENTENCE_END = re.compile(r"(?<!\.[a-zA-Z])[.!?]+(?=[\s*\"”')\]]|\Z)|[。！？]|\n+")
_REMARK = re.compile(
    r"(?:\s*(?:I hope (?:it|this|that) (?:is|was|helps)(?: correct)?|</s>|\[END\]|<eos>"
    r"|(?:Please )?(?:let me know|feel free to ask) if you (?:have|need) [^.!?\n]{1,60}"
    r"|\$\\(?:black)?square\$|[∎□■]|<\|[a-z_]{1,30}\|>(?:user|assistant|system)?)[.!\s]*){1,3}\Z",
    re.IGNORECASE,
)
_BOLD_END = re.compile(r"\*\*([^*\n]{1,200})\*\*[.\s]*\Z")
_VALUE = re.compile(rf"[0-9{MASK}]")
_DIGITS = r"[0-9](?:(?:[0-9.,/]|[ \u00a0\u202f](?=[0-9]{3}(?![0-9])))*[0-9])?"
_VALUES = re.compile(rf"{MASK}+|(?<![A-Za-z0-9.,])[-−±~≈<>≤≥√$€£]?{_DIGITS}")
_TO = re.compile(r"\bto\s+\Z", re.IGNORECASE)
_ROW = re.compile(r"(?m)^\|([^|\n]*)\|([^|\n]*)\|\s*\Z")
_ENDED = re.compile(rf"[.!。！)*_\]”»\"{MASK}]\s*\Z")
_COLON = re.compile(r":\s|：|:(?=[^\x00-\x7f])")
_WORD = re.compile(r"[^\W\d_]{2}")
_FORMULA_AFTER = re.compile(rf"[,，:：]\s*(?={MASK})")
_NAME = re.compile(
    r"(?:\\(?:triangle|angle|vec|overline|mathbf)\s*)?\{?[A-Za-z]{1,4}\}?'?(?:\([a-z]\))?"
)
"""A formula that only names a thing: `f(x)`, `ABC`, `\\triangle ABC`."""

_MARKS = " \t\r\n*_`"


class Found(NamedTuple):
    """A value, and where it ends in the text."""

    value: str
    end: int


Take = Callable[[str, int, int], Found | None]
"""Reads the value at the start of `text[start:end]`, a clause; None where there is none."""


def formulas(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the formulas that close their own delimiters: their positions and contents."""
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


def without_remark(text: str) -> str:
    """The last part of a text, without "I hope it is correct." and stop markers after it."""
    text = text[-LAST_PART:].strip()
    remark = _REMARK.search(text, max(0, len(text) - 180))
    return text[: remark.start()].rstrip() if remark else text


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the words of a short text deny, bound or take back its value at `text[start:end]`."""
    language = language_of(text) or load_language("en")
    before, after = _ABOUT_IT.sub(" ", text[:start]), text[end:]
    patterns = (language.negation, language.condition, language.retraction)
    return (
        language.refusal.search(before) is not None
        or language.change.match(after.lstrip(" \n)$*")) is not None
        or any(pattern.search(after) for pattern in patterns)
    )


_ABOUT_IT = re.compile(r"\b(?:about|approximately|roughly|around|ca\.)|[~≈<>=]", re.IGNORECASE)


def stated(text: str, take: Take, *, at_end: bool = True) -> str | None:
    """Return the answer that `text` states and does not take back, as `take` reads the answer.

    None without an answer. With `at_end`, the answer may be bold text, a formula or a sentence at
    the end that nothing announces.

    >>> def letter(text, start, end):
    ...     return Found(text[start], start + 1) if text[start].isupper() else None
    >>> stated("The answer is A. No, it is B.", letter)
    'B'
    """
    return _Statements(without_remark(text), take).last(at_end=at_end)


def _as_sentence(row: re.Match[str]) -> str:
    """A last row of a table as `label : value`, in as many characters."""
    label, value = row.groups()
    return f" {label}:{value} "


def _without_commas(adverb: re.Match[str]) -> str:
    """`, therefore,` inside a clause, without its commas."""
    return f" {adverb.group()[1:-1]} "


class _Statements:
    def __init__(self, text: str, take: Take) -> None:
        self.text, self.take = text, take
        masked = text
        for (start, end), content in formulas(text):
            cover = "x" if _NAME.fullmatch(content) else MASK
            masked = masked[:start] + cover * (end - start) + masked[end:]
        masked = _ROW.sub(_as_sentence, masked)
        self.masked = masked
        ends = [0, *(end.end() for end in _SENTENCE_END.finditer(masked)), len(masked)]
        spans = [
            (max(start, end - LONGEST_SENTENCE), end)
            for start, end in pairwise(ends)
            if masked[start:end].strip(_MARKS)
        ]
        self.sentences = spans[-MOST_SENTENCES:]
        self.language = language_of(masked.replace(MASK, " "))
        self.answer: str | None = None
        self.announced_at = -1
        """Where the last sentence that announces, denies or takes back an answer starts; or -1."""
        self.spoken: Language | None = None
        """The language of that sentence."""

    def last(self, *, at_end: bool) -> str | None:
        expected = [language for language in (self.language, load_language("en")) if language]
        for start, end in self.sentences:
            known = self.spoken or end == len(self.masked)  # the last sentence may be in another
            if known or any(
                language.marks.search(self.masked, start, end) for language in expected
            ):
                self._read(self.language_at(start, end), start, end)
        while len(self.sentences) > 1 and self._is_passed_over(*self.sentences[-1]):
            self.sentences.pop()
        start, end = self.sentences[-1] if self.sentences else (-1, -1)
        # words alone replace no answer: "Every step was checked twice."
        if (
            at_end
            and self.announced_at < start
            and (self.answer is None or _VALUE.search(self.masked, start, end))
        ):
            self.answer = self._at_end(start, end) or self.answer
        return self.answer

    def _is_passed_over(self, start: int, end: int) -> bool:
        """Whether a sentence only checks the conclusion before it, or ends the conversation."""
        language = self.language_at(start, end)
        if language is None:
            return False
        if language.check.match(self.masked, start, end):
            return True
        closes = language.closing.match(self.masked, start, end)
        return closes is not None and not language.negation.search(self.masked, start, end)

    def language_at(self, start: int, end: int) -> Language | None:
        return language_of(self.masked[start:end].replace(MASK, " ")) or self.language

    def _read(self, language: Language | None, start: int, end: int) -> None:
        """Read a sentence that may announce, correct or take back an answer."""
        if language is None:
            return
        *_, noun = (None, *language.announcement.finditer(self.masked, start, end))
        praised = language.praise.search(self.masked, start, end)
        if praised and self._reads_praise(language, start, end):
            return
        if noun is not None and self._reads_answer(language, start, noun, end):
            return
        if self.spoken is not None:
            self._read_correction(self.spoken, start, end)

    def _reads_praise(self, language: Language, start: int, end: int) -> bool:
        """Read a clause that starts with a value and calls it the answer: "B is correct"."""
        for at in reversed(self.clause_starts(language, start, end)):
            lead = language.lead.match(self.masked, at, end)
            place = lead.end() if lead else at
            found = self.take(self.text, place, end) if place < end else None
            praise = found and language.praise.match(self.masked, found.end, end)
            if found and praise and not language.condition.search(self.masked, start, at):
                asked = self.masked[praise.end() : end].rstrip().endswith(("?", "？"))
                self._settle(language, start, None if asked else found.value)
                return True
        return False

    def _reads_answer(self, language: Language, start: int, noun: re.Match[str], end: int) -> bool:
        """Read what follows an announcement's noun; False where the noun announces nothing."""
        *_, colon = (None, *_COLON.finditer(self.masked, start, noun.start() + 1))
        at = self.clause_starts(language, start, noun.start())[-1]
        at = max(at, colon.end()) if colon else at
        copula = language.copula.match(self.masked, noun.end(), end)
        if copula is None and (whose := language.whose.match(self.masked, noun.end(), end)):
            copula = language.copula.match(self.masked, whose.end(), end)
        if copula is None:
            if self._reads_replacement(language, start, noun.end(), end):
                return True
            if not language.refusal.search(self.masked, noun.end(), end):
                return False
            self._settle(language, start, None)
            return True
        known = language.opening.fullmatch(self.masked, at, noun.start()) is not None
        plain = known and not language.condition.search(self.masked, start, at)
        self._value(language, start, copula.end(), end, plain=plain)
        return True

    def _read_correction(self, language: Language, start: int, end: int) -> None:
        """Read a sentence after an announcement: "That is wrong", "No, it is 6", "Oops, 6"."""
        word = self.word_at(start)
        contrast = language.contrast.search(self.masked, word, end)
        if contrast and language.negation.match(self.masked, word, end):  # Not 5 but 6
            self._value(language, start, contrast.end(), end, plain=True)
            return
        retracted = None
        colons = [found.end() for found in re.finditer(":\\s", self.masked[start:end])]
        starts = self.clause_starts(language, start, end)
        for at in sorted([*starts, *(start + colon for colon in colons)]):
            pronoun = language.it.match(self.masked, at, end)
            if pronoun and (
                retracted
                or self.answer is None
                or language.retraction.search(self.masked, at, pronoun.end())
            ):
                self._value(language, start, pronoun.end(), end, plain=True)
                return
            place = at + len(self.masked[at:end]) - len(self.masked[at:end].lstrip(' *_"“(,.…\n'))
            if self.answer and self.text.startswith(self.answer, place):
                place += len(self.answer) + 1
            if found := language.retraction.match(self.masked, place, end):
                retracted = found
                self._settle(language, start, None)
        if retracted:
            bare = self._after_filler(language, retracted.end(), end)
            words = re.match(r"[^\W\d_]{2}", self.text[bare:end])
            apart = re.search("[^\\w\\s*$]", self.masked[retracted.end() : bare])
            denies = not apart and language.negation.search(retracted.group())  # It is not 6
            takes = bare < end and not words and not denies
            found_value = self.take(self.text, bare, end) if takes else None
            if found_value and not self.masked[found_value.end : end].strip(_MARKS + ".!)"):
                self.answer = found_value.value

    def _value(self, language: Language, start: int, at: int, end: int, *, plain: bool) -> None:
        """Take the value after an announcement; it stands if the words around it are `plain`."""
        at = self._after_filler(language, at, end)
        if not self.masked[at:end].strip(_MARKS):  # it stands on the next line
            later = [span for span in self.sentences if span[0] >= end]
            if not later:
                return
            at, end = self._after_filler(language, *later[0]), later[0][1]
        refused = language.refusal.match(self.masked, at, end)
        if self._reads_replacement(language, start, at, end):
            return
        if refused and language.negation.match(self.masked, at, end):
            other = self.take(self.text, self._after_filler(language, refused.end(), end), end)
            if self.answer is not None and other is not None and other.value != self.answer:
                return
            contrast = language.contrast.search(self.masked, refused.end(), end)
            if contrast and self.masked[refused.end() : contrast.start()].strip():
                at = self._after_filler(language, contrast.end(), end)
                refused = language.refusal.match(self.masked, at, end)
        found = None if refused else self._take_value(language, at, end)
        if refused or found is not None:
            stands = plain and found is not None and self._stands(language, found, at, end)
            self._settle(language, start, found.value if found is not None and stands else None)
            cut = self._clause_end(language, found.end - 1 if found is not None else at, end)
            if not stands and language.retraction.match(self.masked, self.word_at(cut), end):
                self._read_correction(language, cut, end)  # 5, no: 6

    def _settle(self, language: Language, start: int, answer: str | None) -> None:
        self.answer, self.announced_at, self.spoken = answer, start, language

    def _reads_replacement(self, language: Language, start: int, at: int, end: int) -> bool:
        """Read a later clause of an announcement's sentence: ", but it is 6"."""
        for clause in self.clause_starts(language, at, end)[1:]:
            pronoun = language.it.match(self.masked, self.word_at(clause), end)
            value = self._after_filler(language, pronoun.end(), end) if pronoun else end
            if pronoun and self._take_value(language, value, end):
                self._value(language, start, pronoun.end(), end, plain=True)
                return True
        return False

    def _take_value(self, language: Language, at: int, end: int) -> Found | None:
        stop = self._clause_end(language, at, end)
        return self.take(self.text, at, stop) or self._find_conclusion(language, at, end)

    def _after_filler(self, language: Language, at: int, end: int) -> int:
        filler = language.filler.match(self.masked, at, end)
        return filler.end() if filler else at

    def _stands(self, language: Language, found: Found, at: int, end: int) -> bool:
        """Whether nothing after a value in its sentence changes, doubts or asks for it."""
        stop = self._clause_end(language, max(at, found.end - 1), end)
        tail = self.masked[found.end : stop].replace("**", "")
        if "/" in found.value or r"\frac" in found.value:
            tail = _PART_OF.sub("", tail)  # 3/4 of the cake
        if _VALUE.search(tail) or language.change.search(tail.rstrip("!")):
            return False
        rest = self.masked[stop:end]
        if self.masked[:end].rstrip(_MARKS + ')"”').endswith(("?", "？")):
            return language.yes.match(self.masked, end) is not None
        if not rest.strip(_MARKS + ".!)。！"):
            return True
        words = [self.word_at(start) for start in self.clause_starts(language, stop, end)]
        if language.change.match(self.masked, words[0], end):
            return False
        return not any(language.retraction.match(self.masked, word, end) for word in words)

    def word_at(self, at: int) -> int:
        while at < len(self.masked) and self.masked[at] in " *_(,;.—–-":
            at += 1
        return at

    def clause_starts(self, language: Language, start: int, end: int) -> list[int]:
        return [start, *(cut.end() for cut in language.clause.finditer(self.masked, start, end))]

    def _clause_end(self, language: Language, at: int, end: int) -> int:
        cut = language.clause.search(self.masked, at, end)
        stop = cut.start() if cut else end
        return at + len(self.masked[at:stop].rstrip(_MARKS + ".。,，;!！"))

    def _at_end(self, start: int, end: int) -> str | None:
        """Return what the end of the text states: bold, a displayed formula, the last sentence."""
        language = self.language_at(start, end)
        line = self.masked[start:end].strip(_MARKS + ".。")
        if line and not line.strip(MASK):  # a formula alone, after the words before it
            before = self.masked[:start].rstrip().rpartition("\n")[2]
            language = language_of(before.replace(MASK, " ")) or language
            refused = language is None or language.refusal.search(before)
            found = None if refused else self.take(self.text, self.word_at(start), end)
            return found.value if found else None
        plain = re.match(r"[^\W\d_]{2}", line) is None
        begins = not self.masked[:start].strip(_MARKS) or self.masked[start - 1] == "\n"
        alone = plain and begins
        if alone and _VALUE.search(line) and not self.masked[:start].rstrip().endswith((",", "=")):
            place = end - len(self.masked[start:end].lstrip(_MARKS))
            found = self.take(self.text, place, end)
            if found and not self.masked[found.end : end].strip(_MARKS + ".。"):
                return found.value
        if language is None:
            return None
        bold = _BOLD_END.search(self.text, start)
        if bold and not language.refusal.search(self.masked, start, bold.start()):
            found = self.take(self.text, bold.start(1), bold.end(1))
            if found and found.end >= bold.end(1) - 1:
                return found.value
        if self.text[start:end].lstrip().startswith("|") and not language.conclusion.match(
            self.masked, self.word_at(start), end
        ):
            return None  # a row of a table that isn't its total
        self.masked = language.adverb.sub(_without_commas, self.masked)
        found = self._find_conclusion(language, start, end)
        if found is None or not self._stands(language, found, start, end):
            return None
        clause = max(at for at in self.clause_starts(language, start, end) if at < found.end)
        return None if language.ongoing.search(self.masked, clause, end) else found.value

    def _find_conclusion(self, language: Language, start: int, end: int) -> Found | None:
        """Return what a sentence states after its last verb or sign of equality.

        One clause at its end may be an aside: a reason, or words without a value.
        """
        starts = self.clause_starts(language, start, end)
        if language.second.match(self.masked, self.word_at(starts[-1]), end):
            parts = (start, starts[-1]), (starts[-1], end)
            if all(_VALUE.search(self.masked, *part) for part in parts):
                return None  # "The area is 36, and its perimeter is 24"
        for skipped, (at, stop) in enumerate(reversed(list(pairwise([*starts, end])))):
            reason = language.reason.match(self.masked, self.word_at(at), stop)
            concludes = language.conclusion.match(self.masked, at, stop)
            aside = at > start and reason is not None and not concludes
            if not aside:
                supposed = at == start and language.supposition.match(self.masked, self.word_at(at))
                if supposed or language.condition.search(self.masked, start, stop):
                    return None
                found = self._after_verb(language, at, stop)
                if not found and not _VALUES.search(self.masked, stop, end):
                    found = self._only_value(language, start, at, stop)
                if found:
                    return found
                clause = self.masked[at:stop]
                doubts = (language.refusal, language.retraction)
                ended = _ENDED.search(self.masked, start, end)
                aside = ended is not None and not (
                    _VALUE.search(clause) or any(doubt.search(clause) for doubt in doubts)
                )
            if skipped or not aside or concludes:
                return None
        return None

    def _after_verb(self, language: Language, at: int, stop: int) -> Found | None:
        """Return the value after the conclusion's word or the last verb, else after an `=`."""
        *_, colon = (None, *_COLON.finditer(self.masked, at, stop))
        if colon and language.verb.search(self.masked, colon.end(), stop):
            at = colon.end()
        concludes = language.conclusion.match(self.masked, at, stop)
        places = [concludes.end()] if concludes else []
        signs: list[int] = []
        for verb in language.verb.finditer(self.masked, at, stop):
            purpose = _TO.search(self.masked, at, verb.start())
            if purpose and _VALUE.search(self.masked, at, purpose.start()):
                continue  # 5 eggs to make 80 cakes
            (places if verb.group()[0].isalpha() else signs).append(verb.end())
        doubt = language.doubt.search(self.masked, at, stop)
        whole = [(place, True) for place in reversed(places)]
        for place, must_end in (*whole, *((sign, False) for sign in reversed(signs))):
            value = self._after_filler(language, place, stop)
            *_, other = (at, *(found.end() for found in _VALUES.finditer(self.masked, at, place)))
            bound = language.bound.search(self.masked, other, stop)  # bounds the next value
            if value >= stop or any(word and word.start() <= value for word in (doubt, bound)):
                continue
            last = self._clause_end(language, value, stop)
            found = self.take(self.text, value, last)
            if found is None or (signs and must_end and found.end < last):
                continue
            if _VALUE.search(self.masked, value, found.end) or not _VALUE.search(
                self.masked, at, stop
            ):
                return found
        return None

    def _only_value(self, language: Language, start: int, at: int, stop: int) -> Found | None:
        """Return the only value of a sentence's last clause, whatever the clause's verb is.

        Clauses before it hold no value, unless they give a reason.
        """
        *_, mark = (None, *_FORMULA_AFTER.finditer(self.masked, at, stop))
        at = mark.end() if mark else at
        *others, place = (0, *(found.start() for found in _VALUES.finditer(self.masked, at, stop)))
        first = self.word_at(start)
        if self.answer or len(others) != 1 or language.step.match(self.masked, first, stop):
            return None
        corrects = language.contrast.match(self.masked, self.word_at(at), stop)
        if corrects and not language.negation.search(self.masked, start, at):
            corrects = None
        at = corrects.end() if corrects else at
        reasoned = at > start and language.reason.match(self.masked, first, at)
        worked = mark and mark.group()[0] in ":："
        starts = (
            corrects or reasoned or worked or language.conclusion.search(self.masked, at, place)
        )
        if not starts and any(
            sign.search(self.masked, start, at) for sign in (_VALUES, language.doubt)
        ):
            return None
        begins = not _WORD.search(self.masked, at, place)
        refused = language.refusal.search(self.masked, at, stop)
        if refused and (begins or refused.end() <= place):
            return None
        if language.doubt.search(self.masked, place, stop):
            return None
        return self.take(self.text, place, self._clause_end(language, place, stop))


_PART_OF = re.compile(r"\A\s+of (?:the|an?|his|her|its|all) [a-z ]{2,30}\Z")


def states_words(text: str, words: str) -> bool:
    """Whether the last clause of a text ends with these words and does not deny them.

    >>> states_words("By the ratio test, the series diverges.", "diverges")
    True
    """
    text = without_remark(text)
    language = language_of(text) or load_language("en")
    edge = r"(?<!\w)" if re.search(f"[{LATIN}]", words) else ""
    ending = re.compile(rf"{edge}{re.escape(words)}[\s*_.!。！\"”$}}]*\Z", re.IGNORECASE)
    *_, noun = (None, *language.announcement.finditer(text))
    copula = noun and language.copula.match(text, noun.end())
    filler = copula and language.filler.match(text, copula.end())
    if noun and filler and ending.match(text, filler.end()):  # The answer is no
        ends = _SENTENCE_END.finditer(text, 0, noun.start())
        *_, begin = (0, *(end.end() for end in ends))
        if language.opening.fullmatch(text, begin, noun.start()):
            return True
    return ending.search(last_clause(text, words)) is not None


_PLACEHOLDER = re.compile(
    r"(?:\\[hv]?phantom\s*\{[^{}]*\}|\\(?:square|Box|quad|_)|[_?\s.…])*"
    r"|(?:\\text\s*\{)?\s*(?:(?:your|the|final|my)\s){0,2}(?:answer|result|number)(?: here)?\s*\}?",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"[\s$})\\]*(?:≈|approx)\s*[\s$({\\]*(?:f?boxed\s*\{)?\s*")
_DECIMAL = re.compile(r"\s*-?[0-9]*\.[0-9]+\s*")
_STILL = re.compile(r"\b(?:or|also|could|might|may|then)\b", re.IGNORECASE)


def standing_boxes(text: str) -> list[str]:
    r"""Return the boxes that a text does not take back, in order; none if the last box stays open.

    Words such as "that is wrong" between two boxes take back the earlier boxes. A decimal after `≈`
    repeats the box before. Empty boxes, placeholders and `\boxed{answer}` in a sentence are none.

    >>> standing_boxes(r"\boxed{3}. Wait, that is wrong. \boxed{4}")
    ['4']
    """
    spans, last_opened = box_spans(text)
    if last_opened > (spans[-1][0] if spans else -1):
        return []
    kept: list[str] = []
    ended = 0
    for start, end in spans:
        between = text[ended:start].rpartition("\\")[0] if kept else ""
        content, ended = unnest(text[start:end]), end
        empty = not content.isdigit() and _PLACEHOLDER.fullmatch(content) is not None
        offered = kept and (not _WORD.search(between) or _STILL.search(between))
        if empty and (content.strip("? ") or len(spans) > 1) and not offered:
            continue
        if kept and _ABOUT.fullmatch(between):
            if _DECIMAL.fullmatch(content):
                continue
            if _DECIMAL.fullmatch(kept[-1]):
                kept.pop()
        if kept and not _STILL.search(between := between[-LAST_PART:]):
            language = language_of(between) or load_language("en")
            if language.retraction.search(between):
                kept.clear()
        kept.append(content)
    return kept


def last_clause(text: str, words: str = "") -> str:
    """The last clause that isn't a reason; empty where the text's end hedges, denies or asks.

    What `words` themselves deny doesn't count.
    """
    statements = _Statements(text, _words)
    if not statements.sentences or text.rstrip().endswith(("?", "？")):
        return ""
    start, end = statements.sentences[-1]
    language = statements.language_at(start, end) or load_language("en")
    cuts = statements.clause_starts(language, start, end)
    starts = [at for at in cuts if text[at] != "(" or at == start]
    clauses = list(pairwise([*starts, end]))
    while len(clauses) > 1:
        word = statements.word_at(clauses[-1][0])
        if text.startswith("which", word) or not language.reason.match(text, word, end):
            break
        clauses.pop()
    at, stop = clauses[-1]
    word = statements.word_at(at)
    contrast = language.contrast.match(text, word)
    rest = text[contrast.end() if contrast else word : end if not words else stop]
    doubts = (language.refusal, language.retraction, language.ongoing)
    rest = rest.replace(words, "") if words else rest
    doubted = any(doubt.search(rest) for doubt in doubts)
    doubted = doubted or language.condition.search(text, start) is not None
    return "" if doubted else text[at:stop].strip(" ,;")


def stated_answer(text: str, reading: Reading = "strict") -> str:
    """Return the answer in `text`, stripped; empty without an answer.

    `strict`: the last `<answer>` block, else the last box, else the whole text. `lenient`: instead
    of the whole text, what follows the last `####`, else what is announced, else the last line.

    >>> stated_answer("It is far north. The answer is Oslo.", "lenient")
    'Oslo'
    """
    block = answer_block(text)
    content = text if block is None else block
    boxed = standing_boxes(content) if "ox" in content else []
    if boxed:
        return boxed[-1].strip()
    if reading == "strict" or block is not None:
        return content.strip()
    marked = after_marker(content, "####")
    if marked is not None:
        return marked
    return stated(content, _words) or content.strip().rpartition("\n")[2].strip()


_ARTICLES = re.compile(r"(?<![\w])(?:(?:the|an?)\s+)+\Z", re.IGNORECASE)


def _words(text: str, start: int, end: int) -> Found | None:
    articles = _ARTICLES.search(text[:start])
    clause = text[articles.start() if articles else start : end].strip(_MARKS)
    return Found(clause, end) if clause else None
