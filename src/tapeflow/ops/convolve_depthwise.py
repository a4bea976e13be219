"""The depthwise and separable convolutions that programs call, made of the rows of depthwise.py."""

from __future__ import annotations

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.convolve import (
    channel_index,
    conv2d,
    explicit_padding,
    per_dimension,
    require_list,
)
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.depthwise import (
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)


@tensor_function
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """The cross-correlation of each channel with filters of its own, [height, width, in, multiplier].

    Raises TypeError where `strides` is not a list, InvalidArgumentError where sizes do not fit.
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


@tensor_function
def depthwise_conv2d_v1(
    input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None
):
    """`depthwise_conv2d` with the 1.x spelling `rate` of `dilations`."""
    dilations = renamed("dilations", dilations, "rate", rate)
    return depthwise_conv2d(input, filter, strides, padding, data_format, dilations)


@tensor_function
def depthwise_conv2d_native(
    input, filter, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1), name=None
):
    """`depthwise_conv2d` with dilations for every dimension."""
    return depthwise_conv2d(input, filter, strides, padding, data_format, dilations)


@tensor_function
def depthwise_conv2d_backprop_input(
    input_sizes,
    filter,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of `depthwise_conv2d` by its input, of shape `input_sizes`."""
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


@tensor_function
def depthwise_conv2d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of `depthwise_conv2d` by its filter, of shape `filter_sizes`."""
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


@tensor_function
def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    data_format=None,
    dilations=None,
    name=None,
):
    """`depthwise_conv2d`, then a 1x1 `conv2d` with `pointwise_filter` that mixes its channels.

    Raises ValueError where the pointwise filter is not 1x1.
    """
    pointwise = convert_to_tensor(pointwise_filter)
    for size in pointwise.shape.as_list()[:2] if pointwise.shape.rank is not None else ():
        if size not in (None, 1):
            raise ValueError(f"Dimensions {size} and 1 are not compatible")
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(middle, pointwise, 1, "VALID", data_format)


@tensor_function
def separable_conv2d_v1(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """`separable_conv2d` with the 1.x spelling `rate` of `dilations`."""
    dilations = renamed("dilations", dilations, "rate", rate)
    return separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format, dilations
    )
