"""What the backends' tests ask, and how."""

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
    found = []
    for number, question in enumerate(questions):
        prompt = backend.render([Message("user", question)])
        found += [
            Request(f"test/{number}/{index}", prompt, seed + 1000 * number + index)
            for index in range(samples)
        ]
    return found


def start(backend: Backend, asked: Sequence[Request], max_tokens: int = 64) -> None:
    """Start for these requests."""
    backend.start(len(asked), max(len(one.prompt.token_ids) for one in asked) + max_tokens)


def complete(
    backend: Backend, asked: Iterable[Request], sampling: Sampling
) -> dict[str, Completion]:
    """Every completion, by its request's key; each request is answered once."""
    asked = list(asked)
    answers = [
        (request.key, completion) for request, completion in backend.generate(asked, sampling)
    ]
    assert sorted(key for key, _ in answers) == sorted(one.key for one in asked)
    return dict(answers)
