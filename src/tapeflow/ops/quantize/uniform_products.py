"""Convolutions and products with uniformly quantized weights, of such numbers or of floats.

Floats become integers, row by row.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.quantize.levels import numbers, quantized
from tapeflow.ops.quantize.uniform import (
    THREE,
    attrs_of,
    dot_rule,
    limits_of,
    ranges,
    requantized,
    row,
    spread,
)
from tapeflow.ops.signature import dtype, ints, one_of
from tapeflow.ops.table import Sample
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_RIGHT = "rhs_scales: float32, rhs_zero_points: int32"
_LEAST, _GREATEST = -128, 127  # of the integers that floats become


class _Layout(NamedTuple):
    """The axes of the batch, the features and the places; of kernels: of the outputs and inputs, and the places."""

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    output: tuple[int, ...]


def _layout(text: Any, rank: int) -> _Layout:
    if not text:
        return _Layout(*[tuple(range(rank))] * 3)
    try:
        given = protos.UniformQuantizedConvolutionDimensionNumbersAttr.FromString(
            text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        )
    except DecodeError:
        raise invalid("Error parsing convolution dimension numbers.") from None
    found = _Layout(
        (given.input_batch_dimension, given.input_feature_dimension, *given.input_spatial_dimensions),
        (given.kernel_output_feature_dimension, given.kernel_input_feature_dimension, *given.kernel_spatial_dimensions),
        (given.output_batch_dimension, given.output_feature_dimension, *given.output_spatial_dimensions),
    )
    if any(sorted(axes) != list(range(rank)) for axes in found):
        raise invalid(f"dimension_numbers must name each of {rank} dimensions once, got {tuple(found)}")
    return found


class _Window(NamedTuple):
    """How a convolution moves: a number for each place, and what is added before and after."""

    strides: list[int]
    spread: list[int]
    holes: list[int]
    pads: list[tuple[int, int]]
    sizes: list[int]


def _window(attrs: dict[str, Any], sizes: Any, kernel: Any) -> _Window:
    """The window for the sizes of the places of lhs and rhs."""
    count = len(sizes)
    steps = []
    for name in ("window_strides", "lhs_dilation", "rhs_dilation"):
        given = list(attrs[name]) or [1] * count
        if len(given) != count or min(given, default=1) < 1:
            raise invalid(f"{name} must be {count} positive numbers, got {given}")
        steps.append(given)
    strides, spread_by, holes = steps
    wide = [n and n + (by - 1) * (n - 1) for n, by in zip(sizes, spread_by, strict=True)]
    reach = [k and k + (hole - 1) * (k - 1) for k, hole in zip(kernel, holes, strict=True)]
    listed = list(attrs["explicit_padding"])
    if attrs["padding"] == "EXPLICIT":
        if len(listed) != 2 * count:
            raise invalid(f"explicit_padding must have {2 * count} numbers, got {listed}")
        pads = list(zip(listed[::2], listed[1::2], strict=True))
    elif listed:
        raise invalid(f"explicit_padding must be empty for padding {attrs['padding']}")
    elif attrs["padding"] == "VALID":
        pads = [(0, 0)] * count
    else:
        totals = [
            max((math.ceil(n / s) - 1) * s + k - n, 0) for n, k, s in zip(wide, reach, strides, strict=True)
        ]
        pads = [(total // 2, total - total // 2) for total in totals]
    made = [
        max(0, (n + sum(pad) - k) // s + 1) for n, k, pad, s in zip(wide, reach, pads, strides, strict=True)
    ]
    return _Window(strides, spread_by, holes, pads, made)


def _groups(attrs: dict[str, Any], lhs: Any, rhs: Any) -> tuple[int, int]:
    """How many groups of features and of batches there are, for shapes with the batch or outputs first."""
    features, batches = attrs["feature_group_count"], attrs["batch_group_count"]
    if features < 1 or batches < 1 or (features > 1 and batches > 1):
        raise invalid(f"feature_group_count {features} and batch_group_count {batches} must be positive, and one is 1")
    if lhs[1] != rhs[1] * features or rhs[0] % features or rhs[0] % batches or lhs[0] % batches:
        raise invalid(
            f"lhs {shape_text(lhs)} and rhs {shape_text(rhs)} do not fit {features} groups of features and {batches} "
            "of batches"
        )
    return features, batches


def _convolved(x: Any, kernel: Any, window: _Window, features: int, batches: int) -> np.ndarray:
    """The sums of products of integers; places last."""
    wide = [n and n + (by - 1) * (n - 1) for n, by in zip(x.shape[2:], window.spread, strict=True)]
    whole = [n + max(a, 0) + max(b, 0) for n, (a, b) in zip(wide, window.pads, strict=True)]
    padded: Any = np.zeros((*x.shape[:2], *whole), np.int64)
    inner = [slice(max(a, 0), max(a, 0) + n, by)
             for n, (a, _), by in zip(wide, window.pads, window.spread, strict=True)]  # fmt: skip
    padded[(..., *inner)] = x
    cut = [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(whole, window.pads, strict=True)]
    padded = padded[(..., *cut)]
    outputs, per_group = kernel.shape[0], features * batches
    parts: Any = np.split(padded, features, 1) if features > 1 else np.split(padded, batches, 0)
    found: Any = np.zeros((x.shape[0] // batches, outputs, *window.sizes), np.int64)
    for group, part in enumerate(parts):
        rows = slice(group * outputs // per_group, (group + 1) * outputs // per_group)
        for place in np.ndindex(*kernel.shape[2:]):
            at = [slice(p * hole, p * hole + (n - 1) * step + 1, step) for p, hole, step, n in
                  zip(place, window.holes, window.strides, window.sizes, strict=True)]  # fmt: skip
            if all(window.sizes):
                found[:, rows] += np.einsum("bi...,oi->bo...", part[(..., *at)], kernel[(rows, slice(None), *place)])
    return found


def _convolution_rule(call):
    lhs, rhs = call.shape(0), call.shape(1)
    if lhs is None or rhs is None or len(lhs) != len(rhs) or len(lhs) < 3:
        return [None]
    if None in lhs or None in rhs:
        return [(None,) * len(lhs)]
    attrs = {name: call.attr(name) for name in (*_WINDOW, "padding")}
    axes = _layout(attrs["dimension_numbers"], len(lhs))
    x, kernel = [lhs[i] for i in axes.lhs], [rhs[i] for i in axes.rhs]
    _, batches = _groups(attrs, x, kernel)
    made = [x[0] // batches, kernel[0], *_window(attrs, x[2:], kernel[2:]).sizes]
    return [tuple(made[axes.output.index(i)] for i in range(len(made)))]


_WINDOW: dict[str, Any] = {
    "window_strides": [], "explicit_padding": [], "lhs_dilation": [], "rhs_dilation": [], "batch_group_count": 1,
    "feature_group_count": 1, "dimension_numbers": "",
}  # fmt: skip
_ATTRS: dict[str, Any] = {
    **{name: ints([]) if value == [] else value for name, value in _WINDOW.items()},
    "padding": one_of("EXPLICIT", "SAME", "VALID"),
}


def _multiplied(lhs: Any, rhs: Any, attrs: dict[str, Any]) -> tuple[_Layout, Any]:
    """The layout of a convolution, and a function that convolves integers without zero points."""
    if lhs.ndim != rhs.ndim or lhs.ndim < 3:
        raise invalid(f"lhs and rhs must have one rank, of at least 3: {shape_text(lhs.shape)} {shape_text(rhs.shape)}")
    axes = _layout(attrs["dimension_numbers"], lhs.ndim)
    sizes, kernel = [lhs.shape[i] for i in axes.lhs], [rhs.shape[i] for i in axes.rhs]
    groups = _groups(attrs, sizes, kernel)
    window = _window(attrs, sizes[2:], kernel[2:])

    def run(x: Any, y: Any) -> np.ndarray:
        return np.transpose(
            _convolved(np.transpose(x, axes.lhs), np.transpose(y, axes.rhs), window, *groups), np.argsort(axes.output)
        )

    return axes, run


def _right(rhs: Any, scales: Any, zeros: Any, axis: int, allowed: int, rank: int, across: int) -> tuple[Any, Any]:
    """The integers of rhs without their zero points, and the scales as they meet the result.

    Args:
      axis: of the scales, -1 or `allowed`.
      rank: of the result.
      across: the axis of the result that has the outputs.
    """
    if axis not in (-1, allowed):
        raise invalid(f"rhs_quantization_axis must be -1 or {allowed}, got {axis}")
    scale, zero = spread(scales, zeros, axis, rhs.shape)
    shape = [1] * rank
    shape[across] = -1
    return numbers(rhs).astype(np.int64) - zero, scale if axis == -1 else scales.reshape(shape)


def _rows_quantized(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Floats as integers without zero points, each row of an axis by its own range with zero; and the scales."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    low = np.minimum(x.min(others, keepdims=True, initial=0), 0).astype(np.float64)
    high = np.maximum(x.max(others, keepdims=True, initial=0), 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (high - low) / (_GREATEST - _LEAST)
        starts, ends = _LEAST - low / scale, _GREATEST - high / scale
        nearer = np.abs(low / scale) - _LEAST < np.abs(high / scale) + _GREATEST
        zero = np.clip(np.round(np.where(nearer, starts, ends)), _LEAST, _GREATEST)
        whole = np.floor(x * (1 / scale).astype(np.float32) + np.float32(0.5)) + zero
    flat = high == low  # only zeros
    whole = np.where(flat, 0, np.clip(np.where(flat, 0, whole), _LEAST, _GREATEST) - np.where(flat, 0, zero))
    return whole.astype(np.int64), np.where(flat, 1, scale).astype(np.float32)


@row("UniformQuantizedConvolution", f"lhs: Tin, rhs: Tin, {THREE} -> output: Tout", {"Tin": (dtypes.qint8,)},
     {"Tout": dtype, **_ATTRS, **attrs_of("lhs", "rhs", "output")}, _convolution_rule)  # fmt: skip
def UniformQuantizedConvolution(
    xp: ModuleType, lhs, rhs, lhs_scales, lhs_zero_points, rhs_scales, rhs_zero_points, output_scales,
    output_zero_points, Tout, **attrs,
):  # fmt: skip
    axes, run = _multiplied(lhs, rhs, attrs)
    if attrs["lhs_quantization_axis"] != -1:
        raise invalid(f"lhs_quantization_axis must be -1, got {attrs['lhs_quantization_axis']}")
    if attrs["output_quantization_axis"] not in (-1, axes.output[1]):
        raise invalid(
            f"output_quantization_axis must be -1 or {axes.output[1]}, got {attrs['output_quantization_axis']}"
        )
    for part in ("lhs", "rhs"):
        limits_of(attrs[f"{part}_quantization_min_val"], attrs[f"{part}_quantization_max_val"])
    limits = limits_of(attrs["output_quantization_min_val"], attrs["output_quantization_max_val"])
    scale, zero = spread(lhs_scales, lhs_zero_points, -1, lhs.shape)
    weights, its = _right(
        rhs, rhs_scales, rhs_zero_points, attrs["rhs_quantization_axis"], axes.rhs[0], lhs.ndim, axes.output[1]
    )
    sums = run(numbers(lhs).astype(np.int64) - zero, weights)
    after = spread(output_scales, output_zero_points, attrs["output_quantization_axis"], sums.shape)
    return requantized(sums, np.asarray(scale, np.float64) * its, 0, *after, limits, Tout)


@row("UniformQuantizedConvolutionHybrid", f"lhs: Tlhs, rhs: Trhs, {_RIGHT} -> output: Tout",
     {"Tlhs": (dtypes.float32,), "Trhs": (dtypes.qint8,)}, {"Tout": dtype, **_ATTRS, **attrs_of("rhs")},
     _convolution_rule)  # fmt: skip
def UniformQuantizedConvolutionHybrid(
    xp: ModuleType, lhs, rhs: Array, rhs_scales, rhs_zero_points, Tout: DType, **attrs
):
    axes, run = _multiplied(lhs, rhs, attrs)
    limits_of(attrs["rhs_quantization_min_val"], attrs["rhs_quantization_max_val"])
    weights, its = _right(
        rhs, rhs_scales, rhs_zero_points, attrs["rhs_quantization_axis"], axes.rhs[0], lhs.ndim, axes.output[1]
    )
    whole, scale = _rows_quantized(lhs, axes.lhs[0])
    sums, groups = run(whole, weights), attrs["batch_group_count"]
    # One scale for each part of the batch and the group of outputs that it belongs to.
    each = np.repeat(scale.reshape(groups, -1).T, rhs.shape[axes.rhs[0]] // groups, 1)
    each = np.transpose(each.reshape(*each.shape, *[1] * (lhs.ndim - 2)), np.argsort(axes.output))
    return sums.astype(np.float32) * each * its


@row("UniformQuantizedDotHybrid", f"lhs: Tlhs, rhs: Trhs, {_RIGHT} -> output: Tout",
     {"Tlhs": (dtypes.float32,), "Trhs": (dtypes.qint8,)}, {"Tout": dtype, **attrs_of("rhs")}, dot_rule)  # fmt: skip
def UniformQuantizedDotHybrid(xp: ModuleType, lhs, rhs: Array, rhs_scales, rhs_zero_points, Tout: DType, **attrs):
    if lhs.ndim != 2 or rhs.ndim != 2 or lhs.shape[1] != rhs.shape[0]:
        raise invalid(f"lhs and rhs must be matrices that fit: {shape_text(lhs.shape)} and {shape_text(rhs.shape)}")
    limits_of(attrs["rhs_quantization_min_val"], attrs["rhs_quantization_max_val"])
    weights, its = _right(rhs, rhs_scales, rhs_zero_points, attrs["rhs_quantization_axis"], 1, 2, 1)
    whole, scale = _rows_quantized(lhs, 0)
    return (whole @ weights).astype(np.float32) * scale * its


_FLAT = {"window_strides": [1, 1], "padding": "VALID"}
_LAST = protos.UniformQuantizedConvolutionDimensionNumbersAttr(
    input_batch_dimension=0, input_feature_dimension=3, input_spatial_dimensions=[1, 2],
    kernel_output_feature_dimension=3, kernel_input_feature_dimension=2, kernel_spatial_dimensions=[0, 1],
    output_batch_dimension=0, output_feature_dimension=3, output_spatial_dimensions=[1, 2],
).SerializeToString()  # fmt: skip


def _byte(values: TensorLike):
    return quantized(np.asarray(values).tolist(), dtypes.qint8)


def _drawn(rng: SampleGenerator, *shape):
    return _byte(np.clip(np.round(50 * rng.normal(*shape)), -128, 127).astype(np.int64))


def _sliding(rng: SampleGenerator):
    """Images and kernels, with the attrs of the convolutions of them."""
    x, kernel = _drawn(rng, 2, 4, 6, 5), _drawn(rng, 6, 2, 3, 2)
    yield x, kernel, {"padding": "SAME", "window_strides": [2, 1], "feature_group_count": 2}
    holes = {"rhs_dilation": [2, 1], "lhs_dilation": [1, 3], "explicit_padding": [1, 2, 0, 1]}
    yield x, kernel, {"padding": "EXPLICIT", "feature_group_count": 2, **holes}
    yield x, _drawn(rng, 6, 4, 3, 2), {"padding": "VALID", "batch_group_count": 2}
    x, kernel = _drawn(rng, 2, 5, 6, 3), _drawn(rng, 3, 2, 3, 4)
    yield x, kernel, {"padding": "SAME", "dimension_numbers": _LAST}


@UniformQuantizedConvolution.samples
def _(rng):
    one = (np.float32(0.5), np.int32(2))
    rest = {"Tout": dtypes.qint32, **ranges("lhs", "rhs"), **ranges("output", low=-(2**31), high=2**31 - 1)}
    for x, kernel, attrs in _sliding(rng):
        yield Sample(x, kernel, *one, np.float32(0.25), np.int32(-1), np.float32(0.125), np.int32(3), **rest, **attrs)
    # Windows of one place: the product of matrices that the sample of the dot has.
    x, kernel = _byte(np.reshape([[1, 2, 3], [4, 5, 6]], (2, 3, 1, 1))), _byte(
        np.reshape([[1, 3, 0], [-2, 4, 7]], (2, 3, 1, 1)))  # fmt: skip
    after = np.float32(0.25), np.int32(3)
    yield Sample(x, kernel, *one, np.float32(1), np.int32(1), *after, **rest, **_FLAT,
                 expect=np.array([[1, 21], [7, 57]]).reshape(2, 2, 1, 1))  # fmt: skip
    scales = np.array([0.5, 1], np.float32), np.array([2, -1], np.int32)
    yield Sample(x, kernel, *one, *scales, *after, **rest, **_FLAT, rhs_quantization_axis=0,
                 expect=np.array([[2, 21], [-4, 93]]).reshape(2, 2, 1, 1))  # fmt: skip
    yield Sample(x, kernel, *one, *scales, *scales, **rest, **_FLAT, rhs_quantization_axis=0,
                 output_quantization_axis=1)  # fmt: skip
    yield Sample(x, kernel, *one, *scales, *after, **rest, **_FLAT, rhs_quantization_axis=1,
                 raises=InvalidArgumentError)  # fmt: skip
    yield Sample(x, kernel, *one, *after, *scales, **rest, **_FLAT, output_quantization_axis=0,
                 raises=InvalidArgumentError)  # fmt: skip


@UniformQuantizedConvolutionHybrid.samples
def _(rng):
    rest = {"Tout": dtypes.float32, **ranges("rhs")}
    for x, kernel, attrs in _sliding(rng):
        floats = rng.normal(*x.shape).astype(np.float32)
        yield Sample(floats, kernel, np.float32(0.25), np.int32(-1), **rest, **attrs)
    # Windows of one place: the product of matrices that the sample of the dot has.
    x = np.float32([[0, 25.5], [-25.5, 0]]).reshape(2, 2, 1, 1)
    kernel = _byte([[[[1]], [[3]]], [[[2]], [[4]]]])
    yield Sample(x, kernel, np.float32(0.25), np.int32(-1), **rest, **_FLAT,
                 expect=np.float32([[25.5, 31.875], [-12.75, -19.125]]).reshape(2, 2, 1, 1))  # fmt: skip
    x = rng.normal(2, 2, 4, 4).astype(np.float32)
    scales = np.array([0.5, 1], np.float32), np.array([3, -4], np.int32)
    kernel = _drawn(rng, 2, 2, 2, 2)
    yield Sample(x, kernel, *scales, **rest, **_FLAT, rhs_quantization_axis=0)
    yield Sample(x, kernel, *scales, **rest, **_FLAT, rhs_quantization_axis=1, raises=InvalidArgumentError)


@UniformQuantizedDotHybrid.samples
def _(rng):
    x, kernel = rng.normal(3, 5).astype(np.float32), _drawn(rng, 5, 2)
    rest = {"Tout": dtypes.float32, **ranges("rhs")}
    one = np.float32(0.25), np.int32(-1)
    yield Sample(np.float32([[0, 25.5], [-25.5, 0]]), _byte([[1, 2], [3, 4]]), *one, **rest,
                 expect=np.float32([[25.5, 31.875], [-12.75, -19.125]]))  # fmt: skip
    yield Sample(x, kernel, *one, **rest)
    yield Sample(x * 0, kernel, *one, **rest, expect=np.zeros((3, 2), np.float32))
    each = np.array([0.5, 1], np.float32), np.array([3, -4], np.int32)
    yield Sample(x, kernel, *each, **rest, rhs_quantization_axis=1)
    yield Sample(x, kernel[:2], *one, **rest, raises=InvalidArgumentError)
