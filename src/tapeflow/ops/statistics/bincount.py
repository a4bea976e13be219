"""How often each small integer occurs."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Size
from tapeflow.ops.folding import fold_at
from tapeflow.ops.math import arithmetic, casting, comparison, reductions
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


WEIGHTS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def checked_size(size: Any):
    if np.ndim(size):
        raise invalid(f"Shape must be rank 0 but is rank {np.ndim(size)}")
    count = one_value(size, f"Shape must be rank 0 but is rank {np.ndim(size)}")
    if count < 0:
        raise invalid(f"size ({count}) must be non-negative")
    return count


def _check_weights(values: Any, weights: Any, name: str):
    if weights.size and weights.shape != values.shape:
        raise invalid(
            f"`weights` must be the same shape as `{name}` or a length-0 `Tensor`, in which case it acts as all "
            f"weights equal to 1. Received {shape_text(weights.shape)}"
        )


def _counted_by_jax(xp: ModuleType, values: Array, size, weights):
    heavy = xp.broadcast_to(weights if weights.size else xp.ones((), weights.dtype), values.shape)
    return xp.zeros(size, weights.dtype).at[values].add(heavy, mode="drop")


def _counted(values: np.ndarray, size: int, weights: np.ndarray):
    if weights.size == 0 or weights.dtype.kind == "f":
        inside = values if values.max(initial=-1) < size else np.where(values < size, values, size)
        found = np.bincount(inside, weights if weights.size else None, minlength=size)
        return found[:size].astype(weights.dtype)
    kept = values < size
    heavy = np.broadcast_to(weights if weights.size else np.ones((), weights.dtype), values.shape)
    out = np.zeros(size, weights.dtype)
    fold_at(np.add, out, values[kept], heavy[kept])
    return out


@op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    types={"T": WEIGHTS},
    shape=lambda call: [(shapes.size_value(call, 1),)],
)
def Bincount(xp: ModuleType, arr: Array, size: Array, weights: Array):
    count = checked_size(size)
    _check_weights(arr, weights, "arr")
    if (arr < 0).any():
        raise invalid(f"Input arr must be non-negative! Found {arr.min()}")
    return _counted(arr.ravel(), count, weights.ravel())


Bincount.gradient(None)


@Bincount.compiled()
def _(xp: ModuleType, arr: Array, size: Array, weights: Array):
    _check_weights(arr, weights, "arr")
    return _counted_by_jax(xp, arr.ravel(), checked_size(size), weights.ravel())


@Bincount.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1, 1, 5, 0], np.int32), 4, rng.normal(4))
    yield Sample(np.array([[1, 2]], np.int32), 3, np.zeros(0))
    yield Sample(np.array([1], np.int32), -1, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([-1], np.int32), 2, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([1, 2], np.int32), 2, np.zeros(3), raises=InvalidArgumentError)


@Bincount.reference
def _(arr: np.ndarray, size: np.ndarray, weights: np.ndarray):
    heavy = weights.ravel() if weights.size else np.ones(arr.size)
    pairs = list(zip(arr.ravel().tolist(), heavy.tolist(), strict=True))
    return np.array([sum(w for v, w in pairs if v == i) for i in range(int(size))], float)


def _dense_shape(call: ShapeCall):
    shape, bins = call.shape(0), shapes.size_value(call, 1)
    return [None if shape is None else (*shape[:-1], bins) if len(shape) == 2 else (bins,)]


@op(
    "DenseBincount",
    "input: Tidx, size: Tidx, weights: T -> output: T",
    types={"Tidx": INDEX, "T": WEIGHTS},
    attrs={"binary_output": False},
    ranks="input: 0-2",
    shape=_dense_shape,
)
def DenseBincount(xp: ModuleType, input: Array, size: Array, weights: Array, binary_output: bool):
    count = checked_size(size)
    if input.ndim > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {input.ndim}")
    _check_weights(input, weights, "arr")
    if (input < 0).any():
        raise invalid(
            f"Input 'in' must be non-negative! Negative input value found: {input[input < 0][0]}"
        )
    rows = input.reshape(-1, input.shape[-1]) if input.ndim == 2 else input.reshape(1, -1)
    heavy = weights.reshape(rows.shape) if weights.size and not binary_output else None
    none = np.zeros(0, weights.dtype)
    out = [_counted(r, count, none if heavy is None else heavy[i]) for i, r in enumerate(rows)]
    table = np.array(out, weights.dtype).reshape(*input.shape[:-1], count) if input.ndim else out[0]
    return np.minimum(table, 1) if binary_output else table


DenseBincount.gradient(None)


@DenseBincount.compiled()
def _(xp: ModuleType, input: Array, size: Array, weights: Array, binary_output: bool):
    _check_weights(input, weights, "arr")
    count = checked_size(size)
    rows = input.reshape(-1, input.shape[-1]) if input.ndim == 2 else input.reshape(1, -1)
    heavy = weights.reshape(rows.shape) if weights.size and not binary_output else None
    none = xp.zeros(0, weights.dtype)
    out = [
        _counted_by_jax(xp, r, count, none if heavy is None else heavy[i])
        for i, r in enumerate(rows)
    ]
    table = xp.array(out).reshape(*input.shape[:-1], count) if input.ndim else out[0]
    return xp.minimum(table, 1) if binary_output else table


@DenseBincount.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([[1, 1], [0, 5]], np.int32), 4, rng.normal(2, 2))
    yield Sample(np.array([1, 1, 2], np.int64), np.asarray(3, np.int64), np.zeros(0))
    yield Sample(np.array([1, 1, 2], np.int32), 3, np.zeros(0), binary_output=True)
    yield Sample(np.array([1], np.int32), -1, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([-1], np.int32), 2, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([1, 2], np.int32), 2, np.zeros(3), raises=InvalidArgumentError)


@DenseBincount.reference
def _(input: np.ndarray, size: np.ndarray, weights: np.ndarray, binary_output: bool):
    rows = np.atleast_2d(input)
    heavy = weights.reshape(rows.shape) if weights.size else np.ones(rows.shape)
    out = np.array(
        [[(w * (r == i)).sum() for i in range(int(size))] for r, w in zip(rows, heavy, strict=True)]
    )
    out = (out > 0).astype(float) if binary_output else out
    return out if input.ndim == 2 else out[0]


@api(v2="math.bincount")
@tensor_function
def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype: DTypeLike = dtypes.int32,
    name: str | None = None, axis: AxisLike | None = None, binary_output: bool = False,
):
    """Count how often each of the integers 0, 1, ... occurs, or add up their weights.

    Args:
      arr: a tensor of integers that are not negative; other numbers are truncated to integers.
      weights: what each element counts, of the shape of `arr` (optional).
      minlength: how many counts there are at least.
      maxlength: how many counts there are at most; larger integers are left out.
      dtype: the dtype of the counts: int32, int64, float32 or float64. Sums of weights have the dtype of these.
      name: a name for the operation (optional).
      axis: None or 0 counts all elements; -1 counts those of each row of a matrix.
      binary_output: whether to tell just if an integer occurs, as 1 or 0; excludes `weights`.

    Returns:
      A vector of `max(arr) + 1` counts, as far as `minlength` and `maxlength` allow; a matrix with one row for each
      row of `arr` where `axis` is -1.

    Raises:
      InvalidArgumentError: for negative integers.
      ValueError: for another axis, and for `binary_output` with `weights`.

    >>> tf.math.bincount([1, 1, 3])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 2, 0, 1], dtype=int32)>
    >>> tf.math.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0])
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0. , 1.5, 0. , 2. ], dtype=float32)>
    """
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    arr = convert_to_tensor(arr)
    if not arr.dtype.is_integer:
        arr = casting.cast(arr, dtypes.int32)
    elif arr.dtype not in (dtypes.int32, dtypes.int64):
        arr = casting.cast(arr, dtypes.int64 if arr.dtype.size > 4 else dtypes.int32)
    if binary_output and weights is not None:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one."
        )
    size = _bins(arr, minlength, maxlength)
    if weights is None:
        weights = np.zeros(0, dtypes.as_dtype(dtype).as_numpy_dtype)
    if axis != -1:
        arr = Reshape(arr, [-1])
        weights = convert_to_tensor(weights)
        weights = Reshape(weights, [-1])
    return DenseBincount(arr, size, weights, bool(binary_output))


def _bins(arr, minlength, maxlength):
    largest = reductions.reduce_max(arr)
    some = casting.cast(comparison.Greater(Size(arr), 0), arr.dtype)
    size = arithmetic.Mul(some, arithmetic.AddV2(arithmetic.Maximum(largest, -1), 1))
    if minlength is not None:
        size = arithmetic.Maximum(size, casting.cast(minlength, arr.dtype))
    if maxlength is not None:
        size = arithmetic.Minimum(size, casting.cast(maxlength, arr.dtype))
    return size


@api(v1=("math.bincount", "bincount"))
@tensor_function
def bincount_v1(arr, weights=None, minlength=None, maxlength=None, dtype: DTypeLike = dtypes.int32):
    """`bincount` as 1.x spells it."""
    return bincount(arr, weights, minlength, maxlength, dtype)
