"""A session at its master: the graph of a client, and the runs of its parts."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.cluster.calls import Call
from tapeflow.cluster.nodes import Nodes
from tapeflow.cluster.partition import Partitioner
from tapeflow.cluster.peers import Peers
from tapeflow.cluster.placement import Placer
from tapeflow.cluster.step import Execution, PartRun
from tapeflow.cluster.tasks import Task
from tapeflow.core.errors import AbortedError, InvalidArgumentError, OpError
from tapeflow.graph.interchange import importing

# Of how many fetches, feeds and targets the parts are kept.
_MOST_KEPT = 200


class MasterSession:
    """A session of a client.

    Args:
      handle: its name.
      task: that of the master.
      peers: the workers.
      devices: DeviceAttributes of the tasks that it may use.
      config: its ConfigProto.
      own: whether the client is in this process.

    Attributes:
      own: whether the client is in this process.
      version: of the graph: how many nodes it has.
    """

    def __init__(
        self, handle: str, task: Task, peers: Peers, devices: Mapping[Task, Sequence[Any]], config: Any, own: bool
    ):
        self.handle, self.task, self.devices = handle, task, devices
        self._peers, self._config, self.own = peers, config, own
        names = [each.name for found in devices.values() for each in found]
        self._placer = Placer(list(devices), names, task, config.allow_soft_placement)
        self._incarnations = {each: found[0].incarnation for each, found in devices.items()}
        self._lock = threading.RLock()
        self._graph_def = protos.GraphDef()
        self._nodes: Nodes | None = None
        self._kept: dict[Any, list[PartRun]] = {}
        self._callables: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._running: set[Execution] = set()
        self._end: OpError | None = None

    @property
    def version(self) -> int:
        return len(self._graph_def.node)

    def extend(self, graph_def: protos.GraphDef, version: int | None = None) -> int:
        """Add nodes to the graph; return its new version.

        Raises AbortedError for a `version` that is not the current one, InvalidArgumentError for nodes that cannot be
        added.
        """
        with self._lock:
            if version is not None and version != self.version:
                raise AbortedError(None, None, f"Current version is {self.version} but caller expected {version}.")
            made = protos.GraphDef()
            made.CopyFrom(self._graph_def)
            made.node.extend(graph_def.node)
            made.versions.CopyFrom(graph_def.versions)
            importing.check_versions(made)
            known = {each.signature.name for each in made.library.function}
            made.library.function.extend(
                each for each in graph_def.library.function if each.signature.name not in known
            )
            self._nodes, self._graph_def = Nodes(made), made
            return self.version

    def begin(self, seconds: float | None) -> None:
        """Let all workers know the session."""
        cluster = protos.ClusterDef()
        for task, address in self._peers.addresses.items():
            job = next((each for each in cluster.job if each.name == task.job), None) or cluster.job.add(name=task.job)
            job.tasks[task.number] = address
        config = protos.ConfigProto()
        config.CopyFrom(self._config)
        pending = []
        for task in self.devices:
            server = protos.ServerDef(
                cluster=cluster, job_name=task.job, task_index=task.number, default_session_config=config,
                protocol="grpc",
            )  # fmt: skip
            request = protos.CreateWorkerSessionRequest(
                session_handle=self.handle, server_def=server,
                isolate_session_state=self._config.isolate_session_state,
            )  # fmt: skip
            pending.append(self._peers.peer(task).start("CreateWorkerSession", request, seconds))
        for each in pending:
            each.result(seconds)

    def run(self, request: Any, response: Any, call: Call) -> None:
        """Run fetches and targets, and fill the response of a RunStep."""
        milliseconds = request.options.timeout_in_ms or self._config.operation_timeout_in_ms
        seconds = milliseconds / 1000 if milliseconds > 0 else call.seconds_left()
        parts = self._parts(
            tuple(each.name for each in request.feed), tuple(request.fetch), tuple(request.target), seconds
        )
        execution = Execution(self._peers, self.handle, self.task, seconds, request.options)
        with self._lock:
            if self._end is not None:
                raise self._end
            self._running.add(execution)
        call.on_cancel(execution.cancel)
        try:
            found = execution.run(parts, {_full(each.name): each.tensor for each in request.feed}, response.metadata)
        finally:
            with self._lock:
                self._running.discard(execution)
        for name in request.fetch:
            response.tensor.add(name=name, tensor=found[_full(name)])

    def _parts(
        self, feeds: tuple[str, ...], fetches: tuple[str, ...], targets: tuple[str, ...], seconds: float | None
    ) -> list[PartRun]:
        """The registered parts for some feeds, fetches and targets."""
        with self._lock:
            nodes = self._nodes
            assert nodes is not None
            # Nodes that are added do not change those that were there, on which alone the others depend.
            key = (feeds, fetches, targets)
            found = self._kept.get(key)
            if found is not None:
                return found
            if not fetches and not targets:
                raise InvalidArgumentError(None, None, "Must specify at least one target to fetch or execute.")
            fed = [nodes.tensor(name, "FeedInputs") for name in feeds]
            wanted = [nodes.tensor(name, "FetchOutputs") for name in fetches]
            if len(set(fed)) < len(fed):
                raise InvalidArgumentError(None, None, f"A tensor is fed more than once: {', '.join(feeds)}")
            ends = [name for name, number in wanted if (name, number) not in fed]
            ends += [nodes.node(_node(name)).name for name in targets]
            order = nodes.needed(ends, set(fed))
            placed = self._placer.place(nodes, dict.fromkeys([*order, *(name for name, _ in fed)]))
            if self._config.log_device_placement:
                self._placer.log(nodes, placed)
            parts = Partitioner(nodes, placed, self._incarnations).run(order, fed, wanted)
        found = [PartRun(part, self._peers.peer(part.task)) for part in parts]
        for each in found:
            each.register(self.handle, self.own, seconds)
        for each in found:
            each.wait(seconds)
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                for each in self._kept.pop(next(iter(self._kept))):
                    each.forget(self.handle)
            self._kept[key] = found
        return found

    def make_callable(self, options: Any) -> int:
        """Keep a CallableOptions; return its handle."""
        if len(options.tensor_connection):
            raise InvalidArgumentError(None, None, "tensor_connection is not supported in distributed sessions")
        number = next(self._numbers)
        self._callables[number] = options
        return number

    def callable(self, handle: int) -> Any:
        """The CallableOptions of a handle. Raises InvalidArgumentError for an unknown one."""
        found = self._callables.get(handle)
        if found is None:
            raise InvalidArgumentError(None, None, f"No such callable handle: {handle}")
        return found

    def release_callable(self, handle: int) -> None:
        """Forget a CallableOptions. Raises InvalidArgumentError for an unknown handle."""
        self.callable(handle)
        self._callables.pop(handle, None)

    def close(self, error: OpError) -> None:
        """End the session: its runs raise an error."""
        with self._lock:
            self._end = error
            running = list(self._running)
        for each in running:
            each.cancel(error)
        request = protos.DeleteWorkerSessionRequest(session_handle=self.handle)
        for task in self.devices:
            self._peers.peer(task).start("DeleteWorkerSession", request, 10.0)


def _full(name: str) -> str:
    """The name of a tensor with its number."""
    return name if ":" in name else f"{name}:0"


def _node(text: str) -> str:
    """The node that a target names."""
    return text.removeprefix("^").partition(":")[0]
