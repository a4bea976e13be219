"""The convolutions that programs call: argument forms, ranks and layouts, made of the rows of convolution.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import ExpandDims, Reshape, Squeeze
from tapeflow.ops.convolution.rows import Conv2D, Conv2DBackpropFilter, Conv2DBackpropInput
from tapeflow.ops.convolution.rows_3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import as_shape, product, sizes_of, static_value


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


def require_list(strides: Sequence[int], name: str) -> None:
    if not isinstance(strides, (list, tuple)):
        raise TypeError(f"Expected list for 'strides' argument to '{name}' Op, not {strides!r}.")


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
    input: TensorLike, filter: TensorLike, padding, strides=None, dilation_rate=None, name: str | None = None,
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
def atrous_conv2d(value: TensorLike, filters: Any, rate: Any, padding, name: str | None = None):
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
    value: TensorLike, filters: Any, output_shape: ShapeLike, rate: Any, padding, name: str | None = None
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
