"""Tensors rounded to few bits, whose ranges are fixed, those of the last step, or moving averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.train.moving_averages import assign_moving_average

_KEYS = v1.GraphKeys


def FixedQuantize(inputs: TensorLike, init_min: float = -6.0, init_max: float = 6.0, scope: str | None = None):
    """Round to 8 bits of a range.

    Args:
      inputs: floats.
      init_min: the least value.
      init_max: the greatest value.
      scope: a name scope.

    Returns:
      Floats of the shape of the inputs.
    """
    with v1.name_scope(scope, "FixedQuantize", values=[inputs]):
        return v1.quantization.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def LastValueQuantize(
    inputs: TensorLike, per_channel: bool = False, init_min: float = -6.0, init_max: float = 6.0,
    vars_collection: str | None = None, name_prefix: str = "LastValueQuant", reuse: bool | None = None,
    is_training: bool = True, num_bits: int = 8, narrow_range: bool = False, symmetric: bool = False,
):  # fmt: skip
    """Round to few bits of the range that the values have in the last step of training.

    Args:
      inputs: floats.
      per_channel: whether each index of the last axis has a range of its own.
      init_min: what the variable of the least value begins with.
      init_max: what the variable of the greatest value begins with.
      vars_collection: a collection that both variables join.
      name_prefix: the scope.
      reuse: whether the scope's variables are there already.
      is_training: whether to measure the range; else the variables stay.
      num_bits: how many bits.
      narrow_range: whether the lowest of the integers is left out.
      symmetric: whether the range has zero in the middle.

    Returns:
      Floats of the shape of the inputs.
    """

    def update(variable: Variable, value: Tensor, what: str):
        return v1.assign(variable, value, name=f"Assign{what}Last")

    collections = [vars_collection] if vars_collection else []
    return _quantized(inputs, per_channel, init_min, init_max, collections, name_prefix, reuse, is_training, num_bits,
                      narrow_range, symmetric, update)  # fmt: skip


def MovingAvgQuantize(
    inputs: TensorLike, per_channel: bool = False, init_min=-6.0, init_max: float = 6.0, ema_decay: float = 0.999,
    vars_collection: str = _KEYS.MOVING_AVERAGE_VARIABLES, name_prefix: str = "MovingAvgQuantize",
    reuse: bool | None = None, is_training: bool = True, num_bits: int = 8, narrow_range: bool = False,
    symmetric: bool = False,
):  # fmt: skip
    """Round to few bits of a range that is a moving average of those of the steps of training.

    Args:
      ema_decay: how much of the average a step keeps.
      inputs, others: see `LastValueQuantize`.

    Returns:
      Floats of the shape of the inputs.
    """

    def update(variable: Variable, value: Tensor, what: str):
        return assign_moving_average(variable, value, ema_decay, name=f"Assign{what}Ema")

    collections = [vars_collection] if vars_collection else []
    return _quantized(inputs, per_channel, init_min, init_max, collections, name_prefix, reuse, is_training, num_bits,
                      narrow_range, symmetric, update)  # fmt: skip


def _quantized(
    inputs, per_channel: bool, low, high, collections: Any, prefix, reuse: bool | None, training: bool | Tensor,
    bits: int, narrow: bool, symmetric: bool, update: Callable[..., Any],
):
    with v1.variable_scope(None, default_name=prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        shape = []
        if per_channel:
            rank = inputs.shape.rank
            assert rank in (1, 2, 4), f"Expected 1D, 2D or 4D input, was: {inputs.shape} in scope: {prefix}"
            shape = [inputs.shape[-1]]
        least, greatest = (
            v1.get_variable(
                name, shape, initializer=v1.constant_initializer(value),
                collections=[*collections, _KEYS.GLOBAL_VARIABLES], trainable=False,
                aggregation=v1.VariableAggregation.MEAN,
            )
            for name, value in (("min", low), ("max", high))
        )  # fmt: skip
        if training:
            found = _range(inputs, per_channel, bits, narrow, symmetric)
            # What is rounded has the range that this step leaves.
            least, greatest = (
                update(variable, value, what)
                for variable, value, what in zip((least, greatest), found, ("Min", "Max"), strict=True)
            )
        kind = "_per_channel" if per_channel else ""
        fake_quant = getattr(v1.quantization, f"fake_quant_with_min_max_vars{kind}")
        return fake_quant(inputs, least, greatest, num_bits=bits, narrow_range=narrow)


def _range(inputs, per_channel: bool, bits: int, narrow: bool, symmetric: bool):
    """The least and the greatest value, with zero between them."""
    low = high = inputs
    if not per_channel or inputs.shape.rank > 1:
        axes = list(range(inputs.shape.rank - 1)) if per_channel else None
        low, high = v1.reduce_min(inputs, axes, name="BatchMin"), v1.reduce_max(inputs, axes, name="BatchMax")
    if not symmetric:
        return v1.minimum(low, 0.0), v1.maximum(high, 0.0)
    # Of integers with a sign, there is one more below zero than above.
    ratio = -1.0 if narrow else -((1 << bits) - 2) / (1 << bits)
    return v1.minimum(low, high / ratio), v1.maximum(high, low * ratio)
