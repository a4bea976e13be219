"""Numbers as integers with a scale and a zero point: x = (q - zero_point) * scale, for all or for each of an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.quantize.levels import levels, numbers, quantized
from tapeflow.ops.signature import dtype, integer
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_NEVER = "it computes in integers that stand for floats"
_FLOAT, _INTEGERS, _WIDE = (dtypes.float32,), (dtypes.qint8, dtypes.quint8, dtypes.qint32), (dtypes.qint32,)


def attrs_of(*parts: str) -> dict:
    """The axis and the least and greatest integer of each part."""
    kinds = {"quantization_axis": -1, "quantization_min_val": integer, "quantization_max_val": integer}
    return {f"{part}_{name}" if part else name: kind for part in parts for name, kind in kinds.items()}


def spread(values, zeros, axis: int, shape: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Scales and zero points in the shape by which they meet numbers of a shape.

    Raises InvalidArgumentError for an axis that is not there, and for scales of other sizes.
    """
    if axis < -1 or axis >= len(shape):
        raise invalid(f"quantization_axis must be -1 or in [0, {len(shape)}), got {axis}")
    rank = 0 if axis == -1 else 1
    for name, given in (("scales", values), ("zero_points", zeros)):
        if given.ndim != rank or (rank and given.shape[0] != shape[axis]):
            want = f"a vector of {shape[axis]} elements" if rank else "a scalar"
            raise invalid(f"{name} must be {want} for quantization_axis {axis}, got {shape_text(given.shape)}")
    if not rank:
        return values, zeros.astype(np.int64)
    line = [1] * len(shape)
    line[axis] = -1
    return values.reshape(line), zeros.astype(np.int64).reshape(line)


def limits_of(low: int, high: int) -> tuple[int, int]:
    if low >= high:
        raise invalid(f"quantization_max_val must be larger than quantization_min_val: {high} vs {low}")
    return low, high


def _rescaled(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Integers times factors, each a whole number of 31 bits and a power of 2, rounded."""
    if not (np.isfinite(factor).all() and (factor > 0).all()):
        raise invalid("scales must be finite and positive")
    wholes, shifts = np.empty(factor.shape, np.int64), np.empty(factor.shape, np.int64)
    for place, value in np.ndenumerate(factor):
        part, shift = math.frexp(float(value))
        whole = math.floor(part * (1 << 31) + 0.5)
        if whole == 1 << 31:
            whole, shift = whole // 2, shift + 1
        wholes[place], shifts[place] = (0, 0) if shift < -31 else (whole, shift)
    total = 31 - shifts
    return (x * wholes + (np.int64(1) << (total - 1))) >> total


def row(name: str, schema: str, types: dict[str, Any], attrs: dict[str, Any], rule: Callable[..., Any]):
    def register(kernel: Callable[..., Any]):
        made = op(name, schema, types=types, attrs=attrs, shape=rule)(kernel)
        made.gradient(None)
        made.compiled(never=_NEVER)
        return made

    return register


_BOTH = "scales: float32, zero_points: int32"


@row("UniformQuantize", f"input: Tin, {_BOTH} -> output: Tout", {"Tin": _FLOAT},
      {"Tout": dtype, **attrs_of("")}, shapes.same_as_first)  # fmt: skip
def UniformQuantize(
    xp: ModuleType, input: Array, scales, zero_points, Tout: DType, quantization_axis, quantization_min_val,
    quantization_max_val,
):
    scale, zero = spread(scales, zero_points, quantization_axis, input.shape)
    low, high = limits_of(quantization_min_val, quantization_max_val)
    whole = np.floor(input * (np.float32(1) / scale) + np.float32(0.5)).astype(np.int64) + zero
    return levels(np.clip(whole, low, high), Tout.as_numpy_dtype)


_BYTE = {"quantization_min_val": -128, "quantization_max_val": 127}
_X = np.array([[-3, -0.5, 0.25], [0.5, 1, 200]], np.float32)
_SCALE, _ZERO = np.float32(0.5), np.int32(2)
_SCALES, _ZEROS = np.array([0.5, 1], np.float32), np.array([2, -1], np.int32)


def _bytes(values: Sequence[Any]):
    return quantized(values, dtypes.qint8)


def _wide(values: Sequence[Any] | int):
    return quantized(values, dtypes.qint32)


@UniformQuantize.samples
def _(rng):
    byte = {"Tout": dtypes.qint8, **_BYTE}
    yield Sample(_X, _SCALE, _ZERO, **byte, expect=np.array([[-4, 1, 3], [3, 4, 127]]))
    yield Sample(_X, _SCALES, _ZEROS, **byte, quantization_axis=0, expect=np.array([[-4, 1, 3], [0, 0, 127]]))
    yield Sample(_X, _SCALES, _ZEROS, **byte, quantization_axis=1, raises=InvalidArgumentError)


@row("UniformDequantize", f"input: Tin, {_BOTH} -> output: Tout", {"Tin": _INTEGERS},
      {"Tout": dtype, **attrs_of("")}, shapes.same_as_first)  # fmt: skip
def UniformDequantize(
    xp: ModuleType, input: Any, scales, zero_points, Tout: DType, quantization_axis, quantization_min_val,
    quantization_max_val,
):
    scale, zero = spread(scales, zero_points, quantization_axis, input.shape)
    limits_of(quantization_min_val, quantization_max_val)
    return (numbers(input).astype(np.int64) - zero).astype(np.float32) * scale


@UniformDequantize.samples
def _(rng):
    x, rest = _bytes([[-4, 1, 3], [3, 4, 127]]), {"Tout": dtypes.float32, **_BYTE}
    yield Sample(x, _SCALE, _ZERO, **rest, expect=np.float32([[-3, -0.5, 0.5], [0.5, 1, 62.5]]))
    yield Sample(x, _SCALES, _ZEROS, **rest, quantization_axis=0, expect=np.float32([[-3, -0.5, 0.5], [4, 5, 128]]))
    yield Sample(x, _SCALE, _ZEROS, **rest, raises=InvalidArgumentError)


def requantized(x, scale, zero, new_scale, new_zero, limits, out_type):
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.asarray(scale, np.float64) / new_scale
    out = _rescaled(numbers(x).astype(np.int64) - zero, factor) + new_zero
    return levels(np.clip(out, *limits), out_type.as_numpy_dtype)


@row("UniformRequantize",
      "input: Tin, input_scales: float32, input_zero_points: int32, output_scales: float32, "
      "output_zero_points: int32 -> output: Tout",
      {"Tin": (dtypes.qint8, dtypes.qint32)}, {"Tout": dtype, **attrs_of("input", "output")},
      shapes.same_as_first)  # fmt: skip
def UniformRequantize(
    xp: ModuleType, input: Array, input_scales, input_zero_points, output_scales, output_zero_points, Tout: DType,
    input_quantization_axis, input_quantization_min_val, input_quantization_max_val, output_quantization_axis,
    output_quantization_min_val, output_quantization_max_val,
):  # fmt: skip
    before = spread(input_scales, input_zero_points, input_quantization_axis, input.shape)
    after = spread(output_scales, output_zero_points, output_quantization_axis, input.shape)
    limits_of(input_quantization_min_val, input_quantization_max_val)
    limits = limits_of(output_quantization_min_val, output_quantization_max_val)
    return requantized(input, *before, *after, limits, Tout)


def ranges(*parts, low: int = -128, high: int = 127):
    return {
        f"{part}_quantization_{end}_val": value for part in parts for end, value in (("min", low), ("max", high))
    }


@UniformRequantize.samples
def _(rng: SampleGenerator):
    x, rest = _bytes([[-4, 1, 3], [3, 4, 127]]), {"Tout": dtypes.qint8, **ranges("input", "output")}
    yield Sample(x, _SCALE, _ZERO, np.float32(0.25), np.int32(1), **rest,
                 expect=np.array([[-11, -1, 3], [3, 5, 127]]))  # fmt: skip
    yield Sample(x, _SCALES, _ZEROS, np.float32(0.25), np.int32(1), **rest, input_quantization_axis=0,
                 expect=np.array([[-11, -1, 3], [17, 21, 127]]))  # fmt: skip
    yield Sample(x, _SCALE, _ZERO, np.float32(0), np.int32(1), **rest, raises=InvalidArgumentError)


THREE = ", ".join(f"{part}_scales: float32, {part}_zero_points: int32" for part in ("lhs", "rhs", "output"))


def dot_rule(call: ShapeCall):
    x, y = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 2)
    shapes.same_dimension(x[1], y[0])
    return [(x[0], y[1])]


@row("UniformQuantizedDot", f"lhs: Tin, rhs: Tin, {THREE} -> output: Tout", {"Tin": (dtypes.qint8,)},
      {"Tout": dtype, **attrs_of("lhs", "rhs", "output")},
      dot_rule)  # fmt: skip
def UniformQuantizedDot(
    xp: ModuleType, lhs, rhs: Any, lhs_scales, lhs_zero_points, rhs_scales, rhs_zero_points, output_scales,
    output_zero_points, Tout: DType, **attrs,
):  # fmt: skip
    for name, x in (("lhs", lhs), ("rhs", rhs)):
        if x.ndim != 2:
            raise invalid(f"{name} must be a matrix, got shape {shape_text(x.shape)}")
    if lhs.shape[1] != rhs.shape[0]:
        raise invalid(f"lhs and rhs do not fit: {shape_text(lhs.shape)} and {shape_text(rhs.shape)}")
    if attrs["lhs_quantization_axis"] != -1 or attrs["rhs_quantization_axis"] not in (-1, 1):
        raise invalid("lhs has one scale, and rhs one or one for each column")
    left = spread(lhs_scales, lhs_zero_points, -1, lhs.shape)
    right = spread(rhs_scales, rhs_zero_points, attrs["rhs_quantization_axis"], rhs.shape)
    after = spread(
        output_scales, output_zero_points, attrs["output_quantization_axis"], (lhs.shape[0], rhs.shape[1])
    )
    for part in ("lhs", "rhs"):
        limits_of(attrs[f"{part}_quantization_min_val"], attrs[f"{part}_quantization_max_val"])
    limits = limits_of(attrs["output_quantization_min_val"], attrs["output_quantization_max_val"])
    sums = (numbers(lhs).astype(np.int64) - left[1]) @ (numbers(rhs).astype(np.int64) - right[1])
    return requantized(sums, left[0].astype(np.float64) * right[0], 0, *after, limits, Tout)


_INT32 = {"low": -(2**31), "high": 2**31 - 1}


@UniformQuantizedDot.samples
def _(rng):
    x, y = _bytes([[1, 2, 3], [4, 5, 6]]), _bytes([[1, -2], [3, 4], [0, 7]])
    rest = {"Tout": dtypes.qint32, **ranges("lhs", "rhs"), **ranges("output", **_INT32)}
    scales = (_SCALE, _ZERO, np.float32(1), np.int32(1), np.float32(0.25), np.int32(3))
    yield Sample(x, y, *scales, **rest, expect=np.array([[1, 21], [7, 57]]))
    scales = (_SCALE, _ZERO, _SCALES, _ZEROS, np.float32(0.25), np.int32(3))
    yield Sample(x, y, *scales, **rest, rhs_quantization_axis=1, expect=np.array([[2, 21], [-4, 93]]))
    # Sums that are halves of the new scale: what becomes of them depends on the last bits of the factor, 1 / 24.
    scales = (_SCALE, _ZERO, np.float32(0.25), np.int32(0), np.float32(3), np.int32(0))
    yield Sample(_bytes([[14]]), _bytes([[1, 3, -1, -3, 5, 99, -101]]), *scales, **rest,
                 expect=np.array([[0, 1, 0, -1, 2, 49, -50]]))  # fmt: skip
    yield Sample(x, x, *scales[:2], np.float32(1), np.int32(1), *scales[4:], **rest, raises=InvalidArgumentError)


@row("UniformQuantizedAdd", f"lhs: T, rhs: T, {THREE} -> output: T", {"T": _WIDE}, attrs_of("lhs", "rhs", "output"),
      lambda call: [shapes.broadcast(call.shape(0), call.shape(1))])  # fmt: skip
def UniformQuantizedAdd(
    xp: ModuleType, lhs, rhs, lhs_scales, lhs_zero_points, rhs_scales, rhs_zero_points, output_scales,
    output_zero_points, **attrs,
):
    try:
        shape = np.broadcast_shapes(lhs.shape, rhs.shape)
    except ValueError:
        raise invalid(f"Incompatible shapes: {shape_text(lhs.shape)} and {shape_text(rhs.shape)}") from None
    after = spread(output_scales, output_zero_points, attrs["output_quantization_axis"], shape)
    limits = limits_of(attrs["output_quantization_min_val"], attrs["output_quantization_max_val"])
    total = after[1]
    for part, x, scale, zero in (("lhs", lhs, lhs_scales, lhs_zero_points), ("rhs", rhs, rhs_scales, rhs_zero_points)):
        limits_of(attrs[f"{part}_quantization_min_val"], attrs[f"{part}_quantization_max_val"])
        scale, zero = spread(scale, zero, attrs[f"{part}_quantization_axis"], x.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.asarray(scale, np.float64) / after[0]
        total = total + _rescaled(numbers(x).astype(np.int64) - zero, factor)
    return levels(np.clip(total, *limits), np.dtype(lhs.dtype))


@UniformQuantizedAdd.samples
def _(rng: SampleGenerator):
    x, y, rest = _wide([[1, 2, 3], [4, 5, 6]]), _wide([10, 20, 30]), ranges("lhs", "rhs", "output", **_INT32)
    scales = (_SCALE, _ZERO, np.float32(1), np.int32(1), np.float32(0.25), np.int32(3))
    yield Sample(x, y, *scales, **rest, expect=np.array([[37, 79, 121], [43, 85, 127]]))
    thirds = (np.float32(0.125), np.int32(0), np.float32(1), np.int32(0), np.float32(3), np.int32(0))
    yield Sample(_wide([12, 36, -12, -36]), _wide([0, 0, 0, 0]), *thirds, **rest, expect=np.array([0, 1, 0, -1]))
    yield Sample(x, y[:2], *scales, **rest, raises=InvalidArgumentError)


@row("UniformQuantizedClipByValue", f"operand: T, min: T, max: T, {_BOTH} -> output: T", {"T": _WIDE}, attrs_of(""),
      shapes.same_as_first)  # fmt: skip
def UniformQuantizedClipByValue(
    xp: ModuleType, operand, min, max, scales, zero_points, quantization_axis, quantization_min_val,
    quantization_max_val,
):
    spread(scales, zero_points, quantization_axis, operand.shape)
    limits_of(quantization_min_val, quantization_max_val)
    ends = []
    for name, value in (("min", min), ("max", max)):
        if value.shape != scales.shape:
            raise invalid(f"{name} must have the shape of scales, got {shape_text(value.shape)}")
        line = [1] * operand.ndim
        if value.ndim:
            line[quantization_axis] = -1
        ends.append(numbers(value).reshape(line))
    return levels(np.clip(numbers(operand), *ends), np.dtype(operand.dtype))


@UniformQuantizedClipByValue.samples
def _(rng):
    x, rest = _wide([[1, 2, 3], [4, 5, 6]]), {"quantization_min_val": -(2**31), "quantization_max_val": 2**31 - 1}
    yield Sample(x, _wide(2), _wide(5), _SCALE, _ZERO, **rest, expect=np.array([[2, 2, 3], [4, 5, 5]]))
    yield Sample(x, _wide([0, 5]), _wide([2, 9]), _SCALES, _ZEROS, **rest, quantization_axis=0,
                 expect=np.array([[1, 2, 2], [5, 5, 6]]))  # fmt: skip
    yield Sample(x, _wide([0, 5]), _wide(3), _SCALE, _ZERO, **rest, raises=InvalidArgumentError)
