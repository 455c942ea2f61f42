"""A sweep starts each engine once, keeps finished runs and reports failed ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit import hookimpl, registry
from rewardkit.cli.eval import is_sweep
from rewardkit.errors import BackendError, RewardkitError, UnknownName, UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.results.measure import Measure
from rewardkit.harness.runs import sweep as sweeps
from rewardkit.harness.runs.options import options_for
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.runs.sweep import SweepRun, plan_sweep, plan_watch, sweep, watch_sweep
from rewardkit.protocols import Message, Prompt, Request, Tool
from rewardkit.records import Completion, Sampling
from rewardkit.registry import Plugin
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

PROBLEMS = 6


class Engine:
    """Answers the number of problems in its checkpoint's weights right, and records its calls."""

    events: list[tuple[Any, ...]]
    running: int

    def __init__(self, model: str, options: object) -> None:
        self.model = Path(model)
        self.max_model_len = 400
        if not (self.model / "weights").is_file():
            raise UsageError(f"no model at {model!r}")
        self.weights = (self.model / "weights").read_text()

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        text = "\n".join(message.content for message in messages)
        return Prompt(text, tuple(range(len(text.split()))))

    def start(self, requests: int, longest: int) -> None:
        if self.weights == "damaged":
            raise BackendError(f"{self.model.name} is damaged")
        Engine.running += 1
        assert Engine.running == 1, "the engine before it is still there"
        Engine.events.append(("start", self.model.name, requests, longest))

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        for request in requests:
            if self.weights == "interrupted" and request.key.endswith("/3/0"):
                raise KeyboardInterrupt
            if self.weights == "bug":
                raise ZeroDivisionError("a bug of the engine's")
            number = request.key.split("/")[1]
            right = 0 if self.weights == "interrupted" else int(self.weights)
            answer = number if int(number) < right else "none"
            boxed = "\\boxed" in request.prompt.text
            Engine.events.append(("asked", self.model.name, number))
            yield (
                request,
                Completion(f"\\boxed{{{answer}}}" if boxed else f"#### {answer}", "stop", 9, 4),
            )

    def describe(self) -> Mapping[str, object]:
        return {"name": "engine"}

    def fingerprint(self) -> Mapping[str, str]:
        Engine.events.append(("hash", self.model.name))
        return {"weights": self.weights}

    def close(self) -> None:
        if Engine.running:
            Engine.running -= 1
            Engine.events.append(("close", self.model.name))


class Offers:
    @hookimpl
    def rewardkit_backends(self) -> Mapping[str, object]:
        return {"engine": Engine}


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Engine.events, Engine.running = [], 0
    offers = registry.with_plugins([Plugin("engine", Offers())])
    monkeypatch.setattr(registry, "installed", lambda: offers)
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"What is {i}?", "answer": f"#### {i}"} for i in range(PROBLEMS)]
    write_rows(Path("data.jsonl"), rows)


def checkpoint(step: int, weights: str = "2", *, of: int | None = None) -> Path:
    folder = Path(f"run/checkpoint-{step}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weights").write_text(weights)
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "max_steps": of}))
    return folder


class Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def options(**more: Any) -> EvalOptions:
    common: dict[str, Any] = {
        "model": "run/checkpoint-1",
        "backend": "engine",
        "data": "data.jsonl",
        "output_dir": "out",
        "max_tokens": 50,
    }
    return options_for(("gsm8k",), **common | more)


def run(*models: str, prompts: Sequence[str] = (), **more: Any) -> list[SweepRun]:
    return list(sweep(plan_sweep(options(**more), models, prompts), Reporter()))


def events(kind: str) -> list[tuple[Any, ...]]:
    return [event for event in Engine.events if event[0] == kind]


def accuracies(runs: Sequence[SweepRun]) -> dict[str, float | str | None]:
    return {
        run.label: run.error
        if run.summary is None
        else round(run.summary.tasks["gsm8k"].metrics["accuracy"].value * PROBLEMS)
        for run in runs
    }


def test_prompts_are_compared_with_one_start_for_all_their_requests() -> None:
    checkpoint(1, "4")
    runs = run("run/checkpoint-1", prompts=["gsm8k", "boxed", "xml"])
    assert accuracies(runs) == {"gsm8k": 4, "boxed": 4, "xml": 0}
    assert [start[1:3] for start in events("start")] == [("checkpoint-1", 3 * PROBLEMS)]
    assert len(events("close")) == len(events("hash")) == 1
    longest = events("start")[0][3]
    for prompt in ("gsm8k", "boxed", "xml"):
        record = json.loads(Path(f"out/{prompt}/run.json").read_text())
        assert record["settings"]["prompt"] == record["tasks"]["gsm8k"]["prompt"] == prompt
        rows = map(json.loads, Path(f"out/{prompt}/samples.jsonl").read_text().splitlines())
        assert longest >= 50 + max(len(row["prompt"].split()) for row in rows)
    assert not Path("out/eval_curve.png").exists()


def test_only_missing_completions_are_requested_and_a_finished_sweep_starts_nothing() -> None:
    checkpoint(1)
    first = run("run/checkpoint-1", prompts=["gsm8k", "boxed"])
    samples = Path("out/boxed/samples.jsonl")
    samples.write_bytes(samples.read_bytes()[:-10])
    Engine.events.clear()
    assert run("run/checkpoint-1", prompts=["gsm8k", "boxed"]) == first
    assert [start[2] for start in events("start")] == [1]
    assert len(events("asked")) == 1
    Engine.events.clear()
    again = run("run/checkpoint-1", prompts=["gsm8k", "boxed", "xml"])
    assert again[:2] == first
    assert [start[2] for start in events("start")] == [PROBLEMS]
    Engine.events.clear()
    assert run("run/checkpoint-1", prompts=["gsm8k", "boxed", "xml"]) == again
    assert not events("start")


def test_each_checkpoint_s_prompts_share_its_engine() -> None:
    for step, weights in ((9, "1"), (10, "2"), (100, "5")):
        checkpoint(step, weights)
    runs = run("run/checkpoint-*", prompts=["gsm8k", "boxed"])
    assert list(accuracies(runs).items()) == [
        ("checkpoint-9+gsm8k", 1),
        ("checkpoint-9+boxed", 1),
        ("checkpoint-10+gsm8k", 2),
        ("checkpoint-10+boxed", 2),
        ("checkpoint-100+gsm8k", 5),
        ("checkpoint-100+boxed", 5),
    ]
    assert [event[:2] for event in Engine.events if event[0] in ("start", "close")] == [
        (kind, f"checkpoint-{step}") for step in (9, 10, 100) for kind in ("start", "close")
    ]
    assert [run.step for run in runs] == [9, 9, 10, 10, 100, 100]
    assert Path("out/eval_curve.png").read_bytes().startswith(b"\x89PNG")
    assert "<title>gsm8k · run · 6 runs</title>" in Path("out/report.html").read_text()


def test_the_curve_has_a_panel_for_each_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(sweeps, "draw_curve", lambda points, path: drawn.append(points))
    checkpoint(10, "2")
    checkpoint(20, "3")
    run("run/checkpoint-*", prompts=["gsm8k", "boxed"])
    assert len(drawn) == 1
    for point, step, right in zip(drawn[-1], (10, 20), (2, 3), strict=True):
        values = {name: metrics["accuracy"]["value"] for name, metrics in point.tasks.items()}
        assert point.step == step
        assert values == dict.fromkeys(["gsm8k · gsm8k", "gsm8k · boxed"], right / PROBLEMS)


def test_the_curve_has_the_amounts_that_a_task_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(sweeps, "draw_curve", lambda points, path: drawn.append(points))
    measures = {
        "letters": Measure(lambda row: len(row.completion), kind="amount"),
        "half": Measure(lambda row: 0.5),
    }
    kind = type(registry.installed().task("gsm8k"))
    monkeypatch.setattr(kind, "measures", measures, raising=False)
    checkpoint(10, "0")
    checkpoint(20, str(PROBLEMS))
    run("run/checkpoint-*")
    shutil.rmtree("run/checkpoint-10")
    run("run/checkpoint-20")
    assert len(drawn) == 2, "a deleted checkpoint's run is drawn too"
    for points in drawn:
        amounts = [point.amounts["gsm8k"] for point in points]
        assert [point.step for point in points] == [10, 20]
        assert all(amounts_of_step.keys() == {"letters"} for amounts_of_step in amounts)
        values = [amounts_of_step["letters"]["value"] for amounts_of_step in amounts]
        assert values == pytest.approx([len("#### none"), len("#### 0")])


def test_without_matplotlib_no_run_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(points: object, path: object) -> None:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr(sweeps, "draw_curve", missing)
    for step in (10, 20, 30):
        checkpoint(step)
    notes = Notes()
    runs = list(sweep(plan_sweep(options(), ["run/checkpoint-*"], []), notes))
    assert accuracies(runs) == {"checkpoint-10": 2, "checkpoint-20": 2, "checkpoint-30": 2}
    (told,) = [note for note in notes.notes if "eval_curve.png needs matplotlib" in note]
    assert "pip install 'rewardkit[figures]'" in told


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("damaged", "checkpoint-20 is damaged"),
        ("bug", "ZeroDivisionError: a bug of the engine's"),
        ("", "no model at 'run/checkpoint-20'"),
    ],
)
def test_a_checkpoint_that_fails_does_not_end_the_others(damage: str, said: str) -> None:
    for step in (10, 20, 30):
        checkpoint(step)
    (Path("run/checkpoint-20/weights")).write_text(damage)
    if not damage:
        Path("run/checkpoint-20/weights").unlink()
    runs = run("run/checkpoint-*")
    assert accuracies(runs) == {"checkpoint-10": 2, "checkpoint-20": said, "checkpoint-30": 2}
    assert [run.failed for run in runs] == [False, True, False]
    assert Engine.running == 0
    checkpoint(20, "3")
    Engine.events.clear()
    assert accuracies(run("run/checkpoint-*"))["checkpoint-20"] == 3
    assert [start[1] for start in events("start")] == ["checkpoint-20"]


def test_a_prompt_that_does_not_fit_does_not_end_the_others() -> None:
    checkpoint(1)
    Path("long.jinja").write_text("{{ question }} " + "very " * 400 + "long")
    runs = run("run/checkpoint-1", prompts=["gsm8k", "./long.jinja", "boxed"])
    found = accuracies(runs)
    assert (found["gsm8k"], found["boxed"]) == (2, 2)
    assert "has 404 tokens and the model takes 400" in str(found["long"])
    assert [start[2] for start in events("start")] == [2 * PROBLEMS]


def test_another_run_s_folder_is_refused_and_the_others_go_on() -> None:
    checkpoint(1)
    run("run/checkpoint-1", prompts=["gsm8k", "boxed"])
    shutil.rmtree("out/boxed")
    found = accuracies(run("run/checkpoint-1", prompts=["gsm8k", "boxed"], temperature=0.5))
    assert "belongs to another run" in str(found["gsm8k"])
    assert found["boxed"] == 2


def test_an_engine_that_does_not_start_leaves_finished_runs_their_figures() -> None:
    folder = checkpoint(1)
    run("run/checkpoint-1", prompts=["gsm8k", "boxed"])
    shutil.rmtree("out/boxed")
    (folder / "weights").write_text("damaged")
    record = json.loads(Path("out/gsm8k/run.json").read_text())
    record["fingerprint"]["model.weights"] = "damaged"
    Path("out/gsm8k/run.json").write_text(json.dumps(record))
    found = accuracies(run("run/checkpoint-1", prompts=["gsm8k", "boxed"]))
    assert found == {"gsm8k": 2, "boxed": "checkpoint-1 is damaged"}


def test_an_interrupt_releases_the_engine_and_keeps_finished_rows() -> None:
    checkpoint(10)
    checkpoint(20, "interrupted")
    ended: list[SweepRun] = []
    with pytest.raises(KeyboardInterrupt):
        ended.extend(sweep(plan_sweep(options(), ["run/checkpoint-*"], []), Reporter()))
    assert Engine.running == 0
    assert len(Path("out/checkpoint-20/samples.jsonl").read_text().splitlines()) == 3
    record = json.loads(Path("out/checkpoint-20/run.json").read_text())
    assert record["sessions"][0]["ended"]


def test_a_typo_is_an_error_before_anything_runs() -> None:
    checkpoint(10)
    checkpoint(20)
    with pytest.raises(UnknownName, match="did you mean 'boxed'"):
        run("run/checkpoint-*", prompts=["gsm8k", "boxde"])
    with pytest.raises(UnknownName, match="did you mean 'engine'"):
        run("run/checkpoint-*", backend="engin")
    assert not events("start")
    assert not Path("out").exists()


def test_a_sweep_writes_nothing_among_other_files() -> None:
    checkpoint(10)
    checkpoint(20)
    Path("run/eval_curve.png").write_text("the training's own")
    with pytest.raises(UsageError, match="run has files but no runs"):
        run("run/checkpoint-*", output_dir="run")
    Path("run/checkpoint-10/config.json").touch()
    with pytest.raises(UsageError, match="holds a model"):
        run("run/checkpoint-*", output_dir="run/checkpoint-10")
    with pytest.raises(UsageError, match="is a file"):
        run("run/checkpoint-*", output_dir="data.jsonl")


@pytest.mark.parametrize(
    ("models", "prompts", "labels"),
    [
        (["run/checkpoint-1"], ["gsm8k", "./p.jinja"], ["gsm8k", "p"]),
        (["run/checkpoint-2", "run/checkpoint-1"], [], ["checkpoint-1", "checkpoint-2"]),
        (["run/checkpoint-?"], ["boxed"], ["checkpoint-1", "checkpoint-2"]),
        (["run/checkpoint-2*"], ["boxed"], ["checkpoint-2"]),
        (["a/best", "b/best"], [], ["a-best", "b-best"]),
        (
            ["owner/one", "owner/two"],
            ["xml", "boxed"],
            ["one+xml", "one+boxed", "two+xml", "two+boxed"],
        ),
        (["run/checkpoint-1"], [], ["checkpoint-1"]),
    ],
)
def test_runs_are_named_by_their_differences(
    models: list[str], prompts: list[str], labels: list[str]
) -> None:
    checkpoint(1)
    checkpoint(2)
    plan = plan_sweep(options(), models, prompts)
    found = [plan.label(model, prompt) for model in plan.models for prompt in plan.prompts]
    assert found == labels


def test_two_runs_with_the_same_name_are_refused() -> None:
    with pytest.raises(UsageError, match="2 of these runs would be named 'cot'"):
        plan_sweep(options(), ["m"], ["a/cot.jinja", "b/cot.jinja"])


@pytest.mark.parametrize(
    ("models", "prompts", "several"),
    [
        (["m"], [], False),
        (["m", "m/"], ["cot"], False),
        (["m"], ["cot", "cot"], False),
        (["m", "n"], [], True),
        (["m"], ["cot", "xml"], True),
        (["m-*"], [], True),
    ],
)
def test_arguments_that_make_several_runs(
    models: list[str], prompts: list[str], several: bool
) -> None:
    assert is_sweep(models, prompts) is several


def test_the_default_folder_is_the_same_for_more_checkpoints_and_prompts() -> None:
    checkpoint(1)
    checkpoint(2)

    def folder(models: list[str], prompts: list[str], **more: Any) -> str:
        return str(plan_sweep(options(output_dir=None, **more), models, prompts).folder)

    first = folder(["run/checkpoint-*"], ["gsm8k"], prompt="gsm8k")
    assert first.startswith("runs/gsm8k-run-")
    checkpoint(3)
    assert folder(["run/checkpoint-*"], ["gsm8k"], prompt="gsm8k") == first
    watched = plan_watch(options(output_dir=None, prompt="gsm8k"), ["run/"], ["gsm8k"])
    assert str(watched.folder) == first
    assert folder(["run/checkpoint-*"], ["boxed"], prompt="boxed") != first
    assert folder(["run/checkpoint-*"], ["gsm8k"], prompt="gsm8k", limit=3) != first
    several = folder(["run/checkpoint-1"], ["gsm8k", "boxed"])
    assert several.startswith("runs/gsm8k-checkpoint-1-")
    assert folder(["run/checkpoint-1"], ["boxed", "xml", "gsm8k"]) == several
    assert folder(["run/checkpoint-2"], ["gsm8k", "boxed"]) != several


def test_a_watch_ends_with_the_training_and_skips_deleted_checkpoints() -> None:
    for step in (10, 20):
        checkpoint(step)
    notes, found = Notes(), []
    for ended in watch_sweep(plan_watch(options(), ["run"], []), notes):
        found.append(ended.label)
        if ended.step == 10:
            shutil.rmtree("run/checkpoint-10")
            folder = checkpoint(20)
            (folder / "weights").unlink()  # as rotation does: file by file, while it is read
            checkpoint(30, "3", of=30)
            Engine.__init__ = rotating(Engine.__init__)  # type: ignore[method-assign]
    assert found == ["checkpoint-10", "checkpoint-30"]
    assert "checkpoint-20 is skipped: run/checkpoint-20 was deleted before" in "".join(notes.notes)
    assert notes.notes[-1] == "the training is over"


def rotating(init: Any) -> Any:
    def deleted_meanwhile(self: Engine, model: str, options: object) -> None:
        if model.endswith("-20"):
            shutil.rmtree(model)
        Engine.__init__ = init  # type: ignore[method-assign]
        init(self, model, options)

    return deleted_meanwhile


def test_finished_runs_of_deleted_checkpoints_stay_in_the_table() -> None:
    for step in (10, 20, 30):
        checkpoint(step, str(step // 10), of=30)
    plan = plan_watch(options(), ["run"], [])
    first = accuracies(list(watch_sweep(plan, Reporter())))
    shutil.rmtree("run/checkpoint-10")
    Engine.events.clear()
    again = list(watch_sweep(plan, Reporter()))
    assert accuracies(again) == first == {f"checkpoint-{n}0": n for n in (1, 2, 3)}
    assert not events("start")
    other = replace(plan, options=options(temperature=0.5), folder=plan.folder)
    assert "checkpoint-10" not in accuracies(list(watch_sweep(other, Reporter())))


def test_lists_in_python_give_a_list_of_runs() -> None:
    checkpoint(9, "1")
    checkpoint(10, "6")
    common: dict[str, Any] = {"backend": "engine", "data": "data.jsonl", "output_dir": "out"}
    runs = rewardkit.evaluate("gsm8k", ["run/checkpoint-*"], prompt=["gsm8k", "boxed"], **common)
    assert [run.label for run in runs][-1] == "checkpoint-10+boxed"
    assert runs[-1].summary is not None
    assert runs[-1].summary.tasks["gsm8k"].metrics["accuracy"].value == 1
    model, common["output_dir"] = "run/checkpoint-9", "list"
    (listed,) = rewardkit.evaluate("gsm8k", model, prompt=["gsm8k"], **common)
    assert listed.output_dir == Path("list/checkpoint-9")
    common["output_dir"] = "alone"
    alone = rewardkit.evaluate("gsm8k", model, prompt="gsm8k", **common)
    assert alone.tasks["gsm8k"].problems == PROBLEMS
    with pytest.raises(UsageError, match="no model is named"):
        rewardkit.evaluate("gsm8k", [])
    with pytest.raises(RewardkitError, match="option of evaluate"):
        rewardkit.evaluate("gsm8k", ["a"], promtp=["x"])
