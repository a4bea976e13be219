"""Optimizers that Keras 3 has and Keras 2.0 had not: AdamW, Lion, Lamb, Adafactor, Muon, ScheduleFreeAdamW."""

from __future__ import annotations

import re

from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.dtypes import DType, int32
from tapeflow.core.public import boundaries
from tapeflow.core.variables import dtype_of, shared_name_of
from tapeflow.keras import settings
from tapeflow.keras.optimizers.arguments import with_shared_arguments
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.rules import Adam
from tapeflow.keras.optimizers.variables import SlotList
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.norms import norm
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import rsqrt, sqrt, square
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_mean
from tapeflow.ops.state import training
from tapeflow.train.updating import Update


@with_shared_arguments
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019).

    Before each step w -= learning_rate * weight_decay * w; the decay does not enter the means of gradients.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      weight_decay: the part, times the learning rate, by which variables shrink at every step.
      beta_1: the weight of the past in the mean of gradients, from 0 to 1.
      beta_2: the weight of the past in the mean of squared gradients, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
      amsgrad: divide by the root of the largest v so far (Reddi et al. 2018).

    Raises:
      ValueError: for a decay of None.
    """

    _in_first_keras_2 = False
    _slots_by_variable = True

    def __init__(
        self, learning_rate: float = 0.001, weight_decay: float = 0.004, beta_1: float = 0.9,
        beta_2: float = 0.999, epsilon: float = 1e-7, amsgrad: bool = False, name: str = "AdamW", **kwargs,
    ):
        if weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad,
            weight_decay=weight_decay, name=name, **kwargs,
        )  # fmt: skip


@with_shared_arguments
class Lion(Optimizer):
    """Lion: steps by the sign of a mean of gradients (Chen et al. 2023), all of one size.

    Args:
      learning_rate: as that of `SGD`; smaller than for Adam, by 3 to 10 times.
      beta_1: the weight of the past in the mean whose sign is taken, above 0, at most 1.
      beta_2: the weight of the past in the mean that is kept.

    Raises:
      ValueError: for `beta_1` out of range.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, name: str = "lion",
        **kwargs,
    ):
        super().__init__(name, **kwargs)
        if not 0 < beta_1 <= 1:
            raise ValueError(
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to SignSGD. "
                f"Received: beta_1={beta_1}."
            )
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)

    _slot_lists = (SlotList("momentum", "momentum", "_momentums"),)
    _in_first_keras_2 = False

    def _slot_values(self, var):
        return (("momentum", 0.0),)

    _adds_up = True

    def _update_of(self, dtype: DType):
        betas = [self._setting(name, dtype) for name in ("beta_1", "beta_2")]
        return Update(training.Lion, self._slot_values(None), (self._rate(dtype), *betas))

    def get_config(self):
        return self._config_of("beta_1", "beta_2")


@with_shared_arguments
class Lamb(Optimizer):
    """Adam with a rate per variable by the ratio of its norm to its step's (You et al. 2020), for large batches.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      beta_1: the weight of the past in the mean of gradients, from 0 to 1.
      beta_2: the weight of the past in the mean of squared gradients, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        name: str = "lamb", **kwargs,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.__dict__["epsilon"] = settings.epsilon() if epsilon is None else epsilon

    _slot_lists = (SlotList("m", "momentum", "_momentums"), SlotList("v", "velocity", "_velocities"))

    def _slot_values(self, var):
        return (("m", 0.0), ("v", 0.0))

    def _apply_dense(self, grad: Tensor, var):
        dtype, m, v = dtype_of(var), self._slot(var, "m"), self._slot(var, "v")
        beta1, beta2 = self._setting("beta_1", dtype), self._setting("beta_2", dtype)
        step = cast(self.iterations + 1, dtype)
        m.assign(m * beta1 + grad * (1 - beta1))
        v.assign(v * beta2 + square(grad) * (1 - beta2))
        mean, variance = m / (1 - pow_(beta1, step)), v / (1 - pow_(beta2, step))
        move = mean / (sqrt(variance) + self.epsilon)
        size, length = norm(var), norm(move)
        apart = logical_and(size > 0, length > 0)
        ratio = where(apart, size / where(apart, length, 1.0), 1.0)
        var.assign_sub(ratio * self._rate(dtype) * move)

    def get_config(self):
        return {**self._config_of("beta_1", "beta_2"), "epsilon": self.epsilon}


@with_shared_arguments
class Adafactor(Optimizer):
    """Adafactor: second moments kept by rows and columns (Shazeer & Stern 2018), which takes less memory.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      beta_2_decay: the weight of the past in the means of squares at step t is 1 - t ^ beta_2_decay.
      epsilon_1: a small number that is added to squared gradients.
      epsilon_2: steps are relative to the root mean square of the variable, at least to this number.
      clip_threshold: the largest root mean square of a step, before it is multiplied by the rate.
      relative_step: whether the learning rate is at most 1 / sqrt(t); not for schedules.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta_2_decay: float = -0.8, epsilon_1: float = 1e-30,
        epsilon_2: float = 1e-3, clip_threshold: float = 1.0, relative_step: bool = True, name: str = "adafactor",
        **kwargs,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        for setting, value in (("beta_2_decay", beta_2_decay), ("epsilon_1", epsilon_1),
                               ("epsilon_2", epsilon_2), ("clip_threshold", clip_threshold),
                               ("relative_step", relative_step)):  # fmt: skip
            self.__dict__[setting] = value

    _slot_lists = (SlotList("r", ""), SlotList("c", ""), SlotList("v", "velocity"))
    _in_first_keras_2 = False

    def _slot_values(self, var):
        sizes = var.shape.as_list()
        if len(sizes) < 2:  # unused, but in the checkpoints of Keras 3
            return (("r", lambda: zeros([], int32)), ("c", lambda: zeros([], int32)), ("v", 0.0))
        return (
            ("r", lambda: zeros(sizes[:-1], dtype_of(var))),
            ("c", lambda: zeros([*sizes[:-2], sizes[-1]], dtype_of(var))),
            ("v", 0.0),
        )

    def _apply_dense(self, grad: Tensor, var):
        dtype = dtype_of(var)
        step = cast(self.iterations + 1, dtype)
        rate = self._rate(dtype)
        rate = minimum(rate, 1 / sqrt(step))
        size = sqrt(reduce_mean(square(var.read_value())))
        rate = maximum(cast(self.epsilon_2, dtype), size) * rate
        beta2 = 1 - pow_(step, cast(self.beta_2_decay, dtype))
        squares = square(grad) + self.epsilon_1
        rows, columns, whole = [self._slot(var, name, value) for name, value in self._slot_values(var)]
        if len(var.shape) > 1:
            rows.assign(beta2 * rows + (1 - beta2) * reduce_mean(squares, axis=-1))
            columns.assign(beta2 * columns + (1 - beta2) * reduce_mean(squares, axis=-2))
            mean = reduce_mean(rows, axis=-1, keepdims=True)
            estimate = expand_dims(rows / mean, -1) * expand_dims(columns, -2)
        else:
            estimate = beta2 * whole + (1 - beta2) * squares
        whole.assign(estimate)
        move = grad * rsqrt(estimate)
        length = sqrt(reduce_mean(square(move)))
        var.assign_sub(rate * move / maximum(cast(1.0, dtype), length / self.clip_threshold))

    def get_config(self):
        names = ("beta_2_decay", "epsilon_1", "epsilon_2", "clip_threshold", "relative_step")
        return {**self._config_of(), **{name: self.__dict__[name] for name in names}}


@with_shared_arguments
class Muon(Optimizer):
    """Muon: the momentum of a matrix, made nearly orthogonal, is its step (Jordan et al. 2024; Liu et al. 2025).

    Variables that are not matrices, embeddings, and those of excluded layers are updated by AdamW.

    Args:
      learning_rate: of matrices; times `adam_lr_ratio` that of the others.
      adam_beta_1, adam_beta_2, adam_weight_decay: those of AdamW.
      epsilon: that of AdamW.
      weight_decay: of matrices.
      exclude_layers: patterns; variables whose paths match one are updated by AdamW.
      exclude_embeddings: whether those with "embedding" in their paths are, too.
      muon_a, muon_b, muon_c: the coefficients of the Newton-Schulz iteration.
      adam_lr_ratio: the learning rate of AdamW by that of matrices.
      momentum: the weight of the past in the mean of gradients that is made orthogonal.
      ns_steps: the number of steps of the iteration.
      nesterov: whether the mean looks one step ahead.
      rms_rate: steps are scaled by this times the root of the larger dimension; None: they are not.
    """

    _OWN = (
        "adam_beta_1", "adam_beta_2", "epsilon", "exclude_layers", "muon_a", "muon_b", "muon_c", "adam_lr_ratio",
        "momentum", "ns_steps", "nesterov", "exclude_embeddings", "adam_weight_decay", "rms_rate",
    )  # fmt: skip

    def __init__(
        self, learning_rate: float = 0.001, adam_beta_1: float = 0.9, adam_beta_2: float = 0.999,
        adam_weight_decay: float = 0.004, epsilon: float = 1e-7, weight_decay: float = 0.004, clipnorm=None,
        clipvalue=None, global_clipnorm=None, use_ema: bool = False, ema_momentum: float = 0.99,
        ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name: str = "muon",
        exclude_layers=None, exclude_embeddings: bool = True, muon_a: float = 3.4445, muon_b=-4.7750,
        muon_c: float = 2.0315, adam_lr_ratio: int = 1, momentum: float = 0.95, ns_steps: int = 5,
        nesterov: bool = True, rms_rate: float = 0.2, **kwargs,
    ):
        given = locals()
        super().__init__(
            name, weight_decay=weight_decay, clipnorm=clipnorm, clipvalue=clipvalue, global_clipnorm=global_clipnorm,
            use_ema=use_ema, ema_momentum=ema_momentum, ema_overwrite_frequency=ema_overwrite_frequency,
            loss_scale_factor=loss_scale_factor, gradient_accumulation_steps=gradient_accumulation_steps, **kwargs,
        )  # fmt: skip
        self._set_hyper("learning_rate", learning_rate)
        for setting in self._OWN:
            self.__dict__[setting] = given[setting]
        self.__dict__["exclude_layers"] = list(exclude_layers or [])
        self.__dict__["_wraps"] = self._wraps or bool(adam_weight_decay)

    def _is_by_adam(self, var):
        path = shared_name_of(var)
        return (
            len(var.shape) != 2
            or (self.exclude_embeddings and "embedding" in path.lower())
            or any(re.search(pattern, path) for pattern in self.exclude_layers)
        )

    def _weight_decay_of(self, var: Variable):
        return self.adam_weight_decay if self._is_by_adam(var) else self.weight_decay

    def _slot_values(self, var):
        return (("momentum", 0.0), *([("velocity", 0.0)] if self._is_by_adam(var) else []))

    def _apply_dense(self, grad: Tensor, var):
        dtype, rate, mean = dtype_of(var), self._rate(dtype_of(var)), self._slot(var, "momentum")
        if not self._is_by_adam(var):
            mean.assign(mean * self.momentum + grad)
            ahead = grad + self.momentum * mean if self.nesterov else mean.read_value()
            scale = 1.0 if self.rms_rate is None else self.rms_rate * max(var.shape.as_list()) ** 0.5
            var.assign_sub(rate * scale * self._orthogonal(ahead))
            return
        step, square_mean = cast(self.iterations + 1, dtype), self._slot(var, "velocity")
        beta1, beta2 = cast(self.adam_beta_1, dtype), cast(self.adam_beta_2, dtype)
        mean.assign_add((grad - mean) * (1 - beta1))
        square_mean.assign_add((square(grad) - square_mean) * (1 - beta2))
        rate = rate * self.adam_lr_ratio * sqrt(1 - pow_(beta2, step)) / (1 - pow_(beta1, step))
        var.assign_sub(mean * rate / (sqrt(square_mean) + self.epsilon))

    def _orthogonal(self, x: Tensor):
        """U @ V^T of x = U @ S @ V^T, roughly, by the Newton-Schulz iteration of degree five."""
        tall = x.shape[0] > x.shape[1]
        x = transpose(x) if tall else x
        x = x / (norm(x) + 1e-7)
        for _ in range(self.ns_steps):
            gram = x @ transpose(x)
            x = self.muon_a * x + (self.muon_b * gram + self.muon_c * gram @ gram) @ x
        return transpose(x) if tall else x

    def get_config(self):
        return {**self._config_of(), **{setting: self.__dict__[setting] for setting in self._OWN}}


@with_shared_arguments
class ScheduleFreeAdamW(Optimizer):
    """Adam without a schedule: variables lie between where steps lead and its mean (Defazio et al. 2024).

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      beta_1: how near variables are to the mean, from 0 to 1.
      beta_2: the weight of the past in the mean of squared gradients, from 0 to 1.
      epsilon: a small number that keeps divisions finite.
      warmup_steps: the number of steps in which the learning rate grows from 0 to `learning_rate`.
    """

    def __init__(
        self, learning_rate: float = 0.0025, beta_1: float = 0.9, beta_2: float = 0.999,
        epsilon: float = 1e-8, warmup_steps: int = 0, name: str = "schedule_free_adam_w", **kwargs,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.__dict__["epsilon"] = epsilon
        self.__dict__["warmup_steps"] = warmup_steps

    _slot_lists = (SlotList("momentum", "momentum", "_momentums"), SlotList("velocity", "velocity", "_velocities"))

    def _slot_values(self, var):
        return (("momentum", var.read_value), ("velocity", 0.0))

    def _apply_dense(self, grad: Tensor, var):
        dtype = dtype_of(var)
        leading, square_mean = [self._slot(var, name, value) for name, value in self._slot_values(var)]
        beta1, beta2 = self._setting("beta_1", dtype), self._setting("beta_2", dtype)
        step, rate = cast(self.iterations + 1, dtype), self._rate(dtype)
        if self.warmup_steps > 0:
            rate = rate * minimum(step / self.warmup_steps, cast(1.0, dtype))
        square_mean.assign_add((square(grad) - square_mean) * (1 - beta2))
        leading.assign_sub(rate * grad / (sqrt(square_mean / (1 - pow_(beta2, step))) + self.epsilon))
        # The paper takes the mean before the step; Keras on TensorFlow reads the variable after it, and so does this.
        mean = (var - (1 - beta1) * leading) / beta1
        mean = mean + (leading - mean) / step
        var.assign((1 - beta1) * leading + beta1 * mean)

    def get_config(self):
        return {**self._config_of("beta_1", "beta_2"), "epsilon": self.epsilon, "warmup_steps": self.warmup_steps}


boundaries(globals())
