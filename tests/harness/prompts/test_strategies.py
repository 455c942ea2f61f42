"""Every task with every strategy that fits it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewardkit
from rewardkit import Sample, registry
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.prompts.strategies import (
    check_fewshot,
    check_rendering,
    prompts_of,
    resolve_prompt,
    wording_of,
    worked_examples,
)
from rewardkit.harness.prompts.template import PromptTemplate
from rewardkit.harness.tasks.defined.definition import TaskDefinition, VerifierSection
from rewardkit.harness.tasks.defined.task import DefinedTask
from rewardkit.judging import judge_many
from rewardkit.protocols import Message, Task
from rewardkit.records import Failure
from rewardkit.registry import installed
from rewardkit.verifiers.gsm8k import Gsm8k
from tests.support.rows import write_rows

GSM8K, MATH500 = map(installed().task, ("gsm8k", "math500"))
DOCS = Path(__file__).parents[3] / "docs" / "guides" / "prompts.md"
TEXT_TASKS = ("aqua", "game24", "gsm8k", "math500")
STRATEGIES = ["direct", "few_shot", "cot", "auto_cot", "long_cot", "xml", "think_answer", "r1_zero"]
ROWS: dict[str, dict[str, Any]] = {
    "aqua": {"question": "Which is 2?", "options": ["A)1", "B)2"], "correct": "B", "rationale": ""},
    "game24": {"numbers": [1, 2, 3, 4]},
    "gsm8k": {"question": "What is 1 + 1?", "answer": "1 + 1 = <<1+1=2>>2\n#### 2"},
    "math500": {"problem": "What is $1 + 1$?", "answer": "2", "solution": r"It is $\boxed{2}$."},
    "motion": {"points": [0, 1, 2, 3, 4], "targets": [5, 6, 7, 8, 9]},
}
ALL = [(task, name) for task in TEXT_TASKS for name in STRATEGIES] + [
    ("motion", "cot"),
    ("motion", "auto_cot"),
]


def task_and_sample(name: str) -> tuple[Task, Sample]:
    task = rewardkit.load_task(name)
    return task, task.sample(ROWS[name], 0)


def gsm8k_rows(tmp_path: Path, count: int, start: int = 0) -> str:
    file = tmp_path / f"rows-{start}-{count}.jsonl"
    rows = [
        {"question": f"What is {i} + {i}?", "answer": f"It is.\n#### {2 * i}", "id": f"r{i}"}
        for i in range(start, start + count)
    ]
    write_rows(file, rows)
    return str(file)


def text_of(messages: list[Message]) -> str:
    return "\n\n".join(message.content for message in messages)


@pytest.mark.parametrize(("task_name", "name"), ALL)
def test_every_strategy_states_the_form_of_the_answer(task_name: str, name: str) -> None:
    task, sample = task_and_sample(task_name)
    template = resolve_prompt(task, name)
    messages = template.messages(sample)
    roles = [message.role for message in messages]
    assert roles[-1] == "user"
    assert roles[1 if roles[0] == "system" else 0 :: 2] == ["user"] * ((len(roles) + 1) // 2)
    wording = wording_of(task)
    form = wording.form(template.reading).replace("{}", wording.noun)
    assert text_of(messages).count(form) == 1
    assert text_of(messages).count(wording.instruction) == 1
    assert messages[-1].content.count(sample.question) == 1
    assert not any("\n\n\n" in message.content for message in messages)


@pytest.mark.parametrize(
    ("task_name", "name"), [(t, n) for t, n in ALL if n in ("few_shot", "cot", "long_cot")]
)
def test_the_verifier_accepts_every_worked_example_in_its_style(task_name: str, name: str) -> None:
    task, sample = task_and_sample(task_name)
    template = resolve_prompt(task, name)
    worked = worked_examples(template)
    assert len(worked) >= (2 if name == "long_cot" else 4)
    verdicts = judge_many(task.verifier(template.reading), worked)
    assert [verdict.failure for verdict in verdicts] == [None] * len(worked)
    replies = [m.content for m in template.messages(sample) if m.role == "assistant"]
    assert replies == [reply for reply, _ in worked[: 1 if name == "long_cot" else 3]]


@pytest.mark.parametrize("style", ["xml", "r1_zero"])
@pytest.mark.parametrize("task_name", TEXT_TASKS)
def test_structured_styles_count_only_answers_in_form(task_name: str, style: str) -> None:
    task, _ = task_and_sample(task_name)
    wording = wording_of(task)
    verifier = task.verifier(style)
    for _, sample in worked_examples(resolve_prompt(task, "cot")):
        block = wording.form(style).replace("{}", wording.answer(sample))
        bare = wording.form(None).replace("{}", wording.answer(sample)).replace("answer>", "b>")
        right, wrong = judge_many(
            verifier, [(f"<think>\nSo.\n</think>\n{block}", sample), (f"So.\n{bare}", sample)]
        )
        assert right.correct, right
        assert wrong.failure in (Failure.FORMAT, Failure.NO_ANSWER), wrong


def test_all_steps_of_the_worked_hands_are_right() -> None:
    task, _ = task_and_sample("game24")
    for name in ("cot", "long_cot"):
        template = resolve_prompt(task, name)
        for verdict in judge_many(task.verifier(), worked_examples(template)):
            assert verdict.parts["process"] == 1.0


@pytest.fixture(scope="module")
def fitting_prompts() -> Mapping[str, list[str]]:
    """The prompts that fit each task."""
    return {task: prompts_of(rewardkit.load_task(task)) for task in ROWS}


@pytest.mark.parametrize(
    "name",  # the others suit sets without a form, with tests or with functions
    sorted(registry.installed().offers("prompts").keys() - {"question", "code", "tools"}),
)
def test_every_built_in_prompt_has_a_description_and_fits_a_task(
    fitting_prompts: Mapping[str, list[str]], name: str
) -> None:
    fitting = [task for task, prompts in fitting_prompts.items() if name in prompts]
    assert fitting
    for task_name in fitting:
        task, sample = task_and_sample(task_name)
        template = resolve_prompt(task, name)
        assert template.about.endswith(".")
        assert template.messages(sample)[-1].role == "user"
    assert f"`{name}`" in DOCS.read_text()


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name not in ("cot", "auto_cot")])
def test_an_unfit_prompt_is_refused_with_the_prompts_that_fit(name: str) -> None:
    with pytest.raises(UsageError, match=": auto_cot, cot, motion, motion_short") as refused:
        resolve_prompt(rewardkit.load_task("motion"), name)
    assert name in str(refused.value).partition(":")[0]


class Bare:
    """A plugin's task without a wording for the strategies."""

    name, prompt, max_tokens, group_by = "bare", "xml", 9, ()

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        return [Sample(str(i), f"Say {i}.", str(i)) for i in range(9)]

    def sample(self, row: Any, index: int) -> Sample:
        return Sample(str(row["reference"]), str(row["question"]), str(index))

    def verifier(self, reading: str | None = None) -> Gsm8k:
        if reading not in (None, "xml", "r1_zero"):
            raise UsageError(f"no style {reading!r}")
        return Gsm8k(reading="xml")

    def flexible(self) -> None:
        return None

    def perfect(self, sample: Sample) -> str:
        return f"<answer>{sample.reference}</answer>"


def test_a_task_without_wording_takes_templates_that_need_none(tmp_path: Path) -> None:
    (sample, *_) = Bare().load(data=None, split=None, seed=0)
    for name in ("xml", "think_answer", "r1_zero"):
        messages = resolve_prompt(Bare(), name).messages(sample)
        assert messages[-1].content.endswith("Say 0.")
    with pytest.raises(UsageError, match="'cot' doesn't fit task 'bare', which offers no"):
        resolve_prompt(Bare(), "cot")
    assert prompts_of(Bare()) == ["r1_zero", "think_answer", "xml"]
    (tmp_path / "p.jinja").write_text(
        "{% for e in examples %}{{ e.problem }} {{ e.answer }}. {% endfor %}{{ question }}"
    )
    template = resolve_prompt(Bare(), str(tmp_path / "p.jinja"), EvalOptions(num_fewshot=2))
    assert template.messages(sample)[0].content.count("Say") == 3


OWN_SET = DefinedTask(TaskDefinition(name="mine", verifier=VerifierSection(name="exact")))


@pytest.mark.parametrize(
    ("prompt", "remedy"),
    [
        ("cot", "evaluate with --num-fewshot N, which .*, or choose a prompt"),
        ("long_cot", "choose a prompt"),
    ],
)
def test_a_set_without_examples_is_refused_where_the_prompt_shows_some(
    prompt: str, remedy: str
) -> None:
    said = f"'{prompt}' shows examples, and task 'mine' has none of its own; {remedy} .*: answer, a"
    with pytest.raises(UsageError, match=said):
        resolve_prompt(OWN_SET, prompt)


def test_no_examples_are_shown_where_none_are_drawn() -> None:
    template = resolve_prompt(OWN_SET, "cot", EvalOptions(num_fewshot=0))
    assert len(template.messages(Sample("1", "Say 1."))) == 1


class TestDrawnExamples:
    def drawn(self, data: str, count: int = 3, seed: int = 0, name: str = "cot") -> PromptTemplate:
        return resolve_prompt(
            GSM8K, name, EvalOptions(num_fewshot=count, seed=seed, fewshot_data=data)
        )

    def questions(self, template: PromptTemplate, sample: Sample) -> list[str]:
        turns = [m.content for m in template.messages(sample) if m.role == "user"]
        return [turn.rpartition("Question: ")[2] for turn in turns[:-1]]

    def test_the_seed_and_the_number_decide_which_are_drawn(self, tmp_path: Path) -> None:
        data = gsm8k_rows(tmp_path, 50)
        template = self.drawn(data, 4)
        rows = GSM8K.load(data=gsm8k_rows(tmp_path, 20, start=100), split=None, seed=0)
        found = {tuple(self.questions(template, Sample("1", r.question, "x"))) for r in rows}
        assert len(found) == 1, "the same for each row"
        assert len(set(*found)) == 4
        sample = Sample("1", "q", "x")
        shown = [tuple(self.questions(self.drawn(data, 3, s), sample)) for s in (0, 0, 1, 2)]
        assert shown[0] == shown[1]
        assert len(set(shown)) == 3
        few, many = (self.questions(self.drawn(data, n), sample) for n in (2, 5))
        assert many[:2] == few

    @pytest.mark.slow
    @given(count=st.integers(0, 8), seed=st.integers(0, 2**32), asked=st.integers(0, 9))
    def test_the_row_asked_is_never_among_them(
        self, tmp_path_factory: pytest.TempPathFactory, count: int, seed: int, asked: int
    ) -> None:
        data = gsm8k_rows(tmp_path_factory.getbasetemp(), 10)
        sample = GSM8K.load(data=data, split=None, seed=0)[asked]
        renamed = Sample(sample.reference, sample.question.upper() + " ", "else")
        reworded = Sample(sample.reference, "Twice that?", sample.id, {"id": sample.id})
        template = self.drawn(data, count, seed)
        for problem in (sample, renamed, reworded):
            shown = self.questions(template, problem)
            assert sample.question not in shown
            assert len(set(shown)) == count

    def test_the_same_place_in_another_file_is_another_row(self, tmp_path: Path) -> None:
        data = Path(gsm8k_rows(tmp_path, 4))
        rows = [json.loads(line) for line in data.read_text().splitlines()]
        bare = [{"question": row["question"], "answer": row["answer"]} for row in rows]
        write_rows(data, bare)
        template = self.drawn(str(data), 4)
        for place in range(4):
            row = {"question": f"Another, {place}?", "answer": "#### 1"}
            assert len(self.questions(template, GSM8K.sample(row, place))) == 4

    def test_a_hand_in_another_order_is_the_same_row(self) -> None:
        task = rewardkit.load_task("game24")
        template = resolve_prompt(task, "few_shot")
        hand = task.sample({"numbers": [8, 8, 7, 4]}, 0)
        text = text_of(template.messages(hand))
        assert "4 7 8 8" not in text
        assert text.count("Question:") == 4

    def test_a_row_that_is_there_twice_is_drawn_once(self, tmp_path: Path) -> None:
        data = Path(gsm8k_rows(tmp_path, 4))
        data.write_text(data.read_text() * 5)
        assert len(set(self.questions(self.drawn(str(data), 4), Sample("1", "q", "x")))) == 4

    def test_the_hash_tells_what_is_shown(self, tmp_path: Path) -> None:
        data, other = gsm8k_rows(tmp_path, 50), gsm8k_rows(tmp_path, 50, start=50)
        templates = [
            resolve_prompt(GSM8K, "cot"),
            resolve_prompt(MATH500, "cot"),
            self.drawn(data),
            self.drawn(data, seed=1),
            self.drawn(data, 2),
            self.drawn(data, 0),
            self.drawn(other),
            self.drawn(data, name="few_shot"),
        ]
        assert len({template.hash() for template in templates}) == len(templates)

    def test_rows_that_are_not_shown_leave_the_hash_alone(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        first, other = gsm8k_rows(tmp_path / "a", 30), gsm8k_rows(tmp_path / "b", 30)
        order = list(range(30))
        random.Random("shots/0").shuffle(order)
        lines = Path(other).read_text().splitlines()
        lines[order[-1]] = lines[order[-1]].replace("It is.", "It was.")
        Path(other).write_text("\n".join(lines))
        assert self.drawn(first).hash() == self.drawn(other).hash()
        lines[order[0]] = lines[order[0]].replace("It is.", "It was.")
        Path(other).write_text("\n".join(lines))
        assert self.drawn(first).hash() != self.drawn(other).hash()

    @pytest.mark.slow
    def test_generated_tasks_draw_from_their_own_train_split(self) -> None:
        for name in ("game24", "motion"):
            task = rewardkit.load_task(name)
            template = resolve_prompt(task, "cot", EvalOptions(num_fewshot=5))
            train = {sample.question for sample in task.load(data=None, split="train", seed=0)}
            assert {sample.question for sample in template.examples.samples} <= train
            verdicts = judge_many(task.verifier(template.reading), worked_examples(template))
            assert all(verdict.correct for verdict in verdicts)

    def test_a_rows_solution_is_shown_clean(self) -> None:
        sample = GSM8K.sample(
            {"question": "q", "answer": "He has 2*3=<<2*3=6>>6.\nSo 6.\n#### 6"}, 0
        )
        assert wording_of(GSM8K).solution(sample) == "He has 2*3=6.\nSo 6."
        solution = r"[asy]draw((0,0)--(1,1));[/asy] So $x = \boxed{\frac{1}{2^{n}}}$."
        sample = MATH500.sample({"problem": "p", "answer": "1", "solution": solution}, 0)
        assert wording_of(MATH500).solution(sample) == r"So $x = \frac{1}{2^{n}}$."

    def test_a_prompt_of_the_users_own_shows_them_too(self, tmp_path: Path) -> None:
        (tmp_path / "p.jinja").write_text(
            '+++\nreading = "boxed"\n+++\n{% for e in examples %}{{ e.problem }} {{ e.answer }}\n'
            "{% endfor %}{{ question }}"
        )
        path, data = str(tmp_path / "p.jinja"), gsm8k_rows(tmp_path, 9)
        template = resolve_prompt(GSM8K, path, EvalOptions(num_fewshot=2, fewshot_data=data))
        (message,) = template.messages(Sample("1", "q", "x"))
        assert message.content.count(r"\boxed{") == 2
        (message,) = resolve_prompt(GSM8K, path).messages(Sample("1", "q", "x"))
        assert message.content.count(r"\boxed{") == 3  # our own

    def test_too_few_rows_are_an_error_that_names_the_remedy(self, tmp_path: Path) -> None:
        template = self.drawn(gsm8k_rows(tmp_path, 3), 4)
        with pytest.raises(UsageError, match="--num-fewshot 4: only 3 rows.*--fewshot-data"):
            template.messages(Sample("1", "q", "x"))

    def test_a_train_split_that_cant_be_had_names_the_remedy(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def offline(*_: object) -> None:
            raise DataError("can't be loaded; pass a local copy with --data") from OSError("off")

        monkeypatch.setattr("rewardkit.harness.tasks.defined.task.hub_rows", offline)
        with pytest.raises(
            DataError, match=r"train split of task 'gsm8k'.*\(off\).*--fewshot-data"
        ):
            resolve_prompt(GSM8K, "cot", EvalOptions(num_fewshot=2))

    def test_a_file_without_the_tasks_columns_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text('{"problem": "p", "answer": "1"}\n')
        with pytest.raises(DataError, match=r"--fewshot-data .*rows\.jsonl: row 1 has no column"):
            self.drawn(str(tmp_path / "rows.jsonl"))


def test_examples_come_from_the_problems_own_group(tmp_path: Path) -> None:
    rows = [
        {"question": f"{kind} {number}?", "answer": "A", "options": ["x", "y"], "category": kind}
        for kind in ("law", "math")
        for number in range(3)
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    task = rewardkit.load_task("mmlu_pro")
    drawn = EvalOptions(num_fewshot=2, fewshot_data=str(tmp_path / "rows.jsonl"))
    template = resolve_prompt(task, "few_shot", drawn)
    for sample in task.load(data=drawn.fewshot_data, split=None, seed=0):
        shown = "\n".join(message.content for message in template.messages(sample))
        assert shown.count(f"{sample.columns['category']} ") == 3
        assert shown.count(sample.question) == 1
    other = Sample("A", "art?", "x", columns={"category": "art", "options": ["x", "y"]})
    with pytest.raises(UsageError, match="only 0 rows whose category is 'art' can be examples"):
        template.messages(other)
    without = Sample("A", "art?", "x", columns={"options": ["x", "y"]})
    with pytest.raises(DataError, match="'x' has no column 'category', .* it has options"):
        template.messages(without)


def test_num_fewshot_without_a_prompt_that_shows_examples_is_refused() -> None:
    direct, cot, long = (resolve_prompt(GSM8K, n) for n in ("direct", "cot", "long_cot"))
    check_fewshot([direct], EvalOptions())
    check_fewshot([direct, cot], EvalOptions(num_fewshot=2))
    for templates in ([direct], [direct, long]):
        with pytest.raises(UsageError, match="--num-fewshot has no effect: 'direct'"):
            check_fewshot(templates, EvalOptions(num_fewshot=2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Say something.", "the same for every row; it must contain {{ question }}"),
        ("  ", "is empty"),
        ("{{ aks.form }} {{ question }}", "'aks' .did you mean 'ask'.*: answer, ask, examples"),
        ("{% if question == 'What is 1 + 1?' %}{{ hint }}{% endif %}{{ question }}", "'hint'"),
    ],
)
def test_a_prompt_is_checked_on_every_row(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.jinja").write_text(text)
    template = resolve_prompt(GSM8K, str(tmp_path / "p.jinja"))
    samples = GSM8K.load(data=gsm8k_rows(tmp_path, 3), split=None, seed=0)
    with pytest.raises(UsageError, match=said):
        check_rendering(template, samples)


def test_an_unread_style_is_refused_with_the_styles_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "p.jinja").write_text('+++\nreading = "roman"\n+++\n{{ question }}')
    for task in ROWS:
        with pytest.raises(UsageError, match=f"'roman', which task '{task}' doesn't read"):
            resolve_prompt(rewardkit.load_task(task), str(tmp_path / "p.jinja"))
    with pytest.raises(UsageError, match="these prompts fit: answer, auto_cot, boxed, cot, direct"):
        resolve_prompt(GSM8K, "choice")
