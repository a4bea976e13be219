"""What staging areas hold: tuples of tensors that wait for whoever takes them, by their order or by keys."""

from __future__ import annotations

import collections
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tapeflow import _native
from tapeflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from tapeflow.core.threads.waiting import Wait

_T = TypeVar("_T")
_CANCELLED = "Staging area was cancelled"


class _Wake(Wait):
    """A wait that a change ends."""

    changed = False

    def is_over(self) -> bool:
        return self.changed


class _Area:
    """What calls that wait for a change have in common."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waits: list[_Wake] = []
        self._bytes = 0

    def _until(self, step: Callable[[], _T | None]) -> _T:
        """What `step` returns as soon as it is not None. Raises CancelledError and DeadlineExceededError."""
        while True:
            with self._lock:
                found = step()
                if found is not None:
                    self._wake()
                    return found
                wake = _Wake()
                self._waits.append(wake)
            try:
                wake.until(wake.is_over, _CANCELLED)
            finally:
                with self._lock:
                    if wake in self._waits:
                        self._waits.remove(wake)

    def _wake(self) -> None:
        waits, self._waits = self._waits, []
        for wake in waits:
            wake.changed = True
            wake.end()

    def _checked(self, values: Sequence[Any], memory_limit: int) -> tuple[list[Any], int]:
        """The values as tensors of their own, as a tape may watch the caller's, and their size in bytes."""
        size = sum(_bytes(x) for x in values)
        if 0 < memory_limit < size:
            raise ResourceExhaustedError(
                None, None,
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area with a memory "
                f"limit of '{memory_limit}'.",
            )  # fmt: skip
        return [_native.fresh(x) for x in values], size

    def _has_room(self, count: int, capacity: int, size: int, memory_limit: int) -> bool:
        return not (0 < capacity <= count or 0 < memory_limit < self._bytes + size)


class StagingArea(_Area):
    """Tuples, of which the first that came is the first to go."""

    def __init__(self) -> None:
        super().__init__()
        self._tuples: collections.deque[list[Any]] = collections.deque()

    def put(self, values: list[Any], capacity: int, memory_limit: int) -> None:
        """Waits for room. Raises ResourceExhaustedError for what never has room."""
        values, size = self._checked(values, memory_limit)

        def step() -> bool | None:
            if not self._has_room(len(self._tuples), capacity, size, memory_limit):
                return None
            self._tuples.append(values)
            self._bytes += size
            return True

        self._until(step)

    def take(self) -> list[Any]:
        """The first tuple, once there is one."""

        def step() -> list[Any] | None:
            if not self._tuples:
                return None
            found = self._tuples.popleft()
            self._bytes -= sum(map(_bytes, found))
            return found

        return self._until(step)

    def peek(self, index: int) -> list[Any]:
        """The tuple at a place, once there is one, which stays."""
        if index < 0:
            raise InvalidArgumentError(None, None, f"index must not be negative, got {index}")
        return self._until(lambda: self._tuples[index] if index < len(self._tuples) else None)

    def size(self) -> int:
        return len(self._tuples)

    def clear(self) -> None:
        with self._lock:
            self._tuples.clear()
            self._bytes = 0
            self._wake()


class StagingMap(_Area):
    """Tuples by keys, which may come and go in parts. Without a key the first that came is the first to go."""

    def __init__(self) -> None:
        super().__init__()
        self._whole: dict[int, dict[int, Any]] = {}
        self._parts: dict[int, dict[int, Any]] = {}

    def put(
        self, key: int, indices: list[int], values: list[Any], width: int, capacity: int, memory_limit: int
    ) -> None:
        """Waits for room. Raises InvalidArgumentError for indices that the tuple lacks, or that it was given before."""
        _check_indices(indices, len(values))
        values, size = self._checked(values, memory_limit)

        def step() -> bool | None:
            have = self._parts.get(key, {})
            for i in indices:
                if not 0 <= i < width:
                    raise InvalidArgumentError(None, None, f"Index '{i}' for key '{key}' was out of bounds '{width}'.")
                if i in have:
                    raise InvalidArgumentError(
                        None, None, f"The tensor for index '{i}' for key '{key}' was already initialized '{width}'."
                    )
            if not self._has_room(len(self._whole), capacity, size, memory_limit):
                return None
            own = {**have, **dict(zip(indices, values, strict=True))}
            self._parts.pop(key, None)
            if len(own) < width:
                self._parts[key] = own
            elif key not in self._whole:
                self._whole[key] = own
            self._bytes += size
            return True

        self._until(step)

    def take(self, key: int, indices: list[int], stays: bool = False) -> list[Any]:
        """Parts of the tuple of a key, once it is whole; `stays`: they can be taken again."""
        return self._until(lambda: self._taken(key, indices, stays) if key in self._whole else None)

    def take_any(self, indices: list[int]) -> tuple[int, list[Any]]:
        """(the key of the first tuple, its parts), once there is one."""

        def step() -> tuple[int, list[Any]] | None:
            if not self._whole:
                return None
            key = self._first()
            return key, self._taken(key, indices, False)

        return self._until(step)

    def _first(self) -> int:
        return next(iter(self._whole))

    def _taken(self, key: int, indices: list[int], stays: bool) -> list[Any]:
        own = self._whole[key]
        for i in indices:
            if i not in own:
                raise InvalidArgumentError(
                    None, None, f"The tensor at index '{i}' for key '{key}' has already been removed."
                )
        found = [own[i] for i in indices]
        if not stays:
            for i in indices:
                self._bytes -= _bytes(own.pop(i))
            if not own:
                del self._whole[key]
        return found

    def size(self) -> int:
        return len(self._whole)

    def incomplete_size(self) -> int:
        return len(self._parts)

    def clear(self) -> None:
        with self._lock:
            self._whole.clear()
            self._parts.clear()
            self._bytes = 0
            self._wake()


class OrderedStagingMap(StagingMap):
    """Without a key the tuple of the smallest one is the first to go."""

    def _first(self) -> int:
        return min(self._whole)


def _check_indices(indices: list[int], count: int) -> None:
    if any(b <= a for a, b in itertools.pairwise(indices)):
        raise InvalidArgumentError(None, None, "Indices are not strictly ordered")
    if len(indices) != count:
        raise InvalidArgumentError(None, None, f"There are {len(indices)} indices of {count} tensors")


def _bytes(tensor: Any) -> int:
    return tensor.dtype.size * (tensor.shape.num_elements() or 0)
