"""Images under projective transforms: each pixel of the result is read where the transform sends it."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.linalg.inverse import MatrixInverse
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall

_IMAGES = (
    dtypes.float32, dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float64,
)  # fmt: skip
_INTERPOLATION = one_of("NEAREST", "BILINEAR")
_FILL = one_of("CONSTANT", "REFLECT", "WRAP", "NEAREST", default="CONSTANT")
_FAR = 2.0**30  # Beyond every image, and a whole number that indices can hold.


def _checked(images: Any, transforms: Any, size: Any) -> tuple[int, int]:
    if images.ndim != 4:
        raise invalid("Input images must have rank 4")
    if transforms.ndim != 2 or transforms.shape[0] not in (images.shape[0], 1) or transforms.shape[1] != 8:
        raise invalid("Input transform should be num_images x 8 or 1 x 8")
    if size.ndim != 1:
        raise invalid(f"output shape must be 1-dimensional{shape_text(size.shape)}")
    if size.size != 2:
        raise invalid(f"output shape must have two elements{shape_text(size.shape)}")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    return height, width


def _sources(xp: ModuleType, transforms: Array, height: int, width: int):
    """(y, x, whether they are finite) of each place of the result: arrays [transforms, height, width]."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    t = transforms[:, :, None, None]
    with np.errstate(all="ignore"):
        depth = t[:, 6] * x + t[:, 7] * y + np.float32(1)
        at_x = (t[:, 0] * x + t[:, 1] * y + t[:, 2]) / depth
        at_y = (t[:, 3] * x + t[:, 4] * y + t[:, 5]) / depth
    known = (depth != 0) & xp.isfinite(at_x) & xp.isfinite(at_y)
    return (*(xp.clip(xp.where(known, v, np.float32(0)), -_FAR, _FAR) for v in (at_y, at_x)), known)


def _reflected(xp: ModuleType, at: Array, size: int):
    """Coordinates of the image mirrored at its edges again and again: d c b a | a b c d | d c b a."""
    period = np.float32(2 * size)
    below = period * xp.trunc(-at / period) + at
    below = xp.where(below < -size, below + period, -below - 1)
    above = at - period * xp.trunc(at / period)
    above = xp.where(above >= size, period - above - 1, above)
    return xp.where(at < 0, below, xp.where(at > size - 1, above, at))


def _wrapped(xp: ModuleType, at: Array, size: int):
    """Coordinates of the image repeated again and again: a b c d | a b c d | a b c d."""
    last = np.float32(max(size - 1, 1))
    below = at + size * (xp.trunc(-at / last) + 1)
    above = at - size * xp.trunc(at / last)
    return xp.where(at < 0, below, xp.where(at > size - 1, above, at))


def _filled(xp: ModuleType, at: Array, size: int, mode: str):
    """Coordinates with those outside of the image moved inside, as the mode says."""
    if mode == "CONSTANT":
        return at
    if size > 1 and mode != "NEAREST":
        at = (_reflected if mode == "REFLECT" else _wrapped)(xp, at, size)
    return xp.clip(at, np.float32(0), np.float32(max(size - 1, 0)))


def _rounded(xp: ModuleType, at: Array):
    """The nearest whole number, halves away from zero."""
    whole = xp.trunc(at)
    return whole + xp.where(xp.abs(at - whole) >= np.float32(0.5), xp.sign(at), np.float32(0))


def _read(xp: ModuleType, images: Array, y: Array, x: Array, fill):
    """The pixels at whole coordinates [images or 1, height, width]; `fill` outside of the images."""
    count, height, width, channels = images.shape
    inside = ((y >= 0) & (y < height) & (x >= 0) & (x < width))[..., None]
    if height == 0 or width == 0:
        return xp.full((count, *y.shape[1:], channels), fill, images.dtype)
    flat = images.reshape(count, height * width, channels)
    place = xp.clip(y, 0, height - 1).astype(np.int64) * width + xp.clip(x, 0, width - 1).astype(np.int64)
    place = xp.broadcast_to(place.reshape(len(place), -1, 1), (count, place[0].size, 1))
    found = xp.take_along_axis(flat, place, 1).reshape(count, *y.shape[1:], channels)
    return xp.where(inside, found, fill)


def _cast(value: np.ndarray, dtype: Any):
    """float32 numbers in the dtype of the images, of which integers drop the fraction."""
    if np.dtype(dtype).kind in "iu":
        return value.astype(np.int64).astype(dtype)
    return value.astype(dtype)


def _bilinear(xp: ModuleType, images: Array, y: Array, x: Array, fill):
    low_y, low_x = xp.floor(y), xp.floor(x)
    part_y, part_x = (y - low_y)[..., None], (x - low_x)[..., None]
    rows = []
    for at in (low_y, low_y + 1):
        left, right = (_read(xp, images, at, v, fill).astype(np.float32) for v in (low_x, low_x + 1))
        rows.append((1 - part_x) * left + part_x * right)
    return _cast((1 - part_y) * rows[0] + part_y * rows[1], images.dtype)


def _transformed(
    xp: ModuleType, images: Array, transforms: Array, size: Array, fill, interpolation: str, fill_mode: str
):
    height, width = _checked(images, transforms, size)
    fill = _cast(xp.asarray(fill, np.float32), images.dtype)
    y, x, known = _sources(xp, transforms, height, width)
    y = _filled(xp, y, images.shape[1], fill_mode)
    x = _filled(xp, x, images.shape[2], fill_mode)
    if interpolation == "NEAREST":
        found = _read(xp, images, _rounded(xp, y), _rounded(xp, x), fill)
    else:
        found = _bilinear(xp, images, y, x, fill)
    return xp.where(known[..., None], found, fill).astype(images.dtype)


def _rule(call: ShapeCall):
    count, _, _, channels = shapes.with_rank(call.shape(0), 4)
    shapes.exactly(shapes.vector_length(call, 2), 2)
    height, width = shapes.vector_value(call, 2) or (None, None)
    return [(count, height, width, channels)]


def _inverse(transforms: Tensor):
    """The transforms in the other direction."""
    count = Shape(transforms)[:1]
    ones = zeros(concat([count, [1]], 0), dtypes.float32) + 1.0
    matrices = MatrixInverse(reshape(concat([transforms, ones], 1), [-1, 3, 3]))
    flat = reshape(matrices, [-1, 9])
    return (flat / flat[:, 8:])[:, :8]


# V2: what is outside of the image is 0


@op("ImageProjectiveTransformV2", "images: dtype, transforms: float32, output_shape: int32 "
    "-> transformed_images: dtype",
    types={"dtype": _IMAGES}, attrs={"interpolation": _INTERPOLATION, "fill_mode": _FILL}, shape=_rule)  # fmt: skip
def ImageProjectiveTransformV2(
    xp: ModuleType, images: Array, transforms: Array, output_shape: Array, interpolation: str, fill_mode: str
):
    return _transformed(xp, images, transforms, output_shape, 0.0, interpolation, fill_mode)


@ImageProjectiveTransformV2.gradient(needs="images, transforms")
def _(call: GradientCall, dy: Tensor):
    """As TensorFlow has it: the gradient transformed back, which is the transpose only for shifts by whole pixels."""
    size = Shape(call.images)[1:3]
    back = ImageProjectiveTransformV2(
        dy, _inverse(call.transforms), size, call.interpolation, call.fill_mode
    )
    return back, None, None


# V3: what is outside of the image is given


@op("ImageProjectiveTransformV3", "images: dtype, transforms: float32, output_shape: int32, fill_value: float32 "
    "-> transformed_images: dtype", types={"dtype": _IMAGES},
    attrs={"interpolation": _INTERPOLATION, "fill_mode": _FILL}, shape=_rule)  # fmt: skip
def ImageProjectiveTransformV3(
    xp: ModuleType, images: Array, transforms: Array, output_shape: Array, fill_value: Array, interpolation: str,
    fill_mode: str,
):
    if fill_value.ndim:
        raise invalid(f"fill_value must be a scalar{shape_text(fill_value.shape)}")
    return _transformed(
        xp, images, transforms, output_shape, fill_value, interpolation, fill_mode
    )


@ImageProjectiveTransformV3.gradient(needs="images, transforms")
def _(call: GradientCall, dy: Tensor):
    size = Shape(call.images)[1:3]
    back = ImageProjectiveTransformV3(
        dy, _inverse(call.transforms), size, 0.0, call.interpolation, call.fill_mode
    )
    return back, None, None, None


def _samples(*fill):
    def samples(rng):
        image = (rng.normal(2, 4, 5, 2) * 30 + 90).astype(np.float32)
        turn = np.array([[0.8, -0.63, 1.7, 0.57, 0.79, -3.2, 0.013, -0.027]], np.float32)
        moves = np.array([[1, 0, -1.3, 0, 1, 0.6, 0, 0], [2, 0, 0.2, 0, 3, -4.1, 0, 0]], np.float32)
        size = np.array([3, 4], np.int32)
        for interpolation in ("NEAREST", "BILINEAR"):
            for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
                attrs = {"interpolation": interpolation, "fill_mode": mode, "differentiable": False}
                for transforms in (turn, moves):
                    yield Sample(image, transforms, size, *fill, **attrs)
        attrs = {"interpolation": "NEAREST", "differentiable": False}
        whole = np.rint(image).astype(np.int32)
        yield Sample(whole, np.array([[1, 0, 0, 0, 1, 0, -0.5, 0]], np.float32), size, *fill, **attrs)
        yield Sample(image[:, :0], turn, size, *fill, **attrs)
        for bad in ((image[0], turn, size), (image, turn[:, :7], size), (image, turn[0], size),
                    (image, turn, size[:1]), (image, turn, size * 0), (image, turn, size[None])):  # fmt: skip
            yield Sample(*bad, *fill, interpolation="NEAREST", raises=InvalidArgumentError)

    return samples


def _place(at: float, size: int, mode: str) -> float:
    """A coordinate moved inside an axis of `size` pixels, one by one."""
    if mode == "CONSTANT" or size == 0:
        return at
    if mode == "WRAP" and not 0 <= at <= size - 1:
        # TensorFlow counts copies one pixel too short.
        copies = int(abs(at) // max(size - 1, 1))
        at = at + size * (copies + 1) if at < 0 else at - size * copies
    if mode == "REFLECT":
        at = (at + 0.5) % (2 * size) - 0.5
        at = at if at < size - 0.5 else 2 * size - 1 - at
    return min(max(at, 0.0), size - 1)


def _by_pixel(images, transforms, output_shape, fill_value: float = 0.0, *, interpolation: str, fill_mode: str):
    """Pixel by pixel."""
    count, height, width, channels = images.shape
    fill = np.float32(fill_value).astype(images.dtype).astype(np.float64)
    out = np.zeros((count, *output_shape, channels))

    def pixel(n: int, y, x):
        inside = 0 <= y < height and 0 <= x < width
        return images[n, int(y), int(x)].astype(np.float64) if inside else fill

    for n, i, j in np.ndindex(count, *(int(v) for v in output_shape)):
        a = np.append(transforms[n % len(transforms)].astype(np.float64), 1).reshape(3, 3)
        x, y, k = a @ [j, i, 1]
        if k == 0:
            out[n, i, j] = fill
            continue
        y, x = _place(y / k, height, fill_mode), _place(x / k, width, fill_mode)
        if interpolation == "NEAREST":
            out[n, i, j] = pixel(n, *(np.floor(abs(v) + 0.5) * np.sign(v) for v in (y, x)))
            continue
        for p in (np.floor(y), np.floor(y) + 1):
            for q in (np.floor(x), np.floor(x) + 1):
                out[n, i, j] += (1 - abs(y - p)) * (1 - abs(x - q)) * pixel(n, p, q)
    return out.astype(images.dtype)


ImageProjectiveTransformV2.samples(_samples())
ImageProjectiveTransformV2.reference(_by_pixel)
ImageProjectiveTransformV3.samples(_samples(np.float32(7.5)))
ImageProjectiveTransformV3.reference(_by_pixel)
