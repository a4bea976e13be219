"""What Keras 3 asks of the arguments of layers when these are made."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest


def positive(value, what: str) -> None:
    """Raise ValueError for a number that is not positive; Keras 2 takes 0."""
    if value is not None and not keras_2() and value <= 0:
        raise ValueError(
            f"Invalid value for argument `{what}`. Expected a strictly positive value. Received {what}={value}."
        )


def whole_and_positive(value, what: str) -> None:
    """Raise ValueError for what is no positive integer; Keras 2 looks at the sign alone."""
    if keras_2():
        return
    whole = hasattr(type(value), "__index__") and not isinstance(value, bool)
    if not whole or operator.index(value) <= 0:
        raise ValueError(f"`{what}` must be a positive integer. Received: {what}={value} (of type {type(value)})")


def noise_shape(value: Any):
    """Return the shape of a pattern of noise as a tuple. Raises ValueError for anything but sizes and None."""
    if value is None or keras_2():
        return value
    start = "Invalid value received for argument `noise_shape`. Expected"
    received = f" Received: noise_shape={value}"
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise ValueError(f"{start} a tuple or list of integers.{received}")
    sizes = [size for size in value if size is not None]
    if not all(hasattr(type(size), "__index__") for size in sizes):
        raise ValueError(f"{start} all elements to be integers or None.{received}")
    if any(size <= 0 for size in sizes):
        raise ValueError(f"{start} all dimensions to be positive integers or None.{received}")
    return tuple(value)


def target_shape(sizes: tuple[int, ...]) -> None:
    """Raise ValueError for a shape with two unknown sizes, or a negative size other than -1."""
    if sum(size < 0 for size in sizes) > 1 and (keras_2() or sizes.count(-1) > 1):
        what = "output_shape" if keras_2() else "target_shape"
        raise ValueError(
            f"There must be at most one unknown dimension in output_shape. Received: {what}={sizes}."
        )
    if not keras_2() and any(size < -1 for size in sizes):
        raise ValueError(
            "The sizes of `target_shape` must each be a non-negative integer, or -1 for one that is inferred. "
            f"Received: target_shape={sizes}."
        )


def part_to_drop(rate) -> None:
    """Raise ValueError for a number that is not from 0 to 1."""
    if isinstance(rate, (int, float)) and not 0 <= rate <= 1:
        raise ValueError(
            f"Invalid value {rate} received for `rate`, expected a value between 0 and 1." if keras_2() else
            "Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: "
            f"rate={rate}"
        )  # fmt: skip


def input_shapes(shape, batch_size, batch_shape, input_tensor, others) -> None:
    """Raise ValueError for shapes of inputs that say the same twice, or for none; warn of names of Keras 2."""
    if keras_2():
        return
    if batch_shape is not None and (shape is not None or batch_size is not None):
        what = "shape" if shape is not None else "batch_size"
        raise ValueError(f"You cannot pass both `{what}` and `batch_shape` at the same time.")
    if "input_shape" in others:
        warnings.warn("Argument `input_shape` is deprecated. Use `shape` instead.", stacklevel=4)
    elif shape is None and batch_shape is None and input_tensor is None and "batch_input_shape" not in others:
        raise ValueError("You must pass a `shape` argument.")


def mask_of_steps(mask, inputs) -> None:
    """Raise ValueError for a mask whose first sizes are known not to be those of the inputs."""
    if mask is None or keras_2() or nest.is_nested(mask) or nest.is_nested(inputs):
        return
    shape = inputs.shape
    if mask.shape.rank is None or shape.rank is None:
        return
    for size, wanted in zip(mask.shape.as_list()[:2], shape.as_list()[:2]):
        if size is not None and wanted is not None and size != wanted:
            raise ValueError(
                "The `mask` passed to the `TimeDistributed` layer has a shape that does not begin as that of the "
                f"inputs does: mask.shape={tuple(mask.shape)}, inputs.shape={tuple(shape)}"
            )
