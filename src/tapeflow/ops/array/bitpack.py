"""Comparisons as bits, eight to a byte."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_COMPARED = (
    dtypes.float32, dtypes.bool, dtypes.float16, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
)  # fmt: skip


def _eighth(call: ShapeCall):
    shape = call.shape(0)
    if shape is None:
        return [None]
    return [(*shape[:-1], None if shape[-1] is None else shape[-1] // 8)] if shape else [None]


@op(
    "CompareAndBitpack",
    "input: T, threshold: T -> output: uint8",
    types={"T": _COMPARED},
    shape=_eighth,
    only_here="TensorFlow had the op, and has removed it",
)
def CompareAndBitpack(xp: ModuleType, input: Array, threshold: Array):
    if input.ndim == 0:
        raise invalid("Input should be at least a vector, but saw a scalar.")
    if threshold.ndim:
        raise invalid("Compare must be a scalar, but saw shape: " + str(list(threshold.shape)))
    if input.shape[-1] % 8:
        raise invalid(
            f"Inner dimension of input should be divisible by 8, but saw shape: {list(input.shape)}"
        )
    # The first comparison is the highest bit.
    return xp.packbits(input > threshold, axis=-1)


CompareAndBitpack.gradient(None)


@CompareAndBitpack.samples
def _(rng: SampleGenerator):
    x = np.array([[1, 2, 3, 0, 0, 0, 0, 9], [0] * 8], np.float32)
    yield Sample(x, np.float32(0.5), expect=np.array([[0b11100001], [0]], np.uint8))
    yield Sample(x.astype(np.int8), np.int8(2), expect=np.array([[0b00100001], [0]], np.uint8))
    yield Sample(x > 0, np.array(False), expect=np.array([[0b11100001], [0]], np.uint8))
    yield Sample(np.float32(1), np.float32(0), raises=InvalidArgumentError)
    yield Sample(x, x[0], raises=InvalidArgumentError)
    yield Sample(x[:, :5], np.float32(0), raises=InvalidArgumentError)
