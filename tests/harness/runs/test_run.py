"""A run generates, judges, writes, resumes after a kill, and refuses another run's folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from rewardkit.errors import BackendError, DataError, PromptTooLong, RunMismatch, UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.report.page import render
from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.results.documents import SampleNote, write_note
from rewardkit.harness.runs.plan import RunPlan, plan_task
from rewardkit.harness.runs.run import run
from rewardkit.protocols import Message, Prompt, Request, Task, Tool
from rewardkit.records import Completion, Sample, Sampling
from rewardkit.registry import installed
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

GSM8K = installed().task("gsm8k")


class Scripted:
    """Answers with the question's first number; stops, fails or truncates on command."""

    def __init__(self, *, stop_after: int | None = None, max_model_len: int | None = 500) -> None:
        self.max_model_len = max_model_len
        self.stop_after = stop_after
        self.weights = "aaa"
        self.started = 0
        self.asked: list[str] = []

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        text = "\n".join(message.content for message in messages)
        return Prompt(text, tuple(range(len(text.split()))))

    def start(self, requests: int, longest: int) -> None:
        self.started += 1

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        for count, request in enumerate(requests):
            if count == self.stop_after:
                raise BackendError("the engine died")
            self.asked.append(request.key)
            yield request, self.reply(request, sampling)

    def reply(self, request: Request, sampling: Sampling) -> Completion:
        number = next(word for word in request.prompt.text.split() if word.isdigit())
        if number == "3":
            return Completion("cut in the midd", "length", 9, sampling.max_tokens)
        return Completion(f"It is so.\n#### {number}", "stop", 9, 4)

    def describe(self) -> Mapping[str, object]:
        return {"name": "scripted"}

    def fingerprint(self) -> Mapping[str, str]:
        return {"weights": self.weights}

    def close(self) -> None:
        pass


class Failing(Scripted):
    def reply(self, request: Request, sampling: Sampling) -> Completion:
        if self.asked[-1].endswith(("/1/0", "/2/0")) and self.started == 1:
            return Completion("", "error", message="connection refused")
        return super().reply(request, sampling)


PROMPT = "Say {{ question }} and end with ####"


@pytest.fixture
def plan(tmp_path: Path) -> RunPlan:
    data = tmp_path / "data.jsonl"
    rows = [{"question": f"{i} is", "answer": f"so\n#### {i if i % 2 else 99}"} for i in range(10)]
    write_rows(data, rows)
    (tmp_path / "p.jinja").write_text(PROMPT)
    asked = plan_task(GSM8K, str(tmp_path / "p.jinja"), EvalOptions(data=str(data)))
    options = EvalOptions(tasks=(GSM8K,), model="m", max_tokens=50)
    return RunPlan(options, [asked], Scripted(), output_dir=tmp_path / "run")


def with_options(plan: RunPlan, **changed: Any) -> RunPlan:
    return replace(plan, options=replace(plan.options, **changed))


def samples(plan: RunPlan) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(plan.output_dir / "samples.jsonl")]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_run_writes_record_samples_and_summary(plan: RunPlan) -> None:
    summary = run(plan)
    task = summary.tasks["gsm8k"]
    # 0–9 answered as 0–9; right are the odd ones but 3, which was cut off
    assert task.metrics["accuracy"].value == pytest.approx(0.4)
    assert task.failures == {"truncated": 1, "wrong": 5}
    assert task.truncated == 1
    assert task.metrics["format_rate"].value == pytest.approx(0.9)
    rows = samples(plan)
    assert {row["id"] for row in rows} == {str(i) for i in range(10)}
    assert rows[1]["prompt"] == "Say 1 is and end with ####"
    assert rows[1]["verdict"]["correct"] is True
    assert rows[1]["verdict"]["answer"] == "1"
    assert rows[1]["completion_tokens"] == 4
    record = json.loads((plan.output_dir / "run.json").read_text())
    assert record["tasks"]["gsm8k"]["prompt_source"] == PROMPT
    assert record["tasks"]["gsm8k"]["sampling"]["max_tokens"] == 50
    assert record["sessions"][0]["ended"]
    assert record["versions"]["python"]
    assert json.loads((plan.output_dir / "summary.json").read_text()) == summary.as_json()


def test_completions_finished_before_a_crash_are_not_requested_again(plan: RunPlan) -> None:
    whole = run(replace(plan, output_dir=plan.output_dir.with_name("whole")))
    dying = Scripted(stop_after=4)
    with pytest.raises(BackendError, match="the engine died"):
        run(replace(plan, backend=dying))
    assert len(samples(plan)) == 4
    again = Scripted()
    resumed = run(replace(plan, backend=again))
    assert not set(again.asked) & set(dying.asked)
    assert resumed.as_json() == whole.as_json()


def test_the_report_of_a_run_that_is_started_again_has_the_readers_notes(plan: RunPlan) -> None:
    run(plan)
    write_note(plan.output_dir, "gsm8k/1/0", SampleNote("look here", ("odd",)))
    written: list[Sequence[ReportRun]] = []

    def kept(runs: Sequence[ReportRun]) -> str:
        written.append(runs)
        return render(runs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rewardkit.harness.runs.run.render", kept)
        run(plan)
    ((report,),) = written
    assert report.notes["gsm8k/1/0"].note == "look here"
    assert (plan.output_dir / "report.html").is_file()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("weights", "model.weights"),
        ("temperature", "sampling.temperature"),
        ("max_tokens", "sampling.max_tokens"),
        ("data", "gsm8k.data"),
        ("prompt", "gsm8k.prompt"),
    ],
)
def test_another_run_is_refused_with_the_differences(
    plan: RunPlan, tmp_path: Path, change: str, said: str
) -> None:
    run(plan)
    asked = plan.task_plans[0]
    other = Scripted()
    if change == "weights":
        other.weights = "bbb"
    changed = {
        "weights": plan,
        "temperature": with_options(plan, temperature=0.5),
        "max_tokens": with_options(plan, max_tokens=40),
        "data": replace(plan, task_plans=[replace(asked, samples=asked.samples[:5])]),
        "prompt": replace(
            plan, task_plans=[replace(asked, template=replace(asked.template, system="Hm."))]
        ),
    }[change]
    before = (plan.output_dir / "samples.jsonl").read_bytes()
    with pytest.raises(RunMismatch, match=said) as caught:
        run(replace(changed, backend=other))
    assert "--overwrite" in str(caught.value)
    assert (plan.output_dir / "samples.jsonl").read_bytes() == before
    assert run(with_options(replace(changed, backend=other), overwrite=True)).tasks


def test_errors_beyond_the_share_fail_the_run_and_are_tried_again(plan: RunPlan) -> None:
    engine = Failing()
    summary = run(replace(plan, backend=engine))
    task = summary.tasks["gsm8k"]
    assert summary.failed
    assert (task.unjudged, task.judged) == (2, 8)
    assert "connection refused" in samples(plan)[1]["verdict"]["message"]
    again = run(replace(plan, backend=engine))
    assert not again.failed
    assert again.tasks["gsm8k"].unjudged == 0
    assert len(engine.asked) == 12
    lenient = with_options(plan, max_errors=0.5, overwrite=True)
    assert not run(replace(lenient, backend=Failing())).failed


def test_a_prompt_that_does_not_fit_is_an_error_before_anything_loads(plan: RunPlan) -> None:
    tight = Scripted(max_model_len=6)
    with pytest.raises(PromptTooLong, match=r"has 7 tokens.*takes 6") as caught:
        run(replace(plan, backend=tight))
    assert "--max-model-len" in str(caught.value)
    with pytest.raises(PromptTooLong, match="lower --max-tokens to 13"):
        run(replace(plan, backend=Scripted(max_model_len=20)))
    assert tight.started == 0


def test_the_default_length_is_what_the_prompt_leaves_room_for(plan: RunPlan) -> None:
    run(with_options(replace(plan, backend=Scripted(max_model_len=20)), max_tokens=None))
    record = json.loads((plan.output_dir / "run.json").read_text())
    assert record["tasks"]["gsm8k"]["sampling"]["max_tokens"] == 13


def test_each_completion_of_a_problem_has_its_own_seed(plan: RunPlan) -> None:
    seeds: dict[str, int] = {}

    class Watching(Scripted):
        def reply(self, request: Request, sampling: Sampling) -> Completion:
            seeds[request.key] = request.seed
            return super().reply(request, sampling)

    summary = run(with_options(replace(plan, backend=Watching()), num_samples=3, temperature=1.0))
    assert len(set(seeds.values())) == len(seeds) == 30
    assert summary.tasks["gsm8k"].problems == 10


def test_nothing_is_written_where_a_model_or_other_files_are(plan: RunPlan, tmp_path: Path) -> None:
    for name, said in (("config.json", "holds a model"), ("a.tex", "has files but no run")):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("{}")
        with pytest.raises(UsageError, match=said):
            run(replace(plan, output_dir=folder))
        assert [entry.name for entry in folder.iterdir()] == [name]


def test_two_rows_with_the_same_id_are_an_error(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": 1, "question": "a", "answer": "1"}\n' * 2)
    (tmp_path / "p.jinja").write_text(PROMPT)
    with pytest.raises(DataError, match="two rows have the id '1'"):
        plan_task(GSM8K, str(tmp_path / "p.jinja"), EvalOptions(data=str(data)))


def test_a_sample_whose_reference_is_no_text_is_an_error(tmp_path: Path) -> None:
    class Numbers:
        name, group_by = "numbers", ()

        def load(self, **_: object) -> list[Sample]:
            return [Sample(4, question="2 + 2", id="0")]  # type: ignore[arg-type]

        def verifier(self, reading: str | None) -> None:
            """Read any answer style."""

    (tmp_path / "p.jinja").write_text(PROMPT)
    with pytest.raises(DataError, match="'numbers': a sample's reference is 4, of type int"):
        plan_task(cast("Task", Numbers()), str(tmp_path / "p.jinja"), EvalOptions())


SLOW_PLUGIN = """
    import itertools, os, sys, time
    sys.path.insert(0, {tests!r})
    from rewardkit import hookimpl, registry
    from rewardkit.registry import Plugin

    class Offers:
        @hookimpl
        def rewardkit_backends(self):
            return {{"slow": lambda model, options: Slow()}}

    registry.find_plugins = lambda: ([Plugin("slow", Offers())], [])
    from test_run import Scripted  # which asks for what is installed

    replies = itertools.count()

    class Slow(Scripted):
        def reply(self, request, sampling):
            time.sleep(600 if next(replies) == int(os.environ.get("REPLIES", -1)) else 0.05)
            return super().reply(request, sampling)

    from rewardkit.cli.main import run
    run()
"""


@pytest.fixture
def slow_command(tmp_path: Path) -> Callable[[str], list[str]]:
    """The command line of a slow run of 60 problems, into a folder of this name."""
    data = tmp_path / "data.jsonl"
    rows = [{"question": f"{i} is", "answer": f"#### {i}"} for i in range(60)]
    write_rows(data, rows)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SLOW_PLUGIN.format(tests=str(Path(__file__).parent))))

    words = f"eval --task gsm8k --model m --backend slow --data {data} --quiet -o {tmp_path}/"
    return lambda folder: [sys.executable, str(script), *f"{words}{folder}".split()]


def interrupt(arguments: list[str], samples: Path, count: int, how: signal.Signals) -> str:
    """Run until this many lines are written, send the signal, and return stderr.

    After 25 replies it waits for the signal, which comes late on a busy machine.
    """
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "REPLIES": "25"},
    )
    while not samples.exists() or samples.read_bytes().count(b"\n") < count:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(how)
    said = process.communicate()[1]
    assert process.returncode == (130 if how is signal.SIGINT else -how)
    return said


def test_a_run_killed_at_any_moment_resumes(
    tmp_path: Path, slow_command: Callable[[str], list[str]]
) -> None:
    subprocess.run(slow_command("whole"), check=True, capture_output=True)
    killed = tmp_path / "killed" / "samples.jsonl"
    interrupt(slow_command("killed"), killed, 15, signal.SIGKILL)
    said = interrupt(slow_command("killed"), killed, 30, signal.SIGINT)
    assert said.splitlines()[-1] == "interrupted; the same command resumes"
    assert len(lines(killed)) < 60
    subprocess.run(slow_command("killed"), check=True, capture_output=True)
    keys = [json.loads(line)["key"] for line in lines(killed)]
    assert len(keys) == len(set(keys)) == 60

    def summary(folder: str) -> str:
        return (tmp_path / folder / "summary.json").read_text()

    assert summary("killed") == summary("whole")
