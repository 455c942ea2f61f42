"""Where a reply states its answer, and what the words around it make of it."""

import re
import time
from dataclasses import dataclass

import pytest

from rewardkit import Verdict, load_verifier, verify
from rewardkit.audit.generators.replies import WORDING, sentences
from rewardkit.verifiers.languages import load_language
from rewardkit.verifiers.stated import Found, stated


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


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is 7.", "7"),
        ("So the real total is 7.", "7"),
        ("Die Antwort ist 9. Nicht 9, sondern 7.", "7"),
        ("La réponse est 9. Ce n'est pas 9 mais 7.", "7"),
        ("Also hat sie 7 Karten.", "7"),
        ("Endergebnis: 7", "7"),
        ("Somit beträgt die Wahrscheinlichkeit 7.", "7"),
        ("Somit beträgt die Hälfte 7.", None),
        ("In conclusion, it will take them 7 hours.", "7"),
        ("So they need 7 chairs.", "7"),
        ("7 is the answer.", "7"),
        ("It takes 7 minutes. Let me know if you have any questions!", "7"),
        ("It takes 7 minutes. Let me know if it is wrong.", None),
        ("It takes about 7 minutes. I hope this helps!", None),
        ("The answer is 9. Oops, it should be 7.", "7"),
        ("The answer is 9. On second thought, 7.", "7"),
        ("Is the answer 9? Hard to say.", None),
        ("The answer key says 7.", None),
        ("The answer is 7, assuming that x > 0.", None),
        ("So it is 7. $\\square$", "7"),
        ("The answer has 7 digits.", None),
        ("The answer is 9. It is not 7.", None),
        ("The answer is 7. It is not 7.", None),
        ("The answer is 9. That is wrong, 7.", "7"),
        ("The answer is 7 more than 50.", None),
        ("> The answer is 7.", None),
        ('You said "the answer is 7".', None),
        ("It is 7, from which we still have to subtract the", None),
        # amounts of a change, what is paid
        ("So the population increased by 7 percent.", "7"),
        ("The price did not decrease by 7 euros.", None),
        ("The price decreased by at least 7 euros.", None),
        ("The price dropped by 7 to 30.", None),
        ("Der Preis ist um 7 % gesunken.", "7"),
        ("Der Umsatz ist um etwa 7 % gestiegen.", None),
        ("Er ist um 7 Jahre älter.", None),
        ("Le prix a baissé de 7 %.", "7"),
        ("Le prix n'a pas augmenté de 7 %.", None),
        ("El precio bajó un 7 %.", "7"),
        ("Marisol gasta 7 euros en total.", "7"),
        ("Marisol gasta 7 euros cada día.", None),
        ("人口增加了7%。", "7"),
        ("他没有花7元。", None),
        ("So that's 7 in total.", "7"),
        ("That's about 7.", None),
        # the only value of the last sentence, whatever its verb is
        ("The gardener plants 7 tulips.", "7"),
        ("Wir benötigen 7 Liter Milch.", "7"),
        ("Der Zaun umschließt 7 Felder.", "7"),
        ("Le vendeur emballe 7 paquets.", "7"),
        ("La bibliotecaria ordena 7 estantes.", "7"),
        ("工人们搬运7箱。", "7"),
        ("Since 2 of the 9 are broken, the shop ships 7.", "7"),
        ("The gardener plants at least 7 tulips.", None),
        ("The gardener never plants 7 tulips.", None),
        ("The gardener hopes for 7 tulips.", None),
        ("First, the gardener plants 7 tulips.", None),
        ("Let the gardener plant 7 tulips.", None),
        ("The gardener plants 7 tulips per bed.", None),
        ("The gardener plants 7 tulips in 2 beds.", None),
        ("The gardener plants 7 tulips, the neighbour 5.", None),
        ("Has the gardener planted 7 tulips?", None),
        ("Der Zaun ist länger als 7 Meter.", None),
        ("Ich schätze 7 Felder.", None),
        ("Zunächst umschließt der Zaun 7 Felder.", None),
        ("Le vendeur emballerait 7 paquets.", None),
        ("Testons 7 paquets.", None),
        ("Let the length of the rope be 7.", None),
        ("Wer 7 sagt, hat die Steuer vergessen.", None),
        ("La base mide 7 cm y con ese dato hallaremos el área.", None),
        ("La bibliotecaria ordenaría 7 estantes si pudiera.", None),
        ("La caja pesa más que 7 ladrillos.", None),
        ("工人们不到7箱。", None),
        ("设工人们搬运7箱。", None),
        ("The fee is 9 euros, which brings the bill to 7.", "7"),
        ("The answer to the second part is 7.", "7"),
        ("Die Lösung der Gleichung lautet 7.", "7"),
        ("El resultado de la división es 7.", "7"),
        ("The answer: **-7**", None),
        ("The answer is 7. It took 9 steps.", "7"),
        ("| pens | 9 |\n| total | 7 |", "7"),
        ("| pens | 9 |\n| books | 7 |", None),
        # a consequence within a sentence
        ("We get $2x=8$ and so 7.", "7"),
        ("1, 2, 3, and so on up to 7.", None),
        ("Es gilt $2x=10$ und damit 7.", "7"),
        ("共有20种结果,所以概率为7。", "7"),
        # superlatives, and bounds
        ("The least positive integer is 7.", "7"),
        ("The least plausible value is 7.", None),
        ("The greatest common divisor is 7.", "7"),
        ("El menor número es 7.", "7"),
        ("El número es menor que 7.", None),
        ("Le plus petit entier est 7.", "7"),
        ("Il y en a 7 au maximum.", None),
        ("一共有7种不同的走法。", "7"),
        # a second quantity beside the first
        ("The area is 7, and its perimeter is 24.", None),
        ("Die kürzeste Strecke beträgt 7 km, die mittlere Strecke 9 km.", None),
        ("Der eine Winkel ist 7 Grad, der gesuchte Winkel also 83 Grad.", None),
        ("Die Zahl ist 7, die vierte ungerade Zahl.", "7"),
        ("The area is 24, and the perimeter is 7.", None),
        ("So 24 / 4 = 6, and the answer is 7.", "7"),
        ("Der Umfang beträgt 7 cm, die Fläche 36 cm².", None),
        ("Der Umfang beträgt 7 cm, das ist die Lösung.", "7"),
        ("L'unique solution est 7.", "7"),
        ("Le centre est le point 7.", "7"),
        # other languages
        ("Die Antwort ist 7.", "7"),
        ("Somit sind es 7 Stück.", "7"),
        ("Die Antwort ist nicht 7.", None),
        ("Die Antwort ist 7, nicht 9.", "7"),
        ("Die Antwort ist 7. Es ist nicht 7.", None),
        ("Die Antwort ist 9. Es ist nicht 9, sondern 7.", "7"),
        ("Die Antwort ist 7, nicht sicher.", None),
        ("Die Antwort ist nicht 9, sondern 7.", "7"),
        ("Die Antwort ist 7. Moment, das ist falsch.", None),
        ("Wenn es regnet, ist die Antwort 7.", None),
        ("La réponse est 7.", "7"),
        ("Le périmètre est donc de 7 cm.", "7"),
        ("La réponse n'est pas 7.", None),
        ("La réponse est 7, non 9.", "7"),
        ("La réponse est 7, pas 9.", "7"),
        ("La réponse est 7. Ce n'est pas 7.", None),
        ("Il y en a au moins 7.", None),
        ("La respuesta es 7.", "7"),
        ("La respuesta no es 7.", None),
        ("La respuesta es 7, no 9.", "7"),
        ("La respuesta es 9, no, es 7.", "7"),
        ("La respuesta es 9. No es 7.", None),
        ("La respuesta es 9. No 9, sino 7.", "7"),
        ("La respuesta es 7. No es correcto.", None),
        ("La respuesta es 7 (no el 9).", "7"),
        ("¿Es 7 la respuesta?", None),
        ("A resposta é 7.", "7"),
        ("A resposta não é 7.", None),
        ("A resposta é 7, não 9.", "7"),
        ("A resposta é 9. Não, é 7.", "7"),
        ("A resposta é 9. Não é 7.", None),
        ("La risposta è 7.", "7"),
        ("La risposta è forse 7.", None),
        ("La risposta è 7, non 9.", "7"),
        ("La risposta è 7. Non è 7.", None),
        ("Ответ: 7", "7"),
        ("Ответ: примерно 7", None),
        ("Ответ: 7, не 9.", "7"),
        ("答案是7。", "7"),
        ("答:一共有7个。", "7"),
        ("答案大约是7。", None),
        ("答案是9。不对,应该是7。", "7"),
        ("答えは7です。", "7"),
        ("答えは7ではありません。", None),
        ("정답은 7입니다.", "7"),
        ("정답은 7이 아닙니다.", None),
        # a language without a table
        ("Svaret är 7.", None),
        ("Svaret är inte **7**", None),
        ("Het antwoord is niet 7.", None),
    ],
)
def test_what_a_text_states(text: str, answer: str | None) -> None:
    def number(text: str, start: int, end: int) -> Found | None:
        digits = re.compile("[0-9]+").match(text, start, end)
        return Found(digits.group(), digits.end()) if digits else None

    assert stated(text, number) == answer


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


@pytest.mark.parametrize("code", ["en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "ko"])
def test_the_words_of_each_language_make_patterns(code: str) -> None:
    language = load_language(code)
    for name in ("negation", "refusal", "condition", "ongoing", "retraction", "announcement"):
        assert getattr(language, name).search("") is None


def test_a_run_of_signs_is_one_sign() -> None:
    places = []

    def nothing(text: str, start: int, end: int) -> None:
        places.append(start)

    assert stated("So x " + "=" * 900 + " y!", nothing) is None
    assert len(places) < 10


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
