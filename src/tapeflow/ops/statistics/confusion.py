"""Confusion matrices."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.layout import Squeeze
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.flow import cond
from tapeflow.ops.indexing.scatter import ScatterNd
from tapeflow.ops.math import arithmetic, casting, comparison, reductions
from tapeflow.ops.static import static_value
from tapeflow.ops.validate import invalid


@api(v2="math.confusion_matrix")
@tensor_function
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: TensorLike | None = None, weights: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32, name: str | None = None,
):
    """Count how often each class was predicted as each other class.

    Args:
      labels: the true classes, a vector of integers that are not negative.
      predictions: the predicted classes, of the shape of `labels`.
      num_classes: how many classes there are; None: one more than the largest number in the two.
      weights: what each prediction counts, of the shape of `labels` (optional).
      dtype: the dtype of the counts.
      name: a name for the operation (optional).

    Returns:
      A matrix `[num_classes, num_classes]` of `dtype`: rows are the true classes, columns the predicted ones.

    Raises:
      InvalidArgumentError: for classes that are negative or not below `num_classes`.

    >>> tf.math.confusion_matrix([0, 1, 2, 2], [0, 2, 2, 1])
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 1]], dtype=int32)>
    """
    labels = casting.cast(labels, dtypes.int64)
    predictions = casting.cast(predictions, dtypes.int64)
    if labels.shape.rank != predictions.shape.rank or labels.shape.rank is None:
        labels, predictions = _squeezed(labels, predictions)

    _refuse_outside("labels", labels, num_classes)
    _refuse_outside("predictions", predictions, num_classes)
    if num_classes is None:
        top = arithmetic.Maximum(reductions.reduce_max(labels), reductions.reduce_max(predictions))
        count = arithmetic.AddV2(top, 1)
    else:
        count = casting.cast(num_classes, dtypes.int64)
    kind = dtypes.as_dtype(dtype)
    ones = casting.cast(comparison.Equal(labels, labels), kind)
    heavy = ones if weights is None else arithmetic.Mul(casting.cast(weights, kind), ones)
    return ScatterNd(stack([labels, predictions], -1), heavy, stack([count, count]))


def _squeezed(labels, predictions):
    if predictions.shape.rank is None or labels.shape.rank is None:
        difference = Rank(predictions) - Rank(labels)

        def squeezed(x, when):
            last = None if x.shape.rank is None else x.shape.as_list()[-1:]
            if last is not None and last != [1] and last != [None]:
                return x
            return cond(comparison.equal(difference, when), lambda: Squeeze(x, [-1]), lambda: x)

        return squeezed(labels, -1), squeezed(predictions, 1)
    difference = predictions.shape.rank - labels.shape.rank
    if difference == 1:
        return labels, Squeeze(predictions, [-1])
    return (Squeeze(labels, [-1]), predictions) if difference == -1 else (labels, predictions)


def _refuse_outside(name: str, x: Any, limit):
    values, limit = static_value(x), None if limit is None else static_value(limit)
    if values is None or not values.size:
        return
    if values.min() < 0:
        raise invalid(f"`{name}` contains negative values.  \nCondition x >= 0 did not hold: x is {values.min()}")
    if limit is not None and values.max() >= limit:
        raise invalid(f"`{name}` out of bound\nCondition x < y did not hold: x is {values.max()}, y is {limit}")


@api(v1=("math.confusion_matrix", "confusion_matrix"))
@tensor_function
def confusion_matrix_v1(
    labels: TensorLike, predictions: TensorLike, num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32, name: str | None = None, weights=None,
):
    """`confusion_matrix` as 1.x spells it."""
    return confusion_matrix(labels, predictions, num_classes, weights, dtype)
