from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit import Sample
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.prompts.wording import TaskWording, word_problem

SAMPLE = Sample("72", "How many?", "0", columns={"options": ["A) 1", "B) 2"], "numbers": "1 2 3 4"})


def template(tmp_path: Path, text: str, system: str | None = None) -> list[tuple[str, str]]:
    (tmp_path / "p.jinja").write_text(text)
    loaded = load_template("p", tmp_path / "p.jinja", system)
    return [(message.role, message.content) for message in loaded.messages(SAMPLE)]


def test_plain_text_is_the_users_message(tmp_path: Path) -> None:
    assert template(tmp_path, "Q: {{ question }}\n") == [("user", "Q: How many?")]


def test_a_block_is_the_system_message_and_an_option_replaces_it(tmp_path: Path) -> None:
    text = "{% block system %}Be brief, {{ options[0] }}.{% endblock %}{{ question }}"
    assert template(tmp_path, text) == [("system", "Be brief, A) 1."), ("user", "How many?")]
    assert template(tmp_path, text, "Shout.") == [("system", "Shout."), ("user", "How many?")]
    assert template(tmp_path, text, "") == [("user", "How many?")]


def test_the_reading_is_what_the_template_sets(tmp_path: Path) -> None:
    (tmp_path / "p.jinja").write_text('+++\nreading = "xml"\n+++\n{{ question }}')
    assert load_template("p", tmp_path / "p.jinja").reading == "xml"


def test_the_hash_differs_between_templates_and_between_system_prompts(tmp_path: Path) -> None:
    hashes = set()
    for text in ("a {{ question }}", "b {{ question }}"):
        for system in (None, "", "s"):
            (tmp_path / "p.jinja").write_text(text)
            hashes.add(load_template("p", tmp_path / "p.jinja", system).hash())
    assert len(hashes) == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ question", "prompt 'p', line 1"),
        ("{{ qestion }}", "variables here: numbers, options, question"),
        ("{{ qestion }}", r"no variable 'qestion' \(did you mean 'question'\?\); its"),
        ("{{ question + 1 }}", "sample '0': TypeError"),
        ("{{ options[7] }}", "sample '0': UndefinedError"),
        ("{% include 'other' %}", "sample '0': TypeError: no loader"),
        ("{% for x in options %}{{ question }}", "prompt 'p', line 1"),
        ("{% block sytem %}{% endblock %}", r"unknown blocks \['sytem'\]; known: 'system'"),
        ("{% block reply %}a{% endblock %}", "only the block 'reply'"),
        ("a\n{% if 1 %}{% block system %}a{% endblock %}{% endif %}", "line 2: block 'system'"),
        ("+++\nreading = 1\n+++\n", "prompt 'p': reading is 1; it must be text"),
        ("+++\nstop = [1]\n+++\n", r"stop is \[1\]; it must be text or a list of texts"),
        ("+++\nshows = 'short'\n+++\n", "shows is 'short'; it must be one of example, long"),
        ("+++\nreding = 'xml'\n+++\n", "key in prompt 'p' named 'reding'; did you mean 'reading'"),
        ("+++\nreading = xml\n+++\n", "its settings aren't TOML: .*line 1"),
        (
            "+++\nreading = 'xml'\n{{ question }}",
            "the line [+]{3} that ends its settings is missing",
        ),
        ("+++\nreading = 'xml'\n+++\n\n{{ question", "prompt 'p', line 5"),
        ("{{ question.__class__.__mro__ }}", "SecurityError"),
        ("{{ options.append(1) }}", "SecurityError"),
        ("{{ 1 // (7 - options | length - 5) }}", "sample '0': ZeroDivisionError"),
        ("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}", "sample '0': RecursionError"),
        ("{{ " + "9" * 5000 + " }}", "prompt 'p' can't be compiled"),
    ],
)
def test_an_error_in_a_template_names_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        template(tmp_path, text)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.jinja"):
        load_template("p", "nowhere.jinja")


def test_what_a_template_sets_is_read_from_its_text(tmp_path: Path) -> None:
    (tmp_path / "p.jinja").write_text(
        '+++\nstop = ["Q:", "A:"]\nabout = "Plain."\n+++\n{{ question }}'
    )
    loaded = load_template("p", tmp_path / "p.jinja")
    assert (loaded.stop, loaded.about, loaded.reading) == (("Q:", "A:"), "Plain.", None)
    assert loaded.messages(SAMPLE)[0].content == "How many?"


@pytest.mark.parametrize("odd", ["{{ 7 * 7 }}", "{% raw %}", "{# #}", "{{ options.__class__ }}"])
def test_text_in_the_data_never_runs_as_a_template(tmp_path: Path, odd: str) -> None:
    (tmp_path / "p.jinja").write_text("Q: {{ question }} {{ options[0] }}")
    loaded = load_template("p", tmp_path / "p.jinja")
    (message,) = loaded.messages(Sample("1", odd, "0", columns={"options": [odd]}))
    assert message.content == f"Q: {odd} {odd}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{% for o in options %}{{ loop.index }}. {{ o }}\n{% endfor %}", "1. A) 1\n2. B) 2"),
        ("{{ options | join(', ') }} {{ ', '.join(options) }}", "A) 1, B) 2 A) 1, B) 2"),
        ("{{ question ~ 1 ~ options[0] }}", "How many?1A) 1"),
        ("{{ '%.2f' | format(2) }} {{ '%d' % 3 }} {{ '{:>3}'.format(1) }}", "2.00 3   1"),
        ("{{ question.replace('How', 'So') | replace('many', 'few') }}", "So few?"),
        ("{{ question | indent(2, true) }} {{ '7'.zfill(3) }}", "How many? 007"),
        ("{{ options | tojson }} {{ 2 * 3 + 1 }} {{ 2**3 }} {{ 5 % 3 }}", '["A) 1", "B) 2"] 7 8 2'),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}", "<1>"),
        ("{{ options | map('upper') | list | length }}{{ options[0].split(')')[0] }}", "2A"),
    ],
)
def test_what_prompts_use_works_as_in_jinja(tmp_path: Path, text: str, shown: str) -> None:
    assert template(tmp_path, text) == [("user", shown)]


def test_a_command_in_a_prompt_does_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hostile = f"{{{{ cycler.__init__.__globals__.os.system('touch {ran}') }}}}"
    with pytest.raises(UsageError, match="prompt 'p' doesn't render .* SecurityError"):
        template(tmp_path, hostile)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("{{ question.__class__.__base__.__subclasses__() }}", "SecurityError"),
        ("{{ question + 1 }}", "TypeError"),
        ("{{ 1 // (options | length - 2) }}", "ZeroDivisionError"),
        ("{{ qestion }}", "'qestion' is undefined; its columns: numbers, options, question"),
        ("{{ question", "TemplateSyntaxError"),
    ],
)
def test_any_error_of_a_tasks_wording_is_named(problem: str, said: str) -> None:
    wording = TaskWording(instruction="", noun="", forms={"": "{}"}, problem=problem)
    with pytest.raises(DataError, match=f"the task's wording .*{said}"):
        word_problem(wording, SAMPLE, None)
