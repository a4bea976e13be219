"""`keras.backend`: functions that compute as in Keras 2, other than those of their names elsewhere in `tf.keras`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import constant as tensor_constant
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.keras import settings
from tapeflow.ops.math import elementwise, trigonometric
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits


@computes_tensors
def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: Sequence[Any] | None = None, name=None
):
    """Make a constant tensor, of the default float dtype unless another is given.

    Args:
      value: a number, a list, or an array.
      dtype: the dtype, or None for `keras.config.floatx()`.
      shape: the shape, where `value` is to be repeated (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor.
    """
    return tensor_constant(value, dtypes.as_dtype(settings.floatx() if dtype is None else dtype), shape, name)


@computes_tensors
def hard_sigmoid(x: TensorLike):
    """Compute `0.2 * x + 0.5`, kept between 0 and 1.

    Args:
      x: a floating tensor.

    Returns:
      A tensor like `x`.
    """
    return clip_by_value(0.2 * convert_to_tensor(x) + 0.5, 0.0, 1.0)


@computes_tensors
def binary_crossentropy(target: TensorLike, output: Any, from_logits: bool = False):
    """Compute the binary cross-entropy of every element.

    Args:
      target: labels 0 and 1.
      output: predictions of the same shape.
      from_logits: whether predictions are logits.

    Returns:
      A tensor of the shape of the labels.
    """
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    if from_logits:
        return sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    tiny = settings.epsilon()
    output = clip_by_value(output, tiny, 1.0 - tiny)
    of_one, of_zero = elementwise.log(output + tiny), elementwise.log(1.0 - output + tiny)
    return -(target * of_one + (1.0 - target) * of_zero)


@computes_tensors
def binary_focal_crossentropy(
    target: TensorLike, output: TensorLike, apply_class_balancing: bool = False, alpha: float = 0.25,
    gamma: float = 2.0, from_logits: bool = False,
):
    """Compute the binary crossentropy of each element, with less weight on what is predicted well.

    Args:
      target: labels 0 and 1.
      output: predictions of the same shape.
      apply_class_balancing: whether class 1 is weighted by `alpha`, and class 0 by `1 - alpha`.
      alpha: the weight of class 1.
      gamma: how much less what is predicted well counts.
      from_logits: whether predictions are logits.

    Returns:
      A tensor of the shape of the labels.
    """
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    p = trigonometric.sigmoid(output) if from_logits else output
    right = target * p + (1.0 - target) * (1.0 - p)
    loss = (1.0 - right) ** gamma * binary_crossentropy(target, output, from_logits)
    if apply_class_balancing:
        loss = loss * (target * alpha + (1.0 - target) * (1.0 - alpha))
    return loss


boundaries(globals())
