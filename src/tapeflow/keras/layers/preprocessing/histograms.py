"""Equalization by histograms, of whole images and of parts of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.division import floordiv, floormod
from tapeflow.ops.math.reductions import reduce_min, reduce_sum
from tapeflow.ops.math.rounding import round as round_of


def _counts(index, groups, bins):
    """How often each bin occurs in each row of `index` (groups, values), as (groups, bins) of floats."""
    place = reshape(index + bins * range_of(groups)[:, None], [-1, 1])
    ones = cast(place[:, 0] >= 0, dtypes.float32)
    return reshape(scatter_nd(place, ones, [groups * bins]), [groups, bins])


def equalized(images: Tensor, value_range: Sequence[int], bins: int):
    """Each channel of (batch, height, width, channels) by the cumulative frequencies of its values in the batch."""
    low, high = (float(x) for x in value_range)
    values = cast(images, dtypes.float32)
    sizes = shape_of(values)
    channels = sizes[3]
    rows = reshape(transpose(values, [3, 0, 1, 2]), [channels, -1])
    index = cast(clip_by_value((rows - low) / (high - low) * (bins - 1), 0.0, float(bins - 1)), dtypes.int32)
    counts = _counts(index, channels, bins)
    total = cumsum(counts, axis=1)
    least = reduce_min(where(counts > 0, total, np.float32(np.inf)), axis=1, keepdims=True)
    table = (total - least) / maximum(total[:, -1:] - least, 1.0) * (bins - 1)
    table = clip_by_value(round_of(table), 0.0, float(bins - 1))
    found = gather(table, index, axis=1, batch_dims=1) / (bins - 1) * (high - low) + low
    one_bin = reduce_sum(cast(counts > 0, dtypes.int32), axis=1, keepdims=True) <= 1
    back = reshape(where(one_bin, rows, found), [channels, sizes[0], sizes[1], sizes[2]])
    result = transpose(back, [1, 2, 3, 0])
    result.set_shape(images.shape)
    return cast(result, images.dtype)


def _mirrored(x: Tensor, axis: int, count: int):
    """x with its first `count` entries from the end added at the end, in reverse order; again, where it has fewer."""
    size = shape_of(x)[axis]
    whole = concat([x, reverse(x, [axis])], axis)
    place = floormod(range_of(size + count), 2 * size)
    return gather(whole, place, axis=axis)


def locally_equalized(images: Tensor, clip_limit, grid):
    """Each channel by the clipped frequencies around each pixel, in [0, 255]; between parts, interpolated."""
    rows, columns = grid
    values = cast(images, dtypes.float32)
    sizes = shape_of(values)
    batch, height, width, channels = (sizes[i] for i in range(4))
    groups = batch * channels
    flat = reshape(transpose(values, [0, 3, 1, 2]), [groups, height, width])
    tall, wide = (floordiv(n + parts - 1, parts) for n, parts in ((height, rows), (width, columns)))
    padded = _mirrored(_mirrored(flat, 1, tall * rows - height), 2, wide * columns - width)
    index = cast(clip_by_value(padded, 0.0, 255.0), dtypes.int32)
    parts = transpose(reshape(index, [groups, rows, tall, columns, wide]), [0, 1, 3, 2, 4])
    size = cast(tall * wide, dtypes.float32)
    counts = _counts(reshape(parts, [groups * rows * columns, tall * wide]), groups * rows * columns, 256)
    if clip_limit > 0:
        limit = clip_limit * size / 256.0
        excess = reduce_sum(maximum(counts - limit, 0.0), axis=1, keepdims=True)
        counts = minimum(counts, limit) + excess / 256.0
    total = cumsum(counts, axis=1)
    first = reduce_min(total, axis=1, keepdims=True)
    spread = size - first
    table = clip_by_value((total - first) * 255.0 / where(spread == 0, 1.0, spread), 0.0, 255.0)
    table = reshape(table, [groups, rows * columns * 256])
    y0, y1, fy = _between(height, tall, rows)
    x0, x1, fx = _between(width, wide, columns)
    value = reshape(index[:, :height, :width], [groups, height * width])

    def at(y: Tensor, x: Tensor):
        place = reshape((y[:, None] * columns + x[None]) * 256, [1, height * width]) + value
        return reshape(gather(table, place, axis=1, batch_dims=1), [groups, height, width])

    above = at(y0, x0) * (1.0 - fx) + at(y0, x1) * fx
    below = at(y1, x0) * (1.0 - fx) + at(y1, x1) * fx
    result = above * (1.0 - fy)[:, None] + below * fy[:, None]
    result = transpose(reshape(result, [batch, channels, height, width]), [0, 2, 3, 1])
    result.set_shape(images.shape)
    return cast(result, images.dtype)


def _between(count: int, size, parts):
    """For each pixel along an axis the parts before and after it, and how far it is from the one to the other."""
    place = clip_by_value(cast(range_of(count), dtypes.float32) / cast(size, dtypes.float32) - 0.5, 0.0, parts - 1.0)
    before = cast(place, dtypes.int32)
    return before, minimum(before + 1, parts - 1), place - cast(before, dtypes.float32)
