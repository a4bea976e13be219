"""Counts and latencies of requests, for Prometheus."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import prometheus_client

from tapeflow.core.errors import OpError


class Metrics:
    """The metrics of one server, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = prometheus_client.CollectorRegistry()
        self._requests = prometheus_client.Counter(
            ":tensorflow:serving:request_count", "Requests by their result.",
            ["entrypoint", "API", "status"], registry=self._registry,
        )  # fmt: skip
        self._latency = prometheus_client.Histogram(
            ":tensorflow:serving:request_latency", "Seconds of requests.",
            ["entrypoint", "API"], registry=self._registry,
        )  # fmt: skip

    @contextlib.contextmanager
    def measured(self, entrypoint: str, api: str) -> Iterator[None]:
        """Counts what runs within as a request."""
        start, status = time.perf_counter(), "OK"
        try:
            yield
        except BaseException as error:
            status = type(error).__name__ if isinstance(error, OpError) else "InternalError"
            raise
        finally:
            self._requests.labels(entrypoint, api, status).inc()
            self._latency.labels(entrypoint, api).observe(time.perf_counter() - start)

    def text(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return prometheus_client.generate_latest(self._registry)
