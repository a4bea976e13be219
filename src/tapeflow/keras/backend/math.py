"""`keras.backend`: functions of numbers under Keras' own names and arguments, products, loops, and CTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.context import name_scope as core_name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.graph.build.derivatives import gradients as of_graph
from tapeflow.keras import settings
from tapeflow.keras.dtype_names import standardize_dtype
from tapeflow.ops.array import layout, tiling, transposing
from tapeflow.ops.array import rows as array
from tapeflow.ops.array import sizes as array_sizes
from tapeflow.ops.array.one_hot import sequence_mask
from tapeflow.ops.control import mapping
from tapeflow.ops.control.flow import control_dependencies
from tapeflow.ops.control.printing import print_
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.math import arithmetic, comparison, elementwise, rounding, trigonometric
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn import softplus as nn_softplus
from tapeflow.ops.nn.normalization import batch_normalization as nn_batch_normalization
from tapeflow.ops.nn.normalization import moments
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.recurrent.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from tapeflow.ops.recurrent.ctc_functions import ctc_loss_v1
from tapeflow.ops.sparse.functions import to_dense as dense


@computes_tensors
def abs(x: TensorLike):
    """|x|."""
    return elementwise.abs(x)


@computes_tensors
def square(x: TensorLike):
    """x * x."""
    return elementwise.square(x)


@computes_tensors
def exp(x: TensorLike):
    """e to the power x."""
    return elementwise.exp(x)


@computes_tensors
def log(x: TensorLike):
    """The natural logarithm."""
    return elementwise.log(x)


@computes_tensors
def round(x: TensorLike):
    """x rounded, halves to even numbers."""
    return rounding.round(x)


@computes_tensors
def sign(x: TensorLike):
    """-1, 0 or 1."""
    return elementwise.sign(x)


@computes_tensors
def sin(x: TensorLike):
    """The sine."""
    return trigonometric.sin(x)


@computes_tensors
def cos(x: TensorLike):
    """The cosine."""
    return trigonometric.cos(x)


@computes_tensors
def tanh(x: TensorLike):
    """The hyperbolic tangent."""
    return trigonometric.tanh(x)


@computes_tensors
def sigmoid(x: TensorLike):
    """1 / (1 + exp(-x))."""
    return trigonometric.sigmoid(x)


@computes_tensors
def softplus(x: TensorLike):
    """log(1 + exp(x))."""
    return nn_softplus.softplus(x)


@computes_tensors
def softsign(x: TensorLike):
    """x / (1 + |x|)."""
    return nn_softplus.softsign(x)


@computes_tensors
def pow(x: TensorLike, a: TensorLike):
    """Compute x to the power a, element by element.

    Args:
      x: a tensor, or what can be converted to one.
      a: the power, a number or a tensor.

    Returns:
      A tensor of the shape of both together.
    """
    return arithmetic.pow(x, a)


@computes_tensors
def maximum(x: TensorLike, y: TensorLike):
    """Take the larger of two numbers, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A tensor of the shape of both together.
    """
    return arithmetic.maximum(x, y)


@computes_tensors
def minimum(x: TensorLike, y: TensorLike):
    """Take the smaller of two numbers, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A tensor of the shape of both together.
    """
    return arithmetic.minimum(x, y)


@computes_tensors
def equal(x: TensorLike, y: TensorLike):
    """Compute whether x == y, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A bool tensor of the shape of both together.
    """
    return comparison.equal(x, y)


@computes_tensors
def not_equal(x: TensorLike, y: TensorLike):
    """Compute whether x != y, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A bool tensor of the shape of both together.
    """
    return comparison.not_equal(x, y)


@computes_tensors
def greater(x: TensorLike, y: TensorLike):
    """Compute whether x > y, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A bool tensor of the shape of both together.
    """
    return comparison.greater(x, y)


@computes_tensors
def greater_equal(x: TensorLike, y: TensorLike):
    """Compute whether x >= y, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A bool tensor of the shape of both together.
    """
    return comparison.greater_equal(x, y)


@computes_tensors
def less(x: TensorLike, y: TensorLike):
    """Compute whether x < y, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A bool tensor of the shape of both together.
    """
    return comparison.less(x, y)


@computes_tensors
def less_equal(x: TensorLike, y: TensorLike):
    """Compute whether x <= y, element by element.

    Args:
      x, y: tensors that broadcast against each other.

    Returns:
      A bool tensor of the shape of both together.
    """
    return comparison.less_equal(x, y)


@computes_tensors
def reshape(x: TensorLike, shape: Sequence[Any]):
    """Give a tensor another shape.

    Args:
      x: a tensor, or what can be converted to one.
      shape: the new sizes; one may be -1, for what is left.

    Returns:
      A tensor with the same elements.
    """
    return layout.reshape(x, shape)


@computes_tensors
def transpose(x: TensorLike):
    """x with its axes in reverse order."""
    return transposing.transpose(x)


@computes_tensors
def shape(x: TensorLike):
    """The shape as a tensor."""
    return array_sizes.shape(x)


@computes_tensors
def stop_gradient(variables: Sequence[Any]):
    """The same values, constant for gradients: of a tensor, or of each of a list."""
    if isinstance(variables, (list, tuple)):
        return list(map(array.stop_gradient, variables))
    return array.stop_gradient(variables)


@computes_tensors
def repeat(x: TensorLike, n: int):
    """Repeat each example as the steps of a sequence.

    Args:
      x: a tensor `(samples, features)`.
      n: the number of steps.

    Returns:
      A tensor `(samples, n, features)`.
    """
    x = convert_to_tensor(x)
    return tiling.tile(layout.expand_dims(x, 1), [1, n, 1])


@computes_tensors
def tile(x: TensorLike, n: int):
    """Repeat a tensor along its axes.

    Args:
      x: a tensor, or what can be converted to one.
      n: how often along each axis, a list; an integer for a vector.

    Returns:
      A tensor.
    """
    return tiling.tile(x, [n] if isinstance(n, int) else n)


def backend():
    """The name of what computes."""
    return "tensorflow"


def name_scope(name: str):
    """A context that puts a name before the names of operations."""
    return core_name_scope(name)


def is_sparse(tensor: Any):
    """Whether a tensor is sparse."""
    return isinstance(tensor, SparseTensor)


@computes_tensors
def to_dense(tensor: TensorLike):
    """A sparse tensor as a dense one; others as they are."""
    if isinstance(tensor, SparseTensor):
        return dense(tensor)
    return tensor


def is_float_dtype(dtype: DTypeLike):
    """Whether a dtype is one of floating numbers."""
    return standardize_dtype(dtype).startswith(("float", "bfloat"))


def is_int_dtype(dtype: DTypeLike):
    """Whether a dtype is one of integers."""
    return standardize_dtype(dtype).startswith(("int", "uint"))


def result_type(*dtypes_given):
    """The dtype, by name, that values of some dtypes have together."""
    if not dtypes_given:
        return settings.floatx()
    names = [standardize_dtype(getattr(d, "dtype", d)) for d in dtypes_given]
    floats = [n for n in names if is_float_dtype(n)]
    if floats:
        order = ["bfloat16", "float16", "float32", "float64"]
        if {"bfloat16", "float16"} <= set(floats):
            floats.append("float32")
        return max(floats, key=order.index)
    return np.result_type(*(dtypes.as_dtype(n).as_numpy_dtype for n in names)).name


def print_tensor(x: TensorLike, message: str = "", summarize: int = 3):
    """Print a tensor when it is computed.

    Args:
      x: a tensor, or what can be converted to one.
      message: what is printed before it.
      summarize: how many elements at the ends of each axis are printed.

    Returns:
      The tensor.
    """
    printed = print_(message, x, summarize=summarize)
    with control_dependencies([] if printed is None else [printed]):
        return array.identity(x)


def gradients(loss: TensorLike, variables: Sequence[Any]):
    """Compute the derivatives of a loss in a graph.

    Args:
      loss: a tensor of a graph.
      variables: variables or tensors that it depends on, a list.

    Returns:
      A list of tensors, None where the loss does not depend on one.
    """

    return of_graph(loss, variables)


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


def map_fn(fn: Callable[..., Any], elems, name: str | None = None, dtype: DTypeLike | None = None):
    """Apply a function to every element along the first axis.

    Args:
      fn: a function of one element.
      elems: a tensor, or a structure of tensors.
      name: accepted as in Keras 2.
      dtype: the dtype of the results, where it is not that of the elements.

    Returns:
      The results, stacked.
    """
    return mapping.map_fn(fn, elems, dtype=dtype)


def foldl(fn: Callable[..., Any], elems, initializer=None, name: str | None = None):
    """Combine elements by fn(so far, element) from the first element to the last.

    Args:
      fn: a function of the result so far and one element.
      elems: a tensor, whose first axis is that of the elements.
      initializer: the result to start from; None for the element that comes first.
      name: accepted as in Keras 2.

    Returns:
      The last result.
    """
    return mapping.foldl(fn, elems, initializer=initializer)


def foldr(fn: Callable[..., Any], elems, initializer=None, name: str | None = None):
    """Combine elements by fn(so far, element) from the last element to the first.

    Args:
      fn: a function of the result so far and one element.
      elems: a tensor, whose first axis is that of the elements.
      initializer: the result to start from; None for the element that comes first.
      name: accepted as in Keras 2.

    Returns:
      The last result.
    """
    return mapping.foldr(fn, elems, initializer=initializer)


@computes_tensors
def random_bernoulli(
    shape: Sequence[Any], p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
):
    """Draw ones with the probability p, else zeros.

    Args:
      shape: the shape of the result.
      p: the probability, from 0 to 1.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    dtype = settings.default_dtype(dtype)
    return cast(uniform(shape, 0.0, 1.0, dtypes.float32, seed=seed) <= p, dtype)


random_binomial = random_bernoulli


def _clipped(output, from_logits: bool, softmax):
    if from_logits:
        return softmax(output)
    tiny = settings.epsilon()
    return clip_by_value(output, tiny, 1.0 - tiny)


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


@computes_tensors
def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths):
    """Make a sparse tensor of the labels that count.

    Args:
      labels: a tensor `(batch, longest)`.
      label_lengths: how many of each row count, `(batch,)`.

    Returns:
      A `SparseTensor`.
    """
    labels = convert_to_tensor(labels)
    sizes = array_sizes.shape(labels)
    mask = sequence_mask(label_lengths, sizes[1])
    indices = where(mask)
    return SparseTensor(indices, gather_nd(labels, indices), cast(sizes, dtypes.int64))


@computes_tensors
def ctc_batch_cost(y_true: TensorLike, y_pred: TensorLike, input_length, label_length):
    """Compute the CTC loss of probabilities; the last class is the blank.

    Args:
      y_true: labels, `(batch, longest)`.
      y_pred: probabilities, `(batch, time, classes)`.
      input_length: the number of steps of each example, `(batch, 1)`.
      label_length: the number of labels of each example, `(batch, 1)`.

    Returns:
      The losses, `(batch, 1)`.
    """

    label_length = cast(layout.squeeze(convert_to_tensor(label_length), [-1]), dtypes.int32)
    input_length = cast(layout.squeeze(convert_to_tensor(input_length), [-1]), dtypes.int32)
    labels = cast(ctc_label_dense_to_sparse(y_true, label_length), dtypes.int32)
    scores = elementwise.log(transposing.transpose(y_pred, [1, 0, 2]) + settings.epsilon())
    loss = ctc_loss_v1(inputs=scores, labels=labels, sequence_length=input_length)
    return layout.expand_dims(loss, 1)


@computes_tensors
def ctc_decode(y_pred: TensorLike, input_length, greedy: bool = True, beam_width: int = 100, top_paths: int = 1):
    """Find the label sequences that probabilities over time say; the last class is the blank.

    Args:
      y_pred: probabilities, `(batch, time, classes)`.
      input_length: the number of steps of each example, `(batch,)`.
      greedy: take the best class of each step instead of searching.
      beam_width: how many sequences the search keeps.
      top_paths: how many sequences it gives.

    Returns:
      ([the sequences, -1 where they end], their log probabilities).
    """

    y_pred = convert_to_tensor(y_pred)
    scores = elementwise.log(transposing.transpose(y_pred, [1, 0, 2]) + settings.epsilon())
    lengths = cast(input_length, dtypes.int32)
    if greedy:
        decoded, log_prob = ctc_greedy_decoder(scores, lengths)
    else:
        decoded, log_prob = ctc_beam_search_decoder(
            scores, lengths, beam_width=beam_width, top_paths=top_paths
        )
    batch, steps = array_sizes.shape(y_pred)[0], array_sizes.shape(y_pred)[1]
    size = cast(layout.reshape([batch, steps], [2]), dtypes.int64)
    found = [dense(SparseTensor(s.indices, s.values, size), default_value=-1) for s in decoded]
    return found, log_prob

boundaries(globals())
