"""What must hold of every text: no exception, no dependence on what was judged before."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rewardkit import Sample
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.math.numbers.equality import NO_VALUE, same_value
from rewardkit.verifiers.math.parser import read

pytestmark = pytest.mark.slow

FRAGMENTS = re.split(
    " ",
    r"\frac \sqrt { } ( ) [ ] ^ _ 1 2 10 x y + - * / \pm , ; \text{ \text{or} \infty \pi e i = <"
    r" \in \cup \begin{pmatrix} \end{pmatrix} & \\ | \{ \} ! % \% ° : . \sin \log $ \$ \binom \left"
    r" \lfloor \sum_{k=1}^{ ' \mathbb{R} ∅ ½ ² √ e5 0.5 \overline{3} \cdot \ne and or not \approx"
    r" \setminus \mid … # @ \boxed{ } </think>",
)
WRITTEN = st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join) | st.text(max_size=60)


@pytest.fixture(scope="module", autouse=True)
def _short_collections() -> Iterator[None]:
    """Leave what other tests made to itself: a collection of it all takes a second."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@settings(max_examples=400, deadline=None)
@given(answer=WRITTEN, reference=WRITTEN)
@example(answer="1+…10", reference="1+2+…10")
def test_no_text_raises_or_takes_long(answer: str, reference: str) -> None:
    sample = Sample(reference)
    started = time.process_time()
    verdict = Math().quick(rf"\boxed{{{answer}}}", sample)
    assert time.process_time() - started < 1.0
    assert verdict == Math().quick(rf"\boxed{{{answer}}}", sample)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """The same expression written in two ways."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        leaf = draw(st.sampled_from(["x", "y", "n"]) | st.integers(1, 30).map(str))
        return leaf, draw(st.sampled_from([leaf, f"({leaf})", f"{{{leaf}}}", f"1\\cdot {leaf}"]))
    (a, a2), (b, b2) = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    return draw(
        st.sampled_from(
            [
                (f"({a}+{b})", f"({b2}+{a2})"),
                (f"({a}-({b}))", rf"(-\left({b2}\right)+{a2})"),
                (f"({a})({b})", rf"\left({b2}\right)\cdot({a2})"),
                (rf"\frac{{{a}}}{{{b}}}", f"({a2})/({b2})"),
                (f"({a}+{b})^2", f"(({a2})^2+2({a2})({b2})+({b2})^2)"),
                (f"(({a})^2-({b})^2)", f"({a2}+{b2})({a2}-({b2}))"),
                (rf"\sqrt{{({a})^2}}", f"|{a2}|"),
            ]
        )
    )


@settings(max_examples=150, deadline=None)
@given(pair=expressions())
def test_rewritten_expressions_are_equal_both_ways(pair: tuple[str, str]) -> None:
    for answer, reference in (pair, pair[::-1]):
        verdict = Math().compare_quick(answer, reference)
        if verdict is None or "no value" in verdict.message:
            assert same_value(read(answer), read(reference)).step == NO_VALUE, (answer, reference)
        else:
            assert verdict.correct, (verdict, reference)


@settings(max_examples=150, deadline=None)
@given(pair=expressions(), off=st.integers(1, 50))
def test_what_is_off_by_a_number_is_unequal(pair: tuple[str, str], off: int) -> None:
    answer = f"{pair[0]}+{off}"
    verdict = Math().compare_quick(answer, pair[1])
    if verdict is None:
        assert same_value(read(answer), read(pair[1])).step == NO_VALUE, (answer, pair[1])
    else:
        assert verdict.correct is False


@settings(max_examples=100, deadline=None)
@given(over=st.integers(-(10**30), 10**30), under=st.integers(1, 10**30), k=st.integers(1, 10**9))
def test_fractions_compare_exactly(over: int, under: int, k: int) -> None:
    one, other = read(rf"\frac{{{over * k}}}{{{under * k}}}"), read(f"{over}/{under}")
    assert same_value(one, other).equal is True
    assert same_value(one, read(f"{over + 1}/{under}")).equal is (Fraction(0) == 1)


FUNCTIONS = [  # of one variable, and what they are at most of the places where sampling is easy
    (r"\sin(2\pi {v})", "0"),
    (r"\cos(2\pi {v})", "1"),
    (r"|{v}|", "{v}"),
    (r"\sqrt{{({v})^2}}", "{v}"),
    (r"\lfloor {v}\rfloor", "{v}"),
    (r"\lceil {v}\rceil", "{v}"),
    (r"\max({v}, -40)", "{v}"),
    (r"\sin^2(\pi {v})", "0"),
    (r"\arctan(\tan({v}))", "{v}"),
]
SERIES = [r"\sum_{{{i}={low}}}^{{{high}}} 0", r"\prod_{{{i}={low}}}^{{{high}}} 1 - 1"]
VANISHING = r"\prod_{{{i}={low}}}^{{{high}}}({v}-{i})"


@settings(max_examples=50, deadline=None)
@given(
    function=st.sampled_from(FUNCTIONS),
    series=st.sampled_from(SERIES),
    letters=st.permutations("jklmnpqrstuxyz").map(lambda order: order[:2]),
    low=st.integers(1, 3),
    count=st.integers(1, 55),
)
def test_a_finite_sum_or_product_leaves_the_variable_real(
    function: tuple[str, str], series: str, letters: list[str], low: int, count: int
) -> None:
    variable, index = letters
    names = {"v": variable, "i": index, "low": low, "high": low + count}
    one, other = (part.format(**names) for part in function)
    assert unequal(f"{one}+{series.format(**names)}", other)
    body = function[0].format(v=f"({variable}-{index})")
    flat = function[1].format(v=f"({variable}-{index})")
    bounds = rf"_{{{index}={low}}}^{{{low + min(count, 9)}}}"
    assert unequal(rf"\sum{bounds}({body})", rf"\sum{bounds}({flat})")
    vanishing = VANISHING.format(**names)
    for side in (variable, f"{variable}!", rf"\sum_{{{index}=1}}^{{{variable}}} {index}"):
        assert unequal(f"{side}+{vanishing}", side)


def unequal(answer: str, reference: str) -> bool:
    """Whether neither direction is accepted."""
    verdicts = (
        Math().compare_quick(answer, reference),
        Math().compare_quick(reference, answer),
    )
    return not any(verdict is not None and verdict.correct for verdict in verdicts)


LONG_SERIES = [
    (
        r"\sum_{a=1}^{30}\sum_{b=1}^{30}\frac{1}{a+b}",
        r"\sum_{p=1}^{30}\sum_{q=1}^{30}\frac{1}{q+p}",
    ),
    (r"\prod_{a=1}^{12}\sum_{b=1}^{40}\sin(ax+b)", r"\prod_{p=1}^{12}\sum_{q=1}^{40}\sin(q+px)"),
    (r"\sum_{t=1}^{1000}\sum_{s=1}^{1000} ts", "250500250000"),
    (r"\sum_{t=1}^{40000} t", "800020000"),
]


@pytest.mark.parametrize(("answer", "reference"), LONG_SERIES)
def test_a_long_series_is_handed_on_and_decided_by_a_worker(answer: str, reference: str) -> None:
    text, sample = rf"\boxed{{{answer}}}", Sample(reference)
    Math().prepare()
    started = time.process_time()
    assert Math().quick(text, sample) is None
    assert time.process_time() - started < 0.5
    assert Math()(text, sample).correct is True
    assert Math()(text, Sample(f"{reference}+1")).correct is False


def matrix(size: int, cell: str) -> str:
    rows = (" & ".join(cell.format(i=i, j=j) for j in range(size)) for i in range(size))
    return r"\begin{pmatrix}" + r" \\ ".join(rows) + r"\end{pmatrix}"


MANY = range(2, 50)
MANY_STEPS = [
    (",".join(f"x^2+y={n}" for n in MANY), ",".join(f"x^2+y={n}" for n in reversed(MANY))),
    (
        r"\{" + ",".join(rf"(\sqrt{{{n}}},x)" for n in MANY) + r"\}",
        r"\{" + ",".join(rf"(\sqrt{{{n}}},x)" for n in reversed(MANY)) + r"\}",
    ),
    (
        r"2^k+3^l+4^m+5^n+6^p+7^q, k,l,m,n,p,q\in\mathbb{R}",
        r"3^k+4^l+5^m+6^n+7^p+8^q, k,l,m,n,p,q\in\mathbb{R}",
    ),
    (matrix(7, r"\sin({i}x+{j})") + "^8", matrix(7, "0")),
]


@pytest.mark.parametrize(("answer", "reference"), MANY_STEPS, ids=range(len(MANY_STEPS)))
def test_many_comparisons_of_parts_are_handed_on(answer: str, reference: str) -> None:
    assert Math().quick(rf"\boxed{{{answer}}}", Sample(reference)) is None


CONSTANTS = ["C_1", "C_2", "C_3", "C_4", "C_5"]


def test_a_solution_with_five_constants_takes_few_steps() -> None:
    def solution(term: str) -> str:
        return "y=" + "+".join(c + term.format(n=n) for n, c in enumerate(CONSTANTS))

    powers = Math().quick(rf"\boxed{{{solution('x^{n}')}}}", Sample(solution("(x-1)^{n}")))
    assert powers is not None
    assert powers.correct is True
    other = Math().quick(rf"\boxed{{{solution('x^{n}')}}}", Sample(solution("x^{n}e^x")))
    assert other is not None
    assert other.correct is False


PAYLOADS = [
    "__import__('os').mkdir('PWNED')",
    "open('PWNED','w')",
    "(lambda:[0]*10**12)()",
    "().__class__.__base__.__subclasses__()",
    "[open('PWNED','w') for _ in [0]]",
    "exec(\"open('PWNED','w')\")",
    r"\input{/etc/passwd}",
    r"\write18{touch PWNED}",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_code_in_a_box_does_nothing(
    payload: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    for text in (rf"\boxed{{{payload}}}", rf"\boxed{{{payload} or 42}}"):
        assert Math()(text, Sample("42")).correct is False
    assert not list(__import__("pathlib").Path(str(tmp_path)).iterdir())


HOSTILE = [
    r"\sqrt{" * 50 + "x" + "}" * 50,
    "+".join(rf"\sqrt{{{i}+\sqrt{{{i + 1}}}}}" for i in range(2, 22)),
    "*".join(f"(x+{i})" for i in range(1, 61)),
    r"(1+\sqrt2)^{1000000}",
    r"(x+y+z+w)^{500}",
    r"\sum_{k=1}^{1000}\sum_{j=1}^{1000}\sum_{i=1}^{1000} ijk",
    r"\cup".join(f"({i},{i + 1})" for i in range(200)),
    r"\{" + ",".join(map(str, range(900))) + r"\}",
    r"\text{1" * 300 + "}" * 300,
    "2" + "^2" * 1000,
    "1e99999999",
    r"e^{e^{e^{e^{e}}}}",
    r"(10^{11})!",
    "+".join(f"{i}" for i in range(300)) + r"+\cdots+9" * 50,
    r"1\cdot 2\cdots 9" * 100,
    r"a_1+a_2+\cdots+a_{a_1+a_2+\cdots+a_n}",
    r"(((a+b+c,a=0,1,\ldots,99),b=0,1,\ldots,99),c=0,1,\ldots,99)",
    "^" * 2000 + r"{k}, k\ge0",
    "5" + "!" * 1000,
    ":".join("1" * 500),
    "½" * 1500,
    "\ud800" * 3000,
]


@pytest.mark.parametrize("box", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_box_is_decided_at_once_or_handed_on(box: str) -> None:
    Math().quick(r"\boxed{\sqrt2}", Sample("x"))  # the library is loaded
    references = ["42", r"\sqrt{2}", "x", "1,2", r"(-\infty,2)\cup(3,\infty)", "y=2x", box + "+1"]
    for reference in references:
        started = time.process_time()
        verdict = Math().quick(rf"\boxed{{{box}}}", Sample(reference))
        assert time.process_time() - started < 0.5
        assert verdict is None or verdict.correct is not True
