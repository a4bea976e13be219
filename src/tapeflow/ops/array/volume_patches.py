"""Patches of volumes: blocks of voxels, laid out along the channels."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.convolution.sliding import sliding_rule, spatial, windows
from tapeflow.ops.math.segment import UnsortedSegmentSum
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.static import as_shape, product, sizes_in
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall

_ONES = [1, 1, 1, 1, 1]


def _five(ksizes: Sequence[int], strides: Sequence[int]) -> None:
    for what, values in (("ksizes", ksizes), ("strides", strides)):
        if len(values) < 5:
            raise invalid(f"Length for attr '{what}' of {len(values)} must be at least minimum 5")


def _rule(call: ShapeCall):
    shape, sizes, steps = shapes.with_rank(call.shape(0), 5), call.attr("ksizes"), call.attr("strides")
    _five(sizes, steps)
    depth = None if shape[4] is None else shape[4] * sizes[1] * sizes[2] * sizes[3]
    attrs = (list(sizes[1:4]), steps, _ONES, call.attr("padding"))
    return [sliding_rule("NDHWC", shape, *attrs, (), depth)]


@op(
    "ExtractVolumePatches",
    "input: T -> patches: T",
    types={"T": REAL},
    attrs={"ksizes": ints, "strides": ints, "padding": one_of("SAME", "VALID")},
    shape=_rule,
)
def ExtractVolumePatches(
    xp: ModuleType, input: Array, ksizes: Sequence[int], strides: Sequence[int], padding: str
):
    _five(ksizes, strides)
    if input.ndim != 5:
        raise invalid(f"input must be 5-dimensional{shape_text(input.shape)}")
    taps, steps = spatial(ksizes, "NDHWC", "ksizes"), spatial(strides, "NDHWC", "strides")
    for what, values in (("ksizes", taps), ("strides", steps)):
        if min(values) <= 0:
            raise OutOfRangeError(None, None, f"{what} is out of range: {shape_text(values)}")
    win = windows(input.shape[1:4], taps, steps, [1, 1, 1], padding)
    padded = win.padded(xp, input)
    return xp.concatenate([padded[win.under(offset)] for offset in win.offsets()], -1)


@ExtractVolumePatches.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    attrs = (call.ksizes, call.strides, call.padding)
    if call.static_shape("input").rank is None:
        shape = call.shape("input")
        batch, *space, depth = (shape[i] for i in range(5))
    else:
        batch, *space, depth = sizes_in(call, "input")
    volume = product(space)
    # Where each element of a patch comes from, counted from one; zero is the padding.
    numbers = Reshape(range_(1, volume + 1), as_shape([1, *space, 1]))
    sources = Reshape(ExtractVolumePatches(numbers, *attrs), [-1])
    parts = Transpose(Reshape(dy, as_shape([batch, -1, depth])), [1, 0, 2])
    summed = UnsortedSegmentSum(parts, sources, volume + 1)[1:]
    return Reshape(Transpose(summed, [1, 0, 2]), as_shape([batch, *space, depth]))


@ExtractVolumePatches.samples
def _(rng):
    x = rng.normal(2, 3, 4, 3, 2)
    good = {"ksizes": [1, 2, 2, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": "VALID"}
    yield Sample(x, **good)
    yield Sample(x, **{**good, "padding": "SAME"})
    yield Sample(x[:1], ksizes=[1, 3, 1, 2, 1], strides=[1, 2, 1, 2, 1], padding="SAME")
    yield Sample(x[0], **good, raises=InvalidArgumentError)
    yield Sample(x, **{**good, "ksizes": [1, 9, 2, 2, 1]}, raises=InvalidArgumentError)
    yield Sample(x, **{**good, "ksizes": [1, 2, 2]}, raises=InvalidArgumentError)
    yield Sample(x, **{**good, "ksizes": [1, 0, 2, 2, 1]}, raises=OutOfRangeError)
    yield Sample(x, **{**good, "strides": [1, 0, 2, 2, 1]}, raises=OutOfRangeError)


@ExtractVolumePatches.reference
def _(input: np.ndarray, ksizes: Sequence[int], strides: Sequence[int], padding: str):
    counts, before = [], []
    for n, k, s in zip(input.shape[1:4], ksizes[1:4], strides[1:4], strict=True):
        counts.append((n - k) // s + 1 if padding == "VALID" else -(-n // s))
        total = max((counts[-1] - 1) * s + k - n, 0)
        before.append(0 if padding == "VALID" else total // 2)
    out = []
    for at in np.ndindex(*counts):
        for tap in np.ndindex(*ksizes[1:4]):
            place = tuple(i * s + t - b for i, s, t, b in zip(at, strides[1:4], tap, before, strict=True))
            inside = all(0 <= p < n for p, n in zip(place, input.shape[1:4], strict=True))
            out.append(input[(slice(None), *place)] if inside else np.zeros_like(input[:, 0, 0, 0]))
    return np.stack(out, 1).reshape(len(input), *counts, -1)


@api("extract_volume_patches")
@tensor_function
def extract_volume_patches(
    input: TensorLike, ksizes, strides, padding: str | Sequence[Any], name: str | None = None
) -> Tensor:
    """Cut blocks of voxels out of volumes.

    Args:
      input: a real tensor `[batch, planes, rows, columns, channels]`.
      ksizes: the size of a block, five ints of which the first and last are 1.
      strides: how far blocks are apart, likewise.
      padding: "VALID" or "SAME".
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch, new planes, new rows, new columns, voxels of a block * channels]`.

    Raises:
      InvalidArgumentError: for other sizes of batch and channels.
    """
    return ExtractVolumePatches(input, list(ksizes), list(strides), padding)
