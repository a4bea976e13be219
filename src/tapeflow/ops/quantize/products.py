"""Layers on quantized images: integers that stand for floats of a range [min, max].

A level is `scale * (q - offset)`; the functions return the result, and the range that it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.convolution.sliding import sliding_rule, spatial, windows
from tapeflow.ops.convolution.taps import convolve
from tapeflow.ops.quantize.levels import integer_of, level_of, levels, numbers, quantized, scalar
from tapeflow.ops.signature import dtype, ints, one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_NARROW = (dtypes.quint8, dtypes.qint8)
_RANGE = "output: {}, min_output: float32, max_output: float32"
_PADDING = one_of("SAME", "VALID")


def _pool_rule(call: ShapeCall):
    shape = shapes.with_rank(call.shape(0), 4)
    sizes, steps = call.attr("ksize"), call.attr("strides")
    if len(sizes) != 4:
        raise invalid(f"ksize must specify 4 dimensions, got {list(sizes)}")
    out = sliding_rule(
        "NHWC", shape, list(sizes[1:3]), steps, [1, 1, 1, 1], call.attr("padding"), (), shape[3]
    )
    return [out, (), ()]


def _pooled(input, low, high, ksize, strides, padding, reduce):
    low, high = scalar(low, "min_input"), scalar(high, "max_input")
    if input.ndim != 4:
        raise invalid(f"input must be 4-dimensional, got shape {shape_text(input.shape)}")
    taps, steps = spatial(ksize, "NHWC", "ksize"), spatial(strides, "NHWC", "strides")
    if min(taps) < 1:
        raise invalid(f"ksize must be positive, got {shape_text(ksize)}")
    win = windows(input.shape[1:3], taps, steps, [1, 1], padding)
    x = numbers(input).astype(np.int64)
    inside = win.padded(np, np.ones(x.shape, bool), False)
    x = win.padded(np, x)
    parts = [(x[win.under(o)], inside[win.under(o)]) for o in win.offsets()]
    y = reduce(np.stack([p for p, _ in parts]), np.stack([m for _, m in parts]))
    return levels(y, input.dtype), np.float32(low), np.float32(high)


def _mean(x: np.ndarray, inside: np.ndarray):
    # Rounded towards zero.
    total, count = np.where(inside, x, 0).sum(0), inside.sum(0)
    return np.sign(total) * (np.abs(total) // count)


def _largest(x: np.ndarray, inside: np.ndarray):
    return np.where(inside, x, np.iinfo(np.int64).min).max(0)


def _pool_row(name: str, reduce: Callable[..., Any], quantizes: str):
    @op(
        name,
        "input: T, min_input: float32, max_input: float32 -> " + _RANGE.format("T"),
        types={"T": _NARROW},
        attrs={"ksize": ints, "strides": ints, "padding": _PADDING},
        ranks="input: 4, min_input: 0, max_input: 0",
        shape=_pool_rule,
        quantizes=(quantizes,),
    )
    def row(
        xp: ModuleType, input: Array, min_input: Array, max_input: Array, ksize: Sequence[int],
        strides: Sequence[int], padding: str,
    ):
        return _pooled(input, min_input, max_input, ksize, strides, padding, reduce)

    row.gradient(None)
    row.compiled(never="it computes in integers that stand for floats")
    return row


QuantizedAvgPool = _pool_row("QuantizedAvgPool", _mean, "AvgPool")
QuantizedMaxPool = _pool_row("QuantizedMaxPool", _largest, "MaxPool")


_GRID = np.arange(16).reshape(1, 4, 4, 1)
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}


@QuantizedAvgPool.samples
def _(rng):
    x, limits = quantized(_GRID), (np.float32(-1), np.float32(255))
    want = np.array([[2, 4], [10, 12]]).reshape(1, 2, 2, 1)
    yield Sample(x, *limits, **_POOL, expect=(want, *limits))
    yield Sample(x[0], *limits, **_POOL, raises=InvalidArgumentError)
    yield Sample(x, limits, limits[1], **_POOL, raises=InvalidArgumentError)


@QuantizedMaxPool.samples
def _(rng):
    x, limits = quantized(_GRID), (np.float32(-1), np.float32(255))
    want = np.array([[5, 7], [13, 15]]).reshape(1, 2, 2, 1)
    yield Sample(x, *limits, **_POOL, expect=(want, *limits))
    yield Sample(x[0], *limits, **_POOL, raises=InvalidArgumentError)


def _conv_rule(call: ShapeCall):
    x, w = shapes.with_rank(call.shape(0), 4), shapes.with_rank(call.shape(1), 4)
    shapes.same_dimension(x[3], w[2])
    attrs = call.attr("strides"), call.attr("dilations"), call.attr("padding")
    return [sliding_rule("NHWC", x, w[:2], *attrs, (), w[3]), (), ()]


@op(
    "QuantizedConv2D",
    "input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, "
    "max_filter: float32 -> " + _RANGE.format("out_type"),
    types={"Tinput": _NARROW, "Tfilter": _NARROW},
    attrs={
        "out_type": dtype(dtypes.qint32),
        "strides": ints,
        "padding": _PADDING,
        "dilations": ints([1, 1, 1, 1]),
    },
    ranks="input: 4, filter: 4, min_input: 0, max_input: 0, min_filter: 0, max_filter: 0",
    shape=_conv_rule,
    quantizes=("Conv2D",),
)
def QuantizedConv2D(
    xp: ModuleType, input: Any, filter: Any, min_input: Array, max_input: Array, min_filter: Array, max_filter: Array,
    out_type: DType, strides: Sequence[int], padding: str, dilations: Sequence[int],
):
    limits = {"min_input": min_input, "max_input": max_input, "min_filter": min_filter, "max_filter": max_filter}
    low, high, filter_low, filter_high = (scalar(v, name) for name, v in limits.items())
    if input.ndim != 4 or filter.ndim != 4:
        raise invalid(
            f"input and filter must be 4-dimensional, got shapes {shape_text(input.shape)} and "
            f"{shape_text(filter.shape)}"
        )
    if input.shape[3] != filter.shape[2]:
        raise invalid(
            f"input and filter must have the same depth: {input.shape[3]} vs {filter.shape[2]}"
        )
    if list(dilations) != [1, 1, 1, 1]:
        raise invalid(
            "Current implementation only supports dilated rate as 1 in the row and column dimensions."
        )
    if out_type != dtypes.qint32:
        raise invalid(f"out_type must be qint32, got {out_type.name}")
    x = numbers(input).astype(np.int64) - level_of(0.0, low, high, input.dtype)
    w = numbers(filter).astype(np.int64) - level_of(0.0, filter_low, filter_high, filter.dtype)
    y = convolve(np, x, w, 4, padding, strides, dilations, "NHWC")
    step = unit(low, high, input.dtype) * unit(filter_low, filter_high, filter.dtype)
    info = np.iinfo(np.int32)
    out = levels(np.clip(y, info.min, info.max), out_type.as_numpy_dtype)
    return out, np.float32(step * -(2**31)), np.float32(step * 2**31)


def unit(low: float, high: float, kind) -> np.float32:
    """How much one level is."""
    info = integer_of(kind)
    return np.float32((high - low) / (int(info.max) - int(info.min)))


QuantizedConv2D.gradient(None)
QuantizedConv2D.compiled(never="it computes in integers that stand for floats")


@QuantizedConv2D.samples
def _(rng):
    x, w = quantized(_GRID), quantized(np.arange(4).reshape(2, 2, 1, 1))
    limits = [np.float32(v) for v in (0, 255, -1, 255)]
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    want = [[14, 16, 18, 4], [22, 24, 26, 4], [30, 32, 34, 4], [-12, -13, -14, -15]]
    reach = np.float32(2155905280.0)
    out = np.array(want).reshape(1, 4, 4, 1)
    yield Sample(x, w, *limits, **attrs, expect=(out, -reach, reach))
    yield Sample(x, w, *limits, **attrs, dilations=[1, 2, 2, 1], raises=InvalidArgumentError)
    yield Sample(x[0], w, *limits, **attrs, raises=InvalidArgumentError)
    deep = quantized(np.zeros((2, 2, 3, 1)))
    yield Sample(x, deep, *limits, **attrs, raises=InvalidArgumentError)


def _clipped(features: Any, low: Any, high: Any, bottom: float, top: float | None, out_type: DType):
    low, high = scalar(low, "min_features"), scalar(high, "max_features")
    if out_type.as_numpy_dtype != features.dtype:
        raise invalid(f"out_type must be the dtype of the features, got {out_type.name}")
    info = integer_of(features.dtype)
    first = min(max(level_of(bottom, low, high, features.dtype), info.min), info.max)
    last = info.max if top is None else level_of(top, low, high, features.dtype)
    last = min(max(last, info.min), info.max)
    y = np.minimum(np.maximum(numbers(features).astype(np.int64), first), last)
    return levels(y, features.dtype), np.float32(low), np.float32(high)


def _relu_row(name: str, top: float | None, quantizes: str):
    @op(
        name,
        "features: Tinput, min_features: float32, max_features: float32 -> "
        "activations: out_type, min_activations: float32, max_activations: float32",
        types={"Tinput": _NARROW},
        attrs={"out_type": dtype(dtypes.quint8)},
        ranks="min_features: 0, max_features: 0",
        shape=lambda call: [call.shape(0), (), ()],
        quantizes=(quantizes,),
    )
    def row(xp: ModuleType, features: Array, min_features: Array, max_features: Array, out_type: DType):
        return _clipped(features, min_features, max_features, 0.0, top, out_type)

    row.gradient(None)
    row.compiled(never="it computes in integers that stand for floats")

    @row.samples
    def _(rng: SampleGenerator):
        x = quantized(np.arange(0, 256, 32))
        limits = (np.float32(-10), np.float32(10))
        kept = [128, 128, 128, 128, 128, 160, 192, 224 if top is None else 205]
        yield Sample(x, *limits, expect=(np.array(kept), *limits))
        yield Sample(x, limits, limits[1], raises=InvalidArgumentError)

    return row


QuantizedRelu = _relu_row("QuantizedRelu", None, "Relu")
QuantizedRelu6 = _relu_row("QuantizedRelu6", 6.0, "Relu6")


@op(
    "QuantizedReluX",
    "features: Tinput, max_value: float32, min_features: float32, max_features: float32 -> "
    "activations: out_type, min_activations: float32, max_activations: float32",
    types={"Tinput": _NARROW},
    attrs={"out_type": dtype(dtypes.quint8)},
    ranks="max_value: 0, min_features: 0, max_features: 0",
    shape=lambda call: [call.shape(0), (), ()],
)
def QuantizedReluX(
    xp: ModuleType, features: Array, max_value: Array, min_features: Array, max_features: Array,
    out_type: DType,
):
    top = scalar(max_value, "max_value")
    return _clipped(features, min_features, max_features, 0.0, top, out_type)


QuantizedReluX.gradient(None)
QuantizedReluX.compiled(never="it computes in integers that stand for floats")


@QuantizedReluX.samples
def _(rng):
    x, limits = quantized(np.arange(0, 256, 32)), (np.float32(-10), np.float32(10))
    want = np.array([128, 128, 128, 128, 128, 160, 192, 205])
    yield Sample(x, np.float32(6), *limits, expect=(want, *limits))
    yield Sample(x, np.float32([6]), *limits, raises=InvalidArgumentError)


@api(v1="nn.quantized_avg_pool")
@tensor_function
def quantized_avg_pool(
    input: TensorLike, min_input, max_input, ksize, strides, padding: str | Sequence[Any], name: str | None = None
):
    """(The averages of windows of a quantized image, its range's minimum and maximum)."""
    return QuantizedAvgPool(input, min_input, max_input, list(ksize), list(strides), padding)


@api(v1="nn.quantized_max_pool")
@tensor_function
def quantized_max_pool(
    input: TensorLike, min_input, max_input, ksize, strides, padding: str | Sequence[Any], name: str | None = None
):
    """(The largest elements of windows of a quantized image, its range's minimum and maximum)."""
    return QuantizedMaxPool(input, min_input, max_input, list(ksize), list(strides), padding)


@api(v1="nn.quantized_conv2d")
@tensor_function
def quantized_conv2d(
    input: TensorLike, filter: TensorLike, min_input, max_input, min_filter, max_filter, strides,
    padding: str | Sequence[Any], out_type: DTypeLike = dtypes.qint32, dilations=(1, 1, 1, 1),
    name: str | None = None,
):
    """(The convolution of a quantized image with a quantized filter as qint32, its range's minimum and maximum)."""
    return QuantizedConv2D(
        input, filter, min_input, max_input, min_filter, max_filter, dtypes.as_dtype(out_type), list(strides),
        padding, dilations,
    )  # fmt: skip


@api(v1="nn.quantized_relu_x")
@tensor_function
def quantized_relu_x(
    features: TensorLike, max_value, min_features, max_features, out_type: DTypeLike = dtypes.quint8,
    name: str | None = None,
):
    """(Quantized features clipped to [0, max_value], their range's minimum and maximum)."""
    return QuantizedReluX(features, max_value, min_features, max_features, dtypes.as_dtype(out_type))
