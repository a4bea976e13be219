"""Pooling that shrinks images by ratios like 1.4, through regions of random sizes (Graham, 2014)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.math.casting import cast
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import reserve
from tapeflow.ops.signature import floats
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import InvalidArgumentError, dimensions, invalid, known, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_MASK = (1 << 64) - 1
_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_ATTRS = {
    "pooling_ratio": floats,
    "pseudo_random": False,
    "overlapping": False,
    "deterministic": False,
    "seed": 0,
    "seed2": 0,
}


def _ratios(call) -> list[float]:
    ratios = [float(r) for r in call]
    if len(ratios) != 4:
        raise invalid(f"pooling_ratio field must specify 4 dimensions, got {ratios}")
    for r in ratios:
        if not r >= 1 or math.isinf(r):
            raise invalid(f"pooling_ratio cannot be smaller than 1, got: {ratios}")
    if ratios[0] != 1 or ratios[3] != 1:
        raise UnimplementedError(
            None, None, f"Fractional pooling is not yet supported on the batch nor channel dimension, got {ratios}"
        )
    return ratios


def _shrunk(shape: Sequence[Any], ratios) -> list:
    return [
        None if d is None else int(np.float32(d) / np.float32(r))
        for d, r in zip(shape, ratios, strict=True)
    ]


def _rule(call: ShapeCall):
    shape = shapes.with_rank(call.shape(0), 4)
    ratios = _ratios(call.attr("pooling_ratio"))
    out = _shrunk(shape, ratios)
    edges = [(None if out[i] is None else out[i] + 1,) for i in (1, 2)]
    return [tuple(out), *edges]


def _edges(size: int, parts: int, pseudo_random: bool, g: philox.Philox) -> np.ndarray:
    """The places at which `size` cells are cut into `parts`, from 0 to `size`."""
    if pseudo_random:
        alpha, least = size / parts, size // parts
        limit = min((least + 2) / alpha - 1, (size + 1 - least) / alpha - (parts - 1))
        u = philox.Words(g).unit_double() * limit
        cuts = [1, *(math.ceil(alpha * (i + u)) for i in range(1, parts)), size + 1]
        lengths = np.diff(cuts).tolist()
    else:
        more = size % parts
        lengths = [size // parts + (i < more) for i in range(parts)]
        lengths = [lengths[i] for i in philox.permutation(g, parts)]
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _regions(edges: np.ndarray, overlapping: bool) -> list[slice]:
    """What each output covers; overlapping regions share the cell at the cut."""
    end = int(edges[-1])
    return [
        slice(a, min(b + overlapping, end))
        for a, b in itertools.pairwise(edges.tolist())
    ]


def _cells(value: np.ndarray, rows: Any, columns: Any, overlapping: bool):
    """(row of the output, column, its region of `value`) of each output."""
    for i, r in enumerate(_regions(rows, overlapping)):
        for j, c in enumerate(_regions(columns, overlapping)):
            yield i, j, value[:, r, c]


def _pooled(
    name: str, reduce, value, pooling_ratio, pseudo_random, overlapping: bool, deterministic, seed: int, seed2: int
):
    ratios = _ratios(pooling_ratio)
    if value.ndim != 4:
        raise invalid(f"value must be 4-dimensional, got shape {shape_text(value.shape)}")
    if not deterministic and (seed or seed2):
        raise invalid(
            f"Both seed and seed2 should be 0 if deterministic is false, got {seed} and {seed2}"
        )
    out = _shrunk(value.shape, ratios)
    for axis, (whole, ratio) in enumerate(zip(value.shape, ratios, strict=True)):
        if whole and not int(whole / ratio):
            raise invalid(
                f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: {whole} "
                f"pooling ratio: {ratio}"
            )
    if 0 in value.shape or 0 in out:
        raise invalid(f"Fractional pooling of shape {shape_text(value.shape)} by {ratios} leaves nothing")
    if deterministic and (seed or seed2):
        g = philox.Philox(seed & _MASK, 0, seed2 & _MASK)
    else:
        g = reserve(name, None, None, 0, 0, 2 * (out[1] + out[2]))
    rows = _edges(value.shape[1], out[1], pseudo_random, g)
    # Each dimension's numbers start at a block of their own.
    used = 1 if pseudo_random else -(-out[1] // 4)
    columns = _edges(value.shape[2], out[2], pseudo_random, g.skip(used))
    return reduce(value, rows, columns, overlapping).astype(value.dtype), rows, columns


def _folded(ufunc: np.ufunc, value: np.ndarray, edges: np.ndarray, overlapping: bool, axis: int):
    """What `ufunc` makes of the cells between every two edges; regions are few cells long."""
    starts, ends = edges[:-1], np.minimum(edges[1:] + overlapping, edges[-1])
    out = value.take(starts, axis)
    for k in range(1, int((ends - starts).max())):
        longer = np.flatnonzero(starts + k < ends)
        at: Any = (*(slice(None),) * axis, longer)
        out[at] = ufunc(out[at], value.take(starts[longer] + k, axis))
    return out


def _largest(value: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool):
    return _folded(np.maximum, _folded(np.maximum, value, rows, overlapping, 1), columns, overlapping, 2)


def _average(value: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool):
    integers = value.dtype.kind in "iu"
    wide = value.astype(np.int64) if integers else value
    total = _folded(np.add, _folded(np.add, wide, rows, overlapping, 1), columns, overlapping, 2)
    counts = [np.minimum(edges[1:] + overlapping, edges[-1]) - edges[:-1] for edges in (rows, columns)]
    count = np.multiply.outer(*counts)[:, :, None]
    return total // count if integers else total / count


def _row(name: str, reduce: Callable[..., Any]):
    @op(
        name,
        "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
        types={"T": _TYPES},
        attrs=_ATTRS,
        shape=_rule,
    )
    def row(xp: ModuleType, value: Array, **attrs):
        return _pooled(name, reduce, value, **attrs)

    row.compiled(never="it draws the regions one after the other")

    @row.samples
    def _(rng):
        sure = {"pooling_ratio": [1.0, 2.0, 3.0, 1.0]}  # divides: nothing is random
        yield Sample(rng.normal(2, 4, 6, 3), **sure)
        yield Sample(rng.normal(1, 4, 6, 2), **sure, overlapping=True)
        yield Sample(rng.normal(1, 4, 7, 1), pooling_ratio=[1.0, 1.9, 1.0, 1.0])
        for bad in ([1.0, 2.0, 3.0], [1.0, 0.5, 2.0, 1.0], [1.0, 5.0, 2.0, 1.0]):
            yield Sample(rng.normal(2, 4, 6, 3), pooling_ratio=bad, raises=InvalidArgumentError)
        yield Sample(rng.normal(2, 4, 6, 3), pooling_ratio=[2.0, 2.0, 2.0, 1.0], raises=UnimplementedError)
        yield Sample(rng.normal(2, 4, 6), **sure, raises=InvalidArgumentError)
        yield Sample(rng.normal(2, 4, 6, 3), **sure, seed=3, raises=InvalidArgumentError)

    @row.reference
    def _(value: np.ndarray, pooling_ratio: Sequence[float], overlapping: bool, **_):
        out = [int(d / r) for d, r in zip(value.shape, pooling_ratio, strict=True)]
        cuts = [[k * d // n for k in range(n + 1)] for d, n in zip(value.shape, out, strict=True)]
        extra = int(overlapping)
        y = np.zeros(out)
        for b, i, j, c in np.ndindex(*out):
            r0, r1 = cuts[1][i], cuts[1][i + 1] + extra
            c0, c1 = cuts[2][j], cuts[2][j + 1] + extra
            region = value[b, r0:r1, c0:c1, c]
            y[b, i, j, c] = region.max() if "Max" in name else region.mean()
        return y, np.array(cuts[1]), np.array(cuts[2])

    return row


FractionalMaxPool = _row("FractionalMaxPool", _largest)
FractionalAvgPool = _row("FractionalAvgPool", _average)


def _sequence(edges: np.ndarray, size: int, count: int, name: str) -> None:
    if not known(edges):
        return
    if edges.ndim != 1 or len(edges) != count + 1:
        raise invalid(f"{name} must be a vector of {count + 1}, got shape {shape_text(edges.shape)}")
    if edges[0] != 0 or edges[-1] != size or (np.diff(edges) < 1).any():
        raise invalid(f"{name} must rise from 0 to {size}, got {shape_text(edges)}")


def _checked_gradient(shape: Sequence[Any], dy: Any, rows: Any, columns: Any) -> None:
    if len(shape) != 4 or dy.ndim != 4:
        raise invalid(
            f"original input and out_backprop must be 4-dimensional, got {shape_text(shape)} and "
            f"{shape_text(dy.shape)}"
        )
    if shape[0] != dy.shape[0] or shape[3] != dy.shape[3]:
        raise invalid(
            f"out_backprop of shape {shape_text(dy.shape)} does not fit an input of shape {shape_text(shape)}"
        )
    _sequence(rows, shape[1], dy.shape[1], "row_pooling_sequence")
    _sequence(columns, shape[2], dy.shape[2], "col_pooling_sequence")


def _max_places(x: Any, rows: Any, columns: Any, overlapping: bool) -> np.ndarray:
    """Where in the flattened `x` the first largest element of each region stands: [batch, rows, columns, depth]."""
    batch, _, width, depth = x.shape
    out = np.empty((batch, len(rows) - 1, len(columns) - 1, depth), np.int64)
    for i, j, region in _cells(x, rows, columns, overlapping):
        flat = region.reshape(batch, -1, depth).argmax(1)
        r, c = np.divmod(flat, region.shape[2])
        out[:, i, j] = (r + rows[i]) * width + c + columns[j]
    cells = x.shape[1] * width
    return (out + np.arange(batch)[:, None, None, None] * cells) * depth + np.arange(depth)


@op(
    "FractionalMaxPoolGrad",
    "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 "
    "-> output: T",
    types={"T": _TYPES},
    attrs={"overlapping": False},
    shape=shapes.same_as(0, rank=4),
)
def FractionalMaxPoolGrad(
    xp: ModuleType, orig_input: Array, orig_output: Array, out_backprop: Array, row_pooling_sequence: Array,
    col_pooling_sequence: Array, overlapping: bool,
):
    rows, columns = row_pooling_sequence, col_pooling_sequence
    _checked_gradient(orig_input.shape, out_backprop, rows, columns)
    if orig_output.shape != out_backprop.shape:
        raise invalid(
            f"orig_output has shape {shape_text(orig_output.shape)}, out_backprop {shape_text(out_backprop.shape)}"
        )
    at = _max_places(orig_input, rows, columns, overlapping)
    out = np.zeros(orig_input.size, out_backprop.dtype)
    fold_at(np.add, out, at.reshape(-1), out_backprop.reshape(-1))
    return out.reshape(orig_input.shape)


FractionalMaxPoolGrad.compiled(never="its regions are only known when it runs")


_ROWS, _COLUMNS = np.array([0, 1, 3, 4]), np.array([0, 2, 5])


def _pool_of(x: np.ndarray, overlapping: bool):
    out = np.empty((x.shape[0], 3, 2, x.shape[3]))
    for i, j, region in _cells(x, _ROWS, _COLUMNS, overlapping):
        out[:, i, j] = region.max((1, 2))
    return out


@FractionalMaxPoolGrad.samples
def _(rng: SampleGenerator):
    x = rng.normal(2, 4, 5, 2)
    for overlapping in (False, True):
        y, dy = _pool_of(x, overlapping), rng.normal(2, 3, 2, 2)
        yield Sample(x, y, dy, _ROWS, _COLUMNS, overlapping=overlapping)
    for rows, columns in ((_ROWS[:3], _COLUMNS), (_ROWS, _COLUMNS - 1), (_ROWS, _COLUMNS + 9)):
        yield Sample(x, y, dy, rows, columns, raises=InvalidArgumentError)
    yield Sample(x, y, dy[0], _ROWS, _COLUMNS, raises=InvalidArgumentError)
    yield Sample(x[:1], y, dy, _ROWS, _COLUMNS, raises=InvalidArgumentError)


@FractionalMaxPoolGrad.reference
def _(x: np.ndarray, y: np.ndarray, dy: np.ndarray, rows, columns, overlapping: bool):
    out = np.zeros(x.shape)
    for b, i, j, c in np.ndindex(*dy.shape):
        r1 = min(rows[i + 1] + overlapping, x.shape[1])
        c1 = min(columns[j + 1] + overlapping, x.shape[2])
        cells = [(r, k) for r in range(rows[i], r1) for k in range(columns[j], c1)]
        r, k = max(cells, key=lambda at: x[b, at[0], at[1], c])
        out[b, r, k, c] += dy[b, i, j, c]
    return out


@op(
    "FractionalAvgPoolGrad",
    "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 "
    "-> output: T",
    types={"T": _TYPES},
    attrs={"overlapping": False},
    shape=shapes.given(0, rank=4),
)
def FractionalAvgPoolGrad(
    xp: ModuleType, orig_input_tensor_shape: Array, out_backprop: Array, row_pooling_sequence: Array,
    col_pooling_sequence: Array, overlapping: bool,
):
    shape = dimensions(orig_input_tensor_shape, "orig_input_tensor_shape")
    rows, columns = row_pooling_sequence, col_pooling_sequence
    _checked_gradient(shape, out_backprop, rows, columns)
    out = np.zeros(shape, out_backprop.dtype)
    for i, j, region in _cells(out, rows, columns, overlapping):
        share = out_backprop[:, i, j] / (region.shape[1] * region.shape[2])
        region += share[:, None, None].astype(out.dtype)
    return out


FractionalAvgPoolGrad.compiled(never="its regions are only known when it runs")


@FractionalAvgPoolGrad.samples
def _(rng: SampleGenerator):
    shape, dy = np.array([2, 4, 5, 2]), rng.normal(2, 3, 2, 2)
    for overlapping in (False, True):
        yield Sample(shape, dy, _ROWS, _COLUMNS, overlapping=overlapping)
    yield Sample(shape, dy, _ROWS[:3], _COLUMNS, raises=InvalidArgumentError)
    yield Sample(shape, dy, _ROWS, _COLUMNS[:2], raises=InvalidArgumentError)
    yield Sample(shape[:3], dy, _ROWS, _COLUMNS, raises=InvalidArgumentError)
    yield Sample(shape, dy[0], _ROWS, _COLUMNS, raises=InvalidArgumentError)


@FractionalAvgPoolGrad.reference
def _(shape: Sequence[Any], dy: np.ndarray, rows, columns, overlapping: bool):
    out = np.zeros(shape)
    for b, i, j, c in np.ndindex(*dy.shape):
        r1 = min(rows[i + 1] + overlapping, shape[1])
        c1 = min(columns[j + 1] + overlapping, shape[2])
        area = (r1 - rows[i]) * (c1 - columns[j])
        for r in range(rows[i], r1):
            for k in range(columns[j], c1):
                out[b, r, k, c] += dy[b, i, j, c] / area
    return out


@FractionalMaxPool.gradient(needs="value, output, row_pooling_sequence, col_pooling_sequence")
def _(call: GradientCall, dy: Tensor, _rows, _columns):
    edges = call.row_pooling_sequence, call.col_pooling_sequence
    return FractionalMaxPoolGrad(call.value, call.output, dy, *edges, call.overlapping)


@FractionalAvgPool.gradient(needs="row_pooling_sequence, col_pooling_sequence")
def _(call: GradientCall, dy: Tensor, _rows, _columns):
    edges = call.row_pooling_sequence, call.col_pooling_sequence
    shape = cast(call.shape("value"), dtypes.int64)
    return FractionalAvgPoolGrad(shape, dy, *edges, call.overlapping)
