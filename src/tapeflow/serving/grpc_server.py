"""The gRPC services: PredictionService, ModelService and health."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from tapeflow.core.errors import INTERNAL, INVALID_ARGUMENT, OpError, PermissionDeniedError
from tapeflow.serving.inference import Inference, message
from tapeflow.serving.metrics import Metrics

_PACKAGE = "tensorflow.serving"
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_MARGIN = 0.05  # seconds for a call to end by itself at its deadline
_MOST_TEXT = 2000  # of an error: it travels in headers, which have a limit


class GrpcServer:
    """Serves the gRPC API; `start` and `stop` it.

    Args:
      inference: answers requests.
      metrics: counts them.
      address: host and port.
      max_message_bytes: of requests.
      threads: how many requests run at a time.
      timeout: seconds in which a request must have its answer; a client's own deadline can be sooner.
      max_requests: how many may be under way; further ones end with RESOURCE_EXHAUSTED.
      allow_reload: whether clients may change which models are served.
      ssl: the SSLConfig of a server that encrypts; None for one that does not.

    Raises RuntimeError for an address or port that cannot be listened on, ValueError for an SSLConfig
    without keys.
    """

    def __init__(
        self, inference: Inference, metrics: Metrics, address: str, *, max_message_bytes: int, threads: int,
        timeout: float, max_requests: int, allow_reload: bool, ssl: Any = None,
    ):  # fmt: skip
        self._metrics, self._allow_reload, self._inference = metrics, allow_reload, inference
        self._timeout, self._running = timeout, threading.BoundedSemaphore(threads)
        # Those that may take longer than their client would wait: they are answered in time by another thread.
        self._patient = ThreadPoolExecutor(threads, "grpc-patient")
        # gRPC receives messages in threads of the pool: were they few, slow senders would stop all others.
        self._server = grpc.server(
            ThreadPoolExecutor(max_requests, "grpc"), maximum_concurrent_rpcs=max_requests,
            options=[
                ("grpc.max_receive_message_length", max_message_bytes), ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0), ("grpc.max_concurrent_streams", max_requests),
                ("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 10_000),
                ("grpc.max_connection_age_ms", 600_000), ("grpc.max_connection_age_grace_ms", int(timeout * 1000)),
            ],
        )  # fmt: skip
        # name, request, function, whether it takes a deadline
        prediction = {
            "Predict": ("PredictRequest", inference.predict, True),
            "Classify": ("ClassificationRequest", inference.classify, True),
            "Regress": ("RegressionRequest", inference.regress, True),
            "MultiInference": ("MultiInferenceRequest", inference.multi_inference, True),
            "GetModelMetadata": ("GetModelMetadataRequest", inference.metadata, False),
        }
        models = {
            "GetModelStatus": ("GetModelStatusRequest", inference.status, False),
            "HandleReloadConfigRequest": ("ReloadConfigRequest", self._reload, False),
        }
        for service, methods in (("PredictionService", prediction), ("ModelService", models)):
            handlers = {name: self._handler(name, *each) for name, each in methods.items()}
            full = f"{_PACKAGE}.{service}"
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(full, handlers),))
        self._health = health.HealthServicer()
        self.set_ready(False)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.port: int = _port(self._server, address, ssl)

    def start(self) -> None:
        """Starts to serve."""
        self._server.start()

    def set_ready(self, ready: bool) -> None:
        """What the health service answers."""
        states = health_pb2.HealthCheckResponse
        for service in ("", f"{_PACKAGE}.PredictionService", f"{_PACKAGE}.ModelService"):
            self._health.set(service, states.SERVING if ready else states.NOT_SERVING)

    def stop(self, grace: float) -> None:
        """Takes no more requests, and waits for those under way for at most `grace` seconds."""
        self._health.enter_graceful_shutdown()
        self._server.stop(grace).wait()

    def _reload(self, request: Any) -> Any:
        if not self._allow_reload:
            raise PermissionDeniedError(
                None, None, "Changes of the configuration are off: start the server with --allow_reload"
            )
        return self._inference.reload(request)

    def _timed(self, function: Callable[..., Any], request: Any, context: Any) -> Any:
        """Runs a request when it is its turn, unless its time is over."""
        asked = context.time_remaining()
        left = self._timeout if asked is None else min(asked, self._timeout)
        deadline = time.monotonic() + left
        if not self._running.acquire(timeout=max(0.0, left)):
            raise TimeoutError

        def run() -> Any:
            try:
                return function(request, deadline)
            finally:
                self._running.release()

        if asked is not None and asked <= self._timeout:
            return run()  # the client ends it
        return self._patient.submit(run).result(max(0.0, deadline - time.monotonic()) + _MARGIN)

    def _handler(self, name: str, request_name: str, function: Callable[..., Any], timed: bool) -> Any:
        request_class = message(request_name)

        # The bytes are parsed here, where malformed ones get a status of their own.
        def handle(data: bytes, context: Any) -> Any:
            try:
                with self._metrics.measured(name, "GRPC"):
                    request = request_class.FromString(data)
                    return self._timed(function, request, context) if timed else function(request)
            except OpError as error:
                context.abort(_CODES[error.error_code], error.message[:_MOST_TEXT])
            except DecodeError as error:
                context.abort(_CODES[INVALID_ARGUMENT], f"Malformed request: {error}")
            except (TimeoutError, CancelledError):
                context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "The deadline of the request has passed")
            except MemoryError:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "The request takes more memory than there is")
            except Exception as error:
                context.abort(_CODES[INTERNAL], f"{type(error).__name__}: {error}"[:_MOST_TEXT])

        return grpc.unary_unary_rpc_method_handler(
            handle, response_serializer=lambda response: response.SerializeToString()
        )


def _port(server: grpc.Server, address: str, ssl: Any) -> int:
    """Listens on an address, encrypted where there is an SSLConfig; the port."""
    if ssl is None:
        return server.add_insecure_port(address)
    if not ssl.server_key or not ssl.server_cert:
        raise ValueError("The SSLConfig needs server_key and server_cert, in PEM")
    authority = ssl.custom_ca.encode() or None
    pair = (ssl.server_key.encode(), ssl.server_cert.encode())
    return server.add_secure_port(address, grpc.ssl_server_credentials([pair], authority, ssl.client_verify))
