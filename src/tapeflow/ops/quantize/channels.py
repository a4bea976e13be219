"""Changes of the range of 32-bit levels, of which each channel of an image has a range of its own."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.quantize.levels import integer_of, levels, numbers, quantized, single
from tapeflow.ops.signature import dtype, number
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_WIDE = (dtypes.qint32,)
_NEVER = "it computes in integers that stand for floats"
_STEPS = np.float32(2.0**31)


def _reaches(input: np.ndarray, input_min: np.ndarray, input_max: np.ndarray) -> np.ndarray:
    """What the last level of each channel stands for, as ranges are symmetric."""
    if np.size(input_min) != np.size(input_max):
        raise invalid(f"input_max has incorrect size, expected {np.size(input_min)} was {np.size(input_max)}")
    reaches = np.maximum(abs(np.ravel(input_min)), abs(np.ravel(input_max))).astype(np.float32)
    if reaches.size not in (1, input.shape[-1]):
        raise invalid(
            f"input must have same number of channels as length of input_min: {input.shape[-1]} vs {reaches.size}"
        )
    return reaches




@op(
    "RequantizationRangePerChannel",
    "input: T, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32",
    types={"T": _WIDE},
    attrs={"clip_value_max": number},
    ranks="input: 4, input_min: 1, input_max: 1",
    shape=lambda call: [(), ()],
)
def RequantizationRangePerChannel(
    xp: ModuleType, input: np.ndarray, input_min: np.ndarray, input_max: np.ndarray, clip_value_max: float
):
    if input.ndim != 4:
        raise invalid("input must be in NHWC format")
    x, reaches = numbers(input), _reaches(input, input_min, input_max)
    if not x.size:
        raise invalid("input must not be empty")
    if reaches.size != x.shape[-1]:
        raise invalid(
            f"input must have same number of channels as length of input_min: {x.shape[-1]} vs {reaches.size}"
        )
    least, most = (f(x.reshape(-1, x.shape[-1]), axis=0) for f in (np.min, np.max))
    used = np.maximum(abs(least.astype(np.float32)), abs(most.astype(np.float32))) * (reaches / _STEPS)
    reach = np.fmin(np.fmax(np.fmax.reduce(used), np.finfo(np.float32).tiny), np.float32(clip_value_max))
    return np.float32(0) if (x >= 0).all() else -reach, reach


@op(
    "RequantizePerChannel",
    "input: T, input_min: float32, input_max: float32, requested_output_min: float32, "
    "requested_output_max: float32 -> output: out_type, output_min: float32, output_max: float32",
    types={"T": _WIDE},
    attrs={"out_type": dtype(dtypes.quint8)},
    ranks="input: 4",
    shape=lambda call: [shapes.with_rank(call.shape(0), 4), (), ()],
)
def RequantizePerChannel(
    xp: ModuleType, input: np.ndarray, input_min: np.ndarray, input_max: np.ndarray, requested_output_min: np.ndarray,
    requested_output_max: np.ndarray, out_type: DType,
):
    low = np.float32(single(requested_output_min, "requested_output_min"))
    high = np.float32(single(requested_output_max, "requested_output_max"))
    if input.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(input.shape)}")
    if out_type not in (dtypes.quint8, dtypes.qint8):
        raise invalid(f"out_type must be quint8 or qint8, got {out_type.name}")
    if out_type == dtypes.qint8 and low >= 0:
        raise invalid(f"If out_type is QINT8, requested_output_max must be non negative, got {low:g}")
    info = integer_of(out_type.as_numpy_dtype)
    with np.errstate(all="ignore"):
        step = _reaches(input, input_min, input_max) / max(abs(low), abs(high)) / _STEPS * np.float32(info.max)
        y = np.rint(numbers(input).astype(np.float32) * step)
        y = np.clip(np.nan_to_num(y, nan=info.min), info.min, info.max)
    return levels(y, out_type.as_numpy_dtype), low, high


for _row in (RequantizationRangePerChannel, RequantizePerChannel):
    _row.gradient(None)
    _row.compiled(never=_NEVER)

_X = np.array([[-512, 1024], [100, -2048]]).reshape(1, 2, 1, 2)
_ENDS = np.array([[-(2.0**31), -(2.0**30)], [2.0**31, 2.0**30]], np.float32)


@RequantizationRangePerChannel.samples
def _(rng: SampleGenerator):
    x = quantized(_X, dtypes.qint32)
    yield Sample(x, *_ENDS, clip_value_max=1e6, expect=(np.float32(-1024), np.float32(1024)))
    yield Sample(x, *_ENDS, clip_value_max=600.0, expect=(np.float32(-600), np.float32(600)))
    positive = quantized(abs(_X), dtypes.qint32)
    yield Sample(positive, *_ENDS, clip_value_max=1e6, expect=(np.float32(0), np.float32(1024)))
    yield Sample(x, _ENDS[0], _ENDS[1][:1], clip_value_max=1e6, raises=InvalidArgumentError)
    yield Sample(x, _ENDS[0][:1], _ENDS[1][:1], clip_value_max=1e6, raises=InvalidArgumentError)
    yield Sample(x[0], *_ENDS, clip_value_max=1e6, raises=InvalidArgumentError)
    yield Sample(x[:0], *_ENDS, clip_value_max=1e6, raises=InvalidArgumentError)


@RequantizePerChannel.samples
def _(rng: SampleGenerator):
    x, limits = quantized(_X, dtypes.qint32), (np.float32(-512), np.float32(1024))
    of_bytes = np.array([[0, 128], [25, 0]]).reshape(_X.shape)
    signed = np.array([[-64, 64], [12, -127]]).reshape(_X.shape)
    yield Sample(x, *_ENDS, *limits, expect=(of_bytes, *limits))
    yield Sample(x, *_ENDS, *limits, out_type=dtypes.qint8, expect=(signed, *limits))
    yield Sample(x, _ENDS[0][0], _ENDS[1][0], *limits, expect=(np.array([0, 255, 25, 0]).reshape(_X.shape), *limits))
    yield Sample(x, *_ENDS, limits[1], limits[1], out_type=dtypes.qint8, raises=InvalidArgumentError)
    yield Sample(x, *_ENDS, limits, limits[1], raises=InvalidArgumentError)
    yield Sample(x, _ENDS[0], _ENDS[1][:1], *limits, raises=InvalidArgumentError)
    yield Sample(x[0], *_ENDS, *limits, raises=InvalidArgumentError)
