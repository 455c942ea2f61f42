"""Rows of one's own, without a task, and a task's own settings."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit import registry
from rewardkit.config import types_of
from rewardkit.errors import DataError, RunMismatch, UsageError
from rewardkit.harness.options import DEFAULTS
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.results.at_k import same_to
from rewardkit.harness.runs.options import options_for
from rewardkit.harness.runs.plan import choose_backend
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import plan_scoring
from rewardkit.harness.tasks.defined.definition import (
    FewshotSection,
    SamplingSection,
    TaskDefinition,
)
from rewardkit.harness.tasks.defined.task import DefinedTask
from rewardkit.plugin import Sample, hookimpl
from rewardkit.protocols import answer_forms
from rewardkit.registry import resolve
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

ROWS = [
    {"q": "What is 1/2 + 1/4?", "a": "3/4", "kind": "math"},
    {"q": "What is the capital of Norway?", "a": "Oslo", "kind": "exact"},
    {"q": "Think.", "kind": "r1_zero_format"},
]
REPLIES = [r"<answer>\boxed{0.75}</answer>", "<answer>Oslo</answer>", "<answer>x</answer>"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("rows.jsonl"), ROWS)
    write_rows(
        Path("replies.jsonl"),
        [{"id": str(number), "completion": reply} for number, reply in enumerate(REPLIES)],
    )
    return tmp_path


def evaluated(**options: Any) -> Any:
    return rewardkit.evaluate(
        (), "replies.jsonl", backend="replay", data="rows.jsonl", question_field="q", **options
    )


def test_rows_are_evaluated_by_one_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "rows.jsonl", ROWS[:2])
    arguments = ["--data", "rows.jsonl", "--question-field", "q", "--reference-field", "a"]
    arguments += ["--verifier", "exact", "--verifier-arg", "ignore_case=true"]
    arguments += ["--model", "replies.jsonl", "--backend", "replay", "-o", "run", "--json"]
    assert run_command("eval", *arguments) == 0
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    assert tasks["rows"]["metrics"]["accuracy"]["value"] == 0.5


def test_python_takes_paths_wherever_it_takes_names_of_files(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", ROWS[:1])
    (folder / "asks.jinja").write_text("{{ question }}")
    (folder / "own.toml").write_text(
        '[data]\nfile = "rows.jsonl"\n[columns]\nquestion = "q"\nreference = "a"\n'
        '[verifier]\nname = "math"\n'
    )
    summary = rewardkit.evaluate(
        Path("own.toml"), Path("replies.jsonl"), prompt=Path("asks.jinja"), backend="replay"
    )
    assert summary.tasks["own"].problems == 1


def test_each_row_names_its_verifier_and_the_run_is_scored_again(folder: Path) -> None:
    summary = evaluated(verifier_field="kind", reference_field="a", output_dir="run")
    assert summary.tasks["rows"].metrics["accuracy"].count == 3
    rows = [json.loads(line) for line in Path("run/samples.jsonl").read_text().splitlines()]
    correct = {row["columns"]["kind"]: row["verdict"]["correct"] for row in rows}
    assert correct == {"math": True, "exact": True, "r1_zero_format": False}
    again = score(plan_scoring([Path("run")]), Reporter())
    assert (again.agreement.compared, again.agreement.differing) == (3, 0)


def test_parameters_of_a_mixed_set_name_their_verifier(folder: Path) -> None:
    replies = [{"id": "1", "completion": "<answer>OSLO</answer>"}]
    write_rows(folder / "rows.jsonl", [{**ROWS[1], "id": "1", "reference": "Oslo"}])
    write_rows(folder / "replies.jsonl", replies)
    options: dict[str, Any] = {"verifier_field": "kind", "reference_field": "a"}
    for value in (True, False):
        arguments = {"exact.ignore_case": value}
        run = str(folder / f"run-{value}")
        summary = evaluated(**options, verifier_args=arguments, output_dir=run)
        assert summary.tasks["rows"].metrics["accuracy"].value == value
        again = score(plan_scoring([Path(run)]), Reporter())
        assert again.agreement.differing == 0
        write_rows(folder / "judged.jsonl", [{**ROWS[1], "reference": "Oslo", **replies[0]}])
        typed = ["--verifier-field", "kind", "--verifier-arg", f"exact.ignore_case={value}".lower()]
        out = f"scored-{value}"
        assert run_command("score", "judged.jsonl", *typed, "-o", out, "--quiet") == 0
        scored = json.loads((folder / out / "summary.json").read_text())["tasks"]["kind"]
        assert scored["metrics"]["accuracy"]["value"] == value


@pytest.mark.parametrize(
    ("question", "reference", "said"),
    [
        (None, None, "no column 'question', .* it has a, kind, q; .*--question-field"),
        ("q", "b", "no column 'b', .*--reference-field"),
    ],
)
def test_a_column_that_rows_lack_is_named_with_the_option(
    folder: Path, question: str | None, reference: str | None, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        rewardkit.evaluate(
            (),
            "replies.jsonl",
            backend="replay",
            data="rows.jsonl",
            verifier="exact",
            question_field=question,
            reference_field=reference,
        )


def test_a_row_without_a_reference_needs_a_verifier_that_reads_none(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [{"q": "Think."}] * 1)
    summary = evaluated(verifier="r1_zero_format", output_dir="run")
    assert summary.tasks["rows"].metrics["accuracy"].value == 0.0
    with pytest.raises(DataError, match="row 1 .* has no reference in .*--reference-field"):
        evaluated(verifier="math")


def offer(
    monkeypatch: pytest.MonkeyPatch, tasks: Mapping[str, Any] | None = None, **verifiers: Any
) -> registry.Registry:
    """Install a plugin with these tasks and verifiers."""

    class Plugin:
        @hookimpl
        def rewardkit_verifiers(self) -> dict[str, Any]:
            return verifiers

        @hookimpl
        def rewardkit_tasks(self) -> Mapping[str, Any]:
            return tasks or {}

    offers = registry.with_plugins([registry.Plugin("own", Plugin())])
    monkeypatch.setattr(registry, "installed", lambda: offers)
    return offers


def test_a_plugins_verifier_says_that_it_reads_no_reference(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(text: str, sample: Sample) -> bool:
        return len(text) < 100

    short.needs_reference = False  # type: ignore[attr-defined]
    offers = offer(monkeypatch, {"brief": str(folder / "brief.toml")}, short=short)
    (folder / "brief.toml").write_text(
        '[data]\nfile = "rows.jsonl"\n[columns]\nquestion = "q"\n[verifier]\nname = "short"\n'
    )
    task = offers.task("brief")
    assert (task.name, task.prompt) == ("brief", "question")
    assert [sample.reference for sample in task.load(data=None, split=None, seed=0)] == [""] * 3
    summary = evaluated(verifier="short", output_dir="run")
    assert summary.tasks["rows"].metrics["accuracy"].value == 1.0


def ends(text: str, sample: Sample, *, ignore_case: bool = False) -> bool:
    reference = sample.reference
    if ignore_case:
        text, reference = text.lower(), reference.lower()
    return reference in text[-20:]


ends.reads = ("boxed", "line", "answer")  # type: ignore[attr-defined]


def test_a_plugins_verifier_says_which_answer_forms_it_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ends=ends)
    write_rows(folder / "rows.jsonl", ROWS[:2])
    (folder / "line.jinja").write_text('+++\nreading = "line"\n+++\n{{ question }} Answer:')
    for parameters in ("", "parameters = {ignore_case = true}\n"):
        (folder / "own.toml").write_text(
            '[data]\nfile = "rows.jsonl"\n[columns]\nquestion = "q"\nreference = "a"\n'
            f'[verifier]\nname = "ends"\n{parameters}'
        )
        task = rewardkit.load_task("own.toml")
        assert task.prompt == "boxed"
        assert task.perfect(Sample("7")) == r"\boxed{7}"
        for prompt in ("boxed", "answer", "think_answer", "line.jinja"):
            summary = rewardkit.evaluate(
                "own.toml", "replies.jsonl", prompt=prompt, backend="replay", overwrite=True
            )
            assert summary.tasks["own"].problems == 2
        with pytest.raises(UsageError, match="in one of boxed, line, answer, xml, r1_zero"):
            task.verifier("hash")


def test_a_verifier_keeps_what_it_declares_when_its_parameters_are_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offer(monkeypatch, ends=ends)
    verifier = rewardkit.load_verifier("ends", ignore_case=True)
    assert answer_forms("ends", verifier) == ("boxed", "line", "answer")


def test_forms_that_are_no_tuple_of_names_are_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def boxed(text: str, sample: Sample) -> bool:
        return text == sample.reference

    boxed.reads = "boxed"  # type: ignore[attr-defined]
    offer(monkeypatch, boxed=boxed)
    with pytest.raises(UsageError, match="verifier 'boxed': reads is 'boxed'; it must be a tuple"):
        evaluated(verifier="boxed", reference_field="a")


def test_multiple_choice_shows_the_options_of_its_field(folder: Path) -> None:
    rows = [{"id": "0", "q": "Which rusts?", "a": "B", "options": ["gold", "iron"]}]
    write_rows(folder / "rows.jsonl", [*rows, {**rows[0], "id": "1", "a": "A"}])
    write_rows(
        folder / "replies.jsonl",
        [{"id": i, "completion": "<answer>B</answer>"} for i in ("0", "1")],
    )
    chosen = {"verifier": "choice", "reference_field": "a", "output_dir": "run"}
    summary = evaluated(**chosen, choices_field=("options",))
    assert summary.tasks["rows"].metrics["accuracy"].value == 0.5
    prompt = json.loads(Path("run/samples.jsonl").read_text().splitlines()[0])["prompt"]
    assert "(A) gold\n(B) iron" in prompt
    with pytest.raises(UsageError, match="--choices-field"):
        evaluated(**chosen)


def test_the_options_may_have_a_column_each(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [{"q": "Which rusts?", "a": "B", "x": "gold", "y": "iron"}])
    arguments = ["--data", "rows.jsonl", "--question-field", "q", "--reference-field", "a"]
    arguments += ["--verifier", "choice", "--choices-field", "x", "--choices-field", "y"]
    arguments += ["--model", "replies.jsonl", "--backend", "replay", "-o", "run"]
    assert run_command("eval", *arguments) == 0
    assert "(A) gold\n(B) iron" in json.loads(Path("run/samples.jsonl").read_text())["prompt"]


@dataclasses.dataclass(frozen=True)
class LongTask:
    """A completion of at least so many characters is right."""

    least: int = 1
    name: str = "long"
    prompt: str = "question"
    max_tokens: int = 8
    group_by: tuple[str, ...] = ()

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        return [self.sample({}, 0)]

    def sample(self, row: Any, index: int) -> Sample:
        return Sample("", question="Write.", id="0")

    def verifier(self, reading: str | None = None) -> Any:
        return functools.partial(long_enough, least=self.least)

    def flexible(self) -> None:
        return None

    def perfect(self, sample: Sample) -> str:
        return "x" * self.least


def test_parameters_of_the_task_are_set_and_used_again_to_score_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, {"long": LongTask})
    write_rows(folder / "replies.jsonl", [{"id": "0", "completion": "longer"}])
    for least, share in ((6, 1.0), (7, 0.0)):
        run = folder / f"run{least}"
        replayed: dict[str, Any] = {"backend": "replay", "output_dir": str(run)}
        summary = rewardkit.evaluate(
            "long", "replies.jsonl", task_args={"least": least}, **replayed
        )
        again = score(plan_scoring([run]), Reporter())
        assert summary.tasks["long"].metrics["accuracy"].value == share
        assert again.summaries["long"].metrics["accuracy"].value == share
        typed = ["--task", "long", "--task-arg", f"least={least}", "-o", f"scored{least}"]
        assert run_command("score", "replies.jsonl", *typed) == 0
        again = score(plan_scoring([Path(f"scored{least}")]), Reporter())
        assert again.summaries["long"].metrics["accuracy"].value == share
    with pytest.raises(RunMismatch, match="verifier"):
        rewardkit.evaluate("long", "replies.jsonl", backend="replay", output_dir=str(run))


def long_enough(text: str, sample: Sample, *, least: int) -> bool:
    return len(text) >= least


@pytest.mark.parametrize(
    ("tasks", "arguments", "said"),
    [
        (("motion",), {"tset": 3}, "no parameter of task 'motion' named 'tset'"),
        (("motion", "game24"), {"test": 3}, "one task, not of 2"),
        ((), {"test": 3}, "name it with --task"),
        (("mine.toml",), {"limit": 3}, "write the setting into mine.toml"),
    ],
)
def test_parameters_that_belong_to_no_task_are_refused(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    tasks: tuple[str, ...],
    arguments: dict[str, Any],
    said: str,
) -> None:
    with pytest.raises(UsageError, match=said):
        options_for(tasks, "m", task_args=arguments)
    if len(tasks) < 2:
        judge = ("--task", tasks[0]) if tasks else ("--verifier", "math")
        ((name, value),) = arguments.items()
        typed = ("--task-arg", f"{name}={value}")
        assert run_command("score", "replies.jsonl", *judge, *typed) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"verifier": "maths"}, "no verifier named 'maths'; did you mean 'math'"),
        ({"verifier": "math", "verifier_field": "kind"}, "give --verifier NAME or --verifier-f"),
        ({"question_field": "q"}, "give --verifier NAME or --verifier-field"),
        ({"verifier_field": "q"}, "no verifier named 'What"),
        ({"verifier_field": "none"}, "row 1 names no verifier in 'none'; it has a, kind, q"),
        (
            {"verifier_field": "kind", "verifier_args": {"x": 1}},
            "name the verifier, such as math.x=1",
        ),
        (
            {"verifier_field": "kind", "verifier_args": {"exat.ignore_case": True}},
            "no verifier named 'exat'; did you mean 'exact'",
        ),
        (
            {"verifier_field": "kind", "verifier_args": {"exact.ignore_cases": True}},
            "no parameter of verifier 'exact' named 'ignore_cases'",
        ),
        ({"verifier": "math", "data": None}, "--verifier judges the rows of --data"),
    ],
)
def test_options_that_describe_no_set_are_refused(
    folder: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        options_for((), "m", **{"data": "rows.jsonl", **options})


@pytest.mark.parametrize("name", ["data", "fewshot_data", "split", "output_dir"])
def test_an_empty_name_is_not_the_default(name: str) -> None:
    empty: dict[str, Any] = {name: ""}
    with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} is empty"):
        options_for(("gsm8k",), "m", **empty)


def test_a_task_brings_its_own_verifier() -> None:
    with pytest.raises(UsageError, match="--verifier needs --data without a task"):
        options_for(("gsm8k",), "m", verifier="math")


def test_a_hub_id_names_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def hub_rows(*arguments: Any) -> list[dict[str, Any]]:
        asked.append(arguments)
        return [{"question": "1 + 1?", "answer": "2"}]

    monkeypatch.setattr("rewardkit.harness.tasks.defined.task.hub_rows", hub_rows)
    data = "own/additions:small@v2"
    options = options_for((), "m", data=data, verifier="math", reference_field="answer")
    (task,) = options.tasks
    assert not isinstance(task, str)
    assert task.name == "additions"
    assert task.load(data=data, split="train", seed=0)[0].reference == "2"
    assert asked == [("own/additions", "small", "train", "v2")]


SAMPLED = '[data]\nfile = "rows.jsonl"\n[verifier]\nname = "exact"\n[sampling]\nnum_samples = 4\n'


def test_a_tasks_sampling_holds_unless_it_is_given(folder: Path) -> None:
    (folder / "sampled.toml").write_text(SAMPLED + "temperature = 0.6\n")
    options = options_for(("sampled.toml",), "m")
    assert (options.num_samples, options.temperature) == (4, 0.6)
    options = options_for(("sampled.toml",), "m", num_samples=1, temperature=0.0)
    assert (options.num_samples, options.temperature) == (1, 0.0)
    with pytest.raises(UsageError, match="set num_samples differently .*--num-samples"):
        options_for(("sampled.toml", "gsm8k"), "m", temperature=0.6)


def test_the_settings_of_a_task_are_said(folder: Path) -> None:
    (folder / "sampled.toml").write_text(SAMPLED + "temperature = 0.6\ntop_p = 1.0\n")
    notes: list[str] = []

    class Notes(Reporter):
        def note(self, text: str) -> None:
            notes.append(text)

    reporter = Notes()
    choose_backend(options_for(("sampled.toml",), "m", backend="replay"), reporter)
    (note,) = notes
    assert note.startswith("set by the task: --num-samples 4 --temperature 0.6;")
    as_usual = {"num_samples": 1, "temperature": 0.0, "backend": "replay"}
    for task, given in (("sampled.toml", as_usual), ("gsm8k", {"backend": "replay"})):
        options = options_for((task,), "m", **given)
        choose_backend(options, reporter)
    assert len(notes) == 1


def test_the_summary_and_a_sweep_say_what_the_task_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = '[columns]\nquestion = "q"\nreference = "a"\n'
    (folder / "sampled.toml").write_text(SAMPLED + "temperature = 0.6\ntop_p = 1.0\n" + columns)
    write_rows(folder / "rows.jsonl", ROWS[:2])
    rows = [{"id": str(number), "completion": "x"} for number in range(2) for _ in range(4)]
    write_rows(folder / "replies.jsonl", rows)
    command = ["--task", "sampled.toml", "--model", "replies.jsonl", "--backend", "replay"]
    assert run_command("eval", *command, "-o", "run", "--quiet") == 0
    assert "set by the task: --num-samples 4 --temperature 0.6\n" in capsys.readouterr().out
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert summary["set_by_tasks"] == {"num_samples": 4, "temperature": 0.6}
    assert run_command("eval", *command, "--prompt", "answer,xml", "-o", "sweep") == 0
    assert "set by the task: --num-samples 4 --temperature 0.6;" in capsys.readouterr().err


def test_equal_answers_vote_together(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [{"question": "1/2?", "answer": "1/2"}])
    (folder / "voted.toml").write_text('[data]\nfile = "rows.jsonl"\n[verifier]\nname = "math"\n')
    same = same_to(rewardkit.load_task("voted.toml"))
    assert list(same([("0.5", "\\frac12"), ("0.5", "2")])) == [True, False]


def test_a_task_file_is_a_reward(folder: Path) -> None:
    (folder / "mine.toml").write_text('[data]\nfile = "rows.jsonl"\n[verifier]\nname = "exact"\n')
    assert isinstance(resolve("mine.toml").task, DefinedTask)


def test_what_a_task_sets_are_options_of_eval() -> None:
    sampling = dict.fromkeys(types_of(SamplingSection), 1)
    definition = TaskDefinition(
        limit=1, fewshot=FewshotSection(count=1, file="f"), sampling=SamplingSection(**sampling)
    )
    settings = DefinedTask(definition).eval_settings()
    assert settings.keys() <= DEFAULTS.keys()
    assert sampling.keys() <= settings.keys()


def test_examples_that_a_task_sets_are_for_its_own_prompt(folder: Path) -> None:
    (folder / "shown.toml").write_text(
        'prompt = "few_shot"\n[data]\nfile = "rows.jsonl"\n[verifier]\nname = "exact"\n'
        '[fewshot]\ncount = 1\nfile = "rows.jsonl"\n'
    )
    assert options_for(("shown.toml",), "m").num_fewshot == 1
    assert options_for(("shown.toml",), "m", "answer").num_fewshot is None
    task = rewardkit.load_task("shown.toml")
    assert resolve_prompt(task, draw=False).examples.count == 0
    with pytest.raises(DataError, match="--fewshot-data rows.jsonl: row 1 has no column"):
        resolve_prompt(task)


def test_examples_that_a_set_lacks_are_an_error_before_the_model_loads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_set = ["--data", "rows.jsonl", "--question-field", "q", "--verifier", "xmlcount"]
    arguments = ["--model", "nowhere", "--backend", "transformers", "--prompt", "direct,few_shot"]
    assert run_command("eval", *own_set, *arguments) == 2
    assert "'few_shot' shows examples, and task 'rows' has none" in capsys.readouterr().err
    write_rows(folder / "replies.jsonl", [{"id": "0", "completion": "x"}])
    write_rows(folder / "rows.jsonl", ROWS[:1])
    arguments = ["--model", "replies.jsonl", "--backend", "replay", "--prompt", "few_shot"]
    assert run_command("eval", *own_set, *arguments, "--num-fewshot", "0", "-o", "run") == 0


def test_the_command_line_overrides_a_task_with_a_default_that_is_typed(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [{"question": "Capital of Norway?", "answer": "Oslo"}])
    (folder / "sampled.toml").write_text(SAMPLED + "temperature = 0.6\n")
    arguments = ["--task", "sampled.toml", "--model", "replies.jsonl", "--backend", "replay"]
    arguments += ["-n", "1", "--temperature", "0", "-o", "run", "--quiet"]
    assert run_command("eval", *arguments) == 0
    record = json.loads(Path("run/run.json").read_text())["tasks"]["sampled"]
    assert (record["num_samples"], record["sampling"]["temperature"]) == (1, 0.0)


def test_score_takes_rows_that_name_their_verifier_and_need_no_reference(folder: Path) -> None:
    rows = [{**row, "completion": reply} for row, reply in zip(ROWS, REPLIES, strict=True)]
    rows = [{**row, "reference": row.pop("a")} if "a" in row else row for row in rows]
    write_rows(folder / "replies.jsonl", rows)
    assert run_command("score", "replies.jsonl", "--verifier-field", "kind", "-o", "out") == 0
    assert run_command("score", "replies.jsonl", "--verifier", "xmlcount") == 0
    assert run_command("score", "replies.jsonl", "--verifier", "math") == 1
    assert run_command("score", "out") == 0


def test_score_takes_a_task_file(folder: Path) -> None:
    (folder / "mine.toml").write_text(
        '[data]\nfile = "rows.jsonl"\n[columns]\nquestion = "q"\nreference = "a"\n'
        '[verifier]\nname = "exact"\n'
    )
    write_rows(folder / "replies.jsonl", [{**ROWS[1], "completion": "<answer>Oslo</answer>"}])
    assert run_command("score", "replies.jsonl", "--task", "mine.toml", "-o", "out") == 0
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["tasks"]["mine"]["metrics"]["accuracy"]["value"] == 1.0
    (folder / "mine.toml").unlink()
    assert run_command("score", "out") == 0
