"""Slices whose place is only known when compiled code runs; their sizes have to be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.graph.operation import Operation
from tapeflow.ops.array.padding import Pad
from tapeflow.ops.array.stacking import Pack
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.indexing.strided_slice import StridedSlice, StridedSliceGrad
from tapeflow.ops.math.arithmetic import Add, AddV2, Sub
from tapeflow.ops.state.rows import ResourceStridedSliceAssign
from tapeflow.xla.importing import jax, jnp
from tapeflow.xla.lowering import Lowering, lowers
from tapeflow.xla.rows import cannot
from tapeflow.xla.values import is_known

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


class _Cut(NamedTuple):
    """Which part of an array a strided slice is."""

    starts: list[Any]
    sizes: list[int]
    result: list[int]  # the shape of the slice, with axes left out and put in


@lowers(StridedSlice)
def _strided_slice(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    x, *bounds = inputs
    if all(map(is_known, bounds)):
        return lowering.row(op, inputs)
    x = jnp.asarray(x)
    cut = _cut(lowering, op, x.shape, bounds, op.outputs[0].shape_tuple)
    return [jax.lax.dynamic_slice(x, cut.starts, cut.sizes).reshape(cut.result)]


@lowers(StridedSliceGrad)
def _strided_slice_grad(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    shape, *bounds, dy = inputs
    if all(map(is_known, bounds)) or not is_known(shape):
        return lowering.row(op, inputs)
    sizes = tuple(int(d) for d in shape)
    cut = _cut(lowering, op, sizes, bounds, dy.shape)
    out = jnp.zeros(sizes, dy.dtype)
    return [jax.lax.dynamic_update_slice(out, jnp.asarray(dy).reshape(cut.sizes), cut.starts)]


@lowers(ResourceStridedSliceAssign)
def _assign(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    variable, *bounds, value = inputs
    if all(map(is_known, bounds)):
        return lowering.row(op, inputs)
    old = jnp.asarray(variable.numpy())
    cut = _cut(lowering, op, old.shape, bounds, value.shape)
    part = jnp.broadcast_to(jnp.asarray(value), cut.result).reshape(cut.sizes)
    variable.assign(jax.lax.dynamic_update_slice(old, part, cut.starts))
    return []


@lowers(Slice)
def _slice(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    x, begin, size = inputs
    if is_known(begin) or not is_known(size):
        return lowering.row(op, inputs)
    if (size < 0).any():
        raise cannot(op.row, "the rest from a place that is not known has no known size")
    return [jax.lax.dynamic_slice(jnp.asarray(x), list(begin), [int(n) for n in size])]


@lowers(Pad)
def _pad(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    """What the gradient of a slice is: zeros but for a part, whose place may be known only when it runs."""
    x, paddings = inputs
    shape = op.outputs[0].shape_tuple
    if is_known(paddings) or shape is None or None in shape:
        return lowering.row(op, inputs)
    starts = [paddings[i, 0] for i in range(len(shape))]
    return [jax.lax.dynamic_update_slice(jnp.zeros(shape, x.dtype), jnp.asarray(x), starts)]


def _cut(lowering: Lowering, op: Operation, shape: Sequence[int], bounds: list[Any], result: Any) -> _Cut:
    """Where a slice begins in each dimension, and how large it is.

    Args:
      result: what is known of its shape.
    """
    attrs = op.row.schema.filled(op.attrs)
    begin_mask, end_mask, ellipsis, new_axis, shrink = (attrs[name] for name in _MASKS)
    begin, end, strides = (lowering.elements(x) for x in bounds)
    named = sum(1 for i in range(len(begin)) if not (ellipsis | new_axis) >> i & 1)
    cut = _Cut([], [], [])

    def whole(count: int) -> None:
        for _ in range(count):
            size = shape[len(cut.starts)]
            cut.starts.append(np.int32(0))
            cut.sizes.append(size)
            cut.result.append(size)

    for i in range(len(begin)):
        if ellipsis >> i & 1:
            whole(len(shape) - named)
            continue
        if new_axis >> i & 1:
            cut.result.append(1)
            continue
        size = shape[len(cut.starts)]
        if shrink >> i & 1:
            cut.starts.append(_from_front(begin[i], size))
            cut.sizes.append(1)
            continue
        if not isinstance(strides[i], int) or strides[i] != 1:
            raise cannot(op.row, "the step of a slice at a place that is not known has to be 1")
        first = 0 if begin_mask >> i & 1 else begin[i]
        last = size if end_mask >> i & 1 else end[i]
        if isinstance(first, int) and isinstance(last, int):
            first, last, _ = slice(first, last).indices(size)
            length = max(last - first, 0)
        else:
            known = None if result is None else result[len(cut.result)]
            known = _distance(op, i) if known is None else known
            if known is None:
                raise cannot(op.row, "the size of the slice has to be known")
            length = known
        cut.starts.append(_from_front(first, size))
        cut.sizes.append(length)
        cut.result.append(length)
    whole(len(shape) - len(cut.starts))
    return cut


def _from_front(at: Any, size: int) -> Any:
    if isinstance(at, int):
        return np.int32(at + size if at < 0 else at)
    return jnp.where(at < 0, at + size, at).astype(np.int32)


def _distance(op: Operation, i: int) -> int | None:
    """How far the end of a slice is from its beginning where the graph adds that much: `x[i : i + 2]`."""
    begin, end = op.inputs[-4:-2] if op.row is ResourceStridedSliceAssign else op.inputs[1:3]
    if begin.op.row is not Pack or end.op.row is not Pack:
        return None
    first, offset = _linear(begin.op.inputs[i])
    second, further = _linear(end.op.inputs[i])
    return further - offset if first is second and further >= offset else None


def _linear(scalar: Any) -> tuple[Any, int]:
    """A tensor and a number that give `scalar` as their sum."""
    offset = 0
    while scalar.op.row in (Add, AddV2, Sub):
        x, y = scalar.op.inputs
        known = y.constant_value()
        if known is None:
            break
        offset += int(known) * (-1 if scalar.op.row is Sub else 1)
        scalar = x
    return scalar, offset
