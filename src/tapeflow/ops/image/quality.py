"""What images look like in numbers: edges, gradients, total variation, and the likeness of two images."""

from __future__ import annotations

import math

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.control.assertions import assert_greater_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d
from tapeflow.ops.convolution.pool_functions import avg_pool
from tapeflow.ops.image.adjusting import convert_image_dtype
from tapeflow.ops.math import arithmetic, elementwise, reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.static import as_shape, sizes_of


@api("image.image_gradients")
@tensor_function
def image_gradients(image: TensorLike):
    """(dy, dx): differences to the next pixel below and to the right, zero at the last; of `[batch, h, w, depth]`.

    Raises ValueError for another rank.
    """
    image = convert_to_tensor(image)
    if image.shape.rank != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}."
        )
    batch, height, width, depth = sizes_of(image)
    below = image[:, 1:, :, :] - image[:, :-1, :, :]
    right = image[:, :, 1:, :] - image[:, :, :-1, :]
    last_row = zeros(as_shape([batch, 1, width, depth]), image.dtype)
    last_column = zeros(as_shape([batch, height, 1, depth]), image.dtype)
    return concat([below, last_row], 1), concat([right, last_column], 2)


_SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)


@api("image.sobel_edges")
@tensor_function
def sobel_edges(image: TensorLike):
    """Sobel's edges of float images `[batch, h, w, depth]`: `[batch, h, w, depth, 2]`, along y and along x."""
    image = convert_to_tensor(image)
    sizes = sizes_of(image)
    kernels = convert_to_tensor(np.stack([_SOBEL, _SOBEL.T], -1)[:, :, None, :], dtypes.float32)
    kernels = cast(tile(kernels, as_shape([1, 1, sizes[-1], 1])), image.dtype)
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    out = depthwise_conv2d(padded, kernels, [1, 1, 1, 1], "VALID")
    return Reshape(out, as_shape([*sizes, 2]))


@api("image.total_variation")
@tensor_function
def total_variation(images: TensorLike, name: str | None = None):
    """The sum of the absolute differences of neighbouring pixels: a scalar for an image, `[batch]` for a batch.

    Raises ValueError for a rank other than 3 or 4.
    """
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    below = images[..., 1:, :, :] - images[..., :-1, :, :]
    right = images[..., 1:, :] - images[..., :-1, :]
    axes = [-3, -2, -1]
    return reductions.reduce_sum(elementwise.abs(below), axes) + reductions.reduce_sum(
        elementwise.abs(right), axes
    )


def _checked_pair(first, second):
    """Both images and the checks that they fit each other. Raises ValueError where they are known not to."""
    a, b = first.shape, second.shape
    a.with_rank_at_least(3)
    b.with_rank_at_least(3)
    if not a[-3:].is_compatible_with(b[-3:]):
        raise ValueError(f"Shapes {a} and {b} are incompatible")
    if a.rank is not None and b.rank is not None:
        for one, other in zip(a.as_list()[:-3][::-1], b.as_list()[:-3][::-1], strict=False):
            if 1 not in (one, other) and one != other and None not in (one, other):
                raise ValueError(f"Two images are not compatible: {a} and {b}")


@api("image.psnr")
@tensor_function
def psnr(a: TensorLike, b: TensorLike, max_val, name: str | None = None):
    """Compute the peak signal-to-noise ratio of two images, in decibels.

    Args:
      a: images `[..., height, width, channels]`.
      b: images of the same shape and dtype.
      max_val: the range of the values, as 255 for uint8.
      name: the name of the operation in a graph.

    Returns:
      A float32 tensor `[...]`.

    Raises:
      ValueError: for shapes that do not fit.
    """
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    peak = convert_image_dtype(cast(max_val, a.dtype), dtypes.float32)
    a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
    _checked_pair(a, b)
    error = reductions.reduce_mean(arithmetic.squared_difference(a, b), [-3, -2, -1])
    return 20 * elementwise.log(peak) / math.log(10.0) - (10 / math.log(10)) * elementwise.log(
        error
    )


def _gaussian(size, sigma):
    """A window [size, size, 1, 1] of weights that sum to one."""
    size = convert_to_tensor(size, dtypes.int32)
    at = cast(range_(size), dtypes.float32) - (cast(size, dtypes.float32) - 1.0) / 2.0
    line = elementwise.square(at) * (-0.5 / elementwise.square(cast(sigma, dtypes.float32)))
    plane = Reshape(line, [1, -1]) + Reshape(line, [-1, 1])
    weights = softmax(Reshape(plane, [1, -1]))
    return Reshape(weights, stack([size, size, 1, 1]))


def _ssim_of_channels(first, second, peak, filter_size, filter_sigma, k1, k2, keep_map: bool = False):
    """(structural similarity, contrast and structure only) of each channel: Wang et al., 2004."""
    c1, c2 = (k1 * peak) ** 2, (k2 * peak) ** 2
    depth = sizes_of(first)[-1]
    kernel = tile(_gaussian(filter_size, filter_sigma), as_shape([1, 1, depth, 1]))

    def blurred(x):
        sizes = sizes_of(x)
        out = depthwise_conv2d(
            Reshape(x, as_shape([-1, *sizes[-3:]])), kernel, [1, 1, 1, 1], "VALID"
        )
        return Reshape(out, as_shape([*sizes[:-3], *sizes_of(out)[1:]]))

    mean1, mean2 = blurred(first), blurred(second)
    product = mean1 * mean2 * 2.0
    squares = elementwise.square(mean1) + elementwise.square(mean2)
    luminance = (product + c1) / (squares + c1)
    cross = blurred(first * second) * 2.0
    powers = blurred(elementwise.square(first) + elementwise.square(second))
    structure = (cross - product + c2) / (powers - squares + c2)
    if keep_map:
        return luminance * structure, structure
    axes = [-3, -2]
    return reductions.reduce_mean(luminance * structure, axes), reductions.reduce_mean(
        structure, axes
    )


def _floats(first, second, peak):
    first, second = convert_to_tensor(first), convert_to_tensor(second)
    _checked_pair(first, second)
    peak = convert_image_dtype(cast(peak, first.dtype), dtypes.float32)
    return (
        convert_image_dtype(first, dtypes.float32),
        convert_image_dtype(second, dtypes.float32),
        peak,
    )


def _of_unknown_rank(likeness, first, second):
    """`likeness` of images of which the batch dimensions are not known, by one of them; None where they are known."""
    first, second = convert_to_tensor(first), convert_to_tensor(second)
    if first.shape.rank is not None and second.shape.rank is not None:
        return None
    shapes = Shape(first), Shape(second)
    flat = [
        Reshape(x, stack([-1, shape[-3], shape[-2], shape[-1]]))
        for x, shape in zip((first, second), shapes, strict=True)
    ]
    return Reshape(likeness(*flat), broadcast_dynamic_shape(shapes[0][:-3], shapes[1][:-3]))


def _fitting(image: TensorLike, size):
    """`image`, checked to be as large as the window of `size`."""
    checks = [assert_greater_equal_v1(length, size) for length in sizes_of(image)[-3:-1]]
    with control_dependencies([c for c in checks if c is not None]):
        return identity(image)


@api("image.ssim")
@tensor_function
def ssim(
    img1, img2, max_val, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
    return_index_map: bool = False,
):
    """Compute the structural similarity of two images: 1 for the same image (Wang et al., 2004).

    Args:
      img1: images `[..., height, width, channels]`, not smaller than the window.
      img2: images of the same shape and dtype.
      max_val: the range of the values, as 255 for uint8.
      filter_size: the size of the window.
      filter_sigma: the standard deviation of the bell curve in it, in pixels.
      k1: the constant that keeps the luminance's quotient finite.
      k2: the constant that keeps the structure's quotient finite.
      return_index_map: whether the similarity of each place under the window is given.

    Returns:
      A float32 tensor `[...]`, or with `return_index_map` `[..., rows, columns]`.

    Raises:
      ValueError: for shapes that do not fit.
      InvalidArgumentError: for images smaller than the window.
    """
    if not return_index_map:
        found = _of_unknown_rank(
            lambda a, b: ssim(a, b, max_val, filter_size, filter_sigma, k1, k2), img1, img2
        )
        if found is not None:
            return found
    first, second, peak = _floats(img1, img2, max_val)
    first = _fitting(first, filter_size)
    values, _ = _ssim_of_channels(
        first, second, peak, filter_size, filter_sigma, k1, k2, return_index_map
    )
    return reductions.reduce_mean(values, [-1])


_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x):
    """Means of each 2 x 2 pixels; an odd last row or column is doubled first."""
    sizes = sizes_of(x)
    flat = Reshape(x, as_shape([-1, *sizes[-3:]]))
    odd = [n % 2 for n in sizes[-3:-1]]
    amounts = [as_shape(pair) for pair in ([0, 0], [0, odd[0]], [0, odd[1]], [0, 0])]
    plain = all(isinstance(a, np.ndarray) for a in amounts)
    if not plain or any(odd):
        amounts = np.stack(amounts) if plain else stack(amounts)
        flat = pad(flat, amounts, mode="SYMMETRIC")
    out = avg_pool(flat, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return Reshape(out, as_shape([*sizes[:-3], *sizes_of(out)[1:]]))


@api("image.ssim_multiscale")
@tensor_function
def ssim_multiscale(
    img1, img2, max_val, power_factors=_POWERS, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
    k2: float = 0.03,
):
    """Compute the structural similarity over images halved again and again (Wang et al., 2003).

    Args:
      img1: images `[..., height, width, channels]`.
      img2: images of the same shape and dtype.
      max_val: the range of the values, as 255 for uint8.
      power_factors: the weights of the scales, the largest images first.
      filter_size: the size of the window.
      filter_sigma: the standard deviation of the bell curve in it, in pixels.
      k1: the constant that keeps the luminance's quotient finite.
      k2: the constant that keeps the structure's quotient finite.

    Returns:
      A float32 tensor `[...]`.

    Raises:
      ValueError: for shapes that do not fit.
      InvalidArgumentError: for images that become smaller than the window.
    """
    found = _of_unknown_rank(
        lambda a, b: ssim_multiscale(a, b, max_val, power_factors, filter_size, filter_sigma, k1, k2), img1, img2
    )
    if found is not None:
        return found
    first, second, peak = _floats(img1, img2, max_val)
    parts = []
    for step in range(len(power_factors)):
        if step:
            first, second = _halved(first), _halved(second)
        first = _fitting(first, filter_size)
        whole, structure = _ssim_of_channels(first, second, peak, filter_size, filter_sigma, k1, k2)
        parts.append(relu(structure))
    parts[-1] = relu(whole)
    powered = arithmetic.pow(stack(parts, -1), np.array(power_factors, np.float32))
    return reductions.reduce_mean(reductions.reduce_prod(powered, [-1]), [-1])
