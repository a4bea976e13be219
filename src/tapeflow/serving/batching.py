"""Joins the rows of concurrent requests into batches, and splits the results."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from tapeflow.serving.servable import Arrays, Servable


class BatchingOptions(NamedTuple):
    """How requests are joined.

    Args:
      max_batch_size: the most rows of a batch; a larger request is refused.
      timeout: how many seconds the first request of a batch waits for others.
      max_enqueued_batches: how many batches may wait; further requests are refused.
      threads: how many batches run at a time.
    """

    max_batch_size: int = 32
    timeout: float = 0.001
    max_enqueued_batches: int = 64
    threads: int = 2


class _Task(NamedTuple):
    inputs: Arrays
    rows: int
    result: Future[Arrays]
    deadline: float | None


class _Batch:
    def __init__(self, servable: Servable, signature: str):
        self.servable, self.signature = servable, signature
        self.tasks: list[_Task] = []
        self.rows, self.since = 0, time.monotonic()


class Batcher:
    """Runs signatures in batches, in threads of its own."""

    def __init__(self, options: BatchingOptions):
        self.options = options
        self._open: dict[Any, _Batch] = {}  # the last batch of each kind, while it can grow
        self._waiting: list[tuple[Any, _Batch]] = []
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(options.threads)]
        for thread in self._threads:
            thread.start()

    def run(self, servable: Servable, signature: str, inputs: Arrays, deadline: float | None = None) -> Arrays:
        """The outputs for complete inputs, which may run together with those of others.

        Raises InvalidArgumentError for more rows than a batch has, UnavailableError where too many batches wait,
        TimeoutError where `time.monotonic()` passes the deadline, and what the model raises.
        """
        if not is_batchable(servable, signature):
            return servable.run(signature, inputs, deadline)
        sizes = {len(array) for array in inputs.values()}
        if len(sizes) != 1:
            raise _invalid("Batching input tensors must have equal 0th-dimension size")
        task = _Task(inputs, sizes.pop(), Future(), deadline)
        if task.rows > self.options.max_batch_size:
            raise _invalid(
                f"Task size {task.rows} is larger than maximum input batch size {self.options.max_batch_size}"
            )
        shapes = tuple((name, inputs[name].shape[1:]) for name in sorted(inputs))
        self._enqueue((id(servable), signature, shapes), servable, signature, task)
        try:
            return task.result.result(None if deadline is None else max(0.0, deadline - time.monotonic()))
        finally:
            task.result.cancel()

    def close(self, timeout: float | None = None) -> None:
        """Runs what waits, then ends the threads; waits for each for at most `timeout` seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout)

    def _enqueue(self, key: Any, servable: Servable, signature: str, task: _Task) -> None:
        with self._changed:
            if self._closed:
                raise UnavailableError(None, None, "The server is shutting down")
            batch = self._open.get(key)
            if batch is None or batch.rows + task.rows > self.options.max_batch_size:
                if len(self._waiting) >= self.options.max_enqueued_batches:
                    raise UnavailableError(
                        None, None, "The batch scheduling queue to which this task was submitted is full"
                    )
                batch = self._open[key] = _Batch(servable, signature)
                self._waiting.append((key, batch))
            batch.tasks.append(task)
            batch.rows += task.rows
            self._changed.notify()

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            tasks = [task for task in batch.tasks if task.result.set_running_or_notify_cancel()]
            if tasks:
                _run(batch.servable, batch.signature, tasks)

    def _next(self) -> _Batch | None:
        """The first batch that is full or has waited long enough; None when closed."""
        with self._changed:
            while True:
                now, soonest = time.monotonic(), None
                for i, (key, batch) in enumerate(self._waiting):
                    left = batch.since + self.options.timeout - now
                    closed = self._closed or self._open.get(key) is not batch
                    if left <= 0 or closed or batch.rows >= self.options.max_batch_size:
                        del self._waiting[i]
                        if self._open.get(key) is batch:
                            del self._open[key]
                        return batch
                    soonest = left if soonest is None else min(left, soonest)
                if self._closed:
                    return None
                self._changed.wait(soonest)


def is_batchable(servable: Servable, signature: str) -> bool:
    """Whether all inputs and outputs of a signature have a first dimension of any size."""
    found = servable.signature(signature)[1]
    infos = [*found.inputs.values(), *found.outputs.values()]
    return bool(found.inputs) and all(
        not i.tensor_shape.unknown_rank and i.tensor_shape.dim and i.tensor_shape.dim[0].size == -1 for i in infos
    )


def _run(servable: Servable, signature: str, tasks: list[_Task]) -> None:
    try:
        joined = {name: np.concatenate([t.inputs[name] for t in tasks]) for name in tasks[0].inputs}
        deadlines = [task.deadline for task in tasks if task.deadline is not None]
        outputs = servable.run(signature, joined, max(deadlines) if len(deadlines) == len(tasks) else None)
        rows = sum(task.rows for task in tasks)
        for array in outputs.values():
            if not array.ndim or len(array) != rows:
                raise FailedPreconditionError(
                    None, None, "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension "
                    "sizes of the input tensors",
                )  # fmt: skip
    except Exception as error:
        if len(tasks) == 1:
            tasks[0].result.set_exception(error)
        else:  # one request must not fail the others
            for task in tasks:
                _run(servable, signature, [task])
        return
    start = 0
    for task in tasks:
        end = start + task.rows
        task.result.set_result({name: array[start:end] for name, array in outputs.items()})
        start = end


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)
