"""The queues behind handles: what they hold, and the calls that wait for room or for elements.

An element is a tuple of eager tensors.
"""

from __future__ import annotations

import collections
import heapq
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.queue.waiting_lines import Lines
from tapeflow.ops.random.philox import Philox

_numbers = itertools.count()
_Element = tuple[Any, ...]


class Queue(Lines):
    """A queue that gives elements in the order in which they came.

    Args:
      shapes: of the components of elements; empty: any.
      capacity: the number of elements it holds; below 0: any number.
    """

    kind = "FIFOQueue"
    # Whether components that differ in shape can be dequeued together.
    pads = False
    # How many elements stay behind for others to be mixed with.
    kept_back = 0

    def __init__(self, name: str, component_types: Sequence[Any], shapes: Sequence[Any], capacity: int):
        self.name = f"_{next(_numbers)}_{name}"
        self.types = list(component_types)
        self.shapes = [TensorShape(s) for s in shapes]
        self.capacity = float("inf") if capacity < 0 else capacity
        self.closed = False
        super().__init__(2)
        self._enqueues, self._dequeues = self._lines
        self._start()

    # What differs from one kind of queue to the next.

    def _start(self) -> None:
        self._elements: Any = collections.deque()

    def _put(self, element: _Element) -> None:
        self._elements.append(element)

    def _take(self) -> _Element:
        return self._elements.popleft()

    def _put_back(self, elements: list[_Element]) -> None:
        self._elements.extendleft(reversed(elements))

    # Calls.

    def size(self) -> int:
        return len(self._elements)

    def check_same(self, other: Any) -> None:
        """Raises InvalidArgumentError unless `other`, which was asked for under the same name, is like this one."""
        if not isinstance(other, Queue):
            raise _invalid(f"'{self.name}' is a {self.kind}, not a {type(other).__name__}.")
        for what, own, asked in (
            ("type", self.kind, other.kind),
            ("capacity", self.capacity, other.capacity),
            ("component types", _names(self.types), _names(other.types)),
            ("component shapes", _shapes(self.shapes), _shapes(other.shapes)),
            *zip(("min_after_dequeue", "random seeds"), self.more(), other.more(), strict=False),
        ):
            if own != asked:
                raise _invalid(
                    f"Shared queue '{self.name}' has {what} {own} but requested {what} was {asked}."
                )

    def more(self) -> Sequence[Any]:
        return ()

    def enqueue(self, components: Sequence[Any]) -> None:
        """Waits for room. Raises CancelledError for a closed queue, InvalidArgumentError for what does not fit."""
        self._check(components, 0)
        # What comes out again must not be the caller's tensors, which a tape may watch.
        self._enqueue([tuple(map(_native.fresh, components))])

    def enqueue_many(self, components: Sequence[Any]) -> None:
        """As `enqueue`, for the slices of the components along their first axis."""
        self._check(components, 1)
        counts = {len(x.numpy()) for x in components}
        if len(counts) > 1:
            raise _invalid(
                f"All input tensors must have the same size in the 0th dimension, got {sorted(counts)}"
            )
        columns = [_rows(x) for x in components]
        self._enqueue(list(zip(*columns, strict=True)))

    def _enqueue(self, elements: list[_Element]) -> None:
        at = 0

        def step() -> tuple[bool, bool]:
            nonlocal at
            if self.closed:
                raise CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")
            before = at
            while at < len(elements) and self.size() < self.capacity:
                self._put(elements[at])
                at += 1
            return at > before, at == len(elements)

        self._attempt(self._enqueues, step, lambda: None, "Enqueue operation was cancelled")

    def dequeue(self) -> list[Any]:
        """Waits for an element. Raises OutOfRangeError for a closed queue that has none."""
        return list(self._dequeue(1, False)[0])

    def dequeue_many(self, n: int, allow_fewer: bool) -> list[Any]:
        """`n` elements, stacked component by component; with `allow_fewer` those that a closed queue still has.

        Raises OutOfRangeError for a closed queue with too few, InvalidArgumentError where shapes are not known.
        """
        if n < 0:
            raise _invalid(
                f"Dequeue{'UpTo' if allow_fewer else 'Many'} requested {n} < 0 elements"
            )
        if not self.pads and not (self.shapes and all(s.is_fully_defined() for s in self.shapes)):
            raise _invalid(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
            )
        taken = self._dequeue(n, allow_fewer) if n else []
        return [
            self._stacked([element[i] for element in taken], kind, i)
            for i, kind in enumerate(self.types)
        ]

    def _stacked(self, parts: list[Any], kind: Any, i: int) -> Any:
        shape = [d or 0 for d in self.shapes[i].as_list()]
        arrays = [x.numpy() for x in parts]
        if self.pads and arrays and not self.shapes[i].is_fully_defined():
            shape = np.max([np.shape(a) for a in arrays], axis=0).astype(int).tolist() if shape else []
        numpy_type: Any = object if kind.name == "string" else kind.as_numpy_dtype
        out = np.zeros((len(arrays), *shape), numpy_type)
        if numpy_type is object:
            out.fill(b"")
        for row, a in enumerate(arrays):
            place: Any = (row, *(slice(n) for n in np.shape(a)))
            out[place] = a
        return _native.tensor_of(out, kind)

    def _dequeue(self, n: int, allow_fewer: bool) -> list[_Element]:
        taken: list[_Element] = []

        def step() -> tuple[bool, bool]:
            size = self.size()
            if self.closed and size < n - len(taken):
                if not (allow_fewer and (taken or size)):
                    raise OutOfRangeError(
                        None, None,
                        f"{self.kind} '{self.name}' is closed and has insufficient elements (requested {n}, "
                        f"current size {size + len(taken)})",
                    )  # fmt: skip
                while self.size():
                    taken.append(self._take())
                return True, True
            before = len(taken)
            free = size if self.closed else size - self.kept_back
            for _ in range(min(free, n - len(taken))):
                taken.append(self._take())
            return len(taken) > before, len(taken) == n

        def give_back() -> None:
            self._put_back(taken)
            taken.clear()

        self._attempt(self._dequeues, step, give_back, "Dequeue operation was cancelled")
        return taken

    def close(self, cancel_pending: bool) -> None:
        """Lets no more elements in; waits for the calls that are putting some in, or cancels them."""
        if cancel_pending:
            with self._lock:
                self.closed = True
                for attempt in self._enqueues:
                    attempt.finish(CancelledError(None, None, attempt.cancelled))
                self._enqueues.clear()
                self._serve()
            return

        def step() -> tuple[bool, bool]:
            self.closed = True
            return True, True

        self._attempt(self._enqueues, step, lambda: None, "Close operation was cancelled")

    # Checks.

    def _check(self, components: Sequence[Any], batch: int) -> None:
        if len(components) != len(self.types):
            raise _invalid(
                f"Wrong number of components in tuple. Expected {len(self.types)}, got {len(components)}"
            )
        for i, (x, kind) in enumerate(zip(components, self.types, strict=True)):
            if x.dtype != kind:
                raise _invalid(
                    f"Type mismatch in tuple component {i}. Expected {kind.name}, got {x.dtype.name}"
                )
            sizes = x.shape.as_list()
            if len(sizes) < batch:
                raise _invalid(f"Component {i} has no first dimension to be split along")
            if self.shapes and not self.shapes[i].is_compatible_with(sizes[batch:]):
                expected = components[0].shape.as_list()[:batch] + self.shapes[i].as_list()
                raise _invalid(
                    f"Shape mismatch in tuple component {i}. Expected {_bracketed(expected)}, got {_bracketed(sizes)}"
                )


class PaddingQueue(Queue):
    """A queue whose components may have dimensions that differ; dequeued together they are padded with zeros."""

    kind = "PaddingFIFOQueue"
    pads = True


class RandomQueue(Queue):
    """A queue that gives its elements in random order."""

    kind = "RandomShuffleQueue"

    def __init__(
        self, name: str, component_types: Any, shapes: Any, capacity: int, min_after_dequeue: int, seed: int, seed2: int
    ):
        self.kept_back = min_after_dequeue
        self._seeds = (seed, seed2)
        if not seed and not seed2:
            seed, seed2 = np.random.default_rng().integers(1, 1 << 62, 2).tolist()
        self._stream = Philox(seed & (1 << 64) - 1, 0, seed2 & (1 << 64) - 1)
        self._words: list[int] = []
        super().__init__(name, component_types, shapes, capacity)

    def more(self) -> Sequence[Any]:
        return (self.kept_back, self._seeds)

    def _start(self) -> None:
        self._elements = []

    def _take(self) -> _Element:
        if not self._words:
            self._words = self._stream.words(4).tolist()[::-1]
            self._stream = self._stream.skip(1)
        elements = self._elements
        i = self._words.pop() % len(elements)
        elements[i], elements[-1] = elements[-1], elements[i]
        return elements.pop()

    def _put_back(self, elements: list[_Element]) -> None:
        self._elements.extend(elements)


class PriorityQueue(Queue):
    """A queue whose elements begin with an int64 priority; the smallest comes first, of equals the one put in first."""

    kind = "PriorityQueue"

    def __init__(self, name: str, component_types: Any, shapes: Any, capacity: int):
        types = [dtypes.int64, *component_types]
        super().__init__(name, types, [TensorShape([]), *shapes] if shapes else [], capacity)

    def _start(self) -> None:
        self._elements = []
        self._count = itertools.count()

    def _put(self, element: _Element) -> None:
        heapq.heappush(self._elements, (int(element[0].numpy()), next(self._count), element))

    def _take(self) -> _Element:
        return heapq.heappop(self._elements)[2]

    def _put_back(self, elements: list[_Element]) -> None:
        for element in elements:
            self._put(element)

    def _check(self, components: Sequence[Any], batch: int) -> None:
        super()._check(components, batch)
        if components[0].shape.rank != batch:
            raise _invalid(
                "Expected the priority element to be a scalar, but received shape: "
                f"{_bracketed(components[0].shape.as_list()[batch:])}"
            )


def _rows(x: Any) -> list[Any]:
    array = x.numpy()
    if x.dtype.name == "string":
        return [_native.tensor_of(np.asarray(row, object), x.dtype) for row in array]
    return [_native.tensor_of(np.asarray(row), x.dtype) for row in array]


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def _names(types: Sequence[Any]) -> str:
    return ", ".join(t.name for t in types)


def _shapes(shapes: Sequence[TensorShape]) -> str:
    return "[" + ",".join(str(s) for s in shapes) + "]"


def _bracketed(sizes: Sequence[Any]) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in sizes) + "]"
