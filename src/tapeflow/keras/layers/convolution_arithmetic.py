"""Sizes, paddings and layouts of windows that slide over images."""

from __future__ import annotations

from typing import Any

from tapeflow.core.release import keras_2


def normalize_tuple(value: Any, n, name: str, allow_zero: bool = False):
    """`value`, or n times the int `value`, as a tuple. Raises ValueError for anything else."""
    message = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    if isinstance(value, int):
        items = (value,) * n
    else:
        try:
            items = tuple(value)
        except TypeError:
            raise ValueError(message) from None
        if len(items) != n:
            raise ValueError(message)
        for item in items:
            try:
                int(item)
            except (ValueError, TypeError):
                raise ValueError(
                    f"{message} including element {item} of type {type(item)}"
                ) from None
    wrong = {item for item in items if item < 0 or (item == 0 and not allow_zero)}
    if wrong:
        bound = ">= 0" if allow_zero else "> 0"
        if not keras_2():
            raise ValueError(
                f"The `{name}` argument must be a tuple of {n} integers. Received {name}={items}, including values "
                f"{wrong} that do not satisfy `value {bound}`"
            )
        raise ValueError(
            f"{message} including {wrong} that does not satisfy the requirement `{bound}`."
        )
    return tuple(int(item) for item in items)


def normalize_padding(value: str, causal: bool = False):
    """A padding in lower case. Raises ValueError for unknown ones."""
    padding = value.lower() if isinstance(value, str) else value
    if padding not in ({"valid", "same", "causal"} if causal else {"valid", "same"}):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only '
            f"for `Conv1D). Received: {padding}"
        )
    return padding


def to_nn_format(data_format: str, rank: int):
    """ "channels_last" -> "NHWC" and so on."""
    spatial = {1: "W", 2: "HW", 3: "DHW"}[rank]
    return f"N{spatial}C" if data_format == "channels_last" else f"NC{spatial}"


def output_length(length: int | None, size: int, padding: str, stride: int, dilation: int = 1):
    """How many windows fit."""
    if length is None:
        return None
    if padding in ("same", "causal"):
        return (length + stride - 1) // stride
    span = size + (size - 1) * (dilation - 1)
    return (length - span + stride) // stride


def transposed_length(length: int, size: int, padding: str, output_padding, stride: int, dilation: int = 1):
    """The size of an image from which a convolution would make `length` windows."""
    if length is None:
        return None
    span = size + (size - 1) * (dilation - 1)
    if output_padding is None:
        return length * stride + (max(span - stride, 0) if padding == "valid" else 0)
    pad = span // 2 if padding == "same" else 0
    return (length - 1) * stride + span - 2 * pad + output_padding
