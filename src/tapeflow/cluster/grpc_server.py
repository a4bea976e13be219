"""The services of a master and a worker, by gRPC."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from tapeflow import protos
from tapeflow.cluster import security
from tapeflow.cluster.calls import Call, as_error
from tapeflow.cluster.grpc_client import OPTIONS
from tapeflow.core.errors import OpError, UnauthenticatedError, UnknownError
from tapeflow.core.threads.workers import start_thread

# How many calls may be under way; most of them wait for tensors or queues.
_MOST_CALLS = 4096
_FOREVER = 1e8  # seconds: what gRPC says where a call has no deadline
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_MASTER = (
    "CreateSession", "ExtendSession", "RunStep", "CloseSession", "ListDevices", "Reset", "MakeCallable", "RunCallable",
    "ReleaseCallable",
)  # fmt: skip
_WORKER = (
    "GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph", "RunGraph",
    "CleanupGraph", "CleanupAll", "RecvTensor",
)  # fmt: skip


class GrpcServer:
    """Serves a master and a worker.

    Args:
      address: host and port to listen on; port 0: a free one.
      master, worker: answer the requests.

    Attributes:
      port: where it listens.

    Raises UnknownError where the address cannot be listened on.
    """

    def __init__(self, address: str, master: Any, worker: Any):
        options = [*OPTIONS, ("grpc.so_reuseport", 0), ("grpc.http2.min_ping_interval_without_data_ms", 10_000)]
        self._server = grpc.server(_Threads(), options=options, maximum_concurrent_rpcs=_MOST_CALLS)
        for service, target, methods in (("MasterService", master, _MASTER), ("WorkerService", worker, _WORKER)):
            handlers = {f"/tensorflow.{service}/{name}": _handler(name, getattr(target, name)) for name in methods}
            self._server.add_generic_rpc_handlers((_Methods(handlers),))
        keys = security.keys()
        try:
            if keys is None:
                self.port: int = self._server.add_insecure_port(address)
            else:
                credentials = grpc.ssl_server_credentials(
                    [(keys.key, keys.certificate)], keys.authority, require_client_auth=True
                )
                self.port = self._server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise UnknownError(None, None, f"Could not start gRPC server: {error}") from None
        if not self.port:
            raise UnknownError(None, None, f"Could not start gRPC server: {address} cannot be listened on")

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()

    def stop(self) -> None:
        """Serve no more; calls that are under way end."""
        self._server.stop(0).wait()


class _Methods(grpc.GenericRpcHandler):
    """Finds methods by their full names, for callers that have the token."""

    def __init__(self, handlers: dict[str, Any]):
        self._handlers = handlers

    def service(self, handler_call_details: Any) -> Any:
        handler = self._handlers.get(handler_call_details.method)
        if handler is None:
            return None
        try:
            security.check_token(handler_call_details.invocation_metadata)
        except UnauthenticatedError as error:
            refusal = error.message
            # As a stream, of which nothing is read: strangers fill no memory.
            return grpc.stream_unary_rpc_method_handler(
                lambda _, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, refusal)
            )
        return handler


def _handler(name: str, function: Callable[[Any, Call], Any]) -> Any:
    request_class = getattr(protos, f"{name}Request")

    # The bytes are parsed here, where malformed ones get a status of their own.
    def handle(data: bytes, context: Any) -> Any:
        left = context.time_remaining()
        call = Call(False, None if left is None or left > _FOREVER else left)
        over = threading.Event()

        def give_up() -> None:
            if not over.is_set():
                call.cancel()

        if not context.add_callback(give_up):  # the call is over already
            give_up()
        try:
            return function(request_class.FromString(data), call)
        except DecodeError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"Malformed request: {error}")
        except Exception as error:
            found = as_error(error, name)
            context.abort(_CODES[found.error_code], _text(found))
        finally:
            over.set()

    return grpc.unary_unary_rpc_method_handler(handle, response_serializer=lambda answer: answer.SerializeToString())


def _text(error: OpError) -> str:
    return error.message or type(error).__name__


class _Threads(Executor):
    """As many daemon threads as there are calls: most of them wait, and none may keep the process alive."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            has_thread = self._idle > 0
            if has_thread:
                self._idle -= 1
        self._work.put((future, fn, args, kwargs))
        if not has_thread:
            start_thread(self._run, name="cluster_call")
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is waited for: the threads are daemons."""

    def _run(self) -> None:
        while True:
            future, function, args, kwargs = self._work.get()
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)
            del future, function, args, kwargs
            with self._lock:
                self._idle += 1
