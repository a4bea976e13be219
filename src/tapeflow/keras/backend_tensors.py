"""`keras.backend`: shapes of tensors, parts of networks, and random numbers."""

from __future__ import annotations

import builtins

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.keras import losses, settings
from tapeflow.keras.backend_math import reshape, shape
from tapeflow.keras.backend_values import variable
from tapeflow.ops.bias import bias_add as nn_bias_add
from tapeflow.ops.broadcasting import repeat as repeat_along
from tapeflow.ops.construction import one_hot as one_hot_of
from tapeflow.ops.dropout import dropout as nn_dropout
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
from tapeflow.ops.reorder import reverse as reverse_axes
from tapeflow.ops.selection import in_top_k as top_k_of


@computes_tensors
def flatten(x):
    """All elements in one row."""
    return reshape(x, [-1])


@computes_tensors
def batch_flatten(x):
    """(batch, all the rest)."""
    x = convert_to_tensor(x)
    if x.shape[1:].is_fully_defined():
        return reshape(x, [-1, x.shape[1:].num_elements()])
    return reshape(x, [shape(x)[0], -1])


@computes_tensors
def expand_dims(x, axis=-1):
    """A new axis of size 1."""
    return expand_axis(x, axis)


@computes_tensors
def squeeze(x, axis):
    """Without an axis of size 1."""
    return squeeze_axes(x, [axis])


@computes_tensors
def permute_dimensions(x, pattern):
    """The axes in another order."""
    return transpose_axes(x, pattern)


@computes_tensors
def repeat_elements(x, rep, axis):
    """Each element of an axis `rep` times."""
    return repeat_along(x, rep, axis)


@computes_tensors
def stack(x, axis=0):
    """The tensors along a new axis."""
    return stack_tensors(x, axis)


@computes_tensors
def concatenate(tensors, axis=-1):
    """The tensors one after another."""
    return concat(tensors, axis)


@computes_tensors
def reverse(x, axes):
    """The axes backwards."""
    return reverse_axes(x, [axes] if isinstance(axes, int) else axes)


@computes_tensors
def gather(reference, indices):
    """Rows by number."""
    return gather_rows(reference, indices)


@computes_tensors
def one_hot(indices, num_classes):
    """Rows with a 1 at their place."""
    return one_hot_of(indices, num_classes, axis=-1)


# Networks


@computes_tensors
def dot(x, y):
    """The product over the last axis of x and the last but one of y."""
    rank = builtins.max(convert_to_tensor(y).shape.rank - 2, 0)
    first = convert_to_tensor(x)
    if first.shape.rank > 2 or rank:
        return tensordot(first, y, [[first.shape.rank - 1], [rank]])
    return matmul(first, y)


@computes_tensors
def bias_add(x, bias, data_format=None):
    """x plus a number per channel."""
    first = settings.normalize_data_format(data_format) == "channels_first"
    return nn_bias_add(x, bias, "NCHW" if first else "NHWC")


@computes_tensors
def dropout(x, level, noise_shape=None, seed=None):
    """A part `level` of x set to 0, the others divided by 1 - level."""
    return nn_dropout(x, level, noise_shape, seed)


@computes_tensors
def l2_normalize(x, axis=None):
    """Vectors along an axis scaled to length 1."""
    return normalize(x, axis)


@computes_tensors
def in_top_k(predictions, targets, k):
    """Whether targets are among the k largest predictions."""
    return top_k_of(targets, predictions, k)


@computes_tensors
def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """See keras.losses.categorical_crossentropy."""
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


@computes_tensors
def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    """See keras.losses.sparse_categorical_crossentropy."""
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)


@computes_tensors
def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of every element."""
    target, output = expand_axis(target, -1), expand_axis(output, -1)
    return losses.binary_crossentropy(target, output, from_logits)


# Random numbers


@computes_tensors
def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers."""
    return normal(shape, mean, stddev, settings.default_dtype(dtype), seed)


@computes_tensors
def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers."""
    return uniform(shape, minval, maxval, settings.default_dtype(dtype), seed)


@computes_tensors
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two standard deviations."""
    return truncated_normal_numbers(shape, mean, stddev, settings.default_dtype(dtype), seed)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of normal numbers."""
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of uniform numbers."""
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)

boundaries(globals())
