"""The outcome of one verifier call: a verdict or a crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from rewardkit.errors import Unavailable
from rewardkit.protocols import StagedVerifier, Verifier
from rewardkit.records import Failure, Sample, Verdict

LONGEST_MESSAGE = 2000
"""Characters of an exception's text that a verdict keeps."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A verifier raised, or ended its worker. Whose fault that is isn't decided yet.

    `partial` is the verdict of a verifier in stages up to there; `seconds` is what the call took.
    """

    message: str
    partial: Verdict | None = None
    seconds: float = 0.0

    def blamed_on_text(self) -> Verdict:
        """The verdict when the text is to blame: wrong."""
        if self.partial is None or self.partial.score is None:
            return Verdict.wrong(Failure.CRASHED, message=self.message)
        return replace(self.partial, correct=False, failure=Failure.CRASHED, message=self.message)

    def unjudged(self) -> Verdict:
        """The verdict when the verifier or the reference is to blame."""
        return Verdict.unjudged(self.message)


Outcome = Verdict | Crash


def run_stages(verifier: Verifier, text: str, sample: Sample) -> Iterator[tuple[Outcome, bool]]:
    """Yield the outcome and True; before it, for a verifier in stages, each verdict so far and
    False."""
    partial: Verdict | None = None
    try:
        if isinstance(verifier, StagedVerifier):
            for partial in verifier.stages(text, sample):
                yield partial, False
            if partial is None:
                raise ValueError("stages() yielded no verdict")
            yield partial, True
        else:
            yield Verdict.of(verifier(text, sample)), True
    except Unavailable as error:
        yield unavailable(error), True
    except Exception as error:  # a verifier may raise anything; the batch goes on
        yield raised(error, partial), True


def run_quick(
    quick: Callable[[str, Sample], Verdict | None], text: str, sample: Sample
) -> Outcome | None:
    """The outcome of a verifier's `quick`; None if a worker must judge the text."""
    try:
        judged = quick(text, sample)
        return None if judged is None else Verdict.of(judged)
    except Unavailable as error:
        return unavailable(error)
    except (Exception, SystemExit) as error:  # a verifier may raise anything; the batch goes on
        return raised(error)


def raised(error: BaseException, partial: Verdict | None = None) -> Crash:
    """Turn an exception of the verifier into a crash."""
    return Crash(f"the verifier raised {_describe(error)}", partial)


def unavailable(error: Unavailable) -> Verdict:
    """Unjudged, because something that the verifier needs can't be reached."""
    return Verdict.unjudged(f"the verifier is unavailable: {_describe(error)}")


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)[:LONGEST_MESSAGE]
    except Exception:  # an exception's own code may raise, too
        return name
    return f"{name}: {text}" if text else name
