"""The 58 kinds of IFBench (Pyatkin et al. 2025, arXiv:2507.02833).

The published rules are those of allenai/IFBench at c94da02, whose verdicts were published.
"""
# ruff: noqa: N803  parameters have the published names

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Container
from datetime import date
from io import StringIO
from itertools import groupby, pairwise
from string import ascii_lowercase, digits, punctuation
from typing import Any
from unicodedata import normalize

from rewardkit.verifiers.instructions.kinds import (
    Place,
    Split,
    Word,
    either,
    fixed,
    kind,
    one_word,
    sentence_kind,
    whole_word,
)
from rewardkit.verifiers.instructions.words import (
    emoji,
    is_verb,
    lists,
    penn_words,
    ruled_sentences,
    runs,
    sentences,
    small_words,
    syllables,
    words,
)

_MARKS = punctuation + " "
_NO_MARKS = str.maketrans("", "", punctuation)


def _unmarked(text: str) -> list[str]:
    """The words in small letters; marks of ASCII are taken out, so that `it's` is one word."""
    return text.lower().translate(_NO_MARKS).split()


def _ascii(text: str) -> str:
    return normalize("NFKD", text).encode("ascii", "ignore").decode()


# --- count


@either("count:word_count_range", runs, words)
def word_range(text: str, split: Split, min_words: int, max_words: int) -> bool:
    r"""The number of words is in a range; words are runs of `\w`; fixed, `don't` is one word."""
    return min_words <= len(split(text)) <= max_words


def _bare_words(text: str) -> list[str]:
    return [word.strip(_MARKS) for word in text.split()]


@either("count:unique_word_count", _bare_words, words)
def unique_words(text: str, split: Split, N: int) -> bool:
    """At least `N` different words, divided by white space; fixed, a mark alone is no word."""
    return len(set(split(text.lower()))) >= N


@kind("count:conjunctions")
def conjunctions(text: str, small_n: int) -> bool:
    """At least `small_n` different conjunctions; `and`, `And` and `and,` are different."""
    found = {word for word in text.split() if word.strip(_MARKS).lower() in _CONJUNCTIONS}
    return len(found) >= small_n


_CONJUNCTIONS = frozenset(("and", "but", "for", "nor", "or", "so", "yet"))


@fixed("count:conjunctions")
def different_conjunctions(text: str, small_n: int) -> bool:
    """Case and marks make no other conjunction."""
    return len(_CONJUNCTIONS.intersection(words(text.lower()))) >= small_n


@either("count:person_names", str, runs)
def person_names(text: str, split: Callable[[str], Container[str]], N: int) -> bool:
    """At least `N` of the names in the prompt; fixed, as whole words: `Mia` isn't in Miami."""
    searched = split(text)
    return sum(name in searched for name in lists()["names"]) >= N


@either("count:numbers", rf"\d[\d{re.escape(punctuation)}]*", r"\d+(?:[.,]\d+)*")
def numbers(text: str, number: str, N: int) -> bool:
    """Exactly `N` runs of digits, without the marks between digits.

    Fixed, a mark joins digits only as in 3.5 and 1,000: `2-3` has two numbers.
    """
    return len(re.findall(number, text)) == N


@kind("count:punctuation")
def every_mark(text: str) -> bool:
    """All six marks, and an interrobang besides."""
    if not re.search(r"!\?|\?!|‽", text):
        return False
    other = text.replace("?!", "", 1) if "?!" in text else text.replace("!?", "", 1)
    return set(".,!?;:") <= set(other)


@kind("count:words_japanese")
def japanese_words(text: str, N: Place) -> bool:
    """Every nth word has a Japanese letter, unless it is a number."""
    nth = (word.strip(_MARKS) for word in text.split()[N - 1 :: N])
    return all(
        not word or word.isdigit() or re.search("[\u3040-\u30ff\u4e00-\u9fff]", word)
        for word in nth
    )


@kind("count:pronouns")
def pronouns(text: str, N: int) -> bool:
    """At least `N` personal, possessive and reflexive pronouns."""
    found = Counter(_unmarked(text.replace("/", " ")))
    return sum(found[word] for word in lists()["pronouns"]) >= N


@fixed("count:pronouns")
def all_pronouns(text: str, N: int) -> bool:
    """Other pronouns count, as in IFBench at 34f0927, and the pronouns in `I'm` and `she's`."""
    found = Counter(re.findall(r"\w+", text.lower()))
    known = lists()["pronouns"] | lists()["other_pronouns"]
    return sum(found[word] for word in known) >= N


def _times_within(text: str, keyword: str) -> int:
    return text.lower().count(keyword.strip().lower())


def _times_whole(text: str, keyword: str) -> int:
    return len(whole_word(keyword).findall(text))


@either("count:keywords_multiple", _times_within, _times_whole)
def keyword_times(
    text: str,
    times: Callable[[str, str], int],
    *,
    keyword1: str,
    keyword2: str,
    keyword3: str,
    keyword4: str,
    keyword5: str,
) -> bool:
    """The keywords occur 1, 2, 3, 5 and 7 times, also within words; fixed, as whole words."""
    keywords = (keyword1, keyword2, keyword3, keyword4, keyword5)
    return [times(text, keyword) for keyword in keywords] == [1, 2, 3, 5, 7]


# --- ratio


@kind("ratio:stop_words")
def stop_words(text: str, percentage: float) -> bool:
    r"""No more stop words, by NLTK's list, than this share of the runs of `\w`."""
    found = re.findall(r"\w+", text.lower())
    stopped = sum(word in lists()["stop_words"] for word in found)
    return bool(found) and stopped / len(found) * 100 <= percentage


Stops = tuple[Callable[[str], Counter[str]], int]
"""Counts the marks that sentences end in, and how many of a mark there must be at least."""


def _last_letters(text: str) -> Counter[str]:
    return Counter(sentence[-1:] for sentence in ruled_sentences(text))


def _last_marks(text: str) -> Counter[str]:
    """The last letters but for marks that close a quote or brackets."""
    return Counter(sentence.rstrip("\"'”’)]*_ ")[-1:] for sentence in sentences(text))


@either("ratio:sentence_type", (_last_letters, 0), (_last_marks, 1))
def two_to_one(text: str, stops: Stops) -> bool:
    """Twice as many sentences end in a full stop as in a question mark; fixed, some do."""
    count, least = stops
    last = count(text)
    return last["."] == 2 * last["?"] >= least


@either("ratio:sentence_balance", (_last_letters, 0), (_last_marks, 1))
def balanced(text: str, stops: Stops) -> bool:
    """As many sentences end in a full stop as in a question mark and an exclamation mark.

    Fixed, there is one of each.
    """
    count, least = stops
    last = count(text)
    return last["."] == last["?"] == last["!"] >= least


@kind("ratio:overlap")
def overlap(text: str, reference_text: str, percentage: float) -> bool:
    """This share of the text's runs of three letters, within 2%, is in the reference text."""
    ours, other = (
        {part[n : n + 3] for n in range(len(part) - 2)} for part in (text, reference_text)
    )
    return bool(ours) and abs(len(ours & other) / len(ours) * 100 - percentage) <= 2


@sentence_kind("ratio:sentence_words")
def equal_sentences(text: str, split: Split) -> bool:
    """Three sentences with equal numbers of characters."""
    found = split(text)
    return len(found) == 3 and len({len(sentence.strip()) for sentence in found}) == 1


@fixed("ratio:sentence_words")
def equal_sentences_of_different_words(text: str) -> bool:
    """No word occurs twice: `Cat. Cat. Cat.` is none."""
    different = max(Counter(words(text.lower())).values(), default=0) == 1
    return different and equal_sentences(text, sentences)


# --- words


@kind("words:alphabet")
def alphabet(text: str) -> bool:
    """Each word begins with the next letter; after z comes a."""
    letters = [word[0] for word in _unmarked(text)]
    start = ascii_lowercase.find(letters[0]) if letters else -1
    return start >= 0 and all(
        letter == ascii_lowercase[(start + n) % 26] for n, letter in enumerate(letters)
    )


@kind("words:vowel")
def few_vowels(text: str) -> bool:
    """One paragraph with no more than three different vowels."""
    return "\n" not in text.strip() and len(set("aeiou").intersection(text.lower())) <= 3


@kind("words:consonants")
def consonant_clusters(text: str) -> bool:
    """Each word has two consonants in a row."""
    return all(re.search("[b-df-hj-np-tv-z]{2}", word) for word in text.lower().split())


@kind("words:palindrome")
def palindromes(text: str) -> bool:
    """At least ten words of five letters that read the same backwards."""
    return sum(len(word) >= 5 and word == word[::-1] for word in _unmarked(text)) >= 10


@kind("words:prime_lengths")
def prime_lengths(text: str) -> bool:
    """The length of each word is a prime number."""
    return all(len(word) in _PRIMES for word in text.translate(_NO_MARKS).split())


_PRIMES = frozenset(n for n in range(2, 100) if all(n % k for k in range(2, n)))


@kind("words:start_verb")
def starts_with_verb(text: str) -> bool:
    """The text begins with a verb, by a list where the published checker has a tagger."""
    return is_verb(penn_words(text)[0]) if text.strip() else False


@fixed("words:start_verb")
def first_word_is_verb(text: str) -> bool:
    """Marks before the word don't count; `Are` and `Build` are verbs, too."""
    first = next(iter(words(text)), "")
    return is_verb(first) or first.lower() in lists()["other_verbs"]


@kind("words:repeats")
def limited_repeats(text: str, small_n: int) -> bool:
    """No word occurs more often."""
    return max(Counter(_unmarked(text)).values(), default=0) <= small_n


@kind("words:odd_even_syllables")
def odd_even_syllables(text: str) -> bool:
    """Words with an odd and an even number of syllables take turns."""
    counts = map(syllables, _unmarked(text))
    return all((first - second) % 2 for first, second in pairwise(counts))


@sentence_kind("words:last_first")
def last_word_begins_next(text: str, split: Split) -> bool:
    """A sentence begins with the last word of the sentence before."""
    return all(
        first.lower().rstrip(_MARKS).split()[-1:] == second.lower().lstrip(_MARKS).split()[:1] != []
        for first, second in pairwise(split(text))
    )


@fixed("words:last_first")
def last_word_begins_next_sentence(text: str) -> bool:
    """Marks are no part of a word."""
    ends = (words(sentence.lower()) for sentence in sentences(text))
    return all(first[-1:] == second[:1] != [] for first, second in pairwise(ends))


@either("words:paragraph_last_first", lambda line: line.strip().strip(_MARKS).split(), words)
def paragraphs_end_as_begun(text: str, split: Split) -> bool:
    """Each line begins and ends with the same word; fixed, marks are no part of a word."""
    lines = map(split, text.lower().split("\n"))
    return all(not line or line[0] == line[-1] for line in lines)


@kind("words:no_consecutive")
def first_letters_change(text: str) -> bool:
    """No two words in a row have the same first letter."""
    return all(first[0] != second[0] for first, second in pairwise(_unmarked(text)))


Spelling = Callable[[str], str]
"""Gives a text as it is compared."""


@either(
    "words:keywords_specific_position",
    (ruled_sentences, penn_words, str),
    (sentences, small_words, str.lower),
)
def word_at(
    text: str, rule: tuple[Split, Split, Spelling], keyword: Word, n: Place, m: Place
) -> bool:
    """The mth word of the nth sentence; fixed, marks are no words, and case doesn't count."""
    split, split_sentence, case = rule
    found = [split_sentence(sentence) for sentence in split(text)[n - 1 :][:1]]
    return bool(found) and found[0][m - 1 :][:1] == [case(one_word(keyword))]


@either("words:words_position", (penn_words, str), (small_words, str.lower))
def second_and_last_but_one(text: str, rule: tuple[Split, Spelling], keyword: str) -> bool:
    """The second word and the last but one; fixed, marks are no words, and case doesn't count."""
    split, case = rule
    found = split(text)
    return len(found) > 1 and found[1] == found[-2] == case(keyword.strip())


# --- sentence


@sentence_kind("sentence:alliteration_increment")
def growing_alliteration(text: str, split: Split) -> bool:
    """More words than in the sentence before begin with the letter of a neighbour."""
    counts = []
    for sentence in split(text):
        found = (word.lstrip(_MARKS) for word in sentence.lower().split())
        letters = [word[0] for word in found if word]
        runs = (len(list(run)) for _, run in groupby(letters))
        counts.append(sum(run for run in runs if run > 1))
    return all(first < second for first, second in pairwise(counts))


@sentence_kind("sentence:increment")
def growing_sentences(text: str, split: Split, small_n: int) -> bool:
    """Each sentence has `small_n` words more than the sentence before."""
    counts = [len(_unmarked(sentence)) for sentence in split(text)]
    return bool(counts) and all(b - a == small_n for a, b in pairwise(counts))


@sentence_kind("sentence:keyword")
def keyword_in_sentence(text: str, split: Split, word: str, N: Place) -> bool:
    """The nth sentence has the keyword, also within a word."""
    return any(word.lower() in sentence.lower() for sentence in split(text)[N - 1 :][:1])


@fixed("sentence:keyword")
def whole_keyword_in_sentence(text: str, word: str, N: Place) -> bool:
    """The keyword is a whole word."""
    found = sentences(text)[N - 1 :][:1]
    return any(whole_word(word).search(sentence) for sentence in found)


# --- format


@kind("format:parentheses")
def nested_brackets(text: str) -> bool:
    """Brackets five levels deep; the innermost is closed."""
    open_, deepest = [], 0
    for mark in re.findall(r"[(\[{)\]}]", text):
        if mark in _CLOSED_BY:
            open_.append(mark)
            deepest = max(deepest, len(open_))
        elif open_ and _CLOSED_BY[open_.pop()] == mark:
            if deepest >= 5:
                return True
        else:
            open_, deepest = [], 0
    return False


_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


@kind("format:quotes")
def nested_quotes(text: str) -> bool:
    """Quotes three levels deep; an apostrophe is a quote."""
    open_: list[str] = []
    deepest = 0
    for mark in re.findall("[\"']", text):
        if open_[-1:] == [mark]:
            open_.pop()
            if deepest - len(open_) >= 3:
                return True
        else:
            open_.append(mark)
            deepest = max(deepest, len(open_))
    return False


@fixed("format:quotes")
def real_nested_quotes(text: str) -> bool:
    """An apostrophe within a word is no quote; curly quotes are."""
    text = re.sub(r"(?<=\w)['’](?=\w)", "", text).translate(_STRAIGHT)
    return nested_quotes(text)


_STRAIGHT = str.maketrans("“”‘’", "\"\"''")


@either("format:options", (str, "or"), (str.strip, r"\bor\b"))
def one_option(text: str, rule: tuple[Spelling, str], options: str) -> bool:
    """One of the options, between `/`, else the letters `or`, else commas.

    Fixed, `or` is a word: there is none in `orange`. White space round the text is ignored.
    """
    bare, or_ = rule
    text = bare(text)
    between = "/" if "/" in options else or_ if re.search(or_, options) else ","
    listed = [option.strip() for option in re.split(between, options)]
    if re.match(r"\W*[aA]\W*[bB]\W*[cC]\W*", options):
        return text in listed
    return text.strip(_MARKS).lower() in (option.strip(_MARKS).lower() for option in listed)


@kind("format:newline")
def one_word_a_line(text: str) -> bool:
    """As many lines as words."""
    bare = text.translate(_NO_MARKS).strip()
    return sum(map(bool, bare.split("\n"))) == len(bare.split())


@sentence_kind("format:emoji")
def ends_in_emoji(text: str, split: Split) -> bool:
    """An emoji is one of the last two letters of each sentence, or the first of the next."""
    found = [sentence.translate(_NO_MARKS).strip() for sentence in split(text)]
    return all(
        sentence and not emoji().isdisjoint(sentence[-2:] + after[:1])
        for sentence, after in pairwise([*found, ""])
    )


@kind("format:line_indent")
def stairs(text: str) -> bool:
    """Each line is indented more than the one before; of two blank lines in a row, one counts."""
    lines = text.split("\n")
    for line in lines:
        if not line.strip():
            lines.remove(line)  # as published: the loop then passes over the next line
    return _rises(lines)


def _rises(lines: list[str]) -> bool:
    return all(a < b for a, b in pairwise(len(line) - len(line.lstrip(" ")) for line in lines))


@fixed("format:line_indent")
def real_stairs(text: str) -> bool:
    """No blank line counts; one line is no stairs."""
    lines = [line.expandtabs() for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and _rises(lines)


@kind("format:quote_unquote")
def explained_quotes(text: str) -> bool:
    """No quote is next to another, and the text doesn't end in one."""
    text = re.sub("[“”]", '"', text).replace("'\"'", "")
    joined = "".join(text.split())
    left = joined.strip(digits + punctuation.replace('"', ""))
    return '""' not in joined and bool(left) and not left.endswith('"')


@kind("format:list")
def special_bullets(text: str, sep: str) -> bool:
    """The separator occurs twice."""
    return text.count(sep) >= 2


@fixed("format:list")
def special_bullets_begin_lines(text: str, sep: str) -> bool:
    """The separator begins two lines."""
    found = re.findall(rf"^[ \t]*{re.escape(sep.strip())}", text, re.MULTILINE)
    return len(found) >= 2


@kind("format:thesis")
def italic_thesis(text: str) -> bool:
    """Text in italics, by HTML, with other text after it."""
    _, opened, rest = text.partition("<i>" if "<i>" in text else "<em>")
    thesis, closed, after = rest.partition("</i>" if "</i>" in rest else "</em>")
    if opened == "<em>":  # as published, which takes each tag for one of three and four letters
        thesis = f">{thesis}"
    return bool(closed and thesis.strip() and (closed[4:] + after).strip())


@kind("format:sub-bullets")
def sub_bullets(text: str) -> bool:
    """A dash comes after each star, wherever both are."""
    return all("-" in part for part in text.split("*")[1:])


@fixed("format:sub-bullets")
def real_sub_bullets(text: str) -> bool:
    """There are bullets, and a line that begins with a dash comes after each."""
    parts = re.split(r"^[ \t]*\*(?!\*)", text, flags=re.MULTILINE)[1:]
    return bool(parts) and all(re.search(r"^[ \t]*-", part, re.MULTILINE) for part in parts)


@sentence_kind("format:no_bullets_bullets")
def text_then_bullets(text: str, split: Split) -> bool:
    """Two sentences and then two bullets; a blank line ends the sentences."""
    lines = [(line.strip().startswith("*"), len(split(line.strip()))) for line in text.split("\n")]
    start = next((n for n, (star, count) in enumerate(lines) if star or not count), len(lines))
    rest = lines[start + (start < len(lines) and not lines[start][0]) :]
    return (
        sum(count for _, count in lines[:start]) >= 2
        and len(rest) >= 2
        and all(star for star, _ in rest)
    )


@fixed("format:no_bullets_bullets")
def sentences_then_bullets(text: str) -> bool:
    """Blank lines don't count; the sentences end in a full stop."""
    before, *bullets = re.split(r"^[ \t]*\*(?!\*)", text, flags=re.MULTILINE)
    return _last_marks(before)["."] >= 2 and len(bullets) >= 2


@kind("format:title_case")
def title_case(text: str) -> bool:
    """Each word begins with a capital, `of` as well, unless it has capitals and small letters."""
    return not any(
        word[0].islower() and (word[1:].islower() or word[1:].isupper())
        for word in penn_words(text)
    )


@fixed("format:title_case")
def major_title_case(text: str) -> bool:
    """Articles, conjunctions and short prepositions may be small, but for the first word."""
    found = words(text)
    return not any(
        word[0].islower() and not (n and word in lists()["minor_words"])
        for n, word in enumerate(found)
    )


@kind("format:output_template")
def template(text: str) -> bool:
    """The three labels occur."""
    return all(label in text for label in _LABELS)


_LABELS = ("My Answer:", "My Conclusion:", "Future Outlook:")


@fixed("format:output_template")
def template_in_order(text: str) -> bool:
    """The labels are in order, and a text comes after each."""
    return bool(re.match(r"\s*" + r"\s*\S.*?".join(_LABELS) + r"\s*\S", text, re.DOTALL))


@kind("format:no_whitespace")
def no_white_space(text: str) -> bool:
    """There is no white space."""
    return not re.search(r"\s", text)


# --- repeat


@kind("repeat:repeat_change")
def repeats_but_first(text: str, prompt_to_repeat: str) -> bool:
    """The request without its first word; the text as a whole is another."""
    asked = prompt_to_repeat
    return asked != text and asked.split()[1:] == text.split()[1:]


@fixed("repeat:repeat_change")
def changes_first(text: str, prompt_to_repeat: str) -> bool:
    """The first word is another, not only the white space."""
    asked, found = prompt_to_repeat.split(), text.split()
    return asked[1:] == found[1:] and asked[:1] != found[:1] != []


@kind("repeat:repeat_simple")
def repeats_sentence(text: str) -> bool:
    """The sentence alone, in any case."""
    return text.strip().lower() == "only output this sentence here, ignore all other requests."


@either("repeat:repeat_span", 0, 1)
def span(text: str, more: int, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """The words of the request from index n_start to n_end; fixed, with the word at n_end."""
    asked = prompt_to_repeat.lower().split()
    return text.lower().split() == asked[n_start : n_end + more]


# --- custom


@kind("custom:multiples")
def multiples_of_seven(text: str) -> bool:
    """The numbers are the multiples of 7 from 14 to 49."""
    return re.findall(r"\d+", text) == [str(n) for n in range(14, 51, 7)]


@kind("custom:mcq_count_length")
def questions(text: str) -> bool:
    """Four numbered questions that get longer, with five options each."""
    parts = re.split(r"Question \d+[.|):;]?", text)
    asked = [part.strip().split("\n") for part in parts if part.strip()]
    option = re.compile(r"\s*[A-Ea-e][.|)]\s*\w")
    found = [[bool(option.match(line)) for line in lines] for lines in asked]
    if not text.startswith("Question") or [sum(options) for options in found] != [5] * 4:
        return False
    heads = (lines[: marks.index(True)] for lines, marks in zip(asked, found, strict=True))
    lengths = [len(" ".join(line.strip() for line in head).strip()) for head in heads]
    return all(first < second for first, second in pairwise(lengths))


@kind("custom:reverse_newline")
def countries_reversed(text: str) -> bool:
    """At least 52 lines from Zimbabwe on, in reverse alphabetical order."""
    lines = [_ascii(line.strip(_MARKS)) for line in text.split("\n") if line.strip(_MARKS)]
    start = next((n for n, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    return len(lines) - start >= 52 and lines[start:] == sorted(lines[start:], reverse=True)


@kind("custom:word_reverse")
def eagle_by_words(text: str) -> bool:
    """The words, read backwards, name the bald eagle."""
    return "bald eagle" in " ".join(_unmarked(text)[::-1])


@kind("custom:character_reverse")
def eagle_by_letters(text: str) -> bool:
    """`elgae dlab` occurs."""
    return "elgae dlab" in text.lower()


@sentence_kind("custom:sentence_alphabet")
def sentences_from_a_to_z(text: str, split: Split) -> bool:
    """26 sentences that begin with the letters of the alphabet in order."""
    return [sentence.lower()[:1] for sentence in split(text)] == list(ascii_lowercase)


@fixed("custom:sentence_alphabet")
def quoted_sentences_from_a_to_z(text: str) -> bool:
    """A mark before the first word, such as a quote, is no letter."""
    first = [next(iter(words(sentence.lower())), "")[:1] for sentence in sentences(text)]
    return first == list(ascii_lowercase)


@kind("custom:european_capitals_sort")
def capitals_by_latitude(text: str) -> bool:
    """27 capitals from north to south, between commas."""
    return ", ".join(part.strip() for part in _ascii(text).split(",") if part.strip()) == _CAPITALS


_CAPITALS = (
    "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, "
    "Dublin, Berlin, Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, "
    "Bratislava, Budapest, Vaduz, Chisinau, Bern, Ljubljana, Zagreb"
)


@fixed("custom:european_capitals_sort")
def all_capitals_by_latitude(text: str) -> bool:
    """Kyiv, which the published list lacks, may be between Brussels and Prague."""
    return capitals_by_latitude(re.sub(r"(?<=Brussels), *K(?:yiv|iev)(?=, *Prague)", "", text))


@kind("custom:csv_city")
def csv_city(text: str) -> bool:
    """A header of five names and seven rows."""
    rows = _rows(text)
    return rows[:1] == [["ID", "Country", "City", "Year", "Count"]] and _shape(rows) == (8, {5})


def _rows(text: str, delimiter: str = ",") -> list[list[str]]:
    """The rows of CSV; no rows if the text is no CSV."""
    try:
        return list(csv.reader(StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []


def _shape(rows: list[list[Any]]) -> tuple[int, set[int]]:
    return len(rows), {len(row) for row in rows}


def _has_header(text: str, names: str, between: str) -> bool:
    pattern = between.join(f'(?:{name}|"{name}")' for name in names.split())
    return bool(re.fullmatch(pattern, text.split("\n")[0].strip()))


@kind("custom:csv_special_character")
def csv_special(text: str) -> bool:
    """14 rows of five fields; one field is quoted and has a mark."""
    rows = _rows(text.replace('"', '"""'))[1:]
    last = next((n for n, row in enumerate(rows) if any(map(_SPECIAL.match, row))), len(rows))
    header = _has_header(text, "ProductID Category Brand Price Stock", r",[ \t]*")
    return header and last < 14 == len(rows) and _shape(rows[: last + 1])[1] == {5}


_SPECIAL = re.compile(r'".*[^\d\w\s].*"')


@fixed("custom:csv_special_character")
def csv_special_in_full(text: str) -> bool:
    """All rows have five fields, not only the rows up to the quoted field."""
    return csv_special(text) and _shape(_rows(text.replace('"', '"""')))[1] == {5}


@kind("custom:csv_quotes")
def csv_quoted(text: str) -> bool:
    """Three rows of five fields between tabs, each quoted."""
    rows = _rows(text.replace('"', '"""'), "\t")
    quoted = all(field.strip()[:1] == field.strip()[-1:] == '"' for row in rows for field in row)
    header = _has_header(text, "StudentID Subject Grade Semester Score", r"\t *")
    return header and quoted and _shape(rows) == (4, {5})


@kind("custom:date_format_list")
def dates(text: str) -> bool:
    """Dates of Napoleon's life between commas; 00 is a month and a day."""
    return all(map(_is_date, text.split(",")))


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()):
        return False
    year, month, day = map(int, text.split("-"))
    longest = 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    return 1769 <= year <= 1821 and month <= 12 and (day <= longest or not month)


@fixed("custom:date_format_list")
def real_dates(text: str) -> bool:
    """Each is a day of the calendar."""
    try:
        days = [date.fromisoformat(part.strip()) for part in text.split(",")]
    except ValueError:
        return False
    return dates(text) and all(1769 <= day.year <= 1821 for day in days)
