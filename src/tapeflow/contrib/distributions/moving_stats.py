"""Exponentially weighted means and variances, kept in variables."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.elementwise import log, log1p, square
from tapeflow.ops.math.reductions import reduce_logsumexp
from tapeflow.v1 import initializers
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["assign_log_moving_mean_exp", "assign_moving_mean_variance", "moving_mean_variance"]


def _check_floating(name: str, dtype: Any) -> Any:
    base = dtype.base_dtype
    if not base.is_floating:
        raise TypeError(f"{name}.base_dtype({base.name}) does not have float type `dtype`.")
    return base


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: TensorLike, decay: TensorLike, name: str | None = None
) -> tuple[Any, Any]:
    """Update a moving mean and variance with a value: the two variables, updated (Finch 2009).

    Args:
      mean_var, variance_var: variables of one floating dtype and of the shape of `value`.
      value: the new value.
      decay: the weight of what was before, near 1.
      name: the name scope.
    Raises TypeError for other dtypes.
    """
    with name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        base = _check_floating("mean_var", mean_var.dtype)
        if base != variance_var.dtype.base_dtype:
            raise TypeError(
                f"mean_var.base_dtype({base.name}) != variance_var.base_dtype({variance_var.dtype.base_dtype.name})"
            )
        decay = convert_to_tensor(decay, base, name="decay")
        delta = convert_to_tensor(value, base, name="value") - mean_var
        less = (1.0 - decay) * (variance_var - decay * square(delta))
        with control_dependencies([delta, less]):
            return mean_var.assign_add((1.0 - decay) * delta), variance_var.assign_sub(less)


def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: TensorLike, decay: TensorLike, name: str | None = None
) -> Any:
    """Update the logarithm of a moving mean with the logarithm of a value: the variable, updated.

    Args:
      log_mean_exp_var: a variable of a floating dtype and of the shape of `log_value`.
      log_value: the logarithm of the new value.
      decay: the weight of what was before, near 1.
      name: the name scope.
    Raises TypeError for other dtypes.
    """
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        base = _check_floating("log_mean_exp_var", log_mean_exp_var.dtype)
        decay = convert_to_tensor(decay, base, name="decay")
        delta = convert_to_tensor(log_value, base, name="log_value") - log_mean_exp_var
        terms = stack([log(decay) * ones_like(delta), delta + log1p(-decay)])
        return log_mean_exp_var.assign_add(reduce_logsumexp(terms, axis=0))


def moving_mean_variance(
    value: TensorLike, decay: TensorLike, collections: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """The moving mean and variance of a value, in variables `moving_mean` and `moving_variance` that begin at zero.

    Args:
      value: a tensor of a floating dtype.
      decay: the weight of what was before, near 1.
      collections: those that the variables join, by default the global ones.
      name: the variable scope.
    Raises TypeError for another dtype.
    """
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        base = _check_floating("value", value.dtype)
        variance, mean = (
            get_variable(
                each, shape=value.shape, dtype=base, initializer=initializers.zeros_initializer(), trainable=False,
                collections=collections,
            )
            for each in ("moving_variance", "moving_mean")
        )  # fmt: skip
        return assign_moving_mean_variance(mean, variance, value, decay)
