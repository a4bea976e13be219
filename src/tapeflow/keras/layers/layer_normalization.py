"""Normalization over features (Ba et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.layers.core.same_shape import SameShape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import rsqrt
from tapeflow.ops.nn.layer_norm import LayerNormRows
from tapeflow.ops.nn.normalization import moments


class LayerNormalization(SameShape):
    """Brings each example to mean 0 and variance 1 over `axis`, then multiplies by gamma and adds beta.

    The result of an example does not depend on the others, and is the same in training and outside of it.

    Output shape: that of the inputs.

    Args:
      axis: the axis that is normalized, or several; gamma and beta have their shape.
      epsilon: a small number added to the variance.
      center: whether a trained offset beta is added.
      scale: whether a trained factor gamma is applied.
      beta_initializer, gamma_initializer: first values of offset and factor; initializers or their names.
      beta_regularizer, gamma_regularizer: penalties on them, added to the model's `losses`; regularizers, names or
        None.
      beta_constraint, gamma_constraint: functions applied to them after each update; constraints, names or None.
      **kwargs: `rms_scaling`, whether inputs are divided by their root mean square only, and neither the mean is
        subtracted nor beta added; `name`, `dtype`, `trainable` and the other arguments that all layers take; see
        `Layer`.

    Raises:
      TypeError: for an `axis` of another type than integers.
      ValueError: at the first call, for axes that the inputs do not have.

    >>> layer = tf.keras.layers.LayerNormalization(epsilon=0.0)
    >>> print(layer(tf.constant([[1.0, 3.0], [10.0, 30.0]])).numpy())
    [[-1.  1.]
     [-1.  1.]]
    """

    _casts_weights = False

    # Set once the weights are made.
    gamma: Any = None
    beta: Any = None

    def __init__(
        self, axis=-1, epsilon: float = 0.001, center: bool = True, scale: bool = True,
        beta_initializer: str = "zeros", gamma_initializer: str = "ones", beta_regularizer=None,
        gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs,
    ):
        rms_scaling = kwargs.pop("rms_scaling", False)
        super().__init__(**kwargs)
        if not keras_2():
            self.autocast = False
        self.rms_scaling = rms_scaling
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

    def build(self, input_shape: Sequence[Any]):
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
        self._last_axis = axes == [rank - 1]
        shape = [sizes[axis] for axis in axes]
        self._broadcast = (
            None
            if axes == list(range(rank - len(axes), rank))
            else [sizes[i] if i in axes else 1 for i in range(rank)]
        )
        if self.scale or self.rms_scaling:
            self.gamma = self.add_weight(
                "gamma",
                shape,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center and not self.rms_scaling:
            self.beta = self.add_weight(
                "beta",
                shape,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        self.built = True

    def call(self, inputs: Tensor):
        if not keras_2():
            inputs = self._as_wide_floats(inputs)
        x = inputs = self._as_floats(inputs)
        if x.dtype in (dtypes.float16, dtypes.bfloat16):
            x = cast(x, dtypes.float32)
        if not self.rms_scaling and self._last_axis and x.dtype in (dtypes.float32, dtypes.float64):
            gamma, beta = (self._weights_for(w, x) for w in (self.gamma, self.beta))
            outputs = LayerNormRows(x, gamma, beta, self.epsilon).y
            return self._narrowed(outputs, inputs.dtype)
        mean, variance = moments(x, self.axis, keepdims=True)
        outputs = (x if self.rms_scaling else x - mean) * rsqrt(variance + self.epsilon)
        for weight, apply in ((self.gamma, _multiply), (self.beta, _add)):
            if weight is not None:
                value = weight if self._broadcast is None else reshape(weight, self._broadcast)
                outputs = apply(outputs, value if keras_2() else cast(value, outputs.dtype))
        return self._narrowed(outputs, inputs.dtype)

    def _narrowed(self, outputs: Tensor, dtype: dtypes.DType):
        """The outputs in the dtype that the layer computes in, in Keras 2 that of the inputs."""
        dtype = dtype if keras_2() else self._compute_dtype_object
        return outputs if outputs.dtype == dtype else cast(outputs, dtype)

    def _weights_for(self, weight: Variable | None, x: Tensor):
        """What the row takes: weights without elements count as none."""
        return zeros([0], x.dtype) if weight is None else cast(weight, x.dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            **({} if keras_2() else {"rms_scaling": self.rms_scaling}),
            "beta_initializer": initializers.serialize(self.beta_initializer),
            "gamma_initializer": initializers.serialize(self.gamma_initializer),
            "beta_regularizer": regularizers.serialize(self.beta_regularizer),
            "gamma_regularizer": regularizers.serialize(self.gamma_regularizer),
            "beta_constraint": constraints.serialize(self.beta_constraint),
            "gamma_constraint": constraints.serialize(self.gamma_constraint),
        }


def _multiply(a: Tensor, b: Tensor | Variable):
    return a * b


def _add(a: Tensor, b: Tensor | Variable):
    return a + b
