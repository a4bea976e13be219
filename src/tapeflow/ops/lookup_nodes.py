"""Ops that make lookup tables: nodes of graphs that others wrote, and of the models that are saved here."""

from __future__ import annotations

from tapeflow.ops.lookup_rows import Table
from tapeflow.ops.resource_op import resource_op

_NAMED = {
    "container": ("string", ""),
    "shared_name": ("string", ""),
    "use_node_name_sharing": ("bool", False),
    "key_dtype": ("type",),
    "value_dtype": ("type",),
}
_SHAPED = {**_NAMED, "value_shape": ("shape", ())}


def _scalar(attrs, inputs):
    return [()]


def _sizes(shape) -> tuple[int, ...]:
    return tuple(shape.as_list()) if hasattr(shape, "as_list") else tuple(shape)


@resource_op("HashTableV2", "-> table_handle: resource", _NAMED, _scalar, makes=True)
def HashTableV2(name, key_dtype, value_dtype, use_node_name_sharing):
    return Table(key_dtype, value_dtype, fixed=True)


@resource_op("MutableHashTableV2", "-> table_handle: resource", _NAMED, _scalar, makes=True)
def MutableHashTableV2(name, key_dtype, value_dtype, use_node_name_sharing):
    return Table(key_dtype, value_dtype)


@resource_op("MutableHashTableOfTensorsV2", "-> table_handle: resource", _SHAPED, _scalar, makes=True)
def MutableHashTableOfTensorsV2(name, key_dtype, value_dtype, use_node_name_sharing, value_shape):
    return Table(key_dtype, value_dtype, (), _sizes(value_shape))


@resource_op(
    "MutableDenseHashTableV2",
    "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource",
    {**_SHAPED, "initial_num_buckets": ("int", 131072), "max_load_factor": ("float", 0.8)},
    _scalar, makes=True,
)  # fmt: skip
def MutableDenseHashTableV2(
    name, key_dtype, value_dtype, use_node_name_sharing, value_shape, initial_num_buckets, max_load_factor
):  # fmt: skip
    return Table(key_dtype, value_dtype, (), _sizes(value_shape))
