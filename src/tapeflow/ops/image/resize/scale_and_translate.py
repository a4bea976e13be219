"""Images of another size and place, by any kernel."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.image import kernels as image_kernels
from tapeflow.ops.image.resize.samples import transposed
from tapeflow.ops.image.resize.taps import (
    IMAGES,
    Taps,
    checked_gradient,
    checked_images,
    gradient_rule,
    normalized,
    resized,
    size_rule,
    spread_gradient,
)
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


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
    return Taps(wanted.clip(0, size - 1), normalized(weights))


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
    types={"T": IMAGES}, attrs=_KERNEL, shape=size_rule)  # fmt: skip
def ScaleAndTranslate(xp: ModuleType, images, size, scale: Array, translation: Array, kernel_type, antialias):
    size = checked_images(images, size)
    taps = _translations(images.shape, size, scale, translation, kernel_type, antialias)
    return resized(xp, images, *taps)


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
    types={"T": (dtypes.float32,)}, attrs=_KERNEL, shape=gradient_rule)  # fmt: skip
def ScaleAndTranslateGrad(xp, grads, original_image, scale, translation, kernel_type, antialias):
    checked_gradient(grads, original_image)
    shape = original_image.shape
    taps = _translations(shape, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return spread_gradient(xp, grads, *taps, *shape[1:3], original_image.dtype)


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

    return transposed(forward)(grads, original)
