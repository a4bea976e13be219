"""Training that prunes: the loop of `slim.learning` with masks updated after each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.contrib.slim import learning

__all__ = ["train"]


def train(
    train_op: Any, logdir: Any, mask_update_op: Any, train_step_fn: Callable[..., Any] = learning.train_step,
    **kwargs: Any,
):  # fmt: skip
    """Train, and update the masks after each step; the other arguments are those of `slim.learning.train`.

    Args:
      train_op: computes the loss and makes a step.
      logdir: the folder of checkpoints.
      mask_update_op: updates the masks, as `Pruning.conditional_mask_update_op()` does.
      train_step_fn: what makes a step; see `slim.learning.train_step`.

    Returns:
      The last loss.
    """

    def step(session: Any, *args: Any):
        found = train_step_fn(session, *args)
        session.run(mask_update_op)
        return found

    return learning.train(train_op, logdir, train_step_fn=step, **kwargs)
