"""Colours: hue, saturation and value, luma and chroma, and what shifts, scales or converts them."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.stacking import unstack as unstacked
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math import reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_FLOATS = {"T": Preferring((dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.float64))}
_SINGLE = {"T": Preferring((dtypes.float32, dtypes.float16))}


def _require_channels(images: Any, least: int) -> None:
    if images.ndim < least:
        raise invalid(f"input must be at least {least}-D, got shape{shape_text(images.shape)}")
    if images.shape[-1] != 3:
        text = f"input must have 3 channels but instead has {images.shape[-1]} channels."
        raise invalid(text) if least == 3 else FailedPreconditionError(None, None, text)


def _to_hsv(xp: ModuleType, rgb: Array):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    value = xp.maximum(xp.maximum(r, g), b)
    span = value - xp.minimum(xp.minimum(r, g), b)
    saturation = xp.where(value > 0, span / xp.where(value > 0, value, 1), 0)
    sixth = 1 / (6 * xp.where(span > 0, span, 1))
    hue = xp.where(
        r == value,
        sixth * (g - b),
        xp.where(g == value, sixth * (b - r) + 2.0 / 6.0, sixth * (r - g) + 4.0 / 6.0),
    )
    hue = xp.where(span > 0, hue, 0)
    return xp.where(hue < 0, hue + 1, hue), saturation, value


def _to_rgb(xp: ModuleType, hue: Array, saturation: Array, value: Array):
    sixths = hue * 6
    red = (xp.abs(sixths - 3) - 1).clip(0, 1)
    green = (2 - xp.abs(sixths - 2)).clip(0, 1)
    blue = (2 - xp.abs(sixths - 4)).clip(0, 1)
    rest = 1 - saturation
    return xp.stack([(rest + saturation * c) * value for c in (red, green, blue)], -1)


def _colours(rng: SampleGenerator):
    return np.abs(rng.normal(2, 3, 4, 3)) / 4


def _colour_samples(*rest, least: int = 1):
    kind = np.float32 if least == 3 else np.float64

    def samples(rng: SampleGenerator):
        yield Sample(_colours(rng).astype(kind), *rest)
        yield Sample(_colours(rng)[0].astype(kind), *rest, differentiable=False)
        yield Sample(np.zeros((1, 2, 3), kind), *rest, differentiable=False)
        depth = InvalidArgumentError if least == 3 else FailedPreconditionError
        yield Sample(rng.normal(1, 2, 4), *rest, raises=depth)
        yield Sample(1.0, *rest, raises=InvalidArgumentError)
        if least == 3:
            yield Sample(rng.normal(2, 3), *rest, raises=InvalidArgumentError)
            yield Sample(_colours(rng), np.ones(2, np.float32), raises=InvalidArgumentError)

    return samples


def _pixelwise(function: Callable[..., Any]):
    """A reference that goes pixel by pixel, through Python's own `colorsys`."""

    def reference(images, *rest):
        rows = images.reshape(-1, images.shape[-1])
        out = [function(*(float(c) for c in row), *(float(x) for x in rest)) for row in rows]
        return np.array(out).reshape(images.shape)

    return reference


def _colors_rule(call: ShapeCall):
    shape = call.shape(0)
    return [None if shape is None else (*shape[:-1], shapes.exactly(shape[-1], 3))]


@op("RGBToHSV", "images: T -> output: T", types=_FLOATS, ranks="images: 1+",
    shape=_colors_rule)  # fmt: skip
def RGBToHSV(xp: ModuleType, images: Array):
    _require_channels(images, 1)
    return xp.stack(_to_hsv(xp, images), -1).astype(images.dtype)


RGBToHSV.batching(batching.leading(least=[1]))


# Which channels stand in the numerator of the hue, where red, green or blue is the largest.
_HUE = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])


@RGBToHSV.gradient(needs="images")
def _(call: GradientCall, dy: Tensor):
    kind = call.dtype("images")
    red, green, blue = unstacked(call.images, 3, axis=-1)
    is_largest = [
        logical_and(red >= green, red >= blue),
        logical_and(green > red, green >= blue),
        logical_and(blue > red, blue > green),
    ]
    is_smallest = [
        logical_and(red < green, red < blue),
        logical_and(green <= red, green < blue),
        logical_and(blue <= red, blue <= green),
    ]
    most, least = (cast(stack(x, axis=-1), kind) for x in (is_largest, is_smallest))
    value = reductions.reduce_max(call.images, axis=-1, keepdims=True)
    bottom = reductions.reduce_min(call.images, axis=-1, keepdims=True)
    span = value - bottom
    hue_part = tensordot(most, convert_to_tensor(_HUE, kind), 1)
    above = reductions.reduce_sum(hue_part * call.images, axis=-1, keepdims=True)
    d_hue = divide_no_nan(hue_part, 6 * span) - divide_no_nan(above, 6 * span * span) * (
        most - least
    )
    d_saturation = divide_no_nan(most * bottom, value * value) - divide_no_nan(least, value)
    # A channel without light has no part in the saturation, a black pixel no hue.
    d_saturation *= cast(call.images > 0, kind)
    d_hue *= cast(value > 0, kind)
    return dy[..., 0:1] * d_hue + dy[..., 1:2] * d_saturation + dy[..., 2:3] * most


RGBToHSV.samples(_colour_samples())
RGBToHSV.reference(_pixelwise(colorsys.rgb_to_hsv))


@op("HSVToRGB", "images: T -> output: T", types=_FLOATS, ranks="images: 1+",
    shape=_colors_rule)  # fmt: skip
def HSVToRGB(xp: ModuleType, images: Array):
    _require_channels(images, 1)
    return _to_rgb(xp, images[..., 0], images[..., 1], images[..., 2]).astype(images.dtype)


HSVToRGB.batching(batching.leading(least=[1]))


HSVToRGB.samples(_colour_samples())


@HSVToRGB.reference
def _(images: np.ndarray):
    def edge(n: int, h, s, v):
        k = (n + 6 * h) % 6
        return v - v * s * max(0.0, min(k, 4 - k, 1.0))

    def pixel(h, s, v):
        return [edge(n, h, s, v) for n in (5, 3, 1)]

    return _pixelwise(pixel)(images)


def _scalar(value: Any, name: str) -> float:
    if value.ndim:
        raise invalid(f"{name} must be scalar: {shape_text(value.shape)}")
    return value


@op(
    "AdjustHue", "images: T, delta: float32 -> output: T", types=_SINGLE, ranks="images: 3+",
    shape=shapes.same_as_first,
)
def AdjustHue(xp: ModuleType, images: Array, delta: Array):
    _require_channels(images, 3)
    hue, saturation, value = _to_hsv(xp, images.astype(np.float32))
    return _to_rgb(xp, (hue + _scalar(delta, "delta")) % 1, saturation, value).astype(images.dtype)


AdjustHue.batching(batching.leading(0, least=[3]))


AdjustHue.samples(_colour_samples(np.float32(0.3), least=3))


@AdjustHue.reference
def _(images: np.ndarray, delta: np.ndarray):
    def pixel(r, g, b, delta):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb((h + delta) % 1, s, v)

    return _pixelwise(pixel)(images, delta)


@op("AdjustSaturation", "images: T, scale: float32 -> output: T", types=_SINGLE,
    ranks="images: 3+",
    shape=shapes.same_as_first)  # fmt: skip
def AdjustSaturation(xp: ModuleType, images: Array, scale: Array):
    _require_channels(images, 3)
    hue, saturation, value = _to_hsv(xp, images.astype(np.float32))
    saturation = (saturation * _scalar(scale, "scale")).clip(0, 1)
    return _to_rgb(xp, hue, saturation, value).astype(images.dtype)


AdjustSaturation.batching(batching.leading(0, least=[3]))


AdjustSaturation.samples(_colour_samples(np.float32(1.5), least=3))


@AdjustSaturation.reference
def _(images: np.ndarray, scale: np.ndarray):
    def pixel(r, g, b, scale: bool):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb(h, min(s * scale, 1), v)

    return _pixelwise(pixel)(images, scale)


def _contrast_rule(call: ShapeCall):
    shapes.scalar_shape(call, 1)
    return [shapes.at_least(call.shape(0), 3)]


@op("AdjustContrastv2", "images: T, contrast_factor: float32 -> output: T", types=_SINGLE,
    shape=_contrast_rule)  # fmt: skip
def AdjustContrastv2(xp: ModuleType, images: Array, contrast_factor: Array):
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    wide = images.astype(np.float32)
    if 0 in images.shape:
        return images
    factor = _scalar(contrast_factor, "contrast_factor")
    # In rows of pixels: loops over few channels would be slow.
    *outer, height, width, channels = wide.shape
    rows = wide.reshape(*outer, height, width * channels)
    mean = rows.mean(-2).reshape(*outer, width, channels).mean(-2)
    mean = xp.tile(mean, width)[..., None, :]
    return (mean + (rows - mean) * factor).reshape(images.shape).astype(images.dtype)


AdjustContrastv2.batching(batching.leading(0, least=[3]))


@AdjustContrastv2.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3, 4, 2).astype(np.float32), np.float32(1.7))
    yield Sample(rng.normal(3, 4, 1).astype(np.float32), np.float32(0.0))
    yield Sample(rng.normal(3, 4), np.float32(0.5), raises=InvalidArgumentError)
    yield Sample(rng.normal(3, 4, 1), np.ones(2, np.float32), raises=InvalidArgumentError)


@AdjustContrastv2.reference
def _(images: np.ndarray, contrast_factor: np.ndarray):
    out = np.array(images)
    for at in np.ndindex(*images.shape[:-3]):
        for c in range(images.shape[-1]):
            mean = images[(*at, ..., c)].mean()
            out[(*at, ..., c)] = (
                contrast_factor * images[(*at, ..., c)] + (1 - contrast_factor) * mean
            )
    return out


# Functions


@api("image.rgb_to_hsv")
@tensor_function
def rgb_to_hsv(images: TensorLike, name: str | None = None):
    """Hue, saturation and value, all in [0, 1], of images `[..., 3]` of red, green and blue in [0, 1]."""
    return RGBToHSV(images)


@api("image.hsv_to_rgb")
@tensor_function
def hsv_to_rgb(images: TensorLike, name: str | None = None):
    """Red, green and blue of images `[..., 3]` of hue, saturation and value in [0, 1]."""
    return HSVToRGB(images)
