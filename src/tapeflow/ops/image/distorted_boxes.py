"""Boxes cut out at random so that some object stays in view."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import reserve
from tapeflow.ops.random.seed import seeds
from tapeflow.ops.random.stateless import SEED_TYPES, from_seed
from tapeflow.ops.signature import any_object
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


# Random crops that keep an object in view

_SIZES = (dtypes.int32, dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int64)
_LIMITS = {
    "aspect_ratio_range": any_object((0.75, 1.33)),
    "area_range": any_object((0.05, 1.0)),
    "max_attempts": 100,
    "use_image_if_no_bounding_boxes": False,
}


class _Numbers:
    """Words of a Philox stream one by one, as floats in [0, 1) and as integers below a limit."""

    def __init__(self, stream: philox.Philox):
        self._stream = stream
        self._words: list[int] = []

    def word(self) -> int:
        if not self._words:
            self._words = self._stream.words(64)[::-1].tolist()
            self._stream = self._stream.skip(16)
        return self._words.pop()

    def part(self) -> np.float32:
        return np.float32(self.word() & 0x7FFFFF) / np.float32(1 << 23)

    def below(self, n: int) -> int:
        if n & (n - 1) == 0:
            return self.word() & (n - 1)
        # Words of an incomplete last round would favour small numbers.
        rest = 0xFFFFFFFF % n + 1
        while True:
            word = self.word()
            if word >= rest:
                return word % n


def _rounded(x) -> int:
    return int(np.rint(np.float32(x)))


def _random_crop(height: int, width: int, areas, ratio: np.float32, numbers: _Numbers):
    """(top, left, rows, columns) of a crop of that proportion with an area in the range, or None."""
    least, most = (np.float32(a) * np.float32(width) * np.float32(height) for a in areas)
    if areas[1] <= 0 or ratio <= 0 or height <= 0 or width <= 0 or areas[0] > areas[1]:
        return None
    rows = _rounded(np.sqrt(least / ratio))
    limit = _rounded(np.sqrt(most / ratio))
    if _rounded(limit * ratio) > width:
        limit = int((width + 0.5 - 1e-7) / float(ratio))
        if _rounded(limit * ratio) > width:
            limit -= 1
    limit = min(limit, height)
    rows = min(rows, limit)
    if rows < limit:
        rows += numbers.below(limit - rows + 1)
    columns = _rounded(rows * ratio)
    if np.float32(columns * rows) < least:
        rows += 1
        columns = _rounded(rows * ratio)
    if np.float32(columns * rows) > most:
        rows -= 1
        columns = _rounded(rows * ratio)
    area = np.float32(columns * rows)
    if not (least <= area <= most) or columns > width or rows > height or columns <= 0 or rows <= 0:
        return None
    top = numbers.below(height - rows) if rows < height else 0
    left = numbers.below(width - columns) if columns < width else 0
    return top, left, rows, columns


def _keeps_object(crop, objects, least: float) -> bool:
    top, left, rows, columns = crop
    if rows * columns < 1:
        return False
    for y1, x1, y2, x2 in objects:
        area = (y2 - y1) * (x2 - x1)
        if area < 1:
            continue
        common = max(min(y2, top + rows) - max(y1, top), 0) * max(
            min(x2, left + columns) - max(x1, left), 0
        )
        if np.float32(common) / np.float32(area) >= np.float32(least):
            return True
    return False


def _distorted(
    numbers,
    image_size,
    bounding_boxes,
    min_object_covered,
    aspect_ratio_range,
    area_range,
    max_attempts,
    use_image_if_no_bounding_boxes,
):
    if np.ndim(image_size) != 1:
        raise invalid(f"image_size must be 1-dimensional: {shape_text(np.shape(image_size))}")
    if len(image_size) != 3:
        raise invalid(f"image_size must contain 3 elements: {shape_text(np.shape(image_size))}")
    height, width = int(image_size[0]), int(image_size[1])
    if height <= 0:
        raise invalid(f"image height must be positive: {height}")
    if width <= 0:
        raise invalid(f"image width must be positive: {width}")
    if max(height, width) > 2**31 - 1:
        raise invalid(f"image height and width cannot be >= int32 max: {height}, {width}")
    if bounding_boxes.ndim != 3:
        shape = shape_text(bounding_boxes.shape)
        raise invalid(f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {shape}")
    if bounding_boxes.shape[2] != 4:
        raise invalid(f"bounding boxes must have shape [4]: {shape_text(bounding_boxes.shape)}")
    if np.ndim(min_object_covered):
        raise invalid(f"min_object_covered must be 0-D: {shape_text(np.shape(min_object_covered))}")
    least = float(min_object_covered)
    if not 0 <= least <= 1:
        raise invalid(f"Min object covered must be in [0.0, 1.0]: {least}")
    ratios, areas = [list(v) for v in (aspect_ratio_range, area_range)]
    if len(ratios) != 2:
        raise invalid("Aspect ratio range field must specify 2 dimensions")
    if not (ratios[0] > 0 and ratios[1] > 0):
        raise invalid(f"Aspect ratio range must be non-negative: [{ratios[0]}, {ratios[1]}]")
    if len(areas) != 2:
        raise invalid("Area range field must specify 2 dimensions")
    if not (areas[0] > 0 and areas[1] > 0):
        raise invalid(f"Area range must be non-negative: [{areas[0]}, {areas[1]}]")
    if not (areas[0] <= 1 and areas[1] <= 1):
        raise invalid(f"Area range must be less then or equal to 1.0: [{areas[0]}, {areas[1]}]")
    if max_attempts <= 0:
        raise invalid(f"Max attempts must be non-negative: {max_attempts}")
    objects = []
    for box in bounding_boxes.reshape(-1, 4):
        if not ((box >= 0) & (box <= 1)).all():
            raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {box.tolist()}")
        y1, x1, y2, x2 = (float(v) for v in box)
        if not (y1 < y2 and x1 < x2):
            raise invalid(f"box must have y_min < y_max and x_min < x_max, got {box.tolist()}")
        objects.append((int(y1 * height), int(x1 * width), int(y2 * height), int(x2 * width)))
    if not objects:
        if not use_image_if_no_bounding_boxes:
            raise invalid(
                "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish "
                "to not provide any bounding boxes."
            )
        objects.append((0, 0, height, width))
    crop = (0, 0, height, width)
    low, high = (np.float32(v) for v in ratios)
    for _ in range(max_attempts):
        ratio = numbers.part() * (high - low) + low
        found = _random_crop(height, width, areas, ratio, numbers)
        if found is not None and _keeps_object(found, objects, least):
            crop = found
            break
    top, left, rows, columns = crop
    box = [top / height, left / width, (top + rows) / height, (left + columns) / width]
    kind = np.asarray(image_size).dtype
    return (
        np.array([top, left, 0], kind),
        np.array([rows, columns, -1], kind),
        np.array([[box]], np.float32),
    )


def _distorted_rule(call: ShapeCall):
    return [(3,), (3,), (1, 1, 4)]


_SEEDED = {"seed": 0, "seed2": 0}


def _attempts(max_attempts: int) -> int:
    return max(int(max_attempts), 1)


@op("SampleDistortedBoundingBox",
    "image_size: T, bounding_boxes: float32 -> begin: T, size: T, bboxes: float32",
    types={"T": _SIZES}, attrs={**_SEEDED, "min_object_covered": 0.1, **_LIMITS},
    shape=_distorted_rule)  # fmt: skip
def SampleDistortedBoundingBox(
    xp: ModuleType, image_size: Array, bounding_boxes: Array, seed: int, seed2: int, min_object_covered: float,
    **limits,
):
    stream = reserve("SampleDistortedBoundingBox", image_size.dtype, None, seed, seed2,
                     _attempts(limits["max_attempts"]))  # fmt: skip
    return _distorted(_Numbers(stream), image_size, bounding_boxes, min_object_covered, **limits)


SampleDistortedBoundingBox.compiled(never="how often it draws depends on values")


@op("SampleDistortedBoundingBoxV2",
    "image_size: T, bounding_boxes: float32, min_object_covered: float32 "
    "-> begin: T, size: T, bboxes: float32",
    types={"T": _SIZES}, attrs={**_SEEDED, **_LIMITS}, shape=_distorted_rule)  # fmt: skip
def SampleDistortedBoundingBoxV2(
    xp: ModuleType, image_size: Array, bounding_boxes: Array, min_object_covered: Array, seed: int, seed2: int,
    **limits,
):
    stream = reserve("SampleDistortedBoundingBoxV2", image_size.dtype, None, seed, seed2,
                     _attempts(limits["max_attempts"]))  # fmt: skip
    return _distorted(_Numbers(stream), image_size, bounding_boxes, min_object_covered, **limits)


SampleDistortedBoundingBoxV2.compiled(never="how often it draws depends on values")


@op("StatelessSampleDistortedBoundingBox",
    "image_size: T, bounding_boxes: float32, min_object_covered: float32, seed: Tseed "
    "-> begin: T, size: T, bboxes: float32",
    types={"T": _SIZES, "Tseed": SEED_TYPES}, attrs=_LIMITS, shape=_distorted_rule)  # fmt: skip
def StatelessSampleDistortedBoundingBox(
    xp: ModuleType, image_size: Array, bounding_boxes: Array, min_object_covered: Array, seed: np.ndarray,
    **limits,
):
    numbers = _Numbers(from_seed(seed))
    return _distorted(numbers, image_size, bounding_boxes, min_object_covered, **limits)


StatelessSampleDistortedBoundingBox.compiled(never="how often it draws depends on values")


def _whole(*inputs, **attrs):
    """A call of which the result is known: the only crop that there is."""
    size = np.array([4, 6, 3], np.int32)
    boxes = np.zeros((1, 0, 4), np.float32)
    expect = (
        np.zeros(3, np.int32),
        np.array([4, 6, -1], np.int32),
        np.array([[[0, 0, 1, 1]]], np.float32),
    )
    given = {"aspect_ratio_range": [1.5, 1.5], "area_range": [1.0, 1.0]}
    return Sample(size, boxes, *inputs, **attrs, **given, use_image_if_no_bounding_boxes=True,
                  expect=expect)  # fmt: skip


def _bad_boxes(*inputs):
    size, box = np.array([4, 6, 3], np.int32), np.array([[[0.1, 0.1, 0.5, 0.5]]], np.float32)
    for s, b in ((size[:2], box), (size[None], box), (-size, box), (size, box[0]), (size, box[..., :3]),
                 (size, box * 3), (size, box[..., ::-1]), (size, box[:, :0])):  # fmt: skip
        yield Sample(s, b, *inputs, raises=InvalidArgumentError)
    for bad in ({"area_range": [0.5, 2.0]}, {"area_range": [0.5]}, {"aspect_ratio_range": [-1.0, 1.0]},
                {"max_attempts": 0}):  # fmt: skip
        yield Sample(size, box, *inputs, **bad, raises=InvalidArgumentError)


@SampleDistortedBoundingBox.samples
def _(rng: SampleGenerator):
    yield _whole(seed=3, seed2=4, min_object_covered=0.5)
    yield from _bad_boxes()


@SampleDistortedBoundingBoxV2.samples
def _(rng: SampleGenerator):
    yield _whole(np.array(0.5, np.float32), seed=3, seed2=4)
    yield from _bad_boxes(np.array(0.5, np.float32))


@StatelessSampleDistortedBoundingBox.samples
def _(rng: SampleGenerator):
    half = np.array(0.5, np.float32)
    yield _whole(half, np.array([1, 2], np.int32))
    size, box = np.array([40, 60, 3], np.int32), np.array([[[0.2, 0.3, 0.6, 0.9]]], np.float32)
    written_by_tensorflow = (
        np.array([0, 3, 0], np.int32),
        np.array([39, 48, -1], np.int32),
        np.array([[[0.0, 0.05, 0.975, 0.85]]], np.float32),
    )
    yield Sample(size, box, half, np.array([1, 2], np.int32), expect=written_by_tensorflow)
    yield from _bad_boxes(half, np.array([1, 2], np.int32))


@api(v2="image.sample_distorted_bounding_box")
@tensor_function
def sample_distorted_bounding_box(
    image_size, bounding_boxes: TensorLike, seed: int = 0, min_object_covered: float = 0.1, aspect_ratio_range=None,
    area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name: str | None = None,
):
    """Draw a random crop of an image that covers enough of one of the boxes.

    Args:
      image_size: `[height, width, channels]` of the image, integers.
      bounding_boxes: `[batch, n, 4]`, (y1, x1, y2, x2) in [0, 1].
      seed: an integer; 0 for another crop in each run of the program.
      min_object_covered: the least part of some box that is in the crop.
      aspect_ratio_range: of width over height, (0.75, 1.33) by default.
      area_range: of the crop as a part of the image, (0.05, 1) by default.
      max_attempts: how many crops are tried, 100 by default; after them the crop is the whole image.
      use_image_if_no_bounding_boxes: whether one box around the whole image is taken where there are none.
      name: a name for the operation (optional).

    Returns:
      begin, size: arguments for `tf.slice`, of the dtype of `image_size`.
      bboxes: the crop as a box, `[1, 1, 4]` float32.

    Raises:
      InvalidArgumentError: if there are no boxes and `use_image_if_no_bounding_boxes` is not set.
    """
    pair = seeds(seed) if seed else (0, 0)
    return _sampled(image_size, bounding_boxes, pair, min_object_covered, aspect_ratio_range, area_range,
                    max_attempts, use_image_if_no_bounding_boxes)  # fmt: skip


def _given(ratios, areas, attempts, whole):
    return {
        "aspect_ratio_range": [0.75, 1.33] if ratios is None else list(ratios),
        "area_range": [0.05, 1.0] if areas is None else list(areas),
        "max_attempts": 100 if attempts is None else attempts,
        "use_image_if_no_bounding_boxes": bool(whole),
    }


def _sampled(image_size, boxes, pair, least, ratios, areas, attempts, whole):
    return SampleDistortedBoundingBoxV2(image_size, boxes, least, seed=pair[0], seed2=pair[1],
                                        **_given(ratios, areas, attempts, whole))  # fmt: skip


@api(v1="image.sample_distorted_bounding_box")
@public
def sample_distorted_bounding_box_v1(
    image_size, bounding_boxes: TensorLike, seed: int | None = None, seed2: IntLike | None = None,
    min_object_covered: float = 0.1, aspect_ratio_range=None, area_range=None, max_attempts=None,
    use_image_if_no_bounding_boxes=None, name: str | None = None,
):
    """`sample_distorted_bounding_box` of 1.x, with the two seeds of the op."""
    return _sampled(image_size, bounding_boxes, (seed or 0, seed2 or 0), min_object_covered, aspect_ratio_range,
                    area_range, max_attempts, use_image_if_no_bounding_boxes)  # fmt: skip


@api(v2="image.stateless_sample_distorted_bounding_box")
@tensor_function
def stateless_sample_distorted_bounding_box(
    image_size, bounding_boxes: TensorLike, seed: TensorLike, min_object_covered: float = 0.1,
    aspect_ratio_range=None, area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None,
    name: str | None = None,
):
    """Draw a random crop of an image that covers enough of one of the boxes; the same for the same seed.

    Args:
      image_size: `[height, width, channels]` of the image, integers.
      bounding_boxes: `[batch, n, 4]`, (y1, x1, y2, x2) in [0, 1].
      seed: two integers.
      min_object_covered: the least part of some box that is in the crop.
      aspect_ratio_range: of width over height, (0.75, 1.33) by default.
      area_range: of the crop as a part of the image, (0.05, 1) by default.
      max_attempts: how many crops are tried, 100 by default; after them the crop is the whole image.
      use_image_if_no_bounding_boxes: whether one box around the whole image is taken where there are none.
      name: a name for the operation (optional).

    Returns:
      begin, size, bboxes: as of `tf.image.sample_distorted_bounding_box`.
    """
    limits = _given(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    return StatelessSampleDistortedBoundingBox(
        image_size, bounding_boxes, min_object_covered, seed, **limits
    )
