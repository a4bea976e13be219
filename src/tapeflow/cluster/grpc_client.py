"""Calls of masters and workers of other processes, by gRPC."""

from __future__ import annotations

import os
import threading
from typing import Any

import grpc

from tapeflow import protos
from tapeflow.cluster import security
from tapeflow.cluster.calls import Pending
from tapeflow.cluster.peers import tensor_request
from tapeflow.cluster.rendezvous import Key
from tapeflow.cluster.tasks import Task
from tapeflow.core import errors
from tapeflow.core.errors import OpError

# The largest message that is taken, in bytes; protobuf has none of 2GB.
MOST_BYTES = min(int(os.environ.get("TAPEFLOW_CLUSTER_MAX_MESSAGE_BYTES", 2**31 - 1)), 2**31 - 1)
OPTIONS = [
    ("grpc.max_receive_message_length", MOST_BYTES), ("grpc.max_send_message_length", MOST_BYTES),
    ("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0), ("grpc.keepalive_permit_without_calls", 0),
]  # fmt: skip
_CLIENT_OPTIONS = [
    # A process that was started again is found soon. The minimum is how long an attempt to connect may take.
    ("grpc.initial_reconnect_backoff_ms", 200), ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 2_000), ("grpc.enable_http_proxy", 0),
]  # fmt: skip
_CODES = {code: code.value[0] for code in grpc.StatusCode}

_channels: dict[str, grpc.Channel] = {}
_lock = threading.Lock()


def _channel(address: str) -> grpc.Channel:
    """The connection to an address, which all of this process share."""
    with _lock:
        if address not in _channels:
            keys = security.keys()
            options = OPTIONS + _CLIENT_OPTIONS
            if keys is None:
                _channels[address] = grpc.insecure_channel(address, options=options)
            else:
                credentials = grpc.ssl_channel_credentials(keys.authority, keys.key, keys.certificate)
                _channels[address] = grpc.secure_channel(address, credentials, options=options)
        return _channels[address]


class Service:
    """A service at an address.

    Args:
      name: "MasterService" or "WorkerService".
      address: host and port.
      who: what to call it in errors.
    """

    def __init__(self, name: str, address: str, who: str):
        self._name, self._address, self._who = name, address, who
        self._methods: dict[str, Any] = {}

    def start(self, method: str, request: Any, seconds: float | None = None, patient: bool = False) -> Pending:
        """Begin a call.

        Args:
          method: the name of a request.
          seconds: how long it may take; None: any time.
          patient: whether to wait for a connection.
        """
        pending = Pending(lambda: None)
        try:
            future = self._method(method).future(
                request, timeout=seconds, metadata=security.metadata(), wait_for_ready=patient
            )
        except OpError as error:
            pending.finish(None, error)
            return pending
        pending._cancel = future.cancel
        future.add_done_callback(lambda done: self._finish(pending, done))
        return pending

    def _method(self, method: str) -> Any:
        if method not in self._methods:
            response = getattr(protos, f"{method}Response")
            self._methods[method] = _channel(self._address).unary_unary(
                f"/tensorflow.{self._name}/{method}",
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=response.FromString,
            )
        return self._methods[method]

    def _finish(self, pending: Pending, future: Any) -> None:
        code = future.code()
        if code == grpc.StatusCode.OK:
            pending.finish(future.result())
        elif code == grpc.StatusCode.CANCELLED and not future.details():
            pending.finish(None, errors.CancelledError(None, None, "The call was cancelled."))
        else:
            text = future.details() or ""
            if code == grpc.StatusCode.UNAVAILABLE:
                text = f"{self._who} at {self._address} cannot be reached: {text}"
            pending.finish(None, errors.from_code(_CODES[code], text))


class RemotePeer(Service):
    """The worker of a task in another process."""

    def __init__(self, task: Task, address: str):
        super().__init__("WorkerService", address, str(task))

    def start(self, method: str, request: Any, seconds: float | None = None, own: bool = False) -> Pending:
        """Begin a call of the WorkerService, as `Peer.start` says."""
        return super().start(method, request, seconds)

    def tensor(self, number: int, key: Key) -> Pending:
        """Ask for a tensor of a step."""
        return self.start("RecvTensor", tensor_request(number, key))
