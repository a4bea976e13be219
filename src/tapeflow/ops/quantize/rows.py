"""Floating numbers as numbers of a few bits, and back."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.array.bitcast import Bitcast
from tapeflow.ops.signature import dtype, one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

QUANTIZED = (dtypes.qint8, dtypes.quint8, dtypes.qint32, dtypes.qint16, dtypes.quint16)
_STORAGE = {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32, "qint16": np.int16,
            "quint16": np.uint16}  # fmt: skip
_MODES = one_of("MIN_COMBINED", "MIN_FIRST", "SCALED", default="MIN_COMBINED")


def _storage(kind):
    """The plain NumPy type that holds a quantized one, a DType or the record type of an array."""
    name = kind.name if isinstance(kind, dtypes.DType) else kind.names[0]
    if name not in _STORAGE:
        raise invalid(
            f"Value for attr 'T' of {name} is not in the list of allowed values: qint8, quint8, qint32, qint16, quint16"
        )
    return np.dtype(_STORAGE[name])


def _plain(values: Any):
    """The integers of a quantized array."""
    return values.view(_storage(values.dtype)) if values.dtype.names else values


def _round_away(x: Any):
    out = np.asarray(np.abs(x) + np.float32(0.5))
    return np.copysign(np.floor(out, out=out), x, out=out)


def _spread(values, rank, axis):
    """Numbers for the slices along `axis`, so that they broadcast."""
    values = np.asarray(values)
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def _ranges(x, low, high, axis):
    """The ranges as they broadcast with `x`: one, or one for each slice along `axis`. Raises for other sizes."""
    if axis < -1:
        raise invalid(f"Axis must be at least -1. Found {axis}")
    if axis >= x.ndim:
        raise invalid(
            "Axis is on a zero-based index, so its value must always be less than number of input's dims, but given "
            f"axis value was {axis} and input's dims was {x.ndim}"
        )
    for value, name in ((low, "min_range"), (high, "max_range")):
        if axis == -1 and value.size != 1:
            raise invalid(
                f"If axis is not specified, {name} must contain a single float element, but it contains {value.size} "
                "elements"
            )
        if axis != -1 and value.shape != (x.shape[axis],):
            raise invalid(
                f"If axis is specified, {name} must be a 1-D tensor whose size matches the axis dimension of the input "
                f"and output tensors, but {name} is a {value.ndim}-D tensor of size {value.size} and input's axis "
                f"dimension is of size {x.shape[axis]}"
            )
    if axis == -1:
        return low.reshape(()), high.reshape(())
    return _spread(low, x.ndim, axis), _spread(high, x.ndim, axis)


def range_shape(call: ShapeCall, x: int, low: int) -> shapes.Shape:
    """The shape of both ends of the range, inputs `low` and the next: one of all, or of each slice of input `x`."""
    axis = call.attr("axis")
    rank = 0 if axis == -1 else 1
    ends = shapes.merge(*(shapes.with_rank(call.shape(i), rank) for i in (low, low + 1)))
    if axis == -1:
        return ends
    if axis < -1:
        raise invalid(f"axis should be at least -1, got {axis}")
    if axis >= np.iinfo(np.int32).max:
        raise invalid(f"Axis cannot be >= kint32max value, got {axis}")
    shape = shapes.at_least(call.shape(x), axis + 1)
    return ends if shape is None else shapes.merge(ends, (shape[axis],))


def same_with_range(call: ShapeCall) -> list[shapes.Shape]:
    """The shape of input 0, for which inputs 1 and 2 are the range."""
    range_shape(call, 0, 1)
    return [call.shape(0)]


def axis_of(axis: Any, x: Any) -> int:
    """The attr of an axis of `x`, which may be counted from the end, or be None for all elements together."""
    if axis is None:
        return -1
    if axis < 0:
        if x.shape.rank is None:
            raise ValueError("input should have known rank to use negative axis.")
        return int(axis % x.shape.rank)
    return int(axis)


def _dequantized_rule(call: ShapeCall) -> list[shapes.Shape]:
    shape, axis = call.shape(0), call.attr("axis")
    if shape is not None and axis >= len(shape):
        raise invalid(f"Axis must be less than input dimension({len(shape)}), got {axis}")
    return same_with_range(call)


def _combined(x, low, high, limits):
    steps = np.float32(float(limits.max) - float(limits.min))
    half = 0.0 if limits.min == 0 else np.float32((float(limits.max) - float(limits.min) + 1) / 2)
    out = np.asarray(np.clip(x, low, high) - low, np.float32)
    out *= steps / (high - low)
    out -= np.float32(half)
    return _round_away(out)


def _first(x, low, high, limits):
    count = float(limits.max) - float(limits.min) + 1
    span = np.float32((high - low) * (count / (count - 1)))
    scale = np.float32(count / span)
    if (limits.min, limits.max) == (0, 255):  # TensorFlow's kernel of quint8 rounds once, the others twice
        return _round_away((x - low) * scale)
    return _round_away(x * scale) - _round_away(low * scale) + float(limits.min)


def _scale_of(low, high, least, most):
    """(the range grown so that zero is a step of it, the number of steps of one)."""
    with np.errstate(all="ignore"):
        from_low = np.where(least * low > 0, least / low, np.finfo(np.float32).max)
        from_high = np.where(most * high > 0, most / high, np.finfo(np.float32).max)
    scale = np.minimum(from_low, from_high).astype(np.float32)
    return np.float32(least / scale), np.float32(most / scale), scale


@op("QuantizeV2",
    "input: float32, min_range: float32, max_range: float32 "
    "-> output: T, output_min: float32, output_max: float32",
    attrs={"T": dtype, "mode": _MODES, "axis": -1, "narrow_range": False,
           "round_mode": one_of("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN", default="HALF_AWAY_FROM_ZERO"),
           "ensure_minimum_range": 0.01},
    shape=lambda call: [call.shape(0), *[range_shape(call, 0, 1)] * 2])  # fmt: skip
def QuantizeV2(
    xp: ModuleType, input: Array, min_range: Array, max_range: Array, T: DType, mode: str, axis: int,
    narrow_range: bool, round_mode: str, ensure_minimum_range: float,
):
    limits = np.iinfo(_storage(T))
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise invalid(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
        )
    if mode == "MIN_FIRST" and axis != -1:
        raise UnimplementedError(
            None, None, "MIN_FIRST mode is not implemented for Quantize with axis != -1."
        )
    low, high = _ranges(input, min_range, max_range, axis)
    if (low > high).any():
        raise invalid("input_max_range must be larger than input_min_range.")
    low = np.minimum(low, 0).astype(np.float32)
    least = np.maximum(1, np.maximum(abs(low), abs(high))) * np.float32(ensure_minimum_range)
    high = np.maximum(0, np.maximum(high, low + least)).astype(np.float32)
    with np.errstate(all="ignore"):
        if mode == "SCALED":
            low, high, scale = _scale_of(low, high, float(limits.min) + narrow_range, float(limits.max))
            scaled = np.clip(input, low, high) * scale
            out = np.rint(scaled) if round_mode == "HALF_TO_EVEN" else _round_away(scaled)
        else:
            out = (_combined if mode == "MIN_COMBINED" else _first)(input, low, high, limits)
        wide = np.float64 if limits.max > 2**24 else out.dtype  # what holds the limits exactly
        out = np.clip(out.astype(wide, copy=False), limits.min, limits.max)
        if np.isnan(out).any():
            out = np.where(np.isnan(out), 0, out)
    quantized = out.astype(_storage(T)).view(T.as_numpy_dtype)
    ranges = [np.float32(r).reshape(g.shape) for r, g in ((low, min_range), (high, max_range))]
    return quantized.reshape(input.shape), *ranges


def _from_combined(q, low, high, limits):
    half = 0.0 if limits.min == 0 else (float(limits.max) - float(limits.min) + 1) / 2
    scale = (high - low) / np.float32(float(limits.max) - float(limits.min))
    return (q.astype(np.float32) + np.float32(half)) * scale + low


def _from_first(q: np.ndarray, low, high, limits):
    scale = np.float64(high - low) / (float(limits.max) - float(limits.min))
    with np.errstate(all="ignore"):
        start = np.where(scale == 0, low, np.rint(low / scale) * scale)
    return start + (q.astype(np.float64) - float(limits.min)) * scale


@op("Dequantize", "input: T, min_range: float32, max_range: float32 -> output: dtype",
    types={"T": QUANTIZED},
    attrs={"mode": _MODES, "narrow_range": False, "axis": -1, "dtype": dtype(dtypes.float32)},
    shape=_dequantized_rule)  # fmt: skip
def Dequantize(
    xp: ModuleType, input: Array, min_range: Array, max_range: Array, mode: str, narrow_range: bool, axis: int,
    dtype: DType,
):
    if dtype not in (dtypes.float32, dtypes.bfloat16):
        raise invalid(
            f"Value for attr 'dtype' of {dtype.name} is not in the list of allowed values: bfloat16, float"
        )
    q = _plain(input)
    limits = np.iinfo(q.dtype)
    if axis >= input.ndim:
        raise invalid(f"Axis must be less than input dimension({input.ndim}), got {axis}")
    if mode == "MIN_FIRST" and axis != -1:
        raise UnimplementedError(
            None, None, "MIN_FIRST mode is not implemented for Dequantize with axis != -1."
        )
    low, high = _ranges(q, min_range, max_range, axis)
    if mode == "SCALED":
        scale = high / np.float32(limits.max)
        if limits.min:
            scale = np.maximum(scale, low / np.float32(limits.min + narrow_range))
        out = q.astype(np.float32) * scale
    else:
        out = (_from_combined if mode == "MIN_COMBINED" else _from_first)(q, low, high, limits)
    return np.asarray(out).astype(dtype.as_numpy_dtype).reshape(q.shape)


def _concat_rule(call: ShapeCall):
    count = (len(call.inputs) - 1) // 3
    axis = shapes.scalar_value(call, 0)
    parts = [call.shape(i) for i in range(1, 1 + count)]
    return [shapes.joined(parts, axis), (), ()]


@op("QuantizedConcat",
    "concat_dim: int32, values: N>=2*T, input_mins: N>=2*float32, input_maxes: N>=2*float32 "
    "-> output: T, output_min: float32, output_max: float32",
    types={"T": (dtypes.quint8, dtypes.qint8, dtypes.qint32, dtypes.qint16, dtypes.quint16)},
    ranks="concat_dim: 0, values: 1+, input_mins: 0, input_maxes: 0",
    shape=_concat_rule)  # fmt: skip
def QuantizedConcat(
    xp: ModuleType, concat_dim: Array, values: Sequence[Array], input_mins: Sequence[Array],
    input_maxes: Sequence[Array],
):
    if not len(values) == len(input_mins) == len(input_maxes):
        raise invalid(
            f"There are {len(values)} values, {len(input_mins)} input_mins and {len(input_maxes)} input_maxes"
        )
    for bound in (*input_mins, *input_maxes):
        if bound.ndim:
            raise invalid(f"The ranges must be scalars, got shape {shape_text(bound.shape)}")
    first = values[0]
    axis = int(concat_dim.reshape(())) if concat_dim.size == 1 else None
    if axis is None or not 0 <= axis < first.ndim:
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [0, {first.ndim}), but got {concat_dim}"
        )
    for i, value in enumerate(values):
        same = value.ndim == first.ndim and all(
            a == b or d == axis for d, (a, b) in enumerate(zip(value.shape, first.shape, strict=False))
        )
        if not same:
            raise invalid(
                f"ConcatOp : Dimensions of inputs should match: shape[0] = {shape_text(first.shape)} vs. shape[{i}] = "
                f"{shape_text(value.shape)}"
            )
    storage = _storage(first.dtype)
    limits = np.iinfo(storage)
    low, high = min(0.0, *map(float, input_mins)), max(map(float, input_maxes))
    if limits.min:
        high = max(-low, high)
        low = -high
    parts = []
    for value, a, b in zip(values, input_mins, input_maxes, strict=True):
        plain = _plain(value)
        if (float(a), float(b)) != (low, high):
            numbers = _from_first(plain, np.float64(a), np.float64(b), limits)
            count = float(limits.max) - float(limits.min) + 1
            scale = (count - 1) / (high - low) if storage.itemsize < 4 else count / (high - low)
            moved = _round_away(numbers * scale) - np.rint(low * scale) + float(limits.min)
            plain = np.clip(moved, limits.min, limits.max).astype(storage)
        parts.append(plain)
    out = np.concatenate(parts, axis).view(first.dtype)
    return out, np.float32(low), np.float32(high)


for row in (QuantizeV2, Dequantize, QuantizedConcat):
    row.gradient(None)


def _record(values: Sequence[Any], kind: DType):
    return np.asarray(values, _STORAGE[kind.name]).view(kind.as_numpy_dtype)


_X = np.array([-1.5, -0.3, 0.0, 0.4, 2.6], np.float32)


@QuantizeV2.samples
def _(rng: SampleGenerator):
    def wanted(values: Sequence[int], kind: DType, low: float, high: int):
        return _record(values, kind), np.float32(low), np.float32(high)

    yield Sample(_X, -2.0, 3.0, dtypes.quint8, differentiable=False,
                 expect=wanted([26, 87, 102, 122, 235], dtypes.quint8, -2, 3))  # fmt: skip
    yield Sample(_X, -2.0, 3.0, dtypes.qint8, "SCALED", differentiable=False,
                 expect=wanted([-64, -13, 0, 17, 110], dtypes.qint8, -128 * 3 / 127, 3))  # fmt: skip
    yield Sample(_X, -2.0, 3.0, dtypes.qint8, "MIN_FIRST", differentiable=False,
                 expect=wanted([-103, -41, -26, -6, 107], dtypes.qint8, -2, 3))  # fmt: skip
    yield Sample(_X, 3.0, -2.0, dtypes.quint8, raises=InvalidArgumentError)
    yield Sample(_X, [-3.0, 1.0], -2.0, dtypes.quint8, raises=InvalidArgumentError)
    yield Sample(_X, 3.0, -2.0, dtypes.float32, raises=InvalidArgumentError)
    yield Sample(_X, -2.0, 3.0, dtypes.quint8, axis=1, raises=InvalidArgumentError)
    yield Sample(_X, -2.0, 3.0, dtypes.quint8, round_mode="HALF_TO_EVEN", raises=InvalidArgumentError)


@Dequantize.samples
def _(rng: SampleGenerator):
    q = _record([-128, -5, 127], dtypes.qint8)
    yield Sample(q, -2.0, 3.0, expect=np.array([-2.0, 0.41176486, 3.0], np.float32))
    yield Sample(q, -2.0, 3.0, "SCALED", expect=(np.array([-128, -5, 127]) * 3 / 127).astype(np.float32))
    yield Sample(q, -2.0, 3.0, "MIN_FIRST", expect=np.array([-2.0, 0.4117648, 3.0], np.float32))
    yield Sample(q, [-2.0, 1.0], 3.0, raises=InvalidArgumentError)
    yield Sample(q, -2.0, 3.0, dtype=dtypes.float64, raises=InvalidArgumentError)
    yield Sample(q, -2.0, 3.0, axis=4, raises=InvalidArgumentError)


@QuantizedConcat.samples
def _(rng: SampleGenerator):
    q = Bitcast(np.array([[1, 2], [3, 4]], np.uint8), dtypes.quint8)
    zero, one, two = np.float32(0), np.float32(1), np.float32(2)
    yield Sample(0, [q, q], [zero, zero], [one, two], expect=(
        _record([[1, 1], [2, 2], [1, 2], [3, 4]], dtypes.quint8), zero, two))  # fmt: skip
    yield Sample(1, [q], [zero], [one], raises=InvalidArgumentError)
    yield Sample(5, [q, q], [zero, zero], [one, two], raises=InvalidArgumentError)
    yield Sample(0, [q, q[:, :1]], [zero, zero], [one, two], raises=InvalidArgumentError)


