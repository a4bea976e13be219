"""Training of GANs: the operations of both parts, and the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib import training
from tapeflow.contrib.gan.models import CycleGANModel, GANTrainOps, GANTrainSteps
from tapeflow.contrib.slim.learning import train_step
from tapeflow.core.annotations import TensorLike, Variable
from tapeflow.train import SessionRunHook

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session
    from tapeflow.train.adaptive import AdamOptimizer
    from tapeflow.train.gradient_descent import GradientDescentOptimizer
    from tapeflow.train.session_run_hook import SessionRunContext

_ONE_EACH = GANTrainSteps(1, 1)


def _update_ops(kwargs: dict[str, Any], generator_scope: str, discriminator_scope: str, check: bool):
    """The updates of each part, of those given or collected. Raises ValueError if some belong to neither."""
    key = v1.GraphKeys.UPDATE_OPS
    wanted = kwargs.pop("update_ops", None)
    wanted = v1.get_collection(key) if wanted is None else wanted
    of_generator = v1.get_collection(key, generator_scope)
    of_discriminator = v1.get_collection(key, discriminator_scope)
    unused = set(wanted) - set(of_generator) - set(of_discriminator)
    if check and unused:
        raise ValueError(f"There are unused update ops: {unused}")
    wanted = set(wanted)
    return [op for op in of_generator if op in wanted], [op for op in of_discriminator if op in wanted]


def _synchronized(
    optimizer: AdamOptimizer | GradientDescentOptimizer, step, name: str, is_chief: bool, updates, hooks
):
    """The step that a SyncReplicasOptimizer counts, with its hook and update added; None for other optimizers."""
    if not isinstance(optimizer, v1.train.SyncReplicasOptimizer):
        return None
    own = v1.get_variable(
        f"dummy_global_step_{name}", [], step.dtype.base_dtype, v1.zeros_initializer(), trainable=False,
        collections=[v1.GraphKeys.GLOBAL_VARIABLES],
    )  # fmt: skip
    updates.append(own.assign(step))
    hooks.append(optimizer.make_session_run_hook(is_chief))
    return own


def gan_train_ops(
    model, loss, generator_optimizer, discriminator_optimizer, check_for_unused_update_ops=True, is_chief=True,
    **kwargs,
):  # fmt: skip
    """The GANTrainOps of a model and its loss; of a CycleGANModel, pairs of operations.

    Other arguments are those of `tf.contrib.training.create_train_op`. Raises ValueError for update operations that
    belong to none of the two parts.
    """
    if isinstance(model, CycleGANModel):
        options = (generator_optimizer, discriminator_optimizer, check_for_unused_update_ops, is_chief)
        with v1.name_scope("cyclegan_x2y_train"):
            x2y = gan_train_ops(model.model_x2y, loss.loss_x2y, *options, **kwargs)
        with v1.name_scope("cyclegan_y2x_train"):
            y2x = gan_train_ops(model.model_y2x, loss.loss_y2x, *options, **kwargs)
        return GANTrainOps(
            (x2y.generator_train_op, y2x.generator_train_op),
            (x2y.discriminator_train_op, y2x.discriminator_train_op),
            v1.train.get_or_create_global_step().assign_add(1),
            [*x2y.train_hooks, *y2x.train_hooks],
        )
    # Both parts make steps in turn: what counts is a step of both.
    step = v1.train.get_or_create_global_step()
    count = step.assign_add(1)
    updates = _update_ops(
        kwargs, model.generator_scope.name, model.discriminator_scope.name, check_for_unused_update_ops
    )
    hooks, made = [], []
    for name, optimizer, own_updates in (
        ("generator", generator_optimizer, updates[0]),
        ("discriminator", discriminator_optimizer, updates[1]),
    ):
        own_step = _synchronized(optimizer, step, name, is_chief, own_updates, hooks)
        with v1.name_scope(f"{name}_train"):
            made.append(
                training.create_train_op(
                    total_loss=getattr(loss, f"{name}_loss"), optimizer=optimizer, global_step=own_step,
                    variables_to_train=getattr(model, f"{name}_variables"), update_ops=own_updates, **kwargs,
                )
            )  # fmt: skip
    return GANTrainOps(*made, count, hooks)


class RunTrainOpsHook(SessionRunHook):
    """Runs operations some times before each run of a session."""

    def __init__(self, train_ops: TensorLike, train_steps: int):
        self._train_ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context: SessionRunContext):
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(train_steps: GANTrainSteps = _ONE_EACH):
    """A function of GANTrainOps that returns hooks: the generator's steps, then the discriminator's."""

    def get_hooks(train_ops: GANTrainOps):
        return [
            RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
            RunTrainOpsHook(train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
            *train_ops.train_hooks,
        ]

    return get_hooks


def get_joint_train_hooks(train_steps: GANTrainSteps = _ONE_EACH):
    """As `get_sequential_train_hooks`, where steps of both parts run at once as far as there are as many."""
    generator, discriminator = train_steps
    both = min(generator, discriminator)

    def get_hooks(train_ops: GANTrainOps):
        one, other = train_ops.generator_train_op, train_ops.discriminator_train_op
        return [
            RunTrainOpsHook([one, other], both),
            RunTrainOpsHook(one, generator - both),
            RunTrainOpsHook(other, discriminator - both),
            *train_ops.train_hooks,
        ]

    return get_hooks


_IN_TURN = get_sequential_train_hooks()


def gan_train(
    train_ops: GANTrainOps, logdir: str, get_hooks_fn: Callable[..., Any] = _IN_TURN, master: str = "",
    is_chief: bool = True, scaffold=None, hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None, save_checkpoint_secs: int = 600, save_summaries_steps: int = 100,
    config=None,
):  # fmt: skip
    """Trains until a hook stops it; returns the number of the last step. See `tf.contrib.training.train`."""
    return training.train(
        train_ops.global_step_inc_op, logdir, master=master, is_chief=is_chief, scaffold=scaffold,
        hooks=[*(hooks or ()), *get_hooks_fn(train_ops)], chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs, save_summaries_steps=save_summaries_steps, config=config,
    )  # fmt: skip


def get_sequential_train_steps(train_steps: GANTrainSteps = _ONE_EACH):
    """A `train_step_fn` for `tf.contrib.slim.learning.train`: the generator's steps, then the discriminator's."""

    def step(sess: Session, train_ops: GANTrainOps, global_step: Variable, train_step_kwargs: dict[str, Any]):
        kwargs = dict(train_step_kwargs)
        stop = kwargs.pop("should_stop", None)  # asked when the step has been counted
        total = 0
        for operation, number in (
            (train_ops.generator_train_op, train_steps.generator_train_steps),
            (train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
        ):
            for _ in range(number):
                total += train_step(sess, operation, global_step, kwargs)[0]
        sess.run(train_ops.global_step_inc_op)
        return total, sess.run(stop) if stop is not None else False

    return step
