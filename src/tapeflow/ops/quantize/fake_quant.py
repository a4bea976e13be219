"""Numbers rounded as if they were kept in a few bits, for training that knows of quantization."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.annotations import Array, FloatLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

_BITS = {"num_bits": 8, "narrow_range": False}
_RANGE = {"min": -6.0, "max": 6.0, **_BITS}


def _levels(num_bits: int, narrow_range: bool) -> tuple[int, int]:
    if not 2 <= num_bits <= 16:
        raise invalid(f"num_bits must be between 2 and 16, inclusive, got {num_bits}")
    return 1 if narrow_range else 0, (1 << num_bits) - 1


def nudged(xp: ModuleType, low: Any, high: Any, num_bits: int, narrow_range: bool):
    """(the lowest number, the highest, the step) of the range moved so that zero is one of its steps."""
    first, last = _levels(num_bits, narrow_range)
    low, high = xp.asarray(low, np.float32), xp.asarray(high, np.float32)
    with np.errstate(all="ignore"):
        step = (high - low) / np.float32(last - first)
        zero = np.float32(first) - low / step
        nearest = xp.floor(zero + np.float32(0.5))
        zero = xp.where(zero < first, first, xp.where(zero > last, last, nearest)).astype(
            np.float32
        )
        return (first - zero) * step, (last - zero) * step, step


def _rounded(xp: ModuleType, x: Array, low: Any, high: Any, num_bits: int, narrow_range: bool):
    bottom, top, step = nudged(xp, low, high, num_bits, narrow_range)
    empty = (xp.asarray(low) == 0) & (xp.asarray(high) == 0)  # a range of nothing is all zero
    if xp is not np:
        out = xp.floor((xp.clip(x, bottom, top) - bottom) / step + np.float32(0.5)) * step + bottom
        return xp.where(empty, 0, out).astype(np.float32)
    with np.errstate(all="ignore"):
        out = np.asarray(np.clip(x, bottom, top), np.float32)
        for ufunc, value in ((np.subtract, bottom), (np.divide, step), (np.add, np.float32(0.5))):
            ufunc(out, value, out=out)
        np.floor(out, out=out)
        out *= step
        out += bottom
    return np.where(empty, np.float32(0), out) if empty.any() else out


def _inside(xp: ModuleType, x: Array, low: TensorLike, high: TensorLike, num_bits: int, narrow_range: bool):
    bottom, top, _ = nudged(xp, low, high, num_bits, narrow_range)
    return (x >= bottom) & (x <= top), x < bottom, x > top


def _check_range(low: float, high: float) -> None:
    if not low < high:
        raise invalid(f"min has to be smaller than max, was: {low} >= {high}")


def _check_scalars(low: np.ndarray, high: np.ndarray) -> None:
    for value, name in ((low, "min"), (high, "max")):
        if value.ndim:
            raise invalid(f"`{name}` must be rank 0 but is rank {value.ndim}")


def _check_channels(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    depth = x.shape[-1] if x.ndim else 0
    if not x.ndim:
        raise invalid("`inputs` must have at least one dimension")
    for value, name in ((low, "min"), (high, "max")):
        if value.ndim != 1:
            raise invalid(f"`{name}` must be rank 1 but is rank {value.ndim}")
        if len(value) != depth:
            raise invalid(f"{name} has incorrect size, expected {depth} was {len(value)}")


def _by_steps(x, low, high, num_bits: int, narrow_range: bool):
    """The reference: the nearest of all numbers of the range, listed."""
    first, last = (1 if narrow_range else 0), 2**num_bits - 1
    step = (float(high) - float(low)) / (last - first)
    zero = np.clip(np.floor(first - float(low) / step + 0.5), first, last)
    grid = (np.arange(first, last + 1) - zero) * step
    nearest = np.abs(np.asarray(x, np.float64)[..., None] - grid).argmin(-1)
    return grid[nearest].astype(np.float32)


def _numbers(rng: SampleGenerator, *shape):
    return (rng.normal(*shape) * 4).astype(np.float32)


@op("FakeQuantWithMinMaxArgs", "inputs: float32 -> outputs: float32", attrs=_RANGE,
    shape=shapes.elementwise)  # fmt: skip
def FakeQuantWithMinMaxArgs(xp: ModuleType, inputs: Array, min: float, max: float, num_bits: int, narrow_range: bool):
    _check_range(min, max)
    return _rounded(xp, inputs, min, max, num_bits, narrow_range)


@FakeQuantWithMinMaxArgs.gradient(needs="inputs")
def _(call: GradientCall, dy: Tensor):
    return FakeQuantWithMinMaxArgsGradient(
        dy, call.inputs, call.min, call.max, call.num_bits, call.narrow_range
    )


@FakeQuantWithMinMaxArgs.samples
def _(rng: SampleGenerator):
    for attrs in ({}, {"num_bits": 3}, {"narrow_range": True, "min": -1.3, "max": 5.0}):
        yield Sample(_numbers(rng, 3, 4), **attrs, differentiable=False)
    yield Sample(_numbers(rng, 3), min=2.0, max=1.0, raises=InvalidArgumentError)
    yield Sample(_numbers(rng, 3), num_bits=1, raises=InvalidArgumentError)
    yield Sample(_numbers(rng, 3), num_bits=17, raises=InvalidArgumentError)


@FakeQuantWithMinMaxArgs.reference
def _(inputs: np.ndarray, min: float, max: float, num_bits: int, narrow_range: bool):
    return _by_steps(inputs, min, max, num_bits, narrow_range)


def _same_shapes(gradients: Any, inputs: Any) -> None:
    if gradients.shape != inputs.shape:
        raise invalid(
            f"gradient and input must be the same size: {shape_text(gradients.shape)} and {shape_text(inputs.shape)}"
        )


@op("FakeQuantWithMinMaxArgsGradient",
    "gradients: float32, inputs: float32 -> backprops: float32", attrs=_RANGE,
    shape=shapes.elementwise)  # fmt: skip
def FakeQuantWithMinMaxArgsGradient(
    xp: ModuleType, gradients: Array, inputs: Array, min: float, max: float, num_bits: int, narrow_range: bool
):
    _check_range(min, max)
    _same_shapes(gradients, inputs)
    return xp.where(_inside(xp, inputs, min, max, num_bits, narrow_range)[0], gradients, 0).astype(
        np.float32
    )


@FakeQuantWithMinMaxArgsGradient.samples
def _(rng: SampleGenerator):
    yield Sample(_numbers(rng, 3, 4), _numbers(rng, 3, 4), min=-2.0, max=3.0)
    yield Sample(_numbers(rng, 3, 4), _numbers(rng, 3), raises=InvalidArgumentError)
    yield Sample(_numbers(rng, 3), _numbers(rng, 3), min=1.0, max=1.0, raises=InvalidArgumentError)


@FakeQuantWithMinMaxArgsGradient.reference
def _(dy: np.ndarray, x: np.ndarray, min: float, max: float, num_bits: int, narrow_range: bool):
    step = (max - min) / (2**num_bits - 1 - narrow_range)
    shift = min - np.round(min / step) * step
    return np.where((x >= min - shift) & (x <= max - shift), dy, 0)


def _range_rule(at: int, channels: bool):
    """The rule of a row whose inputs from `at` on are a tensor and the ends of its range, for all or by channel."""

    def rule(call):
        shape = shapes.merge(call.shape(0), call.shape(at))
        ends = shapes.merge(*(shapes.with_rank(call.shape(at + i), int(channels)) for i in (1, 2)))
        if channels and shapes.at_least(shape, 1) is not None:
            ends = shapes.merge(ends, shape[-1:])
            shape = (*shape[:-1], *ends)
        return [shape, ends, ends][: 1 + 2 * at]

    return rule


def _vars_row(name: str, check: Callable[..., Any]):
    def kernel(xp: ModuleType, inputs: Array, min: Array, max: Array, num_bits: int, narrow_range: bool):
        check(inputs, min, max)
        return _rounded(xp, inputs, min, max, num_bits, narrow_range)

    return op(name, "inputs: float32, min: float32, max: float32 -> outputs: float32", attrs=_BITS,
              shape=_range_rule(0, check is _check_channels))(kernel)  # fmt: skip


def _vars_gradient_row(name: str, check: Callable[..., Any], axes_of: Callable[..., Any]):
    def kernel(
        xp: ModuleType, gradients: Array, inputs: Array, min: FloatLike, max: FloatLike, num_bits: int,
        narrow_range: bool,
    ):
        _same_shapes(gradients, inputs)
        check(inputs, min, max)
        inside, below, above = _inside(xp, inputs, min, max, num_bits, narrow_range)
        empty = (min == 0) & (max == 0)
        dx = xp.where(inside | empty, gradients, 0).astype(np.float32)
        axes = axes_of(inputs)
        d_min = xp.where(below & ~empty, gradients, 0).sum(axes, dtype=np.float32)
        d_max = xp.where(above & ~empty, gradients, 0).sum(axes, dtype=np.float32)
        return dx, xp.asarray(d_min, np.float32), xp.asarray(d_max, np.float32)

    return op(name, "gradients: float32, inputs: float32, min: float32, max: float32 "
              "-> backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32", attrs=_BITS,
              shape=_range_rule(1, check is _check_channels))(kernel)  # fmt: skip


def _scalars(x: np.ndarray, low: np.ndarray, high: np.ndarray):
    _check_scalars(low, high)


FakeQuantWithMinMaxVars = _vars_row("FakeQuantWithMinMaxVars", _scalars)
FakeQuantWithMinMaxVarsGradient = _vars_gradient_row(
    "FakeQuantWithMinMaxVarsGradient", _scalars, lambda x: tuple(range(x.ndim))
)
FakeQuantWithMinMaxVarsPerChannel = _vars_row("FakeQuantWithMinMaxVarsPerChannel", _check_channels)
FakeQuantWithMinMaxVarsPerChannelGradient = _vars_gradient_row(
    "FakeQuantWithMinMaxVarsPerChannelGradient", _check_channels, lambda x: tuple(range(x.ndim - 1))
)


@FakeQuantWithMinMaxVars.gradient(needs="inputs, min, max")
def _(call: GradientCall, dy: Tensor):
    return tuple(FakeQuantWithMinMaxVarsGradient(
        dy, call.inputs, call.min, call.max, call.num_bits, call.narrow_range
    ))  # fmt: skip


@FakeQuantWithMinMaxVarsPerChannel.gradient(needs="inputs, min, max")
def _(call: GradientCall, dy: Tensor):
    return tuple(FakeQuantWithMinMaxVarsPerChannelGradient(
        dy, call.inputs, call.min, call.max, call.num_bits, call.narrow_range
    ))  # fmt: skip


def _float(*values):
    return np.array(values if len(values) > 1 else values[0], np.float32)


@FakeQuantWithMinMaxVars.samples
def _(rng: SampleGenerator):
    yield Sample(_numbers(rng, 3, 4), _float(-2.1), _float(3.0), differentiable=False)
    yield Sample(_numbers(rng, 3, 4), _float(-2.1), _float(3.0), num_bits=4, narrow_range=True,
                 differentiable=False)  # fmt: skip
    yield Sample(_numbers(rng, 3), _float(1.0, 2.0), _float(3.0), raises=InvalidArgumentError)
    yield Sample(
        _numbers(rng, 3), _float(1.0), _float(3.0), num_bits=40, raises=InvalidArgumentError
    )


FakeQuantWithMinMaxVars.reference(_by_steps)
_LOWS, _HIGHS = _float(-2.1, -1.3), _float(3.0, 5.0)


@FakeQuantWithMinMaxVarsPerChannel.samples
def _(rng: SampleGenerator):
    yield Sample(_numbers(rng, 3, 2), _LOWS, _HIGHS, differentiable=False)
    yield Sample(_numbers(rng, 2), _LOWS, _HIGHS, num_bits=5, differentiable=False)
    yield Sample(_numbers(rng, 3, 3), _LOWS, _HIGHS, raises=InvalidArgumentError)
    yield Sample(_numbers(rng, 3, 2), _float(-1.0), _HIGHS, raises=InvalidArgumentError)


@FakeQuantWithMinMaxVarsPerChannel.reference
def _(x: np.ndarray, low: np.ndarray, high: np.ndarray, **attrs):
    return np.stack([_by_steps(x[..., k], low[k], high[k], **attrs) for k in range(len(low))], -1)


def _three(dy, x, low, high, num_bits: int, narrow_range: bool):
    step = (float(high) - float(low)) / (2**num_bits - 1 - narrow_range)
    shift = float(low) - np.round(float(low) / step) * step
    bottom, top = float(low) - shift, float(high) - shift
    return (
        np.where((x >= bottom) & (x <= top), dy, 0),
        np.float32(dy[x < bottom].sum()),
        np.float32(dy[x > top].sum()),
    )


@FakeQuantWithMinMaxVarsGradient.samples
def _(rng: SampleGenerator):
    yield Sample(_numbers(rng, 3, 4), _numbers(rng, 3, 4), _float(-2.1), _float(3.0))
    yield Sample(
        _numbers(rng, 3),
        _numbers(rng, 3, 4),
        _float(-2.1),
        _float(3.0),
        raises=InvalidArgumentError,
    )


FakeQuantWithMinMaxVarsGradient.reference(_three)


@FakeQuantWithMinMaxVarsPerChannelGradient.samples
def _(rng: SampleGenerator):
    yield Sample(_numbers(rng, 3, 2), _numbers(rng, 3, 2), _LOWS, _HIGHS)
    yield Sample(
        _numbers(rng, 3, 2), _numbers(rng, 3, 2), _LOWS, _float(1.0), raises=InvalidArgumentError
    )


@FakeQuantWithMinMaxVarsPerChannelGradient.reference
def _(dy: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray, **attrs):
    parts = [_three(dy[..., k], x[..., k], low[k], high[k], **attrs) for k in range(len(low))]
    dx, d_low, d_high = zip(*parts, strict=True)
    return np.stack(dx, -1), np.array(d_low), np.array(d_high)
