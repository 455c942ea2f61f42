from decimal import Decimal

import pytest

from rewardkit.verifiers.reading import after_marker, answer_block, boxes, last_number, numbers


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("<answer>1</answer>", "1"),
        ("<ANSWER> 1\n2 </Answer>", " 1\n2 "),
        ("<answer>1</answer> <answer>2</answer>", "2"),
        ("<answer>1</answer> <answer>2", "1"),
        ("<answer><answer>1</answer>", "1"),
        ("</answer>", None),
        ("<answer>", None),
        ("", None),
    ],
)
def test_the_last_whole_answer_block_is_read(text: str, block: str | None) -> None:
    assert answer_block(text) == block


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("\\boxed{1}", ["1"]),
        ("\\boxed{\\frac{1}{2}} and \\fbox{2}", ["\\frac{1}{2}", "2"]),
        ("\\boxed 5.", ["5."]),
        ("\\boxed{\\boxed{1}}", ["1"]),
        ("\\boxed{\\{1\\}}", ["\\{1\\}"]),
        ("\\boxed{1", []),
        ("\\boxed{1 \\boxed{2}", ["2"]),
        ("\\boxed{}", [""]),
        ("1", []),
    ],
)
def test_boxes_are_read_with_their_braces_balanced(text: str, contents: list[str]) -> None:
    assert boxes(text) == contents


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("#### 72", "72"),
        ("#### 1\n#### 72 \nbye", "72"),
        ("####\n72", "72"),
        ("####", ""),
        ("72", None),
    ],
)
def test_the_line_after_the_last_marker_is_read(text: str, rest: str | None) -> None:
    assert after_marker(text, "####") == rest


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234 and $5.50", ["1234", "5.50"]),
        ("-3 to 5-2", ["-3", "5", "2"]),
        ("-$5 $-6", ["-5", "-6"]),
        ("50% 7.2e1 1e99999999999999999999", ["0.50", "72", None]),
        ("none", []),
    ],
)
def test_numbers_have_exact_values(text: str, values: list[str | None]) -> None:
    read = [value for _, value in numbers(text)]
    assert read == [Decimal(value) for value in values if value is not None]


def test_the_last_number_is_as_written_and_by_value() -> None:
    assert last_number("from 1 to $1,000.") == ("$1,000", Decimal(1000))
    assert last_number("none") is None
