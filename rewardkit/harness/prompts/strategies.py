"""Prompts fitted to tasks: which a task can be asked in, in what words, with which examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.prompts.fewshot import FewshotExamples, built_in, drawn
from rewardkit.harness.prompts.fewshot_source import FewshotSource
from rewardkit.harness.prompts.template import PromptTemplate, Words, load_template
from rewardkit.harness.prompts.wording import GENERIC_WORDING, TaskWording
from rewardkit.protocols import Message, Task
from rewardkit.records import Sample


def named(
    task: Task, name: str, system: str | None, drawing: FewshotSource | None
) -> PromptTemplate:
    """The installed prompt `name` for this task; UsageError names those that it can be asked in."""
    template = load_template(name, registry.installed().prompt(name), system)
    wording = wording_of(task)
    if template.needs_words and not _has_words(wording, template):
        lacking = (
            ", since it offers no `wording` (docs/reference/plugins.md)"
            if wording is GENERIC_WORDING
            else ""
        )
        raise UsageError(
            f"task {task.name!r} can't be asked in {name!r}{lacking}; "
            f"it can in {', '.join(prompts_of(task))}"
        )
    unread = _unread(template, task)
    if unread:
        raise UsageError(f"{unread}; it can be asked in {', '.join(prompts_of(task))}")
    return fitted(template, task, drawing)


def fitted(template: PromptTemplate, task: Task, drawing: FewshotSource | None) -> PromptTemplate:
    """The template with the task's words and examples; `drawing` None: the task's own examples.

    Raises UsageError for an answer style that the task doesn't read, and DataError where
    examples can't be drawn.
    """
    unread = _unread(template, task)
    if unread:
        raise UsageError(unread)
    wording = wording_of(task)
    return replace(template, words=Words(wording, _shots(template, task, wording, drawing)))


def check_drawing(templates: Sequence[PromptTemplate], drawing: FewshotSource | None) -> None:
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
    if _unread(template, task):
        return False
    if template.needs_words:
        return _has_words(wording_of(task), template)
    if template.reading is None or template.name == task.prompt:
        return template.name == task.prompt
    wording = wording_of(task)
    return wording is GENERIC_WORDING or template.reading in wording.forms


def installed_prompts() -> Mapping[str, PromptTemplate]:
    """All prompts by name, as their files are."""
    offers = registry.installed().offers("prompts")
    return {name: load_template(name, str(offers[name].value)) for name in sorted(offers)}


def wording_of(task: Task) -> TaskWording:
    """The task's words for the strategies; generic ones where it brings none."""
    found = getattr(task, "wording", None)
    return found if isinstance(found, TaskWording) else GENERIC_WORDING


def _has_words(wording: TaskWording, template: PromptTemplate) -> bool:
    """Whether a strategy is one that the task offers, in a style whose form it knows."""
    offered = wording.only is None or template.name in wording.only
    return offered and (template.reading is None or template.reading in wording.forms)


def _shots(
    template: PromptTemplate, task: Task, wording: TaskWording, drawing: FewshotSource | None
) -> FewshotExamples:
    if drawing is not None and template.draws_examples:
        return drawn(task, drawing)
    if template.has_examples:
        return built_in(task, wording, template.shows)
    return FewshotExamples((), 0)


def _unread(template: PromptTemplate, task: Task) -> str | None:
    """What the task says of an answer style that it doesn't read."""
    try:
        task.verifier(template.reading)
    except UsageError as error:
        return str(error)
    return None
