"""The convolutions that programs call: argument forms, ranks and layouts, made of the rows of convolution.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.convolution.rows import Conv2D, Conv2DBackpropFilter, Conv2DBackpropInput
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import as_shape, product, sizes_of


def per_dimension(value: Any, count: int, channel_index: int, name: str) -> list[int]:
    """`value` (a number, one for each of `count` spatial dimensions, or one for every dimension) for every dimension.

    Raises ValueError for another length.
    """
    if value is None:
        return [1] * (count + 2)
    entries = [int(v) for v in value] if hasattr(value, "__len__") else [int(value)]
    if len(entries) == count + 2:
        return entries
    if len(entries) == 1:
        entries = entries * count
    if len(entries) != count:
        raise ValueError(
            f"{name} should be of length 1, {count} or {count + 2}. "
            f"Received: {name}={entries} of length {len(entries)}"
        )
    return [1, 1, *entries] if channel_index == 1 else [1, *entries, 1]


def explicit_padding(padding) -> tuple[str, list[int]]:
    """`padding` as a name and a flat list of explicit amounts (empty unless a list of pairs was given)."""
    if isinstance(padding, str):
        return padding, []
    pairs = list(padding)
    if len(pairs) != 4:
        raise ValueError(
            "When padding is a list, it must be of size 4. "
            f"Received: padding={padding} of size {len(pairs)}"
        )
    flat = []
    for pair in pairs:
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(
                f"When padding is a list, each element must be a list/tuple of size 2. Received: padding={padding}"
            )
        flat += [int(p) for p in pair]
    return "EXPLICIT", flat


def channel_index(data_format: str) -> int:
    return 1 if data_format.startswith("NC") else len(data_format) - 1


def fold_batch(x: Tensor, rank: int, function: Callable[..., Any]):
    """`function` applied to `x` with all its dimensions before the last `rank` - 1 folded into one batch."""
    extra = x.shape.rank
    if extra is None or extra <= rank:
        return function(x)
    sizes = sizes_of(x)
    lead, rest = sizes[: extra - rank + 1], sizes[extra - rank + 1 :]
    out = function(Reshape(x, as_shape([product(lead), *rest])))
    return Reshape(out, as_shape([*lead, *sizes_of(out)[1:]]))


@api(v2="nn.conv2d")
@tensor_function
def conv2d(
    input: TensorLike, filters: TensorLike, strides: Sequence[int] | int, padding: str,
    data_format: str = "NHWC", dilations: Sequence[int] | None = None, name: str | None = None,
):
    """Convolve images with filters; the filters are not turned around.

    Args:
      input: a tensor `[batch..., height, width, in]` of a floating dtype or int32.
      filters: `[height, width, in / groups, out]` of that dtype. Where `in` of the filters is smaller, groups of
        channels have filters of their own.
      strides: how far windows are apart, an int or a list of one, two or four.
      padding: "VALID": windows inside of the input only; "SAME": as many as strides; or a list of (before, after)
        for each dimension.
      data_format: "NHWC", or "NCHW" for `[batch, in, height, width]`.
      dilations: how far neighbouring taps are apart, an int or a list of one, two or four; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch..., new height, new width, out]` of their dtype.

    Raises:
      InvalidArgumentError: for sizes that do not fit.
      ValueError: for lists of a wrong length.

    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.conv2d(x, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID")[0, ..., 0]
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[ 8., 12.],
           [20., 24.]], dtype=float32)>
    """
    data_format = data_format or "NHWC"
    padding, explicit = explicit_padding(padding)
    channel = 1 if data_format == "NCHW" else 3
    strides = per_dimension(strides, 2, channel, "strides")
    dilations = per_dimension(dilations, 2, channel, "dilations")

    def run(x: Tensor):
        return Conv2D(
            x,
            filters,
            strides=strides,
            padding=padding,
            explicit_paddings=explicit,
            data_format=data_format,
            dilations=dilations,
        )

    return fold_batch(convert_to_tensor(input), 4, run)


@api(v1="nn.conv2d")
@tensor_function
def conv2d_v1(
    input: TensorLike, filter: TensorLike | None = None, strides=None, padding=None, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations=(1, 1, 1, 1), name: str | None = None, filters: TensorLike | None = None,
):
    """`conv2d` with the 1.x names and order of arguments."""
    filters = renamed("filters", filters, "filter", filter)
    return conv2d(input, filters, strides, padding, data_format, dilations)


@api(v1="nn.conv2d_backprop_input")
@tensor_function
def conv2d_backprop_input(
    input_sizes: TensorLike, filter: Variable | None = None, out_backprop: TensorLike | None = None,
    strides: Sequence[int] | None = None, padding: str | None = None, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Sequence[int] | None = (1, 1, 1, 1), name: str | None = None,
    filters: TensorLike | None = None,
):
    """The gradient of `conv2d` by its input, of shape `input_sizes`."""
    padding, explicit = explicit_padding(padding)
    channel = 1 if data_format == "NCHW" else 3
    return Conv2DBackpropInput(
        input_sizes,
        renamed("filters", filters, "filter", filter),
        out_backprop,
        strides=per_dimension(strides, 2, channel, "strides"),
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=per_dimension(dilations, 2, channel, "dilations"),
    )


@api(v1="nn.conv2d_backprop_filter")
@tensor_function
def conv2d_backprop_filter(
    input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, strides: int | Sequence[int],
    padding: str | Sequence[Any], use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
    dilations: int | Sequence[int] = (1, 1, 1, 1), name: str | None = None,
):
    """The gradient of `conv2d` by its filter, of shape `filter_sizes`."""
    padding, explicit = explicit_padding(padding)
    channel = 1 if data_format == "NCHW" else 3
    return Conv2DBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=per_dimension(strides, 2, channel, "strides"),
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=per_dimension(dilations, 2, channel, "dilations"),
    )


@api(v2="nn.conv2d_transpose")
@tensor_function
@graph_scope("conv2d_transpose")
def conv2d_transpose(
    input: TensorLike, filters: Variable, output_shape: ShapeLike | None, strides, padding: str = "SAME",
    data_format: str = "NHWC", dilations: Sequence[int] | None = None, name: str | None = None,
):
    """Apply the transpose of `tf.nn.conv2d`, as a linear map of images.

    Args:
      input: a floating tensor `[batch, height, width, in]`.
      filters: `[height, width, out, in]` of that dtype.
      output_shape: the shape of the result, four integers.
      strides: those of the convolution, an int or a list of one, two or four.
      padding: that of the convolution: "VALID", "SAME", or a list of (before, after) for each dimension.
      data_format: "NHWC" or "NCHW".
      dilations: those of the convolution; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      InvalidArgumentError: where the convolution does not make `input` of a tensor of `output_shape`.

    >>> x = tf.reshape([1.0, 2.0], [1, 1, 2, 1])
    >>> tf.nn.conv2d_transpose(x, tf.ones([1, 2, 1, 1]), [1, 1, 4, 1], strides=[1, 2])[0, ..., 0]
    <tf.Tensor: shape=(1, 4), dtype=float32, numpy=array([[1., 1., 2., 2.]], dtype=float32)>
    """
    return conv2d_backprop_input(
        _int32(output_shape),
        filters,
        input,
        strides,
        padding,
        True,
        data_format or "NHWC",
        dilations,
    )


def _int32(shape: ShapeLike | None):
    shape = convert_to_tensor(shape, dtype_hint=dtypes.int32)
    if shape.dtype == dtypes.int32:
        return shape

    return cast(shape, dtypes.int32)


@api(v1="nn.conv2d_transpose")
@tensor_function
@graph_scope("conv2d_transpose")
def conv2d_transpose_v1(
    value: TensorLike | None = None, filter: TensorLike | None = None, output_shape: ShapeLike | None = None,
    strides=None, padding: str = "SAME", data_format: str = "NHWC", name: str | None = None,
    input: TensorLike | None = None, filters: TensorLike | None = None, dilations=None,
):
    """`conv2d_transpose` with the 1.x names and order of arguments."""
    return conv2d_transpose(
        renamed("input", input, "value", value),
        renamed("filters", filters, "filter", filter),
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
    )


def require_list(strides: Sequence[int], name: str) -> None:
    if not isinstance(strides, (list, tuple)):
        raise TypeError(f"Expected list for 'strides' argument to '{name}' Op, not {strides!r}.")
