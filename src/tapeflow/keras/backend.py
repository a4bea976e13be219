"""`tf.keras.backend`: settings of Keras, and operations under its own names."""

from __future__ import annotations

import builtins
import contextlib

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import constant, convert_to_tensor
from tapeflow.keras import activations, losses, session, settings
from tapeflow.keras.activations import elu, hard_sigmoid, relu
from tapeflow.keras.backend_images import (
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    depthwise_conv2d,
    local_conv1d,
    local_conv2d,
    pool2d,
    pool3d,
    resize_images,
    resize_volumes,
    separable_conv1d,
    separable_conv2d,
    spatial_2d_padding,
    spatial_3d_padding,
    temporal_padding,
)
from tapeflow.keras.backend_math import (
    abs,
    backend,
    batch_dot,
    batch_normalization,
    binary_focal_crossentropy,
    categorical_focal_crossentropy,
    cos,
    ctc_batch_cost,
    ctc_decode,
    ctc_label_dense_to_sparse,
    equal,
    exp,
    foldl,
    foldr,
    gradients,
    greater,
    greater_equal,
    is_float_dtype,
    is_int_dtype,
    is_sparse,
    less,
    less_equal,
    log,
    map_fn,
    maximum,
    minimum,
    name_scope,
    normalize_batch_in_training,
    not_equal,
    pow,
    print_tensor,
    random_bernoulli,
    random_binomial,
    repeat,
    reshape,
    result_type,
    round,
    shape,
    sigmoid,
    sign,
    sin,
    softplus,
    softsign,
    square,
    standardize_dtype,
    stop_gradient,
    tanh,
    tile,
    to_dense,
    transpose,
)
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.engine.symbolic import KerasTensor
from tapeflow.keras.functions import function, placeholder
from tapeflow.keras.layers.rnn.loop import rnn
from tapeflow.keras.session import get_session, set_session
from tapeflow.keras.settings import (
    clear_session,
    epsilon,
    floatx,
    get_uid,
    image_data_format,
    learning_phase,
    reset_uids,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_learning_phase,
)
from tapeflow.ops.argmax import argmax as argmax_of
from tapeflow.ops.argmax import argmin as argmin_of
from tapeflow.ops.bias import bias_add as nn_bias_add
from tapeflow.ops.broadcasting import repeat as repeat_along
from tapeflow.ops.casting import cast as cast_tensor
from tapeflow.ops.clip import clip_by_value
from tapeflow.ops.comparison import where
from tapeflow.ops.construction import one_hot as one_hot_of
from tapeflow.ops.construction import ones as ones_of
from tapeflow.ops.construction import ones_like as ones_like_of
from tapeflow.ops.construction import range as range_of
from tapeflow.ops.construction import zeros as zeros_of
from tapeflow.ops.construction import zeros_like as zeros_like_of
from tapeflow.ops.cumulative import cumprod as cumprod_of
from tapeflow.ops.cumulative import cumsum as cumsum_of
from tapeflow.ops.dropout import dropout as nn_dropout
from tapeflow.ops.elementwise import sqrt as sqrt_of
from tapeflow.ops.gather import gather as gather_rows
from tapeflow.ops.joining import concat
from tapeflow.ops.joining import stack as stack_tensors
from tapeflow.ops.layout import expand_dims as expand_axis
from tapeflow.ops.layout import squeeze as squeeze_axes
from tapeflow.ops.layout import transpose as transpose_axes
from tapeflow.ops.matmul import matmul, tensordot
from tapeflow.ops.normalization import l2_normalize as normalize
from tapeflow.ops.random import normal, uniform
from tapeflow.ops.random import truncated_normal as truncated_normal_numbers
from tapeflow.ops.reduction import (
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
)
from tapeflow.ops.reorder import reverse as reverse_axes
from tapeflow.ops.selection import in_top_k as top_k_of
from tapeflow.ops.tensor_diagonal import eye as eye_of
from tapeflow.ops.variable import Variable

softmax = activations.softmax


# Variables and values


def variable(value, dtype=None, name=None, constraint=None):
    """A variable, of floatx unless another dtype is given."""
    return Variable(
        convert_to_tensor(value, settings.default_dtype(dtype)), name=name, constraint=constraint
    )


def zeros(shape, dtype=None, name=None):
    """A variable of zeros."""
    return variable(zeros_of(shape, settings.default_dtype(dtype)), dtype, name)


def ones(shape, dtype=None, name=None):
    """A variable of ones."""
    return variable(ones_of(shape, settings.default_dtype(dtype)), dtype, name)


def eye(size, dtype=None, name=None):
    """A variable that is the identity matrix."""
    return variable(eye_of(size, dtype=settings.default_dtype(dtype)), dtype, name)


def zeros_like(x, dtype=None, name=None):
    """Zeros in the shape of x."""
    return zeros_like_of(x, dtype)


def ones_like(x, dtype=None, name=None):
    """Ones in the shape of x."""
    return ones_like_of(x, dtype)


def arange(start, stop=None, step=1, dtype="int32"):
    """start, start + step, ... below stop; from 0 to start when stop is None."""
    if stop is None:
        start, stop = 0, start
    return cast_tensor(
        range_of(start, builtins.max(start, stop) if step > 0 else stop, step), dtype
    )


def get_value(x):
    """The NumPy value of a tensor or variable."""
    if getattr(x, "_parts", None) is not None:
        return session.values_of([x])[0]
    if hasattr(x, "op") and not hasattr(x, "_parts") and not hasattr(x, "numpy"):
        return session.get_session(x.graph).run(x)
    return x.numpy() if hasattr(x, "numpy") else x


eval = get_value


def set_value(x, value):
    """Sets a variable."""
    session.set_values([(x, np.asarray(value, x.dtype.as_numpy_dtype))])


def batch_get_value(tensors):
    """The NumPy values of variables."""
    return session.values_of(tensors)


def batch_set_value(tuples):
    """Sets variables, given as (variable, value) pairs."""
    for x, value in tuples:
        set_value(x, value)


def update(x, new_x):
    """Sets a variable."""
    return x.assign(new_x)


def update_add(x, increment):
    """Adds to a variable."""
    return x.assign_add(increment)


def update_sub(x, decrement):
    """Subtracts from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x, value, momentum):
    """x * momentum + value * (1 - momentum), into x."""
    return x.assign_sub((x - value) * cast_tensor(1.0 - momentum, x.dtype))


def dtype(x):
    """The name of the dtype of x."""
    return x.dtype.base_dtype.name


def ndim(x):
    """The rank of x."""
    return x.shape.rank


def int_shape(x):
    """The shape as a tuple of ints and None, or None."""
    sizes = getattr(x, "shape", None)
    return None if sizes is None or sizes.rank is None else tuple(sizes.as_list())


def count_params(x):
    """The number of elements of x."""
    return x.shape.num_elements()


def is_keras_tensor(x):
    """Whether x is symbolic. Raises ValueError when it is no tensor at all."""
    if not hasattr(x, "dtype") or isinstance(x, np.ndarray):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance."
        )
    return isinstance(x, KerasTensor)


def cast(x, dtype):
    """x in another dtype."""
    return cast_tensor(x, dtype)


def cast_to_floatx(x):
    """x in floatx: a tensor of a tensor, a NumPy array of anything else."""
    if hasattr(x, "dtype") and hasattr(x, "numpy"):
        return cast_tensor(x, settings.floatx())
    return np.asarray(x, dtype=settings.floatx())


# Training or not


@contextlib.contextmanager
def learning_phase_scope(value):
    """A block in which layers that are not told are training (1) or not (0)."""
    saved = settings._settings["learning_phase"]
    set_learning_phase(value)
    try:
        yield
    finally:
        settings._settings["learning_phase"] = saved


def in_train_phase(x, alt, training=None):
    """x (or x()) while training, alt otherwise."""
    if training is None:
        training = calling.state.training
    if training is None:
        training = learning_phase()

    def value(chosen):
        return chosen() if callable(chosen) and not hasattr(chosen, "dtype") else chosen

    return by_phase(training, lambda: value(x), lambda: value(alt))


def in_test_phase(x, alt, training=None):
    """x (or x()) while not training, alt otherwise."""
    return in_train_phase(alt, x, training)


def switch(condition, then_expression, else_expression):
    """One of two values, which may be functions, or elementwise for a condition of some rank."""
    condition = convert_to_tensor(condition)
    if condition.shape.rank == 0:

        def value(chosen):
            return chosen() if callable(chosen) and not hasattr(chosen, "dtype") else chosen

        return by_phase(condition, lambda: value(then_expression), lambda: value(else_expression))
    values = [
        v() if callable(v) and not hasattr(v, "dtype") else convert_to_tensor(v)
        for v in (then_expression, else_expression)
    ]
    if condition.shape.rank > values[0].shape.rank:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={condition.shape.rank}, "
            f"ndim(then_expression)={values[0].shape.rank}"
        )
    while condition.shape.rank < values[0].shape.rank:
        condition = expand_axis(condition, -1)
    return where(condition, *values)


# Reductions, whose dtypes are floats where they were bool


def _number(x):
    x = convert_to_tensor(x)
    return cast_tensor(x, settings.floatx()) if x.dtype == dtypes.bool else x


def sum(x, axis=None, keepdims=False):
    """The sum."""
    return reduce_sum(x, axis, keepdims)


def prod(x, axis=None, keepdims=False):
    """The product."""
    return reduce_prod(x, axis, keepdims)


def mean(x, axis=None, keepdims=False):
    """The mean."""
    return reduce_mean(_number(x), axis, keepdims)


def var(x, axis=None, keepdims=False):
    """The variance."""
    return reduce_variance(_number(x), axis, keepdims)


def std(x, axis=None, keepdims=False):
    """The standard deviation."""
    return reduce_std(_number(x), axis, keepdims)


def max(x, axis=None, keepdims=False):
    """The largest."""
    return reduce_max(x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    """The smallest."""
    return reduce_min(x, axis, keepdims)


def any(x, axis=None, keepdims=False):
    """Whether any is true."""
    return reduce_any(cast_tensor(x, dtypes.bool), axis, keepdims)


def all(x, axis=None, keepdims=False):
    """Whether all are true."""
    return reduce_all(cast_tensor(x, dtypes.bool), axis, keepdims)


def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x)))."""
    return reduce_logsumexp(x, axis, keepdims)


def argmax(x, axis=-1):
    """Where the largest is."""
    return argmax_of(x, axis)


def argmin(x, axis=-1):
    """Where the smallest is."""
    return argmin_of(x, axis)


def cumsum(x, axis=0):
    """The sums so far."""
    return cumsum_of(x, axis)


def cumprod(x, axis=0):
    """The products so far."""
    return cumprod_of(x, axis)


def sqrt(x):
    """The root; of negative numbers, 0."""
    x = convert_to_tensor(x)
    return sqrt_of(maximum(x, zeros_like_of(x)))


def clip(x, min_value, max_value):
    """x cut off at two limits."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)):
        max_value = builtins.max(max_value, min_value)
    low = -np.inf if min_value is None else min_value
    return clip_by_value(x, low, np.inf if max_value is None else max_value)


# Shapes


def flatten(x):
    """All elements in one row."""
    return reshape(x, [-1])


def batch_flatten(x):
    """(batch, all the rest)."""
    x = convert_to_tensor(x)
    if x.shape[1:].is_fully_defined():
        return reshape(x, [-1, x.shape[1:].num_elements()])
    return reshape(x, [shape(x)[0], -1])


def expand_dims(x, axis=-1):
    """A new axis of size 1."""
    return expand_axis(x, axis)


def squeeze(x, axis):
    """Without an axis of size 1."""
    return squeeze_axes(x, [axis])


def permute_dimensions(x, pattern):
    """The axes in another order."""
    return transpose_axes(x, pattern)


def repeat_elements(x, rep, axis):
    """Each element of an axis `rep` times."""
    return repeat_along(x, rep, axis)


def stack(x, axis=0):
    """The tensors along a new axis."""
    return stack_tensors(x, axis)


def concatenate(tensors, axis=-1):
    """The tensors one after another."""
    return concat(tensors, axis)


def reverse(x, axes):
    """The axes backwards."""
    return reverse_axes(x, [axes] if isinstance(axes, int) else axes)


def gather(reference, indices):
    """Rows by number."""
    return gather_rows(reference, indices)


def one_hot(indices, num_classes):
    """Rows with a 1 at their place."""
    return one_hot_of(indices, num_classes, axis=-1)


# Networks


def dot(x, y):
    """The product over the last axis of x and the last but one of y."""
    rank = builtins.max(convert_to_tensor(y).shape.rank - 2, 0)
    first = convert_to_tensor(x)
    if first.shape.rank > 2 or rank:
        return tensordot(first, y, [[first.shape.rank - 1], [rank]])
    return matmul(first, y)


def bias_add(x, bias, data_format=None):
    """x plus a number per channel."""
    first = settings.normalize_data_format(data_format) == "channels_first"
    return nn_bias_add(x, bias, "NCHW" if first else "NHWC")


def dropout(x, level, noise_shape=None, seed=None):
    """A part `level` of x set to 0, the others divided by 1 - level."""
    return nn_dropout(x, level, noise_shape, seed)


def l2_normalize(x, axis=None):
    """Vectors along an axis scaled to length 1."""
    return normalize(x, axis)


def in_top_k(predictions, targets, k):
    """Whether targets are among the k largest predictions."""
    return top_k_of(targets, predictions, k)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """See keras.losses.categorical_crossentropy."""
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    """See keras.losses.sparse_categorical_crossentropy."""
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)


def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of every element."""
    target, output = expand_axis(target, -1), expand_axis(output, -1)
    return losses.binary_crossentropy(target, output, from_logits)


# Random numbers


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers."""
    return normal(shape, mean, stddev, settings.default_dtype(dtype), seed)


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers."""
    return uniform(shape, minval, maxval, settings.default_dtype(dtype), seed)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two standard deviations."""
    return truncated_normal_numbers(shape, mean, stddev, settings.default_dtype(dtype), seed)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of normal numbers."""
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of uniform numbers."""
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "backend",
    "batch_dot",
    "batch_flatten",
    "batch_get_value",
    "batch_normalization",
    "batch_set_value",
    "bias_add",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "cast",
    "cast_to_floatx",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "clear_session",
    "clip",
    "concatenate",
    "constant",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "cos",
    "count_params",
    "ctc_batch_cost",
    "ctc_decode",
    "ctc_label_dense_to_sparse",
    "cumprod",
    "cumsum",
    "depthwise_conv2d",
    "dot",
    "dropout",
    "dtype",
    "elu",
    "epsilon",
    "equal",
    "eval",
    "exp",
    "expand_dims",
    "eye",
    "flatten",
    "floatx",
    "foldl",
    "foldr",
    "function",
    "gather",
    "get_session",
    "get_uid",
    "get_value",
    "gradients",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "image_data_format",
    "in_test_phase",
    "in_top_k",
    "in_train_phase",
    "int_shape",
    "is_float_dtype",
    "is_int_dtype",
    "is_keras_tensor",
    "is_sparse",
    "l2_normalize",
    "learning_phase",
    "learning_phase_scope",
    "less",
    "less_equal",
    "local_conv1d",
    "local_conv2d",
    "log",
    "logsumexp",
    "map_fn",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "moving_average_update",
    "name_scope",
    "ndim",
    "normalize_batch_in_training",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "permute_dimensions",
    "placeholder",
    "pool2d",
    "pool3d",
    "pow",
    "print_tensor",
    "prod",
    "random_bernoulli",
    "random_binomial",
    "random_normal",
    "random_normal_variable",
    "random_uniform",
    "random_uniform_variable",
    "relu",
    "repeat",
    "repeat_elements",
    "reset_uids",
    "reshape",
    "resize_images",
    "resize_volumes",
    "result_type",
    "reverse",
    "rnn",
    "round",
    "separable_conv1d",
    "separable_conv2d",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_learning_phase",
    "set_session",
    "set_value",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "spatial_2d_padding",
    "spatial_3d_padding",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "standardize_dtype",
    "std",
    "stop_gradient",
    "sum",
    "switch",
    "tanh",
    "temporal_padding",
    "tile",
    "to_dense",
    "transpose",
    "truncated_normal",
    "update",
    "update_add",
    "update_sub",
    "var",
    "variable",
    "zeros",
    "zeros_like",
]
