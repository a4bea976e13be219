"""Products of quantized tensors, and what brings their 32 bits back to 8: ranges, and changes of range."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.quantize.levels import (
    floats_of,
    integer_of,
    level_of,
    levels,
    levels_of,
    numbers,
    quantized,
    scalar,
)
from tapeflow.ops.quantize.products import unit
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_BYTES, _WIDE = (dtypes.quint8,), (dtypes.qint32,)
_NEVER = "it computes in integers that stand for floats"


def _centered(x: Any, low: float, high: float) -> np.ndarray:
    """The levels of `x` counted from that of zero."""
    return numbers(x).astype(np.int64) - level_of(0.0, low, high, x.dtype)


def _limits(**given) -> list[float]:
    """The scalars of two ranges, each of which must not be empty."""
    values = [scalar(value, name) for name, value in given.items()]
    for low, high, name in zip(values[::2], values[1::2], list(given)[1::2], strict=True):
        if not low < high:
            raise invalid(f"{name} must be larger than its min: {high} vs {low}")
    return values


def _product(y, x_limits, y_limits, x_kind, y_kind, out_type):
    """A sum of products as levels of `out_type`, and the range of these."""
    if out_type != dtypes.qint32:
        raise invalid(f"Toutput must be qint32, got {out_type.name}")
    info = np.iinfo(np.int32)
    step = unit(*x_limits, x_kind) * unit(*y_limits, y_kind)
    out = levels(np.clip(y, info.min, info.max), out_type.as_numpy_dtype)
    return out, np.float32(step * -(2**31)), np.float32(step * 2**31)


def _matmul_rule(call: ShapeCall):
    return [*MatMul.shape_rule(call), (), ()]


@op(
    "QuantizedMatMul",
    "a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32 "
    "-> out: Toutput, min_out: float32, max_out: float32",
    types={"T1": _BYTES, "T2": _BYTES},
    attrs={
        "Toutput": dtype(dtypes.qint32),
        "transpose_a": False,
        "transpose_b": False,
        "Tactivation": dtype(dtypes.quint8),
    },
    ranks="a: 2, b: 2, min_a: 0, max_a: 0, min_b: 0, max_b: 0",
    shape=_matmul_rule,
    quantizes=("MatMul",),
)
def QuantizedMatMul(
    xp: ModuleType, a: np.ndarray, b: np.ndarray, min_a: Array, max_a: Array, min_b: Array, max_b: Array,
    Toutput: DType, transpose_a: bool, transpose_b: bool, Tactivation: DType,
):
    limits = [
        scalar(v, name)
        for name, v in {"min_a": min_a, "max_a": max_a, "min_b": min_b, "max_b": max_b}.items()
    ]
    for name, x in (("a", a), ("b", b)):
        if x.ndim != 2:
            raise invalid(f"In[{'ab'.index(name)}] is not a matrix. Instead it has shape {shape_text(x.shape)}")
    x, y = _centered(a, *limits[:2]), _centered(b, *limits[2:])
    x, y = x.T if transpose_a else x, y.T if transpose_b else y
    if x.shape[1] != y.shape[0]:
        raise invalid(
            f"Matrix size-incompatible: In[0]: {shape_text(a.shape)}, In[1]: {shape_text(b.shape)}"
        )
    return _product(x @ y, limits[:2], limits[2:], a.dtype, b.dtype, Toutput)


QuantizedMatMul.gradient(None)
QuantizedMatMul.compiled(never=_NEVER)


@QuantizedMatMul.samples
def _(rng):
    a, b = quantized(np.arange(6).reshape(2, 3)), quantized(np.arange(6).reshape(3, 2))
    limits = [np.float32(v) for v in (0, 255, -1, 254)]
    reach = np.float32(2.0**31)
    want = np.array([[7, 10], [16, 28]])
    yield Sample(a, b, *limits, expect=(want, -reach, reach))
    turned = {"transpose_a": True, "transpose_b": True}
    yield Sample(b, a, *limits, **turned, expect=(np.array([[4, 22], [4, 31]]), -reach, reach))
    yield Sample(a, a, *limits, raises=InvalidArgumentError)
    yield Sample(a[0], b, *limits, raises=InvalidArgumentError)
    yield Sample(a, b, np.float32([0]), *limits[1:], raises=InvalidArgumentError)


def _broadcast_rule(call: ShapeCall):
    return [shapes.broadcast(call.shape(0), call.shape(1)), (), ()]


@op(
    "QuantizedMul",
    "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 "
    "-> z: Toutput, min_z: float32, max_z: float32",
    types={"T1": _BYTES, "T2": _BYTES},
    attrs={"Toutput": dtype(dtypes.qint32)},
    shape=_broadcast_rule,
    quantizes=("Mul",),
)
def QuantizedMul(
    xp: ModuleType, x: Array, y: Array, min_x: Array, max_x: Array, min_y: Array, max_y: Array, Toutput: DType
):
    limits = _limits(min_x=min_x, max_x=max_x, min_y=min_y, max_y=max_y)
    try:
        z = _centered(x, *limits[:2]) * _centered(y, *limits[2:])
    except ValueError:
        listed = f"{shape_text(x.shape)} and {shape_text(y.shape)}"
        raise invalid(f"Incompatible shapes: {listed}") from None
    return _product(z, limits[:2], limits[2:], x.dtype, y.dtype, Toutput)


QuantizedMul.gradient(None)
QuantizedMul.compiled(never=_NEVER)


@QuantizedMul.samples
def _(rng: SampleGenerator):
    x, y = quantized(np.arange(6).reshape(2, 3)), quantized(np.arange(3))
    limits = [np.float32(v) for v in (0, 255, -1, 254)]
    reach = np.float32(2.0**31)
    want = np.array([[0, 0, 2], [-3, 0, 5]])
    yield Sample(x, y, *limits, expect=(want, -reach, reach))
    yield Sample(x, y[:2], *limits, raises=InvalidArgumentError)
    yield Sample(x, y, limits[1], limits[0], *limits[2:], raises=InvalidArgumentError)


@op(
    "QuantizedReshape",
    "tensor: T, shape: Tshape, input_min: float32, input_max: float32 "
    "-> output: T, output_min: float32, output_max: float32",
    types={"T": ANY, "Tshape": INDEX},
    ranks="input_min: 0, input_max: 0",
    shape=lambda call: [*Reshape.shape_rule(call), (), ()],
    quantizes=("Reshape",),
)
def QuantizedReshape(xp: ModuleType, tensor: Array, shape: Array, input_min: Array, input_max: Array):
    low, high = scalar(input_min, "input_min"), scalar(input_max, "input_max")
    return Reshape.kernel(xp, tensor, shape), np.float32(low), np.float32(high)


QuantizedReshape.gradient(None)
QuantizedReshape.compiled(never=_NEVER)


@QuantizedReshape.samples
def _(rng: SampleGenerator):
    x, limits = quantized(np.arange(6)), (np.float32(-1), np.float32(2))
    yield Sample(x, [2, -1], *limits, expect=(np.arange(6).reshape(2, 3), *limits))
    yield Sample(x, [4], *limits, raises=InvalidArgumentError)
    yield Sample(x, [6], limits, limits[1], raises=InvalidArgumentError)


def _used(input: Any, low: float, high: float) -> tuple[float, float]:
    """The range of the floats that levels stand for, which includes zero."""
    x = numbers(input)
    if not x.size:
        raise invalid("input must not be empty")
    first, last = floats_of(np.stack([x.min(), x.max()]), low, high, input.dtype)
    return min(0.0, float(first)), float(last)


@op(
    "RequantizationRange",
    "input: Tinput, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32",
    types={"Tinput": _WIDE},
    ranks="input_min: 0, input_max: 0",
    shape=lambda call: [(), ()],
)
def RequantizationRange(xp: ModuleType, input: Array, input_min: Array, input_max: Array):
    low, high = _used(input, scalar(input_min, "input_min"), scalar(input_max, "input_max"))
    return np.float32(low), np.float32(high)


RequantizationRange.gradient(None)
RequantizationRange.compiled(never=_NEVER)

_WIDE_RANGE = (np.float32(-(2.0**31)), np.float32(2.0**31))


def _wide(values: Sequence[int]):
    return quantized(values, dtypes.qint32)


@RequantizationRange.samples
def _(rng: SampleGenerator):
    yield Sample(_wide([-512, 0, 1024]), *_WIDE_RANGE, expect=(np.float32(-511.5), np.float32(1024.5)))
    yield Sample(_wide([512, 1024]), *_WIDE_RANGE, expect=(np.float32(0), np.float32(1024.5)))


_FRACTION = 16  # bits behind the point of what changes of range compute with


def _requantized(input, low, high, new_low, new_high, out_type):
    """The levels of 32 bits in a new range, of 8 bits, as levels of the dtype `out_type`."""
    x, info = numbers(input).astype(np.int64), integer_of(out_type.as_numpy_dtype)
    width, one = new_high - new_low, 1 << _FRACTION
    if out_type == dtypes.quint8:
        scale = 0 if width == 0 else int(255.0 * one * (high - low) / width)
        middle = 0 if width == 0 else int((low + high) / 2.0 * (255.0 / width) * one)
        start = 0 if width == 0 else int(np.rint(new_low * 255.0 / width))
        fixed = ((x * scale) >> 32) + middle - (start << _FRACTION)
        y = (fixed + (one >> 1)) >> _FRACTION
    else:
        y = levels_of(floats_of(x, low, high, input.dtype), new_low, new_high, out_type.as_numpy_dtype)
    return levels(np.clip(y, info.min, info.max), out_type.as_numpy_dtype)


_RESULT = "output: out_type, output_min: float32, output_max: float32"


def _narrow(out_type: DType, allowed: Sequence[DType]) -> None:
    if out_type not in allowed:
        listed = " or ".join(each.name for each in allowed)
        raise invalid(f"out_type must be {listed}, got {out_type.name}")


@op(
    "Requantize",
    "input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, "
    "requested_output_max: float32 -> " + _RESULT,
    types={"Tinput": _WIDE},
    attrs={"out_type": dtype},
    ranks="input_min: 0, input_max: 0, requested_output_min: 0, requested_output_max: 0",
    shape=lambda call: [call.shape(0), (), ()],
)
def Requantize(
    xp: ModuleType, input: Array, input_min: np.ndarray, input_max: np.ndarray, requested_output_min: np.ndarray,
    requested_output_max: np.ndarray, out_type: DType,
):
    low, high = scalar(input_min, "input_min"), scalar(input_max, "input_max")
    new_low = scalar(requested_output_min, "requested_output_min")
    new_high = scalar(requested_output_max, "requested_output_max")
    _narrow(out_type, (dtypes.quint8, dtypes.qint8))
    if new_low > 0:
        raise invalid(f"requested_output_min must be <= 0, but got {new_low}")
    if new_high < new_low:
        raise invalid(
            f"requested_output_max must be >= requested_output_min, but got {new_high} and {new_low}"
        )
    if not all(map(np.isfinite, (low, high, new_low, new_high))):
        raise invalid(f"ranges must be finite, got {[low, high, new_low, new_high]}")
    out = _requantized(input, low, high, new_low, new_high, out_type)
    return out, np.float32(new_low), np.float32(new_high)


Requantize.gradient(None)
Requantize.compiled(never=_NEVER)


@Requantize.samples
def _(rng: SampleGenerator):
    x = _wide([-512, 0, 100, 1024])
    limits = (np.float32(-512), np.float32(1024))
    yield Sample(
        x, *_WIDE_RANGE, *limits, out_type=dtypes.quint8, expect=(np.array([0, 85, 102, 255]), *limits)
    )
    yield Sample(
        x, *_WIDE_RANGE, *limits, out_type=dtypes.qint8, expect=(np.array([-128, -43, -26, 127]), *limits)
    )
    bad = np.float32(1)
    yield Sample(x, *_WIDE_RANGE, bad, limits[1], out_type=dtypes.quint8, raises=InvalidArgumentError)
    yield Sample(x, *_WIDE_RANGE, limits[0], -limits[1], out_type=dtypes.quint8, raises=InvalidArgumentError)
    yield Sample(x, *_WIDE_RANGE, limits, limits[1], out_type=dtypes.quint8, raises=InvalidArgumentError)


@op(
    "QuantizeDownAndShrinkRange",
    "input: Tinput, input_min: float32, input_max: float32 -> " + _RESULT,
    types={"Tinput": _WIDE},
    attrs={"out_type": dtype},
    ranks="input_min: 0, input_max: 0",
    shape=lambda call: [call.shape(0), (), ()],
)
def QuantizeDownAndShrinkRange(
    xp: ModuleType, input: Array, input_min: np.ndarray, input_max: np.ndarray, out_type: DType
):
    low, high = scalar(input_min, "input_min"), scalar(input_max, "input_max")
    _narrow(out_type, _BYTES)
    if not np.isfinite(low) or not np.isfinite(high):
        raise invalid(f"ranges must be finite, got {[low, high]}")
    used = _used(input, low, high)
    out = _requantized(input, low, high, *used, out_type)
    return out, np.float32(used[0]), np.float32(used[1])


QuantizeDownAndShrinkRange.gradient(None)
QuantizeDownAndShrinkRange.compiled(never=_NEVER)


@QuantizeDownAndShrinkRange.samples
def _(rng):
    want = (np.array([0, 85, 102, 255]), np.float32(-511.5), np.float32(1024.5))
    x = _wide([-512, 0, 100, 1024])
    yield Sample(x, *_WIDE_RANGE, out_type=dtypes.quint8, expect=want)
    yield Sample(x, np.float32([0]), np.float32(1), out_type=dtypes.quint8, raises=InvalidArgumentError)
