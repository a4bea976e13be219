"""The loss of sequences."""

from __future__ import annotations

from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.loss import sparse_softmax_cross_entropy_with_logits

__all__ = ["sequence_loss"]


def sequence_loss(
    logits: TensorLike, targets: TensorLike, weights: TensorLike, average_across_timesteps: bool = True,
    average_across_batch: bool = True, sum_over_timesteps: bool = False, sum_over_batch: bool = False,
    softmax_loss_function=None, name: str | None = None,
):  # fmt: skip
    """The weighted cross-entropy of logits [batch, time, classes] and targets [batch, time].

    Averages are over the weights; sums are divided by how many have one. Raises ValueError for other ranks.
    """
    logits, targets = convert_to_tensor(logits), convert_to_tensor(targets)
    weights = convert_to_tensor(weights)
    if logits.shape.rank != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if targets.shape.rank != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if weights.shape.rank != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = shape(logits)[2]
        flat, wanted = reshape(logits, [-1, classes]), reshape(targets, [-1])
        if softmax_loss_function is None:
            losses = sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=flat)
        else:
            losses = softmax_loss_function(labels=wanted, logits=flat)
        losses = losses * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return reduce_sum(losses) / (reduce_sum(weights) + 1e-12)
        if sum_over_timesteps and sum_over_batch:
            counted = cast(reduce_sum(cast(weights != 0, "int32")), losses.dtype)
            return reduce_sum(losses) / (counted + 1e-12)
        losses = reshape(losses, shape(logits)[:2])
        if average_across_timesteps or sum_over_timesteps:
            losses = reduce_sum(losses, [1]) / (reduce_sum(weights, [1]) + 1e-12)
        elif average_across_batch or sum_over_batch:
            losses = reduce_sum(losses, [0]) / (reduce_sum(weights, [0]) + 1e-12)
        return losses
