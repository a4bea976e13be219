"""Convolutions of lines, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import ExpandDims, Squeeze
from tapeflow.ops.convolution.functions import conv2d_transpose, fold_batch, per_dimension
from tapeflow.ops.convolution.rows import Conv2D
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.static import as_shape, static_value

_LINES = {"NWC": ("NHWC", 1), "NCW": ("NCHW", 2)}


def _line_format(data_format: str | None):
    """The image format, and the axis to insert, for a format of lines."""
    data_format = data_format or "NWC"
    data_format = {"NHWC": "NWC", "NCHW": "NCW"}.get(data_format, data_format)
    if data_format not in _LINES:
        raise ValueError(
            f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}"
        )
    return _LINES[data_format]


@api(v2="nn.conv1d")
@tensor_function
@graph_scope("conv1d")
def conv1d(
    input: TensorLike, filters: TensorLike, stride: Sequence[int], padding: str,
    data_format: str | None = "NWC", dilations: Sequence[int] | None = None, name: str | None = None,
):
    """Convolve lines with filters; the filters are not turned around.

    Args:
      input: a floating tensor `[batch..., width, in]`.
      filters: `[width, in / groups, out]` of that dtype.
      stride: how far windows are apart, an int or a list of one or three.
      padding: "VALID": windows inside of the input only; "SAME": as many as strides.
      data_format: "NWC", or "NCW" for `[batch, in, width]`.
      dilations: how far neighbouring taps are apart, an int or a list of one or three; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch..., new width, out]` of their dtype.

    Raises:
      InvalidArgumentError: for sizes that do not fit.

    >>> tf.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[-1.0]], [[1.0]]], stride=1, padding="VALID")
    <tf.Tensor: shape=(1, 2, 1), dtype=float32, numpy=
    array([[[1.],
            [2.]]], dtype=float32)>
    """
    image_format, axis = _line_format(data_format)
    channel = 1 if axis == 2 else 2
    strides = _as_image(per_dimension(stride, 1, channel, "stride"), axis)
    dilations = _as_image(per_dimension(dilations, 1, channel, "dilations"), axis)
    taps = ExpandDims(filters, 0)

    def run(x: Tensor):
        out = Conv2D(
            ExpandDims(x, axis),
            taps,
            strides=strides,
            padding=padding,
            data_format=image_format,
            dilations=dilations,
        )
        return Squeeze(out, [axis])

    return fold_batch(convert_to_tensor(input), 3, run)


def _as_image(values: Sequence[int], axis: int):
    return [*values[:axis], 1, *values[axis:]]


@api(v1="nn.conv1d")
@tensor_function
@graph_scope("conv1d")
def conv1d_v1(
    value: TensorLike | None = None, filters: Any = None, stride=None, padding=None, use_cudnn_on_gpu=None,
    data_format: str | None = None, name: str | None = None, input: Any = None, dilations=None,
):
    """`conv1d` with the 1.x names and order of arguments."""
    input = renamed("input", input, "value", value)
    return conv1d(input, filters, stride, padding, data_format, dilations)


@api("nn.conv1d_transpose")
@tensor_function
@graph_scope("conv1d_transpose")
def conv1d_transpose(
    input: TensorLike, filters: TensorLike, output_shape, strides: int | Sequence[int], padding: str = "SAME",
    data_format: str = "NWC", dilations: int | Sequence[int] | None = None, name: str | None = None,
):
    """Apply the transpose of `tf.nn.conv1d`, as a linear map of lines.

    Args:
      input: a floating tensor `[batch, width, in]`.
      filters: `[width, out, in]` of that dtype.
      output_shape: the shape of the result, three integers.
      strides: those of the convolution, an int or a list of one or three.
      padding: "VALID" or "SAME", of the convolution.
      data_format: "NWC" or "NCW".
      dilations: those of the convolution; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `output_shape`.
    """
    image_format, axis = _line_format(data_format)
    channel = 1 if axis == 2 else 2
    shape = static_value(output_shape)
    if shape is None:
        whole = ConcatV2([output_shape[:axis], [1], output_shape[axis:]], 0)
    else:
        whole = as_shape(_as_image([int(d) for d in shape], axis))
    out = conv2d_transpose(
        ExpandDims(convert_to_tensor(input), axis),
        ExpandDims(filters, 0),
        whole,
        _as_image(per_dimension(strides, 1, channel, "strides"), axis),
        padding,
        image_format,
        _as_image(per_dimension(dilations, 1, channel, "dilations"), axis),
    )
    return Squeeze(out, [axis])
