"""Colours: hue, saturation and value, luma and chroma, and what shifts, scales or converts them."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.broadcasting import tile
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.joining import concat, stack
from tapeflow.ops.array.joining import unstack as unstacked
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.rows import Rank, identity
from tapeflow.ops.control.assertions import Assert
from tapeflow.ops.control.flow import control_dependencies
from tapeflow.ops.graph_scope import in_scope
from tapeflow.ops.image.shape import as_images
from tapeflow.ops.linalg.matmul import tensordot
from tapeflow.ops.math import arithmetic, reduction
from tapeflow.ops.math.casting import Cast, cast, saturate_cast
from tapeflow.ops.math.comparison import logical_and
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import product, sizes_of, static_value
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
    value = reduction.reduce_max(call.images, axis=-1, keepdims=True)
    bottom = reduction.reduce_min(call.images, axis=-1, keepdims=True)
    span = value - bottom
    hue_part = tensordot(most, convert_to_tensor(_HUE, kind), 1)
    above = reduction.reduce_sum(hue_part * call.images, axis=-1, keepdims=True)
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
    mean = wide.mean((-3, -2), keepdims=True)
    factor = _scalar(contrast_factor, "contrast_factor")
    return (mean + (wide - mean) * factor).astype(images.dtype)


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


@api("image.convert_image_dtype")
@tensor_function
def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None):
    """Convert images to another dtype, scaled: floating point stands for [0, 1], integers for [0, their maximum].

    Args:
      image: images of any shape.
      dtype: the dtype, or its name.
      saturate: whether values that do not fit become the nearest that do.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape of the image.

    Raises:
      AttributeError: for a dtype that is no number.

    >>> print(tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy())
    [0. 1.]
    """
    image, dtype = convert_to_tensor(image), dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return identity(image)
    converted = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        top_in, top_out = int(image.dtype.max), int(dtype.max)
        if top_in > top_out:
            step = (top_in + 1) // (top_out + 1)
            return converted(arithmetic.floordiv(image, step), dtype)
        return converted(image, dtype) * ((top_out + 1) // (top_in + 1))
    if image.dtype.is_floating and dtype.is_floating:
        return Cast(image, dtype)
    if image.dtype.is_integer:
        return Cast(image, dtype) * (1.0 / image.dtype.max)
    return converted(image * (dtype.max + 0.5), dtype)


def in_floats(change, image, kept=(dtypes.float16, dtypes.float32)):
    """`change(image)` made in float32 on [0, 1] unless the image has a dtype of `kept`; converted back."""
    image = convert_to_tensor(image)
    if image.dtype in kept:
        return change(image)
    return convert_image_dtype(
        change(convert_image_dtype(image, dtypes.float32)), image.dtype, saturate=True
    )


@api("image.adjust_brightness")
@tensor_function
@in_scope("adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike):
    """Add a number to all values of images.

    Images of integers are taken for [0, 1] in between, so that `delta` means the same for all dtypes.

    Args:
      image: images of any shape.
      delta: what is added, from -1 to 1.

    Returns:
      A tensor of the shape and dtype of the image.

    >>> print(tf.image.adjust_brightness(tf.constant([[[0.25]]]), 0.5).numpy())
    [[[0.75]]]
    """
    return in_floats(lambda x: x + cast(delta, x.dtype), image)


@api("image.adjust_contrast")
@tensor_function
@in_scope("adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor):
    """Multiply the distance of values from the mean of their channel, of each image.

    Args:
      images: images `[..., height, width, channels]`.
      contrast_factor: the factor; 1 for no change.

    Returns:
      A tensor of the shape and dtype of the images.

    >>> print(tf.image.adjust_contrast(tf.constant([[[1.0], [3.0]]]), 2.0).numpy().ravel())
    [0. 4.]
    """
    return in_floats(lambda x: AdjustContrastv2(x, contrast_factor), as_images(images))


@api("image.adjust_gamma")
@tensor_function
@in_scope("adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: int = 1):
    """Compute `gain * image ** gamma`, the image being taken for [0, 1] if it is of integers.

    Args:
      image: images of any shape.
      gamma: the exponent, at least 0.
      gain: the factor.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a negative gamma.
      InvalidArgumentError: for one that is a tensor.
    """
    text = "Gamma should be a non-negative real number."
    if is_tensor(gamma):
        check = Assert(gamma >= 0, [text])
        with control_dependencies([] if check is None else [check]):
            gamma = identity(gamma)
    elif gamma < 0:
        raise ValueError(text)
    return in_floats(lambda x: gain * x**gamma, image)


@api("image.adjust_hue")
@tensor_function
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None):
    """Turn the hue of RGB images.

    Args:
      image: images `[..., 3]`; those of integers are taken for [0, 1].
      delta: the part of the colour circle, from -1 to 1.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a `delta` out of range.
    """
    known = static_value(delta)
    if known is not None and known.ndim == 0 and not -1 <= known <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return in_floats(lambda x: AdjustHue(x, delta), image)


@api("image.adjust_saturation")
@tensor_function
def adjust_saturation(image: TensorLike, saturation_factor, name: str | None = None):
    """Multiply the saturation of RGB images.

    Args:
      image: images `[..., 3]`; those of integers are taken for [0, 1].
      saturation_factor: the factor: 0 for gray, 1 for no change.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    return in_floats(lambda x: AdjustSaturation(x, saturation_factor), image)


@api("image.rgb_to_grayscale")
@tensor_function
def rgb_to_grayscale(images, name=None):
    """The luma of RGB images `[..., 3]`, as `[..., 1]` of the same dtype (ITU-R BT.601)."""
    images = convert_to_tensor(images)
    wide = convert_image_dtype(images, dtypes.float32)
    gray = tensordot(wide, np.array([0.2989, 0.5870, 0.1140], np.float32), [[-1], [-1]])
    return convert_image_dtype(expand_dims(gray, -1), images.dtype)


@api("image.grayscale_to_rgb")
@tensor_function
def grayscale_to_rgb(images: TensorLike, name: str | None = None):
    """Images `[..., 1]` with their channel three times. Raises ValueError for another number of channels."""
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank is not None and rank < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    if rank is not None and images.shape[-1] not in (1, None):
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    if rank is None:
        return tile(images, concat([ones([Rank(images) - 1], dtypes.int32), [3]], 0))
    return tile(images, [1] * (rank - 1) + [3])


_YIQ = np.array([[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
                 [0.114, -0.32134392, 0.31119955]])  # fmt: skip
_FROM_YIQ = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021],
                      [0.6208248, -0.64720424, 1.70423049]])  # fmt: skip
_YUV = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
                 [0.114, 0.43601035, -0.10001026]])  # fmt: skip
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _mixed(images, matrix):
    images = convert_to_tensor(images)
    return tensordot(images, convert_to_tensor(matrix, images.dtype), 1)


@api("image.rgb_to_yiq")
@tensor_function
def rgb_to_yiq(images: TensorLike):
    """Luma and the chroma pair I, Q (NTSC) of RGB images `[..., 3]` of floats."""
    return _mixed(images, _YIQ)


@api("image.yiq_to_rgb")
@tensor_function
def yiq_to_rgb(images: TensorLike):
    """The inverse of `rgb_to_yiq`."""
    return _mixed(images, _FROM_YIQ)


@api("image.rgb_to_yuv")
@tensor_function
def rgb_to_yuv(images: TensorLike):
    """Luma and the chroma pair U, V (PAL) of RGB images `[..., 3]` of floats."""
    return _mixed(images, _YUV)


@api("image.yuv_to_rgb")
@tensor_function
def yuv_to_rgb(images: TensorLike):
    """The inverse of `rgb_to_yuv`."""
    return _mixed(images, _FROM_YUV)


@api("image.per_image_standardization")
@tensor_function
@in_scope("per_image_standardization")
def per_image_standardization(image: Any):
    """Images `[..., height, width, channels]` of mean 0 and variance 1 each, as float32; uniform ones become 0."""
    image = as_images(image)
    image = cast(image, dtypes.float32)
    count = product(sizes_of(image)[-3:])
    axes = [-3, -2, -1]
    mean = reduction.reduce_mean(image, axis=axes, keepdims=True)
    deviation = reduction.reduce_std(image, axis=axes, keepdims=True)
    count = cast(convert_to_tensor(count), image.dtype)
    return (image - mean) / arithmetic.maximum(deviation, count**-0.5)
