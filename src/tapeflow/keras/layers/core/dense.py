"""`Dense`: a product with a matrix of weights."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow.core.annotations import Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.low_rank import AdaptableWeight, LowRank
from tapeflow.keras.layers.output_activation import activate
from tapeflow.keras.layers.quantized import Quantizable
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.casting import cast
from tapeflow.ops.nn.bias import bias_add
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul

if TYPE_CHECKING:
    from tapeflow.keras.regularizers import L2


def refuse_unknown_kinds(layer: str, **arguments):
    """Raises ValueError for weights that are quantized from the start, which there are not."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{layer} has no quantized weights: {name} must be None, got {value}.")


def _times(inputs, kernel):
    """The products over the last axis of the inputs."""
    return tensordot(inputs, kernel, [[inputs.shape.rank - 1], [0]])


def _times_scale(of_inputs: Tensor | None, of_kernel: Tensor):
    return of_kernel if of_inputs is None else of_inputs * of_kernel


class Dense(LowRank, Quantizable, Layer):
    """A fully connected layer: activation(inputs @ kernel + bias), over the last axis of the inputs.

    The kernel is made at the first call, when the size of that axis is known. A mask of the inputs is passed on.

    Input shape: `(batch, ..., features)`; the last size must be known.
    Output shape: `(batch, ..., units)`.

    Args:
      units: the number of outputs, an integer above 0.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      lora_rank: the number of columns of the factors that are trained instead of the whole weight, as by
        `enable_lora`; None trains the weight.
      lora_alpha: the factors' product counts `lora_alpha / lora_rank` times; None for once.
      quantization_config: must be None; use `quantize` on the built layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for `units` below 1, and at the first call for inputs of rank 1 or without a known last size.

    >>> layer = tf.keras.layers.Dense(3, kernel_initializer="ones")
    >>> print(layer(tf.constant([[1.0, 2.0]])).numpy())
    [[3. 3. 3.]]
    >>> layer.kernel.shape
    TensorShape([2, 3])
    """

    _checkpoint_names: ClassVar[dict[str, str]] = {"kernel": "_kernel"}

    kernel = AdaptableWeight()

    _plain_call = True

    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self, units: int, activation: Callable[..., Any] | str | None = None, use_bias: bool = True,
        kernel_initializer: dict[str, Any] | str | None = "glorot_uniform",
        bias_initializer: dict[str, Any] | str = "zeros",
        kernel_regularizer: Callable[..., Any] | L2 | None = None,
        bias_regularizer: Callable[..., Any] | None = None, activity_regularizer: str | None = None,
        kernel_constraint=None, bias_constraint=None, lora_rank=None, lora_alpha=None,
        quantization_config=None, **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_low_rank(lora_rank, lora_alpha)
        self._set_quantization_config(quantization_config)
        whole = isinstance(units, numbers.Integral) and not isinstance(units, bool)
        self.units = int(units) if whole or keras_2() else -1
        if self.units < (0 if keras_2() else 1):
            raise ValueError(
                "Received an invalid value for `units`, expected a positive integer. "
                f"Received: units={units}"
            )
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Sequence[Any]):
        last = TensorShape(input_shape)[-1]
        last = getattr(last, "value", last)
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to a Dense layer should be defined. Found None. "
                f"Full input shape received: {input_shape}"
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self._begin_quantized()
        self.kernel = self.add_weight(
            "kernel",
            [last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True
        if self.quantization_mode is not None and not self._is_float8:
            self._become_quantized()
        self._build_low_rank()

    def _scaled_axes(self):
        return 0

    def _scales_shape(self):
        return [self.units]

    def _broadcast_scales(self):
        return [1, self.units]

    _has_float8 = True

    def call(self, inputs):
        if inputs.dtype is not self._compute_dtype_object:
            inputs = cast(inputs, self._compute_dtype_object)
        if self._is_float8:
            return self._float8_call(inputs, _times)
        if self._scales is not None:
            outputs = self._integer_product(inputs, -1, _times, _times_scale)
        elif isinstance(inputs, SparseTensor):
            outputs = sparse_dense_matmul(inputs, self.kernel)
        elif inputs.ndim == 2:
            outputs = MatMul(inputs, self.kernel)
        else:
            outputs = tensordot(inputs, self.kernel, [[inputs.ndim - 1], [0]])
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        return activate(self.activation, outputs)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.rank is None or shape.as_list()[-1] is None:
            raise ValueError(
                "The last dimension of the input shape of a Dense layer should be defined. Found None. "
                f"Received: input_shape={input_shape}"
            )
        return TensorShape([*shape.as_list()[:-1], self.units])

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
            **self._low_rank_config(),
            **self._quantization_config_entry(),
        }
