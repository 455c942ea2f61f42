"""The 25 kinds of IFEval (Zhou et al. 2023, arXiv:2311.07911)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from rewardkit.verifiers.instructions.kinds import (
    Arguments,
    Find,
    Place,
    Relation,
    Split,
    compared,
    either,
    expression,
    fixed,
    kind,
    whole_word,
)
from rewardkit.verifiers.instructions.words import (
    language,
    penn_words,
    published_language,
    published_sentences,
    runs,
    sentences,
    words,
)
from rewardkit.verifiers.json_schema import is_json

LanguageOf = Callable[[str], str | None]

# --- keywords


@either("keywords:existence", expression, whole_word, keywords=list[str])
def has_keywords(text: str, given: Arguments, find: Find) -> bool:
    """Each keyword occurs; fixed, as a text and a whole word: `Mia` isn't in Miami."""
    return all(find(word).search(text) for word in given["keywords"])


@either("keywords:frequency", expression, whole_word, keyword=str, frequency=int, relation=Relation)
def keyword_frequency(text: str, given: Arguments, find: Find) -> bool:
    """The keyword occurs so often; fixed, as a text and a whole word."""
    found = len(find(given["keyword"].strip()).findall(text))
    return compared(found, given["relation"], given["frequency"])


def _bounded(word: str) -> re.Pattern[str]:
    return expression(rf"\b{word}\b")


@either("keywords:forbidden_words", _bounded, whole_word, forbidden_words=list[str])
def lacks_words(text: str, given: Arguments, find: Find) -> bool:
    """None of the words occurs; fixed, a word is a text and may end with a mark, as C++ does."""
    return not any(find(word).search(text) for word in given["forbidden_words"])


@kind("keywords:letter_frequency", letter=str, let_frequency=int, let_relation=Relation)
def letter_frequency(text: str, given: Arguments) -> bool:
    """The letter, in either case, occurs so often."""
    found = text.lower().count(given["letter"].strip().lower())
    return compared(found, given["let_relation"], given["let_frequency"])


# --- language and case


@kind("language:response_language", language=str)
def in_language(text: str, given: Arguments) -> bool:
    """The text is in the language; also if none can be told."""
    return published_language(text) in (given["language"], None)


@fixed("language:response_language")
def surely_in_language(text: str, given: Arguments) -> bool | None:
    """The same text always gets the same answer; one that is too short to tell is unjudged."""
    told = language(text)
    return None if told is None else told == given["language"].partition("-")[0]


@either("change_case:english_capital", published_language, language)
def capital_english(text: str, given: Arguments, language_of: LanguageOf) -> bool:
    """All letters are capitals, and the text is English or in no language.

    Fixed, the language is read in small letters: capitals mislead the published detector.
    """
    return text.isupper() and language_of(text) in ("en", None)


@either("change_case:english_lowercase", published_language, language)
def small_english(text: str, given: Arguments, language_of: LanguageOf) -> bool:
    """All letters are small, and the text is English or in no language."""
    return text.islower() and language_of(text) in ("en", None)


@kind("change_case:capital_word_frequency", capital_frequency=int, capital_relation=Relation)
def capital_word_frequency(text: str, given: Arguments) -> bool:
    """So many words are all in capitals; words are divided as by the Penn Treebank."""
    count = sum(map(str.isupper, penn_words(text)))
    return compared(count, given["capital_relation"], given["capital_frequency"])


# --- length


@either("length_constraints:number_words", runs, words, num_words=int, relation=Relation)
def word_count(text: str, given: Arguments, split: Split) -> bool:
    r"""The text has so many words, runs of `\w`; fixed, an apostrophe divides none."""
    return compared(len(split(text)), given["relation"], given["num_words"])


@either(
    "length_constraints:number_sentences",
    published_sentences,
    sentences,
    num_sentences=int,
    relation=Relation,
)
def sentence_count(text: str, given: Arguments, split: Split) -> bool:
    """The text has so many sentences; fixed, neither a list's number nor `e.g.` ends one."""
    return compared(len(split(text)), given["relation"], given["num_sentences"])


@kind("length_constraints:number_paragraphs", num_paragraphs=int)
def paragraph_count(text: str, given: Arguments) -> bool:
    """The text has exactly so many paragraphs, divided by `***`, none of them empty."""
    return len(parts(re.split(r"\s?\*\*\*\s?", text))) == int(given["num_paragraphs"])


def parts(found: list[str]) -> list[str]:
    """Parts without an empty first and last one; none at all if another one is empty."""
    inner = [part for n, part in enumerate(found) if part.strip() or 0 < n < len(found) - 1]
    return inner if all(part.strip() for part in inner) else []


@kind(
    "length_constraints:nth_paragraph_first_word",
    num_paragraphs=int,
    nth_paragraph=Place,
    first_word=str,
)
def paragraph_begins(text: str, given: Arguments) -> bool:
    """The text has exactly so many paragraphs, divided by blank lines, and the nth begins so."""
    paragraphs = text.split("\n\n")
    count = sum(bool(paragraph.strip()) for paragraph in paragraphs)
    return int(given["nth_paragraph"]) <= count and _begins(paragraphs, count, given)


@fixed("length_constraints:nth_paragraph_first_word")
def full_paragraph_begins(text: str, given: Arguments) -> bool:
    """Empty paragraphs don't count as the nth, either."""
    paragraphs = [part for part in re.split(r"\n[ \t]*\n", text) if part.strip()]
    return int(given["nth_paragraph"]) <= len(paragraphs) and _begins(
        paragraphs, len(paragraphs), given
    )


def _begins(paragraphs: list[str], count: int, given: Arguments) -> bool:
    begun = paragraphs[given["nth_paragraph"] - 1].split()
    first = re.split(r"[.,?!'\"]", begun[0].lstrip("'").lstrip('"'))[0].lower() if begun else ""
    return count == int(given["num_paragraphs"]) and first == str(given["first_word"]).lower()


# --- content


@either(
    "detectable_content:number_placeholders",
    r"\[[^\[\]\n]*\]",
    r"\[(?!\s*\]|[xX]\])[^\[\]\n]*\](?!\()",
    num_placeholders=int,
)
def placeholders(text: str, given: Arguments, brackets: str) -> bool:
    """At least so many pairs of square brackets.

    Fixed, empty brackets, check boxes and links in Markdown are no placeholders.
    """
    return len(re.findall(brackets, text)) >= int(given["num_placeholders"])


@kind("detectable_content:postscript", postscript_marker=str)
def postscript(text: str, given: Arguments) -> bool:
    """A postscript begins somewhere, in any case; P.S. and P.P.S may have spaces."""
    marker = given["postscript_marker"].strip()
    spaced = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(
        marker, re.escape(marker.lower())
    )
    return re.search(spaced, text.lower()) is not None


# --- format


@kind("detectable_format:number_bullet_lists", num_bullets=int)
def bullet_count(text: str, given: Arguments) -> bool:
    """Exactly so many lines begin with a star or a dash."""
    stars = re.findall(r"^[^\S\n]*+\*[^\*].*$", text, re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*+-.*$", text, re.MULTILINE)
    return len(stars) + len(dashes) == int(given["num_bullets"])


@fixed("detectable_format:number_bullet_lists")
def real_bullet_count(text: str, given: Arguments) -> bool:
    """A bullet has white space and a text after it: `---`, `-5` and `*this*` are none; `•` is."""
    found = re.findall(r"^[ \t]*[*\-+•][ \t]+(?![*\-_ \t]+$)\S", text, re.MULTILINE)
    return len(found) == int(given["num_bullets"])


@either("detectable_format:constrained_response", 3, 1)
def constrained(text: str, given: Arguments, most: int) -> bool:
    """One of the three answers occurs; fixed, only one: to give all three is no answer."""
    return 1 <= sum(answer in text for answer in _ANSWERS) <= most


_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


@kind("detectable_format:number_highlighted_sections", num_highlights=int)
def highlights(text: str, given: Arguments) -> bool:
    """At least so many texts between stars or double stars."""
    single = re.findall(r"\*[^\n\*]*\*", text)
    double = re.findall(r"\*\*[^\n\*]*\*\*", text)
    found = [*single, *(text.removeprefix("**").removesuffix("**") for text in double)]
    return sum(bool(text.strip("*").strip()) for text in found) >= int(given["num_highlights"])


@kind("detectable_format:multiple_sections", section_spliter=str, num_sections=int)
def sections(text: str, given: Arguments) -> bool:
    """At least so many headings: the given word with a number after it."""
    word = given["section_spliter"].strip()
    return len(re.findall(rf"{re.escape(word)}\s?\d+", text)) >= int(given["num_sections"])


@kind("detectable_format:json_format")
def json_format(text: str, given: Arguments) -> bool:
    """All of the text, or of a fenced block that is all of it, is JSON."""
    try:
        json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return False
    return True


def _unfenced(text: str) -> str:
    text = text.strip()
    for opening in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(opening)
    return text.removesuffix("```").strip()


@fixed("detectable_format:json_format")
def strict_json_format(text: str, given: Arguments) -> bool:
    """NaN, infinities and a key that occurs twice are no JSON."""
    return is_json(_unfenced(text))


@kind("detectable_format:title")
def title(text: str, given: Arguments) -> bool:
    """A title that isn't blank stands between double angular brackets."""
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


# --- combinations


@kind("combination:two_responses")
def two_responses(text: str, given: Arguments) -> bool:
    """Two different replies, divided by six stars."""
    replies = parts(text.split("******"))
    return len(replies) == 2 and replies[0].strip() != replies[1].strip()


@kind("combination:repeat_prompt", prompt_to_repeat=str)
def repeats_prompt(text: str, given: Arguments) -> bool:
    """The text begins with the prompt, in any case."""
    return text.strip().lower().startswith(given["prompt_to_repeat"].strip().lower())


# --- start, end and punctuation


@kind("startend:end_checker", end_phrase=str)
def ends_with(text: str, given: Arguments) -> bool:
    """The text ends in the phrase, in any case, quotes apart."""
    return text.strip().strip('"').lower().endswith(given["end_phrase"].strip().lower())


@kind("startend:quotation")
def quoted(text: str, given: Arguments) -> bool:
    """The text begins and ends with a straight double quote."""
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


@fixed("startend:quotation")
def quoted_in_any_style(text: str, given: Arguments) -> bool:
    """Curly double quotes are quotes, too; quotes around nothing are none."""
    text = text.strip()
    return len(text) > 2 and text[0] in '"“' and text[-1] in '"”' and bool(text[1:-1].strip())


@either("punctuation:no_comma", ",", ",،、，﹐､")
def lacks_marks(text: str, given: Arguments, marks: str) -> bool:
    """None of the marks occurs; fixed, neither do commas of other scripts."""
    return set(marks).isdisjoint(text)
