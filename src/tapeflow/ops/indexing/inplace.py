"""Rows of a tensor replaced or changed, and copies: ops that TensorFlow runs in place where it may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.signature import dtype, strings
from tapeflow.ops.signature import shape as shape_attr
from tapeflow.ops.table import ANY, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _rows(x: Any, i, v: Any):
    """Where the rows are. Those behind the end begin anew, as do negative ones."""
    if i.ndim != 1:
        raise invalid(f"i must be a vector. {shape_text(i.shape)}")
    if x.ndim != v.ndim:
        raise invalid(f"x and v shape doesn't match (ranks differ): {shape_text(x.shape)} vs. {shape_text(v.shape)}")
    for axis in range(1, x.ndim):
        if x.shape[axis] != v.shape[axis]:
            raise invalid(
                f"x and v shape doesn't match at index {axis} : {shape_text(x.shape)} vs. {shape_text(v.shape)}"
            )
    if not x.ndim or len(i) != v.shape[0]:
        raise invalid(f"i and x shape doesn't match at index 0: {shape_text(v.shape)} vs. {shape_text(i.shape)}")
    if len(i) and not len(x):
        raise invalid("x has no rows")
    return i % len(x) if len(x) else i


def _inplace(
    name: str, types, change: Callable[..., Any], compiled: Callable[..., Any],
    reference: Callable[..., Any],
):
    @op(name, "x: T, i: int32, v: T -> y: T", types={"T": types}, shape=shapes.same_as_first)
    def row(xp: ModuleType, x, i, v):
        rows = _rows(x, i, v)
        out = np.array(x)
        change(out, rows, v)
        return out

    row.gradient(None)
    row.compiled(lambda xp, x, i, v: compiled(x.at[_rows(x, i, v)], v))

    @row.samples
    def _(rng: SampleGenerator):
        x = rng.normal(3, 2)
        yield Sample(x, [0, 2], rng.normal(2, 2))
        yield Sample(x, [1, 1, -2], rng.normal(3, 2))
        yield Sample(x, [0], rng.normal(2), raises=InvalidArgumentError)
        yield Sample(x, [0], rng.normal(1, 3), raises=InvalidArgumentError)
        yield Sample(x, [0, 1], rng.normal(1, 2), raises=InvalidArgumentError)
        yield Sample(x, 0, rng.normal(1, 2), raises=InvalidArgumentError)

    @row.reference
    def _(x: np.ndarray, i: np.ndarray, v: np.ndarray):
        out = np.array(x)
        for at, new in zip(i, v, strict=True):
            out[at % len(x)] = reference(out[at % len(x)], new)
        return out

    return row


InplaceUpdate = _inplace("InplaceUpdate", ANY, lambda x, i, v: x.__setitem__(i, v), lambda at, v: at.set(v),
                         lambda old, new: new)  # fmt: skip
InplaceAdd = _inplace("InplaceAdd", NUMERIC, lambda x, i, v: fold_at(np.add, x, i, v), lambda at, v: at.add(v),
                      lambda old, new: old + new)  # fmt: skip
InplaceSub = _inplace("InplaceSub", NUMERIC, lambda x, i, v: fold_at(np.subtract, x, i, v),
                      lambda at, v: at.subtract(v), lambda old, new: old - new)  # fmt: skip


def _same_value(name: str, signature, types=ANY, **attrs):
    @op(name, signature, types={"T": types}, attrs=attrs, shape=shapes.same_as_first)
    def row(xp: ModuleType, x: Array, **unused):
        return x

    row.gradient(lambda call, dy: dy, needs="")
    row.samples(lambda rng: [Sample(rng.normal(2, 3)), Sample(np.array([1, 2]))])
    row.reference(lambda x, **unused: x)
    return row


DeepCopy = _same_value("DeepCopy", "x: T -> y: T")
Copy = _same_value("Copy", "input: T -> output: T", tensor_name="", debug_ops_spec=strings([]))
CopyHost = _same_value("CopyHost", "input: T -> output: T", tensor_name="", debug_ops_spec=strings([]))


@op("Empty", "shape: int32 -> output: dtype", attrs={"dtype": dtype, "init": False},
    shape=shapes.given(0), stateful=True)  # fmt: skip
def Empty(xp: ModuleType, shape: Array, dtype: DType, init: bool):
    """Zeros: what else stood there before is not to be seen."""
    sizes = dimensions(shape)
    if dtype == dtypes.string:
        return np.full(sizes, b"", object)
    if not dtype.is_numpy_compatible:
        raise invalid(f"Empty has no elements of {dtype.name}")
    return np.zeros(sizes, dtype.as_numpy_dtype)


Empty.gradient(None)


@Empty.samples
def _(rng: SampleGenerator):
    yield Sample([2, 3], dtypes.float32, init=True, expect=np.zeros((2, 3), np.float32))
    yield Sample([2], dtypes.string, init=True, expect=np.array([b"", b""], object))
    yield Sample([-1], dtypes.float32, raises=InvalidArgumentError)


def _concat_rule(call: ShapeCall):
    found = call.attr("shape")
    return [None if found is None else tuple(found)]


@op("ParallelConcat", "values: N>=1*T -> output: T", types={"T": ANY}, attrs={"shape": shape_attr}, shape=_concat_rule)
def ParallelConcat(xp: ModuleType, values: Sequence[Array], shape: Sequence[Any]):
    """Values of one row each, one below the other; where `shape` has more rows, the others are zeros."""
    if shape is None or None in tuple(shape) or not tuple(shape):
        raise invalid(f"All dimensions of shape must be known and at least one, got {shape}")
    sizes = tuple(shape)
    for value in values:
        if value.shape != (1, *sizes[1:]):
            raise invalid(f"value and update shape doesn't match: {shape_text(sizes)} vs. {shape_text(value.shape)}")
    if len(values) > sizes[0]:
        raise invalid(f"0th dimension of value = {sizes[0]} must be greater than loc_ = {sizes[0]}")
    more = sizes[0] - len(values)
    blank = np.full((more, *sizes[1:]), b"", object) if values[0].dtype == object else xp.zeros(
        (more, *sizes[1:]), values[0].dtype
    )
    return xp.concatenate([*values, blank]) if more else xp.concatenate(list(values))


ParallelConcat.gradient(None)


@ParallelConcat.samples
def _(rng: SampleGenerator):
    yield Sample([rng.normal(1, 3), rng.normal(1, 3)], shape=[2, 3])
    yield Sample([rng.normal(1, 3), rng.normal(2, 3)], shape=[3, 3], raises=InvalidArgumentError)
    yield Sample([rng.normal(3), rng.normal(3)], shape=[2, 3], raises=InvalidArgumentError)


ParallelConcat.reference(lambda values, shape: np.vstack(values))


def _untiled_rule(call: ShapeCall):
    shape, multiples = call.shape(0), shapes.vector_value(call, 1)
    if shape is None or multiples is None or len(shape) != len(multiples):
        return [None if shape is None else (None,) * len(shape)]
    return [tuple(None if n is None else n // max(m, 1) for n, m in zip(shape, multiples, strict=True))]


@op("TileGrad", "input: T, multiples: int32 -> output: T", types={"T": NUMERIC}, shape=_untiled_rule)
def TileGrad(xp: ModuleType, input: Array, multiples: Array):
    """The sum of the copies that `Tile` made."""
    if multiples.shape != (input.ndim,):
        raise invalid(f"Expected multiples to be 1-D of {input.ndim} elements, got {shape_text(multiples.shape)}")
    split: list[int] = []
    for size, times in zip(input.shape, multiples.tolist(), strict=True):
        if times <= 0 or size % times:
            raise invalid(f"Expected input_shape divisible by multiples, got {size} and {times}")
        split += [times, size // times]
    return input.reshape(split).sum(tuple(range(0, len(split), 2)), dtype=input.dtype)


TileGrad.gradient(None)
TileGrad.compiled(static="multiples")


@TileGrad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(6), [2])
    yield Sample(rng.normal(4, 6), [2, 3])
    yield Sample(rng.normal(4, 6), [3, 3], raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 6), [3], raises=InvalidArgumentError)
    yield Sample(rng.normal(6), [0], raises=InvalidArgumentError)


@TileGrad.reference
def _(input: np.ndarray, multiples: np.ndarray):
    out = np.zeros([n // m for n, m in zip(input.shape, multiples, strict=True)])
    for at in np.ndindex(*input.shape):
        out[tuple(i % n for i, n in zip(at, out.shape, strict=True))] += input[at]
    return out


@op("ToBool", "input: T -> output: bool", types={"T": ANY}, shape=shapes.scalar)
def ToBool(xp: ModuleType, input: Array):
    """Of a scalar: whether it is no zero and no empty string; else whether there are elements."""
    if input.ndim:
        return np.array(input.size > 0)
    if input.dtype.kind == "c":
        raise invalid(f"{input.dtype.name} cannot be converted to a boolean")
    return np.array(bool(input != 0) if input.dtype != object else bool(input[()]))


ToBool.gradient(None)
ToBool.compiled(never="it gives a value of Python")


@ToBool.samples
def _(rng: SampleGenerator):
    for value, truth in ((0.0, False), (2, True), ([], False), ([0.0], True), ("", False), ("a", True), (True, True)):
        yield Sample(np.array(value.encode(), object) if isinstance(value, str) else value, expect=np.array(truth))
    yield Sample(np.array(1j), raises=InvalidArgumentError)


_TYPES = tuple(t for t in REAL if t.name in ("uint8", "int8", "int16", "int32", "int64", "float32", "float64"))


@op("AdjustContrast",
    "images: T, contrast_factor: float32, min_value: float32, max_value: float32 -> output: float32",
    types={"T": _TYPES}, shape=lambda call: [shapes.at_least(call.shape(0), 3)])  # fmt: skip
def AdjustContrast(xp: ModuleType, images: Array, contrast_factor: Array, min_value: Array, max_value: Array):
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    if contrast_factor.ndim or min_value.ndim or max_value.ndim:
        raise invalid("contrast_factor, min_value and max_value must be scalars")
    wide = images.astype(np.float32)
    if 0 in images.shape:
        return wide
    mean = wide.mean((-3, -2), keepdims=True)
    return xp.clip(mean + (wide - mean) * contrast_factor, min_value, max_value)


AdjustContrast.gradient(None)


@AdjustContrast.samples
def _(rng):
    limits = np.float32(-1.0), np.float32(1.5)
    yield Sample(rng.normal(2, 3, 2).astype(np.float32), np.float32(2.0), *limits)
    yield Sample(rng.normal(3, 2), np.float32(2.0), *limits, raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 3, 2), np.float32([2.0]), *limits, raises=InvalidArgumentError)


@AdjustContrast.reference
def _(images: np.ndarray, contrast_factor: np.ndarray, min_value: np.ndarray, max_value: np.ndarray):
    out = np.zeros(images.shape, np.float32)
    for c in range(images.shape[-1]):
        mean = images[..., c].sum() / images[..., c].size
        out[..., c] = np.maximum(np.minimum((images[..., c] - mean) * contrast_factor + mean, max_value), min_value)
    return out
