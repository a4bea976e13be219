"""A part of a graph at its worker: a plan, made once, and its runs."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeflow import protos
from tapeflow.cluster import rendezvous
from tapeflow.cluster.calls import Pending
from tapeflow.cluster.rendezvous import Key, Step
from tapeflow.cluster.tasks import Task, parsed
from tapeflow.cluster.transfer import RECEIVE, key_of
from tapeflow.core.files import tensor_proto
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import importing
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.run import timeline
from tapeflow.graph.run.resolving import Resolver

# How many tensors of other tasks a run asks for before it needs them.
_AHEAD = 16


class RegisteredGraph:
    """A part of a graph, ready to run.

    Args:
      graph_def: the part; changed.
      task: where it runs.
      resolver: makes its plan.
      own: whether the GraphDef comes from this process, and may name its Python functions.

    Raises ValueError and errors of TensorFlow for what cannot run.
    """

    def __init__(self, graph_def: protos.GraphDef, task: Task, resolver: Resolver, own: bool):
        self._task, self._resolver = task, resolver
        self._graph = Graph()
        for node in graph_def.node:
            node.device = _local_device(node.device, task)
        own_functions = python_ops.reading_own() if own else contextlib.nullcontext()
        with self._graph.as_default(), own_functions:
            importing.import_nodes(graph_def, name="")
        self._awaited = [
            key for op in self._graph.operations if op.type == RECEIVE and not op.attrs["client_terminated"]
            and (key := key_of(op.attrs)).source != task.device
        ]  # fmt: skip
        self._lock = threading.Lock()
        self._generation = -1
        self._plan: Any = None
        self._current_plan()

    def _current_plan(self) -> Any:
        """The plan; another one after resources were forgotten."""
        with self._lock:
            generation = self._resolver.shared.generation
            if generation != self._generation:
                self._plan = self._resolver.plan_of(self._graph, list(self._graph.operations), [], [], True)
                self._generation = generation
            return self._plan

    def run(self, step: Step, fetch: Callable[[int, Key], Pending], milliseconds: int, step_stats: Any) -> None:
        """Run the part once.

        Args:
          step: holds what it takes and gives.
          fetch: asks the worker of another task for a tensor of a step.
          milliseconds: how long it may take; 0: any time.
          step_stats: a StepStats message to fill; None for none.
        """
        plan = self._current_plan()
        run = _Run(step, self._awaited, fetch)
        step.on_abort(run.stop)
        try:
            with rendezvous.running(step, run):
                if step_stats is None:
                    self._resolver.execute(plan, [], None, None, milliseconds)
                    return
                metadata = protos.RunMetadata()
                options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
                self._resolver.execute(plan, [], options, metadata, milliseconds)
                step_stats.CopyFrom(metadata.step_stats)
                self._complete(step_stats)
        finally:
            run.stop()


    def _complete(self, step_stats: Any) -> None:
        """Name the task, and the nodes of which nothing was left to do in this run."""
        for each in step_stats.dev_stats:
            each.device = each.device.replace(timeline.TASK, str(self._task))
            seen = {stats.node_name for stats in each.node_stats}
            for op in self._graph.operations:
                if op.name not in seen:
                    each.node_stats.add(node_name=op.name, timeline_label=f"{op.name} = {op.type}()")


class _Run:
    """What the nodes of one run send and receive by."""

    def __init__(self, step: Step, awaited: list[Key], fetch: Callable[[int, Key], Pending]):
        self._step, self._fetch = step, fetch
        self._lock = threading.Lock()
        self._later = deque(awaited)
        self._pending: dict[Key, Pending] = {}
        self._stopped = False
        for _ in range(_AHEAD):
            self._ask()

    def _ask(self) -> None:
        """Ask for one more tensor of another task."""
        with self._lock:
            if self._stopped or not self._later:
                return
            key = self._later.popleft()
            self._pending[key] = self._fetch(self._step.number, key)

    def send(self, key: str, tensor: Any) -> None:
        self._step.send(key, tensor)

    def receive(self, key: Key) -> Any:
        pending = self._pending.get(key)
        if pending is None:
            return self._step.receive(str(key))
        self._step.wait_for(pending, str(key))
        self._ask()
        response = self._pending.pop(key).result()
        return response if not hasattr(response, "tensor") else tensor_proto.to_tensor(response.tensor, str(key))

    def stop(self) -> None:
        """Ask no more, and say that nothing is wanted any more."""
        with self._lock:
            self._stopped = True
            pending = list(self._pending.values())
        for each in pending:
            each.cancel()


def _local_device(device: str, task: Task) -> str:
    """The name of a device of a task as this process knows it; "" for the host."""
    spec = parsed(device)
    if spec.device_type in (None, "CPU"):
        return ""
    return spec.replace(job="localhost", replica=0, task=0).to_string()
