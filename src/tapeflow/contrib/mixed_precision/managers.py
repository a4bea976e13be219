"""What chooses by how much a loss is scaled."""

from __future__ import annotations

import abc

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import TensorLike
from tapeflow.core.dtypes import DType


class LossScaleManager(abc.ABC):
    """By how much a loss is to be scaled, and how that changes."""

    @abc.abstractmethod
    def get_loss_scale(self):
        """The factor, a scalar of float32."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads):
        """An op that changes the factor after a step, whose gradients were finite or not (a bool scalar)."""


class FixedLossScaleManager(LossScaleManager):
    """The same factor always; ValueError if it is less than 1."""

    def __init__(self, loss_scale: float):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self):
        """The factor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: TensorLike):
        """Nothing."""
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A factor that grows while gradients are finite, and falls when they are not.

    Args:
      init_loss_scale: the first factor.
      incr_every_n_steps: it grows after so many steps in a row with finite gradients,
      decr_every_n_nan_or_inf: and falls after so many with others. Both counts begin again whenever it changes.
      incr_ratio: by what it is multiplied to grow, unless it would be infinite,
      decr_ratio: and to fall, but not below 1.
    """

    def __init__(
        self, init_loss_scale: float, incr_every_n_steps: int, decr_every_n_nan_or_inf: int = 2, incr_ratio: int = 2,
        decr_ratio: float = 0.8,
    ):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio

        def state(name: str, value: TensorLike, dtype: DType):
            return tf.Variable(tf.convert_to_tensor(value, dtype), trainable=False, name=name, dtype=dtype)

        self._loss_scale = state("loss_scale", init_loss_scale, tf.float32)
        self._num_good_steps = state("good_steps", 0, tf.int32)
        self._num_bad_steps = state("bad_steps", 0, tf.int32)

    def get_loss_scale(self):
        """The factor, a variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: TensorLike):
        """An op that counts a step, and changes the factor if it is time."""
        scale = tf.convert_to_tensor(self._loss_scale)
        good = tf.where(finite_grads, self._num_good_steps + 1, 0)
        bad = tf.where(finite_grads, tf.convert_to_tensor(self._num_bad_steps), self._num_bad_steps + 1)
        grows = tf.logical_and(finite_grads, good >= self._incr_every_n_steps)
        falls = tf.logical_and(tf.logical_not(finite_grads), bad >= self._decr_every_n_nan_or_inf)
        larger = scale * self._incr_ratio
        larger = tf.where(tf.is_finite(larger), larger, scale)
        smaller = tf.maximum(1.0, scale * self._decr_ratio)
        changes = tf.logical_or(grows, falls)
        values = [
            tf.where(grows, larger, tf.where(falls, smaller, scale)),
            tf.where(changes, 0, good),
            tf.where(changes, 0, bad),
        ]
        with tf.control_dependencies(None if tf.executing_eagerly() else values):
            return tf.group(
                self._loss_scale.assign(values[0]),
                self._num_good_steps.assign(values[1]),
                self._num_bad_steps.assign(values[2]),
            )
