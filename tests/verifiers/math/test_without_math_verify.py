"""Without math-verify the last step says what it lacks; the other steps decide as before."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

import pytest

from rewardkit import Sample
from rewardkit.verifiers.math import Math, fallback

NEEDS_MATH_VERIFY = r"\boxed{{3 \over 4}}"


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    def version(name: str) -> str:
        if request.param is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return str(request.param)

    monkeypatch.setattr(importlib.metadata, "version", version)
    fallback.missing_math_verify.cache_clear()
    yield
    fallback.missing_math_verify.cache_clear()


@pytest.mark.parametrize(
    ("release", "state"),
    [
        (None, "math-verify 0.9 isn't installed"),
        ("0.8.0", "math-verify 0.8.0 is installed, and 0.9 is needed"),
        ("0.90.1", "math-verify 0.90.1 is installed, and 0.9 is needed"),
    ],
    indirect=["release"],
)
def test_what_only_math_verify_reads_is_unjudged(release: None, state: str) -> None:
    math = Math()
    math.prepare()
    verdict = math(NEEDS_MATH_VERIFY, Sample("0.75"))
    assert verdict.correct is None
    assert f"{state}; run: pip install 'rewardkit[math-verify]'" in str(verdict.message)
    assert math(r"\boxed{\int_0^1 2x\,dx}", Sample("1")).correct is True
    assert math(r"\boxed{\frac{3}{4}}", Sample("0.75")).correct is True


def test_with_math_verify_it_is_judged() -> None:
    assert Math()(NEEDS_MATH_VERIFY, Sample("0.75")).correct is True
