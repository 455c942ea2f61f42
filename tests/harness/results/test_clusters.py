"""Intervals and tests over clusters of problems, from the formula to the page."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, variance

import pytest

from rewardkit import compare, evaluate
from rewardkit.errors import DataError
from rewardkit.harness.results.metric import (
    AMOUNTS,
    SHARES,
    cluster_values,
    clustered_interval,
    difference,
    paired_variance,
)
from rewardkit.harness.results.summary import summarise
from tests.support.commands import rewardkit
from tests.support.runs import row


def clustered_error(values: list[float], clusters: list[int]) -> float:
    """Equation 4 of Miller 2024, as it is printed: the variance over n, and the cross terms."""
    count, middle = len(values), fmean(values)
    squares = sum((one - middle) ** 2 for one in values) / count
    cross = sum(
        (values[i] - middle) * (values[j] - middle)
        for i in range(count)
        for j in range(count)
        if i != j and clusters[i] == clusters[j]
    )
    return math.sqrt(squares / count + cross / count**2)


@pytest.mark.parametrize("seed", range(5))
def test_the_standard_error_is_the_published_one(seed: int) -> None:
    draw = random.Random(seed)
    clusters = [draw.randrange(12) for _ in range(60)]
    values = [draw.random() for _ in clusters]
    trials = cluster_values(values, clusters)
    assert fmean(trials) == pytest.approx(fmean(values))
    spread = variance(trials) * (len(trials) - 1) / len(trials)
    assert math.sqrt(spread / len(trials)) == pytest.approx(clustered_error(values, clusters))


def drawn(draw: random.Random, easier: float = 0.0) -> tuple[list[int], list[list[float]]]:
    """40 passages of 1 to 10 questions that are about as hard as their passage."""
    clusters, groups = [], []
    for passage in range(40):
        ease = min(1.0, draw.betavariate(0.8, 0.8) + easier)
        for _ in range(draw.randint(1, 10)):
            clusters.append(passage)
            groups.append([float(draw.random() < ease)])
    return clusters, groups


def test_clustered_intervals_cover_where_others_are_too_narrow() -> None:
    draw, covered, naive = random.Random(1), 0, 0
    for _ in range(500):
        clusters, groups = drawn(draw)
        low, high = clustered_interval(groups, clusters)
        covered += low <= 0.5 <= high
        low, high = clustered_interval(groups)
        naive += low <= 0.5 <= high
    assert 0.925 <= covered / 500 <= 0.98
    assert naive / 500 < 0.85


@pytest.mark.parametrize("scale", [SHARES, AMOUNTS], ids=["shares", "amounts"])
def test_differences_of_clusters_cover_where_others_are_too_narrow(scale: object) -> None:
    """A run that is as good on the whole finds other passages hard."""
    assert scale in (SHARES, AMOUNTS)
    own = SHARES if scale is SHARES else AMOUNTS
    draw, covered, naive = random.Random(2), 0, 0
    for _ in range(300):
        clusters, before = drawn(draw)
        eases = [draw.betavariate(0.8, 0.8) for _ in range(40)]
        after = [[float(draw.random() < eases[cluster])] for cluster in clusters]
        low, high = own.paired_interval(before, after, clusters)
        covered += low <= 0 <= high
        low, high = own.paired_interval(before, after, None)
        naive += low <= 0 <= high
    assert 0.92 <= covered / 300 <= 0.985
    assert naive / 300 < 0.85


def test_problems_that_are_their_own_clusters_change_nothing() -> None:
    draw = random.Random(3)
    before = [[float(draw.random() < 0.6)] for _ in range(80)]
    after = [[float(draw.random() < 0.7)] for _ in range(80)]
    alone = list(range(80))
    assert clustered_interval(before, alone) == pytest.approx(clustered_interval(before))
    one, other = (difference(before, after, SHARES, own) for own in (None, alone))
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert (one.test, one.p_value) == (other.test, other.p_value)
    assert paired_variance(before, after, SHARES, alone) == pytest.approx(
        paired_variance(before, after, SHARES)
    )


def test_the_test_exchanges_whole_clusters() -> None:
    """Three passages of 20 questions that all got better prove little: 2 of 8 exchanges."""
    clusters = [number // 20 for number in range(60)]
    before, after = [[0.0]] * 60, [[1.0]] * 60
    assert difference(before, after, SHARES, clusters).p_value == pytest.approx(2 / 8)
    assert difference(before, after, SHARES).p_value < 1e-10


def test_all_right_in_three_clusters_is_less_sure_than_in_sixty_problems() -> None:
    few, _ = clustered_interval([[1.0]] * 60, [number // 20 for number in range(60)])
    many, _ = clustered_interval([[1.0]] * 60)
    assert few < 0.5 < 0.9 < many


ROWS = [
    {
        "id": f"q{n}",
        "question": f"{n}?",
        "reference": "yes",
        "passage": f"p{n // 8}",
        "half": "left" if n < 24 else "right",
    }
    for n in range(48)
]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers = {
        "first": ["yes" if n // 8 in (0, 2, 4) else "no" for n in range(48)],
        "second": ["yes" if n // 8 < 5 else "no" for n in range(48)],
    }
    write("data", ROWS)
    for name, replies in answers.items():
        completed = [{**one, "completion": text} for one, text in zip(ROWS, replies, strict=True)]
        write(name, [*completed, *({**one, "index": 1} for one in completed)])


def write(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))


def run(command: str) -> str:
    ended = rewardkit(*command.split())
    assert ended.status == 0, ended.err
    return ended.out


EVAL = "eval --data data.jsonl --verifier exact --reference-field reference --backend replay -q"


def accuracy(folder: str) -> dict[str, float]:
    (task,) = json.loads(Path(folder, "summary.json").read_text())["tasks"].values()
    metric: dict[str, float] = task["metrics"]["accuracy"]
    return metric


@pytest.mark.slow
def test_every_route_clusters_and_reports_remember() -> None:
    run(f"{EVAL} --model first.jsonl -o plain -n 2 --temperature 1")
    out = run(f"{EVAL} --model first.jsonl -o eval -n 2 --temperature 1 --cluster passage")
    assert "in 6 clusters by passage" in " ".join(out.split())
    run("score first.jsonl --verifier exact -q -o score --cluster passage")
    run("score plain -q -o again --cluster passage")
    run("score eval -q -o remembered")
    widths = {
        name: accuracy(name)["high"] - accuracy(name)["low"]
        for name in ("plain", "eval", "score", "again", "remembered")
    }
    assert widths["plain"] < 0.6 * widths["eval"]
    assert len({round(widths[name], 12) for name in widths.keys() - {"plain"}}) == 1
    for number in (1, 2, 3):
        run(
            f"{EVAL} --model first.jsonl -o parts -n 2 --temperature 1 --cluster passage "
            f"--shard {number}/3"
        )
    run("report parts -o page.html")
    assert accuracy("parts") == accuracy("eval")
    again = evaluate(
        (),
        "first.jsonl",
        backend="replay",
        data="data.jsonl",
        verifier="exact",
        reference_field="reference",
        num_samples=2,
        temperature=1.0,
        cluster="half",
        output_dir="plain",
    )
    (task,) = again.tasks.values()
    assert (task.cluster, task.clusters) == ("half", 2)
    page = Path("eval/report.html").read_text()
    assert '"cluster": "passage"' in page or '"cluster":"passage"' in page


@pytest.mark.slow
def test_comparisons_use_the_clusters_of_the_runs() -> None:
    for name in ("first", "second"):
        run(f"{EVAL} --model {name}.jsonl -o {name} -n 2 --temperature 1")
        run(f"{EVAL} --model {name}.jsonl -o {name}-c -n 2 --temperature 1 --cluster passage")
    (plain,), (given,), (recorded,) = (
        compare("first", "second"),
        compare("first", "second", cluster="passage"),
        compare("first-c", "second"),
    )
    assert plain.clusters is None
    assert given.clusters == recorded.clusters == 6
    assert given.difference == recorded.difference
    assert given.difference.test == "paired permutation of clusters"
    assert plain.difference.p_value < 0.05 < given.difference.p_value
    assert given.power.detectable_difference > plain.power.detectable_difference
    assert "6 clusters of problems" in run("compare first second --cluster passage")
    (ignored,) = compare("first-c", "second-c", cluster="none")
    assert (ignored.clusters, ignored.difference) == (None, plain.difference)
    assert "clusters" not in run("compare first-c second-c --cluster none")
    run("score first-c -q -o ignored --cluster none")
    assert accuracy("ignored") == accuracy("first")
    run(f"{EVAL} --model first.jsonl -o none -n 2 --temperature 1 --cluster none")
    assert accuracy("none") == accuracy("first")
    one, other = (
        json.loads(run(f"compare first --detect 0.1 --json {more}"))[0]["power"]["needed_problems"]
        for more in ("", "--cluster passage")
    )
    assert other > 2 * one


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        f"{EVAL} --model first.jsonl -o run -n 2 --temperature 1 --cluster pasage",
        "score first.jsonl --verifier exact -q --cluster pasage",
        "score first -q --cluster pasage",
        "compare first other --cluster pasage",
    ],
)
def test_a_column_that_is_missing_is_named_with_those_there_are(command: str) -> None:
    run(f"{EVAL} --model first.jsonl -o first -n 2 --temperature 1")
    shutil.copytree("first", "other")
    ended = rewardkit(*command.split())
    assert ended.status != 0
    assert "'pasage'" in ended.err
    assert "passage" in ended.err
    assert "half" in ended.err


def test_a_problem_is_in_one_cluster() -> None:
    rows = [row("a", index=i, columns={"passage": f"p{i}"}) for i in range(2)]
    with pytest.raises(DataError, match="several values in 'passage'"):
        summarise(rows, cluster="passage")


def test_a_cluster_may_be_named_by_a_list() -> None:
    rows = [
        row(f"p{n}", index=i, correct=bool(n % 3), columns={"topics": ["sets", str(n // 4)]})
        for n in range(8)
        for i in range(2)
    ]
    listed = summarise(rows, cluster="topics")
    named = [replace(one, columns={"topics": str(one.columns["topics"])}) for one in rows]
    assert listed.clusters == 2
    assert listed.metrics == summarise(named, cluster="topics").metrics
