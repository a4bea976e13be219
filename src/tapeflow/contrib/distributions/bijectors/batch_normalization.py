"""The bijector of batch normalization."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.core.public import boundaries
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.math.elementwise import log, sqrt
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.normalization import moments
from tapeflow.v1.layers.classes import BatchNormalization as BatchNormalizationLayer

__all__ = ["BatchNormalization"]


class BatchNormalization(Bijector):
    """The inverse normalizes a batch; `forward` undoes that, with the moving mean and variance.

    Args:
      batchnorm_layer: a `tf.layers.BatchNormalization`; one with a positive gamma unless given.
      training: whether the inverse normalizes by the statistics of its batch, rather than by the moving ones.

    Raises:
      ValueError: for another layer, or one that renormalizes or has virtual batches.
    """

    def __init__(
        self, batchnorm_layer: Any = None, training: bool = True, validate_args: bool = False,
        name: str = "batch_normalization",
    ):  # fmt: skip
        layer = batchnorm_layer
        if layer is None:
            layer = BatchNormalizationLayer(gamma_constraint=lambda gamma: relu(gamma) + 1e-6)
        if not isinstance(layer, BatchNormalizationLayer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm: Any = layer
        self._training = training
        least = 1 if isinstance(layer.axis, int) else len(layer.axis)
        super().__init__(forward_min_event_ndims=least, validate_args=validate_args, name=name)

    def _axes(self, x: Any) -> tuple[list[int], list[int]]:
        """The axes of an event and the others, of what has a known shape."""
        if not x.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        rank = x.shape.rank
        given = [self.batchnorm.axis] if isinstance(self.batchnorm.axis, int) else self.batchnorm.axis
        event = [axis % rank for axis in given]
        return event, [axis for axis in range(rank) if axis not in event]

    def _build(self, x: Any) -> None:
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)

    def _forward(self, x: Any) -> Any:
        self._build(x)
        event, _ = self._axes(x)
        sizes = [size if axis in event else 1 for axis, size in enumerate(x.shape.as_list())]
        layer: Any = self.batchnorm
        deviation = sqrt(reshape(layer.moving_variance, sizes) + layer.epsilon)
        if layer.scale:
            deviation = deviation / reshape(layer.gamma, sizes)
        mean = reshape(layer.moving_mean, sizes)
        return (x - reshape(layer.beta, sizes)) * deviation + mean if layer.center else x * deviation + mean

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        self._build(x)
        return -self._log_scale(self.batchnorm.moving_variance)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        self._build(y)
        _, others = self._axes(y)
        return self._log_scale(moments(y, others)[1] if self._training else self.batchnorm.moving_variance)

    def _log_scale(self, variance: Any) -> Any:
        found = -0.5 * reduce_sum(log(variance + self.batchnorm.epsilon))
        return found + reduce_sum(log(self.batchnorm.gamma)) if self.batchnorm.scale else found


boundaries(globals())
