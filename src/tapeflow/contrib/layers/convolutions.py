"""Convolutions and pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat.v1.nn import depthwise_conv2d
from tapeflow.compat.v1.nn import pool as pool_op
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
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.dilated import with_space_to_batch
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.bias import bias_add
from tapeflow.v1 import initializers
from tapeflow.v1.layers import classes, pooling

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope

__all__ = [
    "avg_pool2d", "avg_pool3d", "conv1d", "conv2d", "conv2d_in_plane", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "convolution", "convolution1d", "convolution2d", "convolution2d_in_plane",
    "convolution2d_transpose", "convolution3d", "convolution3d_transpose", "images_to_sequence",
    "max_pool2d", "max_pool3d", "pool", "separable_conv2d", "separable_convolution2d",
    "sequence_to_images",
]  # fmt: skip

_RENAME = {"kernel": "weights", "bias": "biases"}
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_ZEROS = initializers.zeros_initializer()
_XAVIER = xavier_initializer()
# The name of the scope of a convolution that is given none.
SCOPE = "Conv"


def _keras_format(data_format: str | None):
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


@add_arg_scope
def convolution(
    inputs, num_outputs, kernel_size, stride=1, padding: str = "SAME", data_format: str | None = None, rate=1,
    activation_fn=relu, normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER,
    weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None, reuse: bool | None = None,
    variables_collections: Collections | None = None, outputs_collections: Collections | None = None,
    trainable: bool = True, scope: str | VariableScope | None = None, conv_dims=None,
):  # fmt: skip
    """A convolution over one, two or three axes, as many as the inputs have; with a normalizer it has no biases.

    Raises ValueError for an unknown format, and for inputs of another rank.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with layer_scope(scope, SCOPE, [inputs], reuse, _RENAME) as found:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(
                f"Convolution expects input with rank {conv_dims + 2}, got {rank}"
            )
        kind = {3: classes.Conv1D, 4: classes.Conv2D, 5: classes.Conv3D}.get(rank)
        if kind is None:
            raise ValueError(f"Convolution not supported for input with rank {rank}")
        layer = kind(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=_keras_format(data_format), dilation_rate=rate, activation=None,
            use_bias=not normalizer_fn and bool(biases_initializer),
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


def _of_rank(dims: int, name: str):
    def layer(
        inputs: TensorLike, num_outputs: int, kernel_size: Sequence[int] | int, stride: int = 1,
        padding: str = "SAME", data_format: str | None = None, rate: int = 1,
        activation_fn: Callable[..., Any] = relu, normalizer_fn: Callable[..., Any] | None = None,
        normalizer_params: dict[str, Any] | None = None, weights_initializer=_XAVIER,
        weights_regularizer: Callable[..., Any] | None = None, biases_initializer=_ZEROS, biases_regularizer=None,
        reuse: bool | None = None, variables_collections: Collections | None = None,
        outputs_collections: str | None = None, trainable: bool = True, scope: str | None = None,
    ):  # fmt: skip
        return convolution(
            inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
            normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
            biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections,
            trainable, scope, conv_dims=dims,
        )  # fmt: skip

    layer.__name__ = layer.__qualname__ = name
    layer.__doc__ = f"`convolution` over {dims} of the axes of inputs of rank {dims + 2}."
    return add_arg_scope(layer)


convolution1d = conv1d = _of_rank(1, "convolution1d")
convolution2d = conv2d = _of_rank(2, "convolution2d")
convolution3d = conv3d = _of_rank(3, "convolution3d")


@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike, kernel_size: int, stride: int = 1, padding: str = "SAME",
    activation_fn: Callable[..., Any] = relu, normalizer_fn: Callable[..., Any] | None = None, normalizer_params=None,
    weights_initializer=_XAVIER, weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None,
    reuse: bool | None = None, variables_collections: Collections | None = None,
    outputs_collections: Collections | None = None, trainable: bool = True, scope: str | VariableScope | None = None,
):  # fmt: skip
    """The same convolution of each channel by itself."""
    with layer_scope(scope, "ConvInPlane", [inputs], reuse) as found:
        inputs = convert_to_tensor(inputs)
        height, width = _pair(kernel_size)
        steps = _pair(stride)
        channels = inputs.shape.as_list()[-1]
        dtype = inputs.dtype.base_dtype
        weights = model_variable(
            "weights", shape=[height, width, 1, 1], dtype=dtype, initializer=weights_initializer,
            regularizer=weights_regularizer, trainable=trainable,
            collections=get_variable_collections(variables_collections, "weights"),
        )  # fmt: skip

        outputs = depthwise_conv2d(
            inputs, tile(weights, [1, 1, channels, 1]), [1, *steps, 1], padding
        )
        if normalizer_fn is None and biases_initializer is not None:
            biases = model_variable(
                "biases", shape=[channels], dtype=dtype, initializer=biases_initializer,
                regularizer=biases_regularizer, trainable=trainable,
                collections=get_variable_collections(variables_collections, "biases"),
            )  # fmt: skip
            outputs = bias_add(outputs, biases)
        return finished(
            outputs, found, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


conv2d_in_plane = convolution2d_in_plane


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(int(each) for each in value)


def _transposed(cls, formats: Sequence[str], default: str, title: str):
    def layer(
        inputs: Tensor, num_outputs: int, kernel_size: int, stride: int = 1, padding: str = "SAME",
        data_format: str = default, activation_fn: Callable[..., Any] = relu,
        normalizer_fn: Callable[..., Any] | None = None, normalizer_params=None, weights_initializer=_XAVIER,
        weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None, reuse: bool | None = None,
        variables_collections: Collections | None = None, outputs_collections: Collections | None = None,
        trainable: bool = True, scope: str | VariableScope | None = None,
    ):  # fmt: skip
        channels_first(data_format, formats)
        with layer_scope(scope, title, [inputs], reuse, _RENAME) as found:
            inputs = convert_to_tensor(inputs)
            made = cls(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
                data_format=_keras_format(data_format), activation=None,
                use_bias=not normalizer_fn and bool(biases_initializer),
                kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
                kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                trainable=trainable, name=found.name, dtype=inputs.dtype.base_dtype, _scope=found,
                _reuse=reuse,
            )  # fmt: skip
            outputs = made.apply(inputs)
            collect_variable(made.kernel, variables_collections, "weights")
            collect_variable(made.bias, variables_collections, "biases")
            return finished(
                outputs, found, outputs_collections, activation_fn, normalizer_fn, normalizer_params
            )

    layer.__name__ = layer.__qualname__ = (
        "convolution2d_transpose" if len(default) == 4 else "convolution3d_transpose"
    )
    layer.__doc__ = "The transpose of a convolution: from few places to many."
    return add_arg_scope(layer)


convolution2d_transpose = conv2d_transpose = _transposed(
    classes.Conv2DTranspose, ("NCHW", "NHWC"), "NHWC", "Conv2d_transpose"
)
convolution3d_transpose = conv3d_transpose = _transposed(
    classes.Conv3DTranspose, ("NCDHW", "NDHWC"), "NDHWC", "Conv3d_transpose"
)


@add_arg_scope
def separable_convolution2d(
    inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME", data_format="NHWC",
    rate=1, activation_fn=relu, normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER,
    pointwise_initializer=None, weights_regularizer=None, biases_initializer=_ZEROS,
    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
    trainable=True, scope=None,
):  # fmt: skip
    """A convolution of each channel by itself, then one of 1 x 1 over all; the second is left out for no outputs."""
    first = channels_first(data_format, ("NCHW", "NHWC"))
    if depth_multiplier != int(depth_multiplier):
        raise ValueError(f"Ambiguous dimension: {depth_multiplier}")
    depth_multiplier = int(depth_multiplier)  # 1.0 is as good
    rename = {
        "bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights",
    }  # fmt: skip
    with layer_scope(scope, "SeparableConv2d", [inputs], reuse, rename) as found:
        inputs = convert_to_tensor(inputs)
        if pointwise_initializer is None:
            pointwise_initializer = weights_initializer
        if num_outputs is not None:
            layer = classes.SeparableConv2D(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
                data_format=_keras_format(data_format), dilation_rate=_pair(rate), activation=None,
                depth_multiplier=depth_multiplier,
                use_bias=not normalizer_fn and bool(biases_initializer),
                depthwise_initializer=weights_initializer, pointwise_initializer=pointwise_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                trainable=trainable, name=found.name, dtype=inputs.dtype.base_dtype, _scope=found,
                _reuse=reuse,
            )  # fmt: skip
            outputs = layer.apply(inputs)
            collect_variable(layer.depthwise_kernel, variables_collections, "weights")
            collect_variable(layer.pointwise_kernel, variables_collections, "weights")
            collect_variable(layer.bias, variables_collections, "biases")
        else:
            channels = inputs.shape.as_list()[1 if first else 3]
            dtype = inputs.dtype.base_dtype
            weights = model_variable(
                "depthwise_weights", shape=[*_pair(kernel_size), channels, depth_multiplier],
                dtype=dtype, initializer=weights_initializer, regularizer=weights_regularizer,
                trainable=trainable,
                collections=get_variable_collections(variables_collections, "weights"),
            )  # fmt: skip
            steps = _pair(stride)
            strides = [1, 1, *steps] if first else [1, *steps, 1]
            outputs = _depthwise(inputs, weights, strides, padding, _pair(rate), data_format)
            if normalizer_fn is None and biases_initializer is not None:
                biases = model_variable(
                    "biases", shape=[channels * depth_multiplier], dtype=dtype,
                    initializer=biases_initializer, regularizer=biases_regularizer, trainable=trainable,
                    collections=get_variable_collections(variables_collections, "biases"),
                )  # fmt: skip
                outputs = bias_add(outputs, biases, data_format=data_format)
        return finished(
            outputs, found, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


separable_conv2d = separable_convolution2d


def _depthwise(inputs: TensorLike, weights, strides: Sequence[int], padding: str, rates, data_format: str):
    """The convolution of each channel; dilated on parts of the images, as `quantize` expects it."""
    if list(rates) == [1, 1]:
        return depthwise_conv2d(inputs, weights, strides, padding, data_format=data_format)

    def of_parts(parts, _: int, padding: str):
        return depthwise_conv2d(parts, weights, strides, padding, data_format=data_format, name=scope)

    with name_scope(None, "depthwise", [inputs]) as scope:
        return with_space_to_batch(
            inputs, rates, padding, of_parts, filter_shape=weights.shape.as_list(), data_format=data_format
        )


def _pooling(cls, formats: Sequence[str], default: str, title: str, name: str):
    def layer(
        inputs: Tensor, kernel_size: Sequence[int] | int, stride: int = 2, padding: str = "VALID",
        data_format: str = default, outputs_collections: Collections | None = None, scope: str | None = None,
    ):  # fmt: skip
        channels_first(data_format, formats)
        with name_scope(scope, title, [inputs]) as found:
            inputs = convert_to_tensor(inputs)
            made = cls(
                pool_size=kernel_size, strides=stride, padding=padding,
                data_format=_keras_format(data_format), _scope=found,
            )  # fmt: skip
            return collect_named_outputs(outputs_collections, found, made.apply(inputs))

    layer.__name__ = layer.__qualname__ = name
    layer.__doc__ = "Pooling; see tf.layers."
    return add_arg_scope(layer)


_2D, _3D = ("NCHW", "NHWC"), ("NCDHW", "NDHWC")
avg_pool2d = _pooling(pooling.AveragePooling2D, _2D, "NHWC", "AvgPool2D", "avg_pool2d")
avg_pool3d = _pooling(pooling.AveragePooling3D, _3D, "NDHWC", "AvgPool3D", "avg_pool3d")
max_pool2d = _pooling(pooling.MaxPooling2D, _2D, "NHWC", "MaxPool2D", "max_pool2d")
max_pool3d = _pooling(pooling.MaxPooling3D, _3D, "NDHWC", "MaxPool3D", "max_pool3d")


@add_arg_scope
def pool(
    inputs: TensorLike, kernel_size, pooling_type, padding: str = "VALID", data_format: str | None = None,
    dilation_rate: int = 1, stride: int = 1, outputs_collections: Collections | None = None, scope=None,
):  # fmt: skip
    """Pooling over as many axes as the inputs have. Raises ValueError for inputs of rank below 3."""
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as found:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        axes = rank - 2

        def many(value):
            return [value] * axes if isinstance(value, int) else list(value)

        outputs = pool_op(
            inputs, many(kernel_size), pooling_type, padding, many(dilation_rate), many(stride),
            data_format=data_format,
        )  # fmt: skip
        return collect_named_outputs(outputs_collections, found, outputs)


@add_arg_scope
def images_to_sequence(
    inputs: Tensor, data_format: str = "NHWC", outputs_collections: Collections | None = None, scope=None
):
    """Pictures as sequences of their columns: [width, batch * height, channels]."""
    first = channels_first(data_format, _2D)
    with name_scope(scope, "ImagesToSequence", [inputs]) as found:
        inputs = convert_to_tensor(inputs)
        if first:
            inputs = transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.shape.as_list()
        sizes = shape_of(inputs)
        flat = reshape(inputs, [sizes[0] * sizes[1], sizes[2], sizes[3]])
        outputs = transpose(flat, [1, 0, 2])
        outputs.set_shape([width, None, depth])
        return collect_named_outputs(outputs_collections, found, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: TensorLike, height, output_data_format: str = "channels_last",
    outputs_collections: Collections | None = None, scope=None,
):
    """The inverse of `images_to_sequence`."""
    with name_scope(scope, "SequenceToImages", [inputs]) as found:
        inputs = convert_to_tensor(inputs)
        width, _, depth = inputs.shape.as_list()
        sizes = shape_of(inputs)
        batch = -1 if inputs.shape.as_list()[1] is None else inputs.shape.as_list()[1] // height
        wide = reshape(inputs, [sizes[0], batch, height, depth])
        outputs = transpose(wide, [1, 2, 0, 3])
        if output_data_format == "channels_first":
            outputs = transpose(outputs, [0, 3, 1, 2])
        else:
            outputs.set_shape([None, height, width, depth])
        return collect_named_outputs(outputs_collections, found, outputs)
