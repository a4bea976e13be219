"""The depthwise and separable convolutions that programs call, made of the rows of depthwise.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.convolution.depthwise import (
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)
from tapeflow.ops.convolution.functions import (
    channel_index,
    conv2d,
    explicit_padding,
    per_dimension,
    require_list,
)
from tapeflow.ops.deprecation import renamed


@api(v2="nn.depthwise_conv2d")
@tensor_function
@graph_scope("depthwise")
def depthwise_conv2d(
    input: TensorLike, filter: TensorLike, strides: Sequence[int], padding: str,
    data_format: str | None = None, dilations: Sequence[int] | None = None, name: str | None = None,
):
    """Convolve each channel of images with filters of its own.

    Args:
      input: a floating tensor `[batch, height, width, in]`.
      filter: `[height, width, in, multiplier]` of that dtype.
      strides: how far windows are apart, a list of four of which the first and last are 1.
      padding: "VALID", "SAME", or a list of (before, after) for each dimension.
      data_format: "NHWC" or "NCHW"; None: the first.
      dilations: how far neighbouring taps are apart, an int or a list of one or two; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch, new height, new width, in * multiplier]`.

    Raises:
      TypeError: where `strides` is not a list.
      InvalidArgumentError: for sizes that do not fit.

    >>> x = tf.reshape([1.0, 10.0, 2.0, 20.0], [1, 1, 2, 2])
    >>> tf.nn.depthwise_conv2d(x, tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], "VALID")
    <tf.Tensor: shape=(1, 1, 1, 2), dtype=float32, numpy=array([[[[ 3., 30.]]]], dtype=float32)>
    """
    require_list(strides, "depthwise_conv2d_native")
    data_format = data_format or "NHWC"
    padding, explicit = explicit_padding(padding)
    channel = channel_index(data_format)
    return DepthwiseConv2dNative(
        input,
        filter,
        strides=list(strides),
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=per_dimension(dilations, 2, channel, "dilations"),
    )


@api(v1="nn.depthwise_conv2d")
@tensor_function
@graph_scope("depthwise")
def depthwise_conv2d_v1(
    input: TensorLike, filter: TensorLike, strides, padding: str, rate: TensorLike | None = None,
    name: str | None = None, data_format: str | None = None, dilations=None,
):
    """`depthwise_conv2d` with the 1.x spelling `rate` of `dilations`."""
    dilations = renamed("dilations", dilations, "rate", rate)
    return depthwise_conv2d(input, filter, strides, padding, data_format, dilations)


@api(v1="nn.depthwise_conv2d_native")
@tensor_function
def depthwise_conv2d_native(
    input: TensorLike, filter: TensorLike, strides, padding, data_format: str = "NHWC", dilations=(1, 1, 1, 1),
    name: str | None = None,
):
    """`depthwise_conv2d` with dilations for every dimension."""
    return depthwise_conv2d(input, filter, strides, padding, data_format, dilations)


@api("nn.depthwise_conv2d_backprop_input", v1="nn.depthwise_conv2d_native_backprop_input")
@tensor_function
def depthwise_conv2d_backprop_input(
    input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides, padding: str | Sequence[Any],
    data_format: str = "NHWC", dilations=(1, 1, 1, 1), name: str | None = None,
):
    """Compute the gradient of `tf.nn.depthwise_conv2d` by its input.

    Args:
      input_sizes: the shape of the input, four integers.
      filter: the filter, a floating tensor.
      out_backprop: the gradient by the result of the convolution.
      strides: those of the convolution, four ints.
      padding: that of the convolution.
      data_format: "NHWC" or "NCHW".
      dilations: those of the convolution, four ints.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `input_sizes`.
    """
    padding, explicit = explicit_padding(padding)
    return DepthwiseConv2dNativeBackpropInput(
        input_sizes,
        filter,
        out_backprop,
        strides=list(strides),
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
    )


@api("nn.depthwise_conv2d_backprop_filter", v1="nn.depthwise_conv2d_native_backprop_filter")
@tensor_function
def depthwise_conv2d_backprop_filter(
    input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, strides, padding: str | Sequence[Any],
    data_format: str = "NHWC", dilations=(1, 1, 1, 1), name: str | None = None,
):
    """Compute the gradient of `tf.nn.depthwise_conv2d` by its filter.

    Args:
      input: what was convolved, a floating tensor.
      filter_sizes: the shape of the filter, four integers.
      out_backprop: the gradient by the result of the convolution.
      strides: those of the convolution, four ints.
      padding: that of the convolution.
      data_format: "NHWC" or "NCHW".
      dilations: those of the convolution, four ints.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `filter_sizes`.
    """
    padding, explicit = explicit_padding(padding)
    return DepthwiseConv2dNativeBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
    )


@api(v2="nn.separable_conv2d")
@tensor_function
@graph_scope("separable_conv2d")
def separable_conv2d(
    input: TensorLike, depthwise_filter: Variable, pointwise_filter: Variable, strides: Sequence[int],
    padding: str, data_format=None, dilations: Sequence[int] | None = None, name: str | None = None,
):
    """Convolve each channel of images on its own, then mix the channels.

    Args:
      input: a floating tensor `[batch, height, width, in]`.
      depthwise_filter: `[height, width, in, multiplier]`, see `tf.nn.depthwise_conv2d`.
      pointwise_filter: `[1, 1, in * multiplier, out]`.
      strides: how far windows are apart, a list of four.
      padding: "VALID", "SAME", or a list of (before, after) for each dimension.
      data_format: "NHWC" or "NCHW"; None: the first.
      dilations: how far neighbouring taps are apart; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch, new height, new width, out]`.

    Raises:
      ValueError: where the pointwise filter is not 1x1.
    """
    pointwise = convert_to_tensor(pointwise_filter)
    for size in pointwise.shape.as_list()[:2] if pointwise.shape.rank is not None else ():
        if size not in (None, 1):
            raise ValueError(f"Dimensions {size} and 1 are not compatible")
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(middle, pointwise, 1, "VALID", data_format)


@api(v1="nn.separable_conv2d")
@tensor_function
@graph_scope("separable_conv2d")
def separable_conv2d_v1(
    input: TensorLike, depthwise_filter, pointwise_filter, strides, padding, rate: TensorLike | None = None,
    name: str | None = None, data_format: str | None = None, dilations=None,
):
    """`separable_conv2d` with the 1.x spelling `rate` of `dilations`."""
    dilations = renamed("dilations", dilations, "rate", rate)
    return separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format, dilations
    )
