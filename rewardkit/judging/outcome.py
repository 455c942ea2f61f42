"""What a verifier gave, or failed to give, as a verdict."""

from __future__ import annotations

from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict


def call(verifier: Verifier, text: str, sample: Sample) -> Verdict:
    """The verifier's verdict. An exception of its own leaves the text unjudged.

    A text that exhausts memory or the stack is too costly, hence wrong: were it unjudged, a model
    could learn to escape its grade.
    """
    try:
        return Verdict.of(verifier(text, sample))
    except (MemoryError, RecursionError) as error:
        return too_costly(f"judging it ran out of room ({type(error).__name__})")
    except Exception as error:  # a plugin's verifier may raise anything; the batch goes on
        return Verdict.unjudged(f"the verifier raised {type(error).__name__}: {error}")


def too_costly(message: str) -> Verdict:
    """Wrong, because deciding it would pass a limit."""
    return Verdict.wrong(Failure.TIMEOUT, message=message)
