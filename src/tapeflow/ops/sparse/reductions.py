"""Rows that reduce sparse tensors along axes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.layout import Reshape, reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update
from tapeflow.ops.math import division
from tapeflow.ops.sparse.merging import bad_parts
from tapeflow.ops.sparse.parts import checked, ordered_runs, places
from tapeflow.ops.sparse.rows import INDICES, RESULT, SHAPE, values_of
from tapeflow.ops.table import NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _kept(indices, sizes, axes):
    """(dense shape with ones, indices with zeros at the reduced axes, which axes are not reduced)."""
    rank = len(sizes)
    for axis in np.ravel(axes).tolist():
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
    gone = {axis % rank for axis in np.ravel(axes).tolist()} if rank else set()
    at = indices.copy()
    at[:, sorted(gone)] = 0
    return [1 if k in gone else n for k, n in enumerate(sizes)], at, [k for k in range(rank) if k not in gone]


def _reduced(values, indices, sizes, axes, keep, ufunc, start):
    """(indices, values, dense shape) of a sparse reduction; with `keep` the reduced axes stay, with size 1."""
    shape, at, rest = _kept(indices, sizes, axes)
    by, firsts, runs = ordered_runs(at)
    out = np.full(len(firsts), start, values.dtype)
    fold_at(ufunc, out, runs, values[by])
    columns = list(range(len(sizes))) if keep else rest
    return at[by[firsts]][:, columns], out, [shape[k] for k in columns]


def _dense_reduced(values, indices, sizes, axes, keep, ufunc, start):
    """The array that a reduction makes; elements of which no value is there are 0."""
    shape, at, rest = _kept(indices, sizes, axes)
    out = np.zeros(math.prod(shape), values.dtype)
    if len(values):
        cells = places(at, shape)
        out[cells] = start
        fold_at(ufunc, out, cells, values)
    return out.reshape(shape if keep else [shape[k] for k in rest])


def _start(ufunc, dtype: DType):
    if ufunc is np.add:
        return 0
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _reduction_rule(call: ShapeCall):
    sizes, axes = call.value(2), call.value(3)
    if sizes is None or axes is None:
        return [None]
    gone = {shapes.normal_axis(int(a), len(sizes)) for a in axes.ravel()}
    keep = call.attr("keep_dims")
    return [tuple(1 if i in gone else int(n) for i, n in enumerate(sizes) if keep or i not in gone)]


def _reducing(name: str, ufunc: Callable[..., Any], types):
    def dense(xp: ModuleType, input_indices, input_values, input_shape: ShapeLike, reduction_axes, keep_dims: bool):
        sizes = checked(input_indices, input_values, input_shape)
        return _dense_reduced(input_values, input_indices, sizes, reduction_axes, keep_dims, ufunc,
                              _start(ufunc, input_values.dtype))  # fmt: skip

    def sparse(xp: ModuleType, input_indices, input_values, input_shape: ShapeLike, reduction_axes, keep_dims: bool):
        sizes = checked(input_indices, input_values, input_shape)
        indices, values, shape = _reduced(input_values, input_indices, sizes, reduction_axes, keep_dims,
                                          ufunc, _start(ufunc, input_values.dtype))  # fmt: skip
        return indices, values, np.array(shape, np.int64)

    parts = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
    rows = (
        op(name, f"{parts} -> output: T", types={"T": types}, attrs={"keep_dims": False},
           shape=_reduction_rule)(dense),
        op(f"{name}Sparse", f"{parts} -> {RESULT}", types={"T": types}, attrs={"keep_dims": False},
           shape=shapes.fixed((None, None), (None,), (None,)))(sparse),
    )  # fmt: skip

    @rows[0].compiled()
    def _(xp: ModuleType, input_indices, input_values, input_shape: np.ndarray, reduction_axes, keep_dims: bool):
        sizes = [int(n) for n in input_shape]
        gone = {shapes.normal_axis(int(axis), len(sizes)) for axis in np.ravel(reduction_axes)}
        at = tuple(input_indices[:, k] * (k not in gone) for k in range(len(sizes)))
        blank = xp.zeros([1 if k in gone else n for k, n in enumerate(sizes)], input_values.dtype)
        if ufunc is np.add:
            found = blank.at[at].add(input_values)
        else:
            found = (blank + _start(ufunc, input_values.dtype)).at[at].max(input_values)
            found = xp.where(blank.at[at].set(1) == 1, found, blank)
        return found if keep_dims else found.reshape([n for k, n in enumerate(sizes) if k not in gone])

    rows[1].compiled(never="how many elements it returns depends on values")

    def samples(rng: SampleGenerator):
        values = values_of(rng)
        for axes in (0, 1, [0, 1], [-1], []):
            for keep in (False, True):
                yield Sample(INDICES, values, SHAPE, np.array(axes, np.int32), keep_dims=keep)
        yield Sample(INDICES, values, SHAPE, np.array(2, np.int32), raises=InvalidArgumentError)
        yield from bad_parts(np.array(0, np.int32))

    def reference(indices, values, shape: Sequence[Any], axes, keep_dims: bool):
        axes = tuple(np.ravel(axes).tolist())
        dense = np.full(tuple(shape), np.nan)
        dense[tuple(indices.T)] = values
        any_ = (~np.isnan(dense)).any(axis=axes, keepdims=keep_dims)
        reduce = np.nansum if ufunc is np.add else np.nanmax
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows without elements
            return np.where(any_, reduce(dense, axis=axes, keepdims=keep_dims), 0), any_

    def sparse_reference(*args, **attrs):
        out, any_ = reference(*args, **attrs)
        at = np.argwhere(any_)
        return at, out[tuple(at.T)].ravel(), np.array(out.shape, np.int64)

    for row in rows:
        row.samples(samples)
    rows[0].reference(lambda *args, **attrs: reference(*args, **attrs)[0])
    rows[1].reference(sparse_reference)
    return rows


SparseReduceSum, SparseReduceSumSparse = _reducing("SparseReduceSum", np.add, NUMERIC)


SparseReduceMax, SparseReduceMaxSparse = _reducing("SparseReduceMax", np.maximum, REAL)


@SparseReduceSum.gradient(needs="input_indices, input_shape, reduction_axes")
def _(call: GradientCall, dy: Tensor):
    rank = call.shape("input_shape")[0]
    axes = division.floormod(reshape(call.reduction_axes, [-1]) + rank, rank)
    length = Shape(axes)
    kept = tensor_scatter_nd_update(call.input_shape, axes[:, None], ones(length, dtypes.int64))
    at = division.floormod(call.input_indices, kept)
    return None, gather_nd(Reshape(dy, kept), at), None, None


for _row in (SparseReduceSumSparse, SparseReduceMaxSparse):
    _row.gradient(None)
