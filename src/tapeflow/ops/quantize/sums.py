"""Sums of quantized tensors, whose 32 bits stand for a range that is wide enough for many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.quantize.levels import (
    floats_of,
    integer_of,
    levels,
    numbers,
    quantized,
    round_away,
    scalar,
)
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_BYTES = (dtypes.quint8, dtypes.qint8)
_NEVER = "it computes in integers that stand for floats"


def _reach(limits: Sequence[float], multiple: int) -> float:
    """The greatest number that the sum stands for: so many times that of the inputs' ranges."""
    for low, high in zip(limits[::2], limits[1::2], strict=True):
        if not low < high:
            raise invalid(f"The maximum of a range must be larger than its minimum: {high} vs {low}")
    return float(np.float32(max(map(abs, limits))) * np.float32(multiple))


def _wide(out_type: DType) -> np.dtype:
    if out_type != dtypes.qint32:
        raise invalid(f"The result must be qint32, got {out_type.name}")
    return np.dtype(out_type.as_numpy_dtype)


def _result(total: np.ndarray, reach: float, out_type: DType):
    info = np.iinfo(np.int32)
    return levels(np.clip(total, info.min, info.max), _wide(out_type)), np.float32(-reach), np.float32(reach)


@op(
    "QuantizedAdd",
    "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 "
    "-> z: Toutput, min_z: float32, max_z: float32",
    types={"T1": (dtypes.quint8,), "T2": (dtypes.quint8,)},
    attrs={"Toutput": dtype(dtypes.qint32)},
    ranks="min_x: 0, max_x: 0, min_y: 0, max_y: 0",
    shape=lambda call: [shapes.broadcast(call.shape(0), call.shape(1)), (), ()],
    quantizes=("Add", "AddV2"),
)
def QuantizedAdd(xp, x, y, min_x, max_x, min_y, max_y, Toutput):
    names = {"min_x": min_x, "max_x": max_x, "min_y": min_y, "max_y": max_y}
    limits = [scalar(value, name) for name, value in names.items()]
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise invalid(f"Incompatible shapes: {shape_text(x.shape)} and {shape_text(y.shape)}") from None
    reach, total = _reach(limits, 1 << 14), 0
    scale = np.float64((2.0**32 - 1) / (2 * reach))
    for value, (low, high) in ((x, limits[:2]), (y, limits[2:])):
        floats = floats_of(numbers(value), low, high, value.dtype).astype(np.float64)
        total = total + round_away(floats * scale) - round_away(-reach * scale) - 2.0**31
    return _result(total, reach, Toutput)


QuantizedAdd.gradient(None)
QuantizedAdd.compiled(never=_NEVER)
_LIMITS = [np.float32(v) for v in (0, 255, -1, 254)]


@QuantizedAdd.samples
def _(rng: SampleGenerator):
    x, y = quantized(np.arange(6).reshape(2, 3)), quantized(np.arange(3))
    # One is 2**31 / (255 * 2**14) steps of the result.
    want, reach = np.array([[-514, 514, 1542], [1028, 2056, 3084]]), np.float32(255 * 2**14)
    yield Sample(x, y, *_LIMITS, expect=(want, -reach, reach))
    yield Sample(x, y[:2], *_LIMITS, raises=InvalidArgumentError)
    yield Sample(x, y, _LIMITS[1], _LIMITS[0], *_LIMITS[2:], raises=InvalidArgumentError)


def _bias_rule(call: ShapeCall):
    x, bias = call.shape(0), shapes.with_rank(call.shape(1), 1)
    if x is not None:
        shapes.same_dimension(x[-1], bias[0])
    return [x, (), ()]


@op(
    "QuantizedBiasAdd",
    "input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, max_bias: float32 "
    "-> output: out_type, min_out: float32, max_out: float32",
    types={"T1": _BYTES, "T2": _BYTES},
    attrs={"out_type": dtype},
    shape=_bias_rule,
    quantizes=("BiasAdd",),
)
def QuantizedBiasAdd(xp, input, bias, min_input, max_input, min_bias, max_bias, out_type):
    names = {"min_input": min_input, "max_input": max_input, "min_bias": min_bias, "max_bias": max_bias}
    limits = [scalar(value, name) for name, value in names.items()]
    if input.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {shape_text(input.shape)}")
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {shape_text(bias.shape)}")
    if bias.shape[0] != input.shape[-1]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{shape_text(bias.shape)} vs. {shape_text(input.shape)}"
        )
    # Float arithmetic, of which the last bits of the result are not exact: so TensorFlow adds biases.
    reach, total = _reach(limits, 1 << 17), np.float32(0)
    scale = np.float32((2.0**32 - 1) / (2 * reach))
    offset = round_away(np.float32(-reach) * scale) + np.float32(2.0**31)
    for value, (low, high) in ((bias, limits[2:]), (input, limits[:2])):
        step = np.float32((high - low) / 255)
        first = round_away(np.float32(low) / step) * step
        floats = (numbers(value).astype(np.float32) - integer_of(value.dtype).min) * step + first
        total = total + (round_away(floats.astype(np.float32) * scale) - offset).astype(np.float64)
    return _result(total, reach, out_type)


QuantizedBiasAdd.gradient(None)
QuantizedBiasAdd.compiled(never=_NEVER)


@QuantizedBiasAdd.samples
def _(rng):
    x, bias = quantized(np.arange(6).reshape(2, 3)), quantized(np.arange(3))
    want, reach = np.array([[-320, -192, -63], [-127, 1, 129]]), np.float32(255 * 2**17)
    attrs = {"out_type": dtypes.qint32}
    yield Sample(x, bias, *_LIMITS, **attrs, expect=(want, -reach, reach))
    yield Sample(x, bias[:2], *_LIMITS, **attrs, raises=InvalidArgumentError)
    yield Sample(x[0], bias, *_LIMITS, **attrs, raises=InvalidArgumentError)
