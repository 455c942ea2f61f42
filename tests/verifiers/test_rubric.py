import pytest

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.rubric import Rubric

SAMPLE = Sample("7")


class Says(Bounded):
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.prepared = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return self.verdict

    def prepare(self) -> None:
        self.prepared = True


def rubric(**scores: float) -> Rubric:
    parts = {name: Says(Verdict.scored(score, answer=name)) for name, score in scores.items()}
    return Rubric(parts, {"a": 3.0, "b": 1.0}, decides="a")


@pytest.mark.parametrize(
    ("a", "b", "score"), [(1.0, 1.0, 1.0), (1.0, 0.0, 0.75), (0.5, 0.2, 0.425), (0.0, 0.0, 0.0)]
)
def test_the_score_is_the_weighted_mean_and_the_reward_the_weighted_sum(
    a: float, b: float, score: float
) -> None:
    judge = rubric(a=a, b=b)
    verdict = judge("text", SAMPLE)
    assert verdict.score == pytest.approx(score, abs=1e-9)
    assert judge.reward(verdict) == pytest.approx(4 * score, abs=1e-9)
    assert verdict.parts == {"a": a, "b": b}
    assert judge.quick("text", SAMPLE) == verdict


def test_the_deciding_part_gives_correctness_answer_and_failure() -> None:
    assert rubric(a=1.0, b=0.0)("text", SAMPLE).correct
    verdict = rubric(a=0.0, b=1.0)("text", SAMPLE)
    assert (verdict.correct, verdict.failure, verdict.answer) == (False, Failure.WRONG, "a")


def test_one_unjudged_part_leaves_all_unjudged() -> None:
    parts = {"a": Says(Verdict.right()), "b": Says(Verdict.unjudged("unreadable"))}
    judge = Rubric(parts, {"a": 1.0, "b": 1.0}, decides="a")
    verdict = judge("text", SAMPLE)
    assert verdict.correct is None
    assert verdict.message == "b: unreadable"
    assert judge.reward(verdict) is None


def test_a_plain_function_is_a_part_that_a_worker_judges() -> None:
    judge = Rubric({"a": lambda text, sample: 0.5}, {"a": 2.0}, decides="a")
    assert judge("text", SAMPLE).score == 0.5
    assert judge.quick("text", SAMPLE) is None
    judge.prepare()


def test_preparing_prepares_the_parts() -> None:
    judge = rubric(a=1.0, b=1.0)
    judge.prepare()
    assert all(isinstance(part, Says) and part.prepared for part in judge.parts.values())


@pytest.mark.parametrize(
    ("weights", "decides", "message"),
    [
        ({"b": 1.0}, "a", "but weights"),
        ({"a": 1.0}, "b", "decides names 'b'"),
        ({"a": 0.0}, "a", "nor all zero"),
        ({"a": -1.0}, "a", "must not be negative"),
    ],
)
def test_a_rubric_that_does_not_add_up_is_refused(
    weights: dict[str, float], decides: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Rubric({"a": Says(Verdict.right())}, weights, decides=decides)


def test_a_verdict_that_a_deadline_cut_short_earns_nothing() -> None:
    judge = rubric(a=1.0, b=1.0)
    assert judge.reward(Verdict.wrong(Failure.TIMEOUT)) == 0.0


def gated(a: float, b: float, c: float, **settings: object) -> tuple[Rubric, Verdict]:
    parts = {
        name: Says(Verdict.scored(score, answer=name, message=f"not {name}"))
        for name, score in {"a": a, "b": b, "c": c}.items()
    }
    judge = Rubric(parts, {"a": 3.0, "b": 1.0, "c": 1.0}, **settings)  # type: ignore[arg-type]
    verdict = judge("text", SAMPLE)
    assert judge.quick("text", SAMPLE) == verdict
    assert verdict.parts == {"a": a, "b": b, "c": c}
    return judge, verdict


@pytest.mark.parametrize(
    ("b", "c", "correct", "reward"),
    [(1.0, 1.0, True, 5.0), (1.0, 0.5, True, 4.5), (0.5, 1.0, False, 0.5), (0.0, 1.0, False, 0.0)],
)
def test_only_the_gate_pays_until_it_holds(
    b: float, c: float, correct: bool, reward: float
) -> None:
    judge, verdict = gated(1.0, b, c, decides="a", gate=["b"])
    assert verdict.correct is correct
    assert verdict.answer == "a"
    assert (verdict.message == "not b") is not correct
    assert judge.reward(verdict) == pytest.approx(reward, abs=1e-12)
    assert verdict.score == pytest.approx(reward / 5, abs=1e-12)


def test_a_part_holds_from_its_threshold_on() -> None:
    for b, opened in ((0.79, False), (0.8, True)):
        judge, verdict = gated(1.0, b, 1.0, decides="a", gate=["b"], thresholds={"b": 0.8})
        assert verdict.correct is opened
        assert judge.reward(verdict) == pytest.approx(4 + b if opened else b, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "both", "one"),
    [
        ((1.0, 1.0, 0.0), True, True),
        ((1.0, 0.5, 1.0), False, True),
        ((0.0, 1.0, 0.0), False, True),
        ((0.9, 0.0, 1.0), False, False),
    ],
)
def test_all_and_any_decide_together(
    scores: tuple[float, float, float], both: bool, one: bool
) -> None:
    judge, verdict = gated(*scores, all=["a", "b"])
    assert verdict.correct is both
    assert judge.reward(verdict) == pytest.approx(3 * scores[0] + scores[1] + scores[2], abs=1e-12)
    _, verdict = gated(*scores, any=["a", "b"])
    assert verdict.correct is one
    assert (verdict.failure is None) is one


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of decides, all and any"),
        ({"decides": "a", "all": ["b"]}, "one of decides, all and any"),
        ({"decides": "z"}, "decides names 'z'"),
        ({"decides": "a", "gate": ["z"]}, "gate lists {'z'}"),
        ({"decides": "a", "gate": "ab"}, "gate lists {'ab'}"),
        ({"any": ["z"]}, "any lists"),
        ({"decides": "a", "thresholds": {"b": 1.5}}, "thresholds are more than 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gated(1.0, 1.0, 1.0, **settings)


def test_a_rubric_without_references_needs_none() -> None:
    part = Says(Verdict.right())
    judge = Rubric({"a": part}, {"a": 1.0}, "a")
    assert judge.needs_reference
    part.needs_reference = False
    assert not judge.needs_reference
