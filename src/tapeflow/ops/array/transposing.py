"""Dimensions in another order: `transpose`, and the inverse of a permutation."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.math.choice import SelectV2
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import ANY, INDEX, NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _ranges() -> ModuleType:
    from tapeflow.ops.array import ranges  # a circle: it is made of this module

    return ranges


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
            range_ = _ranges().range
            perm = range_(Rank(a) - 1, -1, -1)
        else:
            perm = [*range(rank - 1, -1, -1)]
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
    range_ = _ranges().range
    rank = Rank(x)
    every, last, place = range_(rank), rank - 1, axis if axis >= 0 else rank + axis
    return SelectV2(equal(every, place), last, SelectV2(equal(every, last), place, every))


def last_swapped(x: Tensor):
    """The order of dimensions in which the last two of the tensor `x` change places."""
    rank = x.shape.rank
    if rank is not None:
        return [*range(rank - 2), rank - 1, rank - 2]
    range_ = _ranges().range
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
