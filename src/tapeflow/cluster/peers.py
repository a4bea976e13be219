"""The other tasks of a cluster, as masters and workers call them: in this process directly, else by gRPC."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Protocol

from tapeflow import protos
from tapeflow.api import providers
from tapeflow.cluster import tasks
from tapeflow.cluster.calls import Call, Pending, as_error
from tapeflow.cluster.rendezvous import Key
from tapeflow.cluster.tasks import Task
from tapeflow.core import extras
from tapeflow.core.errors import InvalidArgumentError, OpError
from tapeflow.core.threads.workers import start_thread


class Peer(Protocol):
    """The worker of a task."""

    def start(self, method: str, request: Any, seconds: float | None = None, own: bool = False) -> Pending:
        """Begin a call of the WorkerService.

        Args:
          seconds: how long it may take; None: any time.
          own: whether what is asked comes from a client in this process.
        """

    def tensor(self, number: int, key: Key) -> Pending:
        """Ask for a tensor of a step."""


class LocalPeer:
    """A worker of this process."""

    def __init__(self, worker: Any):
        self.worker = worker

    def start(self, method: str, request: Any, seconds: float | None = None, own: bool = False) -> Pending:
        """Begin a call in a thread of its own."""
        call = Call(own, seconds)
        pending = Pending(call.cancel)
        start_thread(self._answer_only, pending, method, request, call, name=f"cluster_{method}")
        return pending

    def _answer_only(self, *args: Any) -> None:
        with contextlib.suppress(BaseException):  # who waits for the answer gets it
            self.answer(*args)

    def answer(self, pending: Pending, method: str, request: Any, call: Call) -> None:
        """Finish a pending call in this thread, and raise what is no error: Ctrl-C, or the wish to exit."""
        try:
            pending.finish(getattr(self.worker, method)(request, call))
        except BaseException as error:
            pending.finish(None, as_error(error, method))
            if not isinstance(error, Exception):
                raise

    def tensor(self, number: int, key: Key) -> Pending:
        """Ask for a tensor of a step, which is not copied."""
        try:
            pending: Pending = self.worker.tensor(number, key)
        except OpError as error:
            pending = Pending(lambda: None)
            pending.finish(None, error)
        return pending


class Peers:
    """The workers of a cluster, by task; connections are made when they are first used.

    Args:
      addresses: those of all tasks.
      local: workers of this process.

    Raises InvalidArgumentError for what is no address.
    """

    def __init__(self, addresses: Mapping[Task, str], local: Mapping[Task, Any]):
        for address in addresses.values():
            tasks.check_address(address)
        self.addresses = dict(addresses)
        self._lock = threading.Lock()
        self._peers: dict[Task, Peer] = {task: LocalPeer(worker) for task, worker in local.items()}

    def peer(self, task: Task) -> Peer:
        """The worker of a task. Raises InvalidArgumentError for one that is not in the cluster."""
        with self._lock:
            found = self._peers.get(task)
            if found is None:
                found = self._peers[task] = self._connect(task)
            return found

    def local(self, task: Task) -> LocalPeer | None:
        """The worker of a task, if it is in this process."""
        found = self.peer(task)
        return found if isinstance(found, LocalPeer) else None

    def _connect(self, task: Task) -> Peer:
        address = self.addresses.get(task)
        if address is None:
            raise InvalidArgumentError(None, None, f"{task} is not in the cluster")
        worker = in_process(address)
        if worker is not None:
            return LocalPeer(worker)
        return transport("cluster_client").RemotePeer(task, address)


def transport(part: str) -> ModuleType:
    """The module that calls other processes, "cluster_client", or is called by them, "cluster_server".

    Raises ImportError where gRPC is not installed.
    """
    extras.load("grpc", "A cluster of several processes")
    return providers.load(part)


# The workers of this process, by the addresses at which others know them.
_workers: dict[str, Any] = {}


def announce(address: str, worker: Any) -> None:
    """Let masters and workers of this process call a worker directly; None: no more."""
    if worker is None:
        _workers.pop(address, None)
    else:
        _workers[address] = worker


def in_process(address: str) -> Any:
    """The worker of this process at an address, or None."""
    return _workers.get(address)


def tensor_request(number: int, key: Key) -> Any:
    """The request for a tensor of a step."""
    return protos.RecvTensorRequest(step_id=number, rendezvous_key=str(key), request_id=0)
