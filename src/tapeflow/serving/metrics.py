"""Counts and latencies of requests, for Prometheus."""

from __future__ import annotations

import functools
import time
from types import TracebackType
from typing import Any

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

        # Finding the counter of some labels takes longer than counting.
        self._counter = functools.cache(self._requests.labels)
        self._histogram = functools.cache(self._latency.labels)

    def measured(self, entrypoint: str, api: str) -> _Measured:
        """A context: what runs within is counted as a request."""
        return _Measured(self, entrypoint, api)

    def count(self, entrypoint: str, api: str, status: str, seconds: float) -> None:
        """Count a request.

        Args:
          entrypoint: the method of the API.
          api: "GRPC" or "REST".
          status: "OK", or the class of the error.
          seconds: how long it took.
        """
        self._counter(entrypoint, api, status).inc()
        self._histogram(entrypoint, api).observe(seconds)

    def text(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return prometheus_client.generate_latest(self._registry)


class _Measured:
    def __init__(self, metrics: Metrics, entrypoint: str, api: str):
        self._metrics, self._entrypoint, self._api = metrics, entrypoint, api

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, kind: Any, error: BaseException | None, traceback: TracebackType | None) -> None:
        status = "OK" if error is None else type(error).__name__ if isinstance(error, OpError) else "InternalError"
        self._metrics.count(self._entrypoint, self._api, status, time.perf_counter() - self._start)
