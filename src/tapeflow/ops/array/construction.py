"""Ops that make tensors from little: filled ones, ranges, one-hot rows, masks, grids."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import EagerTensor
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, int_array, ints
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import Layout
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math import reductions
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall

from tapeflow.ops.array.like import OnesLike, ZerosLike


def _fill_rule(call: ShapeCall):
    sizes = shapes.vector_value(call, 0)
    shapes.scalar_shape(call, 1)
    if sizes is not None and any(d < 0 for d in sizes):
        raise invalid(f"Fill dimensions must be >= 0, but are {sizes}")
    return [shapes.from_value(call, 0)]


@op(
    "Fill",
    "dims: index_type, value: T -> output: T",
    types={"T": ANY, "index_type": Preferring(INDEX)},
    shape=_fill_rule,
    moves=True,
    foldable=True,
)
def Fill(xp: ModuleType, dims: Array, value: Array):
    if np.ndim(dims) != 1:
        raise invalid(f"dims must represent a vector, got shape {shape_text(np.shape(dims))}")
    shape = dimensions(dims)
    if value.size != 1 or value.ndim > 1:
        raise invalid(f"value must represent a scalar, got shape {shape_text(value.shape)}")
    return xp.full(shape, value.reshape(()), value.dtype)


@Fill.batching
def _(call: BatchedCall):
    rank = call.inputs[0].shape[0]
    if rank is None or not call.only([1]):
        return None
    return [call.broadcast(call.aligned(1, rank), call.with_size(call.inputs[0]))]


@Fill.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return None, reductions.reduce_sum(dy)


@Fill.samples
def _(rng: SampleGenerator):
    yield Sample([2, 3], rng.normal())
    yield Sample(np.zeros(0, np.int32), rng.normal())
    yield Sample([0, 2], rng.normal())
    yield Sample([2, -1], 1.0, raises=InvalidArgumentError)
    yield Sample([[2]], 1.0, raises=InvalidArgumentError)
    yield Sample([2], rng.normal(3), raises=InvalidArgumentError)
    yield Sample(np.array([2**40, 2**40]), 1.0, raises=InvalidArgumentError)


@Fill.reference
def _(dims: np.ndarray, value: np.ndarray):
    return np.zeros(tuple(dims), np.asarray(value).dtype) + value


def _as_dims(shape: Any, integers: bool = False):
    """`shape` as what `Fill` takes: a vector, also for a scalar or a TensorShape.

    With `integers`, raises TypeError for a list of other numbers, which `Fill` refuses with another error.
    """
    if isinstance(shape, (list, tuple)):
        vector = ints(shape)
        if vector is not None:
            return vector
        dims = convert_to_tensor(shape, dtype_hint=dtypes.int32)
        if integers and not dims.dtype.is_integer:
            whole = all(isinstance(d, int) or (isinstance(d, float) and d.is_integer()) for d in shape)
            if whole and not context.executing_eagerly():
                return int_array([int(d) for d in shape])  # graphs take 4 / 2 for a size
            raise TypeError(f"Cannot convert {shape} to EagerTensor of dtype int32")
        return dims
    if hasattr(shape, "as_list"):
        return int_array(shape.as_list())
    shape = convert_to_tensor(shape, dtype_hint=dtypes.int32)
    if not shape.dtype.is_integer:
        raise TypeError(f"Cannot convert {shape} to EagerTensor of dtype int32")
    return Reshape(shape, [-1]) if shape.shape.rank == 0 else shape


@api("fill")
@tensor_function
def fill(dims: TensorLike, value: TensorLike, name: str | None = None, layout: Layout | None = None):
    """Make a tensor of which every element is one value.

    Args:
      dims: the shape, a vector of int32 or int64.
      value: a scalar of any dtype.
      name: a name for the operation (optional).
      layout: a `tf.experimental.dtensor.Layout` that the tensor is to have (optional).

    Returns:
      A tensor of the dtype of `value` and of shape `dims`.

    Raises:
      InvalidArgumentError: for negative sizes, and for a value that is no scalar.

    >>> tf.fill([2, 3], 9)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[9, 9, 9],
           [9, 9, 9]], dtype=int32)>
    """
    if layout is not None:
        return placed.made_with(layout, fill, dims, value)
    return Fill(_as_dims(dims), value)


@api("zeros")
@tensor_function
@graph_scope("zeros")
def zeros(shape: ShapeLike, dtype: Any = dtypes.float32, name: str | None = None, layout: Layout | None = None):
    """Make a tensor of zeros; of bool, of False; of strings, of empty ones.

    Args:
      shape: a list of sizes, a `tf.TensorShape`, or a vector of integers.
      dtype: any dtype.
      name: a name for the operation (optional).
      layout: a `tf.experimental.dtensor.Layout` that the tensor is to have (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.

    >>> tf.zeros([2, 3])
    <tf.Tensor: shape=(2, 3), dtype=float32, numpy=
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)>
    """
    if layout is not None:
        return placed.made_with(layout, zeros, shape, dtype)
    return Fill(_as_dims(shape, integers=True), _constant(0, dtype))


@api("ones")
@tensor_function
@graph_scope("ones")
def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: Layout | None = None):
    """Make a tensor of ones.

    Args:
      shape: a list of sizes, a `tf.TensorShape`, or a vector of integers.
      dtype: a numeric dtype or bool.
      name: a name for the operation (optional).
      layout: a `tf.experimental.dtensor.Layout` that the tensor is to have (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.

    >>> tf.ones([2, 3], tf.int32)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 1, 1],
           [1, 1, 1]], dtype=int32)>
    """
    if layout is not None:
        return placed.made_with(layout, ones, shape, dtype)
    return Fill(_as_dims(shape, integers=True), _constant(1, dtype))


_CONSTANTS: dict = {}


def _constant(value: int, dtype: Any):
    if dtype is dtypes.float32:
        return float(value)
    dtype = dtypes.as_dtype(dtype)
    key = value, dtype
    if key not in _CONSTANTS:
        if dtype == dtypes.string:
            if value:
                raise TypeError(f"Cannot convert {value} to EagerTensor of dtype string")
            return convert_to_tensor("")
        _CONSTANTS[key] = np.array(value, dtype.as_numpy_dtype)
    return _CONSTANTS[key]


@api(v2="zeros_like")
@tensor_function
@graph_scope("zeros_like")
def zeros_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Layout | None = None
):
    """Make zeros of the shape and dtype of another tensor.

    Args:
      input: a tensor, whose values are not looked at.
      dtype: the dtype of the result; None: that of `input`.
      name: a name for the operation (optional).
      layout: a `tf.experimental.dtensor.Layout` that the tensor is to have (optional).

    Returns:
      A tensor of zeros (False, empty strings) of the shape of `input`.

    >>> tf.zeros_like([[1.5, 2.5]], dtype=tf.int32)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[0, 0]], dtype=int32)>
    """
    return placed.relaid(_like(ZerosLike, 0, input, dtype), layout)


@api(v2="ones_like")
@tensor_function
@graph_scope("ones_like")
def ones_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Layout | None = None):
    """Make ones of the shape and dtype of another tensor.

    Args:
      input: a tensor, whose values are not looked at.
      dtype: the dtype of the result; None: that of `input`.
      name: a name for the operation (optional).
      layout: a `tf.experimental.dtensor.Layout` that the tensor is to have (optional).

    Returns:
      A tensor of ones of the shape of `input`.

    >>> tf.ones_like([[1.5, 2.5]])
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[1., 1.]], dtype=float32)>
    """
    return placed.relaid(_like(OnesLike, 1, input, dtype), layout)


def _like(row: Callable[..., Any], value: int, input: Any, dtype: DTypeLike | None):
    input = convert_to_tensor(input)
    if input.__class__ is not EagerTensor and input.shape.is_fully_defined():
        kind = input.dtype if dtype is None else dtypes.as_dtype(dtype)
        if kind.is_floating or kind.is_integer or kind.is_complex or kind.is_bool:
            # Of a graph's tensor the shape is all that is needed: nothing has to be computed for it.
            return Fill(as_shape(input.shape.as_list()), _constant(value, kind))
    if dtype is None or dtypes.as_dtype(dtype) == input.dtype:
        return row(input)
    return Fill(Shape(input), _constant(value, dtype))


@api(v1="zeros_like")
@tensor_function
@graph_scope("zeros_like")
def zeros_like_v1(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
):
    """`zeros_like` with the 1.x name of its argument."""
    return _like(ZerosLike, 0, tensor, dtype)


@api(v1="ones_like")
@tensor_function
@graph_scope("ones_like")
def ones_like_v1(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
):
    """`ones_like` with the 1.x name of its argument."""
    return _like(OnesLike, 1, tensor, dtype)
