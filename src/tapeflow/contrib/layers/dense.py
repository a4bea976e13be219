"""Fully connected layers, dropout, and what changes only the shape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.framework.variables import model_variable
from tapeflow.contrib.layers.building import (
    channels_first,
    collect_variable,
    finished,
    layer_scope,
)
from tapeflow.contrib.layers.named_outputs import collect_named_outputs, get_variable_collections
from tapeflow.contrib.layers.weights import xavier_initializer
from tapeflow.core.annotations import Collections, TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.ops.math.reductions import reduce_max, reduce_sum
from tapeflow.ops.nn.activation import elu as elu_op
from tapeflow.ops.nn.activation import relu as relu_op
from tapeflow.ops.nn.activation import relu6 as relu6_op
from tapeflow.ops.nn.bias import bias_add as add_bias
from tapeflow.ops.nn.softmax import softmax as softmax_op
from tapeflow.v1 import initializers
from tapeflow.v1.layers import classes
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = [
    "bias_add", "dense_to_sparse", "dropout", "elu", "flatten", "fully_connected", "legacy_fully_connected",
    "legacy_linear", "legacy_relu", "linear", "maxout", "one_hot_encoding", "relu", "relu6", "repeat",
    "softmax", "stack", "unit_norm",
]  # fmt: skip

_XAVIER = xavier_initializer()
_ZEROS = initializers.zeros_initializer()


@add_arg_scope
def fully_connected(
    inputs: TensorLike, num_outputs: int, activation_fn: Callable[..., Any] | None = relu_op,
    normalizer_fn: Callable[..., Any] | None = None, normalizer_params=None, weights_initializer=_XAVIER,
    weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None, reuse: bool | None = None,
    variables_collections: Collections | None = None, outputs_collections: Collections | None = None,
    trainable: bool = True, scope: str | VariableScope | None = None,
):  # fmt: skip
    """A layer whose every output sees every input; with a normalizer it has no biases.

    Raises ValueError for a number of outputs that is no int, or inputs of a rank below 2.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of {(int,)}, got {type(num_outputs)}.")
    rename = {"kernel": "weights", "bias": "biases"}
    with layer_scope(scope, "fully_connected", [inputs], reuse, rename) as found:
        inputs = convert_to_tensor(inputs)
        layer = classes.Dense(
            units=num_outputs, activation=None, use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
            trainable=trainable, name=found.name, dtype=inputs.dtype.base_dtype, _scope=found, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        collect_variable(layer.kernel, variables_collections, "weights")
        collect_variable(layer.bias, variables_collections, "biases")
        return finished(
            outputs, found, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


relu = functools.partial(fully_connected, activation_fn=relu_op)
relu6 = functools.partial(fully_connected, activation_fn=relu6_op)
elu = functools.partial(fully_connected, activation_fn=elu_op)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def legacy_fully_connected(
    x: TensorLike, num_output_units, activation_fn: Callable[..., Any] | None = None, weight_init=_XAVIER,
    bias_init=_ZEROS, name: str | None = None, weight_collections: Collections = ("weights",),
    bias_collections=("biases",), output_collections=("activations",), trainable: bool = True,
    weight_regularizer=None, bias_regularizer: Callable[..., Any] | None = None,
):  # fmt: skip
    """`fully_connected` with the arguments of before 1.0."""
    return fully_connected(
        x, num_output_units, activation_fn=activation_fn, weights_initializer=weight_init,
        weights_regularizer=weight_regularizer, biases_initializer=bias_init,
        biases_regularizer=bias_regularizer, trainable=trainable, scope=name,
        variables_collections={"weights": list(weight_collections), "biases": list(bias_collections)},
        outputs_collections=list(output_collections),
    )  # fmt: skip


legacy_linear = legacy_fully_connected
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu_op)


@add_arg_scope
def bias_add(
    inputs: TensorLike, activation_fn: Callable[..., Any] | None = None, initializer=_ZEROS,
    regularizer: Callable[..., Any] | None = None, reuse: bool | None = None,
    variables_collections: Collections | None = None, outputs_collections: Collections | None = None,
    trainable: bool = True, data_format: str = "NHWC", scope: str | VariableScope | None = None,
):  # fmt: skip
    """Adds a bias to each channel."""
    first = channels_first(data_format, ("NCHW", "NHWC"))
    with layer_scope(scope, "BiasAdd", [inputs], reuse) as found:
        inputs = convert_to_tensor(inputs)
        size = inputs.shape.as_list()[1 if first else -1]
        biases = model_variable(
            "biases", shape=[size], dtype=inputs.dtype.base_dtype, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
            collections=get_variable_collections(variables_collections, "biases"),
        )  # fmt: skip
        outputs = add_bias(inputs, biases, data_format=data_format)
        return finished(outputs, found, outputs_collections, activation_fn)


@add_arg_scope
def dropout(
    inputs: TensorLike, keep_prob: float = 0.5, noise_shape=None, is_training: bool = True,
    outputs_collections: Collections | None = None, scope: str | VariableScope | None = None, seed: int | None = None,
):  # fmt: skip
    """While training, keeps each input with a probability, scaled so that the sum is expected to stay."""
    with layer_scope(scope, "Dropout", [inputs]) as found:
        inputs = convert_to_tensor(inputs)
        layer = classes.Dropout(
            rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=found.name, _scope=found
        )
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, found.name, outputs)


@add_arg_scope
def flatten(inputs: TensorLike, outputs_collections: Collections | None = None, scope=None):
    """Every example as one row. Raises ValueError for inputs of rank 0."""
    with name_scope(scope, "Flatten", [inputs]) as found:
        inputs = convert_to_tensor(inputs)
        outputs = classes.Flatten()(inputs)
        return collect_named_outputs(outputs_collections, found, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
    outputs_collections: Collections | None = None, scope=None,
):
    """Class numbers as rows with one value at their place."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as found:
        labels = convert_to_tensor(labels)
        if labels.dtype.name == "int32":
            labels = cast(labels, "int64")
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, found, outputs)


@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike, eos_token: int = 0, outputs_collections: Collections | None = None,
    scope: str | VariableScope | None = None
):
    """The entries other than `eos_token`, as a sparse tensor."""
    with layer_scope(scope, "dense_to_sparse", [tensor]) as found:
        tensor = convert_to_tensor(tensor)
        places = where(not_equal(tensor, convert_to_tensor(eos_token, tensor.dtype)))
        outputs = SparseTensor(places, gather_nd(tensor, places), shape_of(tensor, out_type="int64"))
        return collect_named_outputs(outputs_collections, found.name, outputs)


@add_arg_scope
def softmax(logits: TensorLike, scope=None):
    """Softmax over the last axis."""
    with name_scope(scope, "softmax", [logits]):
        return softmax_op(convert_to_tensor(logits))


@add_arg_scope
def unit_norm(inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: str | VariableScope | None = None):
    """Inputs divided by their length along one axis. Raises ValueError for an axis that they have not."""
    with layer_scope(scope, "UnitNorm", [inputs]):
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if not rank:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        return inputs / sqrt(epsilon + reduce_sum(square(inputs), dim, keepdims=True))


@add_arg_scope
def maxout(inputs: TensorLike, num_units: int, axis: int = -1, scope=None):
    """The largest of each group of channels. Raises ValueError where they cannot be shared out evenly."""
    with name_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes = [-1 if size is None else size for size in inputs.shape.as_list()]
        channels = sizes[axis]
        if channels % num_units:
            raise ValueError(
                f"number of features({channels}) is not a multiple of num_units({num_units})"
            )
        sizes[axis] = num_units
        axis = axis + len(sizes) if axis < 0 else axis
        grouped = [*sizes[:axis], num_units, channels // num_units, *sizes[axis + 1 :]]
        if axis == len(sizes) - 1:
            return reshape(reduce_max(reshape(inputs, grouped), -1), sizes)
        return reshape(reduce_max(reshape(inputs, grouped), axis + 1), sizes)


def _name_of(scope: str, layer: Callable[..., Any]):
    """The name that the scopes of the applications of a layer begin with."""
    if scope is not None:
        return scope if isinstance(scope, str) else scope.name
    return getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", "layer")


def repeat(inputs: TensorLike, repetitions: int, layer: Callable[..., Any], *args, **kwargs):
    """Applies a layer several times, in the scopes `scope/scope_1`, `scope/scope_2`, ..."""
    scope = kwargs.pop("scope", None)
    name = _name_of(scope, layer)
    with variable_scope(scope, "Repeat", [inputs]):
        inputs = convert_to_tensor(inputs)
        outputs = inputs
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs


def stack(inputs: TensorLike, layer: Callable[..., Any], stack_args: Sequence[int], **kwargs):
    """Applies a layer once for each of `stack_args`, the arguments of that application, each in a scope of its own.

    Raises ValueError for arguments that are no list.
    """
    scope = kwargs.pop("scope", None)
    name = _name_of(scope, layer)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        inputs = convert_to_tensor(inputs)
        outputs = inputs
        for i, each in enumerate(stack_args):
            arguments = each if isinstance(each, (list, tuple)) else [each]
            outputs = layer(outputs, *arguments, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs
