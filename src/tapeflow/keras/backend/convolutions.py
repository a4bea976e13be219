"""`keras.backend`: convolutions of images, steps and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.keras import settings
from tapeflow.keras.layers.convolution_arithmetic import normalize_tuple
from tapeflow.ops.array.layout import expand_dims, reshape, squeeze
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d as nn_depthwise
from tapeflow.ops.convolution.functions import conv2d_transpose as nn_conv2d_transpose
from tapeflow.ops.convolution.functions_any_rank import convolution
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.static import as_shape, sizes_of

LAYOUTS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def format_of(data_format: str | None):
    data_format = settings.image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def channels_last(x, data_format: str):
    """x with channels last."""
    if data_format == "channels_last":
        return x
    rank = x.shape.rank
    return transpose(x, [0, *range(2, rank), 1])


def in_format(x, data_format: str):
    """x in its own format."""
    if data_format == "channels_last":
        return x
    rank = x.shape.rank
    return transpose(x, [0, rank - 1, *range(1, rank - 1)])


def padding_name(padding):
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _convolve(x, kernel, strides, padding, data_format: str | None, dilation_rate, rank: int):
    data_format = format_of(data_format)
    x = channels_last(convert_to_tensor(x), data_format)
    strides = normalize_tuple(strides, rank, "strides")
    dilations = normalize_tuple(dilation_rate, rank, "dilation_rate")
    return in_format(
        convolution(x, kernel, strides, padding_name(padding), LAYOUTS[rank], dilations), data_format
    )


@computes_tensors
def conv1d(
    x: TensorLike, kernel, strides=1, padding: str = "valid", data_format: str | None = None, dilation_rate=1
):
    """Convolve sequences.

    Args:
      x: a tensor `(batch, steps, channels)`, or with the channels first.
      kernel: a tensor `(window, channels, filters)`.
      strides: how far the window moves.
      padding: "valid", "same", or "causal" for outputs that depend on no later steps.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    if padding == "causal":
        size = kernel.shape.as_list()[0]
        axis = 1 if format_of(data_format) == "channels_last" else 2
        around = [[0, 0], [0, 0], [0, 0]]
        around[axis] = [dilation_rate * (size - 1), 0]
        x, padding = pad(x, around), "valid"
    return _convolve(x, kernel, strides, padding, data_format, dilation_rate, 1)


@computes_tensors
def conv2d(
    x: TensorLike, kernel, strides=(1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate=(1, 1),
):
    """Convolve images.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      kernel: a tensor `(rows, columns, channels, filters)`.
      strides: how far the window moves along each axis.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window along each axis.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    return _convolve(x, kernel, strides, padding, data_format, dilation_rate, 2)


@computes_tensors
def conv3d(
    x: TensorLike, kernel, strides=(1, 1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate=(1, 1, 1),
):
    """Convolve volumes.

    Args:
      x: a tensor `(batch, depth, rows, columns, channels)`, or with the channels first.
      kernel: a tensor `(depth, rows, columns, channels, filters)`.
      strides: how far the window moves along each axis.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window along each axis.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    return _convolve(x, kernel, strides, padding, data_format, dilation_rate, 3)


@computes_tensors
def conv2d_transpose(
    x: TensorLike, kernel, output_shape: Sequence[Any], strides=(1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate=(1, 1),
):
    """Compute the gradient of a convolution of images.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      kernel: a tensor `(rows, columns, filters, channels)`.
      output_shape: the shape of the images, with the batch.
      strides: how far the window moves along each axis.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window along each axis.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    data_format = format_of(data_format)
    x = channels_last(convert_to_tensor(x), data_format)
    if isinstance(output_shape, (tuple, list)):
        sizes = list(output_shape)
        if data_format == "channels_first":
            sizes = [sizes[0], sizes[2], sizes[3], sizes[1]]
        if sizes[0] is None:
            sizes[0] = sizes_of(x)[0]
        output_shape = as_shape(sizes)
    outputs = nn_conv2d_transpose(
        x, kernel, output_shape, strides, padding_name(padding), "NHWC", dilation_rate
    )
    return in_format(outputs, data_format)


@computes_tensors
def depthwise_conv2d(
    x: TensorLike, depthwise_kernel, strides=(1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate=(1, 1),
):
    """Convolve each channel of images by kernels of its own.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      depthwise_kernel: a tensor `(rows, columns, channels, multiplier)`.
      strides: how far the window moves along each axis.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window along each axis.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    data_format = format_of(data_format)
    outputs = nn_depthwise(
        channels_last(convert_to_tensor(x), data_format), depthwise_kernel, (1, *strides, 1), padding_name(padding),
        "NHWC", dilation_rate,
    )  # fmt: skip
    return in_format(outputs, data_format)


@computes_tensors
def separable_conv1d(
    x: TensorLike, depthwise_kernel, pointwise_kernel, strides=1, padding: str = "valid",
    data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
):
    """Convolve each channel of sequences by itself, then all channels at each step.

    Args:
      x: a tensor `(batch, steps, channels)`, or with the channels first.
      depthwise_kernel: a tensor `(window, channels, multiplier)`.
      pointwise_kernel: a tensor `(1, channels * multiplier, filters)`.
      strides: how far the window moves along each axis.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window along each axis.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    data_format = format_of(data_format)
    strides, dilations = (normalize_tuple(v, 1, "strides") for v in (strides, dilation_rate))
    x = expand_dims(channels_last(convert_to_tensor(x), data_format), 1)
    outputs = separable_conv2d(
        x, expand_dims(depthwise_kernel, 0), expand_dims(pointwise_kernel, 0), strides * 2, padding,
        "channels_last", (1, *dilations),
    )  # fmt: skip
    return in_format(squeeze(outputs, [1]), data_format)


@computes_tensors
def separable_conv2d(
    x: TensorLike, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: int | Sequence[int] = (1, 1),
):
    """Convolve each channel of images by itself, then all channels at each position.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      depthwise_kernel: a tensor `(rows, columns, channels, multiplier)`.
      pointwise_kernel: a tensor `(1, 1, channels * multiplier, filters)`.
      strides: how far the window moves along each axis.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window along each axis.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding or format.
    """
    data_format = format_of(data_format)
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    outputs = depthwise_conv2d(
        channels_last(convert_to_tensor(x), data_format), depthwise_kernel, strides, padding, "channels_last",
        dilation_rate,
    )  # fmt: skip
    return in_format(convolution(outputs, pointwise_kernel, (1, 1), "VALID", "NHWC"), data_format)


def local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """Convolve with a kernel of its own at every position.

    Args:
      inputs: a tensor `(batch, ..., channels)`, or with the channels first.
      kernel: a tensor `(positions, window * channels, filters)`.
      kernel_size: the sizes of the window.
      strides: how far it moves along each axis.
      output_shape: the number of positions along each axis.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor.
    """
    data_format = format_of(data_format)
    x = channels_last(convert_to_tensor(inputs), data_format)
    places = [()]
    for count in output_shape:
        places = [(*place, i) for place in places for i in range(count)]
    windows = []
    for place in places:
        window = tuple(slice(i * s, i * s + k) for i, s, k in zip(place, strides, kernel_size))
        part = x[(slice(None), *window)]
        part = in_format(part, data_format) if len(kernel_size) > 1 else part
        windows.append(reshape(part, [-1, kernel.shape.as_list()[1]]))
    outputs = einsum("bpk,pkf->bpf", stack(windows, 1), kernel)
    return in_format(reshape(outputs, [-1, *output_shape, kernel.shape.as_list()[-1]]), data_format)


@computes_tensors
def local_conv1d(
    inputs: TensorLike, kernel, kernel_size: int | Sequence[int], strides: int | Sequence[int],
    data_format: str | None = None,
):
    """Convolve sequences with a kernel of its own at every position.

    Args:
      inputs: a tensor `(batch, steps, channels)`, or with the channels first.
      kernel: a tensor `(positions, window * channels, filters)`.
      kernel_size: the length of the window, a tuple of one integer.
      strides: how far it moves, a tuple of one integer.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor.
    """
    return local_conv(
        inputs, kernel, kernel_size, strides, (kernel.shape.as_list()[0],), data_format
    )


@computes_tensors
def local_conv2d(
    inputs: TensorLike, kernel, kernel_size: int | Sequence[int], strides: int | Sequence[int],
    output_shape: Sequence[Any], data_format: str | None = None,
):
    """Convolve images with a kernel of its own at every position.

    Args:
      inputs: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      kernel: a tensor `(positions, window * channels, filters)`.
      kernel_size: the sizes of the window.
      strides: how far it moves along each axis.
      output_shape: the number of positions along each axis.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor.
    """
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


boundaries(globals())
