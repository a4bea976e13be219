"""Numbers quantized and dequantized at once, with the gradient of the identity."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, AxisLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.quantize.rows import axis_of, range_shape, same_with_range
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_ATTRS = {
    "signed_input": True,
    "num_bits": 8,
    "range_given": False,
    "round_mode": one_of("HALF_TO_EVEN", "HALF_UP", default="HALF_TO_EVEN"),
    "narrow_range": False,
    "axis": -1,
}


def _spread(values, x, axis, name: str):
    """Ranges as they broadcast with `x`. Raises InvalidArgumentError for another number of them."""
    if axis == -1:
        if values.ndim:
            raise invalid(f"{name} must be a scalar.")
        return values
    if values.shape != (x.shape[axis],):
        raise invalid(
            f"{name} must have the size of dimension {axis} of the input, {x.shape[axis]}, but has shape "
            f"{shape_text(values.shape)}"
        )
    return values.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def _check_axis(axis: int, x: Any) -> None:
    if axis < -1:
        raise invalid(f"Axis must be at least -1. Found {axis}")
    if axis >= x.ndim:
        raise invalid(f"Shape must be at least rank {axis + 1} but is rank {x.ndim}")


def _found(x: Any, axis: int):
    """The least and the greatest number, of all or of each slice along `axis`."""
    others = None if axis == -1 else tuple(i for i in range(x.ndim) if i != axis)
    keep = axis != -1
    return x.min(others, keepdims=keep), x.max(others, keepdims=keep)


def _quantized(
    xp: ModuleType, x: Array, low: Array, high: Array, signed_input: bool, num_bits: int, range_given: bool,
    round_mode: str, narrow_range: bool, axis: int,
):
    _check_axis(axis, x)
    if not 0 < num_bits < (62 if signed_input else 63):
        raise invalid(f"num_bits is out of range: {num_bits} with signed_input_ {int(signed_input)}")
    if not x.size:
        return x
    if range_given:
        low, high = _spread(low, x, axis, "input_min"), _spread(high, x, axis, "input_max")
        if xp is np and (low > high).any():
            raise invalid(f"Invalid range: input_min {low.max()} > input_max {high.min()}")
    else:
        low, high = _found(x, axis)
    wide = np.float64 if x.dtype == np.float64 else np.float32
    low, high = low.astype(wide), high.astype(wide)
    least = wide(-(1 << (num_bits - 1)) + narrow_range if signed_input else 0)
    most = wide((1 << (num_bits - 1 if signed_input else num_bits)) - 1)
    largest = np.finfo(wide).max
    with np.errstate(all="ignore"):
        from_low = xp.where(least * low > 0, least / low, largest)
        from_high = xp.where(most * high > 0, most / high, largest)
        by_low = from_low < from_high
        scale = xp.where(by_low, from_low, from_high)
        step = xp.where(by_low, low / least, high / most).astype(wide)
        numbers = x.astype(wide)
        if range_given:
            bottom = xp.where(by_low, low, least * step)
            top = xp.where(by_low, most * step, high)
            numbers = xp.clip(numbers, bottom, top)
        steps = numbers * scale.astype(wide)
        whole = xp.floor(steps + wide(0.5)) if round_mode == "HALF_UP" else xp.rint(steps)
        out = whole * step
    empty = (low == 0) & (high == 0)
    return (xp.where(empty, 0, out) if xp is not np or empty.any() else out).astype(x.dtype)


@op("QuantizeAndDequantizeV2", "input: T, input_min: T, input_max: T -> output: T",
    types={"T": FLOATING}, attrs=_ATTRS,
    shape=same_with_range)  # fmt: skip
def QuantizeAndDequantizeV2(xp: ModuleType, input: Array, input_min: Array, input_max: Array, **attrs):
    return _quantized(xp, input, input_min, input_max, **attrs)


@op("QuantizeAndDequantizeV3", "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T",
    types={"T": FLOATING},
    attrs={"signed_input": True, "range_given": True, "narrow_range": False, "axis": -1},
    ranks="num_bits: 0",
    shape=same_with_range)  # fmt: skip
def QuantizeAndDequantizeV3(
    xp: ModuleType, input: Array, input_min: Array, input_max: Array, num_bits: Array, signed_input: bool,
    range_given: bool, narrow_range: bool, axis: int,
):
    if num_bits.size != 1:
        raise invalid(f"num_bits must be a scalar, got shape {shape_text(num_bits.shape)}")
    bits = int(num_bits.reshape(()))
    return _quantized(
        xp, input, input_min, input_max, signed_input, bits, range_given, "HALF_TO_EVEN", narrow_range, axis
    )  # fmt: skip


@op("QuantizeAndDequantizeV4", "input: T, input_min: T, input_max: T -> output: T",
    types={"T": FLOATING}, attrs=_ATTRS,
    shape=same_with_range)  # fmt: skip
def QuantizeAndDequantizeV4(xp: ModuleType, input: Array, input_min: Array, input_max: Array, **attrs):
    return _quantized(xp, input, input_min, input_max, **attrs)


def _gradient_rule(call: ShapeCall):
    return [shapes.merge(call.shape(0), call.shape(1)), *[range_shape(call, 1, 2)] * 2]


@op("QuantizeAndDequantizeV4Grad",
    "gradients: T, input: T, input_min: T, input_max: T "
    "-> input_backprop: T, input_min_backprop: T, input_max_backprop: T",
    types={"T": FLOATING}, attrs={"axis": -1},
    shape=_gradient_rule)  # fmt: skip
def QuantizeAndDequantizeV4Grad(
    xp: ModuleType, gradients: Array, input: Array, input_min: Array, input_max: Array, axis: int
):
    if gradients.shape != input.shape:
        raise invalid(
            f"gradient and input must be equal sizes, got {shape_text(gradients.shape)} and {shape_text(input.shape)}"
        )
    _check_axis(axis, input)
    low = _spread(input_min, input, axis, "input_min")
    high = _spread(input_max, input, axis, "input_max")
    inside = (input >= low) & (input <= high)
    return (
        xp.where(inside, gradients, 0).astype(gradients.dtype),
        xp.zeros_like(input_min),
        xp.zeros_like(input_max),
    )


@QuantizeAndDequantizeV2.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy, None, None


@QuantizeAndDequantizeV3.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy, None, None, None


@QuantizeAndDequantizeV4.gradient(needs="input, input_min, input_max")
def _(call: GradientCall, dy: Tensor):
    return tuple(
        QuantizeAndDequantizeV4Grad(dy, call.input, call.input_min, call.input_max, call.axis)
    )


@QuantizeAndDequantizeV4Grad.gradient(needs="gradients, input, input_min, input_max")
def _(call: GradientCall, dy: Tensor, dlow: Tensor, dhigh: Tensor):
    passed = QuantizeAndDequantizeV4Grad(
        dy, call.input, call.input_min, call.input_max, call.axis
    ).input_backprop
    none = [zeros_like(v) for v in (call.input, call.input_min, call.input_max)]
    return passed, *none


QuantizeAndDequantizeV3.compiled(static="num_bits")
_X = np.array([-1.5, -0.3, 0.0, 0.4, 2.6], np.float32)
_STEPS = np.array([-73, -15, 0, 20, 127], np.float32) * np.float32(2.6 / 127)


@QuantizeAndDequantizeV2.samples
def _(rng: SampleGenerator):
    given = np.array([-64, -13, 0, 17, 110]) * 3 / 127
    yield Sample(_X, -2.0, 3.0, expect=_STEPS, differentiable=False)
    yield Sample(_X, -2.0, 3.0, range_given=True, expect=given, differentiable=False)
    yield Sample(_X, -2.0, 3.0, range_given=True, num_bits=3, round_mode="HALF_UP", differentiable=False,
                 expect=np.array([-1.0, 0, 0, 0, 3.0]))  # fmt: skip
    yield Sample(np.zeros(3), 0.0, 0.0, expect=np.zeros(3), differentiable=False)
    yield Sample(_X, 3.0, -2.0, range_given=True, raises=InvalidArgumentError)
    yield Sample(_X, 3.0, -2.0, num_bits=64, raises=InvalidArgumentError)
    yield Sample(_X, 3.0, -2.0, axis=2, raises=InvalidArgumentError)
    yield Sample(_X, [1.0, 2.0], 3.0, range_given=True, raises=InvalidArgumentError)


@QuantizeAndDequantizeV3.samples
def _(rng: SampleGenerator):
    given = np.array([-64, -13, 0, 17, 110]) * 3 / 127
    yield Sample(_X, -2.0, 3.0, 8, expect=given, differentiable=False)
    yield Sample(_X, -2.0, 3.0, [8, 8], raises=InvalidArgumentError)


@QuantizeAndDequantizeV4.samples
def _(rng: SampleGenerator):
    yield Sample(_X, -2.0, 3.0, expect=_STEPS, differentiable=False)
    x = np.arange(6.0).reshape(2, 3)
    yield Sample(x, [0.0, 0.0], [2.0, 5.0], axis=0, differentiable=False,
                 expect=np.array([[0, 64, 127], [76, 102, 127]]) * np.array([[2 / 127], [5 / 127]]))  # fmt: skip
    yield Sample(_X, 3.0, -2.0, range_given=True, raises=InvalidArgumentError)


@QuantizeAndDequantizeV4Grad.samples
def _(rng: SampleGenerator):
    yield Sample(np.arange(5.0), np.array([-2.0, -1.0, 0.5, 2.0, 3.0]), -1.0, 2.0, differentiable=(0,),
                 expect=(np.array([0, 1.0, 2, 3, 0]), 0.0, 0.0))  # fmt: skip
    yield Sample(np.arange(4.0), np.arange(5.0), -1.0, 2.0, raises=InvalidArgumentError)


@api("quantization.quantize_and_dequantize_v2")
@public
def quantize_and_dequantize_v2(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True, num_bits: IntLike = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None, narrow_range: bool = False,
    axis: AxisLike | None = None,
) -> Tensor:
    """`input` rounded to the numbers that `num_bits` can hold; the gradient is that of the identity in the range.

    Args:
      input: a tensor of floats.
      input_min: the least number of the range; with `axis` one for each slice.
      input_max: the greatest number of the range; with `axis` one for each slice.
      signed_input: whether the integers are signed.
      num_bits: how many bits they have.
      range_given: whether the range is `input_min` to `input_max`; if not, that of the numbers in `input`.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: the name of the operation in a graph.
      narrow_range: whether the least integer is left out.
      axis: the dimension of which each slice has a range of its own; None for one range.

    Returns:
      A tensor of the shape and dtype of the input.

    Raises:
      InvalidArgumentError: for ranges that end before they begin or do not fit `axis`.
    """
    input = convert_to_tensor(input)
    return QuantizeAndDequantizeV4(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range,
        axis_of(axis, input),
    )  # fmt: skip


@api("quantization.quantize_and_dequantize")
@public
def quantize_and_dequantize(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True, num_bits: IntLike = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None, narrow_range: bool = False,
    axis: AxisLike | None = None,
) -> Tensor:
    """Round numbers to those that `num_bits` can hold; the gradient is that of the identity everywhere.

    Args:
      input: a tensor of floats.
      input_min: the least number of the range; with `axis` one for each slice.
      input_max: the greatest number of the range; with `axis` one for each slice.
      signed_input: whether the integers are signed.
      num_bits: how many bits they have.
      range_given: whether the range is `input_min` to `input_max`; if not, that of the numbers in `input`.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: the name of the operation in a graph.
      narrow_range: whether the least integer is left out.
      axis: the dimension of which each slice has a range of its own; None for one range.

    Returns:
      A tensor of the shape and dtype of the input.
    """
    input = convert_to_tensor(input)
    return QuantizeAndDequantizeV2(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range,
        axis_of(axis, input),
    )  # fmt: skip

