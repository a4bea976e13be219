"""Which pixels of an image each pixel of a resized one is made of, and what all ways of resizing check."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

IMAGES = (
    dtypes.float32, dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64,
    dtypes.float16, dtypes.float64, dtypes.bfloat16,
)  # fmt: skip
CENTERS = {"align_corners": False, "half_pixel_centers": False}


class Taps(NamedTuple):
    """For each place along an axis of the result: which places of the image it is made of, and with what weights."""

    places: np.ndarray  # [out, taps]
    weights: np.ndarray  # [out, taps], of floats

    def matrix(self, size: int) -> np.ndarray:
        """The same as a dense [out, size] matrix."""
        out = np.zeros((len(self.places), size), self.weights.dtype)
        fold_at(np.add, out, (np.arange(len(self.places))[:, None], self.places), self.weights)
        return out

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Places and weights as native helpers take them."""
        return np.ascontiguousarray(self.places, np.int64), np.ascontiguousarray(self.weights, np.float32)


def _apply(xp: ModuleType, image: Array, axis: int, taps: Taps):
    shape = [1] * image.ndim
    shape[axis] = -1
    total = 0
    for k in range(taps.places.shape[1]):
        weight = taps.weights[:, k]
        if weight.any() or k == 0:
            total = total + xp.take(image, taps.places[:, k], axis=axis) * weight.reshape(shape)
    return total


def resized(xp: ModuleType, images, rows: Taps, columns: Taps):
    shape = (images.shape[0], len(rows.places), len(columns.places), images.shape[3])
    if xp is np:
        return sampled(images, np.arange(len(images)), rows, columns, shape)
    if 0 in shape or 0 in images.shape:
        return xp.zeros(shape, np.float32)
    return _apply(xp, _apply(xp, images.astype(np.float32), 2, columns), 1, rows)


def sampled(images: Array, owners: Any, rows: Taps, columns: Taps, shape: tuple[int, ...]):
    """Sample images at other places.

    Args:
      images: real images [batch, height, width, channels].
      owners: which image each result is made of.
      rows, columns: the tables of both axes, [out, taps] for all results or [len(owners), out, taps].
      shape: that of the results, which are float32.
    """
    if 0 in (*shape, *images.shape):
        return np.zeros(shape, np.float32)
    out = np.empty(shape, np.float32)
    tables = 1 if rows.places.ndim == 2 else len(owners)
    _native.resample(np.ascontiguousarray(images, np.float32), np.ascontiguousarray(owners, np.int64), *rows.arrays(),
                     *columns.arrays(), out, tables, *images.shape[1:], *shape[1:3])  # fmt: skip
    return out


def spread(grads: Array, owners: Any, rows: Taps, columns: Taps, shape: tuple[int, ...]):
    """The transpose of `sampled`: what results `grads` add to images of `shape`."""
    out = np.zeros(shape, np.float32)
    tables = 1 if rows.places.ndim == 2 else len(owners)
    if 0 not in (*shape, *grads.shape):
        _native.spread(out, np.ascontiguousarray(owners, np.int64), *rows.arrays(), *columns.arrays(),
                       np.ascontiguousarray(grads, np.float32), tables, *shape[1:], *grads.shape[1:3])  # fmt: skip
    return out


def spread_gradient(xp: ModuleType, grads, rows: Taps, columns: Taps, height: int, width: int, dtype):
    """The transpose of `resized`."""
    n, *sizes, c = grads.shape
    if xp is np and dtype == np.float32:
        return spread(grads, np.arange(n), rows, columns, (n, height, width, c))
    exact = np.float64 if dtype == np.float64 else np.float32
    down = rows.matrix(height).astype(exact).T @ grads.astype(exact).reshape(n, sizes[0], sizes[1] * c)
    across = columns.matrix(width).astype(exact).T @ down.reshape(n, height, sizes[1], c)
    return across.astype(dtype)


def checked_images(images, size) -> tuple[int, int]:
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(images.shape)}")
    if size.ndim != 1:
        raise invalid(f"shape_t must be 1-dimensional{shape_text(size.shape)}")
    if size.size != 2:
        raise invalid(f"shape_t must have two elements{shape_text(size.shape)}")
    height, width = (int(v) for v in size)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if 0 in images.shape[1:3]:
        raise invalid("input image must be of non-zero size")
    if images.shape[3] == 0:
        raise invalid("image must have at least one channel")
    np.empty((images.shape[0], height, width, images.shape[3]), np.float32)  # an error before the tables of taps
    return height, width


def checked_gradient(grads, original):
    if grads.ndim != 4:
        raise invalid(f"input_grad must be 4-dimensional{shape_text(grads.shape)}")
    if original.ndim != 4:
        raise invalid(f"original_image must be 4-dimensional{shape_text(original.shape)}")
    if grads.shape[0] != original.shape[0] or grads.shape[3] != original.shape[3]:
        raise invalid(
            f"Batch and depth of gradient and original image must agree: {shape_text(grads.shape)} "
            f"vs. {shape_text(original.shape)}"
        )
    if 0 in original.shape[1:3] or 0 in grads.shape[1:3]:
        raise invalid("input image must be of non-zero size")


def require_one(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")


def scale_of(size: int, out: int, align_corners: bool) -> np.float32:
    if align_corners and out > 1:
        return np.float32(size - 1) / np.float32(out - 1)
    return np.float32(size) / np.float32(out)


def positions(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where in the image each place of the result lies."""
    scale = scale_of(size, out, align_corners)
    at = np.arange(out, dtype=np.float32)
    half = np.float32(0.5)
    return (at + half) * scale - half if half_pixel_centers else at * scale


def normalized(weights: np.ndarray) -> np.ndarray:
    """Weights that sum to one in each row, where their sum is not next to nothing."""
    total = weights.sum(1, keepdims=True)
    whole = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    return np.where(whole, weights / np.where(whole, total, 1), weights).astype(np.float32)


def size_rule(call: ShapeCall):
    n, _, _, c = shapes.with_rank(call.shape(0), 4)
    shapes.exactly(shapes.vector_length(call, 1), 2)
    height, width = call.value_as_shape(1) or (None, None)
    return [(n, height, width, c)]


def gradient_rule(call: ShapeCall):
    return [call.shape(1)]
