"""The sets that are shipped as TOML: five rows of our own in the shape of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.cli.check import check_installation
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.tasks.defined.task import DefinedTask
from rewardkit.registry import installed

TEXTS = ["iron", "copper", "zinc", "gold"]


def numbered(question: str, answer: str, **more: Any) -> list[dict[str, Any]]:
    """Five rows of an addition in these columns."""
    return [
        {question: f"What is {number} + 2?", answer: str(number + 2), **more} for number in range(5)
    ]


ROWS: dict[str, list[dict[str, Any]]] = {
    "aqua": [
        {"question": f"{n}?", "options": ["A)1", "B)2", "C)3", "D)4", "E)5"], "correct": letter}
        for n, letter in enumerate("ABCDE")
    ],
    "gsm8k": [
        {"question": f"{n} + 1?", "answer": f"It is {n}+1=<<{n}+1={n + 1}>>{n + 1}.\n#### {n + 1}"}
        for n in range(5)
    ],
    "math500": numbered("problem", "answer", solution=r"It is \boxed{2}.", level=1, subject="x"),
    "aime24": numbered("problem", "answer", solution="Add.", url="", year="2024"),
    "aime25": numbered("problem", "answer"),
    "amc23": numbered("question", "answer"),
    "hendrycks_math": [
        {
            "problem": f"Halve {number}.",
            "level": f"Level {number}",
            "type": "Algebra",
            "solution": rf"Half of it is $\boxed{{\frac{{{number}}}{{2}}}}$.",
        }
        for number in range(1, 6)
    ],
    "minerva_math": numbered("question", "answer"),
    "olympiadbench": [
        {
            "context": "In a ring." if number == 2 else None,
            "question": f"Case {number}",
            "final_answer": [answer],
            "subfield": "Algebra",
            "id": number,
        }
        for number, answer in enumerate(
            ["2", "$\\frac{1}{2}$", "1, 2", "$(3,4)$", "$\\sqrt{2}$"], 1
        )
    ],
    "svamp": [
        {
            "ID": f"own-{number}",
            "Body": f"Ann has {number} pens.",
            "Question": "How many has she with 2 more?",
            "Equation": f"( {number} + 2 )",
            "Answer": f"{number + 2}.0",
            "Type": "Addition",
        }
        for number in range(5)
    ],
    "asdiv": [
        {
            "body": "Ann has some pens.",
            "question": f"How many, case {number}?",
            "answer": answer,
            "formula": "",
            "solution_type": "Addition",
        }
        for number, answer in enumerate(["9 (pens)", "2.5 (km)", "3", "1/2 (cake)", "20 (%)"])
    ],
    "mmlu": [
        {"question": f"Metal {n}?", "subject": "chemistry", "choices": TEXTS, "answer": n % 4}
        for n in range(5)
    ],
    "mmlu_pro": [
        {
            "question_id": 70 + n,
            "question": f"Number {n}?",
            "options": [f"number {option}" for option in range(10)],
            "answer": "AJCDE"[n],
            "answer_index": 0,
            "cot_content": "",
            "category": "math",
            "src": "own",
        }
        for n in range(5)
    ],
    "gpqa_diamond": [
        {
            "Record ID": f"rec{n}",
            "Question": f"Which metal is number {n}?",
            "Correct Answer": "tin\n",
            **{f"Incorrect Answer {place}": TEXTS[place] for place in (1, 2, 3)},
            "High-level domain": "Chemistry",
        }
        for n in range(5)
    ],
    "arc": [
        {
            "id": f"own-{n}",
            "question": f"Metal {n}?",
            "choices": {"text": TEXTS, "label": list("1234" if n % 2 else "ABCD")},
            "answerKey": "2" if n % 2 else "C",
        }
        for n in range(5)
    ],
    "commonsense_qa": [
        {
            "id": f"own-{n}",
            "question": f"Where is item {n}?",
            "question_concept": "item",
            "choices": {"label": list("ABCDE"), "text": ["shelf", "box", "bag", "bin", "tin"]},
            "answerKey": "ABCDE"[n],
        }
        for n in range(5)
    ],
    "bbh": [
        {"input": f"Case {n}", "target": target, "subset": "own"}
        for n, target in enumerate(["True", "(B)", "] )", "-12", "ant bee cat"])
    ],
    "humaneval": [
        {
            "task_id": f"Own/{n}",
            "prompt": f'def add_{n}(number):\n    """Add {n}."""\n',
            "canonical_solution": f"    return number + {n}\n",
            "test": f"def check(candidate):\n    assert candidate(1) == {n + 1}\n",
            "entry_point": f"add_{n}",
        }
        for n in range(5)
    ],
    "mbpp": [
        {
            "task_id": n,
            "text": f"Write a function that adds {n}.",
            "code": f"def add(number):\n    return number + {n}",
            "test_list": [f"assert add(1) == {n + 1}", f"assert add(0) == {n}"],
            "test_setup_code": "",
        }
        for n in range(5)
    ],
    "livecodebench": [
        {
            "question_id": f"own-{n}",
            "question_content": f"Read a number and print it plus {n}.",
            "starter_code": "",
            "difficulty": "easy",
            "public_test_cases": json.dumps([{"input": "1", "output": str(n + 1)}]),
            "private_test_cases": json.dumps([{"input": "5", "output": f"{n + 5}\n"}]),
            "metadata": "{}",
            "solution": f"print(int(input()) + {n})",
        }
        for n in range(5)
    ],
    "ifbench": [
        {
            "key": str(n),
            "prompt": f"Write about {n} in at least {n} different words without white space.",
            "instruction_id_list": ["count:unique_word_count", "format:no_whitespace"],
            "kwargs": [{"N": float(n), "keyword": None}, {"N": None}],
        }
        for n in range(5)
    ],
    "ifeval": [
        {
            "key": n,
            "prompt": f"Write about {n} in at least {n} words without a comma.",
            "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
            "kwargs": [{}, {"num_words": n, "relation": "at least"}],
        }
        for n in range(5)
    ],
}
ROWS["bfcl"] = [
    {
        "id": f"simple_{n}",
        "question": [
            [
                {"role": "system", "content": "Be exact."},
                {"role": "user", "content": f"The factorial of {n}, it's said"},
            ]
        ],
        "function": [
            {
                "name": "math.factorial",
                "description": "An integer's factorial.",
                "parameters": {
                    "type": "dict",
                    "properties": {"number": {"type": "integer"}, "unit": {"type": "string"}},
                    "required": ["number"],
                },
            }
        ],
        "possible_answer": [{"math.factorial": {"number": [n], "unit": ["", "one"]}}],
    }
    for n in range(4)
]
ROWS["bfcl"].append({**ROWS["bfcl"][0], "id": "irrelevance_4", "possible_answer": []})
WITHOUT_REFERENCES = ["ifbench", "ifeval"]
SETS = sorted(
    name
    for name, offer in installed().offers("tasks").items()
    if str(offer.value).endswith(".toml")
)


@pytest.fixture
def rows_file(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    file = tmp_path / "rows.jsonl"
    rows = ROWS[request.getfixturevalue("name")]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_every_set_has_rows_here() -> None:
    assert sorted(ROWS) == SETS


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_check_passes_on_rows_of_its_shape(name: str, rows_file: str) -> None:
    findings = list(check_installation(tasks=[name], plugins=[], data=rows_file))
    assert [finding for finding in findings if not finding.passed] == []
    stated = "5 rows without a reference" if name in WITHOUT_REFERENCES else "5 of 5 references"
    assert any(stated in finding.title for finding in findings)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETS if name not in WITHOUT_REFERENCES])
def test_another_rows_answer_is_wrong(name: str, rows_file: str) -> None:
    task = rewardkit.load_task(name)
    samples = task.load(data=rows_file, split=None, seed=0)
    verifier = task.flexible() or task.verifier()
    for sample in samples:
        others = [other for other in samples if other.reference != sample.reference]
        assert others
        verdict = rewardkit.verify(
            verifier, task.perfect(others[0]), sample.reference, columns=sample.columns
        )
        assert verdict.correct is False


@pytest.mark.parametrize("name", SETS)
def test_the_hub_is_asked_for_the_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def hub_rows(*arguments: Any) -> list[dict[str, Any]]:
        asked.append(arguments)
        return [dict(row) for row in ROWS[name]]

    monkeypatch.setattr("rewardkit.harness.tasks.defined.task.hub_rows", hub_rows)
    task = rewardkit.load_task(name)
    assert isinstance(task, DefinedTask)
    samples = task.load(data=None, split=None, seed=0)
    data = task.definition.data
    assert asked == [
        (data.repository, subset, data.split, None) for subset in data.subset or (None,)
    ]
    assert len(samples) == 5 * len(asked)


def test_a_list_of_references_holds_alternatives() -> None:
    task = rewardkit.load_task("math500")
    sample = task.sample({"problem": "?", "answer": ["1/2", "50"]}, 0)
    assert (sample.reference, sample.references) == ("1/2", ("50",))
    with pytest.raises(
        DataError, match="row 1: the reference in the column 'answer' is a list with"
    ):
        task.sample({"problem": "?", "answer": ["1/2", {"value": "1/2"}]}, 0)


def test_a_boxed_thinking_reply_fits_every_set_with_boxes() -> None:
    reply = "<think>\nHalve it.\n</think>\n<ANSWER>\n\\boxed{18}\n</ANSWER>"
    for name in ("aime24", "svamp", "gsm8k"):
        verifier = rewardkit.load_task(name).verifier("think_boxed")
        assert rewardkit.verify(verifier, reply, "18").correct is True
        assert rewardkit.verify(verifier, r"\boxed{18}", "18").correct is False
    with pytest.raises(UsageError, match="'think_boxed', which task 'arc' doesn't read"):
        rewardkit.load_task("arc").verifier("think_boxed")


def test_examples_of_ones_own_stand_beside_the_tasks_file(tmp_path: Path) -> None:
    (tmp_path / "examples.toml").write_text('[[example]]\nquestion = "1?"\nanswer = "1"\n')
    (tmp_path / "mine.toml").write_text(
        '[data]\nfile = "rows.jsonl"\n[verifier]\nname = "math"\n'
        '[wording]\nexamples = "examples.toml"\n'
    )
    task = rewardkit.load_task(str(tmp_path / "mine.toml"))
    (example,) = resolve_prompt(task, "few_shot").examples.samples
    assert (example.id, example.question, example.reference) == ("example-1", "1?", "1")


def test_the_seed_shuffles_options_and_the_letter_follows() -> None:
    task = rewardkit.load_task("gpqa_diamond")
    assert isinstance(task, DefinedTask)
    samples = [task._sample(row, 0, seed) for row in ROWS["gpqa_diamond"] for seed in range(8)]
    assert {sample.reference for sample in samples} == set("ABCD")
    for sample in samples:
        options = sample.columns["options"]
        assert isinstance(options, list)
        assert options["ABCD".index(sample.reference)] == f"({sample.reference}) tin"
    again = task._sample(ROWS["gpqa_diamond"][0], 0, 3)
    assert again == task._sample(ROWS["gpqa_diamond"][0], 0, 3)


def test_the_functions_of_a_row_are_tools_or_in_the_prompt() -> None:
    task = rewardkit.load_task("bfcl")
    sample = task.sample(ROWS["bfcl"][2], 2)
    template = resolve_prompt(task)
    assert template.messages(sample)[0].content == "Be exact."
    assert template.tools(sample)[0]["function"]["name"] == "math_factorial"
    shown = resolve_prompt(task, "tools")
    assert shown.tools(sample) == ()
    prompt = shown.messages(sample)[-1].content
    assert prompt.endswith(f"{json.dumps(ROWS['bfcl'][2]['function'][0])}\n\n{sample.question}")
    as_text = task.sample({**ROWS["bfcl"][2], "function": json.dumps("f")}, 2)
    assert '"f"' in shown.messages(as_text)[-1].content
    none = task.sample(ROWS["bfcl"][4], 4)
    assert (none.reference, task.perfect(none)) == ("[]", "No function fits.")


def test_a_row_without_a_right_program_says_where_to_name_one() -> None:
    task = rewardkit.load_task("humaneval")
    sample = task.sample({**ROWS["humaneval"][0], "canonical_solution": ""}, 0)
    with pytest.raises(DataError, match=r"wording\.solution"):
        task.perfect(sample)
