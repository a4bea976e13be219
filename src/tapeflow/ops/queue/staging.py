"""The ops of staging areas: Stage, MapStage, OrderedMapStage and what takes what they put there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.queue.staging_state import OrderedStagingMap, StagingArea, StagingMap
from tapeflow.ops.signature import type_list
from tapeflow.ops.state.resource_op import resource_op

_TYPES = {"dtypes": type_list}
_LIMITS = {"capacity": 0, "memory_limit": 0}
_NAMED = {"container": "", "shared_name": ""}
_ATTRS: dict[str, Any] = {**_LIMITS, **_TYPES, **_NAMED}


def _scalar(attrs: Any, inputs: Any) -> list[Any]:
    return [()]


@resource_op("Stage", "values: dtypes ->", _ATTRS, patience=1, keeps=StagingArea)
def Stage(area, values: Array, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
    """Puts a tuple of tensors behind those that are there, once there is room."""
    area.put(values, capacity, memory_limit)


@resource_op("Unstage", "-> values: dtypes", _ATTRS, patience=2, keeps=StagingArea)
def Unstage(area, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
    """Takes the first tuple, once there is one."""
    return area.take()


@resource_op("StagePeek", "index: int32 -> values: dtypes", _ATTRS, patience=2, keeps=StagingArea)
def StagePeek(area, index: Any, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
    """The tuple at a place, once there is one."""
    if index.shape.rank:
        raise InvalidArgumentError(None, None, "index must be scalar")
    return area.peek(int(index.numpy()))


@resource_op("StageSize", "-> size: int32", _ATTRS, _scalar, keeps=StagingArea)
def StageSize(area, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
    """How many tuples there are."""
    return area.size()


@resource_op("StageClear", "->", _ATTRS, keeps=StagingArea)
def StageClear(area, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
    """Drops all tuples."""
    area.clear()


def _key(key: Any) -> int:
    if key.shape.num_elements() != 1:
        raise InvalidArgumentError(None, None, f"key must be an int64 scalar, got shape {key.shape}")
    return int(key.numpy().ravel()[0]) if key.shape.rank else int(key.numpy())


def _indices(indices: Any, count: int) -> list[int]:
    found = indices.numpy().ravel().tolist()
    if len(found) != count:
        raise InvalidArgumentError(None, None, f"There are {len(found)} indices of {count} tensors")
    return found


def _define(prefix: str, keeps: type[StagingMap]) -> None:
    """Makes the ops of one kind of map."""

    @resource_op(f"{prefix}Stage", "key: int64, indices: int32, values: fake_dtypes ->",
                 {**_LIMITS, **_TYPES, "fake_dtypes": type_list, **_NAMED}, patience=1, keeps=keeps)  # fmt: skip
    def stage(
        area, key: Array, indices: Array, values: Array, capacity: int, memory_limit: int, dtypes: Sequence[Any],
        fake_dtypes,
    ):
        """Puts parts of the tuple of a key, once there is room."""
        area.put(_key(key), _indices(indices, len(values)), values, len(dtypes), capacity, memory_limit)

    @resource_op(f"{prefix}Unstage", "key: int64, indices: int32 -> values: dtypes", _ATTRS, patience=2, keeps=keeps)
    def unstage(area, key: Array, indices: Array, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
        """Takes parts of the tuple of a key, once it is whole."""
        return area.take(_key(key), _indices(indices, len(dtypes)))

    @resource_op(f"{prefix}Peek", "key: int64, indices: int32 -> values: dtypes", _ATTRS, patience=2, keeps=keeps)
    def peek(area, key: Array, indices: Array, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
        """Parts of the tuple of a key, once it is whole."""
        return area.take(_key(key), _indices(indices, len(dtypes)), stays=True)

    @resource_op(f"{prefix}UnstageNoKey", "indices: int32 -> key: int64, values: dtypes", _ATTRS, patience=2,
                 keeps=keeps)  # fmt: skip
    def unstage_any(area, indices: Array, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
        """Takes parts of the first tuple, once there is one, and tells its key."""
        key, values = area.take_any(_indices(indices, len(dtypes)))
        return [key, *values]

    @resource_op(f"{prefix}Size", "-> size: int32", _ATTRS, _scalar, keeps=keeps)
    def size(area, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
        """How many tuples are whole."""
        return area.size()

    @resource_op(f"{prefix}IncompleteSize", "-> size: int32", _ATTRS, _scalar, keeps=keeps)
    def incomplete_size(area, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
        """How many tuples lack parts."""
        return area.incomplete_size()

    @resource_op(f"{prefix}Clear", "->", _ATTRS, keeps=keeps)
    def clear(area, capacity: int, memory_limit: int, dtypes: Sequence[Any]):
        """Drops all tuples."""
        area.clear()


_define("Map", StagingMap)
_define("OrderedMap", OrderedStagingMap)
