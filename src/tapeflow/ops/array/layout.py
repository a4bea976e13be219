"""Ops that give a tensor's elements another shape or order of dimensions: reshape, squeeze, transpose, bitcast."""

from __future__ import annotations

import importlib
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
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.rows import Rank
from tapeflow.ops.math.comparison import SelectV2, equal
from tapeflow.ops.signature import Preferring, dtype, ints
from tapeflow.ops.table import ANY, FLOATING, INDEX, INTEGER, NUMERIC, Sample, op
from tapeflow.ops.validate import MAX_ELEMENTS, invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


def _construction() -> ModuleType:
    from tapeflow.ops.array import construction  # a circle: it is made of this module

    return construction


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


def _transpose_rule(call: ShapeCall):
    shape, perm, length = call.shape(0), shapes.vector_value(call, 1), shapes.vector_length(call, 1)
    if shape is not None:
        shapes.exactly(length, len(shape))
    if perm is None:
        rank = len(shape) if shape is not None else length
        return [None if rank is None else (None,) * rank]
    for p in perm:
        if not -len(perm) <= p < len(perm):
            raise invalid(f"perm dim {p} is out of range of input rank {len(perm)}")
    if sorted(p % len(perm) if -len(perm) <= p < 0 else p for p in perm) != [*range(len(perm))]:
        raise invalid(f"perm must be a permutation of 0 to {len(perm) - 1}, but is {perm}")
    if shape is None:
        return [(None,) * len(perm)]
    return [tuple([shape[p] for p in perm])]


def _permutation(perm: Any, rank: int) -> list[int]:
    perm = np.asarray(perm)
    if perm.ndim != 1:
        raise invalid(f"perm must be rank 1, got shape {shape_text(perm.shape)}")
    if perm.size != rank:
        raise invalid(
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size {perm.size}"
        )
    axes = []
    for value in perm:
        if not -rank <= value < rank:
            raise invalid(f"{int(value)} is out of range [0 .. {rank})")
        axes.append(int(value) % rank)
    for axis in range(rank):
        if axis not in axes:
            raise invalid(f"{axis} is missing from {{{','.join(map(str, axes))}}}.")
    return axes


@op(
    "Transpose",
    "x: T, perm: Tperm -> y: T",
    types={"T": ANY, "Tperm": Preferring(INDEX)},
    shape=_transpose_rule,
    promotes="weakness",
    moves=True,
)
def Transpose(xp: ModuleType, x: Array, perm: Array):
    return xp.transpose(x, _permutation(perm, x.ndim))


Transpose.batching(batching.transposed)


@Transpose.gradient(needs="perm")
def _(call: GradientCall, dy: Tensor):
    return Transpose(dy, InvertPermutation(call.perm)), None


@Transpose.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [1, 0])
    yield Sample(rng.normal(2, 3, 4), [2, 0, 1])
    yield Sample(rng.normal(2, 3, 4, 5), [0, 3, 1, 2])
    yield Sample(rng.normal(0, 3), [1, 0])
    yield Sample(rng.normal(), np.zeros(0, np.int32))
    yield Sample(rng.normal(2, 3), [0, 0], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0, 2], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[0, 1]], raises=InvalidArgumentError)


@Transpose.reference
def _(x: np.ndarray, perm: np.ndarray):
    return np.moveaxis(x, perm, range(np.ndim(x)))


@op(
    "ConjugateTranspose",
    "x: T, perm: Tperm -> y: T",
    types={"T": NUMERIC, "Tperm": Preferring(INDEX)},
    shape=_transpose_rule,
)
def ConjugateTranspose(xp: ModuleType, x: Array, perm: Array):
    x = xp.transpose(x, _permutation(perm, x.ndim))
    return x.conj() if x.dtype.kind == "c" else x


ConjugateTranspose.batching(batching.transposed)


@ConjugateTranspose.gradient(needs="perm")
def _(call: GradientCall, dy: Tensor):
    return ConjugateTranspose(dy, InvertPermutation(call.perm)), None


@ConjugateTranspose.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [1, 0])
    yield Sample(np.array([[1 + 2j, 3j]]), [1, 0], expect=np.array([[1 - 2j], [-3j]]))
    yield Sample(rng.normal(2, 3), [0], raises=InvalidArgumentError)


@ConjugateTranspose.reference
def _(x: np.ndarray, perm: np.ndarray):
    return np.conj(np.moveaxis(x, perm, range(np.ndim(x))))


@api(v2="transpose")
@tensor_function
@graph_scope("transpose")
def transpose(a: TensorLike, perm: TensorLike | None = None, conjugate: bool = False, name: str | None = "transpose"):
    """Permute the dimensions of a tensor.

    Args:
      a: a tensor of any dtype.
      perm: for each dimension of the result, the one of `a` that it is; None: the dimensions reversed.
      conjugate: whether complex elements are conjugated.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `a`.

    Raises:
      InvalidArgumentError: where `perm` is not a permutation of the dimensions.

    >>> tf.transpose([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(3, 2), dtype=int32, numpy=
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)>
    >>> tf.transpose(tf.zeros([2, 3, 4]), perm=[0, 2, 1]).shape
    TensorShape([2, 4, 3])
    """
    if perm is None:
        a = convert_to_tensor(a)
        rank = a.shape.rank
        if rank is None:
            range_ = _construction().range
            perm = range_(Rank(a) - 1, -1, -1)
        else:
            perm = np.arange(rank - 1, -1, -1, dtype=np.int32)
    return ConjugateTranspose(a, perm) if conjugate else Transpose(a, perm)


def axis_swapped(x: Tensor, axis: int):
    """The order of dimensions in which `axis` and the last one of the tensor `x` change places; None where `axis`
    is the last."""
    if axis == -1:
        return None
    rank = x.shape.rank
    if rank is not None:
        order = [*range(rank)]
        order[axis], order[-1] = order[-1], order[axis]
        return None if axis % rank == rank - 1 else order
    range_ = _construction().range
    rank = Rank(x)
    every, last, place = range_(rank), rank - 1, axis if axis >= 0 else rank + axis
    return SelectV2(equal(every, place), last, SelectV2(equal(every, last), place, every))


def last_swapped(x: Tensor):
    """The order of dimensions in which the last two of the tensor `x` change places."""
    rank = x.shape.rank
    if rank is not None:
        return [*range(rank - 2), rank - 1, rank - 2]
    range_ = _construction().range
    rank = Rank(x)
    return ConcatV2([range_(rank - 2), [rank - 1, rank - 2]], 0)


@api(v1="transpose")
@tensor_function
@graph_scope("transpose")
def transpose_v1(a: Any, perm: TensorLike | None = None, name: str | None = "transpose", conjugate: bool = False):
    """`transpose` with the 1.x order of arguments."""
    return transpose(a, perm, conjugate)


@op("InvertPermutation", "x: T -> y: T", types={"T": Preferring(INDEX)}, shape=shapes.same_as(0, rank=1),
    foldable=True)  # fmt: skip
def InvertPermutation(xp: ModuleType, x: np.ndarray):
    x = np.asarray(x)
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    y = np.full(x.size, -1, x.dtype)
    for i, value in enumerate(x):
        if not 0 <= value < x.size:
            raise invalid(f"{int(value)} is not between 0 and {x.size}")
        if y[value] != -1:
            raise invalid(f"{int(value)} is duplicated in the input.")
        y[value] = i
    return y


InvertPermutation.gradient(None)
InvertPermutation.compiled(lambda xp, x: xp.zeros_like(x).at[x].set(xp.arange(x.size, dtype=x.dtype)))


@InvertPermutation.samples
def _(rng: SampleGenerator):
    yield Sample([3, 4, 0, 2, 1])
    yield Sample(np.zeros(0, np.int32))
    yield Sample([0, 0], raises=InvalidArgumentError)
    yield Sample([0, 2], raises=InvalidArgumentError)
    yield Sample([[0, 1]], raises=InvalidArgumentError)


@InvertPermutation.reference
def _(x: np.ndarray):
    return np.argsort(x).astype(np.asarray(x).dtype)


@api("math.invert_permutation", v1="invert_permutation")
@tensor_function
def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the permutation `x`, a 1-D int32 or int64 tensor."""
    return InvertPermutation(x)


_BITS = (
    *FLOATING, *INTEGER, dtypes.complex64, dtypes.complex128,
    dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32,
)  # fmt: skip


def _bitcast_rule(call: ShapeCall):
    shape, target = call.shape(0), dtypes.as_dtype(call.attr("type"))
    size, new = call.dtype(0).size, target.size
    if shape is None:
        return [None]
    if size == new:
        return [shape]
    if size > new:
        return [(*shape, size // new)]
    shapes.at_least(shape, 1)
    if shape[-1] not in (None, new // size):
        raise invalid(
            f"Cannot bitcast from {new} to {size} due to shape. {shape[-1]} does not match {new // size}"
        )
    return [shape[:-1]]


@op(
    "Bitcast",
    "input: T -> output: type",
    types={"T": _BITS},
    attrs={"type": dtype},
    shape=_bitcast_rule,
)
def Bitcast(xp: ModuleType, input: Array, type: DType):
    old, new = input.dtype.itemsize, np.dtype(type.as_numpy_dtype).itemsize
    if new > old and (input.ndim == 0 or input.shape[-1] * old != new):
        raise invalid(f"Cannot bitcast from {_enum(input.dtype)} to {type.as_datatype_enum}")
    if new < old:
        input = input.reshape((*input.shape, 1))
    output = xp.ascontiguousarray(input).view(type.as_numpy_dtype)
    if new < old:
        return output
    # NumPy makes a scalar contiguous as a vector.
    return output.reshape(input.shape[:-1] if new > old else input.shape)


def _enum(numpy_dtype) -> int:
    return dtypes.as_dtype(numpy_dtype).as_datatype_enum


Bitcast.gradient(None)


@Bitcast.compiled()
def _(xp: ModuleType, input: Array, type: DType):
    return importlib.import_module("jax.lax").bitcast_convert_type(input, type.as_numpy_dtype)


@Bitcast.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1.0, 2.0], np.float32), type=dtypes.int32)
    yield Sample(np.array([[1.0, 2.0]], np.float32), type=dtypes.float64)
    yield Sample(np.array([1.0, 2.0], np.float32), type=dtypes.uint8)
    yield Sample(np.float32(1.0), type=dtypes.int32)
    yield Sample(np.float32(1.0), type=dtypes.uint8)
    yield Sample(
        np.array([1.0, 2.0, 3.0], np.float32), type=dtypes.float64, raises=InvalidArgumentError
    )
    yield Sample(np.float32(1.0), type=dtypes.float64, raises=InvalidArgumentError)


@Bitcast.reference
def _(input: np.ndarray, type: DType):
    flat = np.frombuffer(np.asarray(input).tobytes(), type.as_numpy_dtype)
    old, new = np.asarray(input).dtype.itemsize, flat.dtype.itemsize
    if new < old:
        return flat.reshape((*np.shape(input), old // new))
    return flat.reshape(np.shape(input)[: np.ndim(input) - (new > old)])


@api("bitcast")
@tensor_function
def bitcast(input: TensorLike, type, name: str | None = None) -> Tensor:
    """Read the bytes of a tensor as another dtype.

    Args:
      input: a tensor of a numeric or quantized dtype.
      type: the dtype to read the bytes as. Where it is smaller, the result has a last dimension for the parts of an
        element; where it is larger, the last dimension of `input` holds the parts of one.
      name: a name for the operation (optional).

    Returns:
      A tensor of dtype `type`.

    >>> tf.bitcast(tf.constant([1.0]), tf.int32)
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([1065353216], dtype=int32)>
    """
    return Bitcast(input, dtypes.as_dtype(type))
