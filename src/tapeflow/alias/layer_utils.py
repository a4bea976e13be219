"""Arguments of convolutions as layers of 1.x normalize them, and `Convolution`: one whose shapes are known before."""

from __future__ import annotations

from typing import Any

from tapeflow.ops.convolution.functions_any_rank import convolution_v1


def normalize_data_format(value: str) -> str:
    """"channels_last" or "channels_first". Raises ValueError for another."""
    found = value.lower()
    if found not in {"channels_first", "channels_last"}:
        raise ValueError(
            f"The `data_format` argument must be one of 'channels_first', 'channels_last'. Received: {value}"
        )
    return found


def normalize_padding(value: str) -> str:
    """"valid" or "same". Raises ValueError for another."""
    found = value.lower()
    if found not in {"valid", "same"}:
        raise ValueError(f"The `padding` argument must be one of 'valid', 'same'. Received: {value}")
    return found


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The size of an axis after a convolution; None for an unknown size."""
    if input_length is None:
        return None
    width = filter_size + (filter_size - 1) * (dilation - 1)
    size = {"same": input_length, "valid": input_length - width + 1, "full": input_length + width - 1}[padding]
    return (size + stride - 1) // stride


class Convolution:
    """A convolution of inputs of a rank with filters of a shape: `Convolution(...)(inputs, filters)`.

    Args:
      input_shape: of the inputs.
      filter_shape: of the filters.
      padding: "VALID" or "SAME".
      strides: the strides; None: 1.
      dilation_rate: the rates; None: 1.
      name: of the operation.
      data_format: "NHWC" and the like.
    """

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: str,
        strides: Any = None,
        dilation_rate: Any = None,
        name: str | None = None,
        data_format: str | None = None,
    ):
        self._options = {
            "padding": padding, "strides": strides, "dilation_rate": dilation_rate, "name": name,
            "data_format": data_format,
        }  # fmt: skip

    def __call__(self, inp: Any, filter: Any) -> Any:
        return convolution_v1(inp, filter, **self._options)
