"""Equalization by histograms, of whole images and of parts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.control.flow import numpy_function
from tapeflow.ops.math.casting import cast


def _by_array(function: Callable[..., Any], images):
    """A function of arrays called on images, in graphs when they run."""
    if executing_eagerly():
        return convert_to_tensor(function(images.numpy()).astype(images.dtype.as_numpy_dtype))
    values = numpy_function(
        lambda x: function(x).astype("float32"), [cast(images, dtypes.float32)], dtypes.float32
    )
    values.set_shape(images.shape)
    return cast(values, images.dtype)


def equalized(images: TensorLike, value_range: Sequence[int], bins: int):
    """Each channel of (batch, height, width, channels) by the cumulative frequencies of its values in the batch."""
    low, high = (float(x) for x in value_range)

    def channel(values: np.ndarray):
        scaled = (values - low) / (high - low) * (bins - 1)
        index = np.clip(scaled, 0, bins - 1).astype("int64")
        counts = np.bincount(index.reshape(-1), minlength=bins)
        if np.count_nonzero(counts) <= 1:
            return values
        total = counts.cumsum()
        first = total[np.nonzero(counts)[0][0]]
        table = (total - first) / max(total[-1] - first, 1) * (bins - 1)
        table = np.clip(np.round(table), 0, bins - 1)
        return table[index] / (bins - 1) * (high - low) + low

    def whole(x: np.ndarray):
        return np.stack([channel(x[..., i]) for i in range(x.shape[-1])], -1)

    return _by_array(whole, images)


def locally_equalized(images, clip_limit, grid):
    """Each channel by the clipped frequencies around each pixel, in [0, 255]; between parts, interpolated."""

    def channel(values):
        height, width = values.shape
        rows, columns = grid
        tall, wide = -(-height // rows), -(-width // columns)
        padded = np.pad(
            values, ((0, tall * rows - height), (0, wide * columns - width)), "symmetric"
        )
        index = np.clip(padded, 0, 255).astype("int64")
        parts = (
            index.reshape(rows, tall, columns, wide)
            .transpose(0, 2, 1, 3)
            .reshape(rows, columns, -1)
        )
        tables = np.zeros([rows, columns, 256])
        size = tall * wide
        for r in range(rows):
            for c in range(columns):
                counts = np.bincount(parts[r, c], minlength=256).astype(float)
                if clip_limit > 0:
                    limit = clip_limit * size / 256.0
                    excess = np.maximum(counts - limit, 0).sum()
                    counts = np.minimum(counts, limit) + excess / 256.0
                total = counts.cumsum()
                first = total.min()
                tables[r, c] = np.clip((total - first) * 255.0 / ((size - first) or 1.0), 0, 255)
        y = np.clip(np.arange(height) / tall - 0.5, 0, rows - 1)
        x = np.clip(np.arange(width) / wide - 0.5, 0, columns - 1)
        y0, x0 = y.astype(int), x.astype(int)
        y1, x1 = np.minimum(y0 + 1, rows - 1), np.minimum(x0 + 1, columns - 1)
        fy, fx = (y - y0)[:, None], (x - x0)[None]
        value = index[:height, :width]

        def at(r, c):
            return tables[r[:, None], c[None], value]

        above = at(y0, x0) * (1 - fx) + at(y0, x1) * fx
        below = at(y1, x0) * (1 - fx) + at(y1, x1) * fx
        return above * (1 - fy) + below * fy

    return _by_array(lambda x: _each_channel(channel, x), images)


def _each_channel(function, images):
    """A function of (height, width) on each channel of each image."""
    moved = np.moveaxis(images, -1, 1)
    flat = moved.reshape(-1, *moved.shape[2:])
    results = np.stack([function(channel) for channel in flat]) if len(flat) else flat
    return np.moveaxis(results.reshape(moved.shape), 1, -1)
