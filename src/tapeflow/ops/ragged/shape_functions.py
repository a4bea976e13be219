"""Functions of tensors that are given the shape of a ragged tensor, or of which it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtensor.layout import Layout
from tapeflow.ops.array import construction, layout
from tapeflow.ops.ragged.broadcast import broadcast, broadcast_to
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.ragged.tensor import RaggedTensor


def reshape(tensor: Any, shape: Any, name: str | None = None):
    """`tf.reshape` of a ragged tensor, or to a `DynamicRaggedShape`."""
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else convert_to_tensor(tensor)
    if isinstance(shape, DynamicRaggedShape):
        return shape.with_flat_values(layout.reshape(flat, shape.inner_shape))
    return layout.reshape(flat, shape)


def shape(input, out_type: DTypeLike = dtypes.int32, name: str | None = None):
    """`tf.shape` of a ragged tensor: a `DynamicRaggedShape`."""
    return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)


def shape_v1(input, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`shape` with the 1.x order of arguments."""
    return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)


def zeros(shape, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout=None):
    """`tf.zeros` of a `DynamicRaggedShape`."""
    return shape.with_flat_values(construction.zeros(shape.inner_shape, dtype, layout=layout))


def ones(shape, dtype=dtypes.float32, name: str | None = None, layout: Layout | None = None):
    """`tf.ones` of a `DynamicRaggedShape`."""
    return shape.with_flat_values(construction.ones(shape.inner_shape, dtype, layout=layout))


def fill(dims: DynamicRaggedShape, value: int, name: str | None = None, layout: Layout | None = None):
    """`tf.fill` of a `DynamicRaggedShape`."""
    return dims.with_flat_values(construction.fill(dims.inner_shape, value, layout=layout))


def broadcast_to_shape(input: Sequence[Any], shape: Any, name: str | None = None):
    """`tf.broadcast_to` a `DynamicRaggedShape`, or of a ragged tensor. Raises ValueError for a plain shape."""
    if not isinstance(shape, DynamicRaggedShape):
        raise ValueError(f"A ragged tensor is broadcast to a DynamicRaggedShape, not to {shape}")
    return broadcast_to(input, zeros(shape, dtypes.int8))


def broadcast_dynamic_shape(shape_x: DynamicRaggedShape, shape_y: Tensor):
    """`tf.broadcast_dynamic_shape` of shapes of which one is a `DynamicRaggedShape`."""
    made = [
        s
        if isinstance(s, DynamicRaggedShape)
        else DynamicRaggedShape([], s)
        for s in (shape_x, shape_y)
    ]
    kind = next(s.dtype for s in made if s.num_row_partitions)
    (x, y), in_rows = broadcast([zeros(s.with_dtype(kind), dtypes.int8) for s in made])
    return DynamicRaggedShape.from_tensor(in_rows(x + y), kind)
