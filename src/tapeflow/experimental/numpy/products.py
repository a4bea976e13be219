"""Products of vectors, matrices and more."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import constant
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import dtype_of, promoted, tensor
from tapeflow.experimental.numpy.shaping import diagonal, moveaxis
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_to
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape, squeeze
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import rank
from tapeflow.ops.array.sizes import shape as shape_
from tapeflow.ops.array.stacking import unstack
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.linalg.cross import cross as cross_
from tapeflow.ops.linalg.einsum import einsum as einsum_
from tapeflow.ops.linalg.matmul import matmul as matmul_
from tapeflow.ops.linalg.tensordot import tensordot as tensordot_
from tapeflow.ops.math.arithmetic import multiply
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal, not_equal
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_sum


def _counted(function, *values):
    """Matrix products have no booleans: a product of such says whether one of the terms is true."""
    if values[0].dtype == dtypes.bool:
        return cast(function(*(cast(v, dtypes.int32) for v in values)), dtypes.bool)
    return function(*values)


def _matmul(a, b):
    if a.shape.rank is None or b.shape.rank is None:
        return _matmul_of_any_rank(a, b)
    if len(a.shape) == 1 and len(b.shape) == 1:
        return tensordot_(a, b, 1)
    if len(a.shape) == 1:
        return squeeze(matmul_(a[None, :], b), -2)
    if len(b.shape) == 1:
        return squeeze(matmul_(a, b[:, None]), -1)
    return matmul_(a, b)


def _matmul_of_any_rank(a, b):
    """The product where only the running program knows what is a vector: as a matrix, without the axes that gave."""
    sizes, others = shape_(a), shape_(b)
    vector = [cast(equal(rank(x), 1), dtypes.int32) for x in (a, b)]
    one = constant([1])
    rows = matmul_(
        reshape(a, concat([one[: vector[0]], sizes], 0)), reshape(b, concat([others, one[: vector[1]]], 0))
    )
    made = shape_(rows)
    kept = [made[:-2], made[-2:-1][vector[0] :], made[-1:][vector[1] :]]
    return reshape(rows, concat(kept, 0))


@public
def matmul(x1, x2):
    """Return the product of matrices, or of a matrix and a vector; ValueError for scalars.

    Args:
      x1, x2: arrays, whose axes before the last two broadcast.
    """
    x1, x2 = promoted(x1, x2)
    if 0 in (x1.shape.rank, x2.shape.rank):
        raise ValueError("Scalar operands of matmul are not allowed, use multiply instead.")
    return _counted(_matmul, x1, x2)


@public
def dot(a, b):
    """Return products with scalars, else sums over the last axis of `a` and the last but one of `b`.

    Args:
      a, b: arrays, or what makes some.
    """
    a, b = promoted(a, b)
    if not len(a.shape) or not len(b.shape):
        return multiply(a, b) if a.dtype != dtypes.bool else logical_and(a, b)
    axis = -1 if len(b.shape) == 1 else -2
    return _counted(
        lambda x, y: tensordot_(x, y, [[-1 % len(a.shape)], [axis % len(b.shape)]]), a, b
    )


@public
def inner(a, b):
    """Return sums of products over the last axes of both.

    Args:
      a, b: arrays, or what makes some; a scalar is multiplied.
    """
    a, b = promoted(a, b)
    if not len(a.shape) or not len(b.shape):
        return multiply(a, b)
    return _counted(lambda x, y: tensordot_(x, y, [[len(a.shape) - 1], [len(b.shape) - 1]]), a, b)


@public
def outer(a: TensorLike, b: TensorLike):
    """Return the products of all pairs of elements, as a matrix.

    Args:
      a, b: arrays, or what makes some, taken as vectors.
    """
    a, b = promoted(a, b)
    return reshape(a, [-1, 1]) * reshape(b, [1, -1])


@public
def vdot(a, b):
    """Return the sum of the products of elements, those of `a` conjugated.

    Args:
      a, b: arrays, or what makes some, taken as vectors.
    """
    a, b = promoted(a, b)
    return dot(
        conj(reshape(a, [-1])) if a.dtype.is_complex else reshape(a, [-1]),
        reshape(b, [-1]),
    )


@public
def tensordot(a: TensorLike, b: TensorLike, axes: AxisLike = 2):
    """Return products summed over pairs of axes.

    Args:
      a, b: arrays, or what makes some.
      axes: how many last axes of `a` go with as many first ones of `b`, or a pair of lists of axes.
    """
    return _counted(lambda x, y: tensordot_(x, y, axes), *promoted(a, b))


@public
def kron(a, b):
    """Return the Kronecker product.

    Args:
      a, b: arrays, or what makes some.
    """
    a, b = promoted(a, b)
    rank = max(len(a.shape), len(b.shape))
    a = reshape(a, [1] * (rank - len(a.shape)) + list(a.shape))
    b = reshape(b, [1] * (rank - len(b.shape)) + list(b.shape))
    pairs = reshape(a, [s for n in a.shape for s in (n, 1)]) * reshape(
        b, [s for n in b.shape for s in (1, n)]
    )
    return reshape(pairs, [m * n for m, n in zip(a.shape, b.shape)])


@public
def einsum(subscripts, *operands, **kwargs):
    """Return products summed as an equation says, see `tf.einsum`.

    Args:
      subscripts: the equation.
      *operands: the arrays.
      **kwargs: `casting` and `order`, which must be the default, else ValueError is raised; `optimize`, which
        changes nothing in the result.
    """
    if kwargs.pop("casting", "safe") != "safe":
        raise ValueError("casting is not supported.")
    if kwargs.pop("order", "K") != "K":
        raise ValueError("order is not supported.")
    optimize = kwargs.pop("optimize", False)
    how = "greedy" if optimize is True else "optimal" if optimize is False else optimize
    return _counted(lambda *xs: einsum_(subscripts, *xs, optimize=how), *promoted(*operands))


@public
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis: AxisLike | None = None):
    """Return the cross product of vectors of two or three elements.

    Args:
      a, b: arrays of vectors that broadcast; of two times two elements the third one of the result is returned.
      axisa: the axis of the vectors of `a`.
      axisb: the axis of the vectors of `b`.
      axisc: the axis of the vectors of the result.
      axis: replaces the three, where it is not None.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    flat = a.shape[-1] == b.shape[-1] == 2
    a, b = (pad(x, [[0, 0]] * (len(x.shape) - 1) + [[0, 3 - x.shape[-1]]]) for x in (a, b))
    shape = broadcast_dynamic_shape(shape_(a), shape_(b))
    out = cross_(broadcast_to(a, shape), broadcast_to(b, shape))
    return out[..., 2] if flat else moveaxis(out, -1, axisc)


@public
def trace(a: TensorLike, offset=0, axis1=0, axis2=1, dtype: DTypeLike | None = None):
    """Return the sum of the diagonal of the matrices in two axes.

    Args:
      a: an array of two axes or more.
      offset: which diagonal: 0 is the main one, positive numbers are above it.
      axis1: the axis of rows.
      axis2: the axis of columns.
      dtype: the dtype of the sum; None: that of `a`.
    """
    x = diagonal(a, offset, axis1, axis2)
    if dtype is not None:
        x = cast(x, dtype_of(dtype))
    elif x.dtype == dtypes.bool:
        x = cast(x, dtypes.int64)
    return reduce_sum(x, -1)


@public
def polyval(p, x: TensorLike):
    """Return the values of a polynomial.

    Args:
      p: the coefficients, from the highest power down.
      x: where to evaluate it.
    """
    p, x = promoted(p, x)
    out = zeros_like(x)
    for coefficient in unstack(reshape(p, [-1]) if p.shape.rank == 0 else p):
        out = out * x + coefficient
    return out


@public
def diff(a: TensorLike, n=1, axis: int = -1):
    """Return differences of neighbours along an axis.

    Args:
      a: an array, or what makes one.
      n: how many times differences are taken.
      axis: the axis.
    """
    x = tensor(a)
    if x.shape.rank is None:
        raise ValueError(
            f"Function `diff` currently requires a known rank for input `a`. Received: a={x} (unknown rank)"
        )
    axis %= len(x.shape)
    for _ in range(n):
        size = shape_(x)[axis] if x.shape[axis] is None else x.shape[axis]
        later = gather(x, range_(1, size), axis=axis)
        earlier = gather(x, range_(0, size - 1), axis=axis)
        x = not_equal(later, earlier) if x.dtype == dtypes.bool else later - earlier
    return x
