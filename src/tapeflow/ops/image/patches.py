"""The patches under a sliding window."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.convolution.sliding import sliding_rule, spatial, windows
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math.segment import UnsortedSegmentSum
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.static import as_shape, sizes_in
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


# Patches

_PATCHES = (
    dtypes.float32, dtypes.bfloat16, dtypes.float16, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32,
    dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.complex64, dtypes.complex128,
    dtypes.bool,
)  # fmt: skip


def _patch_rule(call: ShapeCall):
    shape, sizes = shapes.with_rank(call.shape(0), 4), call.attr("ksizes")
    if len(sizes) != 4:
        raise invalid(f"ksizes must have length 4, not {list(sizes)}")
    depth = None if shape[3] is None else shape[3] * sizes[1] * sizes[2]
    attrs = (call.attr("strides"), call.attr("rates"), call.attr("padding"))
    return [sliding_rule("NHWC", shape, list(sizes[1:3]), *attrs, (), depth)]


@op("ExtractImagePatches", "images: T -> patches: T", types={"T": _PATCHES},
    attrs={"ksizes": ints, "strides": ints, "rates": ints, "padding": one_of("SAME", "VALID")},
    shape=_patch_rule)  # fmt: skip
def ExtractImagePatches(
    xp: ModuleType, images: Array, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int],
    padding: str,
):
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(images.shape)}")
    taps = spatial(ksizes, "NHWC", "ksizes")
    steps, holes = spatial(strides, "NHWC", "strides"), spatial(rates, "NHWC", "rates")
    for what, values in (("ksizes", taps), ("strides", steps), ("rates", holes)):
        if min(values) <= 0:
            text = f"Sliding window {what} must be positive, got {shape_text(values)}"
            raise OutOfRangeError(None, None, text)
    win = windows(images.shape[1:3], taps, steps, holes, padding)
    padded = win.padded(xp, images)
    return xp.concatenate([padded[win.under(offset)] for offset in win.offsets()], -1)


@ExtractImagePatches.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    attrs = (call.ksizes, call.strides, call.rates, call.padding)
    if call.static_shape("images").rank is None:
        shape = call.shape("images")
        batch, height, width, depth = (shape[i] for i in range(4))
    else:
        batch, height, width, depth = sizes_in(call, "images")
    area = height * width
    # Where each element of a patch comes from, counted from one; zero is the padding.
    plane = Reshape(range_(1, area + 1), as_shape([1, height, width, 1]))
    sources = Reshape(ExtractImagePatches(plane, *attrs), [-1])
    parts = Transpose(Reshape(dy, as_shape([batch, -1, depth])), [1, 0, 2])
    summed = UnsortedSegmentSum(parts, sources, area + 1)[1:]
    return Reshape(Transpose(summed, [1, 0, 2]), as_shape([batch, height, width, depth]))


def _patch_cases():
    one = [1, 1, 1, 1]
    yield {"ksizes": [1, 2, 2, 1], "strides": one, "rates": one, "padding": "VALID"}
    yield {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": one, "padding": "SAME"}
    yield {"ksizes": [1, 2, 2, 1], "strides": one, "rates": [1, 2, 2, 1], "padding": "SAME"}


@ExtractImagePatches.samples
def _(rng: SampleGenerator):
    x = rng.normal(2, 4, 3, 2)
    for attrs in _patch_cases():
        yield Sample(x, **attrs)
    good = next(iter(_patch_cases()))
    yield Sample(x[0], **good, raises=InvalidArgumentError)
    yield Sample(x, **{**good, "ksizes": [1, 0, 2, 1]}, raises=OutOfRangeError)
    yield Sample(x, **{**good, "strides": [1, 0, 1, 1]}, raises=OutOfRangeError)
    yield Sample(x, **{**good, "rates": [1, 1]}, raises=InvalidArgumentError)


@ExtractImagePatches.reference
def _(images: np.ndarray, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str):
    _, height, width, _ = images.shape
    out_rows, rows_before = _count(height, ksizes[1], strides[1], rates[1], padding)
    out_columns, columns_before = _count(width, ksizes[2], strides[2], rates[2], padding)
    out = []
    for i, j in np.ndindex(out_rows, out_columns):
        for p, q in np.ndindex(*ksizes[1:3]):
            y = i * strides[1] + p * rates[1] - rows_before
            x = j * strides[2] + q * rates[2] - columns_before
            inside = 0 <= y < height and 0 <= x < width
            out.append(images[:, y, x] if inside else np.zeros_like(images[:, 0, 0]))
    return np.stack(out, 1).reshape(len(images), out_rows, out_columns, -1)


def _count(size, taps, step: int, hole, padding):
    reach = (taps - 1) * hole + 1
    if padding == "VALID":
        return (size - reach) // step + 1, 0
    count = -(-size // step)
    return count, max((count - 1) * step + reach - size, 0) // 2


@api("image.extract_patches")
@tensor_function
def extract_patches(images: TensorLike, sizes: Any, strides, rates, padding, name: str | None = None):
    """Flatten what a window sees of images into the depth, at each of its positions.

    Args:
      images: a batch of images `(batch, rows, columns, depth)`.
      sizes: the size of the window, [1, rows, columns, 1].
      strides: how far it moves, [1, rows, columns, 1].
      rates: how far the pixels of a window are apart, [1, rows, columns, 1].
      padding: "VALID" for whole windows alone, "SAME" for zeros around the image.
      name: the name of the operation in a graph.

    Returns:
      A tensor `(batch, rows, columns, size of the window * depth)`.

    >>> image = tf.reshape(tf.range(9), [1, 3, 3, 1])
    >>> print(tf.image.extract_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").numpy()[0, 0])
    [[0 1 3 4]
     [1 2 4 5]]
    """
    return ExtractImagePatches(images, list(sizes), list(strides), list(rates), padding)


@api(v1=("image.extract_image_patches", "extract_image_patches"))
@tensor_function
def extract_image_patches_v1(
    images: TensorLike, ksizes=None, strides=None, rates=None, padding: str | Sequence[Any] | None = None,
    name: str | None = None, sizes: TensorLike | None = None,
):
    """`extract_patches` with the 1.x spelling `ksizes`."""
    ksizes = renamed("sizes", sizes, "ksizes", ksizes)
    return ExtractImagePatches(images, list(ksizes), list(strides), list(rates), padding)
