"""The poolings that programs call: argument forms, ranks and layouts, made of the rows of pooling.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.spatial import BatchToSpaceND, SpaceToBatchND
from tapeflow.ops.convolution.pool_functions_by_rank import (
    CHANNELS_LAST,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pool_1d,
    pool_2d,
    pool_3d,
    windows,
)
from tapeflow.ops.convolution.pooling import AvgPool, MaxPool
from tapeflow.ops.convolution.pooling_3d import AvgPool3D, MaxPool3D, MaxPoolWithArgmax
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.static import size_of


def _any_rank(
    rows: Sequence[Callable[..., Any]], input: Any, ksize: Sequence[int], strides: Sequence[int], padding: str,
    data_format: str | None,
):
    """The pooling that the rank of `input` asks for; a scalar window is allowed."""
    input = convert_to_tensor(input)
    rank = len(data_format) if data_format else input.shape.rank
    if rank not in (3, 4, 5):
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={input.shape} of rank {rank}."
        )
    image, volume = rows
    if rank == 5:
        return pool_3d(volume, input, ksize, strides, padding, data_format)
    function = pool_1d if rank == 3 else pool_2d
    return function(image, input, ksize, strides, padding, data_format)


@api(v1="nn.max_pool_v2", v2="nn.max_pool")
@tensor_function
def max_pool(
    input: TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str,
    data_format: str | None = None, name: str | None = None,
):
    """Take the largest element under each window of lines, images or volumes.

    Args:
      input: a real tensor `[batch, spatial..., channels]` of 1 to 3 spatial dimensions.
      ksize: the size of the window, an int or a list of one int or one for each spatial (or each) dimension.
      strides: how far windows are apart, likewise.
      padding: "VALID": windows inside of the input only (none, where they are larger); "SAME": as many as strides;
        for lines and images also a list of (before, after) for each dimension.
      data_format: "NWC", "NHWC" or "NDHWC", or the same with the channels second, such as "NCHW"; None: channels
        last.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`, with the same layout.

    Raises:
      InvalidArgumentError: for windows or strides that are not positive.

    >>> tf.nn.max_pool(tf.constant([[[1.0], [3.0], [5.0], [7.0]]]), ksize=2, strides=2, padding="VALID")
    <tf.Tensor: shape=(1, 2, 1), dtype=float32, numpy=
    array([[[3.],
            [7.]]], dtype=float32)>
    """
    return _any_rank((MaxPool, MaxPool3D), input, ksize, strides, padding, data_format)


@api(v1="nn.avg_pool_v2", v2="nn.avg_pool")
@tensor_function
def avg_pool(
    input: TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str,
    data_format: str | None = None, name: str | None = None,
):
    """Compute the mean under each window of lines, images or volumes; padding does not count.

    Args:
      input: a floating tensor `[batch, spatial..., channels]` of 1 to 3 spatial dimensions.
      ksize: the size of the window, an int or a list of one int or one for each spatial (or each) dimension.
      strides: how far windows are apart, likewise.
      padding: "VALID": windows inside of the input only (none, where they are larger); "SAME": as many as strides;
        for images also a list of (before, after) for each dimension.
      data_format: "NWC", "NHWC" or "NDHWC", or the same with the channels second, such as "NCHW"; None: channels
        last.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`, with the same layout.

    Raises:
      InvalidArgumentError: for windows or strides that are not positive.

    >>> tf.nn.avg_pool(tf.constant([[[1.0], [3.0], [5.0], [7.0]]]), ksize=2, strides=2, padding="VALID")
    <tf.Tensor: shape=(1, 2, 1), dtype=float32, numpy=
    array([[[2.],
            [6.]]], dtype=float32)>
    """
    return _any_rank((AvgPool, AvgPool3D), input, ksize, strides, padding, data_format)


@api(v1="nn.max_pool")
@tensor_function
def max_pool_v1(
    value: TensorLike, ksize, strides: int | Sequence[int], padding: str, data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
):
    """`max_pool` of images, with the 1.x spelling `value`."""
    return pool_2d(
        MaxPool, value if input is None else input, ksize, strides, padding, data_format
    )


@api(v1="nn.avg_pool")
@tensor_function
def avg_pool_v1(
    value: TensorLike, ksize, strides: int | Sequence[int], padding: str, data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
):
    """`avg_pool` of images, with the 1.x spelling `value`."""
    return pool_2d(
        AvgPool, value if input is None else input, ksize, strides, padding, data_format
    )


@api(v2="nn.max_pool_with_argmax")
@tensor_function
def max_pool_with_argmax(
    input: TensorLike, ksize, strides: int | Sequence[int], padding: str | Sequence[Any], data_format: str = "NHWC",
    output_dtype: DTypeLike = dtypes.int64, include_batch_in_index: bool = False, name: str | None = None,
):
    """Take the largest element under each window of images, and where it stands.

    Args:
      input: a real tensor `[batch, height, width, channels]`.
      ksize: the size of the window, an int or a list of one, two or four.
      strides: how far windows are apart, likewise.
      padding: "VALID" or "SAME".
      data_format: "NHWC" only.
      output_dtype: the dtype of the places, int32 or int64.
      include_batch_in_index: whether places are those in the flattened batch, not in the flattened image.
      name: a name for the operation (optional).

    Returns:
      (the largest elements, their places), of one shape.

    Raises:
      ValueError: for another `data_format`.

    >>> tf.nn.max_pool_with_argmax([[[[1.0], [2.0]], [[6.0], [3.0]]]], 2, 2, "VALID").argmax.numpy().tolist()
    [[[[2]]]]
    """
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other than 'NHWC' are not supported. "
            f"Received: data_format={data_format}"
        )
    ksize, strides = windows(ksize, strides, 2, data_format)
    return MaxPoolWithArgmax(
        input,
        ksize=ksize,
        strides=strides,
        Targmax=dtypes.as_dtype(output_dtype),
        padding=padding,
        include_batch_in_index=bool(include_batch_in_index),
    )


@api(v1="nn.max_pool_with_argmax")
@tensor_function
def max_pool_with_argmax_v1(
    input: TensorLike, ksize: int | Sequence[int], strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str = "NHWC", Targmax=None, name: str | None = None, output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
):
    """`max_pool_with_argmax` with the 1.x spelling `Targmax`."""
    kind = renamed("output_dtype", output_dtype, "Targmax", Targmax, dtypes.int64)
    return max_pool_with_argmax(
        input, ksize, strides, padding, data_format, kind, include_batch_in_index
    )


@api(v2="nn.pool")
@tensor_function
def pool(
    input: TensorLike, window_shape, pooling_type, strides=None, padding: str = "VALID",
    data_format: str | None = None, dilations=None, name: str | None = None,
):
    """Pool over windows of as many spatial dimensions as `window_shape` has.

    Args:
      input: a floating tensor `[batch, spatial..., channels]` of 1 to 3 spatial dimensions.
      window_shape: the size of the window in each spatial dimension.
      pooling_type: "MAX" or "AVG".
      strides: how far windows are apart in each spatial dimension; None: 1.
      padding: "VALID", "SAME", or for images a list of (before, after) for each dimension.
      data_format: where the channels are, such as "NCHW"; None: last.
      dilations: how far the elements under a window are apart; None: 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and layout of `input`.

    Raises:
      ValueError: for another type, for strides together with dilations, and for lists of paddings with dilations.
    """
    input = convert_to_tensor(input)
    count = len(window_shape)
    rank = count + 2
    names = {("MAX", 4): max_pool2d, ("AVG", 4): avg_pool2d, ("MAX", 3): max_pool1d,
             ("AVG", 3): avg_pool1d, ("MAX", 5): max_pool3d, ("AVG", 5): avg_pool3d}  # fmt: skip
    if count not in (1, 2, 3):
        raise ValueError(
            f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={count}."
        )
    function = names.get((pooling_type, rank))
    if function is None:
        raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
    strides = [1] * count if strides is None else list(strides)
    rates = np.ones(count, int) if dilations is None else np.array(dilations)
    data_format = data_format or CHANNELS_LAST[rank]
    if rates.max() == 1:
        return function(input, list(window_shape), strides, padding, data_format)
    if max(strides) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={strides} and dilation_rate={rates}"
        )
    if padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={rates}"
        )
    # The batch is the first dimension of the blocks; channels that come next are a dimension that is not divided.
    rates = [1] * data_format.startswith("NC") + rates.tolist()
    extra = [(-size_of(input, i)) % r for i, r in enumerate(rates, 1)]
    paddings = [[0, e] for e in extra]
    # Every residue class of positions is an image of its own; the crops take back what the padding added.
    folded = SpaceToBatchND(input, rates, paddings)
    out = function(folded, list(window_shape), 1, "VALID", data_format)
    return BatchToSpaceND(out, rates, paddings)


@api(v1="nn.pool")
@tensor_function
def pool_v1(
    input: TensorLike, window_shape, pooling_type, padding: str, dilation_rate: int | Sequence[int] | None = None,
    strides: int | Sequence[int] | None = None, name: str | None = None, data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
):
    """`pool` with the 1.x names and order of arguments."""
    rates = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    return pool(input, window_shape, pooling_type, strides, padding, data_format, rates)
