"""Servers that a program starts: the dispatcher and workers of a service, each an actor of Ray's.

A port is the name of a server in the Ray cluster: whoever is in the cluster finds the server by it, wherever it runs.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow.core.errors import UnavailableError, UnimplementedError
from tapeflow.core.processes import ray_runtime
from tapeflow.core.public import boundaries
from tapeflow.data.service.dispatcher import Dispatcher
from tapeflow.data.service.worker import DataWorker

# How many readers a worker answers at a time.
_THREADS = 16


class DispatcherConfig(NamedTuple):
    """How a dispatcher is started.

    Args:
      port: its number, the name of the service in the Ray cluster; 0: a free one.
      protocol: the beginning of its target; None: "grpc".
      work_dir: not used.
      fault_tolerant_mode: not supported: datasets and passes end with the dispatcher.
      worker_addresses: "host:port" of all workers, for the sharding policies FILE, DATA and FILE_OR_DATA; `%port%`
        stands for any port.
      job_gc_check_interval_ms: not used.
      job_gc_timeout_ms: not used.
      worker_timeout_ms: not used: Ray says which workers there are.
      worker_max_concurrent_snapshots: not used.
    """

    port: int = 0
    protocol: str | None = "grpc"
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: Sequence[str] | None = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int = 0


class WorkerConfig(NamedTuple):
    """How a worker is started.

    Args:
      dispatcher_address: "host:port" of the dispatcher.
      worker_address: "host:port" of this worker; None: localhost with its port.
      port: its number; 0: a free one.
      protocol: not used.
      heartbeat_interval_ms: not used.
      dispatcher_timeout_ms: not used.
      data_transfer_protocol: not used: elements are in Ray's store.
      data_transfer_address: not used.
    """

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = "grpc"
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None


def named(address: str) -> str:
    """The name of the dispatcher's actor at an address, of which the port counts."""
    return f"data_service_{address.rpartition(':')[2]}"


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("", 0))
        port: int = s.getsockname()[1]
        return port


class _Server:
    """What dispatchers and workers have in common."""

    def __init__(self, start: bool):
        self._actor: Any = None
        self._ended = threading.Event()
        if start:
            self.start()

    def start(self) -> None:
        """Start the server; nothing happens where it runs."""
        if self._actor is None:
            self._actor = self._started()

    def _started(self) -> Any:
        raise NotImplementedError

    def join(self) -> None:
        """Wait until the server is stopped."""
        self._ended.wait()

    def stop(self) -> None:
        """Stop the server."""
        actor, self._actor = self._actor, None
        if actor is not None:
            ray_runtime.started().kill(actor)
        self._ended.set()


class DispatchServer(_Server):
    """The dispatcher of a service.

    Args:
      config: a `DispatcherConfig`; None: its defaults.
      start: whether it is started at once.

    Raises:
      ValueError: `fault_tolerant_mode` without `work_dir`.
      UnimplementedError: `fault_tolerant_mode`, and Ray is not installed.
      UnavailableError: there is a dispatcher of this port.
    """

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True):
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode:
            if not config.work_dir:
                raise ValueError(
                    "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in "
                    "the `config` object passed to `DispatcherServer`."
                )
            raise UnimplementedError(None, None, "Dispatchers do not keep their state in files")
        self._config, self._port = config, config.port
        super().__init__(start)

    def _started(self) -> Any:
        self._port = self._port or _free_port()
        make = ray_runtime.actor(Dispatcher, name=named(f":{self._port}"), namespace=ray_runtime.NAMESPACE)
        try:
            return make(list(self._config.worker_addresses or ()))
        except ValueError as error:
            raise UnavailableError(
                None, None, f"There is a dispatcher of the port {self._port} in the Ray cluster: {error}"
            ) from None

    @property
    def target(self) -> str:
        """What clients give for the service: "grpc://localhost:<port>"."""
        return f"{self._config.protocol or 'grpc'}://localhost:{self._port}"


class WorkerServer(_Server):
    """A worker of a service.

    Args:
      config: a `WorkerConfig`.
      start: whether it is started at once.

    Raises:
      ValueError: no dispatcher is named.
      UnimplementedError: Ray is not installed.
      UnavailableError: there is no such dispatcher.
    """

    def __init__(self, config: WorkerConfig, start: bool = True):
        if config.dispatcher_address is None:
            raise ValueError(
                "Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`."
            )
        self._dispatcher: Any = None
        self._address = config.worker_address or f"localhost:{config.port or _free_port()}"
        self._config = config
        super().__init__(start)

    def _started(self) -> Any:
        ray = ray_runtime.started()
        self._dispatcher = dispatcher_at(self._config.dispatcher_address)
        make = ray_runtime.actor(DataWorker, max_restarts=-1, max_task_retries=-1, max_concurrency=_THREADS)
        actor = make(self._dispatcher)
        node = ray.get(actor.ready.remote())
        ray.get(self._dispatcher.add_worker.remote(self._address, actor, node))
        return actor

    def stop(self) -> None:
        """Stop the server."""
        if self._actor is not None:
            self._dispatcher.remove_worker.remote(self._address)
        super().stop()


def dispatcher_at(address: str) -> Any:
    """The actor of the dispatcher at an address. Raises UnavailableError where there is none."""
    ray = ray_runtime.started()
    try:
        return ray.get_actor(named(address), namespace=ray_runtime.NAMESPACE)
    except ValueError:
        raise UnavailableError(
            None, None, f"There is no dispatcher of the data service at {address} in the Ray cluster"
        ) from None


boundaries(globals())
