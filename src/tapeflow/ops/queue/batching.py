"""Calls of several threads as one: `Batch` joins their inputs along the first axis, `Unbatch` gives each its part."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import DeadlineExceededError, InvalidArgumentError, OpError
from tapeflow.core.threads.waiting import Wait
from tapeflow.ops.array.joining import concat
from tapeflow.ops.signature import dtype, integer, ints, type_list
from tapeflow.ops.state.resource_op import resource_op

_NAMED = {"container": "", "shared_name": ""}
_numbers = itertools.count(1)
_CANCELLED = "Batching was cancelled"


class Task:
    """What one call contributes to a batch.

    Attributes:
      inputs: its tensors, all of `size` rows.
      results: what was found for it, or the error that all of its batch raise.
    """

    def __init__(self, inputs: Sequence[Any]):
        self.inputs = list(inputs)
        self.number = next(_numbers)
        self.size = _rows(self.inputs)
        self.closed, self.finished = Wait(), Wait()
        self.results: list[Any] | BaseException | None = None

    def finish(self, results: Any) -> None:
        self.results = results
        self.finished.end()


class _OpenBatch:
    """Tasks that will be one batch; `closed` when no more can join."""

    def __init__(self, seconds: float):
        self.tasks: list[Task] = []
        self.deadline = time.monotonic() + seconds
        self.closed = False

    @property
    def size(self) -> int:
        return sum(task.size for task in self.tasks)

    def close(self) -> None:
        self.closed = True
        for task in self.tasks:
            task.closed.end()


class Batcher:
    """Gathers tasks until a batch is full or its time is over. The last task of a batch computes it for all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, _OpenBatch] = {}

    def join(self, task: Task, most: int, seconds: float, queue: str) -> list[Task] | None:
        """The tasks of the batch if `task` is to compute it, else None. Waits for the batch to close.

        Raises InvalidArgumentError for more rows than `most`.
        """
        if task.size > most:
            raise _invalid(f"Task size {task.size} is larger than maximum input batch size {most}")
        with self._lock:
            batch = self._open.get(queue)
            if batch is not None and (batch.closed or batch.size + task.size > most):
                batch.close()
                batch = None
            if batch is None:
                batch = self._open[queue] = _OpenBatch(min(seconds, threading.TIMEOUT_MAX / 2))
            elif len(batch.tasks[0].inputs) != len(task.inputs):
                raise _invalid(
                    f"Batching input tensors must be as many in each call: {len(task.inputs)}, after "
                    f"{len(batch.tasks[0].inputs)} in another call of this batch"
                )
            batch.tasks.append(task)
            if batch.size == most:
                batch.close()
        try:
            task.closed.within(batch.deadline - time.monotonic(), lambda: batch.closed, _CANCELLED)
        except OpError:
            with self._lock:
                if not batch.closed:
                    batch.tasks.remove(task)
                if not batch.tasks and self._open.get(queue) is batch:
                    del self._open[queue]
            raise
        with self._lock:
            batch.close()
        return batch.tasks if batch.tasks[-1] is task else None


class Unbatcher:
    """Parts of batches that wait for the calls they belong to, and calls that wait for their parts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: dict[int, tuple[Any, float]] = {}
        self._waits: dict[int, list[Wait]] = {}

    def give(self, number: int, part: Any, seconds: float) -> None:
        """Leaves `part` for the call of that number, which has `seconds` to take it."""
        now = time.monotonic()
        with self._lock:
            for late in [n for n, (_, until) in self._parts.items() if until < now]:
                del self._parts[late]
            self._parts[number] = part, now + seconds
            waits = self._waits.pop(number, [])
        for wait in waits:
            wait.end()

    def take(self, number: int, seconds: float) -> Any:
        """The part left for `number`. Raises DeadlineExceededError if none comes within `seconds`."""
        with self._lock:
            if number in self._parts:
                return self._parts.pop(number)[0]
            wait = Wait()
            self._waits.setdefault(number, []).append(wait)
        try:
            wait.within(seconds, lambda: number in self._parts, _CANCELLED)
        finally:
            with self._lock:
                others = self._waits.get(number, [])
                if wait in others:
                    others.remove(wait)
        with self._lock:
            found = self._parts.pop(number, None)
        if found is None:
            raise DeadlineExceededError(
                None, None, "Batched data did not arrive within timeout window."
            )
        return found[0]


def _rows(inputs: Sequence[Any]) -> int:
    if not inputs:
        raise _invalid("Batching needs at least one input tensor")
    if any(x.shape.rank == 0 for x in inputs):
        raise _invalid("Batching input tensors must have at least one dimension")
    sizes = {x.shape[0] for x in inputs}
    if len(sizes) > 1:
        raise _invalid(
            "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size"
        )
    return sizes.pop()


def check_sizes(allowed: Sequence[int], most: int) -> None:
    """Raises InvalidArgumentError unless the allowed sizes rise to `most`."""
    if not allowed:
        return
    if any(b <= a for a, b in itertools.pairwise(allowed)):
        raise _invalid("allowed_batch_sizes entries must be monotonically increasing")
    if allowed[-1] != most:
        raise _invalid(f"final entry in allowed_batch_sizes must equal max_batch_size: {allowed[-1]} is not {most}")


def joined(tasks: Sequence[Task], allowed: Sequence[int]) -> list[Any]:
    """The inputs of all tasks, joined, and padded with the first row to the next size allowed."""
    size = sum(task.size for task in tasks)
    missing = min((n for n in allowed if n >= size), default=size) - size
    columns = zip(*(task.inputs for task in tasks), strict=True)
    return [concat([*parts, *[parts[0][:1]] * missing], 0) for parts in columns]


def _extents(tasks: Sequence[Task]) -> list[tuple[int, int, int]]:
    """(number, first row, row after the last) of each task."""
    ends = list(itertools.accumulate((task.size for task in tasks), initial=0))
    return [(task.number, ends[i], ends[i + 1]) for i, task in enumerate(tasks)]


def parts_of(tasks: Sequence[Task], outputs: Sequence[Any]) -> list[list[Any]]:
    """For each task its rows of all outputs."""
    return [[y[start:end] for y in outputs] for _, start, end in _extents(tasks)]


def _batch_shapes(attrs: Any, inputs: Any) -> list[Any]:
    shapes = [x.shape.as_list() if x.shape.rank else None for x in inputs]
    return [*(None if s is None else (None, *s[1:]) for s in shapes), (None, 3), ()]


@resource_op(
    "Batch", "in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64",
    {"num_batch_threads": integer, "max_batch_size": integer, "max_enqueued_batches": 10,
     "batch_timeout_micros": integer, "allowed_batch_sizes": ints([]), "grad_timeout_micros": integer,
     **_NAMED, "batching_queue": "", "T": type_list},
    _batch_shapes, patience=1, keeps=Batcher,
)  # fmt: skip
def Batch(
    batcher: Batcher, in_tensors: Sequence[Tensor], max_batch_size: int, batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int], batching_queue: str, **unused,
):
    """The joined inputs for one call of a batch, with what of them belongs to whom; no rows for the others."""
    check_sizes(allowed_batch_sizes, max_batch_size)
    task = Task(in_tensors)
    tasks = batcher.join(task, max_batch_size, batch_timeout_micros / 1e6, batching_queue)
    if tasks is None:
        return [*(x[:0] for x in task.inputs), np.zeros((0, 3), np.int64), np.int64(task.number)]
    index = np.array(_extents(tasks), np.int64)
    return [*joined(tasks, allowed_batch_sizes), index, np.int64(task.number)]


def _unbatched_shape(attrs: Any, inputs: Any) -> list[Any]:
    shape = inputs[0].shape
    return [(None, *shape.as_list()[1:]) if shape.rank else None]


def _extents_in(batch_index: Any) -> list[list[int]]:
    index = batch_index.numpy()
    if index.ndim != 2 or index.shape[1] != 3:
        raise _invalid(f"batch_index must be a matrix of 3 columns, got shape {list(index.shape)}")
    return index.tolist()


@resource_op(
    "Unbatch", "batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T",
    {"timeout_micros": integer, **_NAMED, "T": dtype}, _unbatched_shape, patience=2, keeps=Unbatcher,
)  # fmt: skip
def Unbatch(
    unbatcher: Unbatcher, batched_tensor: Tensor, batch_index: Tensor, id: Tensor, timeout_micros: int, T: DType
):
    """The rows that belong to the call `id`, which may come with the call that has the batch."""
    extents = _extents_in(batch_index)
    if extents and (batched_tensor.shape.rank == 0 or extents[-1][2] > batched_tensor.shape[0]):
        raise _invalid(f"batch_index reaches past the {batched_tensor.shape} tensor of the batch")
    for number, start, end in extents:
        unbatcher.give(number, batched_tensor[start:end], timeout_micros / 1e6)
    return unbatcher.take(int(id.numpy()), timeout_micros / 1e6)


@resource_op(
    "UnbatchGrad", "original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T",
    {**_NAMED, "T": dtype}, _unbatched_shape, patience=2, keeps=Unbatcher,
)  # fmt: skip
def UnbatchGrad(
    unbatcher: Unbatcher, original_input: Tensor, batch_index: Tensor, grad: Tensor, id: Tensor, T: DType
):
    """The joined gradients for the call that has the batch; no rows for the others."""
    unbatcher.give(int(id.numpy()), grad, _GRADIENT_SECONDS)
    extents = _extents_in(batch_index)
    if not extents:
        return original_input[:0]
    parts = [unbatcher.take(number, _GRADIENT_SECONDS) for number, _, _ in extents]
    missing = original_input.shape[0] - extents[-1][2]
    if missing > 0:  # rows that only fill the batch
        parts.append(convert_to_tensor(np.zeros([missing, *original_input.shape[1:]]), dtypes.as_dtype(T)))
    return concat(parts, 0)


_GRADIENT_SECONDS = 60.0


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)
