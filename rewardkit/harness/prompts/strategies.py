"""Find the prompts that fit a task, and add the task's wording and examples to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.prompts.fewshot import draw_examples, own_examples
from rewardkit.harness.prompts.template import PromptTemplate, load_template
from rewardkit.harness.prompts.wording import GENERIC_WORDING, TaskWording
from rewardkit.protocols import Message, Task, extras
from rewardkit.records import Sample

_DEFAULTS = EvalOptions()


def resolve_prompt(
    task: Task,
    prompt: str | None = None,
    options: EvalOptions = _DEFAULTS,
    *,
    draw: bool = True,
) -> PromptTemplate:
    """Load the prompt of this name or file, with the task's words and examples.

    `prompt` None is the task's default, with the examples that the task's settings draw. If neither
    the settings nor `num_fewshot` draw examples, the task's own are shown. A prompt that shows no
    examples ignores `num_fewshot`; `check_fewshot` refuses a call in which no prompt shows any.
    With `draw` False no row is read or drawn. UsageError for a prompt that doesn't fit the task or
    whose examples the task lacks, DataError for examples that can't be drawn.
    """
    if prompt is None and options.num_fewshot is None:
        settings = extras(task).eval_settings()
        if (count := settings.get("num_fewshot")) is not None:  # the same examples for every seed
            file = settings.get("fewshot_data")
            options = replace(options, num_fewshot=count, fewshot_data=file, seed=0)
    if options.num_fewshot is not None and not draw:
        options = replace(options, num_fewshot=0)
    template = fit_prompt(task, prompt, options)
    drawn = options.num_fewshot is not None and template.draws_examples
    if template.has_examples and not drawn and not template.examples.samples:
        raise UsageError(_no_examples(template, task))
    return template


def fit_prompt(
    task: Task, prompt: str | None = None, options: EvalOptions = _DEFAULTS
) -> PromptTemplate:
    """Do what `resolve_prompt` does, but accept a task that has no examples for the prompt."""
    name = prompt or task.prompt
    # no installed prompt has a name like a file's
    is_file = "/" in name or name.endswith(".jinja") or (prompt and Path(prompt).is_file())
    path = name if is_file else registry.installed().prompt(name)
    template = load_template(name, path, options.system_prompt)
    wording, problem = wording_of(task), _unread(template, task)
    if not is_file and template.needs_words and not _has_words(wording, template):
        generic = wording is GENERIC_WORDING
        hint = ", which offers no `wording` (docs/reference/plugins.md)" if generic else ""
        raise UsageError(
            f"prompt {template.name!r} doesn't fit task {task.name!r}{hint}; "
            f"these do: {', '.join(prompts_of(task))}"
        )
    if problem is not None:
        fitting = "" if is_file else f"; these prompts fit: {', '.join(prompts_of(task))}"
        raise UsageError(f"{problem}{fitting}")
    examples = template.examples
    if options.num_fewshot is not None and template.draws_examples:
        examples = draw_examples(task, options, options.num_fewshot)
    elif template.has_examples:
        examples = own_examples(task, wording, template.shows)
    return replace(template, wording=wording, examples=examples)


def check_fewshot(templates: Sequence[PromptTemplate], options: EvalOptions) -> None:
    """Raise UsageError if `num_fewshot` is set and no prompt shows drawn examples."""
    if options.num_fewshot is None or any(template.draws_examples for template in templates):
        return
    names = ", ".join(repr(template.name) for template in templates)
    raise UsageError(
        f"--num-fewshot has no effect: {names} shows no drawn examples; "
        "use few_shot, cot or a template of your own with `examples`"
    )


def check_rendering(template: PromptTemplate, samples: Sequence[Sample]) -> None:
    """Render every row. UsageError for the first that fails, or if all prompts are the same."""
    prompts: set[tuple[Message, ...]] = set()  # two at most: enough to see that they differ
    questions: set[str] = set()
    for sample in samples:
        messages = tuple(template.messages(sample))
        if not messages[-1].content:
            raise UsageError(
                f"prompt {template.name!r} is empty for sample {sample.id!r}; "
                "it must contain {{ question }}"
            )
        if len(prompts) < 2:
            prompts.add(messages)
            questions.add(sample.question)
    if len(prompts) == 1 and len(questions) > 1:
        raise UsageError(
            f"prompt {template.name!r} is the same for every row; it must contain "
            "{{ question }}, or other columns that differ between problems"
        )


def worked_examples(template: PromptTemplate) -> list[tuple[str, Sample]]:
    """(reply, sample) pairs: each example's reply as the prompt shows it."""
    return [(template.reply(sample), sample) for sample in template.examples.samples]


def prompts_of(task: Task) -> list[str]:
    """The installed prompts that fit the task."""
    return [name for name, template in installed_prompts().items() if takes(task, template)]


def takes(task: Task, template: PromptTemplate) -> bool:
    """Whether a prompt fits: the task reads its answer style and has the words that it uses."""
    if _unread(template, task):
        return False
    if template.needs_words:
        return _has_words(wording_of(task), template)
    if template.reading is None or template.name == task.prompt:
        return template.name == task.prompt
    wording = wording_of(task)
    return wording is GENERIC_WORDING or template.reading in wording.forms


def installed_prompts() -> Mapping[str, PromptTemplate]:
    """All installed prompts by name, without a task's words."""
    offers = registry.installed().offers("prompts")
    return {name: load_template(name, str(offers[name].value)) for name in sorted(offers)}


def wording_of(task: Task) -> TaskWording:
    """The task's words for the strategies, or generic words if the task has none."""
    return extras(task).wording or GENERIC_WORDING


def _has_words(wording: TaskWording, template: PromptTemplate) -> bool:
    """Whether the task allows this strategy and has a form for its answer style."""
    offered = wording.only is None or template.name in wording.only
    return offered and (template.reading is None or template.reading in wording.forms)


def _no_examples(template: PromptTemplate, task: Task) -> str:
    """The error message for a prompt that shows examples to a task that has none."""
    draw = (
        "evaluate with --num-fewshot N, which draws N rows of the task or of --fewshot-data FILE "
        "(0: none; a task's file sets it as count in [fewshot]), or "
        if template.draws_examples
        else ""
    )
    others = [
        name
        for name, other in installed_prompts().items()
        if takes(task, other) and not other.has_examples
    ]
    return (
        f"prompt {template.name!r} shows examples, and task {task.name!r} has none of its own; "
        f"{draw}choose a prompt without examples: {', '.join(others)}"
    )


def _unread(template: PromptTemplate, task: Task) -> str | None:
    """The task's error message for an answer style that it doesn't read; None if it reads it."""
    try:
        task.verifier(template.reading)
    except UsageError as error:
        return str(error)
    return None
