"""The processes of a strategy: actors that Ray places, and restarts where they hold nothing that would be lost."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import UnavailableError
from tapeflow.core.processes import ray_runtime
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.distribute.parameter_servers import calls
from tapeflow.distribute.parameter_servers.connection import Connection, placed
from tapeflow.distribute.parameter_servers.server import ParameterServer
from tapeflow.distribute.parameter_servers.variables import moved
from tapeflow.distribute.parameter_servers.worker import Kept, Worker
from tapeflow.distribute.sharded import ShardedVariable

_numbers = itertools.count()
# How often Ray tries a function whose worker dies under it: one that kills its workers is an error in the end.
_TRIES = 10


class Cluster:
    """Parameter servers and workers.

    Args:
      workers: how many.
      servers: how many.
    """

    def __init__(self, workers: int, servers: int):
        calls.install()
        make_server = ray_runtime.actor(ParameterServer)
        make_worker = ray_runtime.actor(Worker, max_restarts=-1, max_task_retries=_TRIES)
        self.server_actors = [make_server() for _ in range(servers)]
        self.worker_actors = [make_worker(i) for i in range(workers)]
        self.servers = [Connection(actor, i) for i, actor in enumerate(self.server_actors)]
        self._turn = itertools.cycle(self.servers)

    def next_server(self) -> Connection:
        """The server of the next variable: each in turn."""
        return next(self._turn)

    def put(self, value: Any) -> Any:
        """The reference to a value in Ray's store."""
        return ray_runtime.started().put(value)

    def kept(self, reference: Any) -> Kept:
        """Something new that workers make of what a reference is to, when they first need it."""
        return Kept(next(_numbers), reference)

    def forget(self, key: int) -> None:
        """Let workers drop what they made of a `Kept`."""
        with contextlib.suppress(Exception):  # called by the collector of garbage, also when all has ended
            for actor in self.worker_actors:
                actor.forget.remote([key])

    def run(self, worker: int, program: Kept, arguments: Sequence[Any]) -> Any:
        """Let a worker run a function, and wait for its end; returns the reference to its outputs.

        Raises:
          UnavailableError: the worker died, again and again.
        """
        method = self.worker_actors[worker].run.options(num_returns=2)
        done, outputs = method.remote(program, arguments)
        ray_runtime.answer(
            done, lambda error: UnavailableError(None, None, f"/job:worker/task:{worker} is gone: {error}")
        )
        return outputs

    def variable(self, next_creator: Callable[..., Any], partitioner: Any, given: dict[str, Any]) -> Any:
        """Make a variable on a server, or its parts on several.

        Args:
          next_creator: makes one in this process.
          partitioner: gives the number of parts along each axis for a shape and a dtype; None: one.
          given: the arguments of the variable.

        Raises:
          ValueError: it is to be split along another axis than the first.
        """
        with context.init_scope():
            server = placed()
            count = 1 if server is not None or partitioner is None else _parts_of(partitioner, given)
            if count == 1:
                return moved(next_creator(**given), server or self.next_server())
            return self._sharded(next_creator, count, given)

    def _sharded(self, next_creator: Callable[..., Any], count: int, given: dict[str, Any]) -> Any:
        value, shape = given["initial_value"], as_shape(given["shape"])
        rows, *rest = map(int, shape)
        name, least, more = given.get("name") or "Variable", *divmod(rows, count)
        begin, parts = 0, []
        for i in range(count):
            size = least + (i < more)
            first = functools.partial(_initial, value, [size, *rest], [begin, *[0] * len(rest)])
            own = {**given, "initial_value": first, "shape": TensorShape([size, *rest]), "name": f"{name}/part_{i}"}
            parts.append(moved(next_creator(**own), self.next_server()))
            begin += size
        return ShardedVariable(parts, f"{context.current_name_scope()}{name}")


def _parts_of(partitioner: Any, given: dict[str, Any]) -> int:
    """How many parts a variable has along its first axis. What `given` lacks of value, shape and dtype is found out.

    Raises:
      ValueError: there is no initial value, or the partitioner splits another axis.
    """
    value, shape, dtype = (given.get(key) for key in ("initial_value", "shape", "dtype"))
    if value is None:
        raise ValueError(
            "It looks like you are using `ParameterServerStrategy` with a `variable_partitioner`, and trying to create "
            "a variable without specifying `initial_value`. This is not allowed. Please specify the `initial_value`."
        )
    if not callable(value) or shape is None or dtype is None:
        value = convert_to_tensor(value() if callable(value) else value, dtype)
        given["initial_value"], given["dtype"] = value, value.dtype
        if shape is not None and not as_shape(shape).is_fully_defined():
            return 1
        given["shape"] = shape = value.shape
    sizes = as_shape(shape).as_list()
    if not sizes:
        return 1
    counts = partitioner(shape=as_shape(shape), dtype=as_dtype(given["dtype"]))
    if not counts or counts[0] == 0 or any(n != 1 for n in counts[1:]):
        raise ValueError(
            "variable_partitioner must return a list/tuple whose elements are 1 besides the first element (non-zero), "
            f"got: {counts!r}"
        )
    return min(counts[0], sizes[0])


def _initial(value: Any, sizes: list[int], offset: list[int]) -> Any:
    """The first value of a part: what an initializer that knows parts makes for it, else the rows of the whole."""
    if callable(value):
        try:
            made = value(partition_shape=tuple(sizes), partition_offset=tuple(offset))
        except (TypeError, ValueError):  # it knows no parts
            made = value()
        if convert_to_tensor(made).shape.as_list() == sizes:
            return made
        value = made
    return convert_to_tensor(value)[offset[0] : offset[0] + sizes[0]]
