"""The sandbox for templates: forbidden access, and limits on time and output."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit import Sample
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.sandbox import MOST_CHARACTERS, MOST_STEPS
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.prompts.wording import TaskWording, word_problem

SAMPLE = Sample("72", "How many?", "0", columns={"options": ["A) 1", "B) 2"]})


def rendered(folder: Path, text: str) -> str:
    (folder / "p.jinja").write_text(text)
    (message,) = load_template("p", folder / "p.jinja").messages(SAMPLE)
    return message.content


DOUBLED = "{% set x = 'a' * 1000 %}" + "{% set x = %s %}" * 40 + "{{ x }}"
LONG = MOST_CHARACTERS + 1


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
        f"{{% for a in [1] * {MOST_STEPS + 1} %}}{{% endfor %}}",
        "{% macro f(n) %}{{ f(n - 1) ~ f(n - 1) if n }}{% endmacro %}{{ f(60) }}",
        "{% for a in [[]] recursive %}{{ loop([a]) }}{% endfor %}",
        "{{ range(10 ** 9) }}",
        "{{ 'x' * 10 ** 9 }}",
        "{{ [1] * 10 ** 9 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ (10 ** 1000000) * (10 ** 100000000) }}",
        f"{{{{ '%{LONG}d' % 1 }}}}",
        f"{{{{ '%{LONG}d' | format(1) }}}}",
        f"{{{{ '%*d' % ({LONG}, 1) }}}}",
        f"{{{{ '{{:>{LONG}}}'.format(1) }}}}",
        f"{{{{ '{{:{{}}}}'.format(1, {LONG}) }}}}",
        f"{{{{ 'x'.center({LONG}) }}}}",
        f"{{{{ 'x'.ljust({LONG}) }}}}",
        f"{{{{ '1'.zfill({LONG}) }}}}",
        f"{{{{ '\\t'.expandtabs({LONG}) }}}}",
        "{{ ('x' * 10000).replace('x', 'y' * 10000) }}",
        "{{ ('x' * 10000) | replace('x', 'y' * 10000) }}",
        "{{ (['x' * 10000] * 10000) | join }}",
        "{{ ('x' * 10000).join(['a'] * 10000) }}",
        f"{{{{ 'x' | indent({LONG}, true) }}}}",
        f"{{{{ [[1]] | tojson({LONG}) }}}}",
        DOUBLED.replace("%s", "x ~ x"),
        DOUBLED.replace("%s", "x + x"),
        DOUBLED.replace("{% set x = %s %}", "{% set x %}{{ x }}{{ x }}{% endset %}"),
    ],
)
def test_a_template_over_a_limit_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"prompt 'p' (doesn't render|can't be compiled)"):
        rendered(tmp_path, text)


@pytest.mark.parametrize("name", ["batch", "center", "slice", "wordwrap"])
def test_filters_without_a_bound_are_unavailable(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"No filter named '{name}'"):
        rendered(tmp_path, f"{{{{ question | {name}(3) }}}}")


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
    assert rendered(tmp_path, text) == shown


def test_a_command_in_a_prompt_does_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hostile = f"{{{{ cycler.__init__.__globals__.os.system('touch {ran}') }}}}"
    with pytest.raises(UsageError, match="prompt 'p' doesn't render .* SecurityError"):
        rendered(tmp_path, hostile)
    assert not ran.exists()


def test_a_command_in_a_tasks_wording_does_not_run(tmp_path: Path) -> None:
    hostile = "{{ question.__class__.__base__.__subclasses__() }}"
    wording = TaskWording(instruction="", noun="", forms={"": "{}"}, problem=hostile)
    with pytest.raises(DataError, match=r"wording .*SecurityError"):
        word_problem(wording, SAMPLE, None)
