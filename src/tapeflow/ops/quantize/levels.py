"""Levels: integers that stand for floats of a range [min, max], and the floats that they stand for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.ops.math.casting import cast
from tapeflow.ops.validate import invalid, shape_text


def numbers(x: np.ndarray) -> np.ndarray:
    """The integers of an array of a quantized dtype."""
    return x[x.dtype.names[0]] if x.dtype.names else x


def levels(x: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The integers `x` as an array of the quantized dtype `kind`."""
    kind = np.dtype(kind)
    if not kind.names:
        return x.astype(kind)
    return np.ascontiguousarray(x.astype(kind[0])).view(kind)


def integer_of(kind) -> np.iinfo:
    """The limits of the levels of a quantized dtype."""
    kind = np.dtype(kind)
    return np.iinfo(kind[0] if kind.names else kind)


def scalar(value: Any, name: str) -> float:
    """An end of a range. Raises InvalidArgumentError for what is no scalar."""
    if np.ndim(value):
        raise invalid(
            f"{name} shape must be rank 0 but is rank {np.ndim(value)}, received shape: {shape_text(np.shape(value))}"
        )
    return float(value)


def single(value: Any, name: str) -> float:
    """An end of a range, which may be a vector of one element, too."""
    if np.size(value) != 1:
        raise invalid(f"{name} must have 1 element")
    return float(np.ravel(value)[0])


def level_of(value: float, low: float, high: float, kind) -> int:
    """The level that stands for `value`, which may lie outside of the dtype's range."""
    info = integer_of(kind)
    if low == high:
        return 0
    steps = float(int(info.max) - int(info.min) + 1)
    scale = steps / ((high - low) * (steps / (steps - 1)))
    return _nearest(value * scale) - _nearest(low * scale) + int(info.min)


def round_away(x: Any) -> Any:
    """The nearest whole numbers; halves are rounded away from zero."""
    return np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)


def levels_of(values: np.ndarray, low: float, high: float, kind) -> np.ndarray:
    """The levels of the dtype that stand for `values`, those outside of the range for its ends."""
    info = integer_of(kind)
    if low == high:
        return np.zeros(values.shape, np.int64)
    steps = float(int(info.max) - int(info.min) + 1)
    scale = steps / ((high - low) * (steps / (steps - 1)))
    scaled = np.nan_to_num(values.astype(np.float64) * scale)
    nearest = round_away(scaled) - _nearest(low * scale) + float(info.min)
    return np.clip(nearest, info.min, info.max).astype(np.int64)


def floats_of(values: np.ndarray, low: float, high: float, kind) -> np.ndarray:
    """What levels stand for; the lowest one for a whole number of steps."""
    if low == high:
        return np.full(values.shape, low, np.float32)
    info = integer_of(kind)
    steps = float(int(info.max) - int(info.min) + 1)
    scale = (high - low) * (steps / (steps - 1)) / steps
    first = np.float32(np.round(np.float32(low) / np.float32(scale)) * np.float32(scale))
    return np.asarray(float(first) + (values.astype(np.float64) - float(info.min)) * scale, np.float32)


def _nearest(x: float) -> int:
    """The nearest integer; halves are rounded away from zero."""
    return int(math.copysign(math.floor(abs(x) + 0.5), x))


def quantized(values: TensorLike, kind: DType = dtypes.quint8):
    """A tensor of these levels, for samples."""
    return cast(np.asarray(values), kind)
