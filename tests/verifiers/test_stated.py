"""What the words round an answer make of it, in every verifier that reads words."""

import time
from dataclasses import dataclass

import pytest

from rewardkit import Verdict, load_verifier, verify
from rewardkit.audit.generators.replies import WORDING, sentences


@dataclass(frozen=True)
class Reader:
    """A verifier with two values as it expects them: the reference and another one."""

    name: str
    reading: str
    value: str
    other: str

    def judged(self, template: str) -> Verdict:
        text = template.format(v=self.value, o=self.other)
        return verify(load_verifier(self.name, reading=self.reading), text, self.value)


READERS = [
    Reader("math", "flexible", "38", "41"),
    Reader("math", "flexible", r"$\frac{3}{8}$", r"$\frac{5}{8}$"),
    Reader("choice", "lenient", "D", "E"),
    Reader("gsm8k", "flexible", "38", "41"),
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.name} {reader.value}")
def test_a_value_that_is_denied_hedged_bounded_or_replaced_is_given_up(reader: Reader) -> None:
    bounds = [] if reader.name == "choice" else WORDING["bounds"]
    denied = sentences([*WORDING["before"], *bounds, *WORDING["after"]])
    texts = [*denied, *WORDING["frames"]]
    assert [text for text in texts if reader.judged(text).correct is not False] == []


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.name} {reader.value}")
def test_the_last_value_that_is_asserted_counts(reader: Reader) -> None:
    texts = sentences(WORDING["kept"])
    assert [text for text in texts if reader.judged(text).correct is not True] == []


def read(text: str) -> tuple[bool, bool, str | None]:
    """How the text stands by its first 7, and what it states instead."""
    stands = standing(text, text.index("7"), text.index("7") + 1)
    other = None if stands.replaced_at is None else text[stands.replaced_at :].split(".")[0]
    return stands.taken_back, stands.about, other


@pytest.mark.parametrize(
    ("text", "taken_back", "about", "other"),
    [
        ("it is 7", False, False, None),
        ("it isn't 7", True, False, None),
        ("it is about 7", False, True, None),
        ("There are not enough, so it is 7", False, False, None),
        ("It is 7. Blue is wrong", False, False, None),
        ("It is 7 apples. That is wrong", True, False, None),
        ("It is not necessarily 7", True, False, None),
        ("It lies strictly below 7", True, False, None),
        ("It is one short of 7", True, False, None),
        ("It is a multiple of 7", True, False, None),
        ("I am not convinced that it is 7", True, False, None),
        ("I would not choose 7", True, False, None),
        ("It would be wrong to answer 7", True, False, None),
        ("We exclude x = 7", True, False, None),
        ("It is 7 more than 50", True, False, None),
        ("It is 7, which is more than 5", False, False, None),
        ("The value 7 does not satisfy the equation", True, False, None),
        ("7 is extraneous", True, False, None),
        ("Is it 7? Yes.", False, False, None),
        ("Is it 7? Hard to say.", True, False, None),
        ("They say 7, but she is wrong", True, False, None),
        ("It is 7. I forgot a case, so it is 9.", False, False, "9"),
        ("They wrongly computed 7", True, False, None),
        ("It is 7 squared", True, False, None),
        ("It fell short of the target. It is 7", False, False, None),
        ("As shown above: 7", False, False, None),
        ("It is 7 plus 15", True, False, None),
        ("It is 7%, or more exactly 8", False, False, "8"),
        ("It is 7 because it is impossible to have more", False, False, None),
        ("It is 7. No, 7 is wrong", True, False, None),
        ("It is 7. Oops, it should be 9.", False, False, "9"),
        ("It is 7. It is 2 more than 5", False, False, None),
        ("I am not confident that it is 7", True, False, None),
        ("We cannot conclude that the area equals 7", True, False, None),
        ("It remains open whether the answer is 7", True, False, None),
        ("Suppose the answer is 7", True, False, None),
        ("They guessed 7", True, False, None),
        ("It can't be 7, it is 9", True, False, "9"),
    ],
)
def test_standing(text: str, taken_back: bool, about: bool, other: str | None) -> None:
    assert read(text) == (taken_back, about, other)


@pytest.mark.parametrize(
    ("answer", "reference", "correct"),
    [
        ("38!", "38", False),
        ("38½", "38", False),
        ("38²", "38", False),
        ("38i", "38", False),
        ("38 dozen", "38", False),
        ("38 halves", "38", False),
        ("2 dozen", "24", True),
        ("not38", "38", False),
        ("41 = 38", "38", False),
        ("30 + 8 = 38", "38", True),
        ("x = 38", "38", True),
        ("38 is wrong", "38", False),
        ("isn't 38", "38", False),
        ("38 if it rains", "38", False),
        ("38 coins, unless one is lost", "38", False),
        ("38 km", "38", True),
        ("38 apples in total.", "38", True),
    ],
)
def test_what_is_written_beside_a_number_belongs_to_it(
    answer: str, reference: str, correct: bool
) -> None:
    assert verify("gsm8k", f"#### {answer}", reference).correct is correct


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("C is a trap. The answer is E", "E"),
        ("The answer is C. C is a distractor", ""),
        ("B: 12, C: 15, D: 19", ""),
        ("It could be C, but it is E", "E"),
        ("It must not be C", ""),
    ],
)
def test_a_letter_in_the_text_of_the_options_is_no_answer(text: str, letter: str) -> None:
    lenient = load_verifier("choice", reading="lenient")
    assert (verify(lenient, text, "C").answer or "") == letter


LONG = {
    "words": "so the answer is not what we think, but ",
    "denials": "the answer is not 5. ",
    "corrections": "Wait, actually, no, it is ",
    "numbers": "7 8 9 10 11 ",
    "formulas": "we get $x=5$ and ",
    "letters": "(A) or (B), not C. ",
    "spaces": " \t",
    "stars": "**5** ",
    "lines": "it is 7\n",
    "dollars": "$",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", LONG.values(), ids=LONG)
def test_long_texts_take_linear_time(unit: str) -> None:
    for reader in READERS[1:]:
        seconds = []
        for size in (250_000, 1_000_000):
            started = time.process_time()
            reader.judged((unit * (size // len(unit))).replace("{", "{{") + " {v}")
            seconds.append(time.process_time() - started)
        assert seconds[1] < 12 * max(seconds[0], 0.01), (reader, seconds)
