"""The worker of a task: it holds the task's resources, and runs the parts of graphs that masters register."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import threading
from collections.abc import Mapping
from typing import Any

from tapeflow import protos
from tapeflow.cluster import tasks
from tapeflow.cluster.calls import Call, Pending, as_error
from tapeflow.cluster.peers import Peers
from tapeflow.cluster.registered_graph import RegisteredGraph
from tapeflow.cluster.rendezvous import Key, Steps, parse
from tapeflow.cluster.tasks import Task
from tapeflow.core import device
from tapeflow.core.errors import AbortedError, CancelledError, PermissionDeniedError
from tapeflow.core.files import tensor_proto
from tapeflow.core.threads.waiting import under
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.run.resolving import Resolver
from tapeflow.graph.run.shared import Shared


class Worker:
    """Answers the requests of TensorFlow's WorkerService: each method has the name of one.

    Args:
      task: what it is.
      addresses: those of all tasks.
      config: a ConfigProto: the default of sessions.

    Attributes:
      shared: the resources of the task.
      incarnation: a number that no other process at this address has.
    """

    def __init__(self, task: Task, addresses: Mapping[Task, str], config: Any = None):
        self.task = task
        self.shared = Shared(task.job)
        self.incarnation = secrets.randbits(62) + 1
        self._config = config
        self._steps = Steps()
        self._lock = threading.Lock()
        self._sessions: dict[str, _WorkerSession] = {}
        self._legacy = _WorkerSession(task, Peers(addresses, {task: self}), Resolver(self.shared, config))

    def attributes(self, task: Task | None = None) -> list[Any]:
        """DeviceAttributes of its devices, as those of `task`."""
        return tasks.attributes(task or self.task, self.incarnation, device.devices())

    def GetStatus(self, request: Any, call: Call) -> Any:
        """Which devices it has."""
        return protos.GetStatusResponse(device_attributes=self.attributes())

    def CreateWorkerSession(self, request: Any, call: Call) -> Any:
        """Begin a session of a master."""
        given = request.server_def
        task, peers = self.task, self._legacy.peers
        if given.HasField("cluster") and given.cluster.job:
            task = Task(given.job_name, given.task_index)
            peers = Peers(tasks.addresses(given.cluster), {task: self})
        shared = Shared(task.job) if request.isolate_session_state else self.shared
        config = given.default_session_config if given.HasField("default_session_config") else self._config
        with self._lock:
            self._sessions[request.session_handle] = _WorkerSession(task, peers, Resolver(shared, config))
        return protos.CreateWorkerSessionResponse()

    def DeleteWorkerSession(self, request: Any, call: Call) -> Any:
        """End a session of a master."""
        with self._lock:
            self._sessions.pop(request.session_handle, None)
        return protos.DeleteWorkerSessionResponse()

    def RegisterGraph(self, request: Any, call: Call) -> Any:
        """Take a part of a graph. Raises PermissionDeniedError where another process asks to run Python."""
        session = self._session(request)
        if not call.local:
            _refuse_python(request.graph_def)
        graph_def = protos.GraphDef.FromString(request.graph_def.SerializeToString())
        graph = RegisteredGraph(graph_def, session.task, session.resolver, call.local)
        return protos.RegisterGraphResponse(graph_handle=session.add(graph))

    def DeregisterGraph(self, request: Any, call: Call) -> Any:
        """Forget a part of a graph."""
        self._session(request).graphs.pop(request.graph_handle, None)
        return protos.DeregisterGraphResponse()

    def RunGraph(self, request: Any, call: Call) -> Any:
        """Run a part of a graph once."""
        response = protos.RunGraphResponse()
        try:
            session = self._session(request)
            graph = session.graph(request.graph_handle)
        except AbortedError as error:
            # Parts elsewhere would wait for what this one does not send.
            self._steps.find(request.step_id).abort(error)
            raise
        step = self._steps.find(request.step_id)
        call.on_cancel(lambda: step.abort(CancelledError(None, None, "RunGraph was cancelled.")))
        left = call.seconds_left()
        milliseconds = 0 if left is None else max(1, int(left * 1000))
        try:
            for named in request.send:
                step.send(named.name, tensor_proto.to_tensor(named.tensor, named.name))
            graph.run(
                step, session.fetch, milliseconds, response.step_stats if request.exec_opts.record_timeline else None
            )
            for key in request.recv_key:
                tensor = tensor_proto.of_tensor(step.receive(key))
                response.recv.add(name=key, tensor=tensor)
        except BaseException as error:
            step.abort(as_error(error, "RunGraph"))
            raise
        return response

    def RecvTensor(self, request: Any, call: Call) -> Any:
        """The tensor of a step, when it is there."""
        key = parse(request.rendezvous_key)
        with under(call.cancellation):
            tensor = self._steps.find(request.step_id).receive(str(key))
        return protos.RecvTensorResponse(tensor=tensor_proto.of_tensor(tensor))

    def tensor(self, number: int, key: Key) -> Pending:
        """Ask for the tensor of a step, for a worker of this process."""
        return self._steps.find(number).ask(str(key))

    def CleanupGraph(self, request: Any, call: Call) -> Any:
        """Forget a step."""
        self._steps.end(request.step_id)
        return protos.CleanupGraphResponse()

    def CleanupAll(self, request: Any, call: Call) -> Any:
        """Forget the resources of some containers, or of all."""
        self.shared.forget(list(request.container))
        return protos.CleanupAllResponse()

    def stop(self) -> None:
        """Abort all steps."""
        self._steps.abort(AbortedError(None, None, f"The server of {self.task} was stopped."))

    def _session(self, request: Any) -> _WorkerSession:
        if not request.create_worker_session_called and request.session_handle not in self._sessions:
            return self._legacy
        found = self._sessions.get(request.session_handle)
        if found is None:
            raise AbortedError(
                None, None, f"Session handle is not found: {request.session_handle}. Possibly this worker "
                f"(\"{self.task}\") just restarted."
            )  # fmt: skip
        return found


class _WorkerSession:
    """The session of a master at a worker.

    Attributes:
      task: what the worker is to the master.
      peers: the other workers.
      resolver: makes plans.
      graphs: the parts of graphs that were registered, by handle.
    """

    _numbers = itertools.count(1)

    def __init__(self, task: Task, peers: Peers, resolver: Resolver):
        self.task, self.peers, self.resolver = task, peers, resolver
        self.graphs: dict[str, RegisteredGraph] = {}

    def add(self, graph: RegisteredGraph) -> str:
        """Keep a part of a graph; return its handle."""
        handle = f"{next(self._numbers):016x}"
        self.graphs[handle] = graph
        return handle

    def graph(self, handle: str) -> RegisteredGraph:
        """A part of a graph. Raises AbortedError for an unknown handle."""
        found = self.graphs.get(handle)
        if found is None:
            raise AbortedError(
                None, None, f"Graph handle is not found: {handle}. Possibly, this worker just restarted."
            )
        return found

    def fetch(self, number: int, key: Key) -> Pending:
        """Ask for a tensor of a step that the worker of another task has."""
        return self.peers.peer(tasks.task_of(key.source)).tensor(number, key)


def _refuse_python(graph_def: protos.GraphDef) -> None:
    """Raises PermissionDeniedError for a graph with nodes that call Python functions."""
    nodes = [graph_def.node, *(function.node_def for function in graph_def.library.function)]
    for node in (node for each in nodes for node in each):
        touched = ""
        with contextlib.suppress(KeyError):  # a function of the library, or an op that the import refuses
            touched = op_defs.touches_of(node)
        if touched == "python":
            raise PermissionDeniedError(
                node, None,
                f"Node '{node.name}' ({node.op}) calls a Python function, which runs in the process of its client.",
            )  # fmt: skip
