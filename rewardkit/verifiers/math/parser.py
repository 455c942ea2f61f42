"""Parse an answer into a tree: functions over a stream of tokens, from whole answers down.

An answer is a listing, after words that only announce it. A listing has clauses, a clause has
relations between sets, a set has ratios, a ratio has sums, a sum has terms, a term has factors and
perhaps a unit, and a factor is a base with powers. Brackets and environments hold listings again.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.notations import rewritten
from rewardkit.verifiers.math.numbers.exact import rational, same_rational_function
from rewardkit.verifiers.math.spelling import collapsed
from rewardkit.verifiers.math.tokens import DEEPEST_NESTING, Token, Tokens, scan, sort
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    ONE,
    WRITTEN_INVERSE,
    ZERO,
    Call,
    Clock,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
    Numeral,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UnreadableError,
    children,
    difference,
    is_matrix_name,
    mapped,
    multiplied,
    negative,
    nodes,
    reciprocal,
    substituted,
    summed,
    symbols,
)


def read(text: str) -> Node:
    """The answer `text` as a tree; raises UnreadableError where it is not one that we read."""
    return read_tokens(rewritten(scan(collapsed(text))))


def read_tokens(rewritten_tokens: list[Token]) -> Node:
    """The same for tokens after the table of notations."""
    tokens = sort(rewritten_tokens)
    tokens.drop_end()
    tokens.mark(",")
    start = tokens.at
    if tokens.next.kind == "text" and _name_in_words(tokens) is None:
        return _labelled(tokens, tokens.texts())
    tokens.at = start
    return _whole_listing(tokens)


def words_as_answer(text: str) -> Node:
    """The set or the number that the words name, else the words in one spelling."""
    words = " ".join(text.lower().split()).strip(".,:;! ")
    return meaning(words) or Text(words)


@lru_cache(maxsize=1024)
def meaning(words: str) -> Node | None:
    """The set, the number or the statement that lower-case words name; None for any others."""
    for answer, wordings in lexicon.MEANINGS.items():
        if wordings.fullmatch(words):
            return Text(answer) if answer[0].isalpha() else read(answer)
    day = words.removeprefix("on ").removeprefix("a ").rstrip(".s")
    for name in lexicon.WEEKDAYS:
        if len(day) > 2 and name.startswith(day):
            return Text(name)
    parts = words.split()
    for place in range(len(parts), 0, -1):  # five dollars, ninety square feet, seven pencils
        value, unit = lexicon.number_in_words(" ".join(parts[:place])), " ".join(parts[place:])
        if value is None:
            continue
        if place == len(parts):
            return Number(value)
        part = parts[place] == "of" and value < 1
        if place == len(parts) - 1 or part or lexicon.known_unit(unit):
            with suppress(UnreadableError):
                return measured([Number(value)], unit)
    return None


_LABEL = re.compile(lexicon.wordings("labels"))
_STATES = re.compile(rf"(?:{lexicon.wordings('states')})\Z")


def _labelled(tokens: Tokens, words: str) -> Node:
    """The answer after words that only announce it; the words where nothing follows."""
    tokens.mark(".")
    colon = words.rstrip().endswith(":") or tokens.mark(":") is not None
    if tokens.ended:
        return words_as_answer(words)
    plain = " ".join(words.lower().split()).strip(".,:;! ")
    begins = tokens.next.text
    node = _whole_listing(tokens)
    meant = _by_first_words(plain, node)
    if meant is not None:
        return meant
    subject = _STATES.sub("", plain)
    refused = any(map(lexicon.refuses, re.split(r"[\s,]+", subject)))
    label = _LABEL.fullmatch(plain) or (not refused and (colon or subject != plain))
    if not label and begins not in ("(", "["):
        raise UnreadableError(f"the words {plain!r}")
    if not label:
        return Sequence((Text(plain), node), "(", ")")  # increasing on (0,1): both must agree
    match node:
        case Sequence(_, "", "", ",") if re.search(r"\bsequence\b", subject):
            return replace(node, opening="(", closing=")")  # its order counts
        case Sequence((first, *others), "", "") if colon and all(
            isinstance(other, Relation) and isinstance(other.sides[0], Text) for other in others
        ):  # Minimum: 1, Maximum: 3
            return replace(node, items=(Relation((Text(plain), first), ("=",)), *others))
    return node


def _by_first_words(plain: str, node: Node) -> Node | None:
    """What a currency, a sign or `all real numbers except` makes of what follows."""
    items = node.items if isinstance(node, Sequence) else (node,)
    if (unit := lexicon.currency(plain)) is not None:
        return Quantity(node, *unit)
    every, excepting, _ = plain.partition(" except")
    if excepting and (reals := meaning(every)) is not None:
        match node:
            case Relation((_, Node() as value), ("=",)):  # except x = 2
                items = (value,)
        return SetOperation("∖", reals, Sequence(items, "⦃", "⦄"))
    match plain:
        case "span":
            letters = [Symbol(f"t_{place}") for place in range(len(items))]
            ranges = [Relation((letter, NumberSet("R")), ("∈",)) for letter in letters]
            multiples: list[Node] = [Product(pair) for pair in zip(letters, items, strict=True)]
            return Sequence((summed(multiples), *ranges))
        case "diag":
            places = range(len(items))
            rows = [tuple(items[row] if row == at else ZERO for at in places) for row in places]
            return Matrix(tuple(rows))
        case "minus" | "negative":
            return negative(node)
    return None


def _whole_listing(tokens: Tokens) -> Node:
    tokens.drop_end()
    node = _listing(tokens)
    if not tokens.ended:
        raise UnreadableError(f"unexpected {tokens.next.text!r}")
    return node


def _listing(tokens: Tokens) -> Node:
    items, joint = _joined(tokens, [_item(tokens, "")], "")
    return items[0] if len(items) == 1 else Sequence(tuple(items), joint=joint)


def _joined(tokens: Tokens, items: list[Node], opening: str) -> tuple[list[Node], str]:
    separators = []
    while separator := _separator(tokens):
        separators.append(separator)
        items.append(_item(tokens, opening))
    items = in_full(_each(items))
    return items, _joint(items, separators)


_MOST_WRITTEN_OUT = 2_000
"""Parts of all terms that a letter's values may give."""


def _each(items: list[Node]) -> list[Node]:
    """The items before `k = 0, 1, 2`, which all hold k, for each of these values."""
    for place, item in enumerate(items):
        shapes, numbers = items[:place], items[place + 1 :]
        match item:
            case Relation((Symbol() as name, Number() as first), ("=",)) if shapes and numbers:
                if not all(name in nodes(shape) for shape in shapes) or not all(
                    isinstance(value, Number) or value == ELLIPSIS for value in numbers
                ):
                    break
                values = in_full([first, *numbers])
                if len(values) * sum(len(nodes(shape)) for shape in shapes) > _MOST_WRITTEN_OUT:
                    raise UnreadableError("too many values of a letter")
                return [substituted(shape, {name: value}) for value in values for shape in shapes]
    return items


def _joint(items: list[Node], separators: list[str]) -> str:
    """What joins the items; between values and conditions ∧ is `and` and ∨ is `or`."""
    joints = [separator for separator in separators if separator != ","] or [","]
    names = {lexicon.JOINTS.get(joint, joint) for joint in joints}
    if len(names) > 1:
        raise UnreadableError("connectives without brackets")
    values = any(isinstance(item, Relation) or not symbols(item) for item in items)
    return names.pop() if values else joints[0]


_CONNECTIVES = ("and", "or", "∧", "∨")
_SEPARATORS = (*_CONNECTIVES, ",", ";", "\\\\")


def _separator(tokens: Tokens) -> str | None:
    """Take what separates two items: `,`, `and` or `or`; None if nothing does."""
    found = None
    while mark := tokens.mark(_SEPARATORS):
        if found not in (None, ",") or (found and mark not in _CONNECTIVES):
            raise UnreadableError("an empty place in a list")
        found = mark if mark in _CONNECTIVES else ","
    return found


ELLIPSIS = Constant("…")
_LONGEST_LIST = 100
"""Items of the longest list that is written out."""


def in_full(items: list[Node]) -> list[Node]:
    """The items with an ellipsis between whole numbers in even steps filled in; 1, …, n as its law.

    Raises UnreadableError where nothing says how the list goes on or where it ends.
    """
    if ELLIPSIS not in items:
        return items
    place = items.index(ELLIPSIS)
    if len(items) == place + 2 and symbols(items[-1]):
        second = [Sum((items[0], ONE))] if place == 1 and not symbols(items[0]) else []
        return _continued("list()", [*items[:place], *second], items[-1])
    values = [item.value for item in items if isinstance(item, Number) and item.places is None]
    if not 0 < place == len(items) - 2 == len(values) - 1:
        raise UnreadableError("a list without an end")
    *known, last = values
    step = known[1] - known[0] if len(known) > 1 else Fraction(1)
    even = all(second - first == step for first, second in pairwise(known))
    count = (last - known[0]) / step if step else Fraction(-1)
    if not even or count.denominator > 1 or not len(known) <= count < _LONGEST_LIST:
        raise UnreadableError("a list whose steps differ")
    return [Number(known[0] + index * step) for index in range(int(count) + 1)]


_MOST_BEFORE = 6
"""Terms before dots that are looked at."""


def _continued(name: str, terms: list[Node], last: Node) -> list[Node]:
    r"""The terms, those round dots as one sum or product: 1+2+⋯+n, v(v-a_1)(v-a_2)\cdots(v-a_n).

    Raises UnreadableError where the terms before the dots and the last one follow no plain law.
    """
    for start in range(max(len(terms) - _MOST_BEFORE, 0), len(terms) - 1):
        counts: list[Node] = []
        parts = [*terms[start:], last]
        law = _law(parts, counts) if _INDEX not in nodes(summed(parts)) else None
        if law and counts and all(same_rational_function(counts[0], count) for count in counts):
            return [*terms[:start], Call(name, (law, _INDEX, ONE, counts[0]))]
    raise UnreadableError("dots between terms that follow no plain law")


def _law(parts: list[Node], counts: list[Node]) -> Node | None:
    """The term with the number _INDEX, of which the first ones and the last one are `parts`.

    It adds to `counts` how many there are, once for each place where they differ.
    """
    parts = _alike(parts)
    first, last = parts[0], parts[-1]
    if all(part == first for part in parts):
        return first
    if (items := _items_by_number(parts, counts)) is not None:
        return items
    kinds = {(type(part), len(children(part)), getattr(part, "name", "")) for part in parts}
    if len(kinds) == 1 and children(first):
        columns = zip(*map(children, parts), strict=True)
        inside: list[Node] = []
        laws = [_law([*column], inside) for column in columns]
        below = (law for law in laws if law is not None)
        if None not in laws:
            counts += inside
            return mapped(first, lambda _: next(below))
    if (step := _step(parts[:-1])) is None:
        return None
    counts.append(Sum((ONE, Product((difference(last, first), reciprocal(step))))))
    return Sum((first, Product((step, Sum((_INDEX, MINUS_ONE))))))


def _step(known: list[Node]) -> Node | None:
    """By how much each is larger than the one before, where it is the same number for all."""
    point = {name: Fraction(3 + place, 7) for place, name in enumerate(sorted(symbols(known[0])))}
    values = [rational(part, point) for part in known[:2]]
    if None in values or symbols(known[1]) != symbols(known[0]):
        return None
    step = Number((values[1] or Fraction(0)) - (values[0] or Fraction(0)))
    even = (same_rational_function(Sum((first, step)), other) for first, other in pairwise(known))
    return step if step.value and all(even) else None


def _items_by_number(parts: list[Node], counts: list[Node]) -> Node | None:
    """a_k for a_1, a_2, …, a_n."""
    names = [part.name.partition("_") for part in parts if isinstance(part, Symbol)]
    letters, numbers = {letter for letter, _, _ in names}, [number for _, _, number in names]
    known = [int(number) for number in numbers[:-1] if number.isdecimal()]
    if len(names) < len(parts) or len(letters) > 1 or len(known) < len(parts) - 1:
        return None
    if not numbers[-1] or known != [*range(known[0], known[0] + len(known))]:
        return None
    counts.append(difference(read(numbers[-1]), Number(Fraction(known[0] - 1))))
    return Symbol(f"{letters.pop()}_{_INDEX.name}{known[0] - 1:+}")


def _alike(parts: list[Node]) -> list[Node]:
    """x, x², x³ with x as x¹; 1, 4, n² with 2² for 4; 1, ½, 1/n with all as quotients."""
    pattern = next((part for part in reversed(parts) if isinstance(part, Power | Product)), None)
    if pattern is None or all(type(part) is type(pattern) for part in parts):
        return parts
    bases = [part.base if isinstance(part, Power) else part for part in parts[:-1]]
    one_base = isinstance(pattern, Power) and pattern.base in bases
    shaped = [_shaped(part, pattern, one_base=one_base) for part in parts]
    found = [part for part in shaped if part is not None]
    return found if len(found) == len(parts) else parts


def _shaped(part: Node, pattern: Node, *, one_base: bool) -> Node | None:
    """A part as a power of the pattern's base or with its exponent, or as a quotient."""
    value = rational(part)
    match pattern:
        case _ if type(part) is type(pattern):
            return part
        case Power(base, _) if part in (base, ONE) and one_base:
            return Power(base, ZERO if part == ONE else ONE)
        case Power(Number(base), exponent) if symbols(exponent):
            powers = (place for place in range(_MOST_BEFORE) if base**place == value)
            return next((Power(pattern.base, Number(Fraction(place))) for place in powers), None)
        case Power(_, Number(exponent)) if value is not None and exponent > 1:
            root = rational(Power(part, Number(1 / exponent)))
            return None if root is None else Power(Number(root), pattern.exponent)
        case Product((_, Power(_, Number(-1)))) if value is not None:
            below = reciprocal(Number(Fraction(value.denominator)))
            return Product((Number(Fraction(value.numerator)), below))
    return None


RELATIONS = "=≠<>≤≥∈∉≈≡≅∝⊂→"


def _clause(tokens: Tokens) -> Node:
    first = None if tokens.next.text in RELATIONS and tokens.next.text else _first_side(tokens)
    sides, operators = [first], []
    while operator := tokens.mark(RELATIONS):
        operators.append(operator)
        if operator in "∈∉" and tokens.next.text in "RZNQC" and tokens.next.kind == "symbol":
            tokens.all[tokens.at] = Token("set", tokens.next.text)  # \mathbf{R}
        sides.append(_sets(tokens))
    if operators:
        return Relation(tuple(sides), tuple(operators))
    assert first is not None
    return first


def _first_side(tokens: Tokens) -> Node:
    if tokens.next.kind != "text":
        return _function_named(tokens) or _sets(tokens)
    if (named := _name_in_words(tokens)) is None:
        raise UnreadableError(f"the word {tokens.next.text!r} in place of a value")
    words, of = named
    name = " ".join(words.lower().split()).rstrip(": ") + of
    colon = tokens.mark(":") or words.rstrip().endswith(":")
    if lexicon.takes_back(words) or (colon and any(map(lexicon.refuses, name.split()))):
        raise UnreadableError(f"the words {words!r}")
    return Relation((Text(name), _sets(tokens)), ("=",)) if colon else Text(name)


def _name_in_words(tokens: Tokens) -> tuple[str, str] | None:
    """Take the words and the brackets before an equals sign or a colon; None where none are."""
    start, words, of = tokens.at, tokens.texts(), ""
    if tokens.next.text == "(":
        bracket, tokens.at = tokens.at, tokens.closing(tokens.at) + 1
        of = " " + "".join(token.text for token in tokens.all[bracket : tokens.at])
    labelled = start and not of and words.endswith(":")
    if words and (labelled or tokens.next.text in (("=", "≈", ":") if start else ("=", "≈"))):
        return words, of
    tokens.at = start
    return None


def _function_named(tokens: Tokens) -> Node | None:
    """What is defined in `u(x,t) = …` or `P(X=1) = …`; None where nothing is."""
    start, letter = tokens.at, tokens.next.text
    if tokens.next.kind != "symbol":
        return None
    name = _name(tokens)
    if [tokens.ahead(place).text for place in range(5)] == ["^", "{", "-", "1", "}"]:
        tokens.at, name = tokens.at + 5, f"{name}^-1"
    closing = tokens.closing(tokens.at) if tokens.next.text in ("(", "[") else -1
    inside, tokens.at = tokens.all[tokens.at : closing + 1], start
    if closing < 0 or tokens.ahead(closing + 1 - start).text not in ("=", "≈", "≡"):
        return None
    try:
        arguments = _arguments(Tokens(inside[:], tokens.level))
    except UnreadableError:
        arguments = (Text("".join(token.text for token in inside)),)
    plain = all(
        isinstance(part, Symbol | Text | SetOperation) or rational(part) is not None
        for part in arguments
    )
    if letter not in FUNCTION_NAMES and (not plain or letter == "C"):
        return None
    tokens.at = closing + 1
    return Call(f"{name}()", arguments)


def _sets(tokens: Tokens) -> Node:
    node = _ratio(tokens)
    match node:
        case Sum((Sequence(_, "⦃") as left, Product((Number(sign), Sequence(_, "⦃") as right)))):
            node = SetOperation("∖", left, right) if sign == -1 else node
    while operator := tokens.mark("∪∩∖-" if isinstance(node, NumberSet | SetOperation) else "∪∩∖"):
        node = SetOperation("∖" if operator == "-" else operator, node, _ratio(tokens))
    if tokens.next.kind == "command" and tokens.next.text in lexicon.MODULO:
        tokens.take()
        modulus = _arguments(tokens) if tokens.next.text == "(" else (_argument(tokens),)
        return Call("residue", (node, *modulus))
    if tokens.next.text == r"\choose":
        tokens.take()
        return Call("binomial", (node, _sum(tokens)))
    return node


def _ratio(tokens: Tokens) -> Node:
    if tokens.next.kind == "set":
        name = tokens.take().text  # and what a sign behind it leaves: ℝ⁺, ℤ_{>0}
        name += tokens.subscript() if tokens.mark("^_") else ""
        spelled = lexicon.NUMBER_SETS.get(name, name)
        return NumberSet(spelled) if spelled[0].isalpha() else read(spelled)
    if tokens.mark("∅"):
        return NumberSet("∅")
    terms = [_sum(tokens)]
    while "⦃" not in tokens.open_brackets and tokens.mark(":"):
        terms.append(_sum(tokens))
    return terms[0] if len(terms) == 1 else Ratio(tuple(terms))


def _sum(tokens: Tokens) -> Node:
    with tokens:
        terms = [_signed(tokens)]
        while sign := tokens.mark("+-±∓"):
            if sign == "+" and tokens.mark("…"):
                last = _with_sign(tokens.expect("+-"), _signed(tokens))
                terms = _continued("sum", terms, _with_number(tokens, terms, last))
            else:
                terms.append(_with_sign(sign, _signed(tokens)))
    total = _with_last_unit(terms) if len(terms) > 1 else terms[0]
    if tokens.next.text == "|" and tokens.ahead(1).text == "_":
        tokens.take()
        total = _at_value(tokens, total)
    if tokens.next.text == r"\over":  # 1+2 \over 3+4
        tokens.take()
        return Product((total, reciprocal(_sum(tokens))))
    return total


def _with_number(tokens: Tokens, known: list[Node], last: Node) -> Node:
    """The last term of 1 + 3 + ⋯ + 2n-1, with the number behind it; that of x^n + ⋯ + x + 1."""
    plain = all(isinstance(term, Number) for term in known)
    follows = tokens.next.text in ("+", "-") and tokens.ahead(1).kind == "number"
    if not (plain and follows) or any(isinstance(part, Power) for part in nodes(last)):
        return last
    return Sum((last, _with_sign(tokens.take().text, tokens.number())))


def _with_last_unit(terms: list[Node]) -> Node:
    """9π - 18 cm² as a quantity: where only the last term has a unit, it is the unit of all."""
    match terms[-1]:
        case Quantity(value, kind, factor) | PlusMinus(Quantity(value, kind, factor)):
            earlier = nodes(Sum(tuple(terms[:-1])))
            measured = any(isinstance(part, Quantity) for part in earlier)
            last = PlusMinus(value, terms[-1].upper) if isinstance(terms[-1], PlusMinus) else value
            if not measured and kind[0][0] not in ("angle", "share"):
                return Quantity(Sum((*terms[:-1], last)), kind, factor)
    return Sum(tuple(terms))


def _signed(tokens: Tokens) -> Node:
    if sign := tokens.mark("+-±∓"):
        with tokens:
            return _with_sign(sign, _signed(tokens))
    return _term(tokens)


def _with_sign(sign: str, node: Node) -> Node:
    if sign in "±∓":
        return PlusMinus(node, sign == "±")
    return negative(node) if sign == "-" else node


def _term(tokens: Tokens) -> Node:
    """Factors with · / or nothing between; a unit after them makes a quantity."""
    factors = [_factor(tokens)]
    while True:
        unit = tokens.ahead(1) if tokens.next.text == "/" else tokens.next
        if unit.kind == "text":
            return _quantity(tokens, factors)
        sign = tokens.mark("·/*⨯✕⊙")
        if sign in (None, "·", "*") and tokens.mark("…"):
            tokens.mark("·*")
            factors = _continued("prod", factors, _factor_after_operator(tokens))
        elif sign is not None:
            _with_factor(factors, sign, _factor_after_operator(tokens))
        elif _factor_follows(tokens):
            _juxtapose(tokens, factors)
        else:
            return multiplied(factors)


def _with_factor(factors: list[Node], sign: str, factor: Node) -> None:
    if sign == "⨯" and repr(factor) < repr(factors[-1]):  # one order, for b×a is -(a×b)
        factors[-1] = negative(Call(lexicon.CROSSES[sign], (factor, factors[-1])))
    elif sign in lexicon.CROSSES:
        factors[-1] = Call(lexicon.CROSSES[sign], (factors[-1], factor))
    else:
        factors.append(reciprocal(factor) if sign == "/" else factor)


def _factor_after_operator(tokens: Tokens) -> Node:
    return negative(_factor(tokens)) if tokens.mark("-") else _factor(tokens)


_STARTERS = frozenset("(⦃[{|⌊⌈√π∞⟨∠△‖" + lexicon.CURRENCY_SIGNS)
_VALUE_KINDS = frozenset(("symbol", "word", "begin", "command", "number", "numeral"))
_SUFFIX_COMMANDS = lexicon.MODULO | {r"\choose", r"\over"}
_AFTER_INTERVAL = frozenset(("", "∪", "∩", "∖", ",", "and", "or"))


def _factor_follows(tokens: Tokens) -> bool:
    token = tokens.next
    if token.kind != "mark":
        return token.kind in _VALUE_KINDS and token.text not in _SUFFIX_COMMANDS
    if token.text == "|" and tokens.ahead(1).text == "_":
        return False
    if token.text in "|‖" and (tokens.inside_bars or tokens.open_brackets.endswith("⦃")):
        return False
    if token.text == "[" and tokens.ahead(1).text in _AFTER_INTERVAL:
        return False
    return token.text in _STARTERS


def _juxtapose(tokens: Tokens, factors: list[Node]) -> None:
    """Add the next factor; a fraction below one is added to the whole number before it."""
    before = factors[-1]
    if tokens.next.kind == "number":  # n2^{n-1}, 3^2 5
        raised = tokens.ahead(1).text == "^" and not isinstance(before, Number | Quantity)
        spaced = tokens.next.spaced and isinstance(before, Power)
        if not (raised or spaced or isinstance(before, Call | Sum) or before == _I):
            raise UnreadableError("a number that follows without an operator")
    by_command = tokens.next.text == r"\frac"
    factor = _factor(tokens)
    if isinstance(before, Symbol) and factor == ZERO:
        raise UnreadableError("the value of a function at 0")
    amount = before if isinstance(before, Quantity) else None  # \$8\frac34
    counted = amount.value if amount else before
    measure = factor if isinstance(factor, Quantity) else amount
    part = _whole_fraction(factor.value if isinstance(factor, Quantity) else factor)
    whole = isinstance(counted, Number) and counted.value.denominator == 1 and len(factors) == 1
    if part is None or not (by_command and whole):
        factors.append(factor)
    elif 0 <= part.value < 1:
        mixed = Sum((counted, part))
        factors[-1] = replace(measure, value=mixed) if measure else mixed
    else:
        raise UnreadableError("a mixed number whose fraction is not below one")


def _whole_fraction(node: Node) -> Number | None:
    """The value of a quotient of whole numbers."""
    match node:
        case Product((Number(over), Power(Number(under), Number(minus)))):
            if minus == -1 and under.denominator == over.denominator == 1 and under:
                return Number(over / under)
    return None


_RADIANS = ("rad", "radian", "radians")


def _quantity(tokens: Tokens, factors: list[Node]) -> Node:
    words = _unit_words(tokens)
    if words and words[-1].lower() == "and":
        words.pop()
        tokens.all.insert(tokens.at, Token("mark", "and"))
    while words and (size := lexicon.scale(words[0])) is not None:
        scaled = factors[-1]  # $5 million is an amount of money
        measure = scaled if isinstance(scaled, Quantity) else None
        product = Product((measure.value if measure else scaled, Number(size)))
        factors[-1] = replace(measure, value=product) if measure else product
        del words[0]
    quantity = measured(factors, " ".join(words))
    return _compound(tokens, quantity) if isinstance(quantity, Quantity) else quantity


def measured(factors: list[Node], words: str) -> Node:
    """The product of the factors with the unit that the words name."""
    value = multiplied(factors)
    of_one = isinstance(value, Number) and abs(value.value) == 1
    kind, size = lexicon.unit(words, of_one=of_one)
    if not kind and words.strip(" .") in _RADIANS:
        kind, size = lexicon.RADIANS
    if isinstance(value, Quantity):
        kind, size = lexicon.product((value.kind, value.factor), (kind, size))
        value = value.value
    return Quantity(value, kind, size) if kind else value


def _unit_words(tokens: Tokens) -> list[str]:
    found: list[str] = []
    while True:
        token = tokens.next
        if token.kind == "text":
            found += tokens.take().text.split()
        elif token.text in ("/", "·") and (
            tokens.ahead(1).kind == "text" or tokens.ahead(1).text in lexicon.unit_table()
        ):
            found += [tokens.take().text, tokens.take().text]
        elif token.text == "^" and found:
            tokens.take()
            exponent = _argument(tokens)
            if not (isinstance(exponent, Number) and exponent.value.denominator == 1):
                raise UnreadableError("a unit to an odd power")
            found.append(f"^{exponent.value}")
        else:
            return found


def _compound(tokens: Tokens, first: Quantity) -> Node:
    """5 feet 3 inches as one quantity; 5 cats and 3 dogs are two."""
    start, joined = tokens.at, tokens.next.text == "and"
    number = tokens.ahead(int(joined))
    if number.kind != "number" or (joined and tokens.ahead(2).kind != "text"):
        return first
    tokens.at += joined
    second = _term(tokens)
    match second:
        case Quantity(value, first.kind, factor) if factor < first.factor:
            smaller = Product((value, Number(factor / first.factor)))
            return replace(first, value=Sum((first.value, smaller)))
    if not joined:
        raise UnreadableError("a number that follows without an operator")
    tokens.at = start
    return first


def _factor(tokens: Tokens) -> Node:
    with tokens:
        node = _base(tokens)
        for _ in range(DEEPEST_NESTING):
            token = tokens.next
            if token.text == "^" or (token.text == "*" and tokens.ahead(1).text == "*"):
                node = _power(tokens, node)
            elif token.kind == "mark" and token.text in "!°%'":
                node = _suffixed(tokens, node, tokens.take().text)
            else:
                return node
    raise UnreadableError("too many powers and suffixes")


def _at_value(tokens: Tokens, node: Node) -> Node:
    """x² at x = 3, or between bounds, where a bar follows."""
    tokens.expect("_")
    low = _argument(tokens)
    if len(nodes(node)) * len(nodes(low)) > _MOST_WRITTEN_OUT:
        raise UnreadableError("too long to be worked out at a value")
    match low:
        case Relation((Symbol() as name, Node() as value), ("=",)):
            return substituted(node, {name: value})
    names = symbols(node)
    if len(names) != 1:
        raise UnreadableError("bounds of no variable")
    tokens.expect("^")
    name, high = Symbol(*names), _argument(tokens)
    return difference(substituted(node, {name: high}), substituted(node, {name: low}))


def _power(tokens: Tokens, base: Node) -> Node:
    if tokens.take().text == "*":
        tokens.take()
    braced = tokens.next.text == "{" and tokens.ahead(2).text == "}"
    mark = tokens.ahead(1).text if braced else tokens.next.text
    matrix = is_matrix_name(base) or any(isinstance(part, Matrix) for part in nodes(base))
    named = matrix or not (braced or isinstance(base, Constant | Number | Sum))
    if mark == r"\top" or (mark == "T" and named):
        tokens.at += 3 if braced else 1
        if isinstance(base, Sequence) and base.opening in ("(", "[") and len(base.items) > 1:
            return Matrix(tuple((item,) for item in base.items))
        return Call("transpose", (base,))
    exponent = _argument(tokens)
    inverse = exponent == MINUS_ONE and is_matrix_name(base)
    return Power(base, WRITTEN_INVERSE if inverse else exponent)


def _suffixed(tokens: Tokens, node: Node, sign: str) -> Node:
    if sign == "!":
        doubled = tokens.mark("!")
        if tokens.next.text == "!":
            raise UnreadableError("three factorial signs")
        return Call("doublefactorial" if doubled else "factorial", (node,))
    if sign == "'":
        raise UnreadableError("a prime")
    return Quantity(node, *lexicon.unit_table()[sign])


def _argument(tokens: Tokens) -> Node:
    with tokens:
        if tokens.mark("-"):
            return negative(_argument(tokens))
        return _enclosed(tokens, "{") if tokens.mark("{") else _base(tokens)


def _half(tokens: Tokens) -> Node:
    return tokens.digit() if tokens.next.kind == "number" else _argument(tokens)


def _base(tokens: Tokens) -> Node:
    token = tokens.next
    match token.kind:
        case "number" | "numeral":
            return _numeral(tokens)
        case "symbol":
            return _symbol(tokens)
        case "word":
            return _function(tokens, tokens.take().text)
        case "begin":
            return _environment(tokens)
        case "command":
            return _command(tokens, tokens.take().text)
        case "mark":
            return _bracketed(tokens)
        case _:
            raise UnreadableError(f"{token.text or 'the end'!r} in place of a value")


def _numeral(tokens: Tokens) -> Node:
    number = tokens.number() if tokens.next.kind == "number" else None
    digits = str(number.value) if number else tokens.take().text.upper()
    if tokens.mark("_") is None and number is not None:
        return number
    base = _argument(tokens)
    if not (isinstance(base, Number) and base.value in range(2, 37) and digits.isalnum()):
        raise UnreadableError("a number with a subscript")
    if any(int(digit, 36) >= base.value for digit in digits):
        raise UnreadableError("a digit that its base does not have")
    return Numeral(digits, int(base.value))


FUNCTION_NAMES = frozenset(("zeta", "Gamma", *"fghFGHPE"))
"""Letters that mostly are functions before brackets."""


def _name(tokens: Tokens) -> str:
    """A letter with its subscript and its primes."""
    name = tokens.take().text
    if tokens.mark("_"):
        name = f"{name}_{tokens.subscript()}"
    while tokens.mark("'"):
        name += "'"
    return name


def _symbol(tokens: Tokens) -> Node:
    name = _name(tokens)
    if name in ("e", "i"):
        return Constant(name)
    if name == "E" and tokens.next.text == "[":  # E[X]^2 is not E[X^2]
        return Call("E()", _arguments(tokens))
    if tokens.next.text == "(" and not tokens.next.spaced:
        if name.rstrip("'") in FUNCTION_NAMES and name != "E":
            return Call(f"{name}()", _arguments(tokens))
        if name == "C":  # before other brackets than those of C(n, k) a factor
            arguments = _arguments(tokens)
            pair = len(arguments) == 2
            return Call("binomial", arguments) if pair else Product((Symbol("C"), *arguments))
        kind, inside = tokens.ahead(1).kind, [tokens.ahead(place).text for place in range(1, 6)]
        if inside[:2] == ["0", ")"]:  # y(0), p(q(x)): they show that the letter is a function
            return Call(f"{name}()", _arguments(tokens))
        if kind == "symbol" and (inside[1], *inside[3:]) == ("(", ")", ")"):
            tokens.at += 2
            inner = Call(f"{inside[0]}()", _arguments(tokens))
            tokens.expect(")")
            return Call(f"{name}()", (inner,))
    return Symbol(name)


_CLOSERS = {"(": ")][", "[": "])[", "]": "])[", "⦃": "⦄", "{": "}", "⟨": "⟩>"}
"""Opening brackets and what may close them, their own partner first."""


def _enclosed(tokens: Tokens, opening: str) -> Node:
    before, bars = tokens.open_brackets, tokens.inside_bars
    tokens.open_brackets, tokens.inside_bars = before + opening, 0
    with tokens:
        items: list[Node] = []
        joint = ","
        if tokens.next.text not in _CLOSERS[opening].removesuffix("["):
            items, joint = _items(tokens, opening)
        closing = tokens.expect(_CLOSERS[opening])
    tokens.open_brackets, tokens.inside_bars = before, bars
    opening = "(" if opening == "]" else opening  # ]0,1[ is (0,1)
    closing = ")" if closing == "[" else closing
    if len(items) == 1 and opening not in "⦃⟨" and closing == _CLOSERS[opening][0]:
        return items[0]
    if opening == "{" or (opening == "(" and joint != ","):
        return Sequence(tuple(items), joint=joint)
    return Sequence(tuple(items), opening, closing)


def _items(tokens: Tokens, opening: str) -> tuple[list[Node], str]:
    if tokens.next.kind == "text" and opening != "⦃":
        items: list[Node] = [words_as_answer(tokens.texts())]
    else:
        items = [_item(tokens, opening)]
    if opening == "⦃" and tokens.mark("|:") is not None:
        return [Relation((items[0], _listing(tokens)), ("|",))], ","
    return _joined(tokens, items, opening)


def _item(tokens: Tokens, opening: str) -> Node:
    """A clause; in bare braces, one in braces of its own is a set: {{1},2}."""
    if tokens.mark("…"):
        return ELLIPSIS
    braced, start = opening == "{" and tokens.next.text == "{", tokens.at
    item = _clause(tokens)
    if braced and tokens.closing(start) == tokens.at - 1 and tokens.next.text in (",", "}"):
        items = item.items if isinstance(item, Sequence) and not item.opening else (item,)
        whole = tokens.next.text == "}" and tokens.all[start - 1].text == "{"
        return item if whole else Sequence(items, "⦃", "⦄")
    return item


_PAIRS = {"|": ("abs", "|"), "‖": ("norm", "‖"), "⌊": ("floor", "⌋"), "⌈": ("ceil", "⌉")}


def _bracketed(tokens: Tokens) -> Node:
    sign = tokens.take().text
    if sign == "⦃" and tokens.next.kind == "begin":
        start, node = tokens.at, _environment(tokens, braced=True)
        if tokens.next.text != ",":
            tokens.mark("⦄")  # \left\{\begin{array} … \end{array}\right. has no partner
            return node
        tokens.at = start
    if sign in _CLOSERS:
        return _enclosed(tokens, sign)
    if sign in lexicon.CURRENCY_SIGNS:
        return Quantity(_factor(tokens), *lexicon.unit_table()[sign])
    match sign:
        case "√":
            return _root(tokens)
        case "π" | "∞":
            return Constant(sign)
        case "|" | "‖" | "⌊" | "⌈":
            return _paired(tokens, *_PAIRS[sign])
        case "∠" | "△":
            letters = ""
            while tokens.next.kind == "symbol":
                letters += tokens.take().text
            return Symbol(sign + (min(letters, letters[::-1]) if sign == "∠" else letters))
        case "¬":
            return Call("not()", (_factor(tokens),))
    raise UnreadableError(f"the sign {sign!r}")


def _paired(tokens: Tokens, name: str, closing: str) -> Node:
    start, bars = tokens.at, name in ("abs", "norm")
    tokens.inside_bars += bars
    inner = _sum(tokens)
    tokens.inside_bars -= bars
    if name == "abs" and any(token.text == r"\vec" for token in tokens.all[start : tokens.at]):
        name = "norm"
    tokens.expect(closing)
    return Call(name, (inner,))


def _command(tokens: Tokens, command: str) -> Node:
    if command == r"\frac":
        over = _half(tokens)
        under = _half(tokens)
        differentials = _differential(over), _differential(under)
        if over == Symbol("d") and differentials[1] is not None:
            variable = Symbol(differentials[1][1:])
            return Call("derivative", (_depending(_term(tokens), variable), variable))
        if None not in differentials:
            return Symbol("/".join(map(str, differentials)))  # dy/dx, which nothing cancels
        return Product((over, reciprocal(under)))
    if command in lexicon.SUMS:
        return _series(tokens, lexicon.SUMS[command])
    if command in (r"\int", r"\lim"):
        return _integral(tokens) if command == r"\int" else _limit(tokens)
    if command == r"\binom":
        over = _half(tokens)
        return _binomial(over, _half(tokens))
    if command in lexicon.OVER:
        return _accented(tokens, command)
    if command in (r"\clock", r"\time"):
        hour, minute = (int(tokens.subscript()) for _ in range(2))
        return Clock(hour, minute, stated=command == r"\clock")
    raise UnreadableError(f"the command {command}")


def _binomial(over: Node, under: Node) -> Node:
    r"""A binomial coefficient; \binom{9}{2,3,4} is a multinomial one."""
    parts = under.items if isinstance(under, Sequence) else ()
    values = [rational(part) for part in parts]
    if not values or None in values or sum(value or 0 for value in values) != rational(over):
        return Call("binomial", (over, under))
    below = (reciprocal(Call("factorial", (part,))) for part in parts)
    return Product((Call("factorial", (over,)), *below))


def _accented(tokens: Tokens, command: str) -> Node:
    r"""A name with an accent, a segment \overline{AB}, or the conjugate of a number."""
    inner = _argument(tokens)
    accent = {r"\vec": "", r"\overline": r"\bar"}.get(command, command)  # a vector may be bold
    match inner:
        case Symbol("j" | "k") | Constant("i") if command in (r"\hat", r"\vec"):
            return inner  # a unit vector, which others write in bold
        case Symbol(name) | Constant(("e" | "i") as name):
            defined = [tokens.ahead(place).text for place in (0, 2, 3)] == ["(", ")", "="]
            if defined:  # \vec{r}(t) = …
                return Call(f"{name}{accent}()", _arguments(tokens))
            return Symbol(f"{name}{accent}")
        case Product(factors) if all(isinstance(factor, Symbol) for factor in factors):
            letters = "".join(factor.name for factor in factors if isinstance(factor, Symbol))
            return Symbol(f"{letters}{command}")
    if inner == ZERO:
        return inner  # the vector that is zero
    if command == r"\overline" and _I in nodes(inner):
        return substituted(inner, {_I: negative(_I)})
    raise UnreadableError(f"the command {command}")


def _root(tokens: Tokens) -> Node:
    index: Node = Number(Fraction(2))
    if tokens.mark("["):
        index = _sum(tokens)
        tokens.expect("]")
    if isinstance(index, Number) and index.value < 1:
        raise UnreadableError("a root whose index is less than one")
    exponent = Number(1 / index.value) if isinstance(index, Number) else reciprocal(index)
    return Power(_argument(tokens), exponent)


_FOLDED = ("gcd", "lcm", "max", "min")
ARITIES = {"log": range(1, 3), "mod": range(2, 3), **dict.fromkeys(_FOLDED, range(1, 50))}
"""How many arguments functions of other than one take."""


def _function(tokens: Tokens, name: str) -> Node:
    if name == "sqrt":
        return _root(tokens)
    base, power = None, None
    while sign := tokens.mark("_^"):
        if sign == "_":
            base = _half(tokens)
        else:
            power = _argument(tokens)
    arguments = _applied_to(tokens)
    if name == "cis":
        return Sum((Call("cos", arguments), Product((_I, Call("sin", arguments)))))
    if base is not None:
        arguments = (*arguments, base)
    if len(arguments) not in ARITIES.get(name, range(1, 2)):
        raise UnreadableError(f"{len(arguments)} arguments of {name}")
    if isinstance(power, Number) and power.value == -1:
        return Call(f"arc{name}", arguments)
    call: Node = Call(name, arguments)
    if name in _FOLDED and len(arguments) > 1:
        call = reduce(lambda first, other: Call(name, (first, other)), arguments)
    return call if power is None else Power(call, power)


def _applied_to(tokens: Tokens) -> tuple[Node, ...]:
    if tokens.next.kind == "mark" and tokens.next.text in ("(", "[", "⦃"):
        return _arguments(tokens)
    if tokens.mark("{"):
        return (_enclosed(tokens, "{"),)
    factors = [_factor_after_operator(tokens)]
    while _factor_follows(tokens) and tokens.next.kind != "word" and tokens.next.text != "(":
        if tokens.next.kind == "number":
            raise UnreadableError("a number that follows without an operator")
        factors.append(_factor(tokens))
    return (multiplied(factors),)


def _arguments(tokens: Tokens) -> tuple[Node, ...]:
    inner = _enclosed(tokens, tokens.take().text)
    if isinstance(inner, Sequence) and inner.opening in ("(", "[", "⦃"):
        return inner.items
    return (inner,)


_I, _INDEX = Constant("i"), Symbol("index 0")


def _series(tokens: Tokens, name: str) -> Node:
    tokens.expect("_")
    match _argument(tokens):
        case Relation((Symbol() | Constant("i") as index, Node() as low), ("=" | "≥" as sign,)):
            pass
        case _:
            raise UnreadableError("a sum over no variable")
    if sign == "=":
        tokens.expect("^")
    high = _argument(tokens) if sign == "=" else Constant("∞")
    return Call(name, (*_over_index(_term(tokens), index), low, high))


def _over_index(body: Node, index: Symbol | Constant) -> tuple[Node, Symbol]:
    """The terms of a series and its index, which has one name for all where it is i or that of x_k.

    A subscript of several letters such as that of a_{kj} is marked as one that has no value.
    """
    new: dict[Node, Node] = {}
    number = Symbol(f"index {sum(isinstance(part, Call) for part in nodes(body))}")
    for name in symbols(body):
        letter, _, subscript = name.partition("_")
        shift = subscript.removeprefix(index.name)
        if index.name in subscript:
            plain = shift != subscript and re.fullmatch(r"([+-][0-9]+)?", shift)
            new[Symbol(name)] = Symbol(
                f"{letter}_{number.name}{shift if plain else ':' + subscript}"
            )
    if isinstance(index, Symbol) and not new:
        return body, index
    return substituted(body, {index: number, **new}), number


def _integral(tokens: Tokens) -> Node:
    if not tokens.mark("_"):
        raise UnreadableError("an integral without bounds")
    low = _argument(tokens)
    tokens.expect("^")
    high = _argument(tokens)
    start, (end, width) = tokens.at, _place_of_differential(tokens)
    variable = Symbol("".join(token.text for token in tokens.all[end : end + width])[1:])
    braces = [token.text for token in tokens.all[start:end]]
    if braces.count("{") > braces.count("}"):  # \frac{dt}{t}
        filled = [Token("number", "1")] if braces[-1] == "{" else []
        tokens.all[end : end + width] = filled
        body = _signed(tokens)
    else:
        integrand = Tokens(tokens.all[start:end], tokens.level)
        body = _sum(integrand) if end > start else ONE
        if not integrand.ended:
            raise UnreadableError(f"unexpected {integrand.next.text!r}")
        tokens.at = end + width
    body, index = _bound("integral", _depending(body, variable), variable)
    return Call("integral", (body, index, low, high))


def _place_of_differential(tokens: Tokens) -> tuple[int, int]:
    """Where the dx of the integral is, and of how many tokens; integrals inside have their own."""
    integrals = 1
    for place in range(tokens.at, len(tokens.all)):
        kind, text, *_ = tokens.all[place]
        integrals += text == r"\int"
        apart = text == "d" and tokens.all[place + 1 :] and tokens.all[place + 1].kind == "symbol"
        if kind == "symbol" and (apart or (len(text) == 2 and text[0] == "d")):
            integrals -= 1
            if not integrals:
                return place, 1 + bool(apart)
    raise UnreadableError("an integral without a variable")


def _differential(node: Node) -> str | None:
    """`dx` as it is written, with its power; None for anything else."""
    match node:
        case Symbol(name) if len(name) == 2 and name[0] == "d" and name[1].isalpha():
            return name
        case Product((Symbol("d"), Symbol(name))):
            return f"d{name}"
        case Product((Power(Symbol("d"), Number(order)), Symbol(name))):
            return f"d^{order} {name}"
        case Product((Symbol("d"), Power(Symbol(name), Number(order)))):
            return f"d{name}^{order}"
    return None


_SIDES = {"": 0, "+": 1, "-": -1}


def _limit(tokens: Tokens) -> Node:
    tokens.expect("_")
    tokens.expect("{")
    variable = _base(tokens)
    tokens.expect("→")
    negated = tokens.mark("-")
    target = _base(tokens)
    if tokens.mark("/"):
        target = Product((target, reciprocal(_base(tokens))))
    side = tokens.subscript() if tokens.mark("^") else ""
    tokens.expect("}")
    if not isinstance(variable, Symbol) or side not in _SIDES:
        raise UnreadableError("a limit over no variable")
    body, index = _bound("limit", _depending(_term(tokens), variable), variable)
    target = negative(target) if negated else target
    return Call("limit", (body, index, target, Number(Fraction(_SIDES[side]))))


def _bound(name: str, body: Node, variable: Symbol) -> tuple[Node, Symbol]:
    """The body with a name for its variable that is the same whatever letter was written."""
    index = Symbol(f"{name} {sum(isinstance(part, Call) for part in nodes(body))}")
    return substituted(body, {variable: index}), index


def _depending(body: Node, variable: Symbol) -> Node:
    """The body with v_t as a function of t where t is its variable."""
    names = {Symbol(name): name.partition("_") for name in symbols(body)}
    return substituted(
        body,
        {
            symbol: Call(f"{letter}()", (Symbol(subscript),))
            for symbol, (letter, _, subscript) in names.items()
            if variable.name in re.findall(r"[a-zA-Z]+", subscript)
        },
    )


_CONDITION_WORDS = lexicon.listed("if for when where while and")
_END_OF_ROW = "\\\\"


def _environment(tokens: Tokens, *, braced: bool = False) -> Node:
    kind = tokens.take().text
    rows = _rows(tokens)
    piecewise = kind.endswith("cases") or (braced and kind == "array")
    if kind.startswith(("align", "gather", "split")) or (
        piecewise and all(len(row) == 1 for row in rows)
    ):  # equations one below the other
        lines = ([token for cell in row for token in cell.all] for row in rows)
        return _system([_whole_listing(Tokens(line, tokens.level + 1)) for line in lines])
    if piecewise:
        if any(len(row) != 2 for row in rows):
            raise UnreadableError("a piece without a condition")
        pieces = [(_whole_listing(value), _condition(condition)) for value, condition in rows]
        return Call("cases", tuple(Sequence(piece, "(", ")") for piece in pieces))
    cells = [[_whole_listing(cell) for cell in row] for row in rows]
    if len({len(row) for row in cells}) != 1:
        raise UnreadableError("a matrix with rows of different lengths")
    if kind == "array" and all(isinstance(cell, Relation) for row in cells for cell in row):
        return _system([cell for row in cells for cell in row])
    if len(cells) == len(cells[0]) == 1 and kind in ("array", "matrix"):
        return cells[0][0]
    matrix = Matrix(tuple(map(tuple, cells)))
    return Call("det", (matrix,)) if kind == "vmatrix" else matrix


def _rows(tokens: Tokens) -> list[list[Tokens]]:
    rows: list[list[list[Token]]] = [[[]]]
    depth = 1
    while depth:
        token = tokens.take()
        if not token.text:
            raise UnreadableError("an environment without an end")
        depth += (token.kind == "begin") - (token.kind == "end")
        if depth == 1 and token.text == "&":
            rows[-1].append([])
        elif depth == 1 and token.text == _END_OF_ROW:
            rows.append([[]])
        elif depth:
            rows[-1][-1].append(token)
    return [[Tokens(cell, tokens.level + 1) for cell in row] for row in rows if any(row)]


def _condition(tokens: Tokens) -> Node:
    while tokens.next.text.strip(" ,").lower() in _CONDITION_WORDS:
        tokens.take()
    words = " ".join(token.text for token in tokens.all[tokens.at :])
    try:
        return _whole_listing(tokens)
    except UnreadableError:
        return words_as_answer(words)


def _system(lines: list[Node]) -> Node:
    """Lines that hold together; one line alone is that line."""
    if not lines:
        raise UnreadableError("an environment that holds nothing")
    return lines[0] if len(lines) == 1 else Sequence(tuple(lines), joint="and")
