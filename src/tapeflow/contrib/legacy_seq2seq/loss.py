"""Losses of sequences that are lists of tensors, one for each step."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.loss import sparse_softmax_cross_entropy_with_logits

__all__ = ["sequence_loss", "sequence_loss_by_example"]


def sequence_loss_by_example(
    logits: Any, targets: Any, weights, average_across_timesteps: bool = True, softmax_loss_function=None,
    name: str | None = None,
):
    """The weighted cross-entropy of each sequence, [batch]; lists of one tensor a step.

    Raises ValueError for lists of different lengths.
    """
    if not len(targets) == len(logits) == len(weights):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
            f"{len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(
                    labels=reshape(target, [-1]), logits=logit
                )
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        result = add_n(losses)
        if average_across_timesteps:
            result /= add_n(list(weights)) + 1e-12  # sequences without a step that counts
        return result


def sequence_loss(
    logits: Any, targets: Any, weights, average_across_timesteps: bool = True, average_across_batch: bool = True,
    softmax_loss_function=None, name: str | None = None,
):  # fmt: skip
    """sequence_loss_by_example, summed over the batch or averaged: a scalar."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps, softmax_loss_function
            )
        )
        if average_across_batch:
            cost /= cast(shape(targets[0])[0], cost.dtype)
        return cost
