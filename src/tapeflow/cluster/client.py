"""The part of a `Session` that a server runs: its graph goes to a master, and so do its runs."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tapeflow import protos
from tapeflow.cluster.calls import Call, Pending, as_error
from tapeflow.core import dtypes
from tapeflow.core.errors import (
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    OpError,
    UnavailableError,
    from_code,
)
from tapeflow.core.files import tensor_proto
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import graph_def
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.device_attributes import DeviceAttributes
from tapeflow.graph.tensor import SymbolicTensor

# Seconds until a master is asked again that cannot be reached, and for how long it is.
_AGAIN, _PATIENCE = 0.5, 20.0
_MARGIN = 2.0  # seconds for a master to tell that the time of a run is over
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")


class Caller(Protocol):
    """A master."""

    def start(self, method: str, request: Any, seconds: float | None = None) -> Pending:
        """Begin a call of the MasterService, which may take some seconds."""


class LocalMaster:
    """A master of this process, called directly."""

    def __init__(self, master: Any):
        self._master = master

    def start(self, method: str, request: Any, seconds: float | None = None) -> Pending:
        """Make a call, in this thread."""
        call = Call(True, seconds)
        pending = Pending(call.cancel)
        try:
            pending.finish(getattr(self._master, method)(request, call))
        except Exception as error:
            pending.finish(None, as_error(error, method))
        return pending


class RemotePlan:
    """Fetches, targets and feeds that a master runs, called as plans of this process are."""

    def __init__(self, session: RemoteSession, request: Any, kinds: Sequence[Any]):
        self.session, self.request, self.kinds = session, request, kinds

    def __call__(self, *values: Any) -> list[Any]:
        return self.session.execute(self, values, None, None, 0)


class RemoteSession:
    """A session at a master.

    Args:
      master: answers.
      target: its name.
      graph: what runs there.
      config: a ConfigProto, or None.

    Raises UnavailableError where nobody answers.
    """

    def __init__(self, master: Caller, target: str, graph: Graph, config: Any):
        self._master, self._graph = master, graph
        self._timeout = 0 if config is None else config.operation_timeout_in_ms
        self._lock = threading.Lock()
        self._sent = 0  # operations of the graph
        self._edits = graph.edits
        request = protos.CreateSessionRequest(target=target)
        if config is not None:
            request.config.CopyFrom(config)
        with graph.lock:
            nodes, self._sent = self._new_nodes()
        request.graph_def.CopyFrom(nodes)
        response = self._patiently("CreateSession", request)
        self._handle, self._version = response.session_handle, response.graph_version

    def _patiently(self, method: str, request: Any) -> Any:
        """The answer to a request that is repeated until there is a server."""
        seconds = self._timeout / 1000 if self._timeout > 0 else None
        over = time.monotonic() + (seconds or _PATIENCE)
        while True:
            try:
                return _answer(self._master.start(method, request, seconds))
            except UnavailableError as error:
                if time.monotonic() + _AGAIN > over:
                    if seconds is None:
                        raise
                    raise DeadlineExceededError(None, None, f"Deadline Exceeded: {error.message}") from None
            time.sleep(_AGAIN)

    def _new_nodes(self) -> tuple[Any, int]:
        """The GraphDef of the operations that the master does not know, and how many it knows then."""
        operations = self._graph.operations[self._sent :]
        made = graph_def.of_operations(self._graph, operations, add_shapes=False, counted=False)
        python_ops.note_tokens(operations)
        return made, self._sent + len(operations)

    def _extend(self) -> None:
        """Let the master know the operations that were added to the graph."""
        with self._lock, self._graph.lock:
            if self._graph.edits != self._edits:
                raise InvalidArgumentError(
                    None, None, "Operations were changed after a session of a server had run their graph; make a new "
                    "session."
                )  # fmt: skip
            if self._sent == len(self._graph.operations):
                return
            nodes, count = self._new_nodes()
            request = protos.ExtendSessionRequest(
                session_handle=self._handle, graph_def=nodes, current_graph_version=self._version
            )
            self._version = self._call("ExtendSession", request).new_graph_version
            self._sent = count

    def _call(self, method: str, request: Any, seconds: float | None = None) -> Any:
        try:
            return _answer(self._master.start(method, request, seconds))
        except OpError as error:
            raise self._named(error) from None

    def _named(self, error: OpError) -> OpError:
        """An error with the operation of the graph that its text names."""
        found = _NODE.search(error.message)
        op = None
        if found is not None and getattr(error, "_op", None) is None:
            try:
                op = self._graph.get_operation_by_name(found[1])
            except (KeyError, ValueError):
                op = None
        named = from_code(error.error_code, error.message)
        if op is not None:
            named._node_def, named._op = op.node_def, op
        return named

    def plan(
        self, graph: Graph, tensors: Sequence[SymbolicTensor], targets: Sequence[Operation],
        feeds: Sequence[SymbolicTensor],
    ) -> RemotePlan:  # fmt: skip
        """What runs `targets` and fetches `tensors`, given values of `feeds`."""
        for x in tensors:
            if x.dtype == dtypes.variant:
                raise InternalError(
                    None, None, f"Tensorflow type {dtypes.variant.as_datatype_enum} not convertible to numpy dtype."
                )
        self._extend()
        request = protos.RunStepRequest(
            session_handle=self._handle, fetch=[x.name for x in tensors], target=[op.name for op in targets]
        )
        for x in feeds:
            request.feed.add(name=x.name)
        return RemotePlan(self, request, [x.dtype for x in tensors])

    def execute(
        self, plan: RemotePlan, values: Sequence[Any], options: Any, metadata: Any, timeout: int
    ) -> list[Any]:
        """The results of a plan; see `Resolver.execute`."""
        request = protos.RunStepRequest()
        request.CopyFrom(plan.request)
        if options is not None:
            request.options.CopyFrom(options)
        if timeout > 0:
            request.options.timeout_in_ms = timeout
        for named, value in zip(request.feed, values, strict=True):
            named.tensor.CopyFrom(tensor_proto.of_tensor(value))
        names = list(dict.fromkeys(request.fetch))
        del request.fetch[:]
        request.fetch.extend(names)
        response = self._call("RunStep", request, timeout / 1000 + _MARGIN if timeout > 0 else None)
        if metadata is not None:
            metadata.CopyFrom(response.metadata)
        found: Mapping[str, Any] = {
            each.name: tensor_proto.to_tensor(each.tensor, each.name) for each in response.tensor
        }
        return [found[name] for name in plan.request.fetch]

    def devices(self) -> list[DeviceAttributes]:
        """Descriptions of the devices of all tasks."""
        response = self._call("ListDevices", protos.ListDevicesRequest(session_handle=self._handle))
        return [
            DeviceAttributes(each.name, each.device_type, each.memory_limit, each.incarnation)
            for each in (*response.local_device, *response.remote_device)
        ]

    def close(self) -> None:
        """End the session at the master. Raises the error of a master that cannot be reached."""
        seconds = self._timeout / 1000 if self._timeout > 0 else 10.0
        self._call("CloseSession", protos.CloseSessionRequest(session_handle=self._handle), seconds)


def _answer(pending: Pending) -> Any:
    """The answer of a call, which Ctrl-C cancels."""
    try:
        return pending.result()
    except KeyboardInterrupt:
        pending.cancel()
        raise
