"""Normalization over the batch (Ioffe & Szegedy 2015) and over features (Ba et al. 2016)."""

from __future__ import annotations

from tapeflow.core import context, dtypes
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.core import SameShape
from tapeflow.ops.batch_norm import FusedBatchNormV3
from tapeflow.ops.casting import cast
from tapeflow.ops.construction import ones, zeros
from tapeflow.ops.elementwise import rsqrt
from tapeflow.ops.layout import reshape, transpose
from tapeflow.ops.normalization import batch_normalization, moments


class BatchNormalization(SameShape):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, per feature along `axis`.

    Mean and variance are those of the batch while training, and moving averages otherwise.
    """

    _casts_weights = False

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=0.001,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        moving_mean_initializer="zeros",
        moving_variance_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        kwargs.pop("fused", None)
        kwargs.pop("renorm", None)
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                f"{axis}"
            )
        self.axis = axis
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.gamma = self.beta = None

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
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
        self.axis = axes
        self.input_spec = InputSpec(ndim=rank, axes={axis: sizes[axis] for axis in axes})
        # Weights have one axis, or as many as the input where several are normalized together.
        shape = (
            [sizes[axes[0]]]
            if len(axes) == 1
            else [sizes[i] if i in axes else 1 for i in range(rank)]
        )
        self._reduced = [i for i in range(rank) if i not in axes]
        narrow = self._compute_dtype_object != dtypes.float64  # of which there is no fused op
        self._fused = rank == 4 and axes in ([1], [3]) and narrow
        broadcast = [sizes[i] if i in axes else 1 for i in range(rank)]
        self._broadcast = None if axes == [rank - 1] or len(axes) > 1 else broadcast
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
        with context.init_scope():
            self._no_scale, self._no_offset = ones(shape, dtype), zeros(shape, dtype)
        self.built = True

    def call(self, inputs, training=None):
        if not self.trainable:
            return self._normalized(inputs, False)
        return by_phase(
            training,
            lambda: self._normalized(inputs, True),
            lambda: self._normalized(inputs, False),
        )

    def _normalized(self, inputs, training):
        if self._fused:
            return self._call_fused(inputs, training)
        x = inputs
        if x.dtype in (dtypes.float16, dtypes.bfloat16):
            x = cast(x, dtypes.float32)
        if training:
            mean, variance = moments(x, self._reduced, keepdims=len(self.axis) > 1)
            self._move(mean, variance)
        else:
            mean, variance = self.moving_mean, self.moving_variance
        parts = [mean, variance, self.beta, self.gamma]
        if self._broadcast is not None:
            parts = [None if part is None else reshape(part, self._broadcast) for part in parts]
        outputs = batch_normalization(x, *parts, self.epsilon)
        return outputs if x is inputs else cast(outputs, inputs.dtype)

    def _call_fused(self, inputs, training):
        channels_first = self.axis == [1]
        if channels_first:
            inputs = transpose(inputs, [0, 2, 3, 1])
        scale = self._no_scale if self.gamma is None else self.gamma
        offset = self._no_offset if self.beta is None else self.beta
        results = FusedBatchNormV3(
            inputs,
            scale,
            offset,
            self._empty if training else self.moving_mean,
            self._empty if training else self.moving_variance,
            epsilon=self.epsilon,
            is_training=training,
        )
        if training:
            self._move(results[1], results[2])
        return transpose(results[0], [0, 3, 1, 2]) if channels_first else results[0]

    @property
    def _empty(self):
        return zeros([0], self.moving_mean.dtype)

    def _move(self, mean, variance):
        """Brings the moving averages nearer to the batch's statistics."""
        rate = 1.0 - self.momentum
        for moving, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            moving.assign_sub((moving - value) * rate)

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
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


class LayerNormalization(SameShape):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, for each example by itself."""

    _casts_weights = False

    def __init__(
        self,
        axis=-1,
        epsilon=0.001,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                f"{axis}"
            )
        self.axis = axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.gamma = self.beta = None

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        rank = len(sizes)
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [axis + rank if axis < 0 else axis for axis in axes]
        if any(not 0 <= axis < rank for axis in axes):
            raise ValueError(
                f"Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with "
                f"inputs.rank={rank}). Received: axis={self.axis}"
            )
        if len(set(axes)) != len(axes):
            raise ValueError(f"Duplicate axis: {tuple(axes)}")
        self.axis = axes
        shape = [sizes[axis] for axis in axes]
        self._broadcast = (
            None
            if axes == list(range(rank - len(axes), rank))
            else [sizes[i] if i in axes else 1 for i in range(rank)]
        )
        if self.scale:
            self.gamma = self.add_weight(
                "gamma",
                shape,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center:
            self.beta = self.add_weight(
                "beta",
                shape,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        self.built = True

    def call(self, inputs):
        x = inputs
        if x.dtype in (dtypes.float16, dtypes.bfloat16):
            x = cast(x, dtypes.float32)
        mean, variance = moments(x, self.axis, keepdims=True)
        outputs = (x - mean) * rsqrt(variance + self.epsilon)
        for weight, apply in ((self.gamma, _multiply), (self.beta, _add)):
            if weight is not None:
                value = weight if self._broadcast is None else reshape(weight, self._broadcast)
                outputs = apply(outputs, value)
        return outputs if x is inputs else cast(outputs, inputs.dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            "beta_initializer": initializers.serialize(self.beta_initializer),
            "gamma_initializer": initializers.serialize(self.gamma_initializer),
            "beta_regularizer": regularizers.serialize(self.beta_regularizer),
            "gamma_regularizer": regularizers.serialize(self.gamma_regularizer),
            "beta_constraint": constraints.serialize(self.beta_constraint),
            "gamma_constraint": constraints.serialize(self.gamma_constraint),
        }


def _multiply(a, b):
    return a * b


def _add(a, b):
    return a + b
