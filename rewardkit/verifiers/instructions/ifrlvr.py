"""The 29 kinds that IF-RLVR trains on (Pyatkin et al. 2025, arXiv:2507.02833).

The published rules are those of allenai/open-instruct at e6c3044, in open_instruct/IFEvalG.
"""
# ruff: noqa: N803  parameters have the published names

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from rewardkit.verifiers.instructions import ifbench, ifeval  # noqa: F401  registers kinds
from rewardkit.verifiers.instructions.kinds import (
    KINDS,
    Find,
    Relation,
    Split,
    Word,
    either,
    expression,
    fixed,
    is_in_relation,
    kind,
    one_word,
    sentence_kind,
    whole_word,
)
from rewardkit.verifiers.instructions.words import penn_words, sentences, small_words, words

KINDS |= {
    "keywords:word_count_different_numbers": KINDS["keywords:frequency"],
    "letters:letter_counting2": KINDS["keywords:letter_frequency"],
    "keywords:keyword_specific_position": KINDS["words:keywords_specific_position"],
}

# --- copies


@kind("copy:copying_simple")
@kind("copy:copy")
def copies(text: str, prompt_to_repeat: str) -> bool:
    """The request alone, in any case."""
    return text.strip().lower() == prompt_to_repeat.strip().lower()


@kind("copy:copying_multiple")
def copies_often(text: str, prompt_to_repeat: str, N: int) -> bool:
    """The request `N` times, divided by six stars."""
    found = text.split("******")
    return len(found) == N and all(copies(part, prompt_to_repeat) for part in found)


@either("new:copy_span_idx", 0, 1)
def copies_span(text: str, more: int, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """The letters of the request from index n_start to n_end; fixed, with the letter at n_end."""
    span = prompt_to_repeat[n_start : n_end + more]
    return text.strip().lower() == span.strip().lower()


@either("copy:repeat_phrase", str, re.escape)
def repeats_phrase(text: str, pattern: Callable[[str], str], phrase: str, small_n: int) -> bool:
    """The phrase `small_n` times, each time with one changed word.

    Its ends are regular expressions; fixed, they are texts.
    """
    asked = phrase.split()
    first, last = pattern(asked[0]), pattern(asked[-1])
    found = [part.split() for line in text.split("\n") for part in _between(first, last, line)]
    return len(found) == small_n and all(
        len(asked) == len(part) and sum(map(str.__ne__, asked, part)) == 1 for part in found
    )


def _between(first: str, last: str, line: str) -> Iterator[str]:
    """The parts of a line from a match of `first` to the next one of `last`."""
    start, end = re.compile(f"{first} "), re.compile(f" {last}")
    begun = start.search(line)
    while begun and (ended := end.search(line, begun.end())):
        yield line[begun.start() : ended.end()]
        begun = start.search(line, ended.end())


# --- keywords


@either("keywords:word_once", expression, whole_word)
def keyword_once(text: str, find: Find, keyword: str) -> bool:
    """The keyword occurs once; fixed, as a text and a whole word."""
    return len(find(keyword.strip()).findall(text)) == 1


@either("count:count_increment_word", expression, whole_word)
def keywords_once_and_twice(text: str, find: Find, keyword1: str, keyword2: str) -> bool:
    """The keywords occur once and twice; fixed, as texts and whole words."""
    keywords = (keyword1.strip(), keyword2.strip())
    return [len(find(keyword).findall(text)) for keyword in keywords] == [1, 2]


@kind("keywords:exclude_word_harder")
def lacks_keyword(text: str, keyword: str) -> bool:
    """The keyword doesn't occur between two spaces."""
    return f" {keyword.strip()} " not in text


@fixed("keywords:exclude_word_harder")
def lacks_whole_keyword(text: str, keyword: str) -> bool:
    """Nor between marks, at an end or in other case."""
    return not whole_word(keyword).search(text)


@kind("keywords:no_adjacent_consecutive")
def no_next_letters(text: str) -> bool:
    """No word begins with the letter after the first letter of the word before."""
    letters = [word[0].lower() for word in text.split()]
    return all(len(a) == len(b) == 1 and ord(b) - ord(a) != 1 for a, b in pairwise(letters))


@either("keywords:palindrome", (str.split, 1), (small_words, 3))
def palindrome(text: str, rule: tuple[Split, int]) -> bool:
    """A word that reads the same backwards; fixed, of three letters, and its case doesn't count."""
    split, least = rule
    return any(len(word) >= least and word == word[::-1] for word in split(text))


@kind("keywords:start_end")
def ends_as_begun(text: str) -> bool:
    """The first and the last of at least two words are the same; marks are words."""
    found = penn_words(text.lower())
    return len(found) > 1 and found[0] == found[-1]


@sentence_kind("first_word:first_word_sent")
def sentences_begin_with(text: str, split: Split, first_word: Word) -> bool:
    """Each sentence begins with the word."""
    word = one_word(first_word).lower()
    return all(sentence.lower().split()[:1] == [word] for sentence in split(text))


@kind("first_word:first_word_answer")
def begins_with(text: str, first_word: str) -> bool:
    """The text begins with the word."""
    return text.lower().split()[:1] == [one_word(first_word).lower()]


@sentence_kind("last_word:last_word_sent")
def sentences_end_in(text: str, split: Split, last_word: Word) -> bool:
    """Each sentence ends with the word, before marks."""
    return all(ends_in(sentence, one_word(last_word)) for sentence in split(text))


@kind("last_word:last_word_answer")
def ends_in(text: str, last_word: str) -> bool:
    """The text ends with the word, before marks."""
    last = "".join(text.lower().split()[-1:])
    return re.sub(r"[^\w\s]", "", last) == one_word(last_word).lower()


# --- format


@sentence_kind("detectable_format:sentence_hyphens")
def hyphenated(text: str, split: Split) -> bool:
    """The parts between hyphens are the sentences; what is left over of either isn't read."""
    parts = zip(text.split("-"), split(text.replace("-", " ")), strict=False)
    return all(part == sentence for part, sentence in parts)


@fixed("detectable_format:sentence_hyphens")
def all_hyphenated(text: str) -> bool:
    """The numbers of parts and sentences are equal."""
    return text.split("-") == sentences(text.replace("-", " "))


@kind("detectable_format:square_brackets")
def bracketed(text: str) -> bool:
    """Each word is between square brackets."""
    return all(word[0] == "[" and word[-1] == "]" for word in text.split())


@kind("detectable_format:bigram_wrapping")
def wrapped_pairs(text: str) -> bool:
    """Each pair of words is in double angular brackets; a single last word is not read."""
    found = text.split()
    pairs = zip(found[::2], found[1::2], strict=False)
    return all(first.startswith("<<") and second.endswith(">>") for first, second in pairs)


@fixed("detectable_format:bigram_wrapping")
def all_wrapped_pairs(text: str) -> bool:
    """There is a pair; a single word at the end is wrapped, too."""
    word = r"[^\s<>]+"
    return bool(re.fullmatch(rf"\s*(?:<<{word}\s{word}>>\s*)+(?:<<{word}>>\s*)?", text))


@kind("paragraphs:paragraphs")
def two_paragraphs(text: str) -> bool:
    """Two paragraphs, divided by `***`."""
    return ifeval.paragraph_count(text, 2)


kind("punctuation:punctuation_dot")(lambda text: "." not in text)
kind("punctuation:punctuation_exclamation")(lambda text: "!" not in text)


@kind("paragraphs:paragraphs2")
def two_blocks(text: str) -> bool:
    """Two paragraphs, divided by two line breaks."""
    return len(ifeval.parts(text.split("\n\n"))) == 2


# --- counts


@kind("count:lowercase_counting")
def few_small_words(text: str, N: int) -> bool:
    """No more words of small letters."""
    return len(re.findall(r"\b[a-z]+\b", text)) <= N


@kind("letters:letter_counting")
def letter_count(text: str, N: int, relation: Relation) -> bool:
    """The number of letters is as asked."""
    return is_in_relation(len(re.findall("[a-zA-Z]", text)), relation, N)


@sentence_kind("count:counting_composition")
def composition(text: str, split: Split, n_sent: int, n_words: int) -> bool:
    """Three paragraphs of `n_sent` sentences of `n_words` words; marks are words."""
    paragraphs = [split(part) for part in re.split(r"\s?\*\*\*\s?", text)]
    return _is_composed(paragraphs, penn_words, n_sent, n_words)


def _is_composed(paragraphs: list[list[str]], split: Split, n_sent: int, n_words: int) -> bool:
    counts = [len(paragraph) for paragraph in paragraphs]
    lengths = {len(split(sentence)) for paragraph in paragraphs for sentence in paragraph}
    return counts == [n_sent] * 3 and lengths == {n_words}


@fixed("count:counting_composition")
def composition_of_words(text: str, n_sent: int, n_words: int) -> bool:
    """Marks are no words; `***` may begin or end the text, and be written `* * *`."""
    divided = ifeval.parts(re.split(r"\* ?\* ?\*", text))
    return _is_composed(list(map(sentences, divided)), words, n_sent, n_words)


@either("count:count_unique", penn_words, small_words)
def unique(text: str, split: Split) -> bool:
    """No word occurs twice; fixed, marks are no words, and case doesn't count."""
    found = split(text)
    return len(found) == len(set(found))
