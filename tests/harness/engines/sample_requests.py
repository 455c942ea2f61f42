"""Requests that the tests of the backends send."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewardkit.protocols import Backend, Message, Request
from rewardkit.records import Completion, Sampling

QUESTIONS = (
    "How many clips did Natalia sell in May?",
    "A robe takes 2 bolts of blue fiber. How many bolts in total does it take?",
    "What is 48 + 24?",
    "Think step by step.",
    "How many?",
    "A train moves 60 miles in 1.5 hours. What is its speed in miles an hour?",
    "48 is half of what?",
    "She sold 24 clips in April and half that many in May. How many clips altogether?",
)


def requests(
    backend: Backend, *, questions: Sequence[str] = QUESTIONS, samples: int = 1, seed: int = 0
) -> list[Request]:
    """`samples` requests for each question, each with its own seed."""
    made = []
    for number, question in enumerate(questions):
        prompt = backend.render([Message("user", question)])
        made += [
            Request(f"test/{number}/{index}", prompt, seed + 1000 * number + index)
            for index in range(samples)
        ]
    return made


def start(backend: Backend, sent: Sequence[Request], max_tokens: int = 64) -> None:
    """Start for these requests."""
    backend.start(len(sent), max(len(request.prompt.token_ids) for request in sent) + max_tokens)


def complete(
    backend: Backend, sent: Iterable[Request], sampling: Sampling
) -> dict[str, Completion]:
    """Every completion, by its request's key; each request is answered once."""
    sent = list(sent)
    answers = [
        (request.key, completion) for request, completion in backend.generate(sent, sampling)
    ]
    assert sorted(key for key, _ in answers) == sorted(request.key for request in sent)
    return dict(answers)
