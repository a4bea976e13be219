"""How weights begin, and what keeps them small: the initializers and regularizers of `tf.contrib.layers`."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.arithmetic import multiply
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.l2_loss import l2_loss
from tapeflow.v1 import initializers

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope

__all__ = [
    "apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer",
    "variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d",
]  # fmt: skip

_MODES = {"FAN_IN": "fan_in", "FAN_OUT": "fan_out", "FAN_AVG": "fan_avg"}


def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None,
    dtype: DTypeLike = dtypes.float32,
):
    """Random values of variance `factor / n`, n being the number of inputs, of outputs, or their mean.

    Raises TypeError for another mode or dtype.
    """
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    shape = "uniform" if uniform else "truncated_normal"
    return initializers.variance_scaling_initializer(factor, _MODES[mode], shape, seed, dtype)


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
    """Values of variance `2 / (inputs + outputs)` (Glorot & Bengio 2010)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def _checked(scale: Any) -> float:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    number = float(scale)
    if number < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    return number


def l1_regularizer(scale, scope: str | VariableScope | None = None):
    """`scale * sum(|weights|)`. Raises ValueError for a negative or whole scale."""
    return _regularizer(scale, scope, "l1_regularizer", lambda weights: reduce_sum(abs_(weights)))


def l2_regularizer(scale, scope: str | VariableScope | None = None):
    """`scale * sum(weights**2) / 2`. Raises ValueError for a negative or whole scale."""
    return _regularizer(scale, scope, "l2_regularizer", l2_loss)


def _regularizer(scale: Any, scope: Any, name: str, size_of: Callable[[Any], Tensor]):
    """A function of weights whose result has the name of its scope."""
    scale = _checked(scale)
    if scale == 0.0:
        return lambda _: None

    def regularizer(weights: Any):
        with name_scope(scope, name, [weights]) as inside:
            values = convert_to_tensor(weights)
            factor = convert_to_tensor(scale, values.dtype, name="scale")
            return multiply(factor, size_of(values), name=inside)

    return regularizer


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | VariableScope | None = None):
    """Both regularizers, added; one of them where the scale of the other is 0."""
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(regularizer_list, scope: Any = None):
    """The sum of several regularizers; None for none."""
    kept = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not kept:
        return None

    def total(weights: Tensor):
        with name_scope(scope, "sum_regularizer", [weights]) as inside:
            parts = [part for part in (regularizer(weights) for regularizer in kept) if part is not None]
            return add_n(parts, name=inside) if parts else None

    return total


def apply_regularization(regularizer: Callable[..., Any], weights_list=None):
    """The sum of a regularizer's losses on weights, which joins the collection of regularization losses of a graph."""
    graph = None if context.executing_eagerly() else get_default_graph()
    if not weights_list:
        weights_list = [] if graph is None else graph.get_collection("weights")
    losses = [loss for loss in map(regularizer, weights_list) if loss is not None]
    total = add_n(losses) if losses else convert_to_tensor(0.0)
    if graph is not None:
        graph.add_to_collection("regularization_losses", total)
    return total
