"""Normalization over the batch (Ioffe & Szegedy 2015), renormalization (Ioffe 2017) and virtual batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow._native import EagerTensor, Tensor, Variable
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import executing_eagerly, name_scope
from tapeflow.core.convert import constant, convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.core.same_shape import SameShape
from tapeflow.ops.array.construction import ones, ones_like, zeros, zeros_like
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.rows import identity, stop_gradient
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size as size_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import sqrt
from tapeflow.ops.math.reductions import reduce_mean
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.batch_norm import FusedBatchNormV3
from tapeflow.ops.nn.normalization import batch_normalization, moments, weighted_moments
from tapeflow.ops.static import static_value


class BatchNormalization(SameShape):
    """Normalizes each feature: gamma * (x - mean) / sqrt(variance + epsilon) + beta, per feature along `axis`.

    With `training=True`, in `fit` for example, mean and variance are those of the batch, and the moving averages are
    updated: `moving = momentum * moving + (1 - momentum) * batch`. Otherwise the moving averages are used, as also by
    a layer with `trainable = False`. Steps that a mask leaves out do not count in the statistics.

    Output shape: that of the inputs, of any rank.

    Args:
      axis: the axis of the features, or several; 1 for "channels_first".
      momentum: the weight of the past in the moving averages.
      epsilon: a small number that keeps the division finite.
      center: whether a trained offset beta is added.
      scale: whether a trained factor gamma is applied.
      beta_initializer, gamma_initializer: first values of offset and factor; initializers or their names.
      moving_mean_initializer, moving_variance_initializer: first values of the moving averages; initializers or
        names.
      beta_regularizer, gamma_regularizer: penalties on offset and factor, added to the model's `losses`;
        regularizers, names or None.
      beta_constraint, gamma_constraint: functions applied to offset and factor after each update; constraints, names
        or None.
      renorm: correct the batch's statistics towards moving ones in training, too (Ioffe, 2017).
      renorm_clipping: bounds of these corrections, a dict with "rmin", "rmax" and "dmax".
      renorm_momentum: the weight of the past in the averages of `renorm`.
      synchronized: kept for the config; each replica normalizes by the statistics of its own batch.
      **kwargs: `fused`, `virtual_batch_size` and `adjustment` of Keras 2, and the arguments of `Layer`.

    Raises:
      TypeError: for an `axis` of another type than integers.
      ValueError: for axes that the inputs do not have or whose size is unknown.

    >>> layer = tf.keras.layers.BatchNormalization(epsilon=0.0)
    >>> print(layer(tf.constant([[1.0], [3.0]]), training=True).numpy())
    [[-1.]
     [ 1.]]
    >>> print(layer.moving_mean.numpy())
    [0.02]
    """

    _casts_weights = False

    # Set once the weights are made.
    gamma: Any = None
    beta: Any = None

    def __init__(
        self, axis=-1, momentum: float = 0.99, epsilon: float = 0.001, center: bool = True, scale: bool = True,
        beta_initializer: dict[str, Any] | str = "zeros", gamma_initializer: dict[str, Any] | str = "ones",
        moving_mean_initializer: dict[str, Any] | str = "zeros",
        moving_variance_initializer: dict[str, Any] | str = "ones", beta_regularizer=None, gamma_regularizer=None,
        beta_constraint=None, gamma_constraint=None, renorm: bool = False, renorm_clipping=None,
        renorm_momentum: float = 0.99, synchronized: bool = False, **kwargs,
    ):
        fused = kwargs.pop("fused", None)
        self_virtual = kwargs.pop("virtual_batch_size", None)
        self_adjustment = kwargs.pop("adjustment", None)
        super().__init__(**kwargs)
        self._fused_allowed = fused is not False
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                f"{axis}"
            )
        self.axis = axis
        self._given_axis = axis
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = dict(renorm_clipping or {})
        unknown = set(self.renorm_clipping) - {"rmax", "rmin", "dmax"}
        if unknown:
            raise ValueError(f"renorm_clipping {renorm_clipping} contains keys not in {_CLIPPING}")
        self.synchronized = synchronized
        self.virtual_batch_size, self.adjustment = self_virtual, self_adjustment
        if fused and self._why_not_fused():
            raise ValueError(self._why_not_fused())
        if fused is None and (self._why_not_fused() or not self._frozen_is_at_rest):
            fused = not self._frozen_is_at_rest
        self.fused = fused

    # Whether the fused operation's moving variance is that of a sample, not of all there is.
    _bessels_correction_test_only = True
    # Whether a layer that is not trainable uses the moving averages also while training, as in 2.x.
    _frozen_is_at_rest = True

    def _why_not_fused(self):
        """Why the fused operation cannot do what is asked for; None if it can, for inputs of rank 4."""
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        if self.renorm:
            return "Passing both fused=True and renorm=True is unsupported"
        if len(axes) > 1 or axes[0] not in (-3, -1, 1, 3):
            return "Passing fused=True is only supported when axis is 1 or 3"
        if self.virtual_batch_size is not None:
            return "Passing fused=True is unsupported when virtual_batch_size is specified."
        if self.adjustment is not None:
            return "Passing fused=True is unsupported when adjustment is specified."
        return None

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        rank = len(sizes)
        self.axis = axes = self._positive_axes(sizes)
        self.input_spec = InputSpec(ndim=rank, axes={axis: sizes[axis] for axis in axes})
        # Weights have one axis, or as many as the input where several are normalized together.
        shape = (
            [sizes[axes[0]]]
            if len(axes) == 1
            else [sizes[i] if i in axes else 1 for i in range(rank)]
        )
        if self.virtual_batch_size is not None:  # of one more axis, that of the virtual batches
            shape = [sizes[i] if i in axes else 1 for i in range(rank)]
            shape.insert(1, 1)
        if self.virtual_batch_size is not None:
            if self.virtual_batch_size <= 0:
                raise ValueError(
                    "virtual_batch_size must be a positive integer that divides the true batch size of the "
                    "input tensor"
                )
            if 0 in axes:
                raise ValueError(
                    "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot "
                    "include 0"
                )
            if self.adjustment is not None:
                raise ValueError("When using virtual_batch_size, adjustment cannot be specified")
        self._reduced = [i for i in range(rank) if i not in axes]
        narrow = self._compute_dtype_object != dtypes.float64  # of which there is no fused op
        possible = rank == 4 and axes in ([1], [3]) and self._why_not_fused() is None
        if self.fused in (None, True):
            self.fused = possible
        self._fused = bool(self.fused and narrow)
        broadcast = [sizes[i] if i in axes else 1 for i in range(rank)]
        whole = axes == [rank - 1] or len(axes) > 1 or self.virtual_batch_size is not None
        self._broadcast = None if whole else broadcast
        # Half-precision inputs are normalized by single-precision statistics.
        half = self._variable_dtype_object in (dtypes.float16, dtypes.bfloat16)
        dtype = dtypes.float32 if half else self._variable_dtype_object
        if self.scale:
            self.gamma = self.add_weight(
                "gamma",
                shape,
                dtype,
                self.gamma_initializer,
                self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center:
            self.beta = self.add_weight(
                "beta",
                shape,
                dtype,
                self.beta_initializer,
                self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        self.moving_mean = self.add_weight(
            "moving_mean", shape, dtype, self.moving_mean_initializer, trainable=False
        )
        self.moving_variance = self.add_weight(
            "moving_variance", shape, dtype, self.moving_variance_initializer, trainable=False
        )
        if self.renorm:
            self._build_renorm(shape, dtype)
        with context.init_scope():
            self._no_scale, self._no_offset = ones(shape, dtype), zeros(shape, dtype)
        self.built = True

    def _positive_axes(self, sizes: Sequence[int | None]):
        """The axes that are normalized, counted from 0, for inputs of these sizes."""
        rank = len(sizes)
        given = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [axis + rank if axis < 0 else axis for axis in given]
        if any(not 0 <= axis < rank for axis in axes):
            raise ValueError(
                "Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with "
                f"inputs.rank={rank}). Received: axis={tuple(given)}"
            )
        if len(set(axes)) != len(axes):
            raise ValueError(f"Duplicate axis: {tuple(given)}")
        if any(sizes[axis] is None for axis in axes):
            raise ValueError(
                "Input has undefined `axis` dimension. Received input with shape "
                f"{tuple(sizes)} and axis={tuple(given)}"
            )
        return axes

    def _build_renorm(self, shape: Sequence[Any], dtype: DType):
        """The averages that renormalization compares a batch with."""

        def stddev(*args, **kwargs):
            return sqrt(self.moving_variance_initializer(*args, **kwargs))

        for name, initializer in (
            ("moving_stddev", stddev),
            ("renorm_mean", self.moving_mean_initializer),
            ("renorm_stddev", stddev),
        ):
            weight = self.add_weight(name, shape, dtype, initializer, trainable=False)
            setattr(self, name, weight)

    def call(self, inputs: TensorLike, training: bool | Tensor | None = None, mask: Tensor | None = None):
        if self._frozen_is_at_rest and not self.trainable:
            training = False
        if isinstance(training, (Tensor, Variable)):
            known = static_value(training)
            training = training if known is None else bool(known)
        else:
            training = bool(training)
        inputs = self._as_floats(inputs)
        if self._fused and mask is None:
            return self._call_fused(inputs, training)
        return self._call_parts(inputs, training, mask)

    def _call_parts(self, inputs, training, mask):
        """The normalization made of simpler operations."""
        x, sizes = inputs, None
        if x.dtype in (dtypes.float16, dtypes.bfloat16):
            x = cast(x, dtypes.float32)
        reduced, virtual = self._reduced, self.virtual_batch_size
        if virtual is not None:
            sizes = [-1, *x.shape.as_list()[1:]]
            x = reshape(x, [virtual, -1, *sizes[1:]])
            axes = {axis + 1 for axis in self.axis}
            reduced = [i for i in range(len(sizes) + 1) if i != 1 and i not in axes]
        scale, offset = self._along(self.gamma), self._along(self.beta)
        if training is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment is not None:
                factor, term = self.adjustment(shape_of(x))
                factor = by_phase(training, lambda: factor, lambda: ones_like(factor))
                term = by_phase(training, lambda: term, lambda: zeros_like(term))
                scale, offset = _composed(factor, term, scale, offset)
            keep = virtual is not None or len(self.axis) > 1
            batch_mean, batch_variance = self._moments(x, reduced, keep, mask)
            mean = by_phase(
                training, lambda: batch_mean, lambda: self._like(self.moving_mean, batch_mean)
            )
            variance = by_phase(
                training,
                lambda: batch_variance,
                lambda: self._like(self.moving_variance, batch_variance),
            )
            new_mean, new_variance = mean, variance
            if virtual is not None:
                new_mean, new_variance = (
                    reduce_mean(v, axis=1, keepdims=True) for v in (mean, variance)
                )
            if self.renorm:
                r, d, new_mean, new_variance = self._renorm_corrections(
                    new_mean, new_variance, training
                )
                scale, offset = _composed(self._along(r), self._along(d), scale, offset)
            self._move(new_mean, new_variance, training)
        if virtual is None:
            mean, variance = self._along(mean), self._along(variance)
        outputs = batch_normalization(x, mean, variance, offset, scale, self.epsilon)
        if sizes is not None:
            outputs = reshape(outputs, sizes)
        outputs = outputs if outputs.dtype == inputs.dtype else cast(outputs, inputs.dtype)
        if not isinstance(outputs, EagerTensor):
            outputs.set_shape(inputs.shape)
        return outputs

    @staticmethod
    def _like(moving, statistic):
        """A moving average in the shape of the batch's statistic."""
        value = convert_to_tensor(moving)
        rank = statistic.shape.rank
        return value if value.shape.rank == rank else reshape(value, shape_of(statistic))

    def _along(self, value: Tensor | Variable):
        """A value per feature in a shape that goes along the inputs."""
        if value is None or self._broadcast is None:
            return value
        return reshape(value, self._broadcast)

    def _moments(self, x: Tensor, reduced: Sequence[int], keep: bool, mask: Tensor | None):
        if mask is None:
            return moments(x, reduced, keepdims=keep)
        weights = cast(mask, x.dtype)
        for _ in range(x.shape.rank - weights.shape.rank):
            weights = expand_dims(weights, -1)
        return weighted_moments(x, reduced, weights, keepdims=keep)

    def _renorm_corrections(self, mean, variance, training):
        """What brings the statistics of the batch to the averages: a factor and a term (Ioffe, 2017)."""
        stddev = sqrt(variance + self.epsilon)
        known = maximum(self.renorm_stddev, math.sqrt(self.epsilon))
        r, d = stddev / known, (mean - self.renorm_mean) / known
        limits = self.renorm_clipping
        if limits.get("rmin") is not None:
            r = maximum(r, limits["rmin"])
        if limits.get("rmax") is not None:
            r = minimum(r, limits["rmax"])
        if limits.get("dmax") is not None:
            d = minimum(maximum(d, -limits["dmax"]), limits["dmax"])
        r = by_phase(training, lambda: r, lambda: ones_like(r))
        d = by_phase(training, lambda: d, lambda: zeros_like(d))
        with control_dependencies([r, d]):
            moves = [
                self._moved(moving, identity(value), self.renorm_momentum, training)
                for moving, value in ((self.renorm_mean, mean), (self.renorm_stddev, stddev))
            ]
        if executing_eagerly():
            return stop_gradient(r), stop_gradient(d), mean, variance
        with control_dependencies(moves):
            return stop_gradient(r), stop_gradient(d), identity(mean), identity(variance)

    def _call_fused(self, inputs: Any, training: bool | Tensor):
        first = self.axis == [1]
        if first:
            inputs = transpose(inputs, [0, 2, 3, 1])
        scale = self._no_scale if self.gamma is None else self.gamma
        offset = self._no_offset if self.beta is None else self.beta
        known = inputs.shape

        def run(is_training: bool):
            return FusedBatchNormV3(
                inputs,
                scale,
                offset,
                self._empty if is_training else self.moving_mean,
                self._empty if is_training else self.moving_variance,
                epsilon=self.epsilon,
                is_training=is_training,
            )[:3]

        def at_rest():
            outputs = run(False)[0]
            return outputs, identity(self.moving_mean), identity(self.moving_variance)

        if training is False:
            outputs = run(False)[0]
        else:
            outputs, mean, variance = by_phase(training, lambda: tuple(run(True)), at_rest)
            if training is not True:
                outputs.set_shape(known)
            if not self._bessels_correction_test_only or (self._frozen_is_at_rest and not keras_2()):
                count = known.num_elements()
                if count is None:
                    count = reshape(cast(size_of(inputs) // size_of(variance), variance.dtype), [])
                else:
                    count = max(count // known.as_list()[-1], 1)
                variance = variance * ((count - 1.0) / count)
            self._move(mean, variance, training)
        return transpose(outputs, [0, 3, 1, 2]) if first else outputs

    @property
    def _empty(self):
        return zeros([0], self.moving_mean.dtype)

    def _move(self, mean: Tensor, variance: Tensor, training: bool | Tensor = True):
        """Brings the moving averages nearer to the batch's statistics."""
        self._update(self.moving_mean, mean, self.momentum, training)
        if not self.renorm:
            self._update(self.moving_variance, variance, self.momentum, training)
            return

        def move():
            rate = self._rate(self.momentum, training)
            value = sqrt(variance + self.epsilon)
            stddev = self.moving_stddev.assign_sub((self.moving_stddev - value) * rate)
            return self.moving_variance.assign(relu(stddev * stddev - self.epsilon))

        self.add_update(move)

    def _rate(self, momentum: float, training: bool | Tensor):
        """How far averages move: not at all, where a tensor says that this is no training."""
        if not isinstance(training, Tensor):
            return 1.0 - momentum
        return by_phase(training, lambda: constant(1.0 - momentum), lambda: constant(0.0))

    def _moved(self, moving: Any, value: Tensor, momentum: float, training: bool | Tensor):
        rate = self._rate(momentum, training)
        if isinstance(rate, Tensor):
            rate = cast(rate, moving.dtype)
        if value.dtype != moving.dtype:
            value = cast(value, moving.dtype)
        if executing_eagerly():
            return moving.assign_sub((moving - value) * rate)
        with name_scope("AssignMovingAvg"):
            return moving.assign_sub((moving - value) * rate)

    def _update(self, moving: Variable, value: Tensor, momentum: float, training: bool | Tensor):
        if executing_eagerly():
            self._moved(moving, value, momentum, training)
        else:
            self.add_update(lambda: self._moved(moving, value, momentum, training))

    def get_config(self):
        optional = {}
        if self.renorm:
            optional = {
                "renorm": True,
                "renorm_clipping": self.renorm_clipping,
                "renorm_momentum": self.renorm_momentum,
            }
        if self.virtual_batch_size is not None:
            optional["virtual_batch_size"] = self.virtual_batch_size
        return {
            **super().get_config(),
            **optional,
            "axis": self.axis if keras_2() else self._given_axis,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            "beta_initializer": initializers.serialize(self.beta_initializer),
            "gamma_initializer": initializers.serialize(self.gamma_initializer),
            "moving_mean_initializer": initializers.serialize(self.moving_mean_initializer),
            "moving_variance_initializer": initializers.serialize(self.moving_variance_initializer),
            "beta_regularizer": regularizers.serialize(self.beta_regularizer),
            "gamma_regularizer": regularizers.serialize(self.gamma_regularizer),
            "beta_constraint": constraints.serialize(self.beta_constraint),
            "gamma_constraint": constraints.serialize(self.gamma_constraint),
        }


_CLIPPING = {"rmax", "rmin", "dmax"}


def _composed(scale: bool, offset, then_scale, then_offset):
    """One factor and term for two pairs of them, one after the other."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset
