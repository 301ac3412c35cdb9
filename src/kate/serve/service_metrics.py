"""What Prometheus reads of the service."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["ServiceMetrics"]

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class ServiceMetrics:
    """Counts of one application; a registry of its own, so that two in one process do not mix."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "kate_requests", "Requests by route and status.", ("route", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "kate_request_seconds",
            "Seconds from request to answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.batches = Histogram(
            "kate_batch_texts",
            "Texts encoded together.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 2048),
            registry=self._registry,
        )
        self.waiting = Gauge("kate_waiting_requests", "Requests that wait.", registry=self._registry)
        self.reloads = Gauge(
            "kate_reloads", "How often a replaced folder was loaded.", registry=self._registry
        )

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self._registry)
