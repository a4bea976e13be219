"""Operations that train, and loops that run them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import train as _train
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.build.collections import GraphKeys, get_collection
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.math.check import check_numerics
from tapeflow.ops.math.clip import clip_by_norm, global_norm
from tapeflow.train.global_step import get_or_create_global_step
from tapeflow.v1 import summary

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op",
    "multiply_gradients", "train",
]  # fmt: skip
_USE_GLOBAL_STEP = 0


def add_gradients_summaries(grads_and_vars):
    """A histogram and the norm of each gradient, as summaries."""
    found = []
    for grad, var in grads_and_vars:
        if grad is not None:
            values = grad.values if isinstance(grad, IndexedSlices) else grad
            found.append(summary.histogram(f"{var.op.name}_gradient", values))
            found.append(summary.scalar(f"{var.op.name}_gradient_norm", global_norm([values])))
    return found


def clip_gradient_norms(gradients_to_variables, max_norm):
    """Pairs whose gradients have at most that norm, each."""
    found = []
    for grad, var in gradients_to_variables:
        if grad is not None:
            if isinstance(grad, IndexedSlices):
                grad = IndexedSlices(clip_by_norm(grad.values, max_norm), grad.indices, grad.dense_shape)
            else:
                grad = clip_by_norm(grad, max_norm)
        found.append((grad, var))
    return found


def clip_gradient_norms_fn(max_norm):
    """`clip_gradient_norms` to that norm, as a function of the pairs."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """Pairs with the gradients of some variables multiplied: {variable or its name: factor}.

    Raises ValueError for no factors, and for a variable without a gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    found = []
    for grad, var in grads_and_vars:
        names = (var.op.name,)
        factor = next(
            (f for key, f in gradient_multipliers.items() if key is var or key in names), None
        ) if grad is not None or var.op.name in gradient_multipliers else None  # fmt: skip
        if factor is not None:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            if isinstance(grad, IndexedSlices):
                grad = IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
            else:
                grad = grad * factor
        found.append((grad, var))
    return found


def create_train_op(
    total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
    transform_grads_fn=None, summarize_gradients: bool = False, gate_gradients: int = 1,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False, check_numerics: bool = True,
):  # fmt: skip
    """An operation that moves the variables against the gradients of the loss, and gives the loss.

    Args:
      global_step: what counts the steps; by default the graph's, None for none.
      update_ops: what runs first; by default the collection of updates.
      transform_grads_fn: a function of the pairs.
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
    if updates:
        with control_dependencies(list(updates)):
            total_loss = identity(total_loss)
    if variables_to_train is None:
        variables_to_train = get_collection(GraphKeys.TRAINABLE_VARIABLES)
    pairs = optimizer.compute_gradients(
        total_loss, variables_to_train, gate_gradients=gate_gradients,
        aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
    )  # fmt: skip
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        add_gradients_summaries(pairs)
    step = optimizer.apply_gradients(pairs, global_step=global_step)
    if check_numerics:
        total_loss = _checked(total_loss)
    with control_dependencies([step if step is not None else group()]):
        train_op = identity(total_loss, name="train_op")

    found = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if not any(each is train_op for each in found):
        found.append(train_op)
    return train_op


def _checked(loss):
    return check_numerics(loss, "LossTensor is inf or nan")


def train(
    train_op, logdir, master: str = "", is_chief: bool = True, scaffold=None, hooks: Sequence[Any] | None = None,
    chief_only_hooks=None, save_checkpoint_secs: int = 600, save_summaries_steps: int = 100, config=None,
    max_wait_secs: int = 7200, run_metadata=None,
):  # fmt: skip
    """Runs the operation until a hook wants to stop; returns the loss of the last step.

    Raises ValueError where there is a folder but neither hooks nor a scaffold, so that nothing would stop it.
    """
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None when save_summaries_steps or save_checkpoint_secs is set.")
    session = _train.MonitoredTrainingSession(
        master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
        chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs,
    )  # fmt: skip
    loss = None
    with session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
