"""Bounding boxes of objects in images: drawn, or cut out at random so that some object stays in view."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

from tapeflow.ops.image.distorted_boxes import (
    SampleDistortedBoundingBox,
    SampleDistortedBoundingBoxV2,
    StatelessSampleDistortedBoundingBox,
)

_FLOATS = {"T": Preferring((dtypes.float32, dtypes.float16))}
# What boxes are drawn in, one after the other, where no colours are given: red, green, blue and opacity.
_COLORS = [
    (1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1),
]  # fmt: skip


def _drawn(images: Any, boxes: Any, colors: Any):
    if images.ndim != 4:
        raise invalid(f"The rank of the images should be 4{shape_text(images.shape)}")
    if boxes.ndim != 3:
        raise invalid(f"The rank of the boxes tensor should be 3{shape_text(boxes.shape)}")
    if boxes.shape[2] != 4:
        raise invalid(
            f"The size of the third dimension of the box must be 4. Received: {boxes.shape[2]}"
        )
    if images.shape[0] != boxes.shape[0]:
        raise invalid(
            f"The batch sizes should be the same: {images.shape[0]} images, {boxes.shape[0]} sets of boxes"
        )
    batch, height, width, depth = images.shape
    if depth not in (1, 3, 4):
        raise invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if colors.ndim != 2:
        raise invalid(f"colors must be a 2-D matrix{shape_text(colors.shape)}")
    if colors.size and colors.shape[1] < depth:
        raise invalid(f"colors must have equal or more channels than the image provided: {depth}")
    if not colors.size:
        colors = np.array(_COLORS, np.float32)
        if depth == 1:
            colors[:, 0] = 1
    out = np.array(images)
    for n, i in np.ndindex(batch, boxes.shape[1]):
        box = boxes[n, i].astype(np.float64) * [height - 1, width - 1, height - 1, width - 1]
        if not np.isfinite(box).all():
            continue
        top, left, bottom, right = (int(v) for v in box.clip(-(2**40), 2**40))
        if top > bottom or left > right:
            continue
        if top >= height or bottom < 0 or left >= width or right < 0:
            continue
        color = colors[i % len(colors), :depth].astype(images.dtype)
        rows = slice(max(top, 0), min(bottom, height - 1) + 1)
        columns = slice(max(left, 0), min(right, width - 1) + 1)
        for row in (top, bottom):
            if 0 <= row < height:
                out[n, row, columns] = color
        for column in (left, right):
            if 0 <= column < width:
                out[n, rows, column] = color
    return out


def _same(call: ShapeCall):
    return [call.shape(0)]


def _four_sides_rule(call):
    shapes.exactly(call.shape(1)[2], 4)
    return [call.shape(0)]


def _draw_samples(*rest):
    def samples(rng: SampleGenerator):
        boxes = np.array([[[0.1, 0.2, 0.8, 0.9], [-0.5, 0.3, 0.6, 1.7]],
                          [[0.5, 0.5, 0.2, 0.9], [1.2, 1.2, 1.5, 1.5]]], np.float32)  # fmt: skip
        image = rng.normal(2, 6, 7, 3).astype(np.float32)
        yield Sample(image, boxes, *rest)
        yield Sample(image[..., :1], boxes, *rest)
        for x, b in (
            (image[0], boxes),
            (image, boxes[0]),
            (image, boxes[..., :3]),
            (image, boxes[:1]),
        ):
            yield Sample(x, b, *rest, raises=InvalidArgumentError)
        yield Sample(image[..., :2], boxes, *rest, raises=InvalidArgumentError)

    return samples


def _drawn_pixelwise(images, boxes, colors):
    """Every pixel asked whether it is on the frame of a box."""
    out = np.array(images)
    _, height, width, depth = images.shape
    for n, i, y, x in np.ndindex(len(images), boxes.shape[1], height, width):
        scaled = boxes[n, i] * np.array([height - 1, width - 1] * 2, np.float32)
        top, left, bottom, right = np.trunc(scaled)
        inside = top <= y <= bottom and left <= x <= right
        if inside and (y in (top, bottom) or x in (left, right)):
            out[n, y, x] = (
                1 if depth == 1 and colors is _COLORS else colors[i % len(colors)][:depth]
            )
    return out


@op("DrawBoundingBoxes", "images: T, boxes: float32 -> output: T", types=_FLOATS, ranks="images: 4, boxes: 3",
    shape=_four_sides_rule)
def DrawBoundingBoxes(xp: ModuleType, images: Array, boxes: Array):
    return _drawn(images, boxes, np.zeros((0, 4), np.float32))


DrawBoundingBoxes.compiled(never="which pixels it paints depends on values")


DrawBoundingBoxes.samples(_draw_samples())
DrawBoundingBoxes.reference(lambda images, boxes: _drawn_pixelwise(images, boxes, _COLORS))


@op("DrawBoundingBoxesV2", "images: T, boxes: float32, colors: float32 -> output: T",
    types=_FLOATS, ranks="images: 3+", shape=_same)  # fmt: skip
def DrawBoundingBoxesV2(xp: ModuleType, images: Array, boxes: Array, colors: Array):
    return _drawn(images, boxes, colors)


DrawBoundingBoxesV2.compiled(never="which pixels it paints depends on values")


@DrawBoundingBoxesV2.samples
def _(rng: SampleGenerator):
    colors = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], np.float32)
    yield from _draw_samples(colors)(rng)
    image, boxes = np.zeros((1, 2, 2, 3), np.float32), np.zeros((1, 1, 4), np.float32)
    yield Sample(image, boxes, colors[:, :2], raises=InvalidArgumentError)
    yield Sample(image, boxes, colors[0], raises=InvalidArgumentError)


DrawBoundingBoxesV2.reference(_drawn_pixelwise)


@api(v2="image.draw_bounding_boxes")
@tensor_function
def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors, name: str | None = None):
    """Draw frames around boxes on a batch of images.

    Args:
      images: `[batch, height, width, channels]`, half or float32.
      boxes: `[batch, n, 4]` float32: (y1, x1, y2, x2) of each box, in parts of the height and width.
      colors: `[k, channels]` float32, taken in turn; None: colors of TensorFlow's choice.
      name: a name for the operation (optional).

    Returns:
      The images with the frames, of the shape and dtype of `images`.
    """
    if colors is None:
        return DrawBoundingBoxes(images, boxes)
    return DrawBoundingBoxesV2(images, boxes, colors)


@api(v1="image.draw_bounding_boxes")
@public
def draw_bounding_boxes_v1(images: TensorLike, boxes: TensorLike, name: str | None = None, colors=None):
    """`draw_bounding_boxes` with the 1.x order of arguments."""
    return draw_bounding_boxes(images, boxes, colors)


for _row in (
    SampleDistortedBoundingBox,
    SampleDistortedBoundingBoxV2,
    StatelessSampleDistortedBoundingBox,
):
    _row.gradient(None)
