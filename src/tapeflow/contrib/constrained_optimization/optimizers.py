"""Optimizers of constrained problems: a player lowers a mix of objective and constraints, another chooses the mix."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.constrained_optimization.projections import (
    maximal_eigenvector,
    onto_log_stochastic,
    onto_multipliers,
    onto_stochastic,
)
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.public import public_methods

if TYPE_CHECKING:
    from tapeflow.train.gradient_descent import GradientDescentOptimizer

_GATE_OP = v1.train.Optimizer.GATE_OP


@public_methods
class ConstrainedOptimizer(abc.ABC):
    """Base of optimizers of `ConstrainedMinimizationProblem`s.

    Args:
      optimizer: what minimizes the objective: a `tf.train.Optimizer`.
    """

    def __init__(self, optimizer: GradientDescentOptimizer):
        self._optimizer = optimizer

    @property
    def optimizer(self):
        """What minimizes the objective."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self, minimization_problem, global_step: Tensor | None = None, var_list: Sequence[Any] | None = None,
        gate_gradients=_GATE_OP, aggregation_method=None, colocate_gradients_with_ops: bool = False,
        name: str | None = None, grad_loss: Tensor | None = None,
    ):  # fmt: skip
        """The operation of a step."""

    def minimize_constrained(
        self, minimization_problem, global_step=None, var_list=None, gate_gradients=_GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None,
    ):  # fmt: skip
        """The operation of a step that heeds the constraints; see `tf.train.Optimizer.minimize`."""
        with v1.control_dependencies(list(minimization_problem.pre_train_ops or ())):
            return self._minimize_constrained(
                minimization_problem, global_step, var_list, gate_gradients, aggregation_method,
                colocate_gradients_with_ops, name, grad_loss,
            )  # fmt: skip

    def minimize_unconstrained(
        self, minimization_problem, global_step: Variable | None = None, var_list: Sequence[Any] | None = None,
        gate_gradients: int = _GATE_OP, aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None, grad_loss: TensorLike | None = None,
    ):  # fmt: skip
        """The operation of a step that heeds the objective only; see `tf.train.Optimizer.minimize`."""
        with v1.control_dependencies(list(minimization_problem.pre_train_ops or ())):
            return self.optimizer.minimize(
                minimization_problem.objective, global_step, var_list, gate_gradients, aggregation_method,
                colocate_gradients_with_ops, name, grad_loss,
            )  # fmt: skip

    def minimize(
        self, minimization_problem, unconstrained_steps=None, global_step: Variable | None = None,
        var_list: Sequence[Any] | None = None, gate_gradients: int = _GATE_OP, aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: TensorLike | None = None,
    ):  # fmt: skip
        """The operation of a step.

        Args:
          minimization_problem: a ConstrainedMinimizationProblem.
          unconstrained_steps: as long as `global_step` is below, constraints are not heeded.

        See `tf.train.Optimizer.minimize` for the others. Raises ValueError for `unconstrained_steps` without a
        `global_step`.
        """
        rest = (
            global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss,
        )  # fmt: skip
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, *rest)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        most = v1.convert_to_tensor(unconstrained_steps)
        return v1.cond(
            v1.cast(global_step, most.dtype) < most,
            lambda: self.minimize_unconstrained(minimization_problem, *rest),
            lambda: self.minimize_constrained(minimization_problem, *rest),
        )


class _RegretOptimizer(ConstrainedOptimizer):
    """An optimizer with a state that chooses how much each constraint counts."""

    _state_name = ""

    def __init__(
        self, optimizer: GradientDescentOptimizer, constraint_optimizer: GradientDescentOptimizer | None = None
    ):
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self):
        """What changes the state; None for the same optimizer."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints):
        """The first value of the state."""

    @abc.abstractmethod
    def _loss_and_gradient(self, state, objective, constraints, proxies):
        """The mix, and the gradient of what the state is to make small."""

    @abc.abstractmethod
    def _projected(self, state):
        """The state that is allowed and nearest."""

    def _minimize_constrained(
        self, minimization_problem, global_step: TensorLike | None = None, var_list: Sequence[Any] | None = None,
        gate_gradients: int = _GATE_OP, aggregation_method=None, colocate_gradients_with_ops: bool = False,
        name: str | None = None, grad_loss: Tensor | None = None,
    ):  # fmt: skip
        objective, constraints = minimization_problem.objective, minimization_problem.constraints
        proxies = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else proxies
        if len({x.dtype.base_dtype for x in (objective, constraints, proxies)}) > 1:
            raise ValueError("objective, constraints and proxy_constraints must have the same dtype")
        count = minimization_problem.num_constraints
        state = v1.Variable(lambda: self._initial_state(count), trainable=False, name=self._state_name)
        loss, gradient = self._loss_and_gradient(
            state, objective, v1.reshape(constraints, [count]), v1.reshape(proxies, [count])
        )
        pairs = self.optimizer.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        own = [(gradient, state)]
        if self.constraint_optimizer is None:
            updates = [self.optimizer.apply_gradients([*pairs, *own], name="update")]
        else:
            with v1.control_dependencies([g for g, _ in (*pairs, *own) if g is not None]):
                updates = [
                    self.optimizer.apply_gradients(pairs, name="update"),
                    self.constraint_optimizer.apply_gradients(own, name="optimizer_state_update"),
                ]
        with v1.control_dependencies(updates):
            project = v1.assign(state, self._projected(state.read_value()))
            if global_step is None:
                return v1.group(project, name=name)
            return v1.group(project, v1.assign_add(global_step, 1), name=name)


class AdditiveExternalRegretOptimizer(_RegretOptimizer):
    """The other player adds to the weight of each constraint what it is violated by.

    Args:
      optimizer: what minimizes.
      constraint_optimizer: what changes the weights; by default the same.
      maximum_multiplier_radius: the most that all weights are together; None for no limit.

    Raises:
      ValueError: for a limit that is not positive.
    """

    _state_name = "external_regret_optimizer_state"

    def __init__(
        self, optimizer: GradientDescentOptimizer, constraint_optimizer: GradientDescentOptimizer | None = None,
        maximum_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int):
        return v1.zeros([num_constraints])

    def _loss_and_gradient(self, state: Variable, objective: Tensor, constraints: Tensor, proxies: Tensor):
        mixed = v1.reduce_sum(v1.cast(state, proxies.dtype) * proxies)
        return objective + mixed, -v1.cast(constraints, state.dtype.base_dtype)

    def _projected(self, state: Tensor):
        return onto_multipliers(state, self._radius) if self._radius else v1.maximum(state, 0.0)


class _SwapRegretOptimizer(_RegretOptimizer):
    """The state is a matrix: how much of the weight of one goes to another. The weights are those that stay."""

    _state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state):
        """The matrix, whose columns add up to one."""

    def _loss_and_gradient(self, state: Variable, objective: Tensor, constraints: Tensor, proxies: Tensor):
        weights = v1.abs(maximal_eigenvector(self._stochastic_matrix(state)))
        weights /= v1.reduce_sum(weights)
        everything = v1.concat([v1.expand_dims(objective, 0), proxies], 0)
        loss = v1.reduce_sum(v1.cast(weights, everything.dtype) * everything)
        violated = v1.concat([v1.zeros([1], constraints.dtype), constraints], 0)
        return loss, -v1.cast(violated, weights.dtype)[:, None] * weights[None]


class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """The matrix changes by steps, and is made stochastic by the nearest one; see `AdditiveExternalRegretOptimizer`."""

    def _initial_state(self, num_constraints: int):
        size = num_constraints + 1
        return v1.concat([v1.ones([1, size]), v1.zeros([size - 1, size])], 0)

    def _stochastic_matrix(self, state: Variable):
        return v1.convert_to_tensor(state)

    def _projected(self, state: Tensor):
        return onto_stochastic(state)


class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """The logarithm of the matrix changes by steps.

    Args:
      optimizer: what minimizes.
      constraint_optimizer: what changes the matrix; by default the same.
      minimum_multiplier_radius: the least that all constraints count together, in (0, 1).
      initial_multiplier_radius: what they count first; by default the least.

    Raises:
      ValueError: for other numbers.
    """

    def __init__(
        self, optimizer: GradientDescentOptimizer, constraint_optimizer: GradientDescentOptimizer | None = None,
        minimum_multiplier_radius: float = 1e-3, initial_multiplier_radius=None,
    ):  # fmt: skip
        super().__init__(optimizer, constraint_optimizer)
        least = minimum_multiplier_radius
        if not 0.0 < least < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        first = least if initial_multiplier_radius is None else initial_multiplier_radius
        if not least <= first <= 1.0:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]")
        self._least, self._first = least, first

    def _initial_state(self, num_constraints: int):
        size = num_constraints + 1
        one, zero = math.log(1.0 - self._first * (size - 1) / size), math.log(self._first / size)
        return v1.concat([v1.fill([1, size], one), v1.fill([size - 1, size], zero)], 0)

    def _stochastic_matrix(self, state: Variable):
        return v1.exp(state)

    def _projected(self, state: Any):
        return v1.maximum(onto_log_stochastic(state), math.log(self._least / state.shape.as_list()[0]))
