"""Ops that give a tensor's elements another shape or order of dimensions: reshape, squeeze, transpose, bitcast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, IntLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, shapes
from tapeflow.ops.signature import Preferring, ints
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import MAX_ELEMENTS, invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


def _reshape_rule(call: ShapeCall):
    target, given = shapes.from_value(call, 1), call.shape(0)
    if target is None or given is None:
        return [target]
    count = shapes.element_count(given)
    rest = shapes.element_count(tuple([d for d in target if d is not None]))
    value = call.value(1)
    if target.count(None) == 0 and count is not None and count != rest:
        raise invalid(
            f"Cannot reshape a tensor with {count} elements to shape {shape_text(target)} ({rest} elements)"
        )
    if value is not None and (value < -1).any():
        raise invalid(f"Size {value.min()} must be non-negative, not {value.min()}")
    if value is not None and target.count(None) > 1:
        raise invalid(f"reshape cannot infer more than one missing dimension: {value.tolist()}")
    if target.count(None) != 1:
        return [target]
    if count is None:
        return [target]
    if not rest:  # of no elements at all, the sizes other than 0 decide
        if count:
            raise invalid(
                f"Cannot reshape a tensor with {count} elements to shape {shapes.text(target)} (0 elements)"
            )
        count, rest = (math.prod([d for d in s if d]) for s in (given, target))
    elif count % rest:
        raise invalid(
            f"Dimension size must be evenly divisible by {rest} but is {count}: a tensor of shape "
            f"{list(given)} does not fit into {[-1 if d is None else d for d in target]}"
        )
    return [tuple(count // rest if d is None else d for d in target)]


@op(
    "Reshape",
    "tensor: T, shape: Tshape -> output: T",
    types={"T": ANY, "Tshape": Preferring(INDEX)},
    shape=_reshape_rule,
    promotes="weakness",
    moves=True,
    foldable=True,
)
def Reshape(xp: ModuleType, tensor: Array, shape: Array):
    return tensor.reshape(_resolved(shape, tensor.shape))


@Reshape.batching
def _(call: BatchedCall):
    return call.run([call.inputs[0], call.with_size(call.inputs[1])]) if call.only([0]) else None


def _resolved(shape: ShapeLike, old: tuple[int, ...]) -> tuple[int, ...]:
    """The full shape that `shape`, in which one size may be -1, asks of a tensor of shape `old`."""
    shape = np.asarray(shape)
    if shape.ndim != 1:
        raise invalid(f"sizes input must be 1-D, not {shape_text(shape.shape)}")
    sizes = [int(d) for d in shape]
    free = [i for i, d in enumerate(sizes) if d == -1]
    if len(free) > 1:
        raise invalid(f"Only one input size may be -1, not both {free[0]} and {free[1]}")
    for i, size in enumerate(sizes):
        if size < -1:
            raise invalid(f"Size {i} must be non-negative, not {size}")
    count = math.prod(old)
    if free:
        # Where a size of 0 is asked for, the others share out the sizes that are not 0.
        whole = math.prod(d for d in old if d) if 0 in sizes else count
        part = math.prod(d for d in sizes if d > 0)
        if count and whole % part:
            raise invalid(
                f"Input to reshape is a tensor with {count} values, but the requested shape requires a "
                f"multiple of {part}"
            )
        sizes[free[0]] = whole // part
    total = math.prod(sizes)
    if total > MAX_ELEMENTS:
        raise invalid(f"Shape {sizes} has too many elements")
    if total != count:
        raise invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape has {total}"
        )
    return tuple(sizes)


@Reshape.gradient(needs="")
def _(call: GradientCall, dy: TensorLike):
    return Reshape(dy, call.shape("tensor")), None


@Reshape.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [3, 2])
    yield Sample(rng.normal(2, 3), [-1])
    yield Sample(rng.normal(1), np.zeros(0, np.int32))
    yield Sample(rng.normal(4, 0), [0, -1, 2], expect=np.zeros((0, 2, 2)), differentiable=False)
    yield Sample(rng.normal(2, 3), [4, 2], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [-1, 4], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [-1, -1], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [-2, 3], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[2, 3]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), np.array([2**40, 2**40]), raises=InvalidArgumentError)


@Reshape.reference
def _(tensor: Any, shape: Sequence[Any]):
    return np.reshape(tensor, tuple(shape))


@api("reshape", v1="manip.reshape")
@tensor_function
def reshape(tensor: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """Give the elements of a tensor another shape, in row-major order.

    Args:
      tensor: a tensor of any dtype.
      shape: the sizes, a vector of int32 or int64 or a list; one of them may be -1 for what is left. `[]` makes a
        scalar of one element.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `tensor`.

    Raises:
      InvalidArgumentError: where the shape does not have as many elements as `tensor`.

    >>> tf.reshape(tf.range(6), [2, -1])
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)>
    """
    return Reshape(tensor, shape if isinstance(shape, (list, tuple)) else _as_vector(shape))


def _as_vector(shape):
    """A scalar shape counts as a vector of one size."""
    shape = shape.as_list() if isinstance(shape, TensorShape) else shape
    shape = convert_to_tensor(shape, dtype_hint=dtypes.int32)
    return Reshape(shape, [-1]) if shape.shape.rank == 0 else shape


def _expand_dims_rule(call: ShapeCall):
    shape, axis = call.shape(0), call.value(1)
    if shape is None:
        return [None]
    if axis is None:
        return [(None,) * (len(shape) + 1)]
    if axis.size != 1:
        raise invalid("'dim' input must be a tensor with a single value")
    at, rank = int(axis.reshape(())), len(shape) + 1
    if not -rank <= at < rank:
        raise invalid(f"dim {at} not in the interval [{-rank}, {rank - 1}].")
    at %= rank
    return [shape[:at] + (1,) + shape[at:]]


@op(
    "ExpandDims",
    "input: T, dim: Tdim -> output: T",
    types={"T": ANY, "Tdim": Preferring(INDEX)},
    shape=_expand_dims_rule,
    promotes="weakness",
    moves=True,
    foldable=True,
)
def ExpandDims(xp: ModuleType, input: Array, dim: Array):
    axis = one_value(dim, "'dim' must be a tensor with a single value")
    if not -input.ndim - 1 <= axis <= input.ndim:
        raise invalid(f"Tried to expand dim index {axis} for tensor with {input.ndim} dimensions.")
    at = axis % (input.ndim + 1)
    return input.reshape(input.shape[:at] + (1,) + input.shape[at:])


ExpandDims.batching(batching.along(1, 0))


@ExpandDims.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return Reshape(dy, call.shape("input")), None


@ExpandDims.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), 1)
    yield Sample(rng.normal(2, 3), -1)
    yield Sample(rng.normal(), 0)
    yield Sample(rng.normal(2, 3), 3, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), -4, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0, 1], raises=InvalidArgumentError)


@ExpandDims.reference
def _(input: np.ndarray, dim: np.ndarray):
    return np.expand_dims(input, int(dim))


@api(v2="expand_dims")
@tensor_function
def expand_dims(input: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Insert a dimension of size 1.

    Args:
      input: a tensor of any dtype.
      axis: where the new dimension is, a scalar in [-rank - 1, rank].
      name: a name for the operation (optional).

    Returns:
      A tensor with the elements of `input` and one dimension more.

    Raises:
      InvalidArgumentError: for an axis out of range.

    >>> tf.expand_dims([1, 2, 3], axis=-1).shape
    TensorShape([3, 1])
    """
    return ExpandDims(input, axis)


@api(v1="expand_dims")
@tensor_function
def expand_dims_v1(
    input: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: IntLike | None = None
):
    """`expand_dims` with the 1.x spelling `dim` of `axis`."""
    return ExpandDims(input, _only_one("axis", axis, "dim", dim))


def _only_one(name: str, value: Any, old_name: str, old_value, required: bool = True):
    """The value of an argument that has an older name."""
    if value is not None and old_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{name}'.")
    value = old_value if value is None else value
    if value is None and required:
        raise ValueError(f"Must specify an {name} argument")
    return value


def _squeeze_rule(call: ShapeCall):
    shape, axes = call.shape(0), call.attr("squeeze_dims")
    if shape is None:
        return [None]
    if axes:
        gone = {shapes.normal_axis(a, len(shape)) for a in axes}
        for i in gone:
            if shape[i] not in (1, None):
                raise invalid(
                    f"Can not squeeze dim[{i}], expected a dimension of 1, got {shape[i]}"
                )
        return [tuple(d for i, d in enumerate(shape) if i not in gone)]
    return [None if None in shape else tuple(d for d in shape if d != 1)]


@op(
    "Squeeze",
    "input: T -> output: T",
    types={"T": ANY},
    attrs={"squeeze_dims": ints([])},
    shape=_squeeze_rule,
    promotes="weakness",
    moves=True,
    foldable=True,
)
def Squeeze(xp: ModuleType, input: Array, squeeze_dims: Sequence[int]):
    gone = set()
    for axis in squeeze_dims:
        if not -input.ndim <= axis < input.ndim:
            raise invalid(
                f"Tried to squeeze dim index {axis} for tensor with {input.ndim} dimensions."
            )
        gone.add(axis % input.ndim)
    for axis in sorted(gone):
        if input.shape[axis] != 1:
            raise invalid(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {input.shape[axis]}"
            )
    if not squeeze_dims:
        gone = {i for i, d in enumerate(input.shape) if d == 1}
    return input.reshape(tuple(d for i, d in enumerate(input.shape) if i not in gone))


@Squeeze.batching
def _(call: BatchedCall):
    axes, rank = call.attrs["squeeze_dims"], call.ranks[0]
    if not axes:
        sizes = call.inputs[0].shape
        if rank is None or None in sizes[1:].as_list():
            return None
        axes = [i for i, size in enumerate(sizes[1:].as_list()) if size == 1]
        if not axes:
            return call.inputs
    return call.run(call.inputs, squeeze_dims=[axis + 1 if axis >= 0 else axis for axis in axes])


@Squeeze.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return Reshape(dy, call.shape("input"))


@Squeeze.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(1, 2, 1, 3))
    yield Sample(rng.normal(1, 2, 1, 3), squeeze_dims=[0])
    yield Sample(rng.normal(1, 2, 1, 3), squeeze_dims=[-2])
    yield Sample(rng.normal())
    yield Sample(rng.normal(2, 1), squeeze_dims=[0], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 1), squeeze_dims=[2], raises=InvalidArgumentError)


@Squeeze.reference
def _(input: np.ndarray, squeeze_dims: Sequence[int]):
    return np.squeeze(input, tuple(squeeze_dims) or None)


@api(v2="squeeze")
@tensor_function
def squeeze(input: TensorLike, axis: Any = None, name: str | None = None) -> Tensor:
    """Remove dimensions of size 1.

    Args:
      input: a tensor of any dtype.
      axis: the dimension, or a list of those, in [-rank, rank), to remove; None: all of size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor with the elements of `input` and fewer dimensions.

    Raises:
      InvalidArgumentError: where a named dimension is of another size.

    >>> tf.squeeze(tf.zeros([1, 3, 1])).shape
    TensorShape([3])
    >>> tf.squeeze(tf.zeros([1, 3, 1]), axis=0).shape
    TensorShape([3, 1])
    """
    return Squeeze(input, _axis_list(axis))


@api(v1="squeeze")
@tensor_function
def squeeze_v1(input: TensorLike, axis: AxisLike | None = None, name: str | None = None, squeeze_dims=None):
    """`squeeze` with the 1.x spelling `squeeze_dims` of `axis`."""
    axis = _only_one("axis", axis, "squeeze_dims", squeeze_dims, required=False)
    return Squeeze(input, _axis_list(axis))


def _axis_list(axis):
    if axis is None:
        return []
    return [int(a) for a in axis] if np.ndim(axis) else [int(axis)]
