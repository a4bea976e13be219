"""Convolutions whose number of dimensions follows from their arguments, and dilated ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.convolution.functions import (
    channel_index,
    conv2d,
    conv2d_transpose,
    per_dimension,
)
from tapeflow.ops.convolution.functions_1d import conv1d, conv1d_transpose
from tapeflow.ops.convolution.functions_3d import conv3d, conv3d_transpose
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.static import static_value

_CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


@api("nn.conv_transpose")
@tensor_function
@graph_scope("conv_transpose")
def conv_transpose(
    input: TensorLike, filters: Any, output_shape, strides, padding: str = "SAME", data_format: str | None = None,
    dilations=None, name: str | None = None,
):
    """Apply the transpose of a convolution of lines, images or volumes.

    Args:
      input: a floating tensor `[batch, spatial..., in]` of 1 to 3 spatial dimensions.
      filters: `[spatial..., out, in]` of that dtype.
      output_shape: the shape of the result, whose length tells the number of dimensions.
      strides: those of the convolution, an int or a list.
      padding: "VALID" or "SAME", of the convolution.
      data_format: where the channels are, such as "NCHW"; None: last.
      dilations: those of the convolution; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      ValueError: for another number of dimensions.
    """
    value = static_value(output_shape)
    count = len(value) if value is not None else output_shape.shape[0] if output_shape.shape.rank else None
    count = convert_to_tensor(input).shape.rank if count is None else count
    functions = {3: conv1d_transpose, 4: conv2d_transpose, 5: conv3d_transpose}
    if count not in functions:
        raise ValueError(
            f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length {count}."
        )
    data_format = data_format or _CHANNELS_LAST[count - 2]
    return functions[count](input, filters, output_shape, strides, padding, data_format, dilations)


def _check_convolution(input: Tensor, filters: Tensor, channel: int, rates: Sequence[int]) -> None:
    """Raises ValueError for rates below 1 and for channels that do not fit, as far as shapes are known."""
    if min(rates) < 1:
        raise ValueError(f"all values of `dilation_rate` must be positive. Received: dilation_rate={rates}")
    if input.shape.rank is None or filters.shape.rank is None:
        return
    at = 1 - filters.shape.rank if channel == 1 else -1
    if input.shape.rank < -at or filters.shape.rank < 2:
        return
    depth, inner = input.shape[at], filters.shape[-2]
    if depth is not None and inner is not None and (inner == 0 or depth % inner):
        raise ValueError(
            "The number of input channels is not divisible by the corresponding number of output filters. "
            f"Received: input.shape={input.shape} with {depth} channels and filters.shape={filters.shape} with "
            f"{inner} output filters."
        )


@api(v2="nn.convolution")
@tensor_function
def convolution(
    input: TensorLike, filters: TensorLike, strides: Sequence[int] | None = None, padding: str = "VALID",
    data_format: str | None = None, dilations: Sequence[int] | None = None, name: str | None = None,
):
    """Convolve over as many spatial dimensions, 1 to 3, as the filters have.

    Args:
      input: a floating tensor `[batch..., spatial..., in]`.
      filters: `[spatial..., in / groups, out]` of that dtype.
      strides: how far windows are apart, an int or a list of one for each spatial dimension; None: 1.
      padding: "VALID", "SAME", or for images a list of (before, after) for each dimension.
      data_format: where the channels are, such as "NCHW"; None: last.
      dilations: how far neighbouring taps are apart, like `strides`; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch..., new spatial..., out]`.

    Raises:
      ValueError: for another number of dimensions, and for strides together with dilations.
    """
    input, filters = convert_to_tensor(input), convert_to_tensor(filters)
    rank = filters.shape.rank
    rank = input.shape.rank if rank is None else rank
    if rank is None:
        raise ValueError("rank of input must be not None")
    count = rank - 2
    if count not in _CHANNELS_LAST:
        raise ValueError(
            f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={count}."
        )
    data_format = data_format or _CHANNELS_LAST[count]
    channel = channel_index(data_format)
    strides = per_dimension(strides, count, channel, "strides")
    dilations = per_dimension(dilations, count, channel, "dilations")
    _check_convolution(input, filters, channel, dilations)
    if max(strides) > 1 and max(dilations) > 1:
        space = slice(2, None) if channel == 1 else slice(1, -1)
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={strides[space]} and dilation_rate={dilations[space]}"
        )
    function = {1: conv1d, 2: conv2d, 3: conv3d}[count]
    return function(input, filters, strides, padding, data_format, dilations)


@api(v1="nn.convolution")
@tensor_function
def convolution_v1(
    input: TensorLike, filter: TensorLike, padding: str, strides=None, dilation_rate=None, name: str | None = None,
    data_format: str | None = None, filters: TensorLike | None = None, dilations=None,
):
    """`convolution` with the 1.x names and order of arguments."""
    return convolution(
        input,
        filter if filters is None else filters,
        strides,
        padding,
        data_format,
        renamed("dilations", dilations, "dilation_rate", dilation_rate),
    )


@api("nn.atrous_conv2d")
@tensor_function
def atrous_conv2d(value: TensorLike, filters: Any, rate: Any, padding: str, name: str | None = None):
    """Convolve images with a filter between whose taps there are holes.

    Args:
      value: a floating tensor `[batch, height, width, in]`.
      filters: the taps, `[height, width, in, out]` of that dtype.
      rate: how far neighbouring taps are apart, an int; 1 means no holes.
      padding: "VALID" or "SAME".
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch, height, width, out]`.

    Raises:
      ValueError: for sizes that do not fit.
    """
    value, filters = convert_to_tensor(value), convert_to_tensor(filters)
    _check_convolution(value, filters, 3, per_dimension(rate, 2, 3, "rate")[1:3])
    return conv2d(value, filters, 1, padding, "NHWC", rate)


@api("nn.atrous_conv2d_transpose")
@tensor_function
@graph_scope("atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike, filters: Any, output_shape: ShapeLike, rate: Any, padding: str, name: str | None = None
):
    """Apply the transpose of `tf.nn.atrous_conv2d`, as a linear map of images.

    Args:
      value: a floating tensor `[batch, height, width, in]`.
      filters: the taps, `[height, width, out, in]` of that dtype.
      output_shape: the shape of the result, four integers.
      rate: how far neighbouring taps are apart, an int.
      padding: "VALID" or "SAME", of the convolution.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `output_shape`.
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, "NHWC", rate)
