"""Whether mixed precision is on, the switch of 1.14 for it, and how optimizers are wrapped to scale their losses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tapeflow.core import config
from tapeflow.core.public import boundaries
from tapeflow.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from tapeflow.train.optimizer import Optimizer

_using_policy = _rewriting = False
# Classes of optimizers, functions that wrap one with a loss scale, and the classes of what they return.
wrappers: list[tuple[type, Callable[..., Any], type | None]] = []


def set_using_mixed_precision_policy(is_using: bool) -> None:
    """Notes whether a policy of mixed precision is in force."""
    global _using_policy
    _using_policy = is_using


def is_using_mixed_precision_policy() -> bool:
    """Whether a policy of mixed precision is in force."""
    return _using_policy


def set_mixed_precision_graph_rewrite_enabled(enabled: bool) -> None:
    """Notes whether a program asked for graphs in mixed precision."""
    global _rewriting
    _rewriting = enabled


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Whether a program asked for graphs in mixed precision; see `enable_mixed_precision_graph_rewrite`."""
    return _rewriting


def register_loss_scale_wrapper(
    optimizer_cls: type, wrapper_fn: Callable[..., Any], wrapper_cls: type | None = None
) -> None:
    """Registers the function that gives an optimizer of a class its loss scale.

    Args:
      optimizer_cls: the class.
      wrapper_fn: takes the optimizer and the loss scale.
      wrapper_cls: the class of what it returns; None for `wrapper_fn` itself.
    """
    wrappers.append((optimizer_cls, wrapper_fn, wrapper_cls))


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Wrap an optimizer so that it scales the loss, as programs ask that compute in mixed precision on a GPU.

    The graphs are computed in the dtypes that they say, as TensorFlow computes them on a CPU: it changes only ops on a
    GPU to float16.

    Args:
      opt: a `tf.compat.v1.train.Optimizer`, or one of a class with a registered wrapper.
      loss_scale: a `tf.compat.v1.mixed_precision.LossScale`, a number, or "dynamic".

    Returns:
      The optimizer that scales the loss.

    Raises:
      ValueError: for an optimizer that does so already or is of another class, or where a policy of mixed precision is
        in force.
    """
    if is_using_mixed_precision_policy():
        raise ValueError(
            "The mixed precision graph rewrite cannot be enabled, because the global Keras dtype policy is one of "
            "mixed precision. At most one of tf.keras.mixed_precision.set_global_policy, which was called first, and "
            "enable_mixed_precision_graph_rewrite may be called."
        )
    wrapped = _wrapped(opt, loss_scale)
    _enable(True)
    return wrapped


def disable_mixed_precision_graph_rewrite() -> None:
    """Undo `enable_mixed_precision_graph_rewrite`, but for the optimizers that it wrapped."""
    if not is_mixed_precision_graph_rewrite_enabled():
        warnings.warn("disable_mixed_precision_graph_rewrite() was called where it was not enabled.", stacklevel=2)
    _enable(False)


def _enable(on: bool) -> None:
    config.set_experimental_options({"auto_mixed_precision": on})
    set_mixed_precision_graph_rewrite_enabled(on)


def _wrapped(opt: Any, loss_scale: Any) -> Any:
    own = (Optimizer, MixedPrecisionLossScaleOptimizer, None)
    kinds: list[tuple[type, Any, Any]] = [own, *wrappers]
    for kind, wrap, wrapper in kinds:
        result = wrapper or wrap
        if isinstance(result, type) and isinstance(opt, result):
            name = result.__name__
            raise ValueError(
                f'"opt" must not already be an instance of a {name}. `enable_mixed_precision_graph_rewrite` will '
                f"automatically wrap the optimizer with a `{name}`."
            )
        if isinstance(opt, kind):
            return wrap(opt, loss_scale)
    raise ValueError(
        f'"opt" must be an instance of a `tf.train.Optimizer` or a `tf.keras.optimizers.Optimizer`, but got: {opt}'
    )


boundaries(globals())
