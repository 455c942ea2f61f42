from rewardkit.harness.tasks.game24 import game24_solution, solvable, solve
from rewardkit.records import Sample
from rewardkit.verifiers.game24 import game24


def test_1362_quadruples_are_solvable_and_every_worked_reply_is_perfect() -> None:
    assert len(solvable()) == 1362
    for numbers in solvable():
        reply = game24_solution(numbers)
        verdict = game24(str(reply), Sample(" ".join(map(str, numbers))))
        assert verdict.score == 1.0, reply
        assert set(verdict.parts.values()) == {1.0}


def test_a_solution_may_need_fractions() -> None:
    solution = solve((3, 3, 8, 8))
    assert solution is not None
    assert solution.expression == "8 / (3 - (8 / 3))"
    assert solution.steps[1] == "3 - (8/3) = 1/3 (left: 1/3 8)"


def test_numbers_without_a_solution_have_no_reply() -> None:
    assert solve((1, 1, 1, 1)) is None
    assert game24_solution((1, 1, 1, 1)) is None
