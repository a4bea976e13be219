"""Barriers: tuples by keys whose components come one by one; the first that is whole is the first to go.

Only graphs have them, as in TensorFlow.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.queue.waiting_lines import Lines
from tapeflow.ops.signature import dtype, integer, shape_list, type_list
from tapeflow.ops.state.resource_op import expect, resource_op

_FIRST = -(2**63)


class Barrier(Lines):
    """What a barrier holds.

    Args:
      types: of the components.
      shapes: of the components; empty: any.
    """

    def __init__(self, name: str, types: Sequence[Any], shapes: Sequence[Any], capacity: int):
        if capacity != -1:
            raise InvalidArgumentError(
                None, None, f"Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to "
                f"enforce a limited capacity, got {capacity}",
            )  # fmt: skip
        if shapes and len(shapes) != len(types):
            raise InvalidArgumentError(
                None, None,
                f"Expected equal number of component types and shapes, got {len(types)} and {len(shapes)}",
            )  # fmt: skip
        self.shapes = [TensorShape(s) for s in shapes]
        for shape in self.shapes:
            if shape.is_fully_defined() and shape.num_elements() == 0:
                raise InvalidArgumentError(None, None, f"Empty shapes are not supported: {shape}")
        self.name, self.types = name, list(types)
        self.closed = False  # for new keys
        self.cancelled = False  # for old ones as well
        self._count = 0
        self._parts: dict[bytes, tuple[int, dict[int, np.ndarray]]] = {}
        self._ready: collections.deque[tuple[int, bytes, dict[int, np.ndarray]]] = collections.deque()
        super().__init__(1)

    def check_same(self, other: Any) -> None:
        """Raises InvalidArgumentError unless `other`, which was asked for under the same name, is like this one."""
        if not isinstance(other, Barrier) or other.types != self.types:
            raise InvalidArgumentError(None, None, f"Shared barrier '{self.name}' has other component types.")

    def insert(self, keys: np.ndarray, values: np.ndarray, kind: Any, component: int) -> None:
        """Adds a component to the tuples of keys. Raises InvalidArgumentError and CancelledError; then nothing is."""
        self._check(keys, values, kind, component)
        with self._lock:
            named, seen = keys.tolist(), set()
            for key in named:
                if (key in self._parts and component in self._parts[key][1]) or key in seen:
                    raise InvalidArgumentError(
                        None, None,
                        f"Key {key.decode(errors='replace')} already has a value for component {component} in barrier "
                        f"{self.name}",
                    )  # fmt: skip
                if self.cancelled or (self.closed and key not in self._parts):
                    raise CancelledError(
                        None, None,
                        f"Barrier {self.name} is closed, but attempted to insert a brand new key: "
                        f"{key.decode(errors='replace')}.",
                    )  # fmt: skip
                seen.add(key)
            fresh = any(key not in self._parts for key in named)
            for key, value in zip(named, values, strict=True):
                self._parts.setdefault(key, (_FIRST + self._count, {}))
                number, own = self._parts[key]
                own[component] = np.array(value, values.dtype)
                if len(own) == len(self.types):
                    del self._parts[key]
                    self._ready.append((number, key, own))
            self._count += fresh
            self._serve()

    def _check(self, keys: np.ndarray, values: np.ndarray, kind: Any, component: int) -> None:
        if not 0 <= component < len(self.types):
            raise InvalidArgumentError(
                None, None,
                f"The component ID is out of range {component} > num_components (= {len(self.types)})",
            )  # fmt: skip
        if kind != self.types[component]:
            raise InvalidArgumentError(
                None, None,
                f"Component {component} has values of {self.types[component].name}, not {kind.name}",
            )  # fmt: skip
        if keys.ndim != 1:
            raise InvalidArgumentError(None, None, f"keys must be a vector, got shape {list(keys.shape)}")
        if values.ndim < 1 or len(values) != len(keys):
            raise InvalidArgumentError(
                None, None, f"There are {len(keys)} keys for values of shape {list(values.shape)}"
            )
        if self.shapes and not self.shapes[component].is_compatible_with(values.shape[1:]):
            raise InvalidArgumentError(
                None, None,
                f"Shape mismatch in component {component}: {list(values.shape[1:])} is not {self.shapes[component]}",
            )  # fmt: skip

    def take(self, count: int, allow_small_batch: bool, wait_for_incomplete: bool) -> list[Any]:
        """(indices, keys, components) of whole tuples.

        Waits for `count`; a closed barrier gives those it has with `allow_small_batch`.

        Raises OutOfRangeError for a closed barrier that has too few.
        """
        if count < 0:
            raise InvalidArgumentError(None, None, f"num_elements must not be negative, got {count}")
        found: list[Any] = []

        def step() -> tuple[bool, bool]:
            over = self.closed and not (self._parts and (wait_for_incomplete or not self.cancelled))
            if len(self._ready) < count and not (self.closed and allow_small_batch and not wait_for_incomplete):
                if not over:
                    return False, False
            have = min(len(self._ready), count)
            if have < count and not (allow_small_batch and have):
                raise OutOfRangeError(
                    None, None,
                    f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, total size "
                    f"{have})",
                )  # fmt: skip
            found.extend(self._ready.popleft() for _ in range(have))
            return True, True

        self._attempt(self._lines[0], step, lambda: None, "Dequeue operation was cancelled")
        return self._stacked(found)

    def _stacked(self, found: list[Any]) -> list[Any]:
        indices = np.array([number for number, _, _ in found], np.int64)
        keys = np.array([key for _, key, _ in found], object)
        components = []
        for i, kind in enumerate(self.types):
            parts = [own[i] for _, _, own in found]
            if len({part.shape for part in parts}) > 1:
                raise InvalidArgumentError(None, None, f"The values of component {i} differ in shape")
            numpy_type: Any = object if kind == dtypes.string else kind.as_numpy_dtype
            shape = parts[0].shape if parts else _known(self.shapes[i] if self.shapes else None)
            out = np.empty((len(parts), *shape), numpy_type)
            for row, part in enumerate(parts):
                out[row] = part
            components.append(convert_to_tensor(out, kind))
        return [indices, convert_to_tensor(keys, dtypes.string), *components]

    def close(self, cancel: bool) -> None:
        """Takes no new keys from now on; with `cancel` no values either."""
        with self._lock:
            self.closed = True
            self.cancelled = self.cancelled or cancel
            self._serve()

    def ready_size(self) -> int:
        return len(self._ready)

    def incomplete_size(self) -> int:
        return len(self._parts)


def _known(shape: Any) -> tuple[int, ...]:
    return tuple(shape.as_list()) if shape is not None and shape.is_fully_defined() else ()


def _barrier(handle: Any) -> Barrier:
    return expect(handle, Barrier, "barrier")


def _scalar(attrs: Any, inputs: Any) -> list[Any]:
    return [()]


@resource_op(
    "Barrier", "-> handle: resource",
    {"component_types": type_list, "shapes": shape_list([]), "capacity": -1,
     "container": "", "shared_name": ""}, _scalar, makes=True, handles="string_ref",
)  # fmt: skip
def _new(name: str, component_types: Sequence[Any], shapes, capacity: int):
    """A new barrier. Raises InvalidArgumentError for shapes that do not fit the types, and for a capacity."""
    return Barrier(name, component_types, shapes, capacity)


@resource_op("BarrierInsertMany", "handle: resource, keys: string, values: T ->",
             {"T": dtype, "component_index": integer}, handles="string_ref")  # fmt: skip
def BarrierInsertMany(handle: Array, keys: Any, values: Any, T: DType, component_index):
    """Adds a component to the tuples of keys."""
    array = values.numpy()
    array = array if isinstance(array, np.ndarray) else np.array(array)
    names = keys.numpy()
    names = names if isinstance(names, np.ndarray) else np.array(names, object)
    _barrier(handle).insert(names, array, T, component_index)


@resource_op(
    "BarrierTakeMany",
    "handle: resource, num_elements: int32 -> indices: int64, keys: string, values: component_types",
    {"component_types": type_list, "allow_small_batch": False, "wait_for_incomplete": False,
     "timeout_ms": -1}, patience=2, handles="string_ref",
)  # fmt: skip
def BarrierTakeMany(
    handle: Array, num_elements: Any, component_types: Sequence[Any], allow_small_batch, wait_for_incomplete,
    timeout_ms,
):
    """Takes whole tuples, once there are so many."""
    barrier = _barrier(handle)
    if timeout_ms != -1:
        raise InvalidArgumentError(None, None, "Timeout not supported yet.")
    if num_elements.shape.rank:
        raise InvalidArgumentError(None, None, "num_elements must be a scalar.")
    if list(component_types) != barrier.types:
        raise InvalidArgumentError(
            None, None,
            f"Signature mismatch, have: {[t.name for t in component_types]} "
            f"expected: {[t.name for t in barrier.types]}",
        )  # fmt: skip
    return barrier.take(int(num_elements.numpy()), allow_small_batch, wait_for_incomplete)


@resource_op("BarrierClose", "handle: resource ->", {"cancel_pending_enqueues": False},
             handles="string_ref")  # fmt: skip
def BarrierClose(handle: Array, cancel_pending_enqueues: bool):
    """Takes no new keys from now on."""
    _barrier(handle).close(cancel_pending_enqueues)


@resource_op("BarrierReadySize", "handle: resource -> size: int32", shapes=_scalar, handles="string_ref")
def BarrierReadySize(handle: Array):
    """How many tuples are whole."""
    return _barrier(handle).ready_size()


@resource_op("BarrierIncompleteSize", "handle: resource -> size: int32", shapes=_scalar, handles="string_ref")
def BarrierIncompleteSize(handle: Array):
    """How many tuples lack components."""
    return _barrier(handle).incomplete_size()
