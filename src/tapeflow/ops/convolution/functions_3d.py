"""Convolutions of volumes, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.convolution.functions import (
    channel_index,
    fold_batch,
    per_dimension,
    require_list,
)
from tapeflow.ops.convolution.rows_3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2
from tapeflow.ops.deprecation import renamed


@api(v2="nn.conv3d")
@tensor_function
def conv3d(
    input: TensorLike, filters: TensorLike, strides: Sequence[int], padding: str, data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1), name: str | None = None,
):
    """Convolve volumes with filters; the filters are not turned around.

    Args:
      input: a floating tensor `[batch..., depth, height, width, in]`.
      filters: `[depth, height, width, in / groups, out]` of that dtype.
      strides: how far windows are apart, a list of five of which the first and last are 1.
      padding: "VALID" or "SAME".
      data_format: "NDHWC" or "NCDHW".
      dilations: how far neighbouring taps are apart, a list of five.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch..., new depth, new height, new width, out]`.

    Raises:
      TypeError: where `strides` is not a list.
      InvalidArgumentError: for sizes that do not fit.
    """
    require_list(strides, "conv3d")
    attrs = {
        "strides": list(strides),
        "padding": padding,
        "data_format": data_format or "NDHWC",
        "dilations": list(dilations) if dilations is not None else [1] * 5,
    }
    return fold_batch(convert_to_tensor(input), 5, lambda x: Conv3D(x, filters, **attrs))


@api(v1="nn.conv3d")
@tensor_function
def conv3d_v1(
    input: TensorLike, filter: TensorLike | None = None, strides=None, padding=None, data_format: str = "NDHWC",
    dilations=(1, 1, 1, 1, 1), name: str | None = None, filters: TensorLike | None = None,
):
    """`conv3d` with the 1.x spelling `filter`."""
    filters = renamed("filters", filters, "filter", filter)
    return conv3d(input, filters, strides, padding, data_format, dilations)


@api(v2="nn.conv3d_transpose")
@tensor_function
@graph_scope("conv3d_transpose")
def conv3d_transpose(
    input: TensorLike, filters: Variable, output_shape: ShapeLike | None, strides: Sequence[int],
    padding: str = "SAME", data_format: str = "NDHWC", dilations: Sequence[int] | None = None,
    name: str | None = None,
):
    """Apply the transpose of `tf.nn.conv3d`, as a linear map of volumes.

    Args:
      input: a floating tensor `[batch, depth, height, width, in]`.
      filters: `[depth, height, width, out, in]` of that dtype.
      output_shape: the shape of the result, five integers.
      strides: those of the convolution, an int or a list of one, three or five.
      padding: "VALID" or "SAME", of the convolution.
      data_format: "NDHWC" or "NCDHW".
      dilations: those of the convolution; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `output_shape`.
    """
    data_format = data_format or "NDHWC"
    channel = channel_index(data_format)
    return Conv3DBackpropInputV2(
        convert_to_tensor(output_shape, dtype_hint=dtypes.int32),
        filters,
        input,
        strides=per_dimension(strides, 3, channel, "strides"),
        padding=padding,
        data_format=data_format,
        dilations=per_dimension(dilations, 3, channel, "dilations"),
    )


@api(v1="nn.conv3d_transpose")
@tensor_function
@graph_scope("conv3d_transpose")
def conv3d_transpose_v1(
    value: TensorLike, filter: TensorLike | None = None, output_shape: ShapeLike | None = None, strides=None,
    padding: str = "SAME", data_format: str = "NDHWC", name: str | None = None, input: Any = None,
    filters: Any = None, dilations=None,
):
    """`conv3d_transpose` with the 1.x names and order of arguments."""
    filters = renamed("filters", filters, "filter", filter)
    input = value if input is None else input
    return conv3d_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


@api(v1=("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2"))
@tensor_function
def conv3d_backprop_filter(
    input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, strides, padding: str | Sequence[Any],
    data_format: str = "NDHWC", dilations=(1, 1, 1, 1, 1), name: str | None = None,
):
    """The gradient of `conv3d` by its filter, of shape `filter_sizes`."""
    return Conv3DBackpropFilterV2(
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=dilations,
    )
