"""The master of a task: it keeps the sessions of clients."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.cluster import tasks
from tapeflow.cluster.calls import Call, Pending, as_error
from tapeflow.cluster.master_session import MasterSession
from tapeflow.cluster.peers import Peers
from tapeflow.cluster.tasks import Task
from tapeflow.cluster.worker import Worker
from tapeflow.core.errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    UnavailableError,
)  # fmt: skip
from tapeflow.core.log import get_logger

_AGAIN = 0.5  # seconds until a task is asked again that does not answer
_TELL = 10.0  # seconds after which the log says who does not answer
_ASK = 10.0  # seconds in which a task should answer


class Master:
    """Answers the requests of TensorFlow's MasterService: each method has the name of one.

    Args:
      worker: the worker of the same task.
      peers: the workers of all tasks.
      config: a ConfigProto that sessions have where they bring none, or None.
    """

    def __init__(self, worker: Worker, peers: Peers, config: Any = None):
        self._worker, self._peers, self._config = worker, peers, config
        self._lock = threading.Lock()
        self._sessions: dict[str, MasterSession] = {}

    def CreateSession(self, request: Any, call: Call) -> Any:
        """Begin a session; wait for the tasks that it may use. Raises CancelledError where the client gives up."""
        config = protos.ConfigProto()
        if self._config is not None:
            config.CopyFrom(self._config)
        config.MergeFrom(request.config)
        own, peers = self._worker.task, self._peers
        if config.HasField("cluster_def") and config.cluster_def.job:
            own, peers = self._propagated(config.cluster_def, request.target)
            if not config.experimental.share_session_state_in_clusterspec_propagation:
                config.isolate_session_state = True
        handle = secrets.token_hex(8)
        used = [own, *(task for task in tasks.matching(peers.addresses, config.device_filters) if task != own)]
        devices = _devices(peers, sorted(used), call)
        session = MasterSession(handle, own, peers, devices, config, call.local)
        session.extend(request.graph_def)
        try:
            session.begin(call.seconds_left())
        except BaseException:
            session.close(CancelledError(None, None, "Session creation failed."))
            raise
        with self._lock:
            self._sessions[handle] = session
        call.on_cancel(lambda: self._end(handle))  # the client has not got the handle
        return protos.CreateSessionResponse(session_handle=handle, graph_version=session.version)

    def _propagated(self, cluster_def: Any, target: str) -> tuple[Task, Peers]:
        """What this task is in the cluster of a session, and the workers there.

        Raises InvalidArgumentError where it is not in it.
        """
        addresses = tasks.addresses(cluster_def)
        reached = target.partition("://")[2]
        own = [task for task, address in addresses.items() if address == reached]
        if not own:
            raise InvalidArgumentError(
                None, None, f"The target {target} is not the address of a task of the session's cluster: "
                f"{', '.join(addresses.values())}"
            )  # fmt: skip
        return own[0], Peers(addresses, {own[0]: self._worker})

    def ExtendSession(self, request: Any, call: Call) -> Any:
        """Add nodes to the graph of a session. Raises AbortedError where another client did so meanwhile."""
        session = self._session(request, call)
        version = session.extend(request.graph_def, request.current_graph_version)
        return protos.ExtendSessionResponse(new_graph_version=version)

    def RunStep(self, request: Any, call: Call) -> Any:
        """Run a part of the graph of a session."""
        response = protos.RunStepResponse()
        try:
            self._session(request, call).run(request, response, call)
        except Exception as error:
            if not request.store_errors_in_response_body:
                raise
            found = as_error(error, "RunStep")
            response = protos.RunStepResponse(status_code=found.error_code, status_error_message=found.message)
        return response

    def CloseSession(self, request: Any, call: Call) -> Any:
        """End a session; what runs in it is cancelled."""
        self._session(request, call)
        self._end(request.session_handle)
        return protos.CloseSessionResponse()

    def _end(self, handle: str) -> None:
        with self._lock:
            session = self._sessions.pop(handle, None)
        if session is not None:
            session.close(CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`."))

    def ListDevices(self, request: Any, call: Call) -> Any:
        """The devices of the tasks that a session uses, or of all."""
        if request.session_handle:
            session = self._session(request, call)
            own, devices = session.task, session.devices
        else:
            own, devices = self._worker.task, _devices(self._peers, list(self._peers.addresses), call)
        response = protos.ListDevicesResponse()
        for task, found in devices.items():
            (response.local_device if task == own else response.remote_device).extend(found)
        return response

    def Reset(self, request: Any, call: Call) -> Any:
        """End all sessions, and let the workers forget the resources of some containers, or of all."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close(AbortedError(None, None, "Session was closed by a reset of its server."))
        self._worker.shared.abort_sessions()
        clean = protos.CleanupAllRequest(container=request.container)
        used = tasks.matching(self._peers.addresses, request.device_filters)
        pending = [self._peers.peer(task).start("CleanupAll", clean, call.seconds_left()) for task in used]
        for each in pending:
            each.result(call.seconds_left())
        return protos.ResetResponse()

    def MakeCallable(self, request: Any, call: Call) -> Any:
        """Keep fetches, targets and feeds for many runs."""
        return protos.MakeCallableResponse(handle=self._session(request, call).make_callable(request.options))

    def RunCallable(self, request: Any, call: Call) -> Any:
        """Run what `MakeCallable` kept."""
        session = self._session(request, call)
        options = session.callable(request.handle)
        if len(options.feed) != len(request.feed):
            raise InvalidArgumentError(
                None, None, f"Expected {len(options.feed)} feed tensors, got {len(request.feed)}"
            )
        step = protos.RunStepRequest(fetch=options.fetch, target=options.target, options=options.run_options)
        for name, tensor in zip(options.feed, request.feed, strict=True):
            step.feed.add(name=name, tensor=tensor)
        found = protos.RunStepResponse()
        session.run(step, found, call)
        return protos.RunCallableResponse(fetch=[each.tensor for each in found.tensor], metadata=found.metadata)

    def ReleaseCallable(self, request: Any, call: Call) -> Any:
        """Forget what `MakeCallable` kept."""
        self._session(request, call).release_callable(request.handle)
        return protos.ReleaseCallableResponse()

    def stop(self) -> None:
        """End all sessions."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close(AbortedError(None, None, f"The server of {self._worker.task} was stopped."))

    def _session(self, request: Any, call: Call) -> MasterSession:
        found = self._sessions.get(request.session_handle)
        # One of this process may run its Python functions; other processes, which know handles as workers, may not.
        if found is None or (found.own and not call.local):
            raise AbortedError(
                None, None, f"Session {request.session_handle} is not found. Possibly, this master has restarted."
            )
        return found


def _devices(peers: Peers, used: Sequence[Task], call: Call) -> dict[Task, list[Any]]:
    """The devices of tasks, when all have answered. Raises CancelledError or DeadlineExceededError if that is over."""
    found: dict[Task, list[Any]] = {}
    gone = threading.Event()
    call.on_cancel(gone.set)
    told = time.monotonic()
    while True:
        left = call.seconds_left()
        seconds = _ASK if left is None else min(_ASK, left)
        asked: dict[Task, Pending] = {
            task: peers.peer(task).start("GetStatus", protos.GetStatusRequest(), seconds)
            for task in used if task not in found
        }  # fmt: skip
        for task, pending in asked.items():
            try:
                found[task] = list(pending.result(seconds).device_attributes)
            except (UnavailableError, DeadlineExceededError):
                continue
        missing = [task for task in used if task not in found]
        if not missing:
            return {task: _named(task, found[task]) for task in used}
        if time.monotonic() - told > _TELL:
            told = time.monotonic()
            for task in missing:
                get_logger().warning("CreateSession still waiting for response from worker: %s", task)
        if gone.wait(_AGAIN):
            raise CancelledError(None, None, "Session creation was cancelled.")
        if call.seconds_left() == 0:
            raise DeadlineExceededError(
                None, None, f"No response from {', '.join(map(str, missing))} while a session was created."
            )


def _named(task: Task, devices: Sequence[Any]) -> list[Any]:
    """Devices with the names that they have in the cluster of a session."""
    renamed = []
    for each in devices:
        copy = protos.DeviceAttributes()
        copy.CopyFrom(each)
        copy.name = f"{task}/{each.name.rpartition('/')[2]}"
        renamed.append(copy)
    return renamed
