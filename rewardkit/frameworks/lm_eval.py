"""lm-evaluation-harness: problems, prompts and verdicts of a task, by import path.

    process_results: !function rewardkit.frameworks.lm_eval.gsm8k  # in tasks/gsm8k.yaml
    lm_eval --include_path tasks --tasks rewardkit_gsm8k …

In your own task file: `process_results: !function rewardkit.frameworks.lm_eval.math`. The verifier
gets the columns of the row. The reference is `reference`, `answer`, `solution`, ….
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


def process_results(
    name: str, **arguments: Any
) -> Callable[[Mapping[str, object], Sequence[Any]], dict[str, float]]:
    """Return lm-eval's `process_results` for a verifier or a task."""
    check_parameters(name, arguments)

    def score_document(document: Mapping[str, object], results: Sequence[Any]) -> dict[str, float]:
        """Return the means over a problem's completions: `acc`, `score` and `unjudged`.

        An unjudged completion counts 0 in `acc` and `score`.
        """
        texts = results[0] if isinstance(results[0], list) else results
        _, infos = scorer(name, **arguments).score(texts, [document] * len(texts))
        return {
            key: fmean(float(info[key]) for info in infos) for key in ("acc", "score", "unjudged")
        }

    return score_document


def problems(
    task: str,
    prompt: str | None = None,
    data: str | None = None,
    split: str | None = None,
    **_metadata: object,
) -> dict[str, Any]:
    """Return lm-eval's `custom_dataset` of a task: the split `test`, with the column `prompt`.

    UsageError for a prompt of several turns or with tools: lm-eval makes the conversation.
    """
    from datasets import Dataset

    from rewardkit.harness.options import EvalOptions
    from rewardkit.harness.runs.plan import plan_task

    resolved = registry.installed().task(task)
    plan = plan_task(resolved, prompt, EvalOptions(data=data, split=split))
    template = plan.template
    rows = []
    for sample in plan.samples:
        messages = template.messages(sample)
        if len(messages) > 1 or template.tools(sample):
            raise UsageError(
                f"the prompt {template.name!r} has {len(messages)} turns and lm-eval takes one, "
                "without tools; name another prompt in the task file: "
                "dataset_kwargs: {prompt: NAME}"
            )
        columns = {**sample.columns, "question": sample.question, "reference": sample.reference}
        rows.append({**columns, "prompt": messages[0].content})
    return {"test": Dataset.from_list(rows)}


__getattr__ = by_name(__name__, process_results)
