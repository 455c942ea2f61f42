"""`--rescue judge` and `--confirm judge`: what is asked, what may change, what a run records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rewardkit.endpoint import client
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring import jobs
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import VerifierChoice, plan_scoring
from rewardkit.judging import close_pools
from rewardkit.verifiers.judge.verifier import UNRELATED
from tests.support.commands import rewardkit, run_command
from tests.support.judge_server import JudgeServer, judging_server
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

SAME = {("18", "thrice six"), ("7", "half of fourteen")}
REPLIES = [
    ("18", r"\boxed{18}", True),
    ("18", r"So \boxed{\text{thrice six}}", True),  # only the judge reads it
    ("18", r"\boxed{19}", False),
    ("18", "I give up", False),
    ("18", r"\boxed{19} or \boxed{\text{thrice six}}", False),  # guesses
    ("7", r"\boxed{\text{half of fourteen}}", True),
]


def knows_words(prompt: str) -> str:
    if UNRELATED in prompt:
        return "D"
    reference, candidate = (
        re.findall(f"<{tag}>(?:.text{{)?([^}}]*?)}}?</{tag}>", prompt)[0]
        for tag in ("reference", "candidate")
    )
    return "S" if (reference, candidate) in SAME else "D"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(client, "FIRST_PAUSE", 0.01)
    rows = [
        {"id": str(n), "question": f"Q{n}?", "reference": reference, "completion": reply}
        for n, (reference, reply, _) in enumerate(REPLIES)
    ]
    write_rows(Path("f.jsonl"), rows)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judging_server(knows_words) as running:
        yield running


def judging(server: JudgeServer, *more: str) -> list[str]:
    settings = {"judge.base_url": server.url, "judge.model": "m", "judge.timeout": "5"}
    pairs = [*(f"{name}={value}" for name, value in settings.items()), *more]
    return [word for pair in pairs for word in ("--verifier-arg", pair)]


def score_file(server: JudgeServer, *more: object, folder: str = "run") -> int:
    own = ("--verifier", "math", "--verifier-arg", "units=lenient", "--rescue", "judge")
    return run_command("score", "f.jsonl", *own, *judging(server), "--quiet", "-o", folder, *more)


def rows(folder: str = "run") -> list[dict[str, Any]]:
    lines = (Path(folder) / "samples.jsonl").read_text().splitlines()
    return sorted(map(json.loads, lines), key=lambda row: int(row["id"]))


def corrects(folder: str = "run") -> list[bool | None]:
    return [row["verdict"]["correct"] for row in rows(folder)]


def summary(folder: str = "run") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((Path(folder) / "summary.json").read_text())
    return content


def test_the_judge_is_asked_only_where_the_rule_read_one_wrong_answer(server: JudgeServer) -> None:
    assert score_file(server) == 0
    assert corrects() == [right for _, _, right in REPLIES]
    asked = [prompt for prompt in server.prompts if UNRELATED not in prompt]
    assert sorted(re.findall(r"<candidate>(.*)</candidate>", "".join(asked))) == sorted(
        ["19", r"\text{thrice six}", r"\text{half of fourteen}"]
    )
    assert "Q1?" in "".join(asked)


def test_a_run_records_what_its_judge_cost(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score_file(server) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "judge m, not audited: 5 calls, 0 replies from the cache, 3 completions" in printed
    (used,) = summary()["judges"]
    assert (used["calls"], used["spared"], used["unjudged"]) == (5, 3, 0)
    assert (used["audited"], used["base_url"]) == ("not audited", server.url)
    assert used["prompt_tokens"] == 250
    assert rewardkit("report", "run", "-o", "page.html").status == 0
    page = Path("page.html").read_text()
    assert "judges" in page  # in the record
    assert "not audited" in page
    # nothing is left to judge: the sums are those of the first session
    assert score_file(server) == 0
    assert summary()["judges"] == [used]
    assert len(server.prompts) == 5


def test_what_was_answered_is_never_asked_again(server: JudgeServer) -> None:
    assert score_file(server) == 0
    assert score_file(server, "--overwrite") == 0
    assert len(server.prompts) == 5
    assert summary()["judges"][0]["cached"] == 5
    assert run_command("score", "run", "-o", "again") == 0
    assert corrects("again") == corrects()
    assert len(server.prompts) == 5


def test_a_judge_that_is_down_leaves_rows_unjudged_until_it_is_back(server: JudgeServer) -> None:
    server.answer = lambda handler, prompt: (
        handler.send(500, {}) if "thrice six" in prompt else handler.reply(knows_words(prompt))
    )
    assert score_file(server) == 1  # more than --max-errors allows
    assert corrects() == [True, None, False, False, False, True]
    assert summary()["judges"][0]["unjudged"] == 1
    server.answer = None
    server.prompts.clear()
    assert run_command("score", "run", "-o", "again") == 0
    assert corrects("again") == [right for _, _, right in REPLIES]
    assert len(server.prompts) == 2


NONSENSE = ["As a language model, I like herons.", "", "S D", "SAME?", "[correct", '{"same": 1}']


@pytest.mark.parametrize("said", NONSENSE)
def test_an_answer_that_confuses_the_judge_stays_wrong(server: JudgeServer, said: str) -> None:
    server.say = lambda prompt: said if "thrice six" in prompt else knows_words(prompt)
    assert score_file(server) == 0
    assert corrects() == [True, False, False, False, False, True]
    (used,) = summary()["judges"]
    assert (used["unjudged"], used["undecided"]) == (0, 1)


@pytest.mark.parametrize("said", NONSENSE)
def test_an_answer_that_confuses_the_judge_is_not_confirmed(server: JudgeServer, said: str) -> None:
    server.say = lambda prompt: said if ">18<" in prompt else knows_words(prompt)
    assert score_file(server, "--confirm", "judge") == 0
    assert corrects()[0] is False
    assert None not in corrects()


def test_a_scoring_that_a_refused_key_ended_resumes(server: JudgeServer) -> None:
    server.answer = lambda handler, _: handler.send(401, {})
    assert score_file(server) == 2
    server.answer = None
    assert score_file(server) == 0
    assert corrects() == [right for _, _, right in REPLIES]


def test_only_confirm_turns_right_into_wrong(server: JudgeServer) -> None:
    server.say = lambda prompt: "D"
    assert score_file(server) == 0
    assert corrects() == [True, False, False, False, False, False]
    assert score_file(server, "--confirm", "judge", folder="confirmed") == 0
    assert corrects("confirmed") == [False] * 6
    assert summary("confirmed")["judges"][0]["spared"] == 2  # one judge in both places
    assert rows("confirmed")[0]["verdict"]["answer"] == "18"


def test_an_evaluation_rescues_as_a_scoring_does(server: JudgeServer) -> None:
    fields = ("--question-field", "question", "--reference-field", "reference")
    command = ("eval", "--data", "f.jsonl", *fields, "--verifier", "math", "--backend", "replay")
    replayed = (*command, "--model", "f.jsonl")
    both = (*replayed, "--rescue", "judge", *judging(server), "--quiet")
    assert run_command(*both, "-o", "run") == 0
    assert corrects() == [right for _, _, right in REPLIES]
    (used,) = summary()["judges"]
    assert (used["calls"], used["audited"]) == (5, "not audited")
    assert "judges" in (Path("run") / "report.html").read_text()
    assert run_command(*both, "-o", "run") == 0
    assert summary()["judges"] == [used]
    assert run_command(*replayed, "--quiet", "-o", "run") == 1  # a run without a judge is another
    for shard in (1, 2):
        assert run_command(*both, "-o", "parts", f"--shard={shard}/2") == 0
    assert run_command("report", "parts") == 0
    assert corrects("parts") == corrects()
    assert summary("parts")["judges"][0]["cached"] == 5
    assert len(server.prompts) == 5


def test_a_task_s_verifier_is_rescued(server: JudgeServer) -> None:
    data = [{"question": f"Q{n}?", "answer": f"#### {r}"} for n, (r, _, _) in enumerate(REPLIES)]
    write_rows(Path("data.jsonl"), data)
    command = ("eval", "--task", "gsm8k", "--data", "data.jsonl", "--backend", "replay")
    more = ("--model", "f.jsonl", "--rescue", "judge", *judging(server), "--quiet", "-o", "run")
    assert run_command(*command, *more) == 0
    assert summary()["tasks"]["gsm8k"]["completions"] == len(REPLIES)


def test_a_rule_and_a_judge_are_compared(server: JudgeServer) -> None:
    both = ("--verifier", "math", "--and", "judge", *judging(server), "-o", "run", "--quiet")
    assert run_command("score", "f.jsonl", *both) == 0
    titles = {figure["title"]: figure for figure in summary()["tasks"]["math"]["figures"]}
    assert titles["differences from judge"]["rows"][0][0] == "math/0/0"
    assert summary()["judges"][0]["calls"]


def test_several_processes_add_up_what_the_judge_cost(
    server: JudgeServer,
) -> None:
    parameters = {"judge.base_url": server.url, "judge.model": "m"}
    choice = VerifierChoice(verifier="math", opinions={"rescue": "judge", "parameters": parameters})
    plan = plan_scoring([Path("f.jsonl")], choice)
    result = score(replace(plan, processes=2), Reporter())
    close_pools()
    assert result.summaries["math"].metrics["accuracy"].value == pytest.approx(3 / 6)
    assert [one["calls"] for one in result.judges] == [5]
    assert jobs.ChunkResult().judges == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rescue", "math"), "--rescue takes the verifier judge"),
        (("--rescue", "juge"), "no verifier named 'juge'; did you mean 'judge'?"),
        (("--confirm", "exact"), "--confirm takes the verifier judge"),
        (("--rescue", "judge"), "the verifier judge needs a model"),
        (("--rescue", "judge", "--verifier-arg", "judge.vote=1"), "did you mean 'votes'?"),
        (("--rescue", "judge", "--verifier-arg", "judge.votes=0"), "judge"),
        (("--verifier-arg", "judge.votes=1"), "judge.votes"),
    ],
)
def test_what_can_not_judge_is_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("score", "f.jsonl", "--verifier", "math", *arguments, "-o", "run") == 2
    assert message in " ".join(capsys.readouterr().err.split())
