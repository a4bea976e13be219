"""Groups of processes, by jax's multi-process runtime: its coordination service lets them find each other, and XLA's
collectives (gloo's between CPUs) exchange their values.

A step of a strategy is one program over the devices of all processes. Processes run it so only where all are about to
run the same program on values of the same shapes, which they tell each other first; else each runs its own plan, in
which a sum over the replicas is a collective operation by itself.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax._src import distributed  # its client has no public name

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.errors import UnavailableError, UnimplementedError
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.run import planning
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control import process_group
from tapeflow.ops.control.cross_replica import AXIS
from tapeflow.xla import device_memory
from tapeflow.xla.executable import Executable
from tapeflow.xla.importing import jax
from tapeflow.xla.replicated import MeshMemory, ReplicatedStep, Split
from tapeflow.xla.tracing import Lowering

P = jax.sharding.PartitionSpec
_HEARTBEAT = "TAPEFLOW_HEARTBEAT_SECONDS"
# How long processes wait for each other at the start and at the end.
_JOINING, _LEAVING = 300, 60


def start(address: str, size: int, rank: int, names: Sequence[str]) -> Group:
    """Join the other processes; waits until all are there.

    Args:
      address: where process 0 listens, "host:port".
      size: how many processes there are.
      rank: the number of this one.
      names: what the processes are called in errors.

    Raises:
      RuntimeError: jax has counted its devices already, or this process belongs to a group.
      UnavailableError: the others were not there in time.
    """
    group = Group(address, size, rank, names)
    process_group.join(group)
    atexit.register(group.finish)
    return group


class Group:
    """The processes; see `ops.control.process_group.ProcessGroup`."""

    def __init__(self, address: str, size: int, rank: int, names: Sequence[str]):
        self.size, self.rank, self._names = size, rank, list(names)
        self._heartbeat = _seconds()
        self._lost: UnavailableError | None = None
        self._ended = False
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        # Else jax would end this process, without an exception, once another has died, and take SIGTERM for itself.
        jax.config.update("jax_enable_recoverability", True)
        jax.config.update("jax_enable_preemption_service", False)
        try:
            jax.distributed.initialize(
                address, size, rank, initialization_timeout=_JOINING,
                heartbeat_timeout_seconds=self._heartbeat, shutdown_timeout_seconds=_LEAVING,
            )  # fmt: skip
        except RuntimeError as error:
            if "before" in str(error):
                raise RuntimeError(
                    "Processes have to join before anything is compiled or a GPU is looked for: make the strategy at "
                    f"the start of the program ({error})"
                ) from None
            raise UnavailableError(
                None, None, f"{names[rank]} found no {size} processes at {address} in {_JOINING} s: {error}"
            ) from None
        self._service: Any
        self._jitted: dict[str, Any] = {}
        found = _devices_of_processes([0])
        self._mesh = jax.sharding.Mesh(np.array(found), (AXIS,))
        self._split = jax.sharding.NamedSharding(self._mesh, P(AXIS))
        self._own = found[rank]
        # Connections are made by the first collective, for which nobody waits long: now all are here.
        self._service = distributed.global_state.client
        self._service.wait_at_barrier("tapeflow_start", _JOINING * 1000)
        self.exchanged("sum", np.array(1, np.int32))

    def all_reduce(self, array: Any, merge: str) -> np.ndarray:
        array = np.asarray(array)
        if array.dtype.kind == "c":
            if merge != "sum":
                raise UnimplementedError(None, None, f"Complex numbers have no {merge} over processes")
            pairs = array.reshape(-1).view(array.real.dtype)
            return self.exchanged(merge, pairs).view(array.dtype).reshape(array.shape)
        return self.exchanged(merge, array)

    def all_gather(self, array: Any) -> list[np.ndarray]:
        array = np.asarray(array)
        if not array.ndim:
            return list(self.exchanged("gather", array))
        shapes = self.exchanged("gather", np.array(array.shape, np.int64))
        most = shapes.max(axis=0)
        padded = np.zeros(most, array.dtype)
        padded[tuple(slice(n) for n in array.shape)] = array
        found = self.exchanged("gather", padded.view(np.uint8) if array.dtype == bool else padded)
        return [x.view(array.dtype)[tuple(slice(n) for n in s)] for x, s in zip(found, shapes, strict=True)]

    def exchanged(self, merge: str, array: np.ndarray) -> np.ndarray:
        """What a collective makes of the arrays of all."""

        def run() -> np.ndarray:
            with jax.enable_x64(True):
                own = jax.device_put(np.array(array, order="C")[None], self._own)
                given = jax.make_array_from_single_device_arrays((self.size, *array.shape), self._split, [own])
                return np.asarray(self._collective(merge)(given).addressable_data(0))

        return self.guarded(run)

    def _collective(self, merge: str) -> Any:
        if merge not in self._jitted:
            reduce: Any = {
                "sum": jax.lax.psum,
                "min": jax.lax.pmin,
                "max": jax.lax.pmax,
                "product": lambda x, axis: jax.lax.all_gather(x, axis).prod(axis=0, dtype=x.dtype),
                "gather": jax.lax.all_gather,
            }[merge]

            def exchange(x: Any) -> Any:
                return reduce(x[0], AXIS)

            self._jitted[merge] = jax.jit(
                jax.shard_map(exchange, mesh=self._mesh, in_specs=P(AXIS), out_specs=P(), check_vma=False)
            )
        return self._jitted[merge]

    def guarded(self, run: Callable[[], Any]) -> Any:
        """What `run` returns, which exchanges values.

        Raises:
          UnavailableError: a process is gone; the same again in later calls.
        """
        if self._lost is not None:
            raise self._lost
        try:
            return run()
        except Exception as error:
            if not _is_of_connections(error):
                raise
            self._lost = UnavailableError(None, None, f"{self._missing()} during a collective operation: {error}")
            raise self._lost from None

    def _missing(self) -> str:
        """Which processes are gone, as soon as the coordination service knows."""
        end = time.monotonic() + self._heartbeat + 5
        while time.monotonic() < end:
            try:
                live = self._service.get_live_nodes(list(range(self.size)))
            except Exception:  # the service is in process 0
                return f"{self._names[0]} stopped"
            gone = [name for i, name in enumerate(self._names) if i not in live]
            if gone:
                return f"{', '.join(gone)} stopped"
            time.sleep(0.5)
        return "A connection to another process broke"

    def finish(self) -> None:
        if self._ended:
            return
        self._ended = True
        process_group.leave()
        if self._lost is not None:  # those that are left do not wait for each other
            return
        try:
            self._service.wait_at_barrier("tapeflow_end", _LEAVING * 1000)
            if self.rank == 0:  # it runs the service, from which the others take their leave
                self._await_end()
            jax.distributed.shutdown()
        except Exception:  # a process that failed has said so itself
            return

    def _await_end(self) -> None:
        end = time.monotonic() + _LEAVING
        while time.monotonic() < end and len(self._service.get_live_nodes(list(range(self.size)))) > 1:
            time.sleep(0.02)

    def step_driver(
        self, graph: FuncGraph, outputs: Sequence[SymbolicTensor], common: Sequence[bool], count: int,
        indices: Sequence[int],
    ) -> Any:  # fmt: skip
        """What runs the step of all replicas on eager tensors; see `replicated.program`."""
        return GroupStep(self, graph, outputs, common, count, indices).run


def _seconds() -> int:
    text = os.environ.get(_HEARTBEAT, "30")
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{_HEARTBEAT} must be a number of seconds, got {text!r}")
    return int(text)


def _is_of_connections(error: Exception) -> bool:
    """Whether an error of XLA's says that processes cannot reach each other."""
    text = str(error)
    words = ("Gloo", "gloo", "UNAVAILABLE", "DEADLINE_EXCEEDED", "Connection", "heartbeat", "NCCL")
    return not isinstance(error, UnimplementedError) and any(word in text for word in words)


def _devices_of_processes(indices: Sequence[int]) -> list[Any]:
    """The devices of all processes that have those indices there, process by process."""
    own = [device_memory.jax_device(i) for i in indices]
    local = jax.local_devices(backend=own[0].platform)
    positions = [local.index(each) for each in own]
    found = []
    for process in range(jax.process_count()):
        theirs = [d for d in jax.devices(own[0].platform) if d.process_index == process]
        found += [theirs[i] for i in positions]
    return found


class GroupMemory(MeshMemory):
    """Tensors on the devices of all processes; this one sees those of its own devices."""

    def __init__(self, indices: Sequence[int]):
        super().__init__(indices, _devices_of_processes(indices))

    def array_of(self, given: Any) -> Any:
        if isinstance(given, Split):
            return self._spread(given.parts)
        if not device_memory.can_hold(given.dtype):
            raise UnimplementedError(None, None, f"Values of {given.dtype} are not shared by processes")
        rows = self._rows([given] * len(self._indices))
        return jax.make_array_from_single_device_arrays(tuple(given.shape.as_list()), self._same, rows)

    def _rows(self, parts: Sequence[Any]) -> list[Any]:
        with jax.enable_x64(True):
            return [device_memory.array_on(x, i) for x, i in zip(parts, self._indices, strict=True)]

    def _spread(self, parts: Sequence[Any]) -> Any:
        with jax.enable_x64(True):
            rows = [x[None] for x in self._rows(parts)]
        shape = (self.mesh.size, *parts[0].shape.as_list())
        return jax.make_array_from_single_device_arrays(shape, self._split, rows)

    def tensor_of(self, value: Any, dtype: Any) -> Any:
        return device_memory.tensor_of(self._parts(value)[0], dtype, self._indices[0])


class GroupStep(ReplicatedStep):
    """The step of all replicas of all processes. What is given to it is this process's own, but for variables.

    Args:
      group: the processes.
      others: see `ReplicatedStep`.
    """

    def __init__(
        self, group: Group, graph: FuncGraph, outputs: Sequence[SymbolicTensor], common: Sequence[bool], count: int,
        indices: Sequence[int],
    ):  # fmt: skip
        self._mesh_memory = GroupMemory(indices)
        Executable.__init__(self, graph, outputs, {}, self._mesh_memory)
        self._group, self._given, self._local = group, count, len(indices)
        self._common, self._size = list(common), group.size * len(indices)
        self._count = len(graph.inputs)  # all arrays differ by process
        self._works: bool | None = None
        self._text = fingerprint(graph)
        self._body_of_plan = (graph, list(outputs))

    def run(self, *values: Any) -> list[Any]:
        """The results: those that differ by replica as one tensor for each of this process."""
        if self._works is not False and self._agreed(values):
            try:
                found = self._group.guarded(lambda: self(*self._own(values)))
                self._works = True
                return found
            except (UnimplementedError, TypeError, IndexError, NotImplementedError):
                if self._works:
                    raise
                self._works = False  # here and, as it is the same program, elsewhere
        if self._local > 1:
            raise UnimplementedError(None, None, "A step of several devices in several processes does not compile")
        return list(planning.body_plan(self._body_of_plan)(*values))

    def _own(self, values: Sequence[Any]) -> list[Any]:
        n, ends = self._local, self._given * self._local
        found: list[Any] = [Split(values[i : i + n]) for i in range(0, ends, n)]
        return found + [x if x.dtype is dtypes.resource else Split([x] * n) for x in values[ends:]]

    def _agreed(self, values: Sequence[Any]) -> bool:
        """Whether all processes are about to run this on values of these shapes."""
        shapes = [None if x.dtype is dtypes.resource else (x.dtype.name, x.shape.as_list()) for x in values]
        known = all(x.dtype is dtypes.resource or device_memory.can_hold(x.dtype) for x in values)
        text = f"{self._text} {shapes} {known}"
        digest = hashlib.sha256(text.encode()).digest()[:8]
        others = self._group.exchanged("gather", np.frombuffer(digest, np.int64).copy())
        return known and bool((others == others[0]).all())

    def _lowering(self, values: Any, probing: bool = False) -> Lowering:
        # As with TensorFlow's workers: equal seeds draw equal numbers in all of them.
        return Lowering(values, probing, self._attrs_of, None)


def fingerprint(graph: FuncGraph) -> str:
    """What a graph computes, as text that is the same in all processes that built the same."""
    kept: dict[Any, str] = graph.__dict__.setdefault("_fingerprints", {})
    if graph.version not in kept:
        numbers: dict[int, int] = {}
        lines = []
        for x in graph.inputs:
            numbers[id(x)] = len(numbers)
        for op in graph.operations:
            taken = [numbers.get(id(x), -1) for x in op.inputs]
            lines.append(f"{op.type} {taken} {_described(op.attrs)}")
            for y in op.outputs:
                numbers.setdefault(id(y), len(numbers))
        kept[graph.version] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return kept[graph.version]


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_described(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_described, value)) + "]"
    if value is None or isinstance(value, (bool, int, float, str, bytes, dtypes.DType)):
        return repr(value)
    if isinstance(value, _native.EagerTensor) and value.dtype is not dtypes.resource:
        array = np.asarray(value.numpy())
        return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    graph = getattr(value, "graph", None)
    return fingerprint(graph) if isinstance(graph, FuncGraph) else type(value).__name__
