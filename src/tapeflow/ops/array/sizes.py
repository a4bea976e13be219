"""The shape, the number of elements and the rank of a tensor, as tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import index_kind

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, SampleGenerator


def _sizes(sizes: Sequence[int | None]):
    return None if None in sizes else sizes


def _count(sizes: Sequence[int | None]):
    return None if None in sizes else math.prod(sizes)


@op(
    "Shape",
    "input: T -> output: out_type",
    types={"T": ANY},
    attrs={"out_type": dtype(dtypes.int32)},
    shape=lambda call: [(None if call.shape(0) is None else len(call.shape(0)),)],
    of_shape=_sizes,
)
def Shape(xp: ModuleType, input: Array, out_type: DType):
    return np.array(input.shape, index_kind(out_type, "out_type"))


@Shape.batching
def _(call: BatchedCall):
    return [call.shared(y[1:]) for y in call.run(call.inputs)]


Shape.gradient(None)


@Shape.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal(), out_type=dtypes.int64)
    yield Sample(rng.normal(2, 0, 3))


@Shape.reference
def _(input: np.ndarray, out_type: DType):
    return np.asarray(np.shape(input), dtype=out_type.as_numpy_dtype)


@api(v2="shape")
@tensor_function
def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None):
    """Return the shape of a tensor as a tensor, as it is when the program runs.

    Args:
      input: a tensor of any dtype, or a `tf.SparseTensor`, whose dense shape it is.
      out_type: the dtype of the sizes, int32 or int64; None: int32.
      name: a name for the operation (optional).

    Returns:
      A vector of `out_type` with one size for each dimension.

    >>> tf.shape([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    dense = getattr(input, "dense_shape", None)
    if dense is not None:
        return cast(dense, out_type or dtypes.int32)
    out_type = dtypes.as_dtype(out_type or dtypes.int32)
    known = _known_sizes(input)
    if known is None or any(size > out_type.max for size in known):  # too large: an error when the graph runs
        return Shape(input, out_type)
    return _constant(known, out_type, "Shape")


def _known_sizes(input):
    """The sizes of a tensor of a graph, where all of them are known: they are constants then."""
    if not is_symbolic_tensor(input) or input.dtype == dtypes.variant:
        return None
    sizes = input.shape_tuple
    return None if sizes is None or None in sizes else sizes


def _constant(value: Sequence[int] | int, dtype: DType, name: str):
    return convert_to_tensor(np.array(value, dtype.as_numpy_dtype), name=name)


@api(v1="shape")
@tensor_function
def shape_v1(input: TensorLike, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`shape` with the 1.x order of arguments."""
    return shape(input, out_type)


@op(
    "ShapeN",
    "input: N>=1*T -> output: N*out_type",
    types={"T": ANY},
    attrs={"out_type": dtype(dtypes.int32)},
    shape=lambda call: [
        (None if call.shape(i) is None else len(call.shape(i)),) for i in range(call.count)
    ],
    of_shape=_sizes,
)
def ShapeN(xp: ModuleType, input: Sequence[Array], out_type: DType):
    kind = index_kind(out_type, "out_type")
    return [np.array(x.shape, kind) for x in input]


ShapeN.gradient(None)


@ShapeN.samples
def _(rng: SampleGenerator):
    yield Sample([rng.normal(2, 3), rng.normal()])


@ShapeN.reference
def _(input: Sequence[np.ndarray], out_type: DType):
    return [np.asarray(np.shape(x), dtype=out_type.as_numpy_dtype) for x in input]


@api("shape_n")
@tensor_function
def shape_n(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None):
    """Return the shapes of several tensors as tensors.

    Args:
      input: a list of tensors.
      out_type: the dtype of the sizes, int32 or int64; None: int32.
      name: a name for the operation (optional).

    Returns:
      A list of vectors of `out_type`, one for each tensor.
    """
    return ShapeN(input, dtypes.as_dtype(out_type or dtypes.int32))


@op(
    "Size",
    "input: T -> output: out_type",
    types={"T": ANY},
    attrs={"out_type": dtype(dtypes.int32)},
    shape=shapes.scalar,
    of_shape=_count,
)
def Size(xp: ModuleType, input: Array, out_type: DType):
    return np.array(input.size, index_kind(out_type, "out_type"))


@Size.batching
def _(call: BatchedCall):
    return [call.shared(call.count(0, call.attrs["out_type"]))]


Size.gradient(None)


@Size.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), expect=np.array(6, np.int32))
    yield Sample(rng.normal(), out_type=dtypes.int64)
    yield Sample(rng.normal(2, 0))


@Size.reference
def _(input: np.ndarray, out_type: DType):
    return np.array(np.prod(np.shape(input), dtype=int), out_type.as_numpy_dtype)


@api(v2="size")
@tensor_function
def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None):
    """Count the elements of a tensor.

    Args:
      input: a tensor of any dtype.
      out_type: the dtype of the count, int32 or int64; None: int32.
      name: a name for the operation (optional).

    Returns:
      A scalar of `out_type`.

    >>> tf.size([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(), dtype=int32, numpy=6>
    """
    out_type = dtypes.as_dtype(out_type or dtypes.int32)
    known = _known_sizes(input)
    if known is None or math.prod(known) > out_type.max:
        return Size(input, out_type)
    return _constant(math.prod(known), out_type, "Size")


@api(v1="size")
@tensor_function
def size_v1(input: TensorLike, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`size` with the 1.x order of arguments."""
    return size(input, out_type)


@op("Rank", "input: T -> output: int32", types={"T": ANY}, shape=shapes.scalar, of_shape=len)
def Rank(xp: ModuleType, input: Array):
    return np.array(input.ndim, np.int32)


@Rank.batching
def _(call: BatchedCall):
    return [call.shared(y - 1) for y in call.run(call.inputs)]


Rank.gradient(None)


@Rank.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), expect=np.array(2, np.int32))
    yield Sample(rng.normal(), expect=np.array(0, np.int32))


@api("rank")
@tensor_function
def rank(input: Any, name: str | None = None):
    """The number of dimensions of `input`, as an int32 scalar."""
    if is_symbolic_tensor(input) and input.shape_tuple is not None:
        return _constant(len(input.shape_tuple), dtypes.int32, "Rank")
    return Rank(input)
