"""`keras.backend`: functions of single numbers, and comparisons, under Keras' own names and arguments."""

from __future__ import annotations

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.ops.math import arithmetic, comparison, elementwise, rounding, trigonometric
from tapeflow.ops.nn import softplus as nn_softplus


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


boundaries(globals())
