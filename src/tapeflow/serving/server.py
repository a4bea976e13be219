"""The server as a whole: models, both APIs, and a thread that looks for new versions."""

from __future__ import annotations

import argparse
import logging
import threading
from collections.abc import Iterable
from typing import Any

from tapeflow.serving.batching import Batcher, BatchingOptions
from tapeflow.serving.grpc_server import GrpcServer
from tapeflow.serving.http_server import HttpServer
from tapeflow.serving.inference import Inference
from tapeflow.serving.metrics import Metrics
from tapeflow.serving.rest_app import RestApp
from tapeflow.serving.store import ModelStore
from tapeflow.serving.warm_up import warm_up

_LOG = logging.getLogger("tapeflow.serving")


class Server:
    """Serves models by gRPC and REST on `port` and `rest_port`.

    Args:
      options: those of the command line.
      ssl: the SSLConfig of gRPC; None for no encryption.

    Raises OSError and RuntimeError for ports that cannot be listened on, ValueError for an SSLConfig that has no key.
    """

    def __init__(self, options: argparse.Namespace, ssl: Any = None):
        self._options, self._stopped = options, threading.Event()
        self._store, metrics = ModelStore(not options.untrusted, warm_up), Metrics()
        self._batcher = None
        if options.enable_batching:
            self._batcher = Batcher(BatchingOptions(
                options.max_batch_size, options.batch_timeout_micros / 1e6, options.max_enqueued_batches,
                options.num_batch_threads,
            ))  # fmt: skip
        inference = Inference(self._store, self._batcher, options.max_message_bytes)
        rest = RestApp(
            inference, self._store, metrics, max_body_bytes=options.max_message_bytes,
            max_buffered_bytes=options.max_buffered_bytes, read_timeout=options.read_timeout,
            timeout=options.timeout, threads=options.threads,
        )  # fmt: skip
        self._http = HttpServer(
            rest, options.host, options.rest_port, max_connections=options.max_connections,
            read_timeout=options.read_timeout, write_timeout=options.write_timeout, grace=options.grace,
        )  # fmt: skip
        host = f"[{options.host}]" if ":" in options.host else options.host
        try:
            self._grpc = GrpcServer(
                inference, metrics, f"{host}:{options.port}", max_message_bytes=options.max_message_bytes,
                threads=options.threads, timeout=options.timeout, max_requests=options.max_connections,
                allow_reload=options.allow_reload, ssl=ssl,
            )  # fmt: skip
        except (RuntimeError, ValueError):
            self._http.close()
            raise
        self._store.on_change = self._grpc.set_ready
        self.port, self.rest_port = self._grpc.port, self._http.port
        if ssl is not None:
            _LOG.warning("The SSLConfig is for gRPC alone: REST on %s:%s is not encrypted", host, self.rest_port)

    def start(self, configs: Iterable[Any]) -> None:
        """Loads the models, then takes requests. Raises what `ModelStore.configure` raises."""
        self._store.configure(configs)
        self._http.start()
        self._grpc.start()
        threading.Thread(target=self._poll, daemon=True).start()

    def stop(self) -> None:
        """Takes no more requests, and waits for those under way for the time of grace."""
        self._stopped.set()
        web = threading.Thread(target=self._http.stop)  # both have the same time
        web.start()
        self._grpc.stop(self._options.grace)
        web.join()
        if self._batcher is not None:
            self._batcher.close(self._options.grace)

    def _poll(self) -> None:
        while not self._stopped.wait(self._options.poll_seconds):
            try:
                self._store.poll()
            except Exception:  # the next look may find what this one did not
                _LOG.exception("cannot look for new versions")
