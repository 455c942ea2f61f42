"""Everything that a plugin's author imports.

A plugin marks its hooks with `hookimpl`. An offer has the shape of a protocol here (`Verifier`,
`Task`, `Backend`, …), and takes and gives the values here (`Sample`, `Verdict`, …). A plugin may
use the readers, the arithmetic and the building blocks of rewardkit's verifiers and tasks.

A name is imported at first use, so importing this module is light. All hooks are optional. A hook
returns a mapping from names to offers. An offer is an object, or the string "module:attribute",
which is imported at first use.

>>> from rewardkit.plugin import Failure, Verdict, last_number
>>> def ends_in_reference(text, sample):
...     number = last_number(text)
...     if number is None:
...         return Verdict.wrong(Failure.NO_ANSWER)
...     return Verdict.judged(number[0] == sample.reference, answer=number[0])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pluggy

from rewardkit.lazy import lazy_names

if TYPE_CHECKING:
    from rewardkit.errors import BackendError as BackendError
    from rewardkit.errors import DataError as DataError
    from rewardkit.errors import MissingExtra as MissingExtra
    from rewardkit.errors import RewardkitError as RewardkitError
    from rewardkit.errors import Unavailable as Unavailable
    from rewardkit.errors import UsageError as UsageError
    from rewardkit.harness.options import EngineOptions as EngineOptions
    from rewardkit.harness.prompts.wording import TaskWording as TaskWording
    from rewardkit.harness.results.completion_row import BriefVerdict as BriefVerdict
    from rewardkit.harness.results.completion_row import CompletionRow as CompletionRow
    from rewardkit.harness.results.data_files import hub_rows as hub_rows
    from rewardkit.harness.results.data_files import iterate_rows as iterate_rows
    from rewardkit.harness.results.data_files import read_rows as read_rows
    from rewardkit.harness.results.figures import Bars as Bars
    from rewardkit.harness.results.figures import Figure as Figure
    from rewardkit.harness.results.figures import Plot as Plot
    from rewardkit.harness.results.figures import Table as Table
    from rewardkit.harness.results.measure import Measure as Measure
    from rewardkit.harness.results.metric import Metric as Metric
    from rewardkit.protocols import Backend as Backend
    from rewardkit.protocols import BackendExtras as BackendExtras
    from rewardkit.protocols import Bounded as Bounded
    from rewardkit.protocols import Combination as Combination
    from rewardkit.protocols import Judged as Judged
    from rewardkit.protocols import Message as Message
    from rewardkit.protocols import Prompt as Prompt
    from rewardkit.protocols import Request as Request
    from rewardkit.protocols import Task as Task
    from rewardkit.protocols import TaskExtras as TaskExtras
    from rewardkit.protocols import Verifier as Verifier
    from rewardkit.protocols import VerifierCallable as VerifierCallable
    from rewardkit.records import Completion as Completion
    from rewardkit.records import Failure as Failure
    from rewardkit.records import Sample as Sample
    from rewardkit.records import Sampling as Sampling
    from rewardkit.records import Verdict as Verdict
    from rewardkit.verifiers.arithmetic import Expression as Expression
    from rewardkit.verifiers.arithmetic import NotArithmetic as NotArithmetic
    from rewardkit.verifiers.arithmetic import ascii_operators as ascii_operators
    from rewardkit.verifiers.arithmetic import read_expression as read_expression
    from rewardkit.verifiers.in_form import AnswerBlockFormat as AnswerBlockFormat
    from rewardkit.verifiers.in_form import InForm as InForm
    from rewardkit.verifiers.in_form import rubric_in_form as rubric_in_form
    from rewardkit.verifiers.r1_zero import R1ZeroFormat as R1ZeroFormat
    from rewardkit.verifiers.reading import after_marker as after_marker
    from rewardkit.verifiers.reading import answer_block as answer_block
    from rewardkit.verifiers.reading import boxes as boxes
    from rewardkit.verifiers.reading import last_number as last_number
    from rewardkit.verifiers.reading import numbers as numbers
    from rewardkit.verifiers.rubric import Rubric as Rubric


__getattr__, __all__ = lazy_names(__name__, __file__)
__all__ += ["hookimpl"]

GROUP = "rewardkit"

hookimpl = pluggy.HookimplMarker(GROUP)
hookspec = pluggy.HookspecMarker(GROUP)


@hookspec
def rewardkit_verifiers() -> Mapping[str, str | Verifier | type[Verifier]]:
    """Return verifiers: functions `(text, sample)`, or classes with such a `__call__`."""
    return {}


@hookspec
def rewardkit_tasks() -> Mapping[str, str | Task | Callable[[], Task]]:
    """Return tasks: objects that implement `Task`, callables without arguments for one, or paths
    of TOML files."""
    return {}


@hookspec
def rewardkit_prompts() -> Mapping[str, str]:
    """Return prompts: paths of Jinja2 template files."""
    return {}


@hookspec
def rewardkit_backends() -> Mapping[str, str | Callable[..., Backend]]:
    """Return backends: callables `(model, options)` for a `Backend`."""
    return {}


@hookspec
def rewardkit_recipes() -> Mapping[str, str]:
    """Return training recipes: paths of TOML files."""
    return {}
