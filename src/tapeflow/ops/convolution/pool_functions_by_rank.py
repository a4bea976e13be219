"""The poolings of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.layout import ExpandDims, Squeeze
from tapeflow.ops.convolution.functions import explicit_padding, per_dimension
from tapeflow.ops.convolution.pooling import AvgPool, MaxPool
from tapeflow.ops.convolution.pooling_3d import AvgPool3D, MaxPool3D

CHANNELS_LAST = {3: "NWC", 4: "NHWC", 5: "NDHWC"}


def windows(ksize: int | Sequence[int], strides: int | Sequence[int], count: int, data_format: str):
    channel = 1 if data_format.startswith("NC") else count + 1
    return (
        per_dimension(ksize, count, channel, "ksize"),
        per_dimension(strides, count, channel, "strides"),
    )


def pool_2d(
    row: Callable[..., Any], input: Any, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str,
    data_format: str | None,
):
    data_format = data_format or "NHWC"
    ksize, strides = windows(ksize, strides, 2, data_format)
    return _pooled_images(row, input, ksize, strides, padding, data_format)


def _pooled_images(row, input, ksize, strides, padding, data_format: str):
    attrs = {"ksize": ksize, "strides": strides, "data_format": data_format}
    if not isinstance(padding, (str, list, tuple) if row is MaxPool else str):
        raise TypeError(f"Expected string for argument 'padding' not {padding}.")
    padding, explicit = explicit_padding(padding)
    if explicit:
        attrs["explicit_paddings"] = explicit
    return row(input, padding=padding, **attrs)


def pool_1d(row, input, ksize, strides, padding, data_format):
    data_format = {"NHWC": "NWC", "NCHW": "NCW"}.get(data_format, data_format) or "NWC"
    if data_format not in ("NWC", "NCW"):
        raise ValueError(
            f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}"
        )
    ksize, strides = windows(ksize, strides, 1, data_format)
    axis = 2 if data_format == "NCW" else 1
    if isinstance(padding, (list, tuple)) and row is MaxPool:
        if len(padding) != 3:
            raise ValueError(
                f"When padding is a list, it must be of size 3. Received: padding={padding} of size {len(padding)}"
            )
        padding = [*padding[:axis], [0, 0], *padding[axis:]]
    ksize, strides = ([*sizes[:axis], 1, *sizes[axis:]] for sizes in (ksize, strides))
    out = _pooled_images(row, ExpandDims(input, axis), ksize, strides, padding, "NCHW" if axis == 2 else "NHWC")
    return Squeeze(out, [axis])


def pool_3d(row, input, ksize, strides, padding, data_format: str | None):
    data_format = data_format or "NDHWC"
    ksize, strides = windows(ksize, strides, 3, data_format)
    return row(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format)


@api("nn.max_pool1d")
@tensor_function
def max_pool1d(
    input: TensorLike, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str = "NWC", name: str | None = None,
):
    """Take the largest element under each window of lines.

    Args:
      input: a real tensor `[batch, width, channels]`.
      ksize: the size of the window, an int or a list of one or three.
      strides: how far windows are apart, likewise.
      padding: "VALID", "SAME", or a list of (before, after) for each dimension.
      data_format: "NWC" or "NCW".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.
    """
    return pool_1d(MaxPool, input, ksize, strides, padding, data_format)


@api("nn.avg_pool1d")
@tensor_function
def avg_pool1d(
    input: TensorLike, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str = "NWC", name: str | None = None,
):
    """Compute the mean under each window of lines; padding does not count.

    Args:
      input: a floating tensor `[batch, width, channels]`.
      ksize: the size of the window, an int or a list of one or three.
      strides: how far windows are apart, likewise.
      padding: "VALID" or "SAME".
      data_format: "NWC" or "NCW".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.
    """
    return pool_1d(AvgPool, input, ksize, strides, padding, data_format)


@api("nn.max_pool2d")
@tensor_function
def max_pool2d(
    input: TensorLike, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None
):
    """Take the largest element under each window of images.

    Args:
      input: a real tensor `[batch, height, width, channels]`.
      ksize: the size of the window, an int or a list of one, two or four.
      strides: how far windows are apart, likewise.
      padding: "VALID", "SAME", or a list of (before, after) for each dimension.
      data_format: "NHWC", "NCHW" or "NCHW_VECT_C".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.

    >>> tf.nn.max_pool2d([[[[1.0], [2.0]], [[3.0], [6.0]]]], ksize=2, strides=2, padding="VALID")
    <tf.Tensor: shape=(1, 1, 1, 1), dtype=float32, numpy=array([[[[6.]]]], dtype=float32)>
    """
    return pool_2d(MaxPool, input, ksize, strides, padding, data_format)


@api(v2="nn.avg_pool2d")
@tensor_function
def avg_pool2d(
    input: TensorLike, ksize, strides, padding, data_format: str = "NHWC", name: str | None = None
):
    """Compute the mean under each window of images; padding does not count.

    Args:
      input: a floating tensor `[batch, height, width, channels]`.
      ksize: the size of the window, an int or a list of one, two or four.
      strides: how far windows are apart, likewise.
      padding: "VALID", "SAME", or a list of (before, after) for each dimension.
      data_format: "NHWC", "NCHW" or "NCHW_VECT_C".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.

    >>> tf.nn.avg_pool2d([[[[1.0], [2.0]], [[3.0], [6.0]]]], ksize=2, strides=2, padding="VALID")
    <tf.Tensor: shape=(1, 1, 1, 1), dtype=float32, numpy=array([[[[3.]]]], dtype=float32)>
    """
    return pool_2d(AvgPool, input, ksize, strides, padding, data_format)


@api(v1="nn.avg_pool2d")
@tensor_function
def avg_pool2d_v1(
    value: TensorLike, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str = "NHWC", name: str | None = None, input: TensorLike | None = None,
):
    """`avg_pool2d`, with the 1.x spelling `value`."""
    return avg_pool2d(value if input is None else input, ksize, strides, padding, data_format)


@api("nn.max_pool3d")
@tensor_function
def max_pool3d(
    input: TensorLike, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str = "NDHWC", name: str | None = None,
):
    """Take the largest element under each window of volumes.

    Args:
      input: a floating tensor `[batch, depth, height, width, channels]`.
      ksize: the size of the window, an int or a list of one, three or five.
      strides: how far windows are apart, likewise.
      padding: "VALID" or "SAME".
      data_format: "NDHWC" or "NCDHW".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.
    """
    return pool_3d(MaxPool3D, input, ksize, strides, padding, data_format)


@api("nn.avg_pool3d")
@tensor_function
def avg_pool3d(
    input: TensorLike, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str = "NDHWC", name: str | None = None,
):
    """Compute the mean under each window of volumes; padding does not count.

    Args:
      input: a floating tensor `[batch, depth, height, width, channels]`.
      ksize: the size of the window, an int or a list of one, three or five.
      strides: how far windows are apart, likewise.
      padding: "VALID" or "SAME".
      data_format: "NDHWC" or "NCDHW".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.
    """
    return pool_3d(AvgPool3D, input, ksize, strides, padding, data_format)
