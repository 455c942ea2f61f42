"""Find the answer that a completion states in words, and whether it stands by it.

`choice`, `gsm8k` and `math` share one reader: `standing` reads the words round a value, which may
deny, hedge, bound or replace it. Linear in the text's length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rewardkit.verifiers.reading import answer_block, boxes, last_match

Reading = Literal["strict", "lenient"]

IN_CHINESE = "答案(?:是|为|為|應為|应为)?[:：]?"
ANNOUNCEMENT = re.compile(
    r"####|\banswers?\b[*_\s]{0,4}(?:(?:is|are|was|will be|would be|equals)\b|[:：=])"
    r"(?:\*\*)?\s?[:：]?"
    rf"|{IN_CHINESE}",
    re.IGNORECASE,
)
"""What announces an answer: `the answer is`, `**Answer:**`, `####`."""

_WRAPPERS = " \t\r\n*_`\"'“”‘’$"


_DENIED = (
    r"not(?!\sonly)|never|neither|nor|nobody|no\sone|cannot|[a-z]{2,7}n['’]t|(?:anything|everything|all)\s(?:but|except)"
    r"|(?<!none\s)(?<!nothing\s)other\sthan|except(?:\sfor)?|far\sfrom|no\slonger|hardly|scarcely|surprised(?=\sif)|rul(?:ed?|es|ing)\sout|(?<!no\s)(?<!without\s)(?<!without\sa\s)doubt(?:s|ed)?"
    r"|no\sway|nothing\s(?:says|shows|suggests|proves)|(?:reject|discard|dismiss|exclud|eliminat)(?:s|es|ed|e|ing)?"
    r"|den(?:y|ies|ied)|(?:refus|declin|hesitat)(?:es?|ed|ing)\sto|unlikely|impossible|rather\sthan|instead\sof|different\sfrom"
    r"|(?:false|wrong|incorrect|untrue|mistake|error)\s(?:that|to\s(?:say|think|answer|claim|conclude|choose|pick|write)"
    r"|answer|result|option|choice)"
    r"|(?:first|initial|previous|earlier|old)\s(?:answer|result|choice)\swas"
    r"|(?:wrongly|falsely|incorrectly|mistakenly|erroneously)(?:\s[a-z]{1,12}){1,2}"
    r"|used\sto\sbe|had\s(?:i|we|you|one)\s[^.!?\n]{1,60}\swould"
)
_HEDGED = (
    r"might|may|could|maybe|perhaps|possibly|guess(?:ing|ed)?|suppose|assum(?:e|ing)|suspect"
    r"|unsure|uncertain|unclear|doubtful|whether|if|unless|wonder(?:s|ed|ing)?|imagine"
)
_BOUNDED = (
    r"(?:less|more|fewer|greater|larger|smaller|higher|lower|bigger)\sthan|at\s(?:the\s)?(?:least|most)"
    r"|up\sto|divides|divisible\sby|between|beyond|within|exceeds?|bounded\sby"
    r"|(?:\A|(?:is|are|was|be|lies?|stays?|remains?|just|slightly|somewhat|strictly|well|bit|little)\s)(?:under|over|above|below)"
    r"|(?:upper|lower)\sbound|estimated?|(?:short|shy|multiples?|factors?|divisors?)\sof"
    r"|(?:complement|sub-?set|superset|opposite|negative|negation|reciprocal|inverse|square|cube|root|half|third"
    r"|quarter|fifth|tenth|double|triple|fraction|part|share|logarithm)\sof|double|triple|twice|thrice"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|[0-9]{1,4})\stimes"
)
_ABOUT = (
    r"about|approximately|approx\.?|roughly|around|nearly|almost|near|close\sto|circa"
    r"|some(?:where|thing)\s(?:like|near|around)"
)
_FILLER = (
    r"be|been|equal|equals|to|the|(?-i:a)|an|or|(?:that|whether)\sthe\s[a-z]{1,15}|that|this|it|its|is"
    r"|are|was|were|if|whether|well|my|our|final"
    r"|correct|right|true|exact|actual|actually|really|exactly|just|simply|quite|answer|result"
    r"|solution|value|number|option|choice|letter|total|would|will|should|as|think|believe|say|said|accepts?|anyone|anybody"
    r"|claim|know|sure|certain|confident|convinced|conclude|infer|clear|expect|choose|pick|select|case"
    r"|necessarily|always"
)
_OPENING = "*_`$({[\"'“‘\\: \t\r\n"
_OPENING_SIGNS = rf"[\s{re.escape(_OPENING)}]{{0,8}}(?:[a-z]\s?=\s?)?"
_BEFORE = re.compile(
    rf"(?:\b(?:(?P<about>{_ABOUT})|{_DENIED}|{_HEDGED}|{_BOUNDED})|(?P<sign>[~≈])|[≠<>≤≥])"
    rf"(?:\s+(?:{_FILLER})\b){{0,9}}{_OPENING_SIGNS}\Z",
    re.IGNORECASE,
)
_BEFORE_ENDS = re.compile(
    rf"(?:\b(?:{_ABOUT}|{_DENIED}|{_HEDGED}|{_BOUNDED}|{_FILLER})|[~≈≠<>≤≥]){_OPENING_SIGNS}\Z",
    re.IGNORECASE,
)
"""How all that _BEFORE finds ends; most texts don't, and this search is short."""
_MOST_END_WORDS = 3
LEAD = re.compile(
    rf"(?:[\s,]{{0,3}}\b(?:{_DENIED}|{_HEDGED}|{_ABOUT}|{_FILLER}|therefore|thus|hence|clearly|indeed"
    r"|definitely|certainly|probably|most|likely|without(?=\s(?:a\s)?doubt)|no|doubt|nothing\sbut|none\sother\sthan)\b){1,9}",
    re.IGNORECASE,
)
"""Words between an announcement and its value: `definitely`, `not`, `most likely the`."""

_END = r"[\s*_`$()}\]\"'”’.,;:!?—–-]{0,8}"
_UNITS = (
    r"(?:\s?(?:\\?[%°]|(?!(?:because|since|as|if|when|while|where|for|given|due|so|and|or|but|is|was"
    r"|are|maybe|perhaps|possibly|which|that|this)\b)[a-z]{1,12}\b)){0,2}?"
)
_REFUTED = (
    r"(?:is|was|are|were|seems|looks|would\sbe|must\sbe|['’]s)\s(?:[a-z]{1,12}\s){0,2}?"
    r"(?:not\s(?:[a-z]{1,12}\s){0,2}?(?:correct|right|true|answer|it|valid|possible|solution|case)"
    r"|wrong|incorrect|false|untrue|invalid|impossible|mistaken|nonsense|trap|distractor|mistake|error"
    r"|guess|lie|joke|decoy|typo|red\sherring|extraneous|spurious|inadmissible|rejected|discarded|excluded)"
    r"|contradicts|fails|makes\sno\ssense"
    r"|(?:does|do)(?:\snot|n['’]t)\s(?:satisfy|fit|hold|check)(?:\s[a-z]{1,12}){0,3}"
    r"|(?:[a-z]{2,6}n['’]t|cannot|can\snot)\s(?:(?:be|the|a|quite|actually)\s){0,3}"
    r"(?:correct|right|true|answer|it|valid|possible|work|solution)"
)
_SUBJECT = r"which|that|this|it|these|those|the\s(?:final\s)?(?:answer|value|result)"
_RETRACTED = (
    r"i\s(?:[a-z]{1,10}\s)?(?:disagree|doubt)|(?:he|she|they|you)\s(?:is|are|was|were)\s(?:wrong|mistaken)|(?:only\s)?if|unless|provided"
    r"|assuming|at\s(?:the\s)?(?:best|worst|most|least)|and\scounting|or\s(?:more|fewer|less|higher|lower|something|another|some\sother)"
    r"|(?:more|less|fewer|greater|larger|smaller|higher|lower|older|younger|longer|shorter)\sthan|(?:minus|plus)(?=\s(?:the|what|those|a)\b)"
    r"|times\s(?:as|the|that|more|larger)|"
    r"(?:i['’]?m\s|i\sam\s)?(?:just\s|only\s)?(?:kidding|joking)|scratch\sthat|never\s?mind"
    r"|(?:wrong|incorrect|false)(?=[).\n]|\Z)|i\stake\s(?:that|it)\sback|or\sso|give\sor\stake"
    r"|or\sthereabouts|more\sor\sless|(?:it|that)\s(?:is|was)(?:\snot|n['’]t)(?=[.!\n]|\Z)|maybe|perhaps|possibly|i\sguess|approximately|roughly|below\szero"
    r"|squared|cubed|(?:plus|minus|times)\s[-$\\(]?(?:[0-9]+|\\?pi|π)|i(?:['’]m|\sam)\s(?:not\s|un)(?:sure|certain|able)"
    r"|i\s(?:do\snot|don['’]t|cannot|can\snot|can['’]t)\s(?:know|tell|say|decide)|no(?=[.!\n]|\Z)|or\snone|not\s(?:sure|certain)(?=[.!\n]|\Z)|too\s(?:few|many|much|little|low|high|small|large|big)|or\s(?:(?:maybe|perhaps|even)\s)?[-$\\(]?[0-9√π½][^\s]*"
)
_AFTER = re.compile(
    rf"{_UNITS}{_END}(?:(?:no|nope|wait|but|and|though|however|sorry|actually|oops|hmm|well)\b"
    rf"[\s,.!:—-]{{0,4}}){{0,3}}(?:(?:(?:{_SUBJECT}|(?P<again>(?!(?:he|she|they|you)\b)[^\s]{{1,20}}))\s?)?(?:{_REFUTED})"
    r"(?=\s*(?:[.,;!?:)\n]|\Z|because|since|as|either|but|and|answer|here))"
    rf"|contradicts|(?:{_RETRACTED})\b)"
    r"|[\s*_`$)}]{0,4}\?(?!\W{0,8}(?:yes|yep|yeah|correct|right|exactly|indeed|true|sure|absolutely|of\scourse|(?:it|that)\sis)\b)",
    re.IGNORECASE,
)
_CORRECTION = (
    r"(?:just|only|kidding|joking|wait|actually|sorry|oops|oh|ah|so|no|nope|correction|scratch\sthat"
    r"|i\s(?:mis[a-z]{3,12}|forgot|overlooked|slipped|erred|made)(?:\s[a-z]{1,12}){0,5}"
    r"|my\s(?:mistake|bad)|i\smeant?|(?:or\s)?more\s(?:exactly|precisely|accurately)|rather|instead|hmm|but|on\ssecond\sthought|in\sfact)\b"
    r"[\s,.!:;—-]{0,4}"
)
_REPLACED = re.compile(
    rf"{_UNITS}{_END}(?P<correction>(?:{_CORRECTION}){{0,4}})(?:"
    r"(?:it|that|this|the\s(?:[a-z]{1,10}\s)?(?:answer|value|result|one))"
    r"(?:['’]s|\s(?:is|was|equals|(?:should|must|has\sto|would)\sbe))\s+"
    r"(?:(?:actually|really|rather|in\sfact)\s)?(?=[\s*_(]{0,4}(?:[-$\\(0-9√π½-¾]|[A-J]\b|[a-z]\s?=))"
    r"|(?<=[\s,.!:;—-])(?=[*_($]{0,4}(?:[-\\0-9√π½-¾][^\s]{0,30}|[A-J][*_)$.!]{0,4})\s*\Z))",
    re.IGNORECASE,
)
LAST_PART = 500_000
"""Characters at the end of a text in which its answer in words is looked for."""

REACH = 120
"""Characters before and after a value in which words may change it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the words round a value make of it.

    `taken_back`: it is denied, hedged, bounded or refuted. `about`: it is rounded.
    `replaced_at`: where the text states another value instead.
    """

    taken_back: bool = False
    about: bool = False
    replaced_at: int | None = None


def standing(text: str, start: int, end: int) -> Standing:
    """Return whether the words round `text[start:end]` stand by that value.

    >>> text = "It is not 5, it is 6"
    >>> standing(text, 10, 11)
    Standing(taken_back=True, about=False, replaced_at=19)
    """
    before = text[max(0, start - REACH) : start]
    end_words = " ".join(before.rstrip(_OPENING).split()[-_MOST_END_WORDS:])
    marked = _BEFORE.search(before) if _BEFORE_ENDS.search(end_words) else None
    rest = text[end : end + REACH]
    about = marked is not None and bool(marked["about"] or marked["sign"])
    taken_back = marked is not None and not about
    replaced = _REPLACED.match(rest) if rest else None
    if replaced and (taken_back or replaced["correction"]):
        return Standing(taken_back, about, end + replaced.end())
    after = _AFTER.match(rest) if rest else None
    again = after["again"].strip("*_`$()") if after and after["again"] else None
    refuted = after is not None and again in (None, text[start:end])
    return Standing(taken_back or refuted, about)


def takes_back(words: str) -> bool:
    """Return whether words say of a value that it is denied, hedged, bounded or rounded."""
    return _TAKES_BACK.search(words) is not None


_TAKES_BACK = re.compile(
    rf"\b(?:{_DENIED}|{_HEDGED}|{_BOUNDED}|{_ABOUT}|wrong|false|incorrect)\b", re.IGNORECASE
)


def stated_answer(text: str, reading: Reading = "strict") -> str:
    """Return the answer that `text` states, stripped; empty without one.

    `strict`: the last `<answer>` block, else the last box, else the whole text. `lenient`: instead
    of the whole text, what follows the last "answer is", "Answer:" or `####`, else the last line.

    >>> stated_answer("It is far north. The answer is Oslo.", "lenient")
    'Oslo.'
    """
    block = answer_block(text)
    content = text if block is None else block
    boxed = boxes(content) if "box" in content else []
    if boxed:
        return boxed[-1].strip()
    if reading == "strict" or block is not None:
        return content.strip()
    return _announced(content)


def unwrapped(answer: str) -> str:
    """Return an answer without the quotes, stars and final full stop around it.

    >>> unwrapped("**Oslo**.")
    'Oslo'
    """
    return answer.strip(_WRAPPERS).rstrip(".").strip(_WRAPPERS)


def _announced(text: str) -> str:
    cue = last_match(ANNOUNCEMENT, text)
    if cue is not None:
        return text[cue.end() :].strip().partition("\n")[0].strip()
    return text.strip().rpartition("\n")[2].strip()
