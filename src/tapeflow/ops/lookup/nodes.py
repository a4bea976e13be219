"""Ops that make lookup tables: nodes of graphs that others wrote, and of the models that are saved here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import ShapeLike
from tapeflow.ops.lookup.dense import DenseTable
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.signature import dtype, shape
from tapeflow.ops.state.resource_op import handle_of, resource_op
from tapeflow.ops.validate import invalid

_NAMED = {
    "container": "",
    "shared_name": "",
    "use_node_name_sharing": False,
    "key_dtype": dtype,
    "value_dtype": dtype,
}
_SHAPED = {**_NAMED, "value_shape": shape(())}


def _scalar(attrs: dict[str, Any], inputs: Sequence[Any]):
    return [()]


def _sizes(shape) -> tuple[int, ...]:
    return tuple(shape.as_list()) if hasattr(shape, "as_list") else tuple(shape)


@resource_op("HashTableV2", "-> table_handle: resource", _NAMED, _scalar, makes=True)
def HashTableV2(name: str, key_dtype, value_dtype, use_node_name_sharing: bool):
    return Table(key_dtype, value_dtype, fixed=True)


@resource_op("MutableHashTableV2", "-> table_handle: resource", _NAMED, _scalar, makes=True)
def MutableHashTableV2(name: str, key_dtype, value_dtype, use_node_name_sharing: bool):
    return Table(key_dtype, value_dtype)


@resource_op("MutableHashTableOfTensorsV2", "-> table_handle: resource", _SHAPED, _scalar, makes=True)
def MutableHashTableOfTensorsV2(
    name: str, key_dtype, value_dtype, use_node_name_sharing: bool, value_shape: ShapeLike
):
    return Table(key_dtype, value_dtype, (), _sizes(value_shape))


DENSE = {**_SHAPED, "initial_num_buckets": 131072, "max_load_factor": 0.8}


@resource_op("MutableDenseHashTableV2", "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource", DENSE,
             _scalar, makes=True)  # fmt: skip
def MutableDenseHashTableV2(
    name: str, key_dtype, value_dtype, use_node_name_sharing: bool, value_shape: ShapeLike, initial_num_buckets,
    max_load_factor,
):  # fmt: skip
    return Table(key_dtype, value_dtype, (), _sizes(value_shape))


# Tables without a name: each call makes one.

_PLAIN = {"key_dtype": dtype, "value_dtype": dtype}


@resource_op("AnonymousHashTable", "-> table_handle: resource", _PLAIN, _scalar)
def AnonymousHashTable(key_dtype, value_dtype):
    """A new table that is filled once."""
    return handle_of(Table(key_dtype, value_dtype, fixed=True))


@resource_op("AnonymousMutableHashTable", "-> table_handle: resource", _PLAIN, _scalar)
def AnonymousMutableHashTable(key_dtype, value_dtype):
    """A new table of scalars."""
    return handle_of(Table(key_dtype, value_dtype))


@resource_op("AnonymousMutableHashTableOfTensors", "-> table_handle: resource",
             {**_PLAIN, "value_shape": shape(())}, _scalar)  # fmt: skip
def AnonymousMutableHashTableOfTensors(key_dtype, value_dtype, value_shape: ShapeLike):
    """A new table whose values have a shape."""
    return handle_of(Table(key_dtype, value_dtype, (), _sizes(value_shape)))


@resource_op(
    "AnonymousMutableDenseHashTable", "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource",
    {**_PLAIN, "value_shape": shape(()), "initial_num_buckets": 131072, "max_load_factor": 0.8},
    _scalar,
)  # fmt: skip
def AnonymousMutableDenseHashTable(
    empty_key, deleted_key, key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor
):  # fmt: skip
    """A new table with open addressing. Raises InvalidArgumentError for bad keys or numbers of buckets."""
    if empty_key.shape != deleted_key.shape:
        raise invalid("Empty and deleted keys must have same shape")
    marks = [_hashable(np.asarray(each).tolist()) for each in (empty_key, deleted_key)]
    if marks[0] == marks[1]:
        raise invalid("Empty and deleted keys cannot be equal")
    shape = tuple(empty_key.shape.as_list())
    table = DenseTable(key_dtype, value_dtype, shape, _sizes(value_shape), *marks, initial_num_buckets)
    table.forbidden = {marks[0]: "empty_key", marks[1]: "deleted_key"}
    return handle_of(table)


def _hashable(key):
    return tuple(map(_hashable, key)) if isinstance(key, list) else key
