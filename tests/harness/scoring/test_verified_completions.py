"""Training rows from a run's verified completions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rewardkit import evaluate
from rewardkit.cli.main import app
from rewardkit.errors import RewardkitError

PROBLEMS = {"sums": ("2 + 2?", "4"), "tens": ("5 + 5?", "10")}

Reply = str | Mapping[str, Any]


def evaluated(folder: Path, replies: Mapping[str, Sequence[Reply]], **options: Any) -> Path:
    """The folder of a run of gsm8k in which the model wrote these replies to each problem."""
    folder.mkdir()
    rows = [
        {"id": name, "question": PROBLEMS[name][0], "answer": f"#### {PROBLEMS[name][1]}"}
        for name in replies
    ]
    written = [
        {"id": name, **({"completion": reply} if isinstance(reply, str) else reply)}
        for name, texts in replies.items()
        for reply in texts
    ]
    for name, lines in (("problems", rows), ("replies", written)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    most = max(map(len, replies.values()))
    if most > 1:
        options = {"num_samples": most, "temperature": 1.0, **options}
    evaluate(
        task="gsm8k",
        model=str(folder / "replies.jsonl"),
        backend="replay",
        data=str(folder / "problems.jsonl"),
        output_dir=str(folder / "run"),
        **options,
    )
    return folder / "run"


def data(*arguments: str) -> tuple[list[dict[str, Any]], str]:
    """The rows on stdout, and stderr."""
    done = CliRunner().invoke(app(), ["data", *arguments], catch_exceptions=True)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def texts(rows: Sequence[Mapping[str, Any]], column: str = "completion") -> list[str]:
    return [row[column][0]["content"] for row in rows]


FOUR: list[Reply] = [
    "Two and two.\n#### 4",
    "2 + 2 = 5\n#### 5",
    "Two  and two. \n#### 4",
    "It is four, since two pairs are four.\n#### 4",
    "Two and two!\n#### 4",
    {"completion": "Count to four.\n#### 4\nand 4 and 4", "finish_reason": "length"},
]


def test_right_completions_are_rows_each_once_with_ids_of_their_own(tmp_path: Path) -> None:
    run = evaluated(tmp_path / "a", {"sums": FOUR, "tens": ["#### 1"] * 6})
    rows, said = data("gsm8k", "--from", str(run))
    assert texts(rows) == [FOUR[0], FOUR[3], FOUR[4]]
    assert [row["id"] for row in rows] == ["sums/0", "sums/3", "sums/4"]
    (turn,) = rows[0]["prompt"]
    assert turn["role"] == "user"
    assert turn["content"].endswith("2 + 2?")
    assert rows[0]["text"] == f"{turn['content']}\n{FOUR[0]}"
    assert rows[0]["answer"] == "#### 4"
    assert said == (
        "3 right completions of 1 of 2 problems in stdout; left out 1 cut off at the token limit, "
        "1 repeated\n"
    )


def test_a_run_with_one_completion_a_problem_keeps_the_ids(tmp_path: Path) -> None:
    run = evaluated(tmp_path / "a", {"sums": ["#### 4"], "tens": ["#### 10"]})
    rows, _ = data("gsm8k", "--from", str(run))
    assert [row["id"] for row in rows] == ["sums", "tens"]


LENGTHS = ["a b c d\n#### 4", "a b\n#### 4", "a b c\n#### 4", "x y z u v w\n#### 4"]


@pytest.mark.parametrize(
    ("choose", "expected"),
    [("first", [0, 1]), ("shortest", [1, 2]), ("diverse", [0, 3])],
)
def test_the_rows_of_a_problem_are_chosen(tmp_path: Path, choose: str, expected: list[int]) -> None:
    run = evaluated(tmp_path / "a", {"sums": LENGTHS})
    rows, said = data("gsm8k", "--from", str(run), "--choose", choose, "--per-problem", "2")
    assert texts(rows) == [LENGTHS[place] for place in expected]
    assert "left out 2 over --per-problem" in said


def test_a_random_choice_follows_the_seed(tmp_path: Path) -> None:
    replies = [f"{word}\n#### 4" for word in "abcdefgh"]
    run = evaluated(tmp_path / "a", {"sums": replies})
    chosen = [
        texts(data("gsm8k", "--from", str(run), "--choose", "random", "--seed", seed)[0])
        for seed in "112"
    ]
    assert chosen[0] == chosen[1] != chosen[2]
    assert sorted(chosen[0]) == sorted(chosen[2]) == replies


THOUGHTS = "<think>2 + 2 is 4.</think>\n\n#### 4"


def test_thinking_is_kept_or_stripped(tmp_path: Path) -> None:
    apart = {"completion": "#### 10", "reasoning": "5 + 5 is 10."}
    run = evaluated(tmp_path / "a", {"sums": [THOUGHTS], "tens": [apart]})
    kept, _ = data("gsm8k", "--from", str(run))
    assert texts(kept) == [THOUGHTS, "<think>\n5 + 5 is 10.\n</think>\n\n#### 10"]
    stripped, _ = data("gsm8k", "--from", str(run), "--thinking", "strip")
    assert texts(stripped) == ["#### 4", "#### 10"]


def test_a_completion_that_is_right_only_in_its_thinking_is_no_row_without_it(
    tmp_path: Path,
) -> None:
    replies = ["<think>So\n#### 4</think>", "<think>Hm.</think>#### 4"]
    run = evaluated(tmp_path / "a", {"sums": replies}, thinking="keep")
    assert texts(data("gsm8k", "--from", str(run))[0]) == replies
    assert texts(data("gsm8k", "--from", str(run), "--thinking", "strip")[0]) == ["#### 4"]


def test_the_rows_may_reply_to_another_prompt_whose_form_they_have(tmp_path: Path) -> None:
    replies = ["2 + 2 = 4\n#### 4", "<reasoning>\n4\n</reasoning>\n<answer>\n4\n</answer>\n#### 4"]
    run = evaluated(tmp_path / "a", {"sums": replies}, prompt="long_cot")
    rows, _ = data("gsm8k", "--from", str(run))
    assert texts(rows) == replies
    assert len(rows[0]["prompt"]) > 1, "the example of long_cot"
    short, _ = data("gsm8k", "--from", str(run), "--prompt", "gsm8k")
    assert texts(short) == replies
    assert len(short[0]["prompt"]) == 1
    xml, _ = data("gsm8k", "--from", str(run), "--prompt", "xml")
    assert texts(xml) == replies[1:], "judged again, in the form that the prompt asks for"


def test_the_prompt_is_that_of_the_run(tmp_path: Path) -> None:
    prompt = tmp_path / "short.jinja"
    prompt.write_text("{{ question }} =>")
    options = {"prompt": str(prompt), "system_prompt": "Be brief."}
    run = evaluated(tmp_path / "a", {"sums": ["#### 4"]}, **options)
    (row,), _ = data("gsm8k", "--from", str(run))
    assert row["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "2 + 2? =>"},
    ]
    prompt.write_text("{{ question }} ->")
    with pytest.raises(RewardkitError, match="has changed since the run sent it"):
        data("gsm8k", "--from", str(run))
    assert len(data("gsm8k", "--from", str(run), "--prompt", str(prompt))[0]) == 1


def test_pairs_are_right_and_wrong_replies_of_like_length(tmp_path: Path) -> None:
    right = [f"{'a ' * count}\n#### 4" for count in (1, 10, 30)]
    wrong = [f"{'b ' * count}\n#### 5" for count in (28, 2, 90, 12)]
    run = evaluated(tmp_path / "a", {"sums": right + wrong, "tens": ["#### 1"] * 7})
    rows, said = data("gsm8k", "--from", str(run), "--pairs")
    assert all(list(row) == ["prompt", "chosen", "rejected"] for row in rows)
    assert texts(rows, "chosen") == right
    assert texts(rows, "rejected") == [wrong[1], wrong[3], wrong[0]]
    assert said == (
        "3 pairs of 1 of 2 problems in stdout; median characters: 27 of right ones, 31 of wrong "
        "ones\n"
    )
    few, _ = data("gsm8k", "--from", str(run), "--pairs", "--per-problem", "1")
    assert texts(few, "chosen") == right[:1]


def test_a_scored_file_has_rows_in_the_tasks_prompt(tmp_path: Path) -> None:
    file, out = tmp_path / "file.jsonl", tmp_path / "scored"
    row = {"question": "2 + 2?", "answer": "#### 4", "completion": "#### 4"}
    file.write_text(json.dumps(row))
    done = CliRunner().invoke(app(), ["score", str(file), "--task", "gsm8k", "-o", str(out)])
    assert done.exit_code == 0, done.output
    (made,), _ = data("gsm8k", "--from", str(out))
    assert made["prompt"][0]["content"].endswith("2 + 2?")
    assert texts([made]) == ["#### 4"]


@pytest.fixture(scope="module")
def right_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evaluated(tmp_path_factory.mktemp("right") / "a", {"sums": ["#### 4"]})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pairs"], "no problem of the run has both a right and a wrong completion"),
        (["--choose", "shortes"], "no order named 'shortes'; did you mean 'shortest'"),
        (["--thinking", "drop"], "no choice of --thinking named 'drop'"),
        (["--count", "2"], "--count has no effect on the completions of a run; leave it out"),
        (["--solutions"], "--solutions has no effect on the completions of a run"),
        (["--set", "a=1"], "--set has no effect on the completions of a run"),
        (["--prompt", "motion"], "in the style 'motion', which task 'gsm8k' doesn't read"),
    ],
)
def test_what_can_not_be_written_is_named(right_run: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(RewardkitError, match=said):
        data("gsm8k", "--from", str(right_run), *arguments)


def test_a_run_without_such_completions_is_named(tmp_path: Path) -> None:
    run = evaluated(tmp_path / "a", {"sums": ["#### 5"]})
    with pytest.raises(RewardkitError, match="no completion of the run is right"):
        data("gsm8k", "--from", str(run))
    with pytest.raises(RewardkitError, match="no task in .* named 'math500'; .*gsm8k"):
        data("math500", "--from", str(run))
    with pytest.raises(RewardkitError, match="isn't a folder"):
        data("gsm8k", "--from", str(tmp_path / "b"))
    with pytest.raises(RewardkitError, match="--choose needs --from RUN"):
        data("gsm8k", "--choose", "random")


def test_a_problem_that_its_id_decides_is_refused(tmp_path: Path) -> None:
    definition = tmp_path / "letters.toml"
    definition.write_text(
        'name = "letters"\n[data]\nfile = "rows.jsonl"\n[columns]\nquestion = "q"\n'
        'reference = "a"\n[choices]\ncolumns = ["x", "y", "z"]\nanswer = "first"\nshuffle = true\n'
        '[verifier]\nname = "choice"\n'
    )
    (tmp_path / "rows.jsonl").write_text(
        "".join(
            json.dumps({"id": f"{at}", "q": f"{at}?", "x": "1", "y": "2", "z": "3"}) + "\n"
            for at in range(9)
        )
    )
    (tmp_path / "replies.jsonl").write_text(
        "".join(
            json.dumps({"id": f"{at}", "completion": f"<answer>{letter}</answer>"}) + "\n"
            for at in range(9)
            for letter in "ABC"
        )
    )
    evaluate(
        task=str(definition),
        model=str(tmp_path / "replies.jsonl"),
        backend="replay",
        output_dir=str(tmp_path / "run"),
        num_samples=3,
        temperature=1.0,
    )
    with pytest.raises(RewardkitError, match="would read another problem from the row of"):
        data("letters", "--from", str(tmp_path / "run"))
