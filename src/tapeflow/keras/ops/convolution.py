"""Convolutions, pooling, and patches of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras import settings
from tapeflow.keras.layers.adaptive_pooling import pool_evenly
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    to_nn_format,
)
from tapeflow.keras.ops.conversion import operation, static_rank, tensor
from tapeflow.ops.array.depth import depth_to_space as tf_depth_to_space
from tapeflow.ops.array.depth import space_to_depth as tf_space_to_depth
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d as tf_depthwise_conv2d
from tapeflow.ops.convolution.functions_any_rank import conv_transpose as tf_conv_transpose
from tapeflow.ops.convolution.functions_any_rank import convolution as tf_convolution
from tapeflow.ops.convolution.pool_functions import avg_pool as tf_avg_pool
from tapeflow.ops.convolution.pool_functions import max_pool as tf_max_pool
from tapeflow.ops.image.patches import extract_patches as tf_extract_patches
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.math.reductions import reduce_mean as tf_reduce_mean


def _last(x, data_format: str | None):
    """`x` with its channels last, and how to bring a result back."""
    x = tensor(x)
    if settings.normalize_data_format(data_format) == "channels_last":
        return x, lambda y: y
    rank = static_rank(x)
    back = [0, rank - 1, *range(1, rank - 1)]
    return tf_transpose(x, [0, *range(2, rank), 1]), lambda y: tf_transpose(y, back)


def _spatial(x: Tensor):
    rank = static_rank(x) - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"Inputs must have 1, 2 or 3 spatial axes, between batch and channels. Received: {x.shape}")
    return rank


def _convolved(x, kernel, strides, padding, dilations):
    """A convolution of channels that are last; with strides and dilations at once, every stride-th of all windows."""
    rank = _spatial(x)
    strides = normalize_tuple(strides, rank, "strides")
    dilations = normalize_tuple(dilations, rank, "dilation_rate")
    padding = normalize_padding(padding).upper()
    layout = to_nn_format("channels_last", rank)
    if max(strides) == 1 or max(dilations) == 1:
        return tf_convolution(x, kernel, strides, padding, layout, dilations)
    if padding == "SAME":
        x = _padded_as_same(x, kernel.shape[:rank], strides, dilations)
    dense = tf_convolution(x, kernel, 1, "VALID", layout, dilations)
    return dense[(slice(None), *(slice(None, None, stride) for stride in strides))]


def _padded_as_same(x: Tensor, sizes, strides, dilations):
    """`x` with the zeros around it that the padding "same" means for a convolution with these strides."""
    around = [[0, 0]]
    for i, (size, stride, dilation) in enumerate(zip(sizes, strides, dilations), 1):
        n = tf_shape(x)[i] if x.shape[i] is None else x.shape[i]
        missing = (-(-n // stride) - 1) * stride + (size - 1) * dilation + 1 - n
        missing = max(missing, 0) if isinstance(missing, int) else tf_reduce_max([missing, 0])
        around.append([missing // 2, missing - missing // 2])
    return tf_pad(x, [*around, [0, 0]])


@operation
def conv(
    inputs: TensorLike, kernel, strides: int | Sequence[int] = 1, padding: str = "valid",
    data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
):
    """Return the convolution over one to three axes, by a kernel (*sizes, channels of a group, filters)."""
    x, back = _last(inputs, data_format)
    return back(_convolved(x, tensor(kernel), strides, padding, dilation_rate))


@operation
def depthwise_conv(
    inputs: TensorLike, kernel, strides: int | Sequence[int] = 1, padding: str = "valid",
    data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
):
    """Return the convolution of each channel by itself, by a kernel (*sizes, channels, multiplier)."""
    x, back = _last(inputs, data_format)
    return back(_depthwise(x, tensor(kernel), strides, padding, dilation_rate))


def _depthwise(x: Tensor, kernel, strides, padding, dilations):
    rank = _spatial(x)
    if rank > 2:
        raise ValueError(f"`inputs` rank must be 3 (1D conv) or 4 (2D conv). Received: {x.shape.rank}.")
    strides = normalize_tuple(strides, rank, "strides")
    dilations = normalize_tuple(dilations, rank, "dilation_rate")
    padding = normalize_padding(padding).upper()
    if rank == 1:
        # A row of an image; both strides are equal, as the native convolution wants it.
        outputs = _depthwise(tf_expand_dims(x, 1), tf_expand_dims(kernel, 0), strides * 2, padding, (1, *dilations))
        return tf_squeeze(outputs, [1])
    if max(strides) > 1 and max(dilations) > 1:
        if padding == "SAME":
            x = _padded_as_same(x, kernel.shape[:2], strides, dilations)
        dense = tf_depthwise_conv2d(x, kernel, (1, 1, 1, 1), "VALID", "NHWC", dilations)
        return dense[:, :: strides[0], :: strides[1]]
    if strides[0] == strides[1]:
        return tf_depthwise_conv2d(x, kernel, (1, *strides, 1), padding, "NHWC", dilations)
    if padding == "SAME":
        x = _padded_as_same(x, kernel.shape[:2], strides, dilations)
    return tf_depthwise_conv2d(x, kernel, (1, 1, 1, 1), "VALID", "NHWC")[:, :: strides[0], :: strides[1]]


@operation
def separable_conv(
    inputs: TensorLike, depthwise_kernel, pointwise_kernel, strides: int | Sequence[int] = 1, padding: str = "valid",
    data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
):  # fmt: skip
    """Return the convolution of each channel by itself, then of all channels at each position."""
    x, back = _last(inputs, data_format)
    x = _depthwise(x, tensor(depthwise_kernel), strides, padding, dilation_rate)
    return back(_convolved(x, tensor(pointwise_kernel), 1, "valid", 1))


@operation
def conv_transpose(
    inputs: TensorLike, kernel, strides=1, padding: str = "valid", output_padding=None,
    data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
):
    """Return the gradient of a convolution, by a kernel (*sizes, filters, channels): larger images from smaller ones.

    Args:
      output_padding: how much larger than the least size the outputs are.
    """
    x, back = _last(inputs, data_format)
    kernel = tensor(kernel)
    rank = _spatial(x)
    strides = normalize_tuple(strides, rank, "strides")
    dilations = normalize_tuple(dilation_rate, rank, "dilation_rate")
    padding = normalize_padding(padding)
    extra = [None] * rank
    if output_padding is not None:
        extra = normalize_tuple(output_padding, rank, "output_padding", True)
    sizes = [tf_shape(x)[i] if n is None else n for i, n in enumerate(x.shape.as_list())]
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(kernel.shape.as_list(), dilations)]
    spatial = [
        _transposed_size(n, span, stride, padding, more)
        for n, span, stride, more in zip(sizes[1:-1], spans, strides, extra)
    ]
    shape = [sizes[0], *spatial, kernel.shape[-2]]
    layout = to_nn_format("channels_last", rank)
    return back(tf_conv_transpose(x, kernel, shape, strides, padding.upper(), layout, dilations))


def _transposed_size(n: int, span, stride, padding, extra):
    if padding == "valid":
        return (n - 1) * stride + span + (max(stride - span, 0) if extra is None else extra)
    return n * stride if extra is None else (n - 1) * stride + span % 2 + extra


def _pooled(pool, inputs, pool_size, strides, padding, data_format: str | None):
    x, back = _last(inputs, data_format)
    rank = _spatial(x)
    size = normalize_tuple(pool_size, rank, "pool_size")
    strides = size if strides is None else normalize_tuple(strides, rank, "strides")
    return back(pool(x, size, strides, normalize_padding(padding).upper(), to_nn_format("channels_last", rank)))


@operation
def max_pool(
    inputs: TensorLike, pool_size: int | Sequence[int], strides: int | Sequence[int] | None = None,
    padding: str = "valid", data_format: str | None = None,
):
    """Return the greatest element of each window."""
    return _pooled(tf_max_pool, inputs, pool_size, strides, padding, data_format)


@operation
def average_pool(
    inputs: TensorLike, pool_size: int | Sequence[int], strides: int | Sequence[int] | None = None,
    padding: str = "valid", data_format: str | None = None,
):
    """Return the mean of each window."""
    return _pooled(tf_avg_pool, inputs, pool_size, strides, padding, data_format)


def _adaptive(reduce, inputs, output_size, data_format: str | None):
    x, back = _last(inputs, data_format)
    rank = _spatial(x)
    for axis, count in enumerate(normalize_tuple(output_size, rank, "output_size"), 1):
        x = pool_evenly(x, axis, count, reduce)
    return back(x)


@operation
def adaptive_max_pool(inputs: TensorLike, output_size, data_format: str | None = None):
    """Return the greatest elements of so many windows along each axis."""
    return _adaptive(tf_reduce_max, inputs, output_size, data_format)


@operation
def adaptive_average_pool(inputs: TensorLike, output_size, data_format: str | None = None):
    """Return the means of so many windows along each axis."""
    return _adaptive(tf_reduce_mean, inputs, output_size, data_format)


@operation
def space_to_depth(x: TensorLike, block_size, data_format: str = "channels_last"):
    """Return images in which the pixels of each block are channels of one pixel."""
    x, back = _last(x, data_format)
    return back(tf_space_to_depth(x, block_size))


@operation
def depth_to_space(x: TensorLike, block_size, data_format: str = "channels_last"):
    """Return the inverse of `space_to_depth`."""
    x, back = _last(x, data_format)
    return back(tf_depth_to_space(x, block_size))


def _pairs(*values):
    return [normalize_tuple(value, 2, "sizes", True) for value in values]


@operation
def unfold(x: Any, kernel_size, dilation: int = 1, padding=0, stride=1):
    """Return the windows of images (batch, channels, height, width) as (batch, channels * window, windows)."""
    x = tensor(x)
    size, holes, around, steps = _pairs(kernel_size, dilation, padding, stride)
    x = tf_pad(x, [[0, 0], [0, 0], [around[0]] * 2, [around[1]] * 2])
    patches = tf_extract_patches(tf_transpose(x, [0, 2, 3, 1]), (1, *size, 1), (1, *steps, 1), (1, *holes, 1), "VALID")
    batch, channels = tf_shape(x)[0], x.shape[1]
    rows = tf_reshape(patches, tf_stack([batch, -1, size[0] * size[1], channels]))
    return tf_reshape(tf_transpose(rows, [0, 3, 2, 1]), tf_stack([batch, channels * size[0] * size[1], -1]))


@operation
def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Return images in which the windows x, as `unfold` returns them, are added up."""
    x = tensor(x)
    target, size, holes, around, steps = _pairs(output_size, kernel_size, dilation, padding, stride)
    wide = [n + 2 * p for n, p in zip(target, around)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(wide, holes, size, steps)]
    channels = x.shape[1] // (size[0] * size[1])
    windows = tf_reshape(x, [-1, channels, *size, *counts])
    total = 0
    for i in range(size[0]):
        for j in range(size[1]):
            total = total + _spread(windows[:, :, i, j], (i * holes[0], j * holes[1]), steps, wide)
    return total[:, :, around[0] : wide[0] - around[0], around[1] : wide[1] - around[1]]


def _spread(x: Tensor, starts, steps, sizes):
    """Zeros of given sizes with x at every step from the starts, in the last two axes."""
    for axis, (start, step, size) in enumerate(zip(starts, steps, sizes), 2):
        n = x.shape[axis]
        around = [[0, 0]] * (axis + 1) + [[0, step - 1]] + [[0, 0]] * (3 - axis)
        x = tf_pad(tf_expand_dims(x, axis + 1), around)
        shape = tf_concat([tf_shape(x)[:axis], [n * step], tf_shape(x)[axis + 2 :]], 0)
        x = tf_reshape(x, shape)
        x = x[(slice(None),) * axis + (slice(0, (n - 1) * step + 1),)]
        around = [[0, 0]] * 4
        around[axis] = [start, size - start - ((n - 1) * step + 1)]
        x = tf_pad(x, around)
    return x


__all__ = public_names(globals())
