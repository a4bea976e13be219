"""`keras.backend`: parts of networks: products, normalization, dropout and losses."""

from __future__ import annotations

import builtins
from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.keras import losses, settings
from tapeflow.ops.array import layout
from tapeflow.ops.indexing.top_k import in_top_k as top_k_of
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math import elementwise
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.bias import bias_add as nn_bias_add
from tapeflow.ops.nn.dropout import dropout as nn_dropout
from tapeflow.ops.nn.normalization import batch_normalization as nn_batch_normalization
from tapeflow.ops.nn.normalization import l2_normalize as normalize
from tapeflow.ops.nn.normalization import moments
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul

# Networks


@computes_tensors
def dot(x, y):
    """Multiply over the last axis of x and the last but one of y.

    Args:
      x, y: tensors of rank 2 or more; x may be a sparse one of rank 2.

    Returns:
      A tensor of the other axes of both.

    >>> print(tf.keras.backend.dot(tf.ones([2, 3, 4]), tf.ones([5, 4, 6])).shape)
    (2, 3, 5, 6)
    """
    if isinstance(x, SparseTensor):
        return sparse_dense_matmul(x, y)
    rank = builtins.max(convert_to_tensor(y).shape.rank - 2, 0)
    first = convert_to_tensor(x)
    if first.shape.rank > 2 or rank:
        return tensordot(first, y, [[first.shape.rank - 1], [rank]])
    return matmul(first, y)


@computes_tensors
def bias_add(x: TensorLike, bias, data_format: str | None = None):
    """Add a number per channel.

    Args:
      x: a tensor.
      bias: a vector of the channels.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor of the shape of x.
    """
    first = settings.normalize_data_format(data_format) == "channels_first"
    return nn_bias_add(x, bias, "NCHW" if first else "NHWC")


@computes_tensors
def dropout(x: TensorLike, level: int, noise_shape=None, seed: int | None = None):
    """Set a random part of a tensor to 0, and divide the others by 1 - level.

    Args:
      x: a tensor, or what can be converted to one.
      level: the part, from 0 to 1.
      noise_shape: the shape of the pattern, 1 for axes along which it is the same; None for that of x.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor of the shape of x.
    """
    return nn_dropout(x, level, noise_shape, seed)


@computes_tensors
def l2_normalize(x: TensorLike, axis: AxisLike | None = None):
    """Scale vectors along an axis to length 1.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis; None for the tensor as one vector.

    Returns:
      A tensor of the shape of x.
    """
    return normalize(x, axis)


@computes_tensors
def in_top_k(predictions: TensorLike, targets: TensorLike, k: int):
    """Compute whether targets are among the k largest predictions.

    Args:
      predictions: scores, `(batch, classes)`.
      targets: the numbers of the classes, `(batch,)`.
      k: how many of the largest count.

    Returns:
      A bool tensor `(batch,)`.
    """
    return top_k_of(targets, predictions, k)


@computes_tensors
def categorical_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False, axis: AxisLike = -1):
    """Compute the cross-entropy of one-hot labels; see `keras.losses.categorical_crossentropy`.

    Args:
      target: one-hot labels.
      output: predictions of the same shape.
      from_logits: whether predictions are logits.
      axis: the axis of the classes.

    Returns:
      A tensor without that axis.
    """
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


@computes_tensors
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: AxisLike = -1, ignore_class=None
):
    """Compute the cross-entropy of class numbers; see `keras.losses.sparse_categorical_crossentropy`.

    Args:
      target: the numbers of the classes.
      output: predictions, with one more axis.
      from_logits: whether predictions are logits.
      axis: the axis of the classes.
      ignore_class: a class that counts 0; None for none.

    Returns:
      A tensor of the shape of the labels.
    """
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)


@computes_tensors
def batch_dot(x, y, axes=None):
    """Multiply tensors example by example, summing over one axis of each.

    Args:
      x, y: tensors `(batch, ...)` of rank 2 or more.
      axes: the axis of x and that of y, or one for both; None for the last of x and the last but one of y (the last,
        if y has two).

    Returns:
      A tensor `(batch, other axes of x, other axes of y)`; `(batch, 1)` for two matrices.

    Raises:
      ValueError: for ranks below 2, axis 0, and axes of different sizes.

    >>> x, y = tf.ones([2, 3, 4]), tf.ones([2, 4, 5])
    >>> print(tf.keras.backend.batch_dot(x, y).shape)
    (2, 3, 5)
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    ranks = x.shape.rank, y.shape.rank
    if min(ranks) < 2:
        raise ValueError(
            f"Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes {x.shape} and {y.shape}."
        )
    sizes = x.shape.as_list(), y.shape.as_list()
    if None not in (sizes[0][0], sizes[1][0]) and sizes[0][0] != sizes[1][0]:
        raise ValueError(
            "Cannot do batch_dot on inputs with different batch sizes. Received inputs with shapes "
            f"{x.shape} and {y.shape}."
        )
    if isinstance(axes, int):
        axes = [axes, axes]
    if axes is None:
        axes = [ranks[0] - 1, ranks[1] - 1 if ranks[1] == 2 else ranks[1] - 2]
    if any(isinstance(axis, (list, tuple)) for axis in axes):
        raise ValueError(
            "Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: "
            f"{axes}"
        )
    axes = [axis + rank if axis < 0 else axis for axis, rank in zip(axes, ranks)]
    if 0 in axes:
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
            "dimension to your inputs using K.expand_dims(x, 0)"
        )
    a, b = (s[axis] for s, axis in zip(sizes, axes))
    if None not in (a, b) and a != b:
        raise ValueError(
            f"Cannot do batch_dot on inputs with shapes {tuple(sizes[0])} and {tuple(sizes[1])} with "
            f"axes={axes}. x.shape[{axes[0]}] != y.shape[{axes[1]}] ({a} != {b})."
        )
    letters = iter("cdefghijklmnopqrstuvwxyz")
    left = ["a", *(next(letters) for _ in range(ranks[0] - 1))]
    right = ["a", *(next(letters) for _ in range(ranks[1] - 1))]
    left[axes[0]] = right[axes[1]] = "b"
    kept = [c for c in [*left, *right[1:]] if c != "b"]
    result = einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", x, y)
    return layout.expand_dims(result, 1) if ranks == (2, 2) else result


@computes_tensors
def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """Compute (x - mean) / sqrt(var + epsilon) * gamma + beta.

    Args:
      x: a tensor.
      mean, var: the mean and the variance of each feature.
      beta, gamma: offset and factor of each feature, or None.
      axis: the axis of the features.
      epsilon: a small number that keeps the division finite.

    Returns:
      A tensor of the shape of x.
    """
    x = convert_to_tensor(x)
    rank = x.shape.rank
    axis = axis % rank
    along = [-1 if i == axis else 1 for i in range(rank)]

    def placed(value):
        if value is None or value.shape.rank != 1 or axis == rank - 1:
            return value
        return layout.reshape(value, along)

    return nn_batch_normalization(x, *(placed(v) for v in (mean, var, beta, gamma)), epsilon)


@computes_tensors
def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """Normalize a tensor by its own mean and variance.

    Args:
      x: a tensor.
      gamma, beta: factor and offset of each feature, or None.
      reduction_axes: the axes of the mean and the variance.
      epsilon: a small number that keeps the division finite.

    Returns:
      (the normalized tensor, the mean, the variance).
    """
    x = convert_to_tensor(x)
    mean, variance = moments(x, list(reduction_axes))
    rank = x.shape.rank
    kept = [axis for axis in range(rank) if axis not in reduction_axes]
    along = [-1 if axis in kept and len(kept) == 1 else 1 for axis in range(rank)]

    def placed(value):
        if value is None or kept == [rank - 1] or len(kept) != 1:
            return value
        return layout.reshape(value, along)

    parts = (placed(v) for v in (mean, variance, beta, gamma))
    return nn_batch_normalization(x, *parts, epsilon), mean, variance


@computes_tensors
def categorical_focal_crossentropy(
    target: Any, output: TensorLike, alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False,
    axis: AxisLike = -1,
):
    """Compute the categorical crossentropy with less weight on what is predicted well.

    Args:
      target: one-hot labels.
      output: predictions of the same shape.
      alpha: the weight of the classes, a number or one for each.
      gamma: how much less what is predicted well counts.
      from_logits: whether predictions are logits.
      axis: the axis of the classes.

    Returns:
      A tensor without that axis.
    """

    output = convert_to_tensor(output)
    p = (
        softmax(output, axis=axis)
        if from_logits
        else output / reduce_sum(output, axis=axis, keepdims=True)
    )
    tiny = settings.epsilon()
    p = clip_by_value(p, tiny, 1.0 - tiny)
    target = cast(target, p.dtype)
    return reduce_sum(-target * elementwise.log(p) * alpha * (1.0 - p) ** gamma, axis=axis)


boundaries(globals())
