"""Optimizers that keep weights small, as Wasserstein GANs need it."""

from tapeflow.contrib.opt import VariableClippingOptimizer


def clip_variables(optimizer, variables, weight_clip):
    """An optimizer that clips the norms of variables to `weight_clip` after each step. Raises ValueError below 0."""
    if weight_clip < 0:
        raise ValueError(f"`discriminator_weight_clip` must be positive. Instead, was {weight_clip}")
    return VariableClippingOptimizer(
        optimizer, {variable: [] for variable in variables}, weight_clip, use_locking=True,
        colocate_clip_ops_with_vars=True,
    )  # fmt: skip


def clip_discriminator_weights(optimizer, model, weight_clip):
    """`clip_variables` of a model's discriminator."""
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)
