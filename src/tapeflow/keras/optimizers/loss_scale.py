"""`LossScaleOptimizer`: an optimizer for losses that are scaled up, so that half-precision gradients do not vanish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow.checkpoint.following import look_again, waiting
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.keras.old_names import takes_old_names
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.slots import Variables
from tapeflow.keras.optimizers.variables import in_order
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.flow import cond
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.float_kinds import is_finite
from tapeflow.ops.math.reductions import reduce_all

if TYPE_CHECKING:
    from tapeflow.keras.optimizers.rules import SGD


# What optimizers take besides, and only the inner one may be given: by name, with the values that change nothing.
_OF_INNER = {
    "weight_decay": None, "clipnorm": None, "global_clipnorm": None, "clipvalue": None, "use_ema": False,
    "ema_momentum": 0.99, "ema_overwrite_frequency": None, "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}  # fmt: skip


def _check_settings_of_inner(settings: dict[str, Any]):
    """Takes settings out that change nothing. Raises ValueError for others, which the inner optimizer may be given."""
    for name, default in _OF_INNER.items():
        if settings.pop(name, default) != default:
            raise ValueError(
                f"LossScaleOptimizer does not support `{name}`. Instead, set `{name}` on the `inner_optimizer`."
            )
    if settings:
        raise ValueError(f"LossScaleOptimizer does not support arguments: `{'`, `'.join(settings)}`.")


@public_methods
class LossScaleOptimizer(Optimizer):
    """Scales losses, unscales gradients, and skips updates by gradients that are not finite.

    Half-precision gradients of scaled losses do not vanish. `fit` does so by itself under the policy "mixed_float16".

    Args:
      inner_optimizer: the optimizer that updates variables.
      initial_scale: the scale at first, halved at every update that is skipped; None for 2^15.
      dynamic_growth_steps: the number of updates in a row after which the scale doubles; None for 2000.
      name: the prefix of the names of the variables that the optimizer makes.
      dynamic: False keeps the scale as it is.
      **kwargs: `optimizer`, the name that Keras 2 has for the first argument, and arguments of `Optimizer`.

    Raises:
      TypeError: for an `inner_optimizer` that is no optimizer, or scales losses itself.
    """

    def __init__(
        self, inner_optimizer: LossScaleOptimizer | SGD | None = None, initial_scale: float | None = None,
        dynamic_growth_steps: int | None = None, name: str | None = None, dynamic: bool = True, **kwargs,
    ):
        if isinstance(initial_scale, bool):  # the order of arguments before Keras 3
            initial_scale, dynamic = None, initial_scale
        kwargs.pop("loss_scale", None)
        inner_optimizer = kwargs.pop("optimizer", inner_optimizer)
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError(
                f'"inner_optimizer" must be an instance of `tf.keras.optimizers.Optimizer`, but got: '
                f"{inner_optimizer}."
            )
        if isinstance(inner_optimizer, LossScaleOptimizer):
            raise TypeError(
                "LossScaleOptimizer cannot wrap another LossScaleOptimizer, but got: "
                f"{inner_optimizer}"
            )
        if not keras_2():
            _check_settings_of_inner(kwargs)
        super().__init__(name or "loss_scale_optimizer", **kwargs)
        state = self.__dict__
        state["inner_optimizer"] = inner_optimizer
        if not keras_2():
            inner_optimizer.__dict__["loss_scale_factor"] = None  # the scale is that of this optimizer
        inner_optimizer.__dict__["_scope"] = f"{self._name}/"
        state["dynamic"] = bool(dynamic)
        state["initial_scale"] = float(initial_scale or 2.0**15)
        state["dynamic_growth_steps"] = int(dynamic_growth_steps or 2000)
        state["_scale"] = state["_good"] = None
        self._set_hyper("learning_rate", 0.0)  # unused, but among the variables of Keras 3

    def _state(self):
        if self._scale is None:
            first, name = self.initial_scale, self._name
            good, scale = ("good_steps", "scale") if keras_2() else ("step_counter", "dynamic_scale")
            self.__dict__["_good"] = self._make(lambda: convert_to_tensor(0, dtypes.int64), f"{name}/{good}", "int64")
            self.__dict__["_scale"] = self._make(
                lambda: convert_to_tensor(first, dtypes.float32), f"{name}/{scale}", "float32"
            )
            if waiting:
                look_again()
        return self._scale, self._good

    @property
    def loss_scale(self):
        """The scale of the moment."""
        return convert_to_tensor(self._state()[0])

    @property
    def dynamic_scale(self):
        """The variable that holds the scale."""
        return self._state()[0]

    @property
    def dynamic_counter(self):
        """The variable that counts the updates since the scale has changed."""
        return self._state()[1]

    def scale_loss(self, loss: Any):
        """The loss times the scale."""
        if callable(loss):
            return lambda: self.scale_loss(loss())
        return loss * cast(self.loss_scale, loss.dtype)

    get_scaled_loss = scale_loss

    def get_unscaled_gradients(self, grads: Sequence[Tensor]):
        """The gradients divided by the scale."""
        scale = self.loss_scale
        return [None if g is None else _times(g, 1.0 / scale) for g in grads]

    def compute_gradients(self, loss, var_list: Sequence[Any], grad_loss=None, tape=None):
        """Compute the gradients of the scaled loss, as `Optimizer.compute_gradients`.

        Args:
          loss: a function without arguments, or a tensor computed under `tape`.
          var_list: the variables, a list or a function that gives one.
          grad_loss: the gradient that the loss itself has; None for 1.
          tape: the tape under which a tensor was computed.

        Returns:
          A list of (gradient, variable) pairs.
        """
        if tape is None:
            pairs = self.inner_optimizer.compute_gradients(
                self.scale_loss(loss), var_list, grad_loss
            )
        else:
            with tape:
                loss = self.scale_loss(loss)
            pairs = self.inner_optimizer.compute_gradients(loss, var_list, grad_loss, tape)
        return pairs

    def check_finite(self, grads: Sequence[Tensor]):
        """Whether all elements of all gradients are finite, a scalar tensor."""
        return reduce_all(stack([reduce_all(is_finite(_values(g))) for g in grads if g is not None]))

    @takes_old_names(var_list="variables")
    def build(self, variables: Sequence[Variable]):
        """Makes the slots of these variables."""
        self._state()
        self.__dict__["_known"] = list(variables)
        self.inner_optimizer.build(variables)

    def apply_gradients(
        self, grads_and_vars: Any, name: str | None = None, experimental_aggregate_gradients: bool = True, **kwargs
    ):
        """Unscale gradients and apply them, or skip them and halve the scale if any is not finite.

        Args:
          grads_and_vars: (gradient, variable) pairs of the scaled loss.
          name: accepted as in Keras 2.
          experimental_aggregate_gradients: accepted as in Keras 2.
          **kwargs: accepted as in Keras 2.

        Returns:
          `iterations` of the inner optimizer.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        scale, good = self._state()
        gradients = self.get_unscaled_gradients([g for g, _ in pairs])
        own = [getattr(v, "overwrite_with_gradient", False) for _, v in pairs]  # no gradients, and not scaled
        gradients = [pair[0] if each else g for each, g, pair in zip(own, gradients, pairs)]
        finite = self.check_finite([g for each, g in zip(own, gradients) if not each])
        variables = [v for _, v in pairs]
        if keras_2():
            self.inner_optimizer.build(variables)
        elif self._known is None:
            self.build(variables)

        def apply():
            self.inner_optimizer.apply_gradients(list(zip(gradients, variables)))
            if self.dynamic:
                good.assign_add(1)
                grown = equal(good, self.dynamic_growth_steps)
                scale.assign(scale * (1.0 + cast(grown, scale.dtype)))
                good.assign(good * (1 - cast(grown, good.dtype)))
            return convert_to_tensor(1)

        def skip():
            if self.dynamic:
                good.assign(good * 0)
                scale.assign(scale / 2.0)
            return convert_to_tensor(0)

        if context.executing_eagerly():
            apply() if bool(finite) else skip()
        else:
            cond(finite, apply, skip)
        return self.inner_optimizer.iterations

    def finalize_variable_values(self, var_list: Sequence[Variable]):
        """Sets the variables to their moving averages, if the inner optimizer keeps those."""
        self.inner_optimizer.finalize_variable_values(var_list)

    @property
    def iterations(self):
        """The number of updates of the inner optimizer."""
        return self.inner_optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Variable):
        self.inner_optimizer.iterations = variable

    @property
    def learning_rate(self):
        """The learning rate of the inner optimizer."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        self.inner_optimizer.learning_rate = value

    lr = learning_rate

    def __setattr__(self, name: str, value: Any):
        if name in ("lr", "learning_rate"):
            self.inner_optimizer.learning_rate = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str):
        inner = self.__dict__.get("inner_optimizer")
        if inner is None or name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(inner, name)

    @property
    def weights(self):
        """The scale, the counter, and the variables of the inner optimizer."""
        return [*(v for v in (self._scale, self._good) if v is not None),
                *self.inner_optimizer.weights]  # fmt: skip

    def get_slot(self, var: Variable, slot_name):
        """Find a slot variable of the inner optimizer.

        Args:
          var: the variable.
          slot_name: the name of the slot.

        Returns:
          The slot variable.
        """
        return self.inner_optimizer.get_slot(var, slot_name)

    def get_slot_names(self):
        """The names of the slots of the inner optimizer."""
        return self.inner_optimizer.get_slot_names()

    _own_checkpointed: ClassVar[dict[str, str]] = {
        "inner_optimizer": "inner_optimizer", "step_counter": "_good", "dynamic_scale": "_scale",
    }  # fmt: skip

    @property
    def variables(self):
        """Its own variables, of which Keras 3 uses the last two only, then those of the inner optimizer."""
        own = self.weights if keras_2() else in_order(self)
        return Variables([*own, *([] if keras_2() else self.inner_optimizer.variables)])

    def _saved_variables(self):
        return [*in_order(self), *in_order(self.inner_optimizer)]

    def _children_of_keras_2(self):
        found = {"base_optimizer": self.inner_optimizer}
        if self._scale is not None:
            found |= {"loss_scale": self._scale, "good_steps": self._good}
        return found

    def get_config(self):
        return {
            "name": self._name,
            "inner_optimizer": to_config(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
            **({"dynamic": self.dynamic} if keras_2() or not self.dynamic else {}),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        config["inner_optimizer"] = deserialize_in("keras.optimizers", config["inner_optimizer"], custom_objects)
        return cls(**config)


def _values(grad: Tensor):
    return grad.values if isinstance(grad, IndexedSlices) else grad


def _times(grad: Tensor, factor: Tensor):
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(_times(grad.values, factor), grad.indices, grad.dense_shape)
    return grad * cast(factor, grad.dtype)


def with_loss_scale(optimizer: SGD):
    """An optimizer wrapped so that it scales losses, unless it does that already."""
    if isinstance(optimizer, Optimizer) and not isinstance(optimizer, LossScaleOptimizer):
        return LossScaleOptimizer(optimizer)
    return optimizer
