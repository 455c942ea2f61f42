import json
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.errors import UsageError
from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.instructions import Instructions
from rewardkit.verifiers.instructions.kinds import KINDS
from rewardkit.verifiers.instructions.words import (
    penn_words,
    published_sentences,
    ruled_sentences,
    sentences,
    syllables,
)

ROWS = list(
    map(
        json.loads,
        Path(__file__).with_name("instruction_cases.jsonl").read_text("utf-8").splitlines(),
    )
)
CASES = [row for row in ROWS if "follow" in row]
"""Kinds with their arguments, texts that follow the kind, and near misses, by both rules."""
CHANGED = [row for row in ROWS if "text" in row]
"""Texts that the fixed rules judge otherwise than the published ones."""


def judged(text: str, *asked: tuple[str, dict[str, Any]], **parameters: str) -> Verdict:
    reference = json.dumps([{"id": name, "kwargs": kwargs} for name, kwargs in asked])
    return Instructions(**parameters)(text, Sample(reference))  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", ["published", "fixed"])
@pytest.mark.parametrize("case", CASES, ids=[case["kind"] for case in CASES])
def test_each_kind(case: dict[str, Any], rules: str) -> None:
    asked = case["kind"], case["kwargs"]
    for text in case["follow"]:
        assert judged(text, asked, rules=rules).correct is True, text
    for text in case["miss"]:
        verdict = judged(text, asked, rules=rules)
        assert (verdict.correct, verdict.parts) == (False, {f"0 {asked[0]}": 0.0}), text
        assert verdict.message == f"not followed: 0 {asked[0]}"


@pytest.mark.parametrize(
    "case", CHANGED, ids=[f"{case['kind']}: {case['text'][:20]}" for case in CHANGED]
)
def test_what_the_fixed_rules_repair(case: dict[str, Any]) -> None:
    asked = case["kind"], case["kwargs"]
    assert judged(case["text"], asked, rules="published").correct is case["published"]
    assert judged(case["text"], asked).correct is case["fixed"]


def test_every_kind_has_a_case_and_every_repair_too() -> None:
    assert {case["kind"] for case in CASES} == KINDS.keys()
    repaired = {name for name, kind in KINDS.items() if kind.fixed is not kind.published}
    # the two on English differ where the published detector errs, which no short text shows
    english = {"change_case:english_capital", "change_case:english_lowercase"}
    assert repaired == {case["kind"] for case in CHANGED} | english


NO_COMMA: tuple[str, dict[str, Any]] = ("punctuation:no_comma", {})
TITLE: tuple[str, dict[str, Any]] = ("detectable_format:title", {})


def test_all_must_be_followed_or_the_share_pays() -> None:
    text = "<<Sea>> one, two"
    verdict = judged(text, NO_COMMA, TITLE)
    assert (verdict.correct, verdict.score) == (False, 0.0)
    assert verdict.parts == {"0 punctuation:no_comma": 0.0, "1 detectable_format:title": 1.0}
    assert judged(text, NO_COMMA, TITLE, score="share").score == 0.5
    assert judged("<<Sea>>", NO_COMMA, TITLE, score="share").correct


@pytest.mark.parametrize(
    "text", ["Sure, here:\nNo comma", "No comma\nThat is, I hope", "a,\nb\nc,"]
)
def test_loose_drops_the_first_or_last_line(text: str) -> None:
    assert judged(text, NO_COMMA).correct is False
    assert judged(text, NO_COMMA, reading="loose").correct


def test_loose_drops_asterisks() -> None:
    asked = ("startend:end_checker", {"end_phrase": "the end"})
    assert judged("**the end**", asked).correct is False
    assert judged("**the end**", asked, reading="loose").correct


@pytest.mark.parametrize("reading", ["strict", "loose"])
@pytest.mark.parametrize("text", ["", " \n", "\u200b\u200d", "\ufeff \u2060", "\u3164", "\x00"])
def test_a_blank_text_follows_nothing(text: str, reading: str) -> None:
    assert judged(text, NO_COMMA, reading=reading).correct is False


def test_thinking_is_not_judged() -> None:
    reference = json.dumps([{"id": "punctuation:no_comma", "kwargs": {}}])
    assert rewardkit.verify("instructions", "<think>a, b</think>Yes.", reference).correct


@pytest.mark.parametrize(
    ("reference", "columns"),
    [
        ('[{"id": "en:punctuation:no_comma"}]', {}),
        ('{"id": "punctuation:no_comma", "kwargs": null}', {}),
        ("", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{"num": None}]}),
        ("", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": "[{}]"}),
        ("", {"instruction_id_list": ["punctuation:no_comma"]}),
        ("[{'instruction_id': ['punctuation:no_comma'], 'kwargs': [None]}]", {}),
        ("", {"ground_truth": ['{"instruction_id": ["punctuation:no_comma"], "kwargs": [{}]}']}),
        (
            "",
            {"ground_truth": '[{"instruction_id": ["punctuation:no_comma"], "kwargs": [null]}]'},
        ),
    ],
)
def test_the_forms_of_published_sets(reference: str, columns: dict[str, object]) -> None:
    for text, right in (("No", True), ("No, no", False)):
        verdict = rewardkit.verify("instructions", text, reference, columns=columns)
        assert verdict.correct is right, verdict


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("", "there are none"),
        ("[]", "there are none"),
        ("{", "Expecting"),
        ("[3]", "3 isn't an object with id and kwargs"),
        ('[{"id": "length:endless"}]', "no kind is named 'length:endless'"),
        ('[{"id": "keywords:existence", "kwargs": {}}]', "keywords is missing"),
        ('[{"id": "keywords:existence", "kwargs": {"keywords": []}}]', "keywords is missing"),
        ('[{"id": "keywords:existence", "kwargs": {"keywords": ["an", " "]}}]', "keywords is miss"),
        (
            '[{"id": "copy:repeat_phrase", "kwargs": {"phrase": " ", "small_n": 1}}]',
            "phrase is miss",
        ),
        (
            '[{"id": "length_constraints:nth_paragraph_first_word",'
            ' "kwargs": {"num_paragraphs": 1, "nth_paragraph": 0, "first_word": "a"}}]',
            "nth_paragraph: Expected `int` >= 1",
        ),
        ('[{"id": "keywords:existence", "kwargs": {"keywords": 3}}]', "keywords: Expected `array`"),
        (
            '[{"id": "length_constraints:number_words",'
            ' "kwargs": {"num_words": 3, "relation": "?"}}]',
            "relation: Invalid enum value",
        ),
        ('[{"id": "punctuation:no_comma", "kwargs": [3]}]', "punctuation:no_comma are 3, not an"),
        ('[{"id": ["punctuation:no_comma"], "kwargs": [{}, {}]}]', "1 ids, but 2 kwargs"),
    ],
)
def test_instructions_that_cant_be_read_are_unjudged(reference: str, message: str) -> None:
    verdict = rewardkit.verify("instructions", "Yes", reference)
    assert verdict.correct is None
    assert message in verdict.message


def test_instructions_in_columns_leave_the_reference_to_other_verifiers() -> None:
    columns = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    assert Instructions()("7", Sample("7", columns=columns)).correct


SHORT = [
    "!!!",
    "Yes.",
    "hm",
    "🙂",
    "ok",
    "12:30",
    "...",
    "?!",
    "A",
    "42 km",
    "x = 3",
    "LOL",
    "👍👍",
]


@pytest.mark.parametrize(
    "language", ["ko", "hi", "ar", "ja", "ru", "zh-cn", "th", "kn", "de", "fr"]
)
def test_a_text_too_short_to_tell_is_in_no_language(language: str) -> None:
    asked = ("language:response_language", {"language": language})
    comma: tuple[str, dict[str, Any]] = ("punctuation:no_comma", {})
    for text in SHORT:
        assert judged(text, asked).correct is False, text
        assert judged(text, asked, comma, score="share").score == 0.5


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ko", "네."),
        ("ko", "안녕하세요! 🙂"),
        ("hi", "हाँ"),
        ("hi", "नमस्ते!"),
        ("mr", "होय"),
        ("ja", "はい。"),
        ("zh-cn", "是的"),
        ("zh", "是的"),
        ("ru", "Да, конечно"),
        ("ar", "نعم"),
        ("fa", "بله"),
        ("he", "כן"),
        ("fr", "Bonjour!"),
        ("es", "gracias"),
        ("pt-br", "Não."),
        ("en", "The answer is 4."),
    ],
)
def test_a_short_text_may_be_in_the_language(language: str, text: str) -> None:
    assert judged(text, ("language:response_language", {"language": language})).correct


@pytest.mark.parametrize("language", ["Korean", "xx", "kor", "e", "german", "ko, hi", "*"])
def test_a_language_without_a_code_is_unjudged(language: str) -> None:
    verdict = judged("Yes.", ("language:response_language", {"language": language}))
    assert verdict.correct is None
    assert "language:response_language: language" in verdict.message


@pytest.mark.parametrize(
    ("text", "published", "fixed"),
    [
        ("", 0, 0),
        ("One", 1, 1),
        ("One. two", 2, 2),
        ("e.g. this, i.e. that etc. and so on", 4, 1),
        ("J. R. R. Tolkien wrote it. Yes.", 2, 2),
        ("Wait... what? Yes!", 2, 2),
        ("Wait... What?", 1, 1),
        ("3. items", 1, 1),
        ("3. Items", 2, 1),
        ("See rule 3. Review it.", 1, 1),
        ("She moved to the U.S. The end.", 2, 2),
        ('He said "No." Then he left.', 2, 2),
        ("(It is so!) Yes.", 2, 2),
        ("A line\nis no sentence", 1, 1),
    ],
)
def test_sentences_are_counted(text: str, published: int, fixed: int) -> None:
    assert len(published_sentences(text)) == published
    assert len(sentences(text)) == fixed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Ho has 3.5 cats. So?", ["Mr. Ho has 3.5 cats.", "So?"]),
        ("In the U.S. It is so... or not", ["In the U.S.", "It is so...", "or not"]),
        ('"Is it?" he said.', ['"Is it"?', "he said."]),
        ("ABC Inc. He left J. Doe.", ["ABC Inc", "He left J. Doe."]),
        ("e.g. at example.com I.", ["e.g. at example.com I."]),
    ],
)
def test_the_few_rules_that_divide_sentences(text: str, expected: list[str]) -> None:
    assert ruled_sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WE'LL see: NASA-1", "WE 'LL see : NASA-1"),
        ("U.S. (UN) and IT.", "U.S. ( UN ) and IT ."),
        ("I can't; cannot he, 'tis 'a' \"b\"", "I ca n't ; can not he , 't is ' a ' `` b ''"),
        ("at 3:05, dogs' -- $5", "at 3:05 , dogs ' -- $ 5"),
    ],
)
def test_words_are_divided_as_by_the_penn_treebank(text: str, expected: str) -> None:
    assert penn_words(text) == expected.split()


@pytest.mark.parametrize(("word", "odd"), [("sea", True), ("table", False), ("create", False)])
def test_syllables_are_odd_or_even(word: str, odd: bool) -> None:
    assert syllables(word) % 2 == odd


def test_what_silence_fulfils_pays_nothing_if_asked() -> None:
    paid = {"score": "share", "vacuous": "unpaid"}
    assert judged("<<Sea>> one", NO_COMMA, TITLE, **paid).score == 1
    assert judged("one", NO_COMMA, TITLE, **paid).score == 0
    assert judged("<<Sea>> one, two", NO_COMMA, TITLE, **paid).score == 0.5
    assert judged("one", NO_COMMA, **paid).score == 0
    assert judged("one", NO_COMMA, vacuous="unpaid").score == 0
    assert judged("one", NO_COMMA, TITLE, score="share").score == 0.5


def test_a_keyword_that_is_no_expression_is_unjudged_by_the_published_rules() -> None:
    asked = ("keywords:word_once", {"keyword": "C++("})
    assert "can't be read" in judged("C++( it is", asked, rules="published").message
    assert judged("C++( it is", asked).correct


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("count:words_japanese", {"N": 0}),
        ("sentence:keyword", {"word": "sea", "N": -1}),
        ("first_word:first_word_sent", {"first_word": []}),
        ("copy:copy", {"prompt_to_repeat": ""}),
        ("count:numbers", {"N": 2.5}),
    ],
)
def test_arguments_out_of_range_are_unjudged(name: str, kwargs: dict[str, Any]) -> None:
    assert judged("One", (name, kwargs)).correct is None


@pytest.mark.parametrize("rules", ["published", "fixed"])
@pytest.mark.parametrize("text", ["?", "...", '"', "-", "\n\n.", "🎉", "?!", "(", "İ", "\0\1"])
def test_no_text_breaks_a_kind(text: str, rules: str) -> None:
    for case in CASES:
        verdict = judged(text, (case["kind"], case["kwargs"]), rules=rules)
        assert verdict.correct in (True, False) or case["kind"].startswith("language")


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="rules"):
        rewardkit.load_verifier("instructions", rules="mine")


IFEVAL = CASES[: [case["kind"] for case in CASES].index("count:word_count_range")]
OTHERS = CASES[len(IFEVAL) :]
LONG = [
    *(
        (text, IFEVAL)
        for text in ("a" * 5_000_000, *(part * 300_000 for part in ("[<<", "*\n", "a. ")))
    ),
    *((part * 3_000, OTHERS) for part in ("a. ", "[<<", '"', "\n", "the cat ", "Question 1")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "cases"), LONG, ids=[repr(text[:9]) for text, _ in LONG])
def test_long_texts_end_in_time(text: str, cases: list[dict[str, Any]]) -> None:
    asked = [{"id": case["kind"], "kwargs": case["kwargs"]} for case in cases]
    verdict = rewardkit.verify("instructions", text, json.dumps(asked), timeout=10)
    assert verdict.correct is False
