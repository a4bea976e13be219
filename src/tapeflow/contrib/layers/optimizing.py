"""`optimize_loss`: an operation that trains, with the usual care about gradients."""

from __future__ import annotations

import numpy as np

from tapeflow import train
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.build.collections import GraphKeys, get_collection
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_global_norm, global_norm
from tapeflow.ops.math.elementwise import exp, log, sqrt, square
from tapeflow.ops.random.functions import truncated_normal
from tapeflow.ops.state.variable import Variable
from tapeflow.train.global_step import assert_global_step, get_global_step
from tapeflow.train.moving_averages import assign_moving_average
from tapeflow.v1 import summary
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

OPTIMIZER_CLS_NAMES = {
    "Adagrad": train.AdagradOptimizer,
    "Adam": train.AdamOptimizer,
    "Ftrl": train.FtrlOptimizer,
    "Momentum": lambda learning_rate: train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": train.RMSPropOptimizer,
    "SGD": train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm",
]  # fmt: skip


def _optimizer(optimizer, learning_rate):
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}."
            )
        if learning_rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=learning_rate)
    if isinstance(optimizer, type) and issubclass(optimizer, train.Optimizer):
        if learning_rate is None:
            raise ValueError("Learning rate is None, but should be specified if optimizer is class.")
        return optimizer(learning_rate=learning_rate)
    if isinstance(optimizer, train.Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if learning_rate is None else optimizer(learning_rate)
        if isinstance(made, train.Optimizer):
            return made
        raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
    raise ValueError(
        f"Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or "
        f"function with one argument. Got {optimizer}."
    )


def optimize_loss(
    loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None,
    clip_gradients=None, learning_rate_decay_fn=None, update_ops=None, variables=None,
    name: str | None = None, summaries=None, colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
):  # fmt: skip
    """An operation that moves the variables against the gradients of `loss`, and gives the loss.

    Args:
      optimizer: a name of OPTIMIZER_CLS_NAMES, a class, an optimizer, or a function of the learning rate.
      gradient_noise_scale: the deviation of noise added to gradients.
      gradient_multipliers: {variable or its name: a factor}.
      clip_gradients: the largest global norm, or a function of the pairs.
      update_ops: what is to run first; None: the collection of updates.

    Raises ValueError for an unknown optimizer.
    """
    loss = convert_to_tensor(loss)
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = list(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if updates:
            with control_dependencies(updates):
                loss = identity(loss)
        summaries = _checked_summaries(summaries)
        rate = _rate(learning_rate, learning_rate_decay_fn, global_step)
        if rate is not None and "learning_rate" in summaries:
            summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate)
        pairs = opt.compute_gradients(
            loss, get_collection(GraphKeys.TRAINABLE_VARIABLES) if variables is None else variables
        )
        if gradient_noise_scale is not None:
            pairs = [
                (g if g is None else g + truncated_normal(shape(g)) * gradient_noise_scale, v)
                for g, v in pairs
            ]
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        norms = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if norms:
            summary.scalar("global_norm/gradient_norm", global_norm([g for g, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in summaries:
            summary.scalar("loss", loss)
        _summarize(pairs, summaries)
        if clip_gradients is not None and norms:
            summary.scalar("global_norm/clipped_gradient_norm", global_norm([g for g, _ in pairs]))
        step = opt.apply_gradients(
            pairs, global_step=global_step if increment_global_step else None, name="train"
        )
        with control_dependencies([step]):
            return identity(loss)


def _rate(learning_rate, decay, global_step):
    """The learning rate of the step: a variable for a number; None if none is given."""
    if learning_rate is None:
        return None
    rate = learning_rate
    if isinstance(learning_rate, (int, float)):
        if learning_rate < 0.0:
            raise ValueError(f"Invalid learning_rate {learning_rate}.")
        rate = Variable(float(learning_rate), trainable=False, name="learning_rate")
    if decay is None:
        return rate
    if global_step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    return decay(rate, global_step)


def _checked_summaries(summaries):
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    unknown = [each for each in summaries if each not in OPTIMIZER_SUMMARIES]
    if unknown:
        raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {unknown[0]}.")
    return summaries


def _clipped(pairs, clip_gradients):
    if isinstance(clip_gradients, float):
        clipped, _ = clip_by_global_norm([g for g, _ in pairs], clip_gradients)
        return list(zip(clipped, [v for _, v in pairs]))
    if callable(clip_gradients):
        return clip_gradients(pairs)
    if clip_gradients is not None:
        raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
    return pairs


def _summarize(pairs, summaries):
    for g, v in pairs:
        values = g.values if isinstance(g, IndexedSlices) else g
        if values is not None and "gradients" in summaries:
            summary.histogram(f"gradients/{v.op.name}", values)
        if values is not None and "gradient_norm" in summaries:
            summary.scalar(f"gradient_norm/{v.op.name}", global_norm([values]))


def _multiplied(pairs, multipliers):
    found = []
    for g, v in pairs:
        factor = next((m for key, m in multipliers.items() if key is v or key == getattr(v, "name", None)), None)
        if factor is not None and g is not None:
            if isinstance(g, IndexedSlices):
                g = IndexedSlices(g.values * factor, g.indices, g.dense_shape)
            else:
                g = g * convert_to_tensor(np.asarray(factor), g.dtype) if not hasattr(factor, "dtype") else g * factor
        found.append((g, v))
    return found


def adaptive_clipping_fn(
    std_factor: float = 2.0, decay: float = 0.95, static_max_norm=None, global_step: Variable | None = None,
    report_summary: bool = False, epsilon: float = 1e-8, name: str | None = None,
):  # fmt: skip
    """A function that clips gradients to a norm that follows their own, some deviations of its logarithm above."""
    def clip(pairs):
        norm = global_norm([g for g, _ in pairs])
        with variable_scope(name, "AdaptiveMaxNorm", [norm]):
            log_norm = log(norm + epsilon)
            means = []
            for title, value in (("mean", log_norm), ("sq_mean", square(log_norm))):
                moving = Variable(0.0, trainable=False, name=title)
                rate = decay
                if global_step is not None:
                    count = cast(global_step, "float32")
                    rate = minimum(decay, count / (count + 1.0))
                means.append(
                    convert_to_tensor(assign_moving_average(moving, value, rate, zero_debias=False))
                )
            mean, square_mean = means
            spread = sqrt(maximum(epsilon, square_mean - square(mean)))
            limit = exp(mean + std_factor * spread)
            if static_max_norm is not None:
                limit = minimum(limit, static_max_norm)
            if report_summary:
                summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
            factor = where(norm < limit, cast(1.0, norm.dtype), exp(mean) / norm)
        return [
            (
                IndexedSlices(g.values * factor, g.indices, g.dense_shape)
                if isinstance(g, IndexedSlices)
                else (None if g is None else g * factor),
                v,
            )
            for g, v in pairs
        ]

    return clip
