"""Everything that a plugin's author imports.

Hooks are marked with `hookimpl`; what they offer has the shape of a protocol here (`Verifier`,
`Task`, `Backend`, …), takes and gives the values here (`Sample`, `Verdict`, …), and may use the
readers, the arithmetic and the building blocks of rewardkit's own verifiers and tasks.

Names are imported when they are first used, so that importing this module is light.

>>> from rewardkit.plugin import Failure, Verdict, last_number
>>> def ends_in_reference(text, sample):
...     number = last_number(text)
...     if number is None:
...         return Verdict.wrong(Failure.NO_ANSWER)
...     return Verdict.judged(number[0] == sample.reference, answer=number[0])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewardkit.errors import (
    BackendError,
    DataError,
    MissingExtra,
    RewardkitError,
    Unavailable,
    UsageError,
)
from rewardkit.lazy import lazy_names
from rewardkit.records import Completion, Failure, Sample, Sampling, Verdict

if TYPE_CHECKING:
    from rewardkit.harness.backends.engine_options import EngineOptions
    from rewardkit.harness.metrics.at_k import ComparesAnswers
    from rewardkit.harness.metrics.figures import Bars, Figure, Plot, ShowsFigures, Table
    from rewardkit.harness.metrics.measure import HasMeasures, Measure
    from rewardkit.harness.metrics.metric import Metric
    from rewardkit.harness.prompts.wording import TaskWording, WordedTask
    from rewardkit.harness.store.data_files import hub_rows, iterate_rows, read_rows
    from rewardkit.harness.store.sample_row import BriefVerdict, SampleRow
    from rewardkit.hookspecs import hookimpl
    from rewardkit.protocols import (
        Backend,
        Bounded,
        ConfiguredTask,
        DeclaresReference,
        DeclaresThinking,
        ExplainingVerifier,
        FewshotTask,
        HubTask,
        IgnoresOptions,
        Judged,
        Message,
        PreparedVerifier,
        Prompt,
        QuickVerifier,
        RecordedTask,
        Request,
        SizedTask,
        StagedVerifier,
        Task,
        Verifier,
    )
    from rewardkit.verifiers.arithmetic import (
        Expression,
        NotArithmetic,
        ascii_operators,
        read_expression,
    )
    from rewardkit.verifiers.in_form import AnswerBlockFormat, InForm, rubric_in_form
    from rewardkit.verifiers.r1_zero import R1ZeroFormat
    from rewardkit.verifiers.reading import (
        after_marker,
        answer_block,
        boxes,
        last_number,
        numbers,
    )
    from rewardkit.verifiers.rubric import Rubric

__all__ = [
    "AnswerBlockFormat",
    "Backend",
    "BackendError",
    "Bars",
    "Bounded",
    "BriefVerdict",
    "ComparesAnswers",
    "Completion",
    "ConfiguredTask",
    "DataError",
    "DeclaresReference",
    "DeclaresThinking",
    "EngineOptions",
    "ExplainingVerifier",
    "Expression",
    "Failure",
    "FewshotTask",
    "Figure",
    "HasMeasures",
    "HubTask",
    "IgnoresOptions",
    "InForm",
    "Judged",
    "Measure",
    "Message",
    "Metric",
    "MissingExtra",
    "NotArithmetic",
    "Plot",
    "PreparedVerifier",
    "Prompt",
    "QuickVerifier",
    "R1ZeroFormat",
    "RecordedTask",
    "Request",
    "RewardkitError",
    "Rubric",
    "Sample",
    "SampleRow",
    "Sampling",
    "ShowsFigures",
    "SizedTask",
    "StagedVerifier",
    "Table",
    "Task",
    "TaskWording",
    "Unavailable",
    "UsageError",
    "Verdict",
    "Verifier",
    "WordedTask",
    "after_marker",
    "answer_block",
    "ascii_operators",
    "boxes",
    "hookimpl",
    "hub_rows",
    "iterate_rows",
    "last_number",
    "numbers",
    "read_expression",
    "read_rows",
    "rubric_in_form",
]

__getattr__ = lazy_names(
    __name__,
    {
        "rewardkit.harness.backends.engine_options": "EngineOptions",
        "rewardkit.harness.metrics.at_k": "ComparesAnswers",
        "rewardkit.harness.metrics.figures": "Bars Figure Plot ShowsFigures Table",
        "rewardkit.harness.metrics.measure": "HasMeasures Measure",
        "rewardkit.harness.metrics.metric": "Metric",
        "rewardkit.harness.prompts.wording": "TaskWording WordedTask",
        "rewardkit.harness.store.data_files": "hub_rows iterate_rows read_rows",
        "rewardkit.harness.store.sample_row": "BriefVerdict SampleRow",
        "rewardkit.hookspecs": "hookimpl",
        "rewardkit.protocols": "Backend Bounded ConfiguredTask DeclaresReference DeclaresThinking "
        "ExplainingVerifier FewshotTask HubTask IgnoresOptions Judged Message PreparedVerifier "
        "Prompt QuickVerifier RecordedTask Request SizedTask StagedVerifier Task Verifier",
        "rewardkit.verifiers.arithmetic": "Expression NotArithmetic ascii_operators "
        "read_expression",
        "rewardkit.verifiers.in_form": "AnswerBlockFormat InForm rubric_in_form",
        "rewardkit.verifiers.r1_zero": "R1ZeroFormat",
        "rewardkit.verifiers.reading": "after_marker answer_block boxes last_number numbers",
        "rewardkit.verifiers.rubric": "Rubric",
    },
)
