"""Gradients before they are applied: clipped, decayed and scaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.keras.optimizers.gradient_dtypes import on_values
from tapeflow.ops.math.clip import clip_by_global_norm, clip_by_norm, clip_by_value


@public_methods
class Clipping:
    """The part of Optimizer that changes gradients."""

    # Of the other parts:
    clipnorm: Any
    clipvalue: Any
    global_clipnorm: Any
    loss_scale_factor: Any

    def _clip_gradients(self, grads: Sequence[Any]):
        """The gradients, clipped as the settings of the optimizer say."""
        given = [(convert_to_tensor(g) if isinstance(g, np.ndarray) else g, None) for g in grads if g is not None]
        clipped = iter([grad for grad, _ in self._clipped(given)])
        return [None if grad is None else next(clipped) for grad in grads]

    def _clipped(self, pairs: Sequence[Any]):
        gradients = [grad for grad, _ in pairs]
        if self.clipvalue is not None:
            gradients = [
                on_values(grad, lambda g: clip_by_value(g, -self.clipvalue, self.clipvalue))
                for grad in gradients
            ]
        if self.clipnorm is not None:
            gradients = [
                on_values(grad, lambda g: clip_by_norm(g, self.clipnorm)) for grad in gradients
            ]
        if self.global_clipnorm is not None:
            gradients, _ = clip_by_global_norm(gradients, self.global_clipnorm)
        return [(grad, var) for grad, (_, var) in zip(gradients, pairs)]

    def _weight_decay_of(self, var):
        """The part, times the learning rate, by which a variable shrinks at every step; None for nothing."""
        return self.weight_decay

    def scale_loss(self, loss: TensorLike):
        """The loss times loss_scale_factor, if there is one."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def exclude_from_weight_decay(self, var_list: Sequence[Any] | None = None, var_names=None):
        """Keep variables from weight decay.

        Args:
          var_list: variables.
          var_names: patterns; variables whose names match one of them.
        """
        self.__dict__["_no_decay"] = ({id(v) for v in var_list or ()}, tuple(var_names or ()))
