"""The Keras optimizers: how one variable changes by one gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tapeflow.core import context
from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of
from tapeflow.keras import settings
from tapeflow.keras.optimizers.arguments import with_shared_arguments
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.variables import SlotList
from tapeflow.ops.array.construction import ones
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state import training
from tapeflow.train.updating import Update


@with_shared_arguments
class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    w -= learning_rate * g; with momentum, velocity = momentum * velocity - learning_rate * g and w += velocity. With
    `nesterov` w += momentum * velocity - learning_rate * g instead.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      momentum: the weight of the past velocity, from 0 to 1.
      nesterov: whether the velocity looks one step ahead.

    Raises:
      ValueError: for a momentum outside of 0 to 1.

    >>> w = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(tf.constant(1.0), w)])
    >>> print(w.numpy())
    -0.25
    """

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False, name: str = "SGD",
        **kwargs,
    ):
        super().__init__(name, **kwargs)
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError(
                f"`momentum` must be between [0, 1]. Received: momentum={momentum} (of type "
                f"{type(momentum)})."
            )
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.__dict__["_momentum"] = (
            callable(momentum) or hasattr(momentum, "dtype") or momentum > 0
        )
        self._set_hyper("momentum", momentum)
        self.__dict__["nesterov"] = nesterov

    _slot_lists = (SlotList("momentum", "momentum", "momentums"),)

    def _slot_values(self, var: Any):
        return (("momentum", 0.0),) if self._momentum else ()

    def _update_of(self, dtype: DType):
        rate = self._rate(dtype)
        if not self._momentum:
            return Update(training.GradientDescent, (), (rate,))
        scalars = (rate, self._setting("momentum", dtype))
        attrs = {"use_nesterov": self.nesterov}
        return Update(training.KerasMomentum, self._slot_values(None), scalars, attrs)

    @property
    def _adds_up(self):
        return not self._momentum  # then it is linear in the gradient

    def _apply_slices(self, grad: IndexedSlices, var: Variable):
        if self._momentum and not keras_2():  # the velocity of all rows goes on
            self._apply_dense(convert_to_tensor(grad), var)
        else:
            super()._apply_slices(grad, var)

    def _apply_sparse(self, values: Tensor, indices: Tensor, var):
        if self._momentum:
            super()._apply_sparse(values, indices, var)
        else:
            var.scatter_sub(IndexedSlices(values * self._rate(dtype_of(var)), indices))

    def get_config(self):
        return {**self._config_of("momentum"), "nesterov": self.nesterov}


class _Moments(Optimizer):
    """What Adam and its variants share."""

    _slot_lists: tuple[SlotList, ...] = (
        SlotList("m", "momentum", "_momentums"), SlotList("v", "velocity", "_velocities"),
    )  # fmt: skip
    _adds_up = True

    def _moments(
        self, learning_rate: float, beta_1: float, beta_2: float, epsilon: float, kwargs: dict[str, Any]
    ):
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.__dict__["epsilon"] = settings.epsilon() if epsilon is None else epsilon

    def _begin_update(self, var: Any):
        if context.executing_eagerly():
            self.__dict__["_step"] = int(self.iterations.numpy()) + 1
        else:
            self.__dict__["_step"] = self.iterations + 1
        self.__dict__["_by_dtype"] = {}

    def _settings(self, dtype: DType):
        """beta1^t, beta2^t, rate, beta1, beta2 and epsilon, once per step and dtype."""
        found = self._by_dtype.get(dtype)
        if found is None:
            beta1, beta2 = self._setting("beta_1", dtype), self._setting("beta_2", dtype)
            powers = [self._power(beta, dtype) for beta in (beta1, beta2)]
            key = ("epsilon", dtype)
            epsilon = self._numbers.get(key)
            if epsilon is None:
                epsilon = self._numbers[key] = self._number(self.epsilon, dtype)
            found = self._by_dtype[dtype] = (*powers, self._rate(dtype), beta1, beta2, epsilon)
        return found

    def _power(self, beta: Tensor, dtype: DType):
        """beta to the power of the step."""
        if isinstance(self._step, int):
            value = beta.numpy()
            return convert_to_tensor(np.power(value, np.asarray(self._step, value.dtype)), dtype)
        return pow_(beta, cast(self._step, dtype))


@with_shared_arguments
class Adam(_Moments):
    """Adam (Kingma & Ba 2015): steps by the mean of gradients, divided by the root of the mean of their squares.

    m = beta_1 m + (1 - beta_1) g, v = beta_2 v + (1 - beta_2) g^2, and w -= learning_rate * sqrt(1 - beta_2^t) / (1 -
    beta_1^t) * m / (sqrt(v) + epsilon) at step t.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      beta_1: the weight of the past in the mean of gradients, from 0 to 1.
      beta_2: the weight of the past in the mean of squared gradients, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
      amsgrad: divide by the root of the largest v so far (Reddi et al. 2018).

    >>> w = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Adam(learning_rate=0.25)
    >>> _ = optimizer.apply_gradients([(tf.constant(10.0), w)])
    >>> print(f"{w.numpy():.4f}")
    0.7500
    """

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        amsgrad: bool = False, name: str = "Adam", **kwargs,
    ):
        super().__init__(name, **kwargs)
        self._moments(learning_rate, beta_1, beta_2, epsilon, kwargs)
        self.__dict__["amsgrad"] = amsgrad

    _slot_lists = (*_Moments._slot_lists, SlotList("vhat", "velocity_hat", "_velocity_hats"))
    _slot_groups = (("m", "v"), ("vhat",))

    def _slot_values(self, var: Any):
        return tuple((name, 0.0) for name in ("m", "v", *(["vhat"] if self.amsgrad else [])))

    def _update_of(self, dtype: DType):
        rule = training.AdamWithAmsgrad if self.amsgrad else training.Adam
        return Update(rule, self._slot_values(None), self._settings(dtype))

    def get_config(self):
        config = self._config_of("beta_1", "beta_2")
        return {**config, "epsilon": self.epsilon, "amsgrad": self.amsgrad}


@with_shared_arguments
class Adamax(_Moments):
    """Adam by the largest gradient so far instead of the mean of squares (Kingma & Ba 2015, section 7).

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      beta_1: the weight of the past in the mean of gradients, from 0 to 1.
      beta_2: by how much the largest gradient so far fades at every step, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        name: str = "Adamax", **kwargs,
    ):
        super().__init__(name, **kwargs)
        self._moments(learning_rate, beta_1, beta_2, epsilon, kwargs)

    _slot_lists = (SlotList("m", "momentum", "_m"), SlotList("v", "norm", "_u"))

    def _slot_values(self, var: Variable | None):
        return (("m", 0.0), ("v", 0.0))

    def _update_of(self, dtype: DType):
        power1, _, *rest = self._settings(dtype)
        return Update(training.AdaMax, self._slot_values(None), (power1, *rest))

    def get_config(self):
        return {**self._config_of("beta_1", "beta_2"), "epsilon": self.epsilon}


@with_shared_arguments
class Nadam(_Moments):
    """Adam with Nesterov momentum (Dozat 2015).

    The momentum at step t is beta_1 * (1 - 0.96 ** (t * schedule_decay) / 2); `schedule_decay` is 1, and in Keras 2 a
    setting, by default 0.004.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      beta_1: the weight of the past in the mean of gradients, from 0 to 1.
      beta_2: the weight of the past in the mean of squared gradients, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        name: str = "Nadam", **kwargs,
    ):
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004 if keras_2() else 1.0)
        super().__init__(name, **kwargs)
        self._moments(learning_rate, beta_1, beta_2, epsilon, kwargs)
        self.__dict__["_schedule_decay"] = self._decay
        self.__dict__["_decay"] = 0.0  # here it slows the momentum's growth, not the learning rate
        self.__dict__["_momentum_product"] = None

    _own_checkpointed: ClassVar[dict[str, str]] = {"_u_product": "_momentum_product"}

    @property
    def decay(self):
        """How fast the momentum grows, as Keras 2 names it."""
        return convert_to_tensor(self._schedule_decay)

    def _slot_values(self, var: Variable | None):
        return (("m", 0.0), ("v", 0.0))

    def _product_of(self, dtype: DType):
        """The product of the momenta so far, a variable, made when it is first asked for."""
        if self._momentum_product is None:
            name = "momentum_cache" if keras_2() else "variable"
            self.__dict__["_momentum_product"] = self._make(lambda: ones([], dtype), f"{self._name}/{name}", dtype)
        return self._momentum_product

    def _build_own(self, trained: Sequence[Variable]):
        if trained:
            self._product_of(trained[0].dtype)

    def _begin_update(self, var):
        super()._begin_update(var)
        dtype = dtype_of(var)
        whole = self._product_of(dtype)
        beta1 = self._setting("beta_1", dtype)
        now, after = (
            beta1 * (1.0 - 0.5 * pow_(0.96, cast(step, dtype) * self._schedule_decay))
            for step in (self._step, self._step + 1)
        )
        product = cast(whole, dtype) * now
        whole.assign(cast(product, whole.dtype))
        self.__dict__["_weights_of_step"] = (
            (1.0 - now) / (1.0 - product),
            after / (1.0 - product * after),
        )

    @property
    def weights(self):
        """iterations, all slot variables, and the product of the momenta so far."""
        product = self._momentum_product
        return [*super().weights, *([] if product is None else [product])]

    def _update_of(self, dtype: DType):
        weights = [cast(weight, dtype) for weight in self._weights_of_step]
        scalars = (*self._settings(dtype)[1:], *weights)
        return Update(training.Nadam, self._slot_values(None), scalars)

    def get_config(self):
        config = {**self._config_of("beta_1", "beta_2"), "epsilon": self.epsilon}
        return {**config, "decay": self._schedule_decay} if keras_2() else config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        config = dict(config)
        if "decay" in config:
            config["schedule_decay"] = config.pop("decay")
        return super().from_config(config, custom_objects)


boundaries(globals())
