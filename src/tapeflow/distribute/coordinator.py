"""`tf.distribute.coordinator`: steps that workers run in the background; the workers are threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.distribute.strategies import ParameterServerStrategy

__all__ = [
    "ClusterCoordinator", "PerWorkerValue", "PerWorkerValues", "RemoteValue",
    "experimental_get_current_worker_index",
]  # fmt: skip

_worker = threading.local()


class RemoteValue:
    """The result of a step, which may still be running.

    Args:
      future: the `concurrent.futures.Future` of it.
    """

    def __init__(self, future: Future[Any]):
        self._future = future

    def fetch(self) -> Any:
        """The result, tensors as arrays, once it is there. Raises what the step raised."""
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, self._future.result())

    def get(self) -> Any:
        """The result, once it is there. Raises what the step raised."""
        return self._future.result()


class PerWorkerValues:
    """A value for each worker.

    Args:
      values: the workers' values, in their order.
    """

    def __init__(self, values: Any):
        self._values = tuple(values)


PerWorkerValue = PerWorkerValues


class _PerWorkerDataset(PerWorkerValues):
    """A dataset for each worker."""

    @property
    def element_spec(self) -> Any:
        return self._values[0].element_spec

    def __iter__(self) -> Any:
        return PerWorkerValues([iter(each) for each in self._values])


class ClusterCoordinator:
    """Hands steps to workers and waits for them.

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
        self._count = 1
        self._pool = ThreadPoolExecutor(self._count, "tapeflow_worker")
        self._running: list[Future[Any]] = []

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    def schedule(
        self, fn: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None,
    ) -> RemoteValue:
        """Hands a step to a worker; its result. Raises what a step before raised."""
        self._raise()
        future = self._pool.submit(self._run, fn, args or (), kwargs or {})
        self._running.append(future)
        return RemoteValue(future)

    def _run(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        _worker.index = 0
        with self._strategy.scope():
            return fn(*map(_of_worker, args), **{name: _of_worker(value) for name, value in kwargs.items()})

    def _raise(self) -> None:
        for future in [each for each in self._running if each.done()]:
            self._running.remove(future)
            future.result()

    def join(self) -> None:
        """Waits for all steps. Raises what one of them raised."""
        for future in list(self._running):
            future.exception()
        self._raise()
        if self._running:
            self.join()

    def done(self) -> bool:
        """Whether all steps are done. Raises what one of them raised."""
        self._raise()
        return not self._running

    def create_per_worker_dataset(self, dataset_fn: Any) -> Any:
        """A dataset for each worker: `dataset_fn()`, or the dataset itself."""
        made = [dataset_fn() if callable(dataset_fn) else dataset_fn for _ in range(self._count)]
        return _PerWorkerDataset(made)

    def fetch(self, val: Any) -> Any:
        """The results of steps in a structure, as arrays, once they are there."""
        return nest.map_structure(lambda x: x.fetch() if isinstance(x, RemoteValue) else x, val)


def _of_worker(value: Any) -> Any:
    if isinstance(value, PerWorkerValues):
        return value._values[_worker.index]
    return value.get() if isinstance(value, RemoteValue) else value


def experimental_get_current_worker_index() -> int:
    """The number of the worker that runs a step. Raises RuntimeError outside of one."""
    index = getattr(_worker, "index", None)
    if index is None:
        raise RuntimeError("Cannot retrieve the worker index: this is not a step of a coordinator.")
    return index


boundaries(globals())
