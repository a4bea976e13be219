"""Optimizers around other optimizers: some variables clipped after each step, others left alone without gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import train
from tapeflow.core import context
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.control.flow import cond_v1
from tapeflow.ops.control.grouping import control_dependencies, group, no_op
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math.clip import clip_by_global_norm, clip_by_norm, global_norm
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.reductions import count_nonzero
from tapeflow.train.sparse import is_sparse

if TYPE_CHECKING:
    from tapeflow.train.gradient_descent import GradientDescentOptimizer

__all__ = ["MultitaskOptimizerWrapper", "VariableClippingOptimizer", "clip_gradients_by_global_norm"]


def _all_zeros(grad):
    return equal(count_nonzero(grad.values if is_sparse(grad) else grad), 0)


def clip_gradients_by_global_norm(gradients_variables: Sequence[Any], clip_norm: float = 20.0):
    """(pairs whose gradients have at most that norm together, the norm that they had)."""
    gradients, variables = zip(*gradients_variables)
    norm = global_norm([grad for grad in gradients if grad is not None])
    clipped, _ = clip_by_global_norm(list(gradients), clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm


class MultitaskOptimizerWrapper:
    """An optimizer that leaves a variable and its slots alone where the gradient has nothing but zeros.

    So the variables of a task that a batch does not belong to do not move by momentum. Raises TypeError for what is
    no optimizer of 1.x.
    """

    def __init__(self, opt):
        if not isinstance(opt, train.Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        apply = opt._apply

        def guarded(pairs: Sequence[Any]):
            for grad, var in pairs:
                self._guard(apply, grad, var)

        opt._apply = guarded

    @staticmethod
    def _guard(apply: Callable[..., Any], grad: Tensor, var: Variable):
        zeros = _all_zeros(grad)
        if context.executing_eagerly():
            if not zeros:
                apply([(grad, var)])
            return

        def moved():
            with control_dependencies(context.current_graph().effects_of(lambda: apply([(grad, var)]))):
                return no_op()

        cond_v1(zeros, no_op, moved)

    def __getattr__(self, name: str):
        return getattr(self._opt, name)


class VariableClippingOptimizer(train.Optimizer):
    """Another optimizer; after its steps some variables are clipped to a norm along some axes.

    Args:
      opt: the optimizer.
      vars_to_clip_dims: the axes whose norm is clipped, by variable.
      max_norm: the norm.
      use_locking: accepted for compatibility.
      colocate_clip_ops_with_vars: accepted for compatibility.
      name: the name of the scope of the operations.
    """

    def __init__(
        self, opt: GradientDescentOptimizer, vars_to_clip_dims: dict[Any, Any], max_norm: float,
        use_locking: bool = False, colocate_clip_ops_with_vars: bool = False, name: str = "VariableClipping",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        self._axes = {id(var): (var, list(axes)) for var, axes in vars_to_clip_dims.items()}

    def compute_gradients(self, *args, **kwargs):
        """See Optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        """See Optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """See Optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Sequence[Any], global_step: TensorLike | None = None, name: str | None = None
    ):
        """See Optimizer."""
        pairs = list(grads_and_vars)
        with context.name_scope(name or self._name):
            step = self._opt.apply_gradients(pairs, global_step=global_step)
            with control_dependencies([] if step is None else [step]):
                clipped = [self._clip(grad, var) for grad, var in pairs if grad is not None and id(var) in self._axes]
            return group(*([] if step is None else [step]), *clipped)

    def _clip(self, grad: TensorLike, var):
        axes = self._axes[id(var)][1]
        if not isinstance(grad, IndexedSlices) or 0 in axes:
            value = var.read_value()
            return var.assign_sub(value - clip_by_norm(value, self._max_norm, axes))
        indices = unique(grad.indices)[0]
        rows = gather(var, indices)
        return var.scatter_sub(IndexedSlices(rows - clip_by_norm(rows, self._max_norm, axes), indices))
