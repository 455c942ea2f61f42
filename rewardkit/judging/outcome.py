"""What a verifier gave, or failed to give, as a verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.protocols import StagedVerifier, Verifier
from rewardkit.records import Failure, Sample, Verdict


def in_stages(verifier: Verifier, text: str, sample: Sample) -> Iterator[tuple[Verdict, bool]]:
    """The verdict and True; before it, where the verifier has stages, what they tell and False.

    An exception of the verifier's own leaves the text unjudged. A text that exhausts memory or the
    stack is too costly, hence wrong: were it unjudged, a model could learn to escape its grade.
    """
    verdict: Verdict | None = None
    try:
        if isinstance(verifier, StagedVerifier):
            for verdict in verifier.stages(text, sample):
                yield verdict, False
        else:
            verdict = Verdict.of(verifier(text, sample))
    except (MemoryError, RecursionError) as error:
        verdict = verdict or too_costly(f"judging it ran out of room ({type(error).__name__})")
    except Exception as error:  # a plugin's verifier may raise anything; the batch goes on
        verdict = Verdict.unjudged(f"the verifier raised {type(error).__name__}: {error}")
    yield verdict or Verdict.unjudged("the verifier gave no verdict"), True


def too_costly(message: str) -> Verdict:
    """Wrong, because deciding it would pass a limit."""
    return Verdict.wrong(Failure.TIMEOUT, message=message)
