"""Counts of values in ragged and sparse tensors, and counts that are kept sparse."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.folding import fold_at
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.signature import boolean
from tapeflow.ops.sparse.shapes import elements_and_rank, of_rank
from tapeflow.ops.statistics.bincount import (
    WEIGHTS,
    DenseBincount,
    _bins,
    _check_weights,
    _counted,
    checked_size,
)
from tapeflow.ops.statistics.counting_weights import weights_of
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

COUNTED = {"minlength": -1, "maxlength": -1, "binary_output": boolean}
_PARTS = "output_indices: int64, output_values: output_type, output_dense_shape: int64"
_TYPES = {"T": INDEX, "output_type": WEIGHTS}


def _rows_of_splits(splits: Any, values: Any) -> list[slice]:
    """The rows that row splits cut; checked."""
    if splits.ndim == 1 and not len(splits):
        raise invalid("Splits must be non-empty")
    if splits.ndim != 1 or splits[0] != 0:
        raise invalid("Splits must start with 0")
    if (np.diff(splits) < 0).any() or splits[-1] != values.size:
        raise invalid(f"Splits must end with the number of values, got {splits[-1]} instead of {values.size}")
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(splits)]


def _rows_known(call: ShapeCall):
    (splits,) = shapes.with_rank(call.shape(0), 1)
    return None if splits is None else max(splits - 1, 0)


def _dense_counts(values: Any, rows: Sequence[Any], size: Any, weights: Any, binary_output: bool):
    count = checked_size(size)
    if (values < 0).any():
        raise invalid("Input must be non-negative")
    none = np.zeros(0, weights.dtype)
    out = np.zeros((len(rows), count), weights.dtype)
    for i, row in enumerate(rows):
        heavy = weights[row] if weights.size and not binary_output else none
        out[i] = _counted(values[row], count, heavy)
    return np.minimum(out, 1) if binary_output else out


@op("RaggedBincount",
    "splits: int64, values: Tidx, size: Tidx, weights: T -> output: T",
    types={"Tidx": INDEX, "T": WEIGHTS}, attrs={"binary_output": False},
    shape=lambda call: [(_rows_known(call), shapes.size_value(call, 2))])  # fmt: skip
def RaggedBincount(
    xp: ModuleType, splits: Array, values: Array, size: Array, weights: Array, binary_output: bool
):
    checked_size(size)
    if weights.size != values.size:  # TensorFlow's kernel looks at the number of weights alone
        _check_weights(values, weights, "values")
    rows = _rows_of_splits(splits, values)
    return _dense_counts(values.ravel(), rows, size, weights.ravel(), binary_output)


RaggedBincount.compiled(never="it looks at values")


def _sparse_rule(call: ShapeCall):
    sizes = call.value(2)
    if sizes is None:
        return [None]
    return [(*(int(d) for d in sizes[:-1]), shapes.size_value(call, 3))]


@op("SparseBincount",
    "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T -> output: T",
    types={"Tidx": INDEX, "T": WEIGHTS}, attrs={"binary_output": False},
    shape=_sparse_rule)  # fmt: skip
def SparseBincount(
    xp: ModuleType, indices: Array, values: Array, dense_shape: Array, size: Array, weights: Array,
    binary_output: bool,
):
    checked_size(size)
    sizes = _checked_places(indices, values, dense_shape)
    _check_weights(values, weights, "values")
    if len(sizes) == 1:
        return _dense_counts(values, [slice(None)], size, weights, binary_output)[0]
    rows = [indices[:, 0] == i for i in range(sizes[0])]
    return _dense_counts(values, rows, size, weights, binary_output)


SparseBincount.compiled(never="it looks at values")


def _checked_places(indices, values, dense_shape) -> tuple[int, ...]:
    if indices.ndim != 2 or values.ndim != 1 or len(indices) != len(values):
        raise invalid(
            f"Number of values must match first dimension of indices. Got {values.size} values, "
            f"indices shape: {shape_text(indices.shape)}"
        )
    sizes = dimensions(dense_shape, "dense_shape")
    if len(sizes) != indices.shape[1]:
        raise invalid(f"Index rank ({indices.shape[1]}) and shape rank ({len(sizes)}) do not match")
    if len(sizes) not in (1, 2):
        raise invalid(
            f"Input must be a 1 or 2-dimensional sparse tensor. Got dense_shape {list(sizes)} and indices of shape "
            f"{shape_text(indices.shape)}"
        )
    outside = ((indices < 0) | (indices >= np.array(sizes))).any(1)
    if outside.any():
        raise invalid(f"Index value at {int(outside.argmax())} is out of bounds")
    return sizes


def _sparse_counts(values: Any, rows, weights: Any, minlength: int, maxlength: int, binary_output: bool):
    """The counts of each row as the parts of a sparse tensor; `rows` is None for one row without a dimension."""
    if (values < 0).any():
        raise invalid("Input values must all be non-negative")
    places, counts = [], []
    for number, row in enumerate([slice(None)] if rows is None else rows):
        mine = values[row]
        kept = mine < maxlength if maxlength >= 0 else np.ones(len(mine), bool)
        found, at = np.unique(mine[kept], return_inverse=True)
        heavy = np.ones(len(mine), weights.dtype) if not weights.size else weights[row]
        sums = np.zeros(len(found), weights.dtype)
        fold_at(np.add, sums, at, heavy[kept])
        counts.append(np.ones_like(sums) if binary_output else sums)
        column = np.full(len(found), number, np.int64)
        places.append(np.stack([column, found.astype(np.int64)], 1)[:, 1 if rows is None else 0 :])
    width = maxlength if maxlength >= 0 else max(int(values.max(initial=0)) + 1, minlength)
    shape = [width] if rows is None else [len(rows), width]
    rank = len(shape)
    return (
        np.concatenate([np.zeros((0, rank), np.int64), *places]),
        np.concatenate([np.zeros(0, weights.dtype), *counts]),
        np.array(shape, np.int64),
    )


def _same_shape(weights: Any, values: Any):
    if weights.size and weights.shape != values.shape:
        raise invalid(
            f"Weights and data must have the same shape. Weight shape: {shape_text(weights.shape)}; data shape: "
            f"{shape_text(values.shape)}"
        )


def _dense_counts_rule(call: ShapeCall):
    values, weights = call.shape(0), call.shape(1)
    if shapes.element_count(weights):  # else there may be none
        values = shapes.merge(values, weights)
    return of_rank(None if values is None else len(values))


@op("DenseCountSparseOutput", f"values: T, weights: output_type -> {_PARTS}", types=_TYPES,
    attrs=COUNTED, shape=_dense_counts_rule)  # fmt: skip
def DenseCountSparseOutput(
    xp: ModuleType, values: Array, weights: Array, minlength: int, maxlength: int, binary_output: bool
):
    if values.ndim not in (1, 2):
        raise invalid(f"Input must be a 1 or 2-dimensional tensor. Got: {shape_text(values.shape)}")
    _same_shape(weights, values)
    width = values.shape[-1]
    rows = None
    if values.ndim == 2:
        rows = [slice(i * width, (i + 1) * width) for i in range(len(values))]
    return _sparse_counts(values.ravel(), rows, weights.ravel(), minlength, maxlength, binary_output)


DenseCountSparseOutput.compiled(never="how many elements it returns depends on values")


@op("SparseCountSparseOutput",
    f"indices: int64, values: T, dense_shape: int64, weights: output_type -> {_PARTS}",
    types=_TYPES, attrs=COUNTED,
    shape=lambda call: of_rank(elements_and_rank(call, 0)[1]))  # fmt: skip
def SparseCountSparseOutput(
    xp: ModuleType, indices: Array, values: Array, dense_shape: Array, weights: Array, minlength: int, maxlength: int,
    binary_output: bool,
):
    sizes = _checked_places(indices, values, dense_shape)
    _same_shape(weights, values)
    rows = None if len(sizes) == 1 else [indices[:, 0] == i for i in range(sizes[0])]
    return _sparse_counts(values, rows, weights, minlength, maxlength, binary_output)


SparseCountSparseOutput.compiled(never="how many elements it returns depends on values")


@op("RaggedCountSparseOutput",
    f"splits: int64, values: T, weights: output_type -> {_PARTS}",
    types=_TYPES, attrs=COUNTED, shape=lambda call: of_rank(2))  # fmt: skip
def RaggedCountSparseOutput(
    xp: ModuleType, splits: Array, values: Array, weights: Array, minlength: int, maxlength: int, binary_output: bool
):
    _same_shape(weights, values)
    rows = _rows_of_splits(splits, values)
    return _sparse_counts(values, rows, weights, minlength, maxlength, binary_output)


RaggedCountSparseOutput.compiled(never="how many elements it returns depends on values")


for row in (RaggedBincount, SparseBincount, DenseCountSparseOutput, SparseCountSparseOutput,
            RaggedCountSparseOutput):  # fmt: skip
    row.gradient(None)
_VALUES, _NONE = np.array([1, 1, 4], np.int32), np.zeros(0, np.float32)
_PLACES, _SHAPE = np.array([[0, 0], [0, 3], [2, 1]]), np.array([3, 4])


@RaggedBincount.samples
def _(rng: SampleGenerator):
    want = np.array([[0, 2, 0], [0, 0, 0]], np.float32)
    yield Sample(np.array([0, 2, 3]), _VALUES, 3, _NONE, expect=want)
    yield Sample(np.array([0, 2, 3]), _VALUES, 3, _NONE, True, expect=np.minimum(want, 1))
    yield Sample(np.array([0, 3]), _VALUES, 5, np.array([0.5, 1.0, 2.0]), differentiable=False,
                 expect=np.array([[0, 1.5, 0, 0, 2.0]]))  # fmt: skip
    for splits in ([1, 3], [0, 2], [0, 4], [0, 2, 1, 3]):
        yield Sample(np.array(splits), _VALUES, 3, _NONE, raises=InvalidArgumentError)
    yield Sample(np.array([0, 3]), -_VALUES, 3, _NONE, raises=InvalidArgumentError)
    yield Sample(np.array([0, 3]), _VALUES, -3, _NONE, raises=InvalidArgumentError)


@SparseBincount.samples
def _(rng: SampleGenerator):
    want = np.array([[0, 2, 0], [0, 0, 0], [0, 0, 0]], np.float32)
    yield Sample(_PLACES, _VALUES, _SHAPE, 3, _NONE, expect=want)
    yield Sample(_PLACES[:, 1:], _VALUES, _SHAPE[1:], 3, _NONE, expect=want[0])
    yield Sample(_PLACES + 9, _VALUES, _SHAPE, 3, _NONE, raises=InvalidArgumentError)
    yield Sample(_PLACES[:2], _VALUES, _SHAPE, 3, _NONE, raises=InvalidArgumentError)


def _some(*parts):
    return tuple(np.array(p) for p in parts)


@DenseCountSparseOutput.samples
def _(rng: SampleGenerator):
    none = np.zeros(0, np.int64)
    yield Sample(_VALUES, none, binary_output=False, expect=_some([[1], [4]], [2, 1], [5]))
    yield Sample(_VALUES, none, binary_output=True, maxlength=3, expect=_some([[1]], [1], [3]))
    yield Sample(_VALUES[None], none, binary_output=False, minlength=9,
                 expect=_some([[0, 1], [0, 4]], [2, 1], [1, 9]))  # fmt: skip
    yield Sample(-_VALUES, none, binary_output=False, raises=InvalidArgumentError)
    yield Sample(_VALUES[None, None], none, binary_output=False, raises=InvalidArgumentError)
    yield Sample(_VALUES, np.array([1]), binary_output=False, raises=InvalidArgumentError)


@SparseCountSparseOutput.samples
def _(rng: SampleGenerator):
    none = np.zeros(0, np.int64)
    yield Sample(_PLACES, _VALUES, _SHAPE, none, binary_output=False,
                 expect=_some([[0, 1], [2, 4]], [2, 1], [3, 5]))  # fmt: skip
    yield Sample(_PLACES + 9, _VALUES, _SHAPE, none, binary_output=False, raises=InvalidArgumentError)


@RaggedCountSparseOutput.samples
def _(rng: SampleGenerator):
    none = np.zeros(0, np.int64)
    yield Sample(np.array([0, 0, 3]), _VALUES, none, binary_output=False,
                 expect=_some([[1, 1], [1, 4]], [2, 1], [2, 5]))  # fmt: skip
    yield Sample(np.array([0, 2]), _VALUES, none, binary_output=False, raises=InvalidArgumentError)


def _check_arguments(axis, weights, binary_output):
    if axis not in (0, -1, None):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if binary_output and weights is not None:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one."
        )


@api("sparse.bincount")
@public
def sparse_bincount(
    values,
    weights=None,
    axis=0,
    minlength=None,
    maxlength=None,
    binary_output=False,
    name: str | None = None,
):
    """Count how often each of the integers 0, 1, ... occurs, as `tf.math.bincount`, in a sparse tensor.

    Args:
      values: a tensor, `tf.SparseTensor` or `tf.RaggedTensor` of integers that are not negative, of rank 1 or 2.
      weights: what each element counts, of the kind and shape of `values` (optional).
      axis: 0 or None counts all elements; -1 counts those of each row.
      minlength: the least size of the last dimension of the result.
      maxlength: the greatest size of that dimension; larger integers are left out.
      binary_output: whether to tell just if an integer occurs; excludes `weights`.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` of the counts: `[max + 1]`, or `[rows, max + 1]` where `axis` is -1.

    Raises:
      ValueError: for another axis, and for `binary_output` with `weights`.
      InvalidArgumentError: for negative integers.

    >>> counts = tf.sparse.bincount([[10, 3, 3], [20, 3, 10]], axis=-1)
    >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
    ([[0, 3], [0, 10], [1, 3], [1, 10], [1, 20]], [2, 1, 1, 1, 1])
    """
    _check_arguments(axis, weights, binary_output)
    sparse = isinstance(values, SparseTensor)
    values = values if sparse else as_ragged_or_tensor(values)
    ragged = isinstance(values, RaggedTensor)
    attrs = {
        "minlength": -1 if minlength is None else minlength,
        "maxlength": -1 if maxlength is None else maxlength,
        "binary_output": binary_output,
    }
    loose = values.values if sparse else values.flat_values if ragged else values
    if loose.dtype not in INDEX and loose.dtype.is_integer:
        loose = cast(loose, dtypes.int64)
    if sparse or ragged:
        heavy = weights_of(weights, values)
    else:
        heavy = None if weights is None else convert_to_tensor(weights)
    if heavy is None:
        heavy = zeros([0], loose.dtype)
    if axis in (0, None):
        flat = heavy if heavy.shape.num_elements() == 0 else reshape(heavy, [-1])
        return SparseTensor(*DenseCountSparseOutput(reshape(loose, [-1]), flat, **attrs))
    if sparse:
        out = SparseCountSparseOutput(values.indices, loose, values.dense_shape, heavy, **attrs)
    elif ragged:
        out = RaggedCountSparseOutput(cast(values.row_splits, dtypes.int64), loose, heavy, **attrs)
    else:
        out = DenseCountSparseOutput(loose, heavy, **attrs)
    return SparseTensor(*out)


def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype: DTypeLike = dtypes.int32,
    name: str | None = None, axis=None, binary_output: bool = False,
):
    """`tf.math.bincount` of a ragged or sparse tensor: a dense tensor."""
    _check_arguments(axis, weights, binary_output)
    sparse = isinstance(arr, SparseTensor)
    if not sparse and not isinstance(arr, RaggedTensor):
        convert_to_tensor(weights)  # which refuses composites
    loose = arr.values if sparse else arr.flat_values
    if loose.dtype not in INDEX:
        loose = cast(loose, dtypes.int32)
    heavy = weights_of(weights, arr)
    if heavy is None:
        heavy = zeros([0], dtype)
    size = _bins(loose, minlength, maxlength)
    if axis != -1:
        return DenseBincount(reshape(loose, [-1]), size, reshape(heavy, [-1]), binary_output)
    if sparse:
        return SparseBincount(arr.indices, loose, arr.dense_shape, size, heavy, binary_output)
    splits = cast(arr.row_splits, dtypes.int64)
    return RaggedBincount(splits, loose, size, heavy, binary_output)
