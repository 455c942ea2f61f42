"""Prompts fitted to tasks: which a task can be asked in, in what words, with which examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.asking import GENERIC, Asking
from rewardkit.harness.prompting import PromptTemplate, Words, load_template
from rewardkit.harness.shots import Drawing, built_in, drawn
from rewardkit.protocols import Message, Task
from rewardkit.records import Sample


def named(task: Task, name: str, system: str | None, drawing: Drawing | None) -> PromptTemplate:
    """The installed prompt `name` for this task; UsageError names those that it can be asked in."""
    template = load_template(name, registry.installed().prompt(name), system)
    asking = asking_of(task)
    if template.needs_words and not _is_offered(asking, name):
        lacking = ", since it offers no `asking` (docs/plugins.md)" if asking is GENERIC else ""
        raise UsageError(
            f"task {task.name!r} can't be asked in {name!r}{lacking}; "
            f"it can in {', '.join(prompts_of(task))}"
        )
    try:
        return fitted(template, task, drawing)
    except UnreadStyle as error:
        raise UsageError(f"{error}; it can be asked in {', '.join(prompts_of(task))}") from error


class UnreadStyle(UsageError):
    """A prompt asks for answers in a style that the task's verifier doesn't read."""


def fitted(template: PromptTemplate, task: Task, drawing: Drawing | None) -> PromptTemplate:
    """The template with the task's words and examples; `drawing` None: the task's own examples.

    Raises UnreadStyle, and DataError where examples can't be drawn.
    """
    _check_reading(template, task)
    asking = asking_of(task)
    draws = drawing is not None and template.draws_examples
    shots = drawn(task, drawing) if draws and drawing else built_in(task, asking, template.shows)
    return replace(template, words=Words(asking, shots))


def check_drawing(templates: Sequence[PromptTemplate], drawing: Drawing | None) -> None:
    """UsageError where examples are to be drawn and none of the prompts shows any."""
    if drawing is None or any(template.draws_examples for template in templates):
        return
    names = ", ".join(repr(template.name) for template in templates)
    raise UsageError(
        f"--num-fewshot has nothing to do: {names} shows no examples that are drawn; "
        "few_shot and cot do, and a template of your own with `examples`"
    )


def check_rendering(template: PromptTemplate, samples: Sequence[Sample]) -> None:
    """Render every row. UsageError for the first that fails, or if all rows give one prompt."""
    prompts: set[tuple[Message, ...]] = set()  # two at most: enough to see that they differ
    questions: set[str] = set()
    for sample in samples:
        messages = tuple(template.messages(sample))
        if not messages[-1].content:
            raise UsageError(
                f"prompt {template.name!r} is empty for sample {sample.id!r}; "
                "it must hold {{ question }}"
            )
        if len(prompts) < 2:
            prompts.add(messages)
            questions.add(sample.question)
    if len(prompts) == 1 and len(questions) > 1:
        raise UsageError(
            f"prompt {template.name!r} is the same for every row; it must hold "
            "{{ question }}, or other columns that tell the problems apart"
        )


def worked_examples(template: PromptTemplate) -> list[tuple[str, Sample]]:
    """Each example's reply as the prompt shows it, with its sample."""
    if template.words is None or not template.has_examples:
        return []
    return [(template.reply(sample), sample) for sample in template.words.shots.samples]


def prompts_of(task: Task) -> list[str]:
    """The installed prompts that the task can be asked in."""
    return [name for name, template in installed_prompts().items() if takes(task, template)]


def takes(task: Task, template: PromptTemplate) -> bool:
    """Whether the task reads the style that an installed prompt asks for, and has its words."""
    try:
        _check_reading(template, task)
    except UnreadStyle:
        return False
    if template.needs_words:
        return _is_offered(asking_of(task), template.name)
    if template.reading is None or template.name == task.prompt:
        return template.name == task.prompt
    asking = asking_of(task)
    return asking is GENERIC or template.reading in asking.forms


def installed_prompts() -> Mapping[str, PromptTemplate]:
    """All prompts by name, as their files are."""
    offers = registry.installed().offers("prompts")
    return {name: load_template(name, str(offers[name].value)) for name in sorted(offers)}


def asking_of(task: Task) -> Asking:
    """The task's words for the strategies; generic ones where it brings none."""
    found = getattr(task, "asking", None)
    return found if isinstance(found, Asking) else GENERIC


def _is_offered(asking: Asking, name: str) -> bool:
    return asking.only is None or name in asking.only


def _check_reading(template: PromptTemplate, task: Task) -> None:
    try:
        task.verifier(template.reading)
    except UsageError as error:
        raise UnreadStyle(str(error)) from error
