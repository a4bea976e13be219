"""Optimizers that keep weights small, as Wasserstein GANs need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow.contrib.opt import VariableClippingOptimizer
from tapeflow.core.annotations import Variable

if TYPE_CHECKING:
    from tapeflow.contrib.gan.models import GANModel
    from tapeflow.train.gradient_descent import GradientDescentOptimizer


def clip_variables(optimizer: GradientDescentOptimizer, variables: Sequence[Variable], weight_clip: float):
    """An optimizer that clips the norms of variables to `weight_clip` after each step. Raises ValueError below 0."""
    if weight_clip < 0:
        raise ValueError(f"`discriminator_weight_clip` must be positive. Instead, was {weight_clip}")
    return VariableClippingOptimizer(
        optimizer, {variable: [] for variable in variables}, weight_clip, use_locking=True,
        colocate_clip_ops_with_vars=True,
    )  # fmt: skip


def clip_discriminator_weights(optimizer: GradientDescentOptimizer, model: GANModel, weight_clip: float):
    """`clip_variables` of a model's discriminator."""
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)
