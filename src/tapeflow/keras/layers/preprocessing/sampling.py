"""Images resampled at moved positions: projective maps and displacement fields, in ops that run everywhere."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.static import sizes_of


def grid(height: int, width: int):
    """The x and y of every pixel, each (1, height * width)."""
    y = cast(range_of(height), dtypes.float32)
    x = cast(range_of(width), dtypes.float32)
    ys = reshape(expand_dims(y, 1) + zeros_like(expand_dims(x, 0)), [1, -1])
    xs = reshape(zeros_like(expand_dims(y, 1)) + expand_dims(x, 0), [1, -1])
    return xs, ys


def project(
    images: TensorLike, matrices, interpolation: str = "bilinear", fill_mode: str = "reflect",
    fill_value: float = 0.0,
):
    """Output pixel (x, y) from input position ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1.

    Args:
      images: (batch, height, width, channels).
      matrices: (batch, 8): a0 a1 a2 b0 b1 b2 c0 c1.
    """
    _, height, width, _ = sizes_of(images)
    xs, ys = grid(height, width)
    a0, a1, a2, b0, b1, b2, c0, c1 = (matrices[:, i : i + 1] for i in range(8))
    k = c0 * xs + c1 * ys + 1.0
    return sample(
        images, (a0 * xs + a1 * ys + a2) / k, (b0 * xs + b1 * ys + b2) / k, interpolation, fill_mode,
        fill_value,
    )  # fmt: skip


def move_points(x, y, matrices):
    """Where points of the input end up: the inverse of the map from output to input."""
    a0, a1, a2, b0, b1, b2 = (matrices[:, i : i + 1] for i in range(6))
    determinant = a0 * b1 - a1 * b0
    u, v = x - a2, y - b2
    return (b1 * u - a1 * v) / determinant, (a0 * v - b0 * u) / determinant


def sample(
    images: Any, x: TensorLike, y: TensorLike, interpolation: str = "bilinear", fill_mode: str = "reflect",
    fill_value: float = 0.0,
):
    """The images at positions x, y, each (batch, height * width), as images of the same size."""
    batch, height, width, channels = sizes_of(images)
    dtype = images.dtype
    flat = reshape(cast(images, dtypes.float32), [-1, channels])
    starts = expand_dims(range_of(batch) * (height * width), 1)

    def at(column: Tensor, row: Tensor):
        inside = None
        if fill_mode == "constant":
            inside = logical_and(
                logical_and(column >= 0.0, column < float_of(width)),
                logical_and(row >= 0.0, row < float_of(height)),
            )
            column = clip_by_value(column, 0.0, float_of(width) - 1.0)
            row = clip_by_value(row, 0.0, float_of(height) - 1.0)
        index = starts + cast(row, dtypes.int32) * width + cast(column, dtypes.int32)
        values = gather(flat, index)
        if inside is not None:
            values = where(expand_dims(inside, -1), values, fill_value)
        return values

    if fill_mode != "constant":
        x, y = _wrapped(x, width, fill_mode), _wrapped(y, height, fill_mode)
    if interpolation == "nearest":
        values = at(
            _within(_nearest(x), width, fill_mode), _within(_nearest(y), height, fill_mode)
        )
    else:
        left, top = floor(x), floor(y)
        right, below = _within(left + 1.0, width, fill_mode), _within(top + 1.0, height, fill_mode)
        dx, dy = expand_dims(x - left, -1), expand_dims(y - top, -1)
        values = (at(left, top) * (1.0 - dx) + at(right, top) * dx) * (1.0 - dy) + (
            at(left, below) * (1.0 - dx) + at(right, below) * dx
        ) * dy
    return cast(reshape(values, stack_sizes(batch, height, width, channels)), dtype)


def stack_sizes(*sizes):
    """Sizes as a shape, whether or not all are known."""
    return list(sizes) if all(isinstance(n, int) for n in sizes) else stack(list(sizes))


def float_of(size: int):
    """A size as a number to compute with."""
    return float(size) if isinstance(size, int) else cast(size, dtypes.float32)


def _nearest(x):
    """The nearest whole number; halves go away from 0."""
    low = floor(x)
    # x + 0.5 would round up the number next to 0.5.
    up = where(x > 0.0, x - low >= 0.5, x - low > 0.5)
    return where(up, low + 1.0, low)


def _within(x: Tensor, size: int, mode: str):
    return x if mode == "constant" else clip_by_value(x, 0.0, float_of(size) - 1.0)


def _wrapped(x: Any, size: int, mode: str):
    """Positions outside of the image, brought inside."""
    n = float_of(size)
    if mode == "reflect":
        x = floormod(x, 2.0 * n)
        x = where(x >= n, 2.0 * n - 1.0 - x, x)
    elif mode == "wrap":
        turn = maximum(n - 1.0, 1.0)
        x = where(
            x < 0.0,
            x + n * (floor(-x / turn) + 1.0),
            where(x > n - 1.0, x - n * floor(x / turn), x),
        )
    return clip_by_value(x, 0.0, n - 1.0)
