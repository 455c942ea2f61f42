"""Metrics for Prometheus, at `GET /metrics`."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rewardkit.judging import take_limit_counts
from rewardkit.records import Verdict

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ServerMetrics:
    """Counts of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._verdicts = Counter(
            "rewardkit_verdicts",
            "Verdicts, by verifier and outcome.",
            ["verifier", "outcome"],
            registry=self._registry,
        )
        self._refused = Counter(
            "rewardkit_refused_requests",
            "Requests refused because the queue or the limit of bytes was full.",
            registry=self._registry,
        )
        self._extended = Counter(
            "rewardkit_extended_verdicts",
            "Verdicts that had more time because the machine was busy.",
            registry=self._registry,
        )
        self._stopped = Counter(
            "rewardkit_stopped_verdicts",
            "Verdicts that ended at the backstop.",
            registry=self._registry,
        )
        self.latency = Histogram(
            "rewardkit_request_seconds",
            "Seconds from a request's arrival to its answer.",
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.waiting = Gauge(
            "rewardkit_waiting_completions", "Completions in the queue.", registry=self._registry
        )
        self.judging = Gauge(
            "rewardkit_judging_completions", "Completions being judged.", registry=self._registry
        )

    def count(self, verifier: str, verdicts: Sequence[Verdict]) -> None:
        """Count verdicts: `right`, the failure, or `unjudged`."""
        for verdict in verdicts:
            outcome = "unjudged" if verdict.correct is None else verdict.failure or "right"
            self._verdicts.labels(verifier, str(outcome)).inc()
        limits = take_limit_counts()
        self._extended.inc(limits.extended)
        self._stopped.inc(limits.stopped)

    def refused(self) -> None:
        """Count a request that was refused because there was no room for it."""
        self._refused.inc()

    def exposition(self) -> bytes:
        """The metrics in the format of Prometheus."""
        return generate_latest(self._registry)
