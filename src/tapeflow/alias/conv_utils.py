"""`tensorflow.python.keras.utils.conv_utils`: sizes, paddings and connections of convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.alias.stand_ins import convert_data_format
from tapeflow.keras.layers import convolution_arithmetic as arithmetic
from tapeflow.keras.settings import normalize_data_format
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of

__all__ = [
    "conv_connected_inputs", "conv_input_length", "conv_kernel_idxs", "conv_kernel_mask", "conv_output_length",
    "conv_output_shape", "convert_data_format", "convert_kernel", "deconv_output_length", "normalize_data_format",
    "normalize_padding", "normalize_tuple", "squeeze_batch_dims",
]  # fmt: skip


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """A number, or n of them, as a tuple of n. Raises ValueError for another length, and for what is no number."""
    if isinstance(value, int):
        return (value,) * n
    message = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(message) from None
    if len(found) != n:
        raise ValueError(message)
    for item in found:
        try:
            int(item)
        except (ValueError, TypeError):
            raise ValueError(f"{message} including element {item} of type {type(item)}") from None
    return found


def normalize_padding(value: Any) -> Any:
    """A padding in lower case; lists and tuples as they are. Raises ValueError for unknown ones."""
    return value if isinstance(value, (list, tuple)) else arithmetic.normalize_padding(value, causal=True)


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The size of an axis after a convolution; None for an unknown size."""
    _check_padding(padding, ("same", "valid", "full", "causal"))
    if padding == "full" and input_length is not None:
        width = filter_size + (filter_size - 1) * (dilation - 1)
        return (input_length + width - 1 + stride - 1) // stride
    return arithmetic.output_length(input_length, filter_size, padding, stride, dilation)


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The size of an axis that a convolution makes one of `output_length` of; None for an unknown size."""
    _check_padding(padding, ("same", "valid", "full"))
    if output_length is None:
        return None
    return (output_length - 1) * stride - 2 * _pad(filter_size, padding) + filter_size


def deconv_output_length(
    input_length: int | None,
    filter_size: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> int | None:
    """The size of an axis after a transposed convolution; None for an unknown size."""
    _check_padding(padding, ("same", "valid", "full"))
    if input_length is None:
        return None
    if padding != "full":
        return arithmetic.transposed_length(
            input_length, filter_size, padding, output_padding, stride, dilation
        )
    width = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        return input_length * stride - (stride + width - 2)
    return (input_length - 1) * stride + width - 2 * _pad(width, padding) + output_padding


def conv_output_shape(
    input_shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int], padding: str
) -> tuple[int | None, ...]:
    """The sizes after a convolution; an empty axis stays empty."""
    return tuple(
        0 if size == 0 else conv_output_length(size, width, padding, stride)
        for size, width, stride in zip(input_shape, kernel_shape, strides)
    )


def conv_connected_inputs(
    input_shape: Sequence[int],
    kernel_shape: Sequence[int],
    output_position: Sequence[int],
    strides: Sequence[int],
    padding: str,
) -> list[range]:
    """The positions of the input that one of the output comes from: a range for each axis."""
    found = []
    for size, width, position, stride in zip(input_shape, kernel_shape, output_position, strides):
        start = position * stride - (0 if padding == "valid" else width // 2)
        found.append(range(max(0, start), min(size, start + width)))
    return found


def conv_kernel_mask(input_shape: Any, kernel_shape: Any, strides: Any, padding: str) -> np.ndarray:
    """Which positions of the input (the first axes) reach which of the output (the last axes)."""
    kernel_shape, strides = _windows(input_shape, kernel_shape, strides, padding)
    mask = np.zeros((*input_shape, *_known(conv_output_shape(input_shape, kernel_shape, strides, padding))), bool)
    for start, end in _connections(input_shape, kernel_shape, strides, padding):
        mask[start + end] = True
    return mask


def conv_kernel_idxs(
    input_shape: Any,
    kernel_shape: Any,
    strides: Any,
    padding: str,
    filters_in: int,
    filters_out: int,
    data_format: str,
) -> Iterator[tuple[int, int]]:
    """(flat index of an output, flat index of an input) for each pair that a weight connects."""
    kernel_shape, strides = _windows(input_shape, kernel_shape, strides, padding)
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f'Data format {data_format} not recognized. `data_format` must be "channels_first" or "channels_last".'
        )

    def flat(position: tuple[int, ...], filter: int, sizes: tuple[int, ...], filters: int) -> int:
        if data_format == "channels_first":
            return int(np.ravel_multi_index((filter, *position), (filters, *sizes)))
        return int(np.ravel_multi_index((*position, filter), (*sizes, filters)))

    sizes = _known(conv_output_shape(input_shape, kernel_shape, strides, padding))
    for start, end in _connections(input_shape, kernel_shape, strides, padding):
        for first, second in itertools.product(range(filters_in), range(filters_out)):
            yield flat(end, second, sizes, filters_out), flat(start, first, tuple(input_shape), filters_in)


def convert_kernel(kernel: Any) -> np.ndarray:
    """A kernel of Theano's as one of TensorFlow's, or the other way around: turned in all its spatial axes."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.flip(kernel, tuple(range(kernel.ndim - 2))).copy()


def squeeze_batch_dims(inp: Any, op: Any, inner_rank: int) -> Any:
    """`op` of the tensor with one axis in place of all before the last `inner_rank`, which come back afterwards."""
    shape = inp.shape
    inner = shape[-inner_rank:]
    inner_sizes = inner.as_list() if inner.is_fully_defined() else shape_of(inp)[-inner_rank:]
    batch = shape[:-inner_rank]
    batch_sizes = batch.as_list() if batch.is_fully_defined() else shape_of(inp)[:-inner_rank]
    flat = reshape(inp, [-1, *inner_sizes] if isinstance(inner_sizes, list) else _joined([-1], inner_sizes))
    result = op(flat)
    rest = result.shape[-inner_rank:]
    rest_sizes = rest.as_list() if rest.is_fully_defined() else shape_of(result)[-inner_rank:]
    output = reshape(result, _joined(batch_sizes, rest_sizes))
    output.set_shape(batch + rest)
    return output


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    return concat([first, second], 0)


def _check_padding(padding: str, known: tuple[str, ...]) -> None:
    assert padding in known, f"Unknown padding: {padding}"


def _pad(width: int, padding: str) -> int:
    return {"same": width // 2, "valid": 0, "full": width - 1}[padding]


def _windows(input_shape: Any, kernel_shape: Any, strides: Any, padding: str) -> tuple[Any, Any]:
    if padding not in ("same", "valid"):
        raise NotImplementedError(
            f'Padding type {padding} not supported. Only "valid" and "same" are implemented.'
        )
    rank = len(input_shape)
    kernel_shape = (kernel_shape,) * rank if isinstance(kernel_shape, int) else kernel_shape
    strides = (strides,) * rank if isinstance(strides, int) else strides
    if not len(kernel_shape) == len(strides) == rank:
        raise ValueError(
            "Number of strides, input and kernel dimensions must all match. "
            f"Received: {len(strides)}, {rank}, {len(kernel_shape)}."
        )
    return kernel_shape, strides


def _connections(
    input_shape: Any, kernel_shape: Any, strides: Any, padding: str
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(position in the input, position in the output) for each pair that is connected."""
    sizes = _known(conv_output_shape(input_shape, kernel_shape, strides, padding))
    for end in itertools.product(*map(range, sizes)):
        for start in itertools.product(
            *conv_connected_inputs(input_shape, kernel_shape, end, strides, padding)
        ):
            yield start, end


def _known(sizes: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple(size or 0 for size in sizes)
