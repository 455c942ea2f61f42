from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit import Sample, registry
from rewardkit.errors import UsageError
from rewardkit.harness.prompting import load_template

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
    (tmp_path / "p.jinja").write_text('{% set reading = "xml" %}{{ question }}')
    assert load_template("p", tmp_path / "p.jinja").reading == "xml"


def test_the_hash_tells_templates_and_system_prompts_apart(tmp_path: Path) -> None:
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
        ("{% block sytem %}{% endblock %}", r"blocks \['sytem'\]"),
    ],
)
def test_a_template_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        template(tmp_path, text)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.jinja"):
        load_template("p", "nowhere.jinja")


@pytest.mark.parametrize("name", sorted(registry.installed().offers("prompts")))
def test_every_prompt_of_ours_renders_and_asks_for_a_style_that_a_task_reads(name: str) -> None:
    loaded = load_template(name, registry.installed().prompt(name))
    messages = loaded.messages(SAMPLE)
    assert messages[-1].role == "user"
    assert "How many?" in messages[-1].content
    tasks = [registry.installed().task(task) for task in registry.installed().offers("tasks")]

    def reads(task: object) -> bool:
        try:
            task.verifier(loaded.reading)  # type: ignore[attr-defined]
        except UsageError:
            return False
        return True

    assert any(reads(task) for task in tasks)
