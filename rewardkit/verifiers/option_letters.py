"""Find the option letters that a completion states as its answer. Linear in its length."""

from __future__ import annotations

import re

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
_LETTER = (
    rf"(?:(?P<upper>[B-HJ-Z]|[AI]{_ARTICLE})(?![A-Za-z0-9'’^]|_[A-Za-z0-9{{]|-\w)"
    r"|(?P<lower>[a-j])(?=[).\]}*$_）\s]{0,8}(?:\Z|\n)|[)）\]]))"
)
_OFFER = re.compile(rf"{_WRAP}{{0,12}}{_LETTER}")
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
_SUBJECT = re.compile(r"\s+(?:is|isn|are|aren|was|can|cannot|does|has|have|would|will)\b")
_SENTENCE = re.compile(r"[.!?]\s|\n|\b(?:because|since|while|whereas|but|not)\b")
_MENTION = re.compile(
    r"(?:(?:\b[Oo]ption|\b[Cc]hoice|\b[Ll]etter)\s{1,4}[*(\"'$]{0,4}|(?<!\S)[*$]{0,3}\(|\*\*)"
    r"(?P<letter>[A-Z])(?![A-Za-z0-9'’])"
)
_ENDING = re.compile(
    r"(?:\b(?:is|are|be|choose|pick|select|with|get)|[:=：→])\s{0,4}[*(\"'$]{0,4}"
    r"(?P<letter>[A-Z])[)\"'$*.!\s]{0,8}\Z"
)
_CUE = re.compile(  # each alternative starts with a literal: then the scan is fast
    r"##+|\\boxed|\\fbox|\\box(?![a-zA-Z])"
    r"|(?:answer|Answer|ANSWER|choice|Choice|option|Option|selection|Selection)s?"
    r"(?:\s{1,4}\w{1,20}){0,3}?\s{0,4}[*_]{0,2}(?:[:：=]|\b(?:is|are|be|IS)\b[:：]?)"
    r"|(?:choose|pick|select|go\swith)\b"
    r"|(?:wait|Wait|actually|Actually|correction|Correction|rather|instead)\b[,:.]?(?:\s+no[,.]?)?"
    r"|(?:[Aa]ntwort|[Rr]éponse|[Rr]espuesta|[Rr]esposta|[Rr]isposta)\s(?:ist|est|es|é|è)\b"
    r"|答案(?:是|为|應為|应为)?[:：]?|选择?|選擇?"
)
_DENIED = re.compile(r"[\s*:]{0,4}(?:definitely\s|certainly\s)?(?:not|never)\b[\s:]{0,4}", re.I)
_JUDGEMENT = re.compile(
    r"(?<![A-Za-z0-9\\])(?<!except\s)(?<!but\s)(?P<letters>(?:[A-Z][)*]{0,3}(?:,\s|,?\s(?:and|or|&)\s)\(?){0,5}[A-Z])"
    r"[)*\"'\]$]{0,4}\s{1,4}(?:is|are|must\sbe)\s{1,4}(?P<no>not\s{1,4})?"
    r"(?:the\s{1,4})?(?:only\s{1,4})?(?P<word>correct|right|best|answer|incorrect|wrong)\b"
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
    text = text.strip()
    if text.endswith("##"):
        return frozenset()
    if len(text) <= SHORT and "\n" not in text and not _JUDGEMENT.search(text):
        whole = _offers(text, 0)
        if whole:
            return whole
    denied: set[str] = set()
    for start, judgement in _last_statements(text):
        denial, letters = _read(text, start) if judgement is None else _read_judgement(judgement)
        if denial:
            denied |= letters
        elif letters:
            return letters - denied
    return _from_lines(text) - denied


def _last_statements(text: str) -> list[tuple[int, re.Match[str] | None]]:
    """Return where answers may be stated, the last first: after a cue, or in "B is correct"."""
    found: list[tuple[int, re.Match[str] | None]] = [
        (cue.end(), None) for cue in _CUE.finditer(text)
    ]
    found += [(judgement.start(), judgement) for judgement in _JUDGEMENT.finditer(text)]
    return sorted(found, key=lambda statement: statement[0], reverse=True)[:STATEMENTS]


def _read_judgement(judgement: re.Match[str]) -> tuple[bool, frozenset[str]]:
    denial = (judgement["no"] is not None) != (judgement["word"] in ("incorrect", "wrong"))
    return denial, frozenset(re.findall("[A-Z]", judgement["letters"]))


def _read(text: str, start: int) -> tuple[bool, frozenset[str]]:
    """Return whether the statement denies, and its letters: after its cue, or marked as options."""
    denial = _DENIED.match(text, start)
    if denial:
        return True, _offers(text, denial.end())
    rest = text[start : start + 300]
    end = _SENTENCE.search(rest)
    sentence = rest[: end.start()] if end else rest
    first = _OFFER.match(text, start)
    if first and not _SUBJECT.match(text, first.end()):
        return False, _offers(text, start) | {more["letter"] for more in _MORE.finditer(sentence)}
    return False, frozenset(mention["letter"] for mention in _MENTION.finditer(sentence))


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
    if not lines:
        return frozenset()
    labels = [label for label in map(_LABELLED.match, lines) if label]
    letters = frozenset((label["a"] or label["b"]).upper() for label in labels)
    last = lines[-1][-300:]
    if len(letters) == 1 and (_LABELLED.match(lines[-1]) or _LABELLED.match(lines[0])):
        return letters | {more["letter"] for more in _MORE.finditer(last)}
    ending = _ENDING.search(last)
    mentions = frozenset(mention["letter"] for mention in _MENTION.finditer(last))
    if ending:
        mentions |= {ending["letter"]}
    denies = re.search(r"\b(?:not|never|incorrect|wrong|cannot|isn't|n't|except)\b", last, re.I)
    return frozenset() if denies else mentions
