"""The gradients of losses for optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.keras.optimizers import schedules
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import Variable


@public_methods
class LossGradients:
    """The part of Optimizer that takes gradients."""

    # Of the other parts:
    apply_gradients: Any
    _decay: Any
    _hyper: Any
    _hyper_variable: Any

    def minimize(
        self, loss: Callable[..., Any] | Tensor, var_list, grad_loss=None, name: str | None = None, tape=None
    ):
        """Make one step down a loss.

        Args:
          loss: a function without arguments, or a tensor computed under `tape`.
          var_list: the variables to change, a list or a function that gives one.
          grad_loss: the gradient that the loss itself has; None for 1.
          name: accepted as in Keras 2.
          tape: the tape under which a tensor was computed.

        Returns:
          `iterations`, after the step.

        Raises:
          ValueError: for a tensor without a tape.

        >>> x = tf.Variable(3.0)
        >>> _ = tf.keras.optimizers.SGD(0.1).minimize(lambda: x ** 2, [x])
        >>> print(f"{x.numpy():.2f}")
        2.40
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list, grad_loss, tape), name)

    def compute_gradients(self, loss: Callable[..., Any] | Tensor, var_list, grad_loss=None, tape=None):
        """Compute the gradients of a loss.

        Args:
          loss: a function without arguments, or a tensor computed under `tape`.
          var_list: the variables, a list or a function that gives one.
          grad_loss: the gradient that the loss itself has; None for 1.
          tape: the tape under which a tensor was computed.

        Returns:
          A list of (gradient, variable) pairs.

        Raises:
          ValueError: for a tensor without a tape.
        """
        if not callable(loss) and tape is None:
            raise ValueError(
                f"`tape` is required when a `Tensor` loss is passed. Received: loss={loss}, tape={tape}."
            )
        if callable(loss):
            with tape or GradientTape() as tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
        trained = nest.flatten(var_list() if callable(var_list) else var_list)
        return list(zip(tape.gradient(loss, trained, grad_loss), trained))

    def _compute_gradients(self, loss: Tensor, var_list: Sequence[Any], grad_loss=None, tape=None):
        return self.compute_gradients(loss, var_list, grad_loss, tape)

    def _get_hyper(self, name: str, dtype: DType | None = None):
        """A setting: a variable, a function or a schedule; of another dtype if one is given."""
        if name == "decay" and name not in self._hyper:
            value = convert_to_tensor(self._decay, dtypes.float32)
        else:
            value = self._hyper_variable(name)
        if isinstance(value, schedules.LearningRateSchedule):
            return value
        value = value() if callable(value) and not isinstance(value, Variable) else value
        return value if dtype is None else cast(value, dtype)

    def get_gradients(self, loss, params):
        """Compute the gradients of a function.

        Args:
          loss: a function without arguments.
          params: the variables.

        Returns:
          A list of gradients, None for variables that the result does not depend on.
        """
        with GradientTape() as tape:
            tape.watch(params)
            value = loss()
        return tape.gradient(value, params)
