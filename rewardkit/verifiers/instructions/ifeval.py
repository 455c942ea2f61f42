"""The 25 kinds of IFEval (Zhou et al. 2023, arXiv:2311.07911)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from rewardkit.verifiers.instructions.kinds import (
    Find,
    Place,
    Relation,
    Split,
    either,
    expression,
    fixed,
    is_in_relation,
    kind,
    whole_word,
)
from rewardkit.verifiers.instructions.words import (
    LanguageCode,
    is_in_language,
    penn_words,
    published_language,
    published_sentences,
    runs,
    sentences,
    words,
)
from rewardkit.verifiers.instructions.words import language as fixed_language
from rewardkit.verifiers.json_schema import is_json

LanguageOf = Callable[[str], str | None]

# --- keywords


@either("keywords:existence", expression, whole_word)
def has_keywords(text: str, find: Find, keywords: list[str]) -> bool:
    """Each keyword occurs; fixed, as a text and a whole word: `Mia` isn't in Miami."""
    return all(find(word).search(text) for word in keywords)


@either("keywords:frequency", expression, whole_word)
def keyword_frequency(
    text: str, find: Find, keyword: str, frequency: int, relation: Relation
) -> bool:
    """The keyword occurs as often as asked; fixed, as a text and a whole word."""
    found = len(find(keyword.strip()).findall(text))
    return is_in_relation(found, relation, frequency)


def _bounded(word: str) -> re.Pattern[str]:
    return expression(rf"\b{word}\b")


@either("keywords:forbidden_words", _bounded, whole_word)
def lacks_words(text: str, find: Find, forbidden_words: list[str]) -> bool:
    """None of the words occurs; fixed, a word is a text and may end with a mark, as C++ does."""
    return not any(find(word).search(text) for word in forbidden_words)


@kind("keywords:letter_frequency")
def letter_frequency(text: str, letter: str, let_frequency: int, let_relation: Relation) -> bool:
    """The letter, in either case, occurs as often as asked."""
    found = text.lower().count(letter.strip().lower())
    return is_in_relation(found, let_relation, let_frequency)


# --- language and case


@kind("language:response_language")
def in_language(text: str, language: LanguageCode) -> bool:
    """The text is in the language, or its language is unknown."""
    return published_language(text) in (language, None)


@fixed("language:response_language")
def surely_in_language(text: str, language: LanguageCode) -> bool:
    """The same text always gets the same language; a very short text has no language."""
    return is_in_language(text, language)


@either("change_case:english_capital", published_language, fixed_language)
def capital_english(text: str, language_of: LanguageOf) -> bool:
    """All letters are capitals, and the text is English or in no language.

    Fixed, the language is read in small letters: capitals mislead the published detector.
    """
    return text.isupper() and language_of(text) in ("en", None)


@either("change_case:english_lowercase", published_language, fixed_language)
def small_english(text: str, language_of: LanguageOf) -> bool:
    """All letters are small, and the text is English or in no language."""
    return text.islower() and language_of(text) in ("en", None)


@kind("change_case:capital_word_frequency")
def capital_word_frequency(text: str, capital_frequency: int, capital_relation: Relation) -> bool:
    """The number of words in capitals is as asked; the Penn Treebank divides words."""
    count = sum(map(str.isupper, penn_words(text)))
    return is_in_relation(count, capital_relation, capital_frequency)


# --- length


@either("length_constraints:number_words", runs, words)
def word_count(text: str, split: Split, num_words: int, relation: Relation) -> bool:
    r"""The number of words, runs of `\w`, is as asked; fixed, `don't` is one word."""
    return is_in_relation(len(split(text)), relation, num_words)


@either("length_constraints:number_sentences", published_sentences, sentences)
def sentence_count(text: str, split: Split, num_sentences: int, relation: Relation) -> bool:
    """The number of sentences is as asked; fixed, `1.` and `e.g.` end no sentence."""
    return is_in_relation(len(split(text)), relation, num_sentences)


@kind("length_constraints:number_paragraphs")
def paragraph_count(text: str, num_paragraphs: int) -> bool:
    """The text has `num_paragraphs` paragraphs, divided by `***`; no paragraph is empty."""
    return len(parts(re.split(r"\s?\*\*\*\s?", text))) == num_paragraphs


def parts(found: list[str]) -> list[str]:
    """The parts without an empty first or last part; none if another part is empty."""
    inner = [part for n, part in enumerate(found) if part.strip() or 0 < n < len(found) - 1]
    return inner if all(part.strip() for part in inner) else []


def _blocks(text: str) -> list[str]:
    return text.split("\n\n")


def _full_blocks(text: str) -> list[str]:
    return [part for part in re.split(r"\n[ \t]*\n", text) if part.strip()]


@either("length_constraints:nth_paragraph_first_word", _blocks, _full_blocks)
def paragraph_begins(
    text: str, split: Split, num_paragraphs: int, nth_paragraph: Place, first_word: str
) -> bool:
    """The text has `num_paragraphs` paragraphs, and the nth begins with the word.

    Fixed, empty paragraphs don't count as the nth, either.
    """
    paragraphs = split(text)
    count = sum(bool(paragraph.strip()) for paragraph in paragraphs)
    if count != num_paragraphs or nth_paragraph > count:
        return False
    begun = paragraphs[nth_paragraph - 1].split()
    first = re.split(r"[.,?!'\"]", begun[0].lstrip("'").lstrip('"'))[0].lower() if begun else ""
    return first == first_word.lower()


# --- content


@either(
    "detectable_content:number_placeholders",
    r"\[[^\[\]\n]*\]",
    r"\[(?!\s*\]|[xX]\])[^\[\]\n]*\](?!\()",
)
def placeholders(text: str, brackets: str, num_placeholders: int) -> bool:
    """At least `num_placeholders` pairs of square brackets.

    Fixed, empty brackets, check boxes and links in Markdown are no placeholders.
    """
    return len(re.findall(brackets, text)) >= num_placeholders


@kind("detectable_content:postscript")
def postscript(text: str, postscript_marker: str) -> bool:
    """A postscript begins somewhere, in any case; P.S. and P.P.S may have spaces."""
    marker = postscript_marker.strip()
    spaced = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(
        marker, re.escape(marker.lower())
    )
    return re.search(spaced, text.lower()) is not None


# --- format


@kind("detectable_format:number_bullet_lists")
def bullet_count(text: str, num_bullets: int) -> bool:
    """Exactly `num_bullets` lines begin with a star or a dash."""
    stars = re.findall(r"^[^\S\n]*+\*[^\*].*$", text, re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*+-.*$", text, re.MULTILINE)
    return len(stars) + len(dashes) == num_bullets


@fixed("detectable_format:number_bullet_lists")
def real_bullet_count(text: str, num_bullets: int) -> bool:
    """A bullet has white space and a text after it: `---`, `-5` and `*this*` are none; `•` is."""
    found = re.findall(r"^[ \t]*[*\-+•][ \t]+(?![*\-_ \t]+$)\S", text, re.MULTILINE)
    return len(found) == num_bullets


@either("detectable_format:constrained_response", 3, 1)
def constrained(text: str, most: int) -> bool:
    """One of the three answers occurs; fixed, exactly one."""
    return 1 <= sum(answer in text for answer in _ANSWERS) <= most


_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


@kind("detectable_format:number_highlighted_sections")
def highlights(text: str, num_highlights: int) -> bool:
    """At least `num_highlights` texts are between stars or double stars."""
    single = re.findall(r"\*[^\n\*]*\*", text)
    double = re.findall(r"\*\*[^\n\*]*\*\*", text)
    found = [*single, *(text.removeprefix("**").removesuffix("**") for text in double)]
    return sum(bool(text.strip("*").strip()) for text in found) >= num_highlights


@kind("detectable_format:multiple_sections")
def sections(text: str, section_spliter: str, num_sections: int) -> bool:
    """At least `num_sections` headings: the given word with a number."""
    word = section_spliter.strip()
    return len(re.findall(rf"{re.escape(word)}\s?\d+", text)) >= num_sections


@kind("detectable_format:json_format")
def json_format(text: str) -> bool:
    """The whole text, or the fenced block that is the whole text, is JSON."""
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
def strict_json_format(text: str) -> bool:
    """NaN, infinities and a key that occurs twice are no JSON."""
    return is_json(_unfenced(text))


@kind("detectable_format:title")
def title(text: str) -> bool:
    """A title that isn't blank is in double angular brackets."""
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


# --- combinations


@kind("combination:two_responses")
def two_responses(text: str) -> bool:
    """Two different replies, divided by six stars."""
    replies = parts(text.split("******"))
    return len(replies) == 2 and replies[0].strip() != replies[1].strip()


@kind("combination:repeat_prompt")
def repeats_prompt(text: str, prompt_to_repeat: str) -> bool:
    """The text begins with the prompt, in any case."""
    return text.strip().lower().startswith(prompt_to_repeat.strip().lower())


# --- start, end and punctuation


@kind("startend:end_checker")
def ends_with(text: str, end_phrase: str) -> bool:
    """The text ends in the phrase, in any case, quotes apart."""
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


@kind("startend:quotation")
def quoted(text: str) -> bool:
    """The text begins and ends with a straight double quote."""
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


@fixed("startend:quotation")
def quoted_in_any_style(text: str) -> bool:
    """Curly double quotes are quotes, too; quotes around nothing are none."""
    text = text.strip()
    return len(text) > 2 and text[0] in '"“' and text[-1] in '"”' and bool(text[1:-1].strip())


@either("punctuation:no_comma", ",", ",،、，﹐､")
def lacks_marks(text: str, marks: str) -> bool:
    """None of the marks occurs; fixed, neither do commas of other scripts."""
    return set(marks).isdisjoint(text)
