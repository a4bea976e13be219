"""Softmax and its logarithm, along any axis."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, AxisLike, IntLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.array.transposing import Transpose, axis_swapped
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math import elementwise, reductions
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _require_rows(x, name: str) -> None:
    if x.ndim < 1:
        raise invalid(f"{name} must have >= 1 dimension, got {shape_text(x.shape)}")


def _softmax_samples(rng: SampleGenerator):
    yield Sample(rng.normal(4))
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal(2, 1, 3))
    yield Sample(np.array([[1000.0, 0.0, -1000.0], [5.0, 5.0, 5.0]]))
    yield Sample(rng.normal(0, 3))
    yield Sample(rng.normal(3, 0))
    yield Sample(rng.normal(), raises=InvalidArgumentError)


@op("Softmax", "logits: T -> softmax: T", types={"T": FLOATING}, shape=shapes.same_as(0, least=1))
def Softmax(xp: ModuleType, logits: np.ndarray):
    _require_rows(logits, "logits")
    if logits.size == 0:
        return xp.array(logits)
    e = xp.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


Softmax.flops(flops.each_input(5))


Softmax.batching(batching.leading(least=[1]))


@Softmax.gradient(needs="softmax")
def _(call: GradientCall, dy: Tensor):
    return SoftmaxGrad(dy, call.softmax)


Softmax.samples(_softmax_samples)


@Softmax.reference
def _(logits: np.ndarray):
    x = logits.astype(np.float64)
    return np.exp(x - np.logaddexp.reduce(x, -1, keepdims=True)).astype(logits.dtype)


@op(
    "LogSoftmax", "logits: T -> logsoftmax: T", types={"T": FLOATING}, shape=shapes.same_as(0, least=1),
    promotes="weakness",
)
def LogSoftmax(xp: ModuleType, logits: np.ndarray):
    _require_rows(logits, "logits")
    if logits.size == 0:
        return xp.array(logits)
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - xp.log(xp.exp(shifted).sum(-1, keepdims=True))


LogSoftmax.batching(batching.leading(least=[1]))


@LogSoftmax.gradient(needs="logsoftmax")
def _(call: GradientCall, dy: Tensor):
    return LogSoftmaxGrad(dy, call.logsoftmax)


LogSoftmax.samples(_softmax_samples)


@LogSoftmax.reference
def _(logits: np.ndarray):
    x = logits.astype(np.float64)
    return (x - np.logaddexp.reduce(x, -1, keepdims=True)).astype(logits.dtype)


def _gradient_rule(call: ShapeCall):
    return [shapes.at_least(shapes.merged_shape(call), 1)]


def _require_same_rows(gradients, output) -> None:
    if output.ndim < 1:
        raise invalid(f"the softmax must have >= 1 dimension, got {shape_text(output.shape)}")
    if gradients.shape != output.shape:
        raise invalid(
            f"gradients and softmax must have the same shape, got {shape_text(gradients.shape)} and "
            f"{shape_text(output.shape)}"
        )


def _gradient_samples(rng: SampleGenerator):
    """Outputs are any numbers: the gradient is a function of them that says nothing of sums."""
    for shape in ((4,), (2, 3), (2, 1, 37), (0, 3), (3, 0)):
        yield Sample(rng.normal(*shape), rng.normal(*shape))
    yield Sample(rng.normal(), rng.normal(), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), rng.normal(3), raises=InvalidArgumentError)


def _softmax_slope(gradients: Tensor, softmax: Tensor):
    """What `SoftmaxGrad` computes, made of ops that TensorFlow knows."""
    return (gradients - reductions.reduce_sum(gradients * softmax, -1, True)) * softmax


@op(
    "SoftmaxGrad", "gradients: T, softmax: T -> backprops: T", types={"T": FLOATING}, shape=_gradient_rule,
)  # fmt: skip
def SoftmaxGrad(xp: ModuleType, gradients: Array, softmax: Array):
    _require_same_rows(gradients, softmax)
    return (gradients - (gradients * softmax).sum(-1, keepdims=True)) * softmax


SoftmaxGrad.batching(batching.leading(least=[1, 1]))
SoftmaxGrad.composite = _softmax_slope


@SoftmaxGrad.gradient(needs="gradients, softmax")
def _(call: GradientCall, dy: Tensor):
    own, y = call.gradients, call.softmax
    total = reductions.reduce_sum(own * y, -1, True)
    return SoftmaxGrad(dy, y), dy * (own - total) - own * reductions.reduce_sum(dy * y, -1, True)


SoftmaxGrad.samples(_gradient_samples)


@SoftmaxGrad.reference
def _(gradients: np.ndarray, softmax: np.ndarray):
    """By the matrix of derivatives of each row."""
    y = softmax.astype(np.float64)
    slopes = y[..., None] * (np.eye(y.shape[-1]) - y[..., None, :])
    return np.einsum("...ij,...i->...j", slopes, gradients).astype(softmax.dtype)


def _log_softmax_slope(gradients: Tensor, logsoftmax: Tensor):
    """What `LogSoftmaxGrad` computes, made of ops that TensorFlow knows."""
    return gradients - reductions.reduce_sum(gradients, -1, True) * elementwise.exp(logsoftmax)


@op(
    "LogSoftmaxGrad", "gradients: T, logsoftmax: T -> backprops: T", types={"T": FLOATING}, shape=_gradient_rule,
)  # fmt: skip
def LogSoftmaxGrad(xp: ModuleType, gradients: np.ndarray, logsoftmax: np.ndarray):
    _require_same_rows(gradients, logsoftmax)
    return gradients - gradients.sum(-1, keepdims=True) * xp.exp(logsoftmax)


LogSoftmaxGrad.batching(batching.leading(least=[1, 1]))
LogSoftmaxGrad.composite = _log_softmax_slope


@LogSoftmaxGrad.gradient(needs="gradients, logsoftmax")
def _(call: GradientCall, dy: Tensor):
    e = elementwise.exp(call.logsoftmax)
    pull = reductions.reduce_sum(dy * e, -1, True)
    return dy - pull, -reductions.reduce_sum(call.gradients, -1, True) * e * dy


LogSoftmaxGrad.samples(_gradient_samples)


@LogSoftmaxGrad.reference
def _(gradients: np.ndarray, logsoftmax: np.ndarray):
    """By the matrix of derivatives of each row."""
    y = logsoftmax.astype(np.float64)
    slopes = np.eye(y.shape[-1]) - np.exp(y)[..., None, :]
    return np.einsum("...ij,...i->...j", slopes, gradients).astype(logsoftmax.dtype)


def along_axis(row: Callable[..., Any], logits: Any, axis):
    """`row`, which works on the last dimension, applied along `axis`."""
    if axis == -1:
        return row(logits)
    logits = convert_to_tensor(logits)
    rank = logits.shape.rank
    if rank == 0 and axis in (0, -1):
        return row(logits)
    if rank is not None and not -rank <= axis < rank:
        raise invalid(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in "
            f"the input. Received: dim={axis}"
        )
    perm = axis_swapped(logits, axis)
    if perm is None:
        return row(logits)
    return Transpose(row(Transpose(logits, perm)), perm)


@api(v2=("math.softmax", "nn.softmax"))
@tensor_function
def softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None):
    """Compute exponentials, scaled to sum up to 1 along an axis.

    Args:
      logits: a floating tensor.
      axis: the axis along which they are summed; None: the last.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `logits`.

    Raises:
      InvalidArgumentError: for an axis out of range.

    >>> tf.nn.softmax([0.0, 0.0, -1e9])
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0.5, 0.5, 0. ], dtype=float32)>
    """
    return along_axis(Softmax, logits, -1 if axis is None else axis)


@api(v1=("math.softmax", "nn.softmax"))
@tensor_function
def softmax_v1(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: IntLike | None = None):
    """`softmax` with the 1.x spelling `dim` of `axis`."""
    return along_axis(Softmax, logits, renamed("axis", axis, "dim", dim, -1))


@api(v2=("math.log_softmax", "nn.log_softmax"))
@tensor_function
def log_softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None):
    """Compute the logarithm of `tf.nn.softmax`, exact also where softmax underflows.

    Args:
      logits: a floating tensor.
      axis: the axis along which the exponentials are summed; None: the last.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `logits`.

    Raises:
      InvalidArgumentError: for an axis out of range.

    >>> tf.nn.log_softmax([1.0, 1.0]).numpy().round(4)
    array([-0.6931, -0.6931], dtype=float32)
    """
    return along_axis(LogSoftmax, logits, -1 if axis is None else axis)


@api(v1=("math.log_softmax", "nn.log_softmax"))
@tensor_function
def log_softmax_v1(
    logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: IntLike | None = None
):
    """`log_softmax` with the 1.x spelling `dim` of `axis`."""
    return along_axis(LogSoftmax, logits, renamed("axis", axis, "dim", dim, -1))
