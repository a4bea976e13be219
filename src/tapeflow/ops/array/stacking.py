"""Tensors stacked along a new axis, and taken apart again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, shapes
from tapeflow.ops.signature import integer
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _pack_rule(call: ShapeCall):
    shape = shapes.merged(call)[0]
    if shape is None:
        return [None]
    at = shapes.normal_axis(call.attr("axis"), len(shape) + 1)
    return [shape[:at] + (call.count,) + shape[at:]]


@op(
    "Pack",
    "values: N>=1*T -> output: T",
    types={"T": ANY},
    attrs={"axis": 0},
    shape=_pack_rule,
    moves=True,
    foldable=True,
)
def Pack(xp: ModuleType, values: Sequence[Array], axis: int):
    rank = values[0].ndim
    if not -rank - 1 <= axis <= rank:
        raise invalid(f"axis = {axis} not in [{-rank - 1}, {rank + 1})")
    for i, value in enumerate(values):
        if value.shape != values[0].shape:
            raise invalid(
                "Shapes of all inputs must match: values[0].shape = "
                f"{shape_text(values[0].shape)} != values[{i}].shape = {shape_text(value.shape)}"
            )
    return xp.stack(values, axis)


Pack.batching(batching.along_attr("axis"))


@Pack.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return list(Unpack(dy, len(call.static_shape("values")), call.axis))


@Pack.samples
def _(rng: SampleGenerator):
    yield Sample([rng.normal(2, 3), rng.normal(2, 3)])
    yield Sample([rng.normal(2, 3), rng.normal(2, 3), rng.normal(2, 3)], axis=-1)
    yield Sample([rng.normal(2, 3), rng.normal(2, 3)], axis=1)
    yield Sample([rng.normal(), rng.normal()])
    yield Sample([rng.normal(0), rng.normal(0)])
    yield Sample([rng.normal(2, 3), rng.normal(2, 4)], raises=InvalidArgumentError)
    yield Sample([rng.normal(2, 3), rng.normal(2, 3)], axis=3, raises=InvalidArgumentError)


@Pack.reference
def _(values: Sequence[np.ndarray], axis: int):
    axis = axis % (np.ndim(values[0]) + 1)
    return np.moveaxis(np.array(values), 0, axis)


def _rank(shape):
    return shape.rank if isinstance(shape, TensorShape) else len(shape)


@api("stack")
@tensor_function
@graph_scope("stack")
def stack(values: Any, axis=0, name: str | None = "stack"):
    """Join tensors of one shape along a new axis.

    Args:
      values: a list of tensors of one shape and dtype.
      axis: where the new axis is, an int in [-rank - 1, rank].
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype, of one dimension more.

    Raises:
      ValueError: for an axis out of range.
      InvalidArgumentError: for shapes that differ.

    >>> tf.stack([[1, 2], [3, 4], [5, 6]])
    <tf.Tensor: shape=(3, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4],
           [5, 6]], dtype=int32)>
    >>> tf.stack([[1, 2], [3, 4], [5, 6]], axis=1)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 3, 5],
           [2, 4, 6]], dtype=int32)>
    """
    if isinstance(values, (str, bytes)):  # one value, not a list of characters
        return convert_to_tensor(values)
    if not isinstance(values, (list, tuple)):
        values = unstack(values) if hasattr(values, "dtype") else list(values)
    first = None
    for first in values:
        if hasattr(first, "shape"):
            break
    else:
        first = None
    if (axis == 0 or not values) and not isinstance(first, (_native.Tensor, _native.Variable)):
        try:
            return convert_to_tensor(values)  # of the dtype that holds all of them, not of the first one's
        except (TypeError, ValueError):
            pass  # Pack says which one does not fit
    rank = np.ndim(values[0]) if first is None else _rank(first.shape)
    if rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank - 1}, {rank + 1})")
    return Pack(values, axis)


@api("parallel_stack")
@tensor_function
@graph_scope("parallel_stack")
def parallel_stack(values: Iterable[TensorLike], name: str = "parallel_stack") -> Tensor:
    """`stack` along the first dimension."""
    return Pack(list(values))


def _unpack_rule(call: ShapeCall):
    shape, count = call.shape(0), call.attr("num")
    if shape is None:
        return [None] * count
    at = shapes.normal_axis(call.attr("axis"), len(shape))
    shapes.exactly(shape[at], count)
    return [shape[:at] + shape[at + 1 :]] * count


@op(
    "Unpack",
    "value: T -> output: num*T",
    types={"T": ANY},
    attrs={"num": integer, "axis": 0},
    shape=_unpack_rule,
    moves=True,
    foldable=True,
)
def Unpack(xp: ModuleType, value: Array, num: int, axis: int):
    if not -value.ndim <= axis < value.ndim:
        raise invalid(f"axis = {axis} not in [{-value.ndim}, {value.ndim})")
    axis %= value.ndim
    if value.shape[axis] != num:
        raise invalid(
            f"Input shape axis {axis} must equal {num}, got shape {shape_text(value.shape)}"
        )
    rows = xp.moveaxis(value, axis, 0)
    return [rows[i] for i in range(num)]


Unpack.batching(batching.along_attr("axis"))


@Unpack.gradient(needs="")
def _(call: GradientCall, dys: Sequence[Tensor]):
    return Pack(list(dys), call.axis)


@Unpack.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), num=2)
    yield Sample(rng.normal(2, 3), num=3, axis=-1)
    yield Sample(rng.normal(2, 3), num=3, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), num=2, axis=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(), num=1, raises=InvalidArgumentError)


@Unpack.reference
def _(value: np.ndarray, num: int, axis: int):
    return [np.take(value, i, axis) for i in range(num)]


@api("unstack")
@tensor_function
@graph_scope("unstack")
def unstack(value: TensorLike, num=None, axis=0, name: str | None = "unstack"):
    """Take a tensor apart along an axis.

    Args:
      value: a tensor of any dtype.
      num: the size of the axis, where it is not known before the program runs (optional).
      axis: the axis, an int in [-rank, rank).
      name: a name for the operation (optional).

    Returns:
      A list of tensors of the dtype of `value`, of one dimension less.

    Raises:
      ValueError: for an axis out of range, and where `num` is needed.

    >>> [row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    if num is None:
        value = convert_to_tensor(value)
        shape = value.shape
        if shape.rank is not None:
            if not -shape.rank <= axis < shape.rank:
                raise ValueError(
                    f"Argument `axis` = {axis} not in range [{-shape.rank}, {shape.rank})"
                )
            num = shape.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {shape}")
    return Unpack(value, num, axis)
