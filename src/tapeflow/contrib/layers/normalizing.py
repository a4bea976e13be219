"""Normalisation over the batch, over channels, over groups of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow._native import Variable
from tapeflow.compat.v1.nn import weighted_moments
from tapeflow.contrib.framework.checks import smart_cond
from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.framework.variables import model_variable
from tapeflow.contrib.layers.building import (
    channels_first,
    collect_variable,
    finished,
    layer_scope,
)
from tapeflow.contrib.layers.named_outputs import get_variable_collections
from tapeflow.core.annotations import Collections, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.variables import element_of_graph
from tapeflow.graph.build.collections import add_to_collections
from tapeflow.nn import batch_normalization, moments
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size as size_of
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.static import get_static_value
from tapeflow.train.moving_averages import assign_moving_average
from tapeflow.v1 import initializers
from tapeflow.v1.layers import classes

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]

_RENAME = {"gamma": "gamma", "beta": "beta", "moving_mean": "moving_mean", "moving_variance": "moving_variance"}


@add_arg_scope
def batch_norm(
    inputs: TensorLike, decay: float = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
    activation_fn=None, param_initializers=None, param_regularizers=None,
    updates_collections: str = "update_ops", is_training: bool = True, reuse: bool | None = None,
    variables_collections: Collections | None = None,
    outputs_collections: Collections | None = None, trainable: bool = True, batch_weights=None,
    fused: bool | None = None,
    data_format: str = "NHWC", zero_debias_moving_mean: bool = False, scope: str | VariableScope | None = None,
    renorm: bool = False,
    renorm_clipping=None, renorm_decay: float = 0.99, adjustment=None,
):  # fmt: skip
    """Normalisation by the mean and variance of the batch, in training, else by their moving averages.

    The operations that move the averages join `updates_collections`; with None, the outputs wait for them.

    Raises ValueError for an unknown format, for weights of the batch together with renorm, and for inputs without a
    rank.
    """
    first = channels_first(data_format, ("NCHW", "NHWC"))
    if fused and batch_weights is not None:
        raise ValueError("Weighted mean and variance is not currently supported for fused batch norm.")
    if renorm and (batch_weights is not None or zero_debias_moving_mean):
        raise ValueError("renorm is not supported with batch_weights or zero_debias_moving_mean")
    begin, regularizers = param_initializers or {}, param_regularizers or {}
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    # What the fused kernel computes: the variance that the moving average gets is that of a sample.
    corrected = (
        fused is not False and batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    )
    if batch_weights is not None or zero_debias_moving_mean or updates_collections != "update_ops":
        return _by_hand(
            inputs, corrected, decay, center, scale, epsilon, activation_fn, begin, regularizers,
            updates_collections, is_training, reuse, variables_collections, outputs_collections,
            trainable, batch_weights, first, zero_debias_moving_mean, scope,
        )  # fmt: skip
    with layer_scope(scope, "BatchNorm", [inputs], reuse, _RENAME) as found:
        inputs = convert_to_tensor(inputs)
        layer = classes.BatchNormalization(
            axis=1 if first else -1, momentum=decay, epsilon=epsilon, center=center, scale=scale,
            beta_initializer=begin.get("beta", "zeros"), gamma_initializer=begin.get("gamma", "ones"),
            moving_mean_initializer=begin.get("moving_mean", "zeros"),
            moving_variance_initializer=begin.get("moving_variance", "ones"),
            beta_regularizer=regularizers.get("beta"), gamma_regularizer=regularizers.get("gamma"),
            trainable=trainable, name=found.name, _scope=found, _reuse=reuse, fused=fused,
            **({"renorm": True, "renorm_clipping": renorm_clipping, "renorm_momentum": renorm_decay} if renorm else {}),
        )  # fmt: skip
        if corrected and rank == 2:  # each feature as the only pixel of a channel, as the fused kernel has it
            images = reshape(inputs, [-1, inputs.shape[1], 1, 1] if first else [-1, 1, 1, inputs.shape[1]])
            outputs = reshape(layer.apply(images, training=is_training), shape_of(inputs))
            outputs.set_shape(inputs.shape)
        else:
            outputs = layer.apply(inputs, training=is_training)
        for name in ("beta", "gamma", "moving_mean", "moving_variance"):
            collect_variable(getattr(layer, name, None), variables_collections, name)
        return finished(outputs, found, outputs_collections, activation_fn)


def _by_hand(
    inputs, corrected, decay, center, scale, epsilon, activation_fn, begin, regularizers, updates_collections,
    is_training, reuse, variables_collections, outputs_collections, trainable, batch_weights, first,
    zero_debias, scope,
):  # fmt: skip
    """batch_norm with weighted examples, or moving averages that begin at the first batch."""
    with layer_scope(scope, "BatchNorm", [inputs], reuse) as found:
        inputs = convert_to_tensor(inputs)
        dtype = inputs.dtype.base_dtype
        sizes = inputs.shape.as_list()
        rank = len(sizes)
        axis = 1 if first else rank - 1
        axes = [i for i in range(rank) if i != axis]
        shape = [sizes[axis]]

        def made(name: str, default, train):
            return model_variable(
                name, shape=shape, dtype=dtype, initializer=begin.get(name, default), trainable=train,
                regularizer=regularizers.get(name) if train else None,
                collections=get_variable_collections(variables_collections, name),
            )  # fmt: skip

        zeros, ones = initializers.zeros_initializer(), initializers.ones_initializer()
        beta = made("beta", zeros, trainable) if center else None
        gamma = made("gamma", ones, trainable) if scale else None
        moving_mean = made("moving_mean", zeros, False)
        moving_variance = made("moving_variance", ones, False)

        def statistics():
            if batch_weights is None:
                mean, variance = moments(inputs, axes)
            else:
                weights = cast(convert_to_tensor(batch_weights), dtype)
                weights = reshape(weights, [-1] + [1] * (rank - 1))
                mean, variance = weighted_moments(inputs, axes, weights)
            return identity(mean), identity(variance)

        if isinstance(is_training, Variable):
            is_training = element_of_graph(is_training)  # what may be fed
        known = is_training if isinstance(is_training, (bool, int)) else get_static_value(is_training)
        mean, variance = smart_cond(
            is_training, statistics, lambda: (identity(moving_mean), identity(moving_variance))
        )
        if known is None or known:
            rate = decay if known else where(is_training, decay, 1.0)
            sample = variance
            if corrected:
                number = cast(size_of(inputs), dtype) / cast(sizes[axis], dtype)
                sample = variance * (number / maximum(number - 1, 1))
            moved = [
                assign_moving_average(moving_mean, mean, rate, zero_debias=zero_debias),
                assign_moving_average(moving_variance, sample, rate, zero_debias=False),
            ]
            if updates_collections is None:
                with control_dependencies(moved):
                    mean, variance = identity(mean), identity(variance)
            else:
                for update in moved:
                    add_to_collections(updates_collections, update)
        if first:
            wide = [1, sizes[axis]] + [1] * (rank - 2)
            mean, variance = reshape(mean, wide), reshape(variance, wide)
            beta = None if beta is None else reshape(beta, wide)
            gamma = None if gamma is None else reshape(gamma, wide)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finished(outputs, found, outputs_collections, activation_fn)


def _parameters(
    shape: ShapeLike, dtype: DType, center: bool, scale, begin, variables_collections, trainable: bool
):
    def made(name: str, default):
        return model_variable(
            name, shape=shape, dtype=dtype, initializer=begin.get(name, default), trainable=trainable,
            collections=get_variable_collections(variables_collections, name),
        )  # fmt: skip

    beta = made("beta", initializers.zeros_initializer()) if center else None
    gamma = made("gamma", initializers.ones_initializer()) if scale else None
    return beta, gamma


@add_arg_scope
def layer_norm(
    inputs: TensorLike, center: bool = True, scale: bool = True, activation_fn=None, reuse: bool | None = None,
    variables_collections: Collections | None = None, outputs_collections: Collections | None = None,
    trainable: bool = True, begin_norm_axis=1,
    begin_params_axis=-1, scope: str | VariableScope | None = None,
):  # fmt: skip
    """Each example normalised by the mean and variance of its own (Ba et al. 2016).

    Raises ValueError for inputs of unknown rank, and for axes that they have not.
    """
    with layer_scope(scope, "LayerNorm", [inputs], reuse) as found:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        begin = rank + begin_norm_axis if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or begin >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin}) must be < rank(inputs) "
                f"({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {inputs.shape}"
            )
        beta, gamma = _parameters(
            shape, inputs.dtype.base_dtype, center, scale, {}, variables_collections, trainable
        )
        mean, variance = moments(inputs, list(range(begin, rank)), keepdims=True)
        epsilon = 1e-3 if inputs.dtype.base_dtype.name == "float16" else 1e-12
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finished(outputs, found, outputs_collections, activation_fn)


@add_arg_scope
def instance_norm(
    inputs, center=True, scale=True, epsilon=1e-6, activation_fn=None, param_initializers=None, reuse=None,
    variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC", scope=None,
):  # fmt: skip
    """Each channel of each example normalised by its own mean and variance (Ulyanov et al. 2016)."""
    first = channels_first(data_format, ("NCHW", "NHWC"))
    with layer_scope(scope, "InstanceNorm", [inputs], reuse) as found:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        axis = 1 if first else rank - 1
        size = inputs.shape.as_list()[axis]
        if size is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {inputs.shape}.")
        shape = [1, size] + [1] * (rank - 2) if first else [size]
        beta, gamma = _parameters(
            [size], inputs.dtype.base_dtype, center, scale, param_initializers or {},
            variables_collections, trainable,
        )  # fmt: skip
        beta = reshape(beta, shape) if beta is not None and first else beta
        gamma = reshape(gamma, shape) if gamma is not None and first else gamma
        axes = [i for i in range(1, rank) if i != axis]
        mean, variance = moments(inputs, axes, keepdims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finished(outputs, found, outputs_collections, activation_fn)


@add_arg_scope
def group_norm(
    inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2), center=True, scale=True, epsilon=1e-6,
    activation_fn=None, param_initializers=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, scope=None, mean_close_to_zero=False,
):  # fmt: skip
    """Each group of channels of each example normalised by its own mean and variance (Wu & He 2018).

    Raises ValueError where the channels cannot be shared out evenly among the groups, or the axes overlap.
    """
    with layer_scope(scope, "GroupNorm", [inputs], reuse) as found:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        if channels_axis > rank - 1:
            raise ValueError("Axis is out of bounds.")
        axis = channels_axis % rank
        reduced = sorted(each % rank for each in reduction_axes)
        if axis in reduced:
            raise ValueError("reduction_axes must be mutually exclusive with channels_axis")
        channels = inputs.shape.as_list()[axis]
        if channels is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {inputs.shape}.")
        if groups > channels:
            raise ValueError(f"Invalid groups {groups} for {channels} channels.")
        if channels % groups != 0:
            raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
        sizes = shape_of(inputs)
        parts = [sizes[i] for i in range(axis)] + [groups, channels // groups]
        parts += [sizes[i] for i in range(axis + 1, rank)]
        grouped = reshape(inputs, parts)
        axes = [each if each < axis else each + 1 for each in reduced] + [axis + 1]
        beta, gamma = _parameters(
            [channels], inputs.dtype.base_dtype, center, scale, param_initializers or {},
            variables_collections, trainable,
        )  # fmt: skip
        shape = [1] * (rank + 1)
        shape[axis], shape[axis + 1] = groups, channels // groups
        beta = None if beta is None else reshape(beta, shape)
        gamma = None if gamma is None else reshape(gamma, shape)
        mean, variance = moments(grouped, axes, keepdims=True)
        outputs = batch_normalization(grouped, mean, variance, beta, gamma, epsilon)
        outputs = reshape(outputs, sizes)
        outputs.set_shape(inputs.shape)
        return finished(outputs, found, outputs_collections, activation_fn)
