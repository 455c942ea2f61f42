"""The 29 kinds that IF-RLVR trains on (Pyatkin et al. 2025, arXiv:2507.02833).

The published rules are those of allenai/open-instruct at e6c3044, in open_instruct/IFEvalG.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from rewardkit.verifiers.instructions import ifbench, ifeval  # noqa: F401  registers kinds
from rewardkit.verifiers.instructions.kinds import (
    KINDS,
    Arguments,
    Find,
    Relation,
    Split,
    Word,
    compared,
    either,
    expression,
    fixed,
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


@kind("copy:copying_simple", prompt_to_repeat=str)
@kind("copy:copy", prompt_to_repeat=str)
def copies(text: str, given: Arguments) -> bool:
    """The request alone, in any case."""
    return bool(text.strip().lower() == given["prompt_to_repeat"].strip().lower())


@kind("copy:copying_multiple", prompt_to_repeat=str, N=int)
def copies_often(text: str, given: Arguments) -> bool:
    """The request so many times, divided by six stars."""
    found = text.split("******")
    return len(found) == given["N"] and all(copies(part, given) for part in found)


@either("new:copy_span_idx", 0, 1, prompt_to_repeat=str, n_start=int, n_end=int)
def copies_span(text: str, given: Arguments, more: int) -> bool:
    """The letters of the request from index n_start up to n_end; fixed, with it, as asked."""
    span = given["prompt_to_repeat"][given["n_start"] : given["n_end"] + more]
    return bool(text.strip().lower() == span.strip().lower())


@either("copy:repeat_phrase", str, re.escape, phrase=str, small_n=int)
def repeats_phrase(text: str, given: Arguments, pattern: Callable[[str], str]) -> bool:
    """The phrase so often, each time with one other word.

    Its ends are regular expressions; fixed, they are texts.
    """
    asked = given["phrase"].split()
    first, last = pattern(asked[0]), pattern(asked[-1])
    found = [part.split() for line in text.split("\n") for part in _between(first, last, line)]
    return len(found) == given["small_n"] and all(
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


@either("keywords:word_once", expression, whole_word, keyword=str)
def keyword_once(text: str, given: Arguments, find: Find) -> bool:
    """The keyword occurs once; fixed, as a text and a whole word."""
    return len(find(given["keyword"].strip()).findall(text)) == 1


@either("count:count_increment_word", expression, whole_word, keyword1=str, keyword2=str)
def keywords_once_and_twice(text: str, given: Arguments, find: Find) -> bool:
    """The keywords occur once and twice; fixed, as texts and whole words."""
    keywords = (given["keyword1"].strip(), given["keyword2"].strip())
    return [len(find(keyword).findall(text)) for keyword in keywords] == [1, 2]


@kind("keywords:exclude_word_harder", keyword=str)
def lacks_keyword(text: str, given: Arguments) -> bool:
    """The keyword doesn't occur between two spaces."""
    return f" {given['keyword'].strip()} " not in text


@fixed("keywords:exclude_word_harder")
def lacks_whole_keyword(text: str, given: Arguments) -> bool:
    """Nor between marks, at an end or in other case."""
    return not whole_word(given["keyword"]).search(text)


@kind("keywords:no_adjacent_consecutive")
def no_next_letters(text: str, given: Arguments) -> bool:
    """No word begins with the letter after that of the word before."""
    letters = [word[0].lower() for word in text.split()]
    return all(len(a) == len(b) == 1 and ord(b) - ord(a) != 1 for a, b in pairwise(letters))


@kind("keywords:palindrome")
def palindrome(text: str, given: Arguments) -> bool:
    """A word that reads the same backwards, such as `a`."""
    return any(word == word[::-1] for word in text.split())


@fixed("keywords:palindrome")
def real_palindrome(text: str, given: Arguments) -> bool:
    """It has three letters, and its case doesn't count."""
    return any(len(word) > 2 and word == word[::-1] for word in words(text.lower()))


@kind("keywords:start_end")
def ends_as_begun(text: str, given: Arguments) -> bool:
    """The first and the last of at least two words are the same; marks are words."""
    found = penn_words(text.lower())
    return len(found) > 1 and found[0] == found[-1]


@sentence_kind("first_word:first_word_sent", first_word=Word)
def first_words(text: str, given: Arguments, split: Split) -> bool:
    """Each sentence begins with the word."""
    word = one_word(given["first_word"]).lower()
    return all(sentence.lower().split()[:1] == [word] for sentence in split(text))


@kind("first_word:first_word_answer", first_word=str)
def first_word(text: str, given: Arguments) -> bool:
    """The text begins with the word."""
    return text.lower().split()[:1] == [one_word(given["first_word"]).lower()]


@sentence_kind("last_word:last_word_sent", last_word=Word)
def last_words(text: str, given: Arguments, split: Split) -> bool:
    """Each sentence ends with the word, before marks."""
    return all(last_word(sentence, given) for sentence in split(text))


@kind("last_word:last_word_answer", last_word=str)
def last_word(text: str, given: Arguments) -> bool:
    """The text ends with the word, before marks."""
    last = "".join(text.lower().split()[-1:])
    return re.sub(r"[^\w\s]", "", last) == one_word(given["last_word"]).lower()


# --- format


@sentence_kind("detectable_format:sentence_hyphens")
def hyphenated(text: str, given: Arguments, split: Split) -> bool:
    """The parts between hyphens are the sentences; what is left over of either isn't read."""
    parts = zip(text.split("-"), split(text.replace("-", " ")), strict=False)
    return all(part == sentence for part, sentence in parts)


@fixed("detectable_format:sentence_hyphens")
def all_hyphenated(text: str, given: Arguments) -> bool:
    """There are as many parts as sentences."""
    return text.split("-") == sentences(text.replace("-", " "))


@kind("detectable_format:square_brackets")
def bracketed(text: str, given: Arguments) -> bool:
    """Each word is between square brackets."""
    return all(word[0] == "[" and word[-1] == "]" for word in text.split())


@kind("detectable_format:bigram_wrapping")
def wrapped_pairs(text: str, given: Arguments) -> bool:
    """Each pair of words is between double angular brackets; a last single one is not read."""
    found = text.split()
    pairs = zip(found[::2], found[1::2], strict=False)
    return all(first.startswith("<<") and second.endswith(">>") for first, second in pairs)


@fixed("detectable_format:bigram_wrapping")
def all_wrapped_pairs(text: str, given: Arguments) -> bool:
    """There is a pair; a single word at the end is wrapped, too."""
    word = r"[^\s<>]+"
    return bool(re.fullmatch(rf"\s*(?:<<{word}\s{word}>>\s*)+(?:<<{word}>>\s*)?", text))


@kind("paragraphs:paragraphs")
def two_paragraphs(text: str, given: Arguments) -> bool:
    """Two paragraphs, divided by `***`."""
    return ifeval.paragraph_count(text, {"num_paragraphs": 2})


kind("punctuation:punctuation_dot")(partial(ifeval.lacks_marks, marks="."))
kind("punctuation:punctuation_exclamation")(partial(ifeval.lacks_marks, marks="!"))


@kind("paragraphs:paragraphs2")
def two_blocks(text: str, given: Arguments) -> bool:
    """Two paragraphs, divided by two line breaks."""
    return len(ifeval.parts(text.split("\n\n"))) == 2


# --- counts


@kind("count:lowercase_counting", N=int)
def few_small_words(text: str, given: Arguments) -> bool:
    """No more words of small letters."""
    return bool(len(re.findall(r"\b[a-z]+\b", text)) <= given["N"])


@kind("letters:letter_counting", N=int, relation=Relation)
def letter_count(text: str, given: Arguments) -> bool:
    """So many letters."""
    return compared(len(re.findall("[a-zA-Z]", text)), given["relation"], given["N"])


@sentence_kind("count:counting_composition", n_sent=int, n_words=int)
def composition(text: str, given: Arguments, split: Split) -> bool:
    """Three paragraphs of so many sentences of so many words; marks are words."""
    paragraphs = [split(part) for part in re.split(r"\s?\*\*\*\s?", text)]
    return _is_composed(paragraphs, penn_words, given)


def _is_composed(paragraphs: list[list[str]], split: Split, given: Arguments) -> bool:
    counts = [len(paragraph) for paragraph in paragraphs]
    lengths = {len(split(sentence)) for paragraph in paragraphs for sentence in paragraph}
    return counts == [given["n_sent"]] * 3 and lengths == {given["n_words"]}


@fixed("count:counting_composition")
def composition_of_words(text: str, given: Arguments) -> bool:
    """Marks are no words; `***` may begin or end the text, and be written `* * *`."""
    divided = ifeval.parts(re.split(r"\* ?\* ?\*", text))
    return _is_composed(list(map(sentences, divided)), words, given)


@either("count:count_unique", penn_words, small_words)
def unique(text: str, given: Arguments, split: Split) -> bool:
    """No word occurs twice; fixed, marks are no words, and case doesn't count."""
    found = split(text)
    return len(found) == len(set(found))
