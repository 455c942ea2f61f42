"""lighteval: a metric by import path.

    from rewardkit.frameworks.lighteval import gsm8k
    LightevalTaskConfig(…, metrics=[gsm8k])

The gold choice is the reference; if there are several, the completion must match one of them.
`Doc.specific` has the columns of the row. The figure of a problem is the mean over its completions.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


def metric(name: str, **arguments: Any) -> Any:
    """Return lighteval's metric for a verifier or a task, with the share of unjudged completions.

    The names are `rewardkit_NAME` and `rewardkit_NAME_unjudged`. An unjudged completion counts 0 in
    `rewardkit_NAME`.
    """
    check_parameters(name, arguments)
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
    from lighteval.tasks.requests import SamplingMethod

    names = [f"rewardkit_{name}", f"rewardkit_{name}_unjudged"]

    class VerifierScore(SampleLevelComputation):  # type: ignore[misc]
        """Scores the completions of one problem."""

        def compute(self, doc: Any, model_response: Any, **_: object) -> dict[str, float]:
            """Return the figures of a problem."""
            columns = {**(doc.specific or {}), "question": doc.query}
            row = {**columns, "reference": list(doc.get_golds())}
            texts = model_response.final_text
            verdicts = scorer(name, **arguments).verdicts(texts, [row] * len(texts))
            return {
                names[0]: fmean(verdict.score or 0.0 for verdict in verdicts),
                names[1]: fmean(float(verdict.score is None) for verdict in verdicts),
            }

    return SampleLevelMetricGrouping(
        metric_name=names,
        sample_level_fn=VerifierScore(),
        category=SamplingMethod.GENERATIVE,
        corpus_level_fn=dict.fromkeys(names, fmean),
        higher_is_better={names[0]: True, names[1]: False},
    )


__getattr__ = by_name(__name__, metric)
