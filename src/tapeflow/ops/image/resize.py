"""Images of another size: bilinear, nearest neighbor, bicubic, area, and any kernel under a scale and a translation.

All of them are separable: a row of the result is a weighted sum of a few rows of the image, and so for columns.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.image import kernels as image_kernels
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

IMAGES = (
    dtypes.float32, dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64,
    dtypes.float16, dtypes.float64, dtypes.bfloat16,
)  # fmt: skip
_CENTERS = {"align_corners": False, "half_pixel_centers": False}
_BICUBIC_STEPS = 1024  # TensorFlow rounds the position between two pixels to so many steps.


class Taps(NamedTuple):
    """For each place along an axis of the result: which places of the image it is made of, and with what weights."""

    places: np.ndarray  # [out, taps]
    weights: np.ndarray  # [out, taps], of floats

    def matrix(self, size: int) -> np.ndarray:
        """The same as a dense [out, size] matrix."""
        out = np.zeros((len(self.places), size), self.weights.dtype)
        fold_at(np.add, out, (np.arange(len(self.places))[:, None], self.places), self.weights)
        return out


def _apply(xp: ModuleType, image: Array, axis: int, taps: Taps):
    shape = [1] * image.ndim
    shape[axis] = -1
    total = 0
    for k in range(taps.places.shape[1]):
        weight = taps.weights[:, k]
        if weight.any() or k == 0:
            total = total + xp.take(image, taps.places[:, k], axis=axis) * weight.reshape(shape)
    return total


def _resized(xp: ModuleType, images, rows: Taps, columns: Taps):
    wide = images.astype(np.float32)
    if 0 in (len(rows.places), len(columns.places)) or 0 in wide.shape:
        return xp.zeros(
            (wide.shape[0], len(rows.places), len(columns.places), wide.shape[3]), np.float32
        )
    return _apply(xp, _apply(xp, wide, 2, columns), 1, rows)


def _spread(xp: ModuleType, grads, rows: Taps, columns: Taps, height: int, width: int, dtype):
    """The transpose of `_resized`."""
    exact = np.float64 if dtype == np.float64 else np.float32
    g = xp.einsum("nijc,iy->nyjc", grads.astype(exact), rows.matrix(height).astype(exact))
    return xp.einsum("nyjc,jx->nyxc", g, columns.matrix(width).astype(exact)).astype(dtype)


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
    return height, width


def _checked_gradient(grads, original):
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


def _require_one(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")


def _scale(size: int, out: int, align_corners: bool) -> np.float32:
    if align_corners and out > 1:
        return np.float32(size - 1) / np.float32(out - 1)
    return np.float32(size) / np.float32(out)


def _positions(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where in the image each place of the result lies."""
    scale = _scale(size, out, align_corners)
    at = np.arange(out, dtype=np.float32)
    half = np.float32(0.5)
    return (at + half) * scale - half if half_pixel_centers else at * scale


def bilinear_taps(size, out, align_corners: bool, half_pixel_centers: bool) -> Taps:
    at = _positions(size, out, align_corners, half_pixel_centers)
    low = np.floor(at)
    part = (at - low)[:, None]
    places = np.stack([np.maximum(low, 0), np.minimum(np.ceil(at), size - 1)], 1).astype(np.int64)
    return Taps(places.clip(0, size - 1), np.concatenate([1 - part, part], 1))


def _precise(taps: Taps, dtype) -> Taps:
    """The same two places with weights that are one together in another precision."""
    part = taps.weights[:, 1:].astype(dtype)
    return Taps(taps.places, np.concatenate([1 - part, part], 1))


def resized_by_lines(xp: ModuleType, images, size, align_corners: bool):
    """Images resized with interpolation between pixels, in their own precision where it is that of float64."""
    height, width = checked_images(images, size)
    exact = np.float64 if images.dtype == np.float64 else np.float32
    rows, columns = (
        _precise(bilinear_taps(old, new, align_corners, False), exact).matrix(old)
        for old, new in zip(images.shape[1:3], (height, width), strict=True)
    )
    x = xp.einsum("nyxc,jx->nyjc", images.astype(exact), columns)
    return xp.einsum("nyjc,iy->nijc", x, rows).astype(images.dtype)


def _nearest(size, out, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    scale = _scale(size, out, align_corners)
    at = np.arange(out, dtype=np.float32)
    at = (at + np.float32(0.5)) * scale if half_pixel_centers else at * scale
    # Halves are rounded away from zero.
    places = np.floor(at + np.float32(0.5)) if align_corners else np.floor(at)
    return places.astype(np.int64).clip(0, size - 1)


def _cubic_weights(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Keys' cubic at the distances x and 1 + x for x in [0, 1], in steps."""
    x = np.arange(_BICUBIC_STEPS + 1) / _BICUBIC_STEPS
    far = x + 1
    return (
        (((a + 2) * x - (a + 3)) * x * x + 1).astype(np.float32),
        (((a * far - 5 * a) * far + 8 * a) * far - 4 * a).astype(np.float32),
    )


def _bicubic(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    at = _positions(size, out, align_corners, half_pixel_centers)
    low = np.floor(at)
    step = np.rint((at - low) * _BICUBIC_STEPS).astype(np.int64)
    near, far = _cubic_weights(-0.5 if half_pixel_centers else -0.75)
    weights = np.stack(
        [far[step], near[step], near[_BICUBIC_STEPS - step], far[_BICUBIC_STEPS - step]], 1
    )
    wanted = low.astype(np.int64)[:, None] + np.arange(-1, 3)
    places = wanted.clip(0, size - 1)
    if half_pixel_centers:
        weights = _normalized(np.where(places == wanted, weights, np.float32(0)))
    return Taps(places, weights)


def _normalized(weights: np.ndarray) -> np.ndarray:
    """Weights that sum to one in each row, where their sum is not next to nothing."""
    total = weights.sum(1, keepdims=True)
    whole = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    return np.where(whole, weights / np.where(whole, total, 1), weights).astype(np.float32)


def _area(size, out, align_corners: bool) -> Taps:
    scale = float(_scale(size, out, align_corners))
    start = np.arange(out) * scale
    end = (np.arange(out) + 1) * scale
    first = np.floor(start).astype(np.int64)
    count = int((np.ceil(end).astype(np.int64) - first).max(initial=1))
    wanted = first[:, None] + np.arange(count)
    covered = np.minimum(wanted + 1, end[:, None]) - np.maximum(wanted, start[:, None])
    weights = np.maximum(covered, 0) / scale
    return Taps(wanted.clip(0, size - 1), weights.astype(np.float32))


def _translated(size, out, scale, translation, kernel_type, antialias: bool) -> Taps:
    kernel, radius = image_kernels.KERNELS[kernel_type]
    inverse = np.float32(1) / np.float32(scale)
    spread = max(inverse, np.float32(1)) if antialias else np.float32(1)
    span = min(2 * int(np.ceil(radius * spread)) + 1, size)
    at = (np.arange(out, dtype=np.float32) + np.float32(0.5)) * inverse
    at = at - inverse * np.float32(translation)
    first = np.ceil(at - radius * spread - np.float32(0.5)).clip(0, size - 1).astype(np.int64)
    last = np.floor(at + radius * spread - np.float32(0.5)).clip(0, size - 1).astype(np.int64)
    wanted = first[:, None] + np.arange(span)
    weights = kernel(np.abs((wanted + np.float32(0.5) - at[:, None]) / spread))
    inside = (wanted <= last[:, None]) & ((at >= 0) & (at <= size))[:, None]
    weights = np.where(inside, weights, 0).astype(np.float32)
    return Taps(wanted.clip(0, size - 1), _normalized(weights))


def _rule(call: ShapeCall):
    n, _, _, c = shapes.with_rank(call.shape(0), 4)
    shapes.exactly(shapes.vector_length(call, 1), 2)
    height, width = call.value_as_shape(1) or (None, None)
    return [(n, height, width, c)]


def _gradient_rule(call: ShapeCall):
    return [call.shape(1)]


_SIZES = ((3, 2), (5, 7), (8, 3), (4, 4), (1, 1))


def _resize_samples(*settings):
    def samples(rng: SampleGenerator):
        for setting in settings:
            for size in _SIZES:
                yield Sample(rng.normal(2, 4, 5, 2), np.array(size, np.int32), **setting)
        yield Sample((rng.normal(1, 3, 4, 1) * 50).astype(np.int32), np.array([5, 2], np.int32))
        image = rng.normal(1, 3, 4, 1)
        for bad in ([0, 2], [-1, 2], [3], [[1, 2]]):
            yield Sample(image, np.array(bad, np.int32), raises=InvalidArgumentError)
        yield Sample(image[0], np.array([2, 2], np.int32), raises=InvalidArgumentError)
        yield Sample(image[:, :0], np.array([2, 2], np.int32), raises=InvalidArgumentError)
        if len(settings) > 2:
            yield Sample(image, np.array([2, 2], np.int32), align_corners=True, half_pixel_centers=True,
                         raises=InvalidArgumentError)  # fmt: skip

    return samples


_PLAIN: dict = {}
_ALIGNED, _HALF = {"align_corners": True}, {"half_pixel_centers": True}


def _sum_over(weight, images, size):
    """A result by its definition: each pixel a sum of pixels, weighted by `weight(axis size, out, i, p)`."""
    n, h, w, c = images.shape
    out = np.zeros((n, size[0], size[1], c))
    for i, j in np.ndindex(int(size[0]), int(size[1])):
        for p, q in np.ndindex(h, w):
            out[:, i, j] += weight(h, size[0], i, p) * weight(w, size[1], j, q) * images[:, p, q]
    return out.astype(np.float32)


def _place(size, out, i, align_corners: bool, half_pixel_centers: bool):
    if half_pixel_centers:
        return (i + 0.5) * size / out - 0.5
    return i * ((size - 1) / (out - 1) if align_corners and out > 1 else size / out)


# Bilinear


@op("ResizeBilinear", "images: T, size: int32 -> resized_images: float32", types={"T": IMAGES},
    attrs=_CENTERS, shape=_rule)  # fmt: skip
def ResizeBilinear(xp: ModuleType, images: Array, size: Array, align_corners, half_pixel_centers):
    height, width = checked_images(images, size)
    _require_one(align_corners, half_pixel_centers)
    flags = (align_corners, half_pixel_centers)
    rows = bilinear_taps(images.shape[1], height, *flags)
    return _resized(xp, images, rows, bilinear_taps(images.shape[2], width, *flags))


ResizeBilinear.batching(batching.folded(0))


@ResizeBilinear.gradient(needs="images")
def _(call: GradientCall, dy: Tensor):
    if not call.dtype("images").is_floating:
        return None, None
    return ResizeBilinearGrad(dy, call.images, call.align_corners, call.half_pixel_centers), None


ResizeBilinear.samples(_resize_samples(_PLAIN, _ALIGNED, _HALF))


@ResizeBilinear.reference
def _(images: TensorLike, size, align_corners: bool, half_pixel_centers: bool):
    def weight(n, out, i, p):
        at = np.clip(_place(n, out, i, align_corners, half_pixel_centers), 0, n - 1)
        return max(0.0, 1 - abs(at - p))

    return _sum_over(weight, images, size)


@op("ResizeBilinearGrad", "grads: float32, original_image: T -> output: T",
    types={"T": (dtypes.float32, dtypes.bfloat16, dtypes.float16, dtypes.float64)},
    attrs=_CENTERS, shape=_gradient_rule)  # fmt: skip
def ResizeBilinearGrad(
    xp: ModuleType, grads: Array, original_image: Array, align_corners, half_pixel_centers
):
    _checked_gradient(grads, original_image)
    height, width = original_image.shape[1:3]
    flags = (align_corners, half_pixel_centers)
    rows, columns = (
        bilinear_taps(n, out, *flags) for n, out in zip((height, width), grads.shape[1:3], strict=True)
    )
    return _spread(xp, grads, rows, columns, height, width, original_image.dtype)


@ResizeBilinearGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("grads")[1:3]
    return ResizeBilinear(dy, size, call.align_corners, call.half_pixel_centers), None


def _gradient_samples(rng: SampleGenerator):
    dy = rng.normal(1, 3, 2, 1).astype(np.float32)
    for setting in (_PLAIN, _ALIGNED, _HALF):
        image = rng.normal(1, 2, 4, 1).astype(np.float32)
        yield Sample(dy, image, differentiable=False, **setting)
    yield Sample(dy, rng.normal(2, 4, 1), raises=InvalidArgumentError)
    yield Sample(dy, rng.normal(1, 2, 4, 2), raises=InvalidArgumentError)
    yield Sample(dy[0], rng.normal(1, 2, 4, 1), raises=InvalidArgumentError)


def _transposed(forward: Callable[..., Any]):
    """The reference of a gradient: what each pixel of the image contributes to the result, summed with `grads`."""

    def reference(grads, original, *_, **attrs):
        out = np.zeros(original.shape)
        for at in np.ndindex(*original.shape):
            one = np.zeros(original.shape)
            one[at] = 1
            out[at] = (forward(one, grads.shape[1:3], **attrs) * grads).sum()
        return out

    return reference


ResizeBilinearGrad.samples(_gradient_samples)
ResizeBilinearGrad.reference(_transposed(ResizeBilinear.formula))

# Nearest neighbor


@op("ResizeNearestNeighbor", "images: T, size: int32 -> resized_images: T", types={"T": IMAGES},
    attrs=_CENTERS, shape=_rule)  # fmt: skip
def ResizeNearestNeighbor(xp: ModuleType, images: Array, size: Array, align_corners, half_pixel_centers):
    height, width = checked_images(images, size)
    _require_one(align_corners, half_pixel_centers)
    flags = (align_corners, half_pixel_centers)
    rows = _nearest(images.shape[1], height, *flags)
    columns = _nearest(images.shape[2], width, *flags)
    return xp.take(xp.take(images, rows, axis=1), columns, axis=2)


ResizeNearestNeighbor.batching(batching.folded(0))


@ResizeNearestNeighbor.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("images")[1:3]
    return ResizeNearestNeighborGrad(dy, size, call.align_corners, call.half_pixel_centers), None


ResizeNearestNeighbor.samples(_resize_samples(_PLAIN, _ALIGNED, _HALF))


@ResizeNearestNeighbor.reference
def _(images, size, align_corners: bool, half_pixel_centers: bool):
    def nearest(n, out, i):
        if half_pixel_centers:
            return min((2 * i + 1) * n // (2 * out), n - 1)
        if align_corners and out > 1:
            return (2 * i * (n - 1) + out - 1) // (2 * (out - 1))
        return min(i * n // out, n - 1)

    rows = [nearest(images.shape[1], int(size[0]), i) for i in range(int(size[0]))]
    columns = [nearest(images.shape[2], int(size[1]), i) for i in range(int(size[1]))]
    return images[:, rows][:, :, columns]


_NEAREST_GRADS = (
    dtypes.float32, dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.float16, dtypes.float64, dtypes.bfloat16,
)  # fmt: skip


@op("ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T",
    types={"T": _NEAREST_GRADS}, attrs=_CENTERS, shape=_rule)  # fmt: skip
def ResizeNearestNeighborGrad(xp, grads, size, align_corners, half_pixel_centers):
    height, width = checked_images(grads, size)
    flags = (align_corners, half_pixel_centers)
    rows = _nearest(height, grads.shape[1], *flags)
    columns = _nearest(width, grads.shape[2], *flags)
    out = np.zeros((grads.shape[0], height, width, grads.shape[3]), grads.dtype)
    if xp is not np:
        return xp.asarray(out).at[:, rows[:, None], columns].add(grads)
    fold_at(np.add, out, (np.arange(len(out))[:, None, None], rows[:, None], columns), grads)
    return out


@ResizeNearestNeighborGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("grads")[1:3]
    return ResizeNearestNeighbor(dy, size, call.align_corners, call.half_pixel_centers), None


@ResizeNearestNeighborGrad.samples
def _(rng: SampleGenerator):
    for setting in (_PLAIN, _ALIGNED, _HALF):
        yield Sample(rng.normal(1, 3, 2, 1), np.array([2, 4], np.int32), **setting)
    yield Sample(rng.normal(1, 3, 2, 1), np.array([0, 4], np.int32), raises=InvalidArgumentError)
    yield Sample(rng.normal(3, 2, 1), np.array([2, 4], np.int32), raises=InvalidArgumentError)


@ResizeNearestNeighborGrad.reference
def _(grads, size, **attrs):
    original = np.zeros((grads.shape[0], *size, grads.shape[3]))
    return _transposed(ResizeNearestNeighbor.formula)(grads, original, **attrs)


# Bicubic


@op("ResizeBicubic", "images: T, size: int32 -> resized_images: float32", types={"T": IMAGES},
    attrs=_CENTERS, shape=_rule)  # fmt: skip
def ResizeBicubic(xp: ModuleType, images: Array, size: Array, align_corners, half_pixel_centers):
    height, width = checked_images(images, size)
    _require_one(align_corners, half_pixel_centers)
    flags = (align_corners, half_pixel_centers)
    rows = _bicubic(images.shape[1], height, *flags)
    return _resized(xp, images, rows, _bicubic(images.shape[2], width, *flags))


ResizeBicubic.batching(batching.folded(0))


@ResizeBicubic.gradient(needs="images")
def _(call: GradientCall, dy: Tensor):
    if call.dtype("images") not in (dtypes.float32, dtypes.float64):
        return None, None
    return ResizeBicubicGrad(dy, call.images, call.align_corners, call.half_pixel_centers), None


ResizeBicubic.samples(_resize_samples(_PLAIN, _ALIGNED, _HALF))


@ResizeBicubic.reference
def _(images: TensorLike, size, align_corners: bool, half_pixel_centers: bool):
    a = -0.5 if half_pixel_centers else -0.75

    def cubic(x):
        x = abs(x)
        if x < 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0

    def weight(n, out, i, p):
        at = _place(n, out, i, align_corners, half_pixel_centers)
        at = np.floor(at) + np.rint((at - np.floor(at)) * 1024) / 1024
        if half_pixel_centers:
            return cubic(at - p) / sum(cubic(at - q) for q in range(n))
        return sum(cubic(at - q) for q in range(-4, n + 4) if np.clip(q, 0, n - 1) == p)

    return _sum_over(weight, images, size)


@op("ResizeBicubicGrad", "grads: float32, original_image: T -> output: T",
    types={"T": (dtypes.float32, dtypes.float64)}, attrs=_CENTERS, shape=_gradient_rule)  # fmt: skip
def ResizeBicubicGrad(xp: ModuleType, grads: Array, original_image: Array, align_corners, half_pixel_centers):
    _checked_gradient(grads, original_image)
    height, width = original_image.shape[1:3]
    flags = (align_corners, half_pixel_centers)
    rows, columns = (
        _bicubic(n, out, *flags) for n, out in zip((height, width), grads.shape[1:3], strict=True)
    )
    return _spread(xp, grads, rows, columns, height, width, original_image.dtype)


@ResizeBicubicGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("grads")[1:3]
    return ResizeBicubic(dy, size, call.align_corners, call.half_pixel_centers), None


ResizeBicubicGrad.samples(_gradient_samples)
ResizeBicubicGrad.reference(_transposed(ResizeBicubic.formula))

# Area


@op("ResizeArea", "images: T, size: int32 -> resized_images: float32", types={"T": IMAGES},
    attrs={"align_corners": False}, shape=_rule)  # fmt: skip
def ResizeArea(xp: ModuleType, images: Array, size: Array, align_corners: bool):
    height, width = checked_images(images, size)
    rows = _area(images.shape[1], height, align_corners)
    return _resized(xp, images, rows, _area(images.shape[2], width, align_corners))


ResizeArea.batching(batching.folded(0))


ResizeArea.samples(_resize_samples(_PLAIN, _ALIGNED))


@ResizeArea.reference
def _(images: TensorLike, size, align_corners: bool):
    def weight(n, out, i, p):
        scale = _place(n, out, 1, align_corners, False)
        total = 0.0
        for q in range(n + 4):
            if min(q, n - 1) == p:
                total += max(0.0, min(q + 1, (i + 1) * scale) - max(q, i * scale))
        return total / scale

    return _sum_over(weight, images, size)


# A kernel, scaled and translated

_KERNEL = {"kernel_type": one_of(*image_kernels.KERNELS)("lanczos3"), "antialias": True}


def _pair(values, name: str) -> tuple[float, float]:
    if values.shape != (2,):
        raise invalid(f"{name} must be a vector of two elements, got {shape_text(values.shape)}")
    return float(values[0]), float(values[1])


def _translations(shape, size, scale, translation, kernel_type, antialias: bool):
    scales = _pair(scale, "scale")
    moves = _pair(translation, "translation")
    if not (scales[0] > 0 and scales[1] > 0):
        raise invalid("Scale must be greater than zero.")
    return [
        _translated(shape[1 + i], size[i], scales[i], moves[i], kernel_type, antialias)
        for i in range(2)
    ]


@op("ScaleAndTranslate", "images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32",
    types={"T": IMAGES}, attrs=_KERNEL, shape=_rule)  # fmt: skip
def ScaleAndTranslate(xp: ModuleType, images, size, scale: Array, translation: Array, kernel_type, antialias):
    size = checked_images(images, size)
    taps = _translations(images.shape, size, scale, translation, kernel_type, antialias)
    return _resized(xp, images, *taps)


@ScaleAndTranslate.gradient(needs="images, scale, translation")
def _(call: GradientCall, dy: Tensor):
    if call.dtype("images") != dtypes.float32:
        return None, None, None, None
    rest = (call.scale, call.translation, call.kernel_type, call.antialias)
    return ScaleAndTranslateGrad(dy, call.images, *rest), None, None, None


def _kernel_cases():
    one = np.array([0.5, 1.7], np.float32), np.array([0.3, -0.4], np.float32)
    for kernel in image_kernels.KERNELS:
        for antialias in (True, False):
            yield *one, {"kernel_type": kernel, "antialias": antialias}


ScaleAndTranslate.compiled(static="scale, translation")


@ScaleAndTranslate.samples
def _(rng: SampleGenerator):
    image = rng.normal(1, 6, 4, 2).astype(np.float32)
    size = np.array([4, 6], np.int32)
    for scale, move, attrs in _kernel_cases():
        yield Sample(image, size, scale, move, differentiable=False, **attrs)
    one = np.ones(2, np.float32)
    yield Sample(image, size, one * 0, one, raises=InvalidArgumentError)
    yield Sample(image, size, np.ones(3, np.float32), one, raises=InvalidArgumentError)
    yield Sample(image, size, one, np.ones(1, np.float32), raises=InvalidArgumentError)
    yield Sample(image[0], size, one, one, raises=InvalidArgumentError)


@ScaleAndTranslate.reference
def _(images, size, scale, translation, kernel_type, antialias: bool):
    def along(axis):
        n, out = images.shape[axis], int(size[axis - 1])
        s, t = float(scale[axis - 1]), float(translation[axis - 1])
        wide = max(1 / s, 1.0) if antialias else 1.0
        kernel, radius = image_kernels.KERNELS[kernel_type]
        weights = np.zeros((out, n))
        for i in range(out):
            at = (i + 0.5 - t) / s
            if 0 <= at <= n:
                x = np.abs((np.arange(n) + 0.5 - at) / wide)
                weights[i] = np.where(x <= radius, kernel(x), 0)
                weights[i] /= weights[i].sum()
        return weights

    return np.einsum("iy,jx,nyxc->nijc", along(1), along(2), images).astype(np.float32)


@op("ScaleAndTranslateGrad", "grads: T, original_image: T, scale: float32, translation: float32 -> output: T",
    types={"T": (dtypes.float32,)}, attrs=_KERNEL, shape=_gradient_rule)  # fmt: skip
def ScaleAndTranslateGrad(xp, grads, original_image, scale, translation, kernel_type, antialias):
    _checked_gradient(grads, original_image)
    shape = original_image.shape
    taps = _translations(shape, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return _spread(xp, grads, *taps, *shape[1:3], original_image.dtype)


@ScaleAndTranslateGrad.gradient(needs="scale, translation")
def _(call: GradientCall, dy: Tensor):
    rest = (
        call.shape("grads")[1:3],
        call.scale,
        call.translation,
        call.kernel_type,
        call.antialias,
    )
    return ScaleAndTranslate(dy, *rest), None, None, None


ScaleAndTranslateGrad.compiled(static="scale, translation")


@ScaleAndTranslateGrad.samples
def _(rng: SampleGenerator):
    dy, image = (rng.normal(1, *s, 1).astype(np.float32) for s in ((4, 6), (3, 2)))
    for scale, move, attrs in list(_kernel_cases())[:4]:
        yield Sample(dy, image, scale, move, differentiable=False, **attrs)
    one = np.ones(2, np.float32)
    yield Sample(dy, image[0], one, one, raises=InvalidArgumentError)
    yield Sample(dy, image, -one, one, raises=InvalidArgumentError)


@ScaleAndTranslateGrad.reference
def _(grads, original, scale, translation, kernel_type, antialias: bool):
    def forward(image: TensorLike, size):
        return ScaleAndTranslate.formula(image, size, scale, translation, kernel_type, antialias)

    return _transposed(forward)(grads, original)
