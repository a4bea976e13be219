"""The functions of `tf.layers`: each makes a layer and calls it once."""

from __future__ import annotations

import inspect

from tapeflow.core.public import boundaries
from tapeflow.v1.layers import classes, pooling

_WEIGHTS = (
    "activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
    "activity_regularizer kernel_constraint bias_constraint trainable name reuse"
)
_SEPARABLE = (
    "filters kernel_size strides padding data_format dilation_rate depth_multiplier activation "
    "use_bias depthwise_initializer pointwise_initializer bias_initializer depthwise_regularizer "
    "pointwise_regularizer bias_regularizer activity_regularizer depthwise_constraint "
    "pointwise_constraint bias_constraint trainable name reuse"
)
_CONVOLUTION = f"filters kernel_size strides padding data_format dilation_rate {_WEIGHTS}"
_POOLING = "pool_size strides padding data_format name"
_NORMALIZATION = (
    "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
    "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint "
    "training trainable name reuse renorm renorm_clipping renorm_momentum fused virtual_batch_size "
    "adjustment"
)


def _function(name, cls, arguments, required=()):
    """The function of 1.x with these arguments after `inputs`, in this order."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("inputs", kind)]
    for argument in arguments.split():
        default = inspect.Parameter.empty if argument in required else None
        parameters.append(inspect.Parameter(argument, kind, default=default))
    signature = inspect.Signature(parameters)

    def layer_function(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        inputs = given.pop("inputs")
        call = {"training": given.pop("training")} if "training" in given else {}
        if "reuse" in signature.parameters:
            given.update(_reuse=given.pop("reuse", None), _scope=given.get("name"))
        return cls(**given)(inputs, **call)

    layer_function.__name__ = layer_function.__qualname__ = name
    layer_function.__doc__ = f"Makes a {cls.__name__} layer and calls it on `inputs`."
    layer_function.__signature__ = signature
    return layer_function


_SIZE = ("filters", "kernel_size")
_POOL = ("pool_size", "strides")
dense = _function("dense", classes.Dense, f"units {_WEIGHTS}", ("units",))
dropout = _function("dropout", classes.Dropout, "rate noise_shape seed training name")
flatten = _function("flatten", classes.Flatten, "name data_format")
conv1d = _function("conv1d", classes.Conv1D, _CONVOLUTION, _SIZE)
conv2d = _function("conv2d", classes.Conv2D, _CONVOLUTION, _SIZE)
conv3d = _function("conv3d", classes.Conv3D, _CONVOLUTION, _SIZE)
conv2d_transpose = _function(
    "conv2d_transpose",
    classes.Conv2DTranspose,
    f"filters kernel_size strides padding data_format {_WEIGHTS}",
    _SIZE,
)
conv3d_transpose = _function(
    "conv3d_transpose",
    classes.Conv3DTranspose,
    f"filters kernel_size strides padding data_format {_WEIGHTS}",
    _SIZE,
)
separable_conv1d = _function("separable_conv1d", classes.SeparableConv1D, _SEPARABLE, _SIZE)
separable_conv2d = _function("separable_conv2d", classes.SeparableConv2D, _SEPARABLE, _SIZE)
batch_normalization = _function("batch_normalization", classes.BatchNormalization, _NORMALIZATION)
max_pooling1d = _function("max_pooling1d", pooling.MaxPooling1D, _POOLING, _POOL)
max_pooling2d = _function("max_pooling2d", pooling.MaxPooling2D, _POOLING, _POOL)
max_pooling3d = _function("max_pooling3d", pooling.MaxPooling3D, _POOLING, _POOL)
average_pooling1d = _function("average_pooling1d", pooling.AveragePooling1D, _POOLING, _POOL)
average_pooling2d = _function("average_pooling2d", pooling.AveragePooling2D, _POOLING, _POOL)
average_pooling3d = _function("average_pooling3d", pooling.AveragePooling3D, _POOLING, _POOL)


boundaries(globals())
