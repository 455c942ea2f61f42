"""The plugin for reasoning-gym: every generator, and the scorers that need watching."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit
from rewardkit.errors import UsageError
from rewardkit.records import Sample, Verdict
from rewardkit.registry import Registry

pytestmark = pytest.mark.slow

MANY_PLACES = {"max_num_decimal_places": 9}
SOURCE = Path(__file__).parents[2] / "plugins" / "rewardkit-reasoning-gym"


@pytest.fixture(scope="module")
def gym() -> Iterator[SimpleNamespace]:
    """The plugin's modules, importable here and in worker processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SOURCE)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE), *filter(None, sys.path)]))
        import rewardkit_reasoning_gym as plugin
        from rewardkit_reasoning_gym import generators, names, problems

        yield SimpleNamespace(
            registry=Registry(plugin), names=names, problems=problems, generators=generators
        )


def loaded(gym: SimpleNamespace, name: str, **parameters: object) -> list[Sample]:
    task = gym.registry.task(f"reasoning_gym_{name}", **parameters)
    samples: list[Sample] = task.load(data=None, split=None, seed=0)
    return samples


def judged(gym: SimpleNamespace, name: str, answer: str, metadata: Any, oracle: str) -> Verdict:
    scorer = gym.registry.verifier(f"reasoning_gym_{name}")
    columns = {"answer": oracle, "metadata": metadata}
    verdict: Verdict = scorer(f"<answer>{answer}</answer>", Sample("", columns=columns))
    return verdict


def test_all_generators_are_named(gym: SimpleNamespace) -> None:
    named = {*gym.names.GENERATORS, gym.names.COMPOSITE}
    assert named == set(gym.generators.library().DATASETS)
    assert len(named) == 106


def test_each_generator_judges_its_own_answers_right_and_others_wrong(
    gym: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gym.problems, "IN_CHILD", frozenset())  # a process each would take longer
    failures = []
    for name in (*gym.names.GENERATORS, gym.names.COMPOSITE):
        task = gym.registry.task(f"reasoning_gym_{name}", problems=1)
        for sample in task.load(data=None, split=None, seed=0):
            failures += [
                f"{name}/{sample.id}: its own answer isn't right ({reading})"
                for reading in (None, "r1_zero")
                if not task.verifier(reading)(task.perfect(sample), sample).correct
            ]
            try:
                verdict = task.verifier()("<answer>surely not this</answer>", sample)
            except ValueError:  # in a worker that is `crashed`
                continue
            if verdict.correct is not False:
                failures.append(f"{name}/{sample.id}: garbage is {verdict}")
    assert failures == []


def test_problems_do_not_depend_on_the_hash_seed(gym: SimpleNamespace) -> None:
    slow = {"ab", "futoshiki", "sokoban"}
    generators = sorted(set(gym.names.GENERATORS) - gym.problems.IN_CHILD - slow)
    script = (
        "import json, sys\n"
        "from rewardkit_reasoning_gym import tasks\n"
        "print(json.dumps({name: [sample.columns for sample in getattr(tasks, name)(problems=1)"
        ".load(data=None, split=None, seed=0)] for name in json.load(sys.stdin)}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        input=json.dumps(generators),
        capture_output=True,
        text=True,
        check=True,
    )
    here = {name: [dict(loaded(gym, name, problems=1)[0].columns)] for name in generators}
    assert json.loads(done.stdout) == here


def test_a_child_process_gives_the_same_problems_in_every_process(gym: SimpleNamespace) -> None:
    first, again = (loaded(gym, "ransom_note", problems=3) for _ in range(2))
    assert first == again
    assert len({sample.question for sample in first}) == 3


def test_splits_and_seeds_share_no_problem(gym: SimpleNamespace) -> None:
    task = gym.registry.task("reasoning_gym_chain_sum", problems=20)
    questions = [
        {sample.question for sample in task.load(data=None, split=split, seed=seed)}
        for split, seed in (("test", 0), ("train", 0), ("test", 1))
    ]
    assert len(set.union(*questions)) == 60


def test_a_seed_of_its_own_gives_the_problems_of_reasoning_gym(gym: SimpleNamespace) -> None:
    library = gym.generators.library()
    entries = library.create_dataset("gcd", seed=42, size=3)
    assert [sample.question for sample in loaded(gym, "gcd", seed=42, problems=3)] == [
        entry["question"] for entry in entries
    ]


def test_difficulty_is_a_level_and_fields_of_the_configuration(gym: SimpleNamespace) -> None:
    easy, hard = (
        json.loads(str(loaded(gym, "chain_sum", problems=1, **settings)[0].columns["metadata"]))
        for settings in ({"level": 0}, {"level": 4, "min_terms": 9, "max_terms": 9})
    )
    assert len(easy["expression"]) < len(hard["expression"])
    assert hard["num_terms"] == 9


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("chain_sum", {"levle": 1}, "did you mean 'level'"),
        ("chain_sum", {"level": "high"}, "level is 'high'; it must be a whole number from 0"),
        ("chain_sum", {"problems": 0}, "problems is 0; it must be a whole number from 1"),
        ("chain_sum", {"min_terms": 9, "max_terms": 2}, "max_terms must be >= min_terms"),
        ("acre", {"level": 1}, "no parameter of task 'reasoning_gym_acre' named 'level'"),
        (
            "composite",
            {"datasets": ["maze", "labyrinth"]},
            "'labyrinth' isn't the name of a generator",
        ),
    ],
)
def test_a_wrong_parameter_is_named(
    gym: SimpleNamespace, name: str, parameters: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        loaded(gym, name, **parameters)


def test_a_mix_names_the_generator_of_each_row(gym: SimpleNamespace) -> None:
    mix = ["gcd", {"name": "decimal_arithmetic", "config": MANY_PLACES}]
    samples = loaded(gym, "composite", problems=8, datasets=mix)
    by_dataset = {sample.columns["dataset"]: sample.columns["settings"] for sample in samples}
    assert by_dataset == {"gcd": "{}", "decimal_arithmetic": json.dumps(MANY_PLACES)}


def test_a_row_reads_back_as_the_same_sample(gym: SimpleNamespace) -> None:
    task = gym.registry.task("reasoning_gym_graph_color", problems=1)
    sample = loaded(gym, "graph_color", problems=1)[0]
    assert task.sample(json.loads(json.dumps(sample.columns)), 0) == sample
    with pytest.raises(rewardkit.RewardkitError, match="row 3 needs the columns"):
        task.sample({"question": "?"}, 2)


@pytest.mark.parametrize(
    ("name", "answer", "metadata", "oracle"),
    [
        ("coin_flip", "0", {}, "0.1640625"),
        ("coin_flip", "0.1", {}, "0.1640625"),
        ("complex_arithmetic", "nan", {"result": [-1.0, -8.0]}, "-1.0 - 8.0i"),
        ("game_of_life_halting", "True", {}, "False"),
        ("puzzle24", "1 + 5 + 9 + 9", {"numbers": [6, 5, 6, 1]}, "(6*5 - 6)/1"),
        ("spell_backward", "citoreteh and more", {}, "citoreteh"),
        ("countdown", "[98][0]", {"numbers": [44, 19, 35], "target": 98}, "44 + 19 + 35"),
        ("countdown", "__import__('os').getpid()", {"numbers": [1], "target": 1}, "1"),
        ("polynomial_multiplication", "x.__class__", {}, "x"),
        ("spiral_matrix", "__import__('sys')._getframe(1).f_locals['entry']", {}, "1 2"),
        ("rush_hour", "A-9", {"board_config": "o" * 12 + "AA" + "o" * 22}, ""),
    ],
)
def test_what_a_scorer_lets_pass_is_wrong(
    gym: SimpleNamespace, name: str, answer: str, metadata: object, oracle: str
) -> None:
    assert judged(gym, name, answer, metadata, oracle).correct is False


@pytest.mark.parametrize(
    ("name", "answer", "metadata", "oracle"),
    [
        ("coin_flip", "21/128", {}, "0.1640625"),
        ("game_of_life_halting", "false", {}, "False"),
        ("puzzle24", "(6*5-6)*1", {"numbers": [6, 5, 6, 1]}, "(6*5 - 6)/1"),
        ("spell_backward", "CITORETEH", {}, "citoreteh"),
        ("countdown", "35 + 44 + 19", {"numbers": [44, 19, 35], "target": 98}, "44 + 19 + 35"),
        ("rush_hour", "A+4", {"board_config": "o" * 12 + "AA" + "o" * 22}, ""),
        (
            "simple_integration",
            "x*asin(3*x)/9 + 2.5e0*x**2 + C",
            {"variable": "x", "integrand": "asin(3*x)/9 + x/(3*sqrt(1 - 9*x**2)) + 5*x"},
            "",
        ),
    ],
)
def test_a_right_answer_in_another_form_is_right(
    gym: SimpleNamespace, name: str, answer: str, metadata: object, oracle: str
) -> None:
    assert judged(gym, name, answer, metadata, oracle).correct is True


def test_partial_credit_is_the_score_of_a_wrong_answer(gym: SimpleNamespace) -> None:
    verdict = judged(gym, "spell_backward", "citoXXXXX", {}, "citoreteh")
    assert verdict.correct is False
    assert verdict.score is not None
    assert 0 < verdict.score < 1


def test_a_level_of_the_row_decides_what_its_scorer_reads(gym: SimpleNamespace) -> None:
    scorer = gym.registry.verifier("reasoning_gym_decimal_arithmetic")
    row = {"answer": "1.5", "metadata": {}, "settings": '{"max_num_decimal_places": 1}'}
    text = "<answer>1.58</answer>"
    assert scorer(text, Sample("", columns=row)).correct is True
    assert scorer(text, Sample("", columns={**row, "settings": ""})).correct is False


def test_the_limits_of_rewardkit_hold_for_its_scorers(gym: SimpleNamespace) -> None:
    rows: list[dict[str, Any]] = [
        {"dataset": "gcd", "answer": "4", "metadata": {}},
        {"dataset": "prime_factorization", "answer": "2 × 3", "metadata": {}},
        {"answer": "1", "metadata": {"source_dataset": "countdown", "numbers": [9], "target": 1}},
        {"dataset": "labyrinth", "answer": "1", "metadata": {}},
        {"dataset": "puzzle24", "answer": "1"},
        {"dataset": "gcd", "answer": "4", "metadata": {}},
    ]
    answers = ["4", "two times three", "9**9**9**9**9", "1", "8*3*1*1", "no tags"]
    texts = [f"<answer>{answer}</answer>" for answer in answers[:-1]] + answers[-1:]
    scorer = gym.registry.verifier("reasoning_gym")
    references = [str(row["answer"]) for row in rows]
    verdicts = rewardkit.verify_batch(scorer, texts, references, columns=rows, workers=1)
    assert [verdict.failure for verdict in verdicts] == [
        None,
        "crashed",
        "timeout",
        "error",
        "error",
        "no_answer",
    ]
    assert "reasoning-gym doesn't have" in verdicts[3].message


def test_a_reference_alone_is_enough_for_most_scorers(gym: SimpleNamespace) -> None:
    scorer = gym.registry.verifier("reasoning_gym_gcd")
    assert scorer("<answer>4</answer>", Sample("4")).correct is True
    entry = json.dumps({"answer": "4", "metadata": {"source_dataset": "gcd"}})
    by_row = gym.registry.verifier("reasoning_gym")
    assert by_row("<answer>4</answer>", Sample(entry)).correct is True


def test_importing_the_plugin_imports_no_heavy_library() -> None:
    script = (
        "import sys, rewardkit_reasoning_gym as plugin\n"
        "plugin.rewardkit_tasks(), plugin.rewardkit_verifiers()\n"
        "from rewardkit_reasoning_gym import tasks; tasks.maze.about, tasks.maze()\n"
        "print({'reasoning_gym', 'numpy', 'sympy'} & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
