"""Datasets of which a service makes the elements."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from tapeflow.core.processes import ray_runtime
from tapeflow.core.processes.arrays import as_tensor
from tapeflow.core.public import boundaries
from tapeflow.data import element, spec_coding
from tapeflow.data.building import build
from tapeflow.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from tapeflow.data.iteration.passes import Pass
from tapeflow.data.service.dispatcher import Job
from tapeflow.data.service.policies import policy_of
from tapeflow.data.service.servers import dispatcher_at
from tapeflow.data.shipping import NotShippable, to_bytes

# Elements that a worker is asked for at a time, requests that are under way to each, and seconds after which the
# dispatcher is asked for new workers.
_MOST, _REQUESTS, _PATIENCE = 16, 2, 1.0


def distribute(
    processing_mode: Any, service: Any, job_name: str | None = None, consumer_index: int | None = None,
    num_consumers: int | None = None, max_outstanding_requests: int | None = None, data_transfer_protocol: Any = None,
    compression: str | None = "AUTO", cross_trainer_cache: Any = None, target_workers: str = "AUTO",
) -> Callable[[Any], Any]:  # fmt: skip
    """Make a transformation that lets a service make the elements of a dataset.

    Args:
      processing_mode: a `ShardingPolicy`, "parallel_epochs" for OFF, or "distributed_epoch" for DYNAMIC.
      service: the target of the dispatcher, "grpc://host:port", or a pair of protocol and address.
      job_name: the name under which several readers share one pass; None: a pass for this reader.
      consumer_index: the number of this reader, where `num_consumers` take turns: each gets one element of a round, all
        rounds of one worker; the dataset must be endless.
      num_consumers: how many readers take turns.
      max_outstanding_requests: how many requests may be under way; None or AUTOTUNE: two for each worker.
      data_transfer_protocol: not used: elements are in Ray's store.
      compression: "AUTO" or None; elements are not compressed.
      cross_trainer_cache: not supported.
      target_workers: "AUTO" and "ANY" for all workers, "LOCAL" for those of this machine.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: an argument has no such value.
      UnimplementedError: a dataset that calls Python, or Ray is not installed.
    """
    if compression not in ("AUTO", None, "SNAPPY"):
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {['AUTO', None, 'SNAPPY']}.")
    policy_of(processing_mode)

    def apply(dataset: Any) -> Any:
        number = register_dataset(service, dataset, compression)
        return from_dataset_id(
            processing_mode, service, number, dataset.element_spec, job_name, consumer_index, num_consumers,
            max_outstanding_requests, data_transfer_protocol, cross_trainer_cache, target_workers,
        )  # fmt: skip

    return apply


def register_dataset(service: Any, dataset: Any, compression: str | None = "AUTO", dataset_id: Any = None) -> Any:
    """Tell a service about a dataset.

    Args:
      service: the target of the dispatcher.
      dataset: the dataset, which must be made of ops.
      compression: "AUTO" or None; elements are not compressed.
      dataset_id: the identity that it gets; None: the service gives it one, which equal datasets share.

    Returns:
      The identity, a scalar string tensor.

    Raises:
      ValueError: `compression` has no such value.
      InvalidArgumentError: there is a dataset of that identity with other elements.
      UnimplementedError: the dataset calls Python.
    """
    if compression not in ("AUTO", None, "SNAPPY"):
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {['AUTO', None, 'SNAPPY']}.")
    dispatcher = dispatcher_at(_address(service))
    try:
        message = to_bytes(dataset)
    except NotShippable as reason:
        raise UnimplementedError(None, None, str(reason)) from None
    return convert_to_tensor(_asked(dispatcher.register.remote(message, _text(dataset_id))))


def from_dataset_id(
    processing_mode: Any, service: Any, dataset_id: Any, element_spec: Any = None, job_name: str | None = None,
    consumer_index: int | None = None, num_consumers: int | None = None, max_outstanding_requests: int | None = None,
    data_transfer_protocol: Any = None, cross_trainer_cache: Any = None, target_workers: str = "AUTO",
) -> Any:  # fmt: skip
    """Make a dataset of which a service makes the elements.

    Args:
      processing_mode: a `ShardingPolicy`, "parallel_epochs" for OFF, or "distributed_epoch" for DYNAMIC.
      service: the target of the dispatcher, "grpc://host:port", or a pair of protocol and address.
      dataset_id: what `register_dataset` returned.
      element_spec: the structure of specs of an element; None: what was registered.
      job_name: the name under which several readers share one pass; None: a pass for this reader.
      consumer_index: the number of this reader, where `num_consumers` take turns.
      num_consumers: how many readers take turns.
      max_outstanding_requests: how many requests may be under way; None or AUTOTUNE: two for each worker.
      data_transfer_protocol: not used.
      cross_trainer_cache: not supported.
      target_workers: "AUTO" and "ANY" for all workers, "LOCAL" for those of this machine.

    Returns:
      A dataset.

    Raises:
      ValueError: an argument has no such value.
      NotFoundError: the service has no such dataset.
      UnimplementedError: `cross_trainer_cache`.
    """
    policy = policy_of(processing_mode)
    if job_name is not None and not isinstance(job_name, str):
        raise ValueError(
            f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. job_name={job_name}"
        )
    if job_name == "":
        raise ValueError("`job_name` must not be empty")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError(
            "Must either set both `consumer_index` and `num_consumers`, or neither. "
            f"consumer_index={consumer_index}, num_consumers={num_consumers}"
        )
    if num_consumers is not None and job_name is None:
        raise ValueError(
            f"`job_name` must be set when setting `num_consumers`. num_consumers was set to {num_consumers}."
        )
    if consumer_index is not None and num_consumers is not None and not 0 <= consumer_index < num_consumers:
        raise ValueError(
            f"consumer_index {consumer_index} must be at least 0 and less than num_consumers {num_consumers}"
        )
    most = None if max_outstanding_requests == AUTOTUNE else max_outstanding_requests
    if most is not None and most < 1:
        raise ValueError(f"max_outstanding_requests must be positive or tf.data.AUTOTUNE, got {most}")
    if cross_trainer_cache is not None:
        raise UnimplementedError(None, None, "cross_trainer_cache is not supported: read with one job_name")
    if target_workers.upper() not in ("AUTO", "ANY", "LOCAL"):
        raise ValueError(f"Unknown `target_workers` {target_workers!r}: use 'AUTO', 'ANY' or 'LOCAL'")
    address, number = _address(service), _text(dataset_id)
    assert number is not None
    message: bytes = _asked(dispatcher_at(address).dataset.remote(number))
    spec = element_spec
    if spec is None:
        spec = spec_coding.from_plain(json.loads(message.partition(b"\n")[0]))
    job = Job(number, int(policy), job_name or "", num_consumers or 0)
    repetitions = itertools.count()
    local = target_workers.upper() == "LOCAL"

    def start() -> Any:
        reader = _Reader(address, job, next(repetitions), spec, local)
        if consumer_index is not None:
            return _InTurns(reader, consumer_index)
        return _Elements(reader, most)

    endless = consumer_index is not None
    return build(("DataService", start, spec, INFINITE_CARDINALITY if endless else UNKNOWN_CARDINALITY))


def _address(service: Any) -> str:
    """The address of a service: "grpc://host:port", or (protocol, "host:port"). Raises ValueError for others."""
    if isinstance(service, tuple) and len(service) == 2:
        return str(service[1])
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string or a tuple of two strings, but got {service!r} instead.")
    if not service:
        raise ValueError("`service` must not be empty")
    protocol, mark, address = service.partition("://")
    if not mark or not protocol or not address:
        raise ValueError(
            f"Malformed `service` string has multiple or no '://': {service}. `service` must be of the form "
            "`protocol://address`."
        )
    return address


def _text(dataset_id: Any) -> str | None:
    value = dataset_id.numpy() if hasattr(dataset_id, "numpy") else dataset_id
    return None if value is None else value.decode() if isinstance(value, bytes) else str(value)


def _asked(reference: Any) -> Any:
    """What a server answers. Raises what it raised, and UnavailableError where it is gone."""
    return ray_runtime.answer(
        reference, lambda error: UnavailableError(None, None, f"A server of the data service is gone: {error}")
    )


class _Reader:
    """A pass that workers are in.

    Args:
      address: of the dispatcher.
      job: what is read.
      repetition: how many passes the dataset had before.
      spec: the structure of specs of an element.
      local: whether workers of this machine alone count.
    """

    def __init__(self, address: str, job: Job, repetition: int, spec: Any, local: bool):
        self._dispatcher, self._job, self._spec = dispatcher_at(address), job, spec
        self._number = _asked(self._dispatcher.join.remote(job, repetition))
        self._node = ray_runtime.started().get_runtime_context().get_node_id() if local else None

    def tasks(self) -> dict[str, tuple[Any, Any]]:
        """The actors of workers and their tasks, by their addresses."""
        found = _asked(self._dispatcher.tasks.remote(self._number))
        return {
            address: (actor, task) for address, actor, node, task in found if self._node in (None, node)
        }

    def element(self, arrays: list[Any]) -> Any:
        """An element of the arrays of its tensors."""
        return element.unflatten(self._spec, iter([as_tensor(x) for x in arrays]))

    def close(self) -> None:
        """Say that nobody reads any more, where nobody else does."""
        if not self._job.name and ray_runtime.is_started():
            with contextlib.suppress(Exception):  # also called by the collector of garbage, when all has ended
                self._dispatcher.release.remote(self._number)


class _Elements(Pass):
    """What comes first from any worker."""

    __slots__ = ("_closed", "_ended", "_found", "_lost", "_most", "_pending", "_reader", "_tasks")

    def __init__(self, reader: _Reader, most: int | None):
        self._reader, self._most, self._closed = reader, most, False
        self._found: deque[list[Any]] = deque()
        self._pending: dict[Any, str] = {}
        self._ended: set[str] = set()
        self._lost: set[str] = set()
        self._tasks = reader.tasks()

    def __next__(self) -> Any:
        while not self._found:
            self._ask()
            if not self._pending and self._tasks and self._ended.issuperset(self._tasks):
                self.close()
                if self._lost.issuperset(self._tasks):
                    raise UnavailableError(None, None, "All workers of the data service are gone")
                raise StopIteration
            self._take()
        return self._reader.element(self._found.popleft())

    def close(self) -> None:
        """Let workers end what they make for this pass, also before its end."""
        if not self._closed:
            self._closed = True
            self._pending.clear()
            self._reader.close()

    def _ask(self) -> None:
        for address, (actor, task) in self._tasks.items():
            busy = sum(other == address for other in self._pending.values())
            while address not in self._ended and busy < _REQUESTS:
                if self._most is not None and len(self._pending) >= self._most:
                    return
                self._pending[actor.elements.remote(task, _MOST)] = address
                busy += 1

    def _take(self) -> None:
        ray = ray_runtime.started()
        ready: list[Any] = []
        if self._pending:
            ready, _ = ray.wait(list(self._pending), num_returns=1, timeout=_PATIENCE)
        else:
            time.sleep(_PATIENCE / 10)
        if not ready:
            self._tasks = self._reader.tasks()
            return
        address = self._pending.pop(ready[0])
        try:
            found, ended = _asked(ready[0])
        except UnavailableError:  # the others go on
            self._ended.add(address)
            self._lost.add(address)
            self._tasks = self._reader.tasks()
            return
        self._found.extend(found)
        if ended:
            self._ended.add(address)
            if self._ended.issuperset(self._tasks):
                self._tasks = self._reader.tasks()


class _InTurns(Pass):
    """One element of each round; rounds come from one worker after the other."""

    __slots__ = ("_ahead", "_consumer", "_reader", "_round", "_tasks")

    def __init__(self, reader: _Reader, consumer: int):
        self._reader, self._consumer, self._round = reader, consumer, 0
        self._tasks: list[tuple[Any, Any]] = []
        self._ahead: deque[Any] = deque()

    def __next__(self) -> Any:
        while not self._tasks:
            self._tasks = [pair for _, pair in sorted(self._reader.tasks().items())]
            if not self._tasks:
                time.sleep(_PATIENCE / 10)
        while len(self._ahead) < _REQUESTS * len(self._tasks):
            actor, task = self._tasks[self._round % len(self._tasks)]
            turn = self._round // len(self._tasks)
            self._ahead.append(actor.element.remote(task, turn * task.consumers + self._consumer))
            self._round += 1
        found = _asked(self._ahead.popleft())
        if found is None:
            raise InvalidArgumentError(
                None, None, "Encountered end of sequence on a round robin read: the dataset must be infinite, by "
                "`repeat()`."
            )  # fmt: skip
        return self._reader.element(found)


boundaries(globals())
