"""`tf.distribute.coordinator`: functions that workers run in the background.

Workers are the processes of the strategy's cluster; where it has none, one thread of this process.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.dtypes import resource
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.processes import ray_runtime
from tapeflow.core.processes.arrays import array_of, as_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.data.iteration.elsewhere import IteratorOfOthers, origin_of
from tapeflow.data.shipping import NotShippable, to_bytes
from tapeflow.distribute.parameter_servers import current_worker
from tapeflow.distribute.parameter_servers.closures import Closure, Closures, RemoteValue
from tapeflow.distribute.parameter_servers.shipping import WORKER_INDEX, message_of
from tapeflow.distribute.strategies import ParameterServerStrategy
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.graph.func_graph import FuncGraph

__all__ = [
    "ClusterCoordinator", "PerWorkerValue", "PerWorkerValues", "RemoteValue",
    "experimental_get_current_worker_index",
]  # fmt: skip


class PerWorkerValues:
    """A value for each worker.

    Args:
      values: the workers' values, in their order.
    """

    def __init__(self, values: Any):
        self._values = tuple(values)

    def of_worker(self, index: int) -> Any:
        """The value of one worker."""
        return self._values[index]


PerWorkerValue = PerWorkerValues


class _PerWorkerDataset(PerWorkerValues):
    """A dataset for each worker.

    Args:
      values: the datasets.
      iterate: gives the iterator of one of them.
    """

    def __init__(self, values: Any, iterate: Callable[[Any], Any] = iter):
        super().__init__(values)
        self._iterate = iterate

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._values[0].element_spec

    def __iter__(self) -> Any:
        return _PerWorkerIterator([self._iterate(each) for each in self._values])


class _PerWorkerIterator(PerWorkerValues):
    """An iterator for each worker, of which only scheduled functions take elements."""

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        raise NotImplementedError("Iterating over an `AsyncDistributedIterator` is not supported right now.")


class _HeldDataset:
    """A dataset that a worker has.

    Args:
      dataset: the dataset.
      cluster: the processes.
    """

    def __init__(self, dataset: Any, cluster: Any):
        self.element_spec = dataset.element_spec
        try:
            self._message = cluster.put(to_bytes(dataset))
        except NotShippable as reason:
            raise UnimplementedError(None, None, str(reason)) from None
        self._cluster = cluster

    def iterator(self) -> Any:
        """An iterator, which the worker makes when it first needs it."""
        kept = self._cluster.kept(self._message)
        made = IteratorOfOthers(self.element_spec, kept)
        weakref.finalize(made, self._cluster.forget, kept.key).atexit = False
        return made


class ClusterCoordinator:
    """Hands functions to workers and waits for them.

    Args:
      strategy: a `ParameterServerStrategy`.

    Raises ValueError for another strategy.
    """

    def __init__(self, strategy: Any):
        if not isinstance(strategy, ParameterServerStrategy):
            raise ValueError(
                "Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with "
                "`tf.distribute.experimental.coordinator.ClusterCoordinator` currently."
            )
        self._strategy = strategy
        self._cluster = strategy.cluster
        self._count = 1 if self._cluster is None else len(self._cluster.worker_actors)
        self._closures = Closures()
        self._programs: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        for i in range(self._count):
            threading.Thread(target=self._closures.serve, args=(i,), name=f"worker_{i}", daemon=True).start()
        weakref.finalize(self, self._closures.end)

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    def schedule(
        self, fn: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None,
    ) -> RemoteValue:
        """Hand a function to the first worker that is free.

        It runs at least once: a function whose worker dies meanwhile runs again.

        Args:
          fn: a `tf.function`, or a concrete function.
          args: its positional arguments; what is `PerWorkerValues` among them, each worker has its own of.
          kwargs: its keyword arguments.

        Returns:
          What gives the result.

        Raises:
          TypeError: `fn` is no `tf.function`.
          ValueError: an argument is a `RemoteValue`.
          Exception: what a function scheduled before raised; those that still waited are cancelled.
        """
        if not isinstance(fn, (Function, ConcreteFunction)):
            raise TypeError(
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a `tf.function` or "
                "a concrete function."
            )
        given = tuple(args or ()), dict(kwargs or {})
        if any(isinstance(x, RemoteValue) for x in nest.flatten(given)):
            raise ValueError(
                "`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled function is not "
                "yet supported."
            )
        run = self._local(fn, given) if self._cluster is None else self._remote(fn, given)
        closure = Closure(run)
        result = closure.result
        self._closures.put(closure)
        return result

    def _local(self, fn: Callable[..., Any], given: Any) -> Callable[[int], Any]:
        def run(worker: int) -> Callable[[], Any]:
            args, kwargs = _of_worker(worker, given)
            with current_worker.at(worker), self._strategy.scope():
                found = fn(*args, **kwargs)
            return lambda: found

        return run

    def _remote(self, fn: Any, given: Any) -> Callable[[int], Any]:
        cluster = self._cluster
        args, kwargs = _of_worker(0, given)
        with self._strategy.scope():
            concrete = fn if isinstance(fn, ConcreteFunction) else fn.get_concrete_function(*args, **kwargs)
        program = self._programs.get(concrete)
        if program is None:
            program = self._programs[concrete] = cluster.kept(cluster.put(message_of(concrete)))

        def run(worker: int) -> Callable[[], Any]:
            args, kwargs = _of_worker(worker, given)
            flat = [_sent(x) for x in concrete.flat_arguments(args, kwargs)]
            outputs = cluster.run(worker, program, flat)
            return functools.partial(_fetched, outputs, concrete)

        return run

    def join(self) -> None:
        """Wait for all functions. Raises what one of them raised; then those that still waited are cancelled."""
        self._closures.wait()

    def done(self) -> bool:
        """Whether all functions are done. Raises what one of them raised."""
        return self._closures.done()

    def create_per_worker_dataset(self, dataset_fn: Any) -> Any:
        """Make a dataset for each worker.

        Args:
          dataset_fn: a dataset, or a function of no arguments that makes one, called for each worker.

        Returns:
          Per-worker values; `iter` of them gives what scheduled functions take elements from.

        Raises:
          UnimplementedError: a dataset that calls Python cannot go to another process.
        """
        if isinstance(dataset_fn, Function):  # which is traced by TensorFlow; what it makes goes as a graph anyway
            dataset_fn = dataset_fn.python_function
        made = []
        for i in range(self._count):
            with current_worker.at(i), self._strategy.scope():
                dataset = dataset_fn() if callable(dataset_fn) else dataset_fn
            made.append(dataset if self._cluster is None else _HeldDataset(dataset, self._cluster))
        return _PerWorkerDataset(made) if self._cluster is None else _PerWorkerDataset(made, _HeldDataset.iterator)

    def fetch(self, val: Any) -> Any:
        """The results of functions in a structure, as arrays, once they are there."""
        return nest.map_structure(lambda x: x.fetch() if isinstance(x, RemoteValue) else x, val)


def _of_worker(worker: int, given: Any) -> Any:
    return nest.map_structure(lambda x: x.of_worker(worker) if isinstance(x, PerWorkerValues) else x, given)


def _sent(tensor: Any) -> Any:
    """An argument as a worker gets it."""
    if tensor.dtype != resource:
        return array_of(tensor)
    kept = origin_of(tensor)
    if kept is None:
        raise UnimplementedError(None, None, f"{tensor} does not go to a worker as an argument")
    return kept


def _fetched(outputs: Any, concrete: ConcreteFunction) -> Any:
    return concrete.packed([as_tensor(y) for y in ray_runtime.started().get(outputs)])


def experimental_get_current_worker_index() -> Any:
    """The number of the worker that runs a function, a tensor while that is traced.

    Raises:
      RuntimeError: outside of a function for workers.
    """
    index = current_worker.index()
    graph = context.current_graph()
    if isinstance(graph, FuncGraph):
        return _captured_index(graph)
    if index is None:
        raise RuntimeError("Cannot retrieve the worker index: this is not a step of a coordinator.")
    return index


def _captured_index(graph: FuncGraph) -> Any:
    outer = graph.enclosing_graph
    tensor = _captured_index(outer) if isinstance(outer, FuncGraph) else WORKER_INDEX
    return graph.placeholder_of(tensor) or graph.add_capture(tensor, "worker_index")


boundaries(globals())
