"""Normalizations without moving averages: of groups of channels, of lengths, of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.core.same_shape import SameShape
from tapeflow.keras.layers.wrappers import Wrapper
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import stop_gradient
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import rsqrt, square
from tapeflow.ops.math.reductions import reduce_mean
from tapeflow.ops.nn.normalization import l2_normalize, moments


class GroupNormalization(SameShape):
    """Brings each of `groups` groups of channels of an example to mean 0 and variance 1, then scales it.

    Output shape: that of the inputs.

    Args:
      groups: the number of groups, which must divide the channels; -1 for one per channel.
      axis: the axis of the channels.
      epsilon: a small number that keeps the division finite.
      center: whether a trained offset beta is added.
      scale: whether a trained factor gamma is applied.
      beta_initializer, gamma_initializer: first values of offset and factor; initializers or their names.
      beta_regularizer, gamma_regularizer: penalties on them, added to the model's `losses`; regularizers, names or
        None.
      beta_constraint, gamma_constraint: functions applied to them after each update; constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: at the first call, if `groups` does not divide the channels or their number is unknown.
    """

    # Set once the weights are made.
    gamma: Any = None
    beta: Any = None

    def __init__(
        self, groups: int = 32, axis: int = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: str = "zeros", gamma_initializer: str = "ones", beta_regularizer=None,
        gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs,
    ):
        super().__init__(**kwargs)
        if not keras_2():
            self.autocast = False
        if groups != -1 and not keras_2() and not (isinstance(groups, int) and groups > 0):
            raise ValueError(
                "The argument `groups` must be a positive integer, or -1 for one per channel. Received: "
                f"groups={groups}"
            )
        self.groups, self.axis, self.epsilon = groups, axis, epsilon
        self.center, self.scale = center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)

    def build(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        size = sizes[self.axis]
        if size is None:
            raise ValueError(
                f"Axis {self.axis} of input tensor should have a defined dimension but the layer "
                f"received an input with shape {tuple(sizes)}."
            )
        if self.groups == -1:
            self.groups = size
        if size < self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) cannot be more than the number of channels ({size})."
            )
        if size % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels ({size})."
            )
        self.input_spec = InputSpec(ndim=len(sizes), axes={self.axis: size})
        if self.scale:
            self.gamma = self.add_weight(
                "gamma", (size,), initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
            )  # fmt: skip
        if self.center:
            self.beta = self.add_weight(
                "beta", (size,), initializer=self.beta_initializer,
                regularizer=self.beta_regularizer, constraint=self.beta_constraint,
            )  # fmt: skip
        self.built = True

    def call(self, inputs):
        inputs = self._as_wide_floats(inputs)
        sizes = inputs.shape.as_list()
        axis = self.axis % len(sizes)
        dynamic = shape_of(inputs) if None in sizes else None
        known = [dynamic[i] if size is None else size for i, size in enumerate(sizes)]
        split = [*known[:axis], self.groups, known[axis] // self.groups, *known[axis + 1 :]]
        groups = reshape(inputs, split)
        axes = [i for i in range(1, len(split)) if i != axis]
        mean, variance = moments(groups, axes, keepdims=True)
        normal = reshape((groups - mean) * rsqrt(variance + self.epsilon), known)
        along = [-1 if i == axis else 1 for i in range(len(sizes))]
        if self.gamma is not None:
            normal = normal * cast(reshape(self.gamma, along), normal.dtype)
        if self.beta is not None:
            normal = normal + cast(reshape(self.beta, along), normal.dtype)
        return cast(normal, self._compute_dtype_object)

    def get_config(self):
        return {
            **super().get_config(),
            "groups": self.groups,
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


class RMSNormalization(SameShape):
    """x / sqrt(mean(x^2) + epsilon) along `axis`, times a trained scale.

    Output shape: that of the inputs.

    Args:
      axis: the axis of the mean, or several.
      epsilon: a small number that keeps the division finite.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = False  # as in Keras 3, the only one that has the layer
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        axes = self.axis if isinstance(self.axis, (list, tuple)) else [self.axis]
        self.scale = self.add_weight("scale", [sizes[i] for i in axes], initializer="ones")
        self.built = True

    def call(self, inputs):
        inputs = self._as_wide_floats(inputs)
        axes = self.axis if isinstance(self.axis, (list, tuple)) else [self.axis]
        axes = [axis % inputs.shape.rank for axis in axes]
        along = [size if i in axes else 1 for i, size in enumerate(inputs.shape.as_list())]
        root = rsqrt(reduce_mean(square(inputs), axis=axes, keepdims=True) + self.epsilon)
        return cast(inputs * root * cast(reshape(self.scale, along), inputs.dtype), self._compute_dtype_object)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis, "epsilon": self.epsilon}


class UnitNormalization(SameShape):
    """Scales vectors along `axis` to length 1; vectors of zeros stay zeros.

    Output shape: that of the inputs.

    Args:
      axis: the axis of the vectors, or several.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      TypeError: for an `axis` of another type than integers.

    >>> print(tf.keras.layers.UnitNormalization()(tf.constant([[3.0, 4.0]])).numpy())
    [[0.6 0.8]]
    """

    _built_at_init = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(
                "Invalid value for `axis` argument: expected an int or a list/tuple of ints. "
                f"Received: axis={axis}"
            )
        self.axis = axis

    def call(self, inputs: Tensor):
        return l2_normalize(self._as_floats(inputs), axis=self.axis, epsilon=1e-12)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class SpectralNormalization(Wrapper):
    """Divides the kernel of a layer by its largest singular value, found by power iteration, at each training call.

    Args:
      layer: a layer with a `kernel` or `embeddings`.
      power_iterations: how many steps of the iteration each training call makes.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for iterations below 1, and at the first call for a layer without such a weight.
    """

    _known_to_keras_2 = False

    def __init__(self, layer, power_iterations: int = 1, **kwargs):
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError(
                "`power_iterations` should be greater than zero. Received: "
                f"`power_iterations={power_iterations}`"
            )
        self.power_iterations = power_iterations

    def build(self, input_shape: ShapeLike | None = None):
        super().build(input_shape)
        kernel = getattr(self.layer, "kernel", None)
        kernel = getattr(self.layer, "embeddings", None) if kernel is None else kernel
        if kernel is None:
            raise ValueError(
                f"{type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings'"
            )
        self.__dict__["_kernel"] = kernel
        self.kernel = kernel  # in files, it is a weight of the wrapper, too
        self.vector_u = self.add_weight(
            "vector_u",
            (1, kernel.shape.as_list()[-1]),
            initializer=initializers.TruncatedNormal(stddev=0.02),
            trainable=False,
        )
        self.built = True

    def call(self, inputs: Tensor, training: bool | Tensor | None = None):
        by_phase(training, self.normalize_weights, lambda: None)
        return self.layer(inputs)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return self.layer.compute_output_shape(input_shape)

    def normalize_weights(self):
        """Divides the kernel by the largest singular value found so far."""
        kernel = self._kernel
        matrix = reshape(kernel, [-1, kernel.shape.as_list()[-1]])
        u = self.vector_u.read_value()
        for _ in range(self.power_iterations):
            v = l2_normalize(matmul(u, matrix, transpose_b=True))
            u = l2_normalize(matmul(v, matrix))
        u, v = stop_gradient(u), stop_gradient(v)
        sigma = matmul(matmul(v, matrix), u, transpose_b=True)
        self.vector_u.assign(u)
        kernel.assign(reshape(matrix / sigma, kernel.shape))

    def normalized_weights(self):
        """(the kernel divided by its largest singular value found so far, the vector that it was found with)."""
        kernel = convert_to_tensor(self._kernel)
        matrix = reshape(kernel, [-1, kernel.shape.as_list()[-1]])
        u = self.vector_u.read_value()
        for _ in range(self.power_iterations):
            v = l2_normalize(matmul(u, matrix, transpose_b=True))
            u = l2_normalize(matmul(v, matrix))
        sigma = matmul(matmul(v, matrix), u, transpose_b=True)
        return reshape(matrix / sigma, kernel.shape), u

    def get_config(self):
        return {**super().get_config(), "power_iterations": self.power_iterations}
