"""The gRPC services: PredictionService, ModelService and health."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2_grpc

from tapeflow.core.errors import INTERNAL, INVALID_ARGUMENT, OpError, PermissionDeniedError
from tapeflow.serving.inference import Inference, message
from tapeflow.serving.metrics import Metrics

_CODES = {code.value[0]: code for code in grpc.StatusCode}


class GrpcServer:
    """Serves the gRPC API; `start` and `stop` it.

    Args:
      inference: answers requests.
      metrics: counts them.
      address: host and port.
      max_message_bytes: of requests.
      threads: how many requests run at a time.
      max_requests: how many may be under way; further ones end with RESOURCE_EXHAUSTED.
      allow_reload: whether clients may change which models are served.
    """

    def __init__(
        self, inference: Inference, metrics: Metrics, address: str, *, max_message_bytes: int, threads: int,
        max_requests: int, allow_reload: bool,
    ):  # fmt: skip
        self._metrics, self._allow_reload, self._inference = metrics, allow_reload, inference
        self._server = grpc.server(
            ThreadPoolExecutor(threads, "grpc"),
            maximum_concurrent_rpcs=max_requests,
            options=[("grpc.max_receive_message_length", max_message_bytes), ("grpc.so_reuseport", 0)],
        )
        # name, request, function, whether it takes a timeout
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
            full = f"tensorflow.serving.{service}"
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(full, handlers),))
        self.health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self._server)
        self.port = self._server.add_insecure_port(address)

    def start(self) -> None:
        """Starts to serve."""
        self._server.start()

    def stop(self, grace: float) -> None:
        """Takes no more requests, and waits for those under way for at most `grace` seconds."""
        self.health.enter_graceful_shutdown()
        self._server.stop(grace).wait()

    def _reload(self, request: Any) -> Any:
        if not self._allow_reload:
            raise PermissionDeniedError(
                None, None, "Changes of the configuration are off: start the server with --allow_reload"
            )
        return self._inference.reload(request)

    def _handler(self, name: str, request_name: str, function: Callable[..., Any], timed: bool) -> Any:
        request_class = message(request_name)

        # The bytes are parsed here, where malformed ones get a status of their own.
        def handle(data: bytes, context: Any) -> Any:
            try:
                with self._metrics.measured(name, "GRPC"):
                    request = request_class.FromString(data)
                    return function(request, context.time_remaining()) if timed else function(request)
            except OpError as error:
                context.abort(_CODES[error.error_code], error.message)
            except DecodeError as error:
                context.abort(_CODES[INVALID_ARGUMENT], f"Malformed request: {error}")
            except (TimeoutError, CancelledError):
                context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "The deadline of the request has passed")
            except Exception as error:
                context.abort(_CODES[INTERNAL], f"{type(error).__name__}: {error}")

        return grpc.unary_unary_rpc_method_handler(
            handle, response_serializer=lambda response: response.SerializeToString()
        )
