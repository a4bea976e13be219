"""Where in an image the pixels of boxes that are cut out of it lie, and what they are."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import OutOfRangeError
from tapeflow.ops.image.resize.taps import Taps, sampled
from tapeflow.ops.validate import invalid, known, shape_text


def checked_boxes(boxes: Any, box_ind: Any, batch: int) -> None:
    if boxes.size == 0 and box_ind.size == 0:
        return
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if box_ind.ndim != 1:
        raise invalid(f"box_index must be 1-D{shape_text(box_ind.shape)}")
    if len(box_ind) != len(boxes):
        raise invalid("box_index has incompatible shape")
    if known(box_ind) and ((box_ind < 0) | (box_ind >= batch)).any():
        raise OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")
    if known(boxes) and not np.isfinite(boxes).all():
        raise invalid("boxes must be finite")


def _positions(low: np.ndarray, high: np.ndarray, size: int, count: int):
    """[boxes, count]: where in the image the lines of each crop lie."""
    low, high = low[:, None].astype(np.float32), high[:, None].astype(np.float32)
    last = np.float32(size - 1)
    if count > 1:
        step = (high - low) * last / np.float32(count - 1)
        return low * last + np.arange(count, dtype=np.float32) * step
    return np.float32(0.5) * (low + high) * last


def _corners(xp: ModuleType, at: Array, size: int):
    """The places on both sides of `at`, the distance from the first one, and whether `at` is in the image."""
    inside = (at >= 0) & (at <= size - 1)
    at = xp.where(inside, at, 0)
    low = xp.floor(at).astype(np.int64)
    return low, xp.ceil(at).astype(np.int64), (at - low).astype(np.float32), inside


def grid(xp: ModuleType, boxes: Array, height: int, width: int, rows: int, columns: int):
    y = _positions(boxes[:, 0], boxes[:, 2], height, rows)
    x = _positions(boxes[:, 1], boxes[:, 3], width, columns)
    return y, x


def taps(xp: ModuleType, at: Array, size: int, slope: bool = False) -> Taps:
    """Between which lines of the image those of the crops lie, [boxes, count, 2]; lines outside weigh nothing.

    With `slope` the weights are their derivatives by the place.
    """
    low, high, part, inside = _corners(xp, at, size)
    one = xp.ones_like(part)
    weights = xp.stack([-one, one] if slope else [1 - part, part], -1)
    return Taps(xp.stack([low, high], -1), (weights * inside[..., None]).astype(np.float32))


def pixels(xp: ModuleType, image: Array, box_ind: Array, rows: Taps, columns: Taps):
    """The pixels of the crops, float32 [boxes, rows, columns, depth]."""
    shape = (len(box_ind), rows.places.shape[1], columns.places.shape[1], image.shape[3])
    if xp is np:
        return sampled(image, box_ind, rows, columns, shape)
    out = xp.zeros(shape, np.float32)
    for at, weight in corner_places(box_ind, rows, columns):
        out = out + image[at].astype(np.float32) * weight
    return out


def corner_places(box_ind: Array, rows: Taps, columns: Taps):
    """(indices of the pixels of the image that those of the crops lie between, their weights), four times."""
    for k, j in itertools.product(range(2), repeat=2):
        at = (box_ind[:, None, None], rows.places[:, :, None, k], columns.places[:, None, :, j])
        yield at, (rows.weights[:, :, None, k] * columns.weights[:, None, :, j])[..., None]


def inside_image(xp: ModuleType, y: Array, x: Array, height: int, width: int):
    rows, columns = _corners(xp, y, height)[3], _corners(xp, x, width)[3]
    return (rows[:, :, None] & columns[:, None, :])[..., None]


def nearest(xp: ModuleType, at: Array, size: int):
    """Rounded, halves away from zero."""
    return xp.floor(_corners(xp, at, size)[2] + _corners(xp, at, size)[0] + 0.5).astype(np.int64)
