"""The layers of `tf.contrib.layers` with masked weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.layers.building import collect_variable, finished, layer_scope
from tapeflow.contrib.layers.convolutions import SCOPE
from tapeflow.contrib.layers.weights import xavier_initializer
from tapeflow.contrib.model_pruning.core_layers import MaskedConv2D, MaskedFullyConnected
from tapeflow.core.annotations import Collections, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.initializers import zeros_initializer

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope

__all__ = ["masked_conv2d", "masked_convolution", "masked_fully_connected"]

_RENAME = {"kernel": "weights", "bias": "biases"}
_XAVIER, _ZEROS = xavier_initializer(), zeros_initializer()


@add_arg_scope
def masked_convolution(
    inputs: TensorLike, num_outputs, kernel_size, stride=1, padding: str = "SAME", data_format: str | None = None,
    rate=1,
    activation_fn=relu,
    normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER, weights_regularizer=None,
    biases_initializer=_ZEROS, biases_regularizer=None, reuse: bool | None = None,
    variables_collections: Collections | None = None,
    outputs_collections: Collections | None = None, trainable: bool = True, scope: str | VariableScope | None = None,
):  # fmt: skip
    """A convolution of pictures whose weights are masked; its arguments are those of `contrib.layers.conv2d`.

    Raises ValueError for an unknown format, and for inputs that are no pictures.
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with layer_scope(scope, SCOPE, [inputs], reuse, _RENAME) as found:
        inputs = convert_to_tensor(inputs)
        if inputs.shape.rank != 4:
            raise ValueError("Sparse Convolution not supported for input with rank", inputs.shape.rank)
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format="channels_first" if data_format == "NCHW" else "channels_last", dilation_rate=rate,
            activation=None, use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
            name=found.name, dtype=inputs.dtype.base_dtype, _scope=found, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        collect_variable(layer.kernel, variables_collections, "weights")
        collect_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, found, outputs_collections, activation_fn, normalizer_fn, normalizer_params)


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(
    inputs: TensorLike, num_outputs, activation_fn=relu, normalizer_fn=None, normalizer_params=None,
    weights_initializer=_XAVIER,
    weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None, reuse: bool | None = None,
    variables_collections: Collections | None = None, outputs_collections: Collections | None = None,
    trainable: bool = True, scope: str | VariableScope | None = None,
):  # fmt: skip
    """A layer whose every output sees every input, by masked weights; see `contrib.layers.fully_connected`.

    Raises ValueError for a number of outputs that is no int.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    with layer_scope(scope, "fully_connected", [inputs], reuse, _RENAME) as found:
        inputs = convert_to_tensor(inputs)
        layer = MaskedFullyConnected(
            units=num_outputs, activation=None, use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
            name=found.name, dtype=inputs.dtype.base_dtype, _scope=found, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        collect_variable(layer.kernel, variables_collections, "weights")
        collect_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, found, outputs_collections, activation_fn, normalizer_fn, normalizer_params)
