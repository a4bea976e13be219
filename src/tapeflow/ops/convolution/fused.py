"""Convolutions of images that get a mirrored border first, and may be resized before that."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.padding import MirrorPad
from tapeflow.ops.convolution.rows import Conv2D
from tapeflow.ops.convolution.sliding import sliding_rule
from tapeflow.ops.convolution.taps import convolve
from tapeflow.ops.image.resize.bilinear import resized_by_lines
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_ATTRS = {"mode": one_of("REFLECT", "SYMMETRIC"), "strides": ints, "padding": one_of("SAME", "VALID")}
_ONES = [1, 1, 1, 1]


def _rule_of(call: ShapeCall, size, paddings: int):
    """The result's shape; the filter comes after the borders. `size`: height and width before the border, or None."""
    n, *own, depth = shapes.with_rank(call.shape(0), 4)
    weights = shapes.with_rank(call.shape(paddings + 1), 4)
    shapes.same_dimension(depth, weights[2])
    border = call.value(paddings)
    rows, columns = shapes.with_rank(call.shape(paddings), 2)
    shapes.exactly(rows, 4)
    shapes.exactly(columns, 2)
    if border is not None and np.shape(border) != (4, 2):
        raise invalid(f"paddings must be a matrix with 2 columns: {shape_text(np.shape(border))}")
    around = [None, None] if border is None else [int(a) + int(b) for a, b in border[1:3]]
    if border is None:
        n = None
    elif n is not None:
        n += int(border[0].sum())
    sizes = [None if a is None or b is None else a + b for a, b in zip(size or own, around, strict=True)]
    return [
        sliding_rule(
            "NHWC", (n, *sizes, depth), weights[:2], call.attr("strides"), _ONES, call.attr("padding"), (), weights[3]
        )
    ]


def _resized_rule(call: ShapeCall):
    size = shapes.vector_value(call, 1) or (None, None)
    shapes.exactly(len(size), 2)
    return _rule_of(call, size, 2)


def _convolved(
    xp: ModuleType, x: Array, paddings: Array, filter: Array, mode: str, strides: Sequence[int], padding: str
):
    if x.ndim != 4:
        raise invalid(f"input must be 4-dimensional: {shape_text(x.shape)}")
    if np.shape(paddings) != (4, 2):
        raise invalid(f"paddings must be a matrix with 2 columns: {shape_text(np.shape(paddings))}")
    if filter.ndim != 4 or filter.shape[2] != x.shape[3]:
        raise invalid(f"input and filter must have the same depth: {shape_text(x.shape)}, {shape_text(filter.shape)}")
    x = MirrorPad.kernel(xp, x, paddings, mode)
    return convolve(xp, x, filter, 4, padding, strides, _ONES, "NHWC")


@op(
    "FusedPadConv2D", "input: T, paddings: int32, filter: T -> output: T",
    types={"T": (dtypes.float32, dtypes.float64, dtypes.float16)}, attrs=_ATTRS,
    ranks="input: 4, paddings: 2, filter: 4", shape=lambda call: _rule_of(call, None, 1),
)  # fmt: skip
def FusedPadConv2D(
    xp: ModuleType, input: Array, paddings: Array, filter: Array, mode: str, strides: Sequence[int], padding: str
):
    return _convolved(xp, input, paddings, filter, mode, strides, padding)


FusedPadConv2D.gradient(None)
FusedPadConv2D.compiled(static="paddings")
_BORDER = [[0, 0], [1, 2], [0, 1], [0, 0]]


@FusedPadConv2D.samples
def _(rng: SampleGenerator):
    # One image: TensorFlow gives all images of a batch the result of the first one.
    x, w = rng.normal(1, 5, 4, 3), rng.normal(2, 3, 3, 2)
    for mode in ("REFLECT", "SYMMETRIC"):
        yield Sample(x, _BORDER, w, mode=mode, strides=[1, 2, 1, 1], padding="VALID")
    yield Sample(x, np.zeros((4, 2), np.int32), w, mode="REFLECT", strides=_ONES, padding="SAME")
    yield Sample(x, _BORDER, w[:, :, :2], mode="REFLECT", strides=_ONES, padding="SAME", raises=InvalidArgumentError)
    yield Sample(x, [[1, 1]], w, mode="REFLECT", strides=_ONES, padding="SAME", raises=InvalidArgumentError)


def _in_steps(x, paddings, filter, mode, strides, padding):
    edge = "reflect" if mode == "REFLECT" else "symmetric"
    x = np.pad(np.asarray(x), paddings, mode=edge)
    return Conv2D(x, filter, strides=strides, padding=padding)


FusedPadConv2D.reference(_in_steps)


@op(
    "FusedResizeAndPadConv2D", "input: T, size: int32, paddings: int32, filter: T -> output: T",
    types={"T": (dtypes.float32, dtypes.float64, dtypes.float16)},
    attrs={"resize_align_corners": False, **_ATTRS},
    ranks="input: 4, size: 1, paddings: 2, filter: 4", shape=_resized_rule,
)  # fmt: skip
def FusedResizeAndPadConv2D(
    xp: ModuleType, input: Array, size: Array, paddings: Array, filter: Array, resize_align_corners: bool, mode: str,
    strides: Sequence[int], padding: str,
):
    resized = resized_by_lines(xp, input, size, resize_align_corners)
    return _convolved(xp, resized, paddings, filter, mode, strides, padding)


FusedResizeAndPadConv2D.gradient(None)
FusedResizeAndPadConv2D.compiled(static="size, paddings")


@FusedResizeAndPadConv2D.samples
def _(rng: SampleGenerator):
    x, w, size = rng.normal(1, 3, 4, 3), rng.normal(2, 3, 3, 2), np.array([6, 5], np.int32)
    for corners in (False, True):
        yield Sample(x, size, _BORDER, w, resize_align_corners=corners, mode="REFLECT", strides=_ONES, padding="VALID")
    yield Sample(x, size, _BORDER, w, mode="SYMMETRIC", strides=[1, 2, 1, 1], padding="SAME")
    yield Sample(x, [1], _BORDER, w, mode="REFLECT", strides=_ONES, padding="SAME", raises=InvalidArgumentError)


@FusedResizeAndPadConv2D.reference
def _(input, size, paddings, filter, resize_align_corners, mode, strides, padding):
    x, between = np.asarray(input), []
    for axis in (1, 2):
        old, new = x.shape[axis], int(size[axis - 1])
        step = np.float32((old - 1) / (new - 1) if resize_align_corners else old / new)
        between.append(np.minimum(np.arange(new, dtype=np.float32) * step, old - 1))
    for axis, at in zip((1, 2), between, strict=True):
        x = np.apply_along_axis(lambda line, at=at: np.interp(at, np.arange(len(line)), line), axis, x)
    return _in_steps(x.astype(np.asarray(input).dtype), paddings, filter, mode, strides, padding)
