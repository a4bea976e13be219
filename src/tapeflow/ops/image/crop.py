"""Parts cut out of images: resized boxes, the patches under a sliding window, glimpses."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError, ResourceExhaustedError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.folding import fold_at
from tapeflow.ops.image.crop_places import (
    checked_boxes,
    corner_places,
    grid,
    inside_image,
    nearest,
    pixels,
    taps,
)
from tapeflow.ops.image.resize.taps import spread
from tapeflow.ops.signature import dtype, one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_IMAGES = (
    dtypes.float32, dtypes.uint8, dtypes.uint16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
    dtypes.float16, dtypes.float64,
)  # fmt: skip
_METHOD = one_of("bilinear", "nearest")("bilinear")


def _rule(call: ShapeCall):
    image, boxes = shapes.with_rank(call.shape(0), 4), shapes.with_rank(call.shape(1), 2)
    shapes.exactly(boxes[1], 4)
    shapes.exactly(shapes.vector_length(call, 3), 2)
    rows, columns = shapes.vector_value(call, 3) or (None, None)
    return [(shapes.same_dimension(boxes[0], shapes.vector_length(call, 2)), rows, columns, image[3])]


@op("CropAndResize", "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32",
    types={"T": _IMAGES}, attrs={"method": _METHOD, "extrapolation_value": 0.0}, shape=_rule)  # fmt: skip
def CropAndResize(
    xp: ModuleType, image: Array, boxes: Array, box_ind: Array, crop_size: Array, method: str,
    extrapolation_value: float,
):
    if image.ndim != 4:
        raise invalid(f"input image must be 4-D{shape_text(image.shape)}")
    _, height, width, depth = image.shape
    if height <= 0 or width <= 0:
        raise invalid("image dimensions must be positive")
    if crop_size.ndim != 1:
        raise invalid(f"crop_size must be 1-D{shape_text(crop_size.shape)}")
    if crop_size.size != 2:
        raise invalid(f"crop_size must have two elements{shape_text(crop_size.shape)}")
    rows, columns = (int(v) for v in crop_size)
    if rows <= 0 or columns <= 0:
        raise invalid("crop dimensions must be positive")
    checked_boxes(boxes, box_ind, len(image))
    if boxes.size == 0:
        return np.zeros((0, rows, columns, depth), np.float32)
    if xp is np:  # crops beyond any memory raise here; the grid of their places would be filled first
        np.empty((len(boxes), rows, columns, depth), np.float32)
    y, x = grid(xp, boxes, height, width, rows, columns)
    if method == "nearest":
        n = box_ind[:, None, None]
        out = image[n, nearest(xp, y, height)[:, :, None], nearest(xp, x, width)[:, None, :]]
    else:
        out = pixels(xp, image, box_ind, taps(xp, y, height), taps(xp, x, width))
    inside = inside_image(xp, y, x, height, width)
    return xp.where(inside, out, np.float32(extrapolation_value)).astype(np.float32)


@CropAndResize.gradient(needs="image, boxes, box_ind")
def _(call: GradientCall, dy: Tensor):
    dx = None
    if call.dtype("image") in (dtypes.float32, dtypes.float16, dtypes.float64):
        dx = CropAndResizeGradImage(dy, call.boxes, call.box_ind, call.shape("image"),
                                    T=call.dtype("image"), method=call.method)  # fmt: skip
    return dx, CropAndResizeGradBoxes(dy, call.image, call.boxes, call.box_ind), None, None


_BOXES = np.array(
    [[0, 0, 1, 1], [0.2, 0.1, 0.72, 0.93], [0.91, 0.83, 0.1, -0.3], [-0.5, 0, 1.5, 0.4]], np.float32
)
_OWNERS = np.array([0, 1, 1, 0], np.int32)


def extent_of(*values):
    return np.array(values, np.int32)


@CropAndResize.samples
def _(rng: SampleGenerator):
    image = rng.normal(2, 4, 5, 2)
    for method in ("bilinear", "nearest"):
        for size in ((3, 4), (1, 2), (6, 1)):
            yield Sample(image, _BOXES, _OWNERS, extent_of(*size), method=method, extrapolation_value=-3.0,
                         differentiable=False)  # fmt: skip
    yield Sample(
        image, np.zeros((0, 4), np.float32), _OWNERS[:0], extent_of(2, 2), differentiable=False
    )
    bad = InvalidArgumentError
    yield Sample(image, _BOXES, _OWNERS + 1, extent_of(2, 2), raises=OutOfRangeError)
    yield Sample(image, _BOXES, _OWNERS - 1, extent_of(2, 2), raises=OutOfRangeError)
    yield Sample(image, _BOXES, _OWNERS[:2], extent_of(2, 2), raises=bad)
    yield Sample(image, _BOXES[:, :3], _OWNERS, extent_of(2, 2), raises=bad)
    yield Sample(image, _BOXES, _OWNERS, extent_of(2, 0), raises=bad)
    yield Sample(image, _BOXES, _OWNERS, extent_of(2), raises=bad)
    yield Sample(image, _BOXES, _OWNERS, extent_of(2**28, 2**28), raises=ResourceExhaustedError)
    yield Sample(image[0], _BOXES, _OWNERS, extent_of(2, 2), raises=bad)


def _pixels(boxes, rows, columns, height, width):
    """(box, row, column, place in the image or None) by the definition."""

    def place(low, high, i: int, count, size):
        part = i / (count - 1) if count > 1 else 0.5
        at = float(low) + part * (float(high) - float(low))
        return np.float32(at * (size - 1))

    for n, i, j in np.ndindex(len(boxes), rows, columns):
        y1, x1, y2, x2 = boxes[n]
        y, x = place(y1, y2, i, rows, height), place(x1, x2, j, columns, width)
        inside = 0 <= y <= height - 1 and 0 <= x <= width - 1
        yield n, i, j, (y, x) if inside else None


@CropAndResize.reference
def _(image, boxes, box_ind, crop_size, method, extrapolation_value):
    _, height, width, depth = image.shape
    out = np.full((len(boxes), *crop_size, depth), extrapolation_value, np.float32)
    for n, i, j, at in _pixels(boxes, *crop_size, height, width):
        if at is None:
            continue
        if method == "nearest":
            out[n, i, j] = image[(box_ind[n], *(int(v + 0.5) for v in at))]
            continue
        rows = np.maximum(1 - np.abs(np.arange(height) - at[0]), 0)
        columns = np.maximum(1 - np.abs(np.arange(width) - at[1]), 0)
        out[n, i, j] = np.einsum("y,x,yxc->c", rows, columns, image[box_ind[n]])
    return out


def _added(xp: ModuleType, out: Any, at: Sequence[Array], values: Any):
    """`out` with `values` added at the places `at`, of which some may be the same."""
    if xp is not np:
        return out.at[at].add(values)
    fold_at(np.add, out, at, values)
    return out


def _checked_grads(grads: Any, boxes: Any, box_ind: Any, batch: int):
    if grads.ndim != 4:
        raise invalid(f"grads image must be 4-D{shape_text(grads.shape)}")
    if 0 in grads.shape[1:3]:
        raise invalid("grads dimensions must be positive")
    checked_boxes(boxes, box_ind, batch)
    if len(grads) != len(boxes):
        raise invalid("boxes and grads have incompatible shape")


_SINGLES = (dtypes.float32, dtypes.float16, dtypes.float64)


@op("CropAndResizeGradImage", "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    attrs={"T": dtype, "method": _METHOD}, shape=shapes.given(3, rank=4))  # fmt: skip
def CropAndResizeGradImage(
    xp: ModuleType, grads: Array, boxes: Array, box_ind: Array, image_size: Array, T: DType, method: str
):
    if T not in _SINGLES:
        raise invalid(
            f"Value for attr 'T' of {T.name} is not in the list of allowed values: float, half, double"
        )
    if image_size.shape != (4,):
        raise invalid(f"image_size must have 4 elements{shape_text(image_size.shape)}")
    shape = tuple(int(v) for v in image_size)
    if min(shape[1:3]) <= 0 or min(shape) < 0:
        raise invalid("image dimensions must be positive")
    _checked_grads(grads, boxes, box_ind, shape[0])
    if grads.shape[3] != shape[3]:
        raise invalid("image_size and grads are incompatible")
    y, x = grid(xp, boxes, *shape[1:3], *grads.shape[1:3])
    out = xp.zeros(shape, np.float64 if dtypes.float64 == T else np.float32)
    if xp is np and method == "bilinear" and dtypes.float64 != T:
        return spread(grads, box_ind, taps(xp, y, shape[1]), taps(xp, x, shape[2]), shape).astype(T.as_numpy_dtype)
    g = xp.where(inside_image(xp, y, x, *shape[1:3]), grads, 0)
    n = box_ind[:, None, None]
    if method == "nearest":
        at = (n, nearest(xp, y, shape[1])[:, :, None], nearest(xp, x, shape[2])[:, None, :])
        out = _added(xp, out, at, g)
        return out.astype(T.as_numpy_dtype)
    for at, weight in corner_places(box_ind, taps(xp, y, shape[1]), taps(xp, x, shape[2])):
        out = _added(xp, out, at, g * weight)
    return out.astype(T.as_numpy_dtype)


@CropAndResizeGradImage.samples
def _(rng: SampleGenerator):
    dy = rng.normal(4, 3, 2, 2).astype(np.float32)
    shape = extent_of(2, 4, 5, 2)
    for method in ("bilinear", "nearest"):
        yield Sample(dy, _BOXES, _OWNERS, shape, T=dtypes.float32, method=method)
    for wrong in (extent_of(2, 4, 5), extent_of(2, 0, 5, 2), extent_of(2, 4, 5, 3)):
        yield Sample(dy, _BOXES, _OWNERS, wrong, T=dtypes.float32, raises=InvalidArgumentError)
    yield Sample(dy, _BOXES, _OWNERS, extent_of(1, 4, 5, 2), T=dtypes.float32, raises=OutOfRangeError)
    yield Sample(dy[0], _BOXES, _OWNERS, shape, T=dtypes.float32, raises=InvalidArgumentError)


@CropAndResizeGradImage.reference
def _(grads: np.ndarray, boxes: np.ndarray, box_ind: np.ndarray, image_size: np.ndarray, T: DType, method):
    out = np.zeros(image_size, T.as_numpy_dtype)
    for at in np.ndindex(*image_size):
        one = np.zeros(image_size)
        one[at] = 1
        crops = CropAndResize.formula(one, boxes, box_ind, grads.shape[1:3], method, 0.0)
        out[at] = (crops * grads).sum()
    return out


def _boxes_rule(call: ShapeCall):
    return [call.shape(2)]


@op("CropAndResizeGradBoxes", "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32",
    types={"T": _IMAGES}, attrs={"method": one_of("bilinear")("bilinear")}, shape=_boxes_rule)  # fmt: skip
def CropAndResizeGradBoxes(
    xp: ModuleType, grads: Array, image: Array, boxes: Array, box_ind: Array, method: str
):
    if image.ndim != 4:
        raise invalid(f"input image must be 4-D{shape_text(image.shape)}")
    _, height, width, depth = image.shape
    if height <= 0 or width <= 0:
        raise invalid("image dimensions must be positive")
    _checked_grads(grads, boxes, box_ind, len(image))
    if grads.shape[3] != depth:
        raise invalid("image, grads depth differ")
    rows, columns = grads.shape[1:3]
    y, x = grid(xp, boxes, height, width, rows, columns)
    g = xp.where(inside_image(xp, y, x, height, width), grads, 0)
    # How much each crop pixel changes as its place moves down or right, summed over the depth.
    per_row = pixels(xp, image, box_ind, taps(xp, y, height, slope=True), taps(xp, x, width))
    per_column = pixels(xp, image, box_ind, taps(xp, y, height), taps(xp, x, width, slope=True))
    down = xp.einsum("bijc,bijc->bij", g, per_row) * (height - 1)
    right = xp.einsum("bijc,bijc->bij", g, per_column) * (width - 1)
    i = np.arange(rows) / (rows - 1) if rows > 1 else np.full(1, 0.5)
    j = np.arange(columns) / (columns - 1) if columns > 1 else np.full(1, 0.5)
    down, right = down.sum(2), right.sum(1)
    parts = [
        (down * (1 - i)).sum(1),
        (right * (1 - j)).sum(1),
        (down * i).sum(1),
        (right * j).sum(1),
    ]
    return xp.stack(parts, 1).astype(np.float32)


@CropAndResizeGradBoxes.samples
def _(rng: SampleGenerator):
    image = rng.normal(2, 4, 5, 2)
    for size in ((3, 2), (1, 1)):
        yield Sample(rng.normal(4, *size, 2).astype(np.float32), image, _BOXES, _OWNERS)
    dy = rng.normal(4, 3, 2, 2).astype(np.float32)
    yield Sample(dy[:2], image, _BOXES, _OWNERS, raises=InvalidArgumentError)
    yield Sample(dy, image[..., :1], _BOXES, _OWNERS, raises=InvalidArgumentError)
    yield Sample(dy, image[:1], _BOXES, _OWNERS, raises=OutOfRangeError)


@CropAndResizeGradBoxes.reference
def _(grads: np.ndarray, image: np.ndarray, boxes: np.ndarray, box_ind: np.ndarray, method: str):
    _, height, width, _ = image.shape
    _, rows, columns, _ = grads.shape
    out = np.zeros(boxes.shape)
    for n, i, j, at in _pixels(boxes, rows, columns, height, width):
        if at is None:
            continue
        (y, x), picture = at, image[box_ind[n]]
        top, left = int(np.floor(y)), int(np.floor(x))
        bottom, right = int(np.ceil(y)), int(np.ceil(x))
        along_x = (picture[top, right] - picture[top, left]) * (1 - (y - top)) + (
            picture[bottom, right] - picture[bottom, left]
        ) * (y - top)
        along_y = (picture[bottom, left] - picture[top, left]) * (1 - (x - left)) + (
            picture[bottom, right] - picture[top, right]
        ) * (x - left)
        v = i / (rows - 1) if rows > 1 else 0.5
        h = j / (columns - 1) if columns > 1 else 0.5
        down = (grads[n, i, j] * along_y).sum() * (height - 1)
        across = (grads[n, i, j] * along_x).sum() * (width - 1)
        out[n] += [down * (1 - v), across * (1 - h), down * v, across * h]
    return out.astype(np.float32)


@api(v2="image.crop_and_resize")
@tensor_function
def crop_and_resize(
    image: TensorLike, boxes: TensorLike, box_indices, crop_size, method: str = "bilinear",
    extrapolation_value: float = 0.0, name: str | None = None,
):
    """Cut boxes out of images, and resize each to one size.

    Args:
      image: a batch of images `(batch, height, width, channels)`.
      boxes: floats `[n, 4]` of `y1, x1, y2, x2`, in units of the image less one pixel; larger first ones mirror the
        box.
      box_indices: the number of the image of each box, int32 `[n]`.
      crop_size: [height, width] of the result, int32.
      method: "bilinear" or "nearest".
      extrapolation_value: the value of what lies outside of the image.
      name: the name of the operation in a graph.

    Returns:
      A float32 tensor `(n, *crop_size, channels)`.

    Raises:
      InvalidArgumentError: for a box of no image.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> print(tf.image.crop_and_resize(image, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2]).numpy()[0, :, :, 0])
    [[0. 1.]
     [3. 4.]]
    """
    return CropAndResize(image, boxes, box_indices, crop_size, method, extrapolation_value)


@api(v1="image.crop_and_resize")
@public
def crop_and_resize_v1(
    image: TensorLike, boxes: TensorLike, box_ind=None, crop_size=None, method: str = "bilinear",
    extrapolation_value: int = 0, name: str | None = None, box_indices=None,
):
    """`crop_and_resize` with the 1.x spelling `box_ind`."""
    box_ind = renamed("box_indices", box_indices, "box_ind", box_ind)
    return CropAndResize(image, boxes, box_ind, crop_size, method, float(extrapolation_value))
