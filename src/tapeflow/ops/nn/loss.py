"""Losses of neural networks: cross-entropies and the sum of squares."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout
from tapeflow.ops.array.broadcasting import sum_to_shape
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import ExpandDims, Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.linalg.matmul import BatchMatMulV2
from tapeflow.ops.math import casting, reductions
from tapeflow.ops.nn.softmax import LogSoftmax, Softmax
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape, product, size_of, sizes_of
from tapeflow.ops.table import FLOATING, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _surprise(xp: ModuleType, x: Any):
    """-log(softmax(x)), which is never negative."""
    if x.size == 0:
        return x
    shifted = x - x.max(-1, keepdims=True)
    return xp.log(xp.exp(shifted).sum(-1, keepdims=True)) - shifted


def _cross_entropy_rule(call: ShapeCall):
    if call.shape(0) is None or call.shape(1) is None:
        # The other one may be smaller, but with a known rank of 2 there is a least known.
        shape = shapes.broadcast((None, None), call.shape(0) or call.shape(1) or (None, None))
    else:
        shape = shapes.broadcast(call.shape(0), call.shape(1))
    if shape is not None and len(shape) != 2:
        raise invalid(f"Shape must be broadcasted with rank 2, but is rank {len(shape)}")
    shape = shapes.with_rank(shape, 2)
    return [shape[:1], shape]


@op(
    "SoftmaxCrossEntropyWithLogits",
    "features: T, labels: T -> loss: T, backprop: T",
    types={"T": FLOATING},
    shape=_cross_entropy_rule,
)
def SoftmaxCrossEntropyWithLogits(xp: ModuleType, features: Array, labels: Array):
    fits = all(
        a in (1, b) or b == 1
        for a, b in zip(features.shape[::-1], labels.shape[::-1], strict=False)
    )
    if not fits:
        raise invalid(
            f"logits and labels must be broadcastable: logits_size={shape_text(features.shape)} "
            f"labels_size={shape_text(labels.shape)}"
        )
    if max(features.ndim, labels.ndim) != 2:
        raise invalid(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
        )
    features, labels = xp.broadcast_arrays(features, labels)
    surprise = _surprise(xp, features)
    # A label of 0 contributes nothing, also where the logarithm is infinite.
    terms = xp.where(labels == 0, labels.dtype.type(0), labels * surprise)
    return terms.sum(-1), xp.exp(-surprise) - labels


@SoftmaxCrossEntropyWithLogits.batching
def _(call):
    features, labels = (x.shape.as_list()[-2:] if x.shape.rank else None for x in call.inputs)
    if features != labels or call.ranks != [2, 2] or features[0] is None:
        return None  # they may broadcast
    return batching.folded()(call)


def _through_backprop(call: GradientCall, dbackprop: Tensor, logits: Tensor):
    """What the second output, softmax(logits) - labels, passes on to the logits."""
    p = Softmax(logits)
    inner = BatchMatMulV2(ExpandDims(dbackprop, 1), ExpandDims(p, 2))
    return (dbackprop - layout.Squeeze(inner, [1])) * p


@SoftmaxCrossEntropyWithLogits.gradient(needs="features, backprop", none=True)
def _(call: GradientCall, dloss: Tensor | None, dbackprop: Tensor | None):
    logits = call.features
    dlogits = dlabels = None
    if dloss is not None:
        dloss = ExpandDims(dloss, -1)
        dlogits = dloss * call.backprop
        dlabels = -dloss * LogSoftmax(logits)
    if dbackprop is not None:
        extra = _through_backprop(call, dbackprop, logits)
        dlogits = extra if dlogits is None else dlogits + extra
        dlabels = -dbackprop if dlabels is None else dlabels - dbackprop
    return tuple(
        sum_to_shape(d, call.static_shape(name), call.shape(name))
        for name, d in (("features", dlogits), ("labels", dlabels))
    )


@SoftmaxCrossEntropyWithLogits.samples
def _(rng: SampleGenerator):
    # The gradient by the logits supposes labels that sum up to 1.
    yield Sample(rng.normal(3, 4), np.array([[0.1, 0.2, 0.3, 0.4], [1.0, 0, 0, 0], [0.25] * 4]))
    yield Sample(rng.normal(2, 3), np.array([[0.0, 1, 0], [1, 0, 0]]))
    yield Sample(rng.normal(2, 3), np.array([[0.5, 0.2, 0.3]]))
    yield Sample(
        np.array([[1000.0, 0.0, -1000.0]]), np.array([[0.5, 0.5, 0.0]]), differentiable=False
    )
    yield Sample(rng.normal(0, 3), rng.normal(0, 3))
    yield Sample(rng.normal(2, 3), rng.normal(2, 2), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), rng.normal(3, 3), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), rng.normal(3), raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2, 3), rng.normal(1, 2, 3), raises=InvalidArgumentError)


@SoftmaxCrossEntropyWithLogits.reference
def _(features: np.ndarray, labels: np.ndarray):
    kind = features.dtype
    x, y = np.broadcast_arrays(features.astype(np.float64), labels.astype(np.float64))
    log_p = x - np.logaddexp.reduce(x, 1, keepdims=True)
    return (-(y * log_p).sum(1)).astype(kind), (np.exp(log_p) - y).astype(kind)


def _sparse_rule(call: ShapeCall):
    features, labels = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 1)
    batch = shapes.same_dimension(features[0], labels[0])
    return [(batch,), (batch, features[1])]


@op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    types={"T": FLOATING, "Tlabels": Preferring(INDEX[::-1])},
    shape=_sparse_rule,
)
def SparseSoftmaxCrossEntropyWithLogits(xp: ModuleType, features: Array, labels: Array):
    if features.ndim != 2:
        raise invalid(f"logits must be 2-D, but got shape {shape_text(features.shape)}")
    if labels.ndim != 1:
        raise invalid(f"labels must be 1-D, but got shape {shape_text(labels.shape)}")
    rows, classes = features.shape
    if rows != labels.shape[0]:
        raise invalid(
            "logits and labels must have the same first dimension, got logits shape "
            f"{shape_text(features.shape)} and labels shape {shape_text(labels.shape)}"
        )
    if classes == 0:
        raise invalid(
            f"Must have at least one class, but got logits shape {shape_text(features.shape)}"
        )
    if xp is np and rows:
        outside = labels[(labels < 0) | (labels >= classes)]
        if outside.size:
            raise invalid(
                f"Received a label value of {int(outside[0])} which is outside the valid range of "
                f"[0, {classes}).  Label values: {' '.join(str(int(v)) for v in labels)}"
            )
    surprise = _surprise(xp, features)
    own = xp.take_along_axis(surprise, labels[:, None], 1)[:, 0] if rows else surprise[:, 0]
    hit = (np.arange(classes) == labels[:, None]).astype(features.dtype)
    return own, xp.exp(-surprise) - hit


SparseSoftmaxCrossEntropyWithLogits.batching(batching.folded())


@SparseSoftmaxCrossEntropyWithLogits.gradient(needs="features, backprop", none=True)
def _(call: GradientCall, dloss: Tensor | None, dbackprop: Tensor | None):
    dlogits = None if dloss is None else ExpandDims(dloss, -1) * call.backprop
    if dbackprop is not None:
        extra = _through_backprop(call, dbackprop, call.features)
        dlogits = extra if dlogits is None else dlogits + extra
    return dlogits, None


@SparseSoftmaxCrossEntropyWithLogits.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 4), [0, 3, 1])
    yield Sample(rng.normal(2, 1), np.array([0, 0]))
    yield Sample(rng.normal(0, 2), np.zeros(0, np.int64))
    yield Sample(rng.normal(1, 3), [3], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 3), [-1], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 3), [1, 2], raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [1], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 3), [[1]], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 0), [0], raises=InvalidArgumentError)


@SparseSoftmaxCrossEntropyWithLogits.reference
def _(features: np.ndarray, labels: np.ndarray):
    if not len(labels):
        return np.zeros(0, features.dtype), features
    x = features.astype(np.float64)
    log_p = x - np.logaddexp.reduce(x, 1, keepdims=True)
    one_hot = np.eye(features.shape[1])[labels]
    loss = -(log_p * one_hot).sum(1)
    return loss.astype(features.dtype), (np.exp(log_p) - one_hot).astype(features.dtype)


_NARROW = (dtypes.float16, dtypes.bfloat16)


@api(v2="nn.softmax_cross_entropy_with_logits")
@tensor_function
@graph_scope("softmax_cross_entropy_with_logits/")
def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis=-1, name: str | None = None):
    """Compute the cross-entropy of distributions over classes with the softmax of logits.

    It is `-sum(labels * log_softmax(logits))` along `axis`. The gradient flows to both arguments: stop it where
    labels are computed and must not change.

    Args:
      labels: the true probabilities of the classes, of the shape of `logits`; they should sum up to 1 along `axis`.
      logits: a floating tensor.
      axis: the axis of the classes.
      name: a name for the operation (optional).

    Returns:
      A tensor of losses of the dtype of `logits`, of their shape without `axis`.

    Raises:
      InvalidArgumentError: for shapes that do not fit, and an axis out of range.

    >>> tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[0.0, 0.0]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    logits = convert_to_tensor(logits)
    labels = casting.cast(labels, logits.dtype)
    kind = logits.dtype
    if kind in _NARROW:
        logits, labels = casting.cast(logits, dtypes.float32), casting.cast(labels, dtypes.float32)
    rank = logits.shape.rank
    if rank == 2 and axis in (-1, 1) and labels.shape.rank == 2:
        loss = SoftmaxCrossEntropyWithLogits(logits, labels)[0]
        return casting.cast(loss, kind) if kind in _NARROW else loss
    if rank is None:
        loss = _cross_entropy_of_any_rank(logits, labels, axis)
        return casting.cast(loss, kind) if kind in _NARROW else loss
    if not -rank <= axis < rank:
        raise invalid(
            f"axis = {axis} is not in [{-rank}, {rank}) of logits of shape {logits.shape}"
        )
    last = rank - 1
    if axis % rank != last:
        perm = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        logits, labels = Transpose(logits, perm), Transpose(labels, perm)
    sizes = sizes_of(logits)
    rows = as_shape([product(sizes[:-1]), sizes[-1]])
    labels = Reshape(labels, rows if labels.shape.rank == 0 else as_shape([-1, size_of(labels, -1)]))
    loss = SoftmaxCrossEntropyWithLogits(Reshape(logits, rows), labels)[0]
    loss = Reshape(loss, as_shape(sizes[:-1]))
    return casting.cast(loss, kind) if kind in _NARROW else loss


def _cross_entropy_of_any_rank(logits, labels, axis):
    if axis != -1:
        every = range_(Rank(logits))
        axis = axis if axis >= 0 else Rank(logits) + axis
        perm = ConcatV2([every[:axis], every[axis + 1 :], every[axis : axis + 1]], 0)
        logits, labels = Transpose(logits, perm), Transpose(labels, perm)
    shape = Shape(logits)
    rows = as_shape([reductions.reduce_prod(shape[:-1]), shape[-1]])
    loss = SoftmaxCrossEntropyWithLogits(
        Reshape(logits, rows), Reshape(labels, as_shape([-1, size_of(labels, -1)]))
    )[0]
    return Reshape(loss, shape[:-1])


@api(v1="nn.softmax_cross_entropy_with_logits")
@tensor_function
@graph_scope("softmax_cross_entropy_with_logits_sg/")
def softmax_cross_entropy_with_logits_v1(
    labels: TensorLike | None = None, logits: TensorLike | None = None, dim: IntLike = -1, name: str | None = None,
    axis: AxisLike | None = None,
):
    """`softmax_cross_entropy_with_logits` of 1.x: no gradient flows into `labels`."""
    require_both("softmax_cross_entropy_with_logits", labels, logits)
    return softmax_cross_entropy_with_logits(
        StopGradient(labels), logits, dim if axis is None else axis
    )


@api(v1="nn.softmax_cross_entropy_with_logits_v2")
@tensor_function
@graph_scope("softmax_cross_entropy_with_logits/")
def softmax_cross_entropy_with_logits_v2_v1(
    labels: TensorLike, logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim=None
):
    """`tf.nn.softmax_cross_entropy_with_logits_v2` of 1.x."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
    axis = dim if axis is None else axis
    return softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis)


def require_both(name: str, labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {name}"
            f"Received: labels={labels} and logits={logits}"
        )


@api(v2="nn.sparse_softmax_cross_entropy_with_logits")
@tensor_function
@graph_scope("SparseSoftmaxCrossEntropyWithLogits/")
def sparse_softmax_cross_entropy_with_logits(labels: TensorLike | None, logits: Any, name: str | None = None):
    """Compute the cross-entropy of classes, given by their numbers, with the softmax of logits.

    Args:
      labels: the numbers of the true classes, int32 or int64 `[...]`.
      logits: a floating tensor `[..., classes]`.
      name: a name for the operation (optional).

    Returns:
      A tensor of losses `[...]` of the dtype of `logits`.

    Raises:
      ValueError: where the shape of `labels` is not that of `logits` without the last dimension.
      InvalidArgumentError: for a class that is not in [0, classes).

    >>> tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels)
    kind = logits.dtype
    if kind in _NARROW:
        logits = casting.cast(logits, dtypes.float32)
    rank, label_rank = logits.shape.rank, labels.shape.rank
    if rank == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if rank is not None and label_rank is not None and label_rank != rank - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels.shape} of rank {label_rank} and logits.shape={logits.shape} of rank {rank}"
        )
    if not labels.shape.is_compatible_with(logits.shape[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels.shape} and logits.shape={logits.shape}"
        )
    if rank == 2:
        loss = SparseSoftmaxCrossEntropyWithLogits(logits, labels)[0]
    else:
        rows = Reshape(logits, as_shape([-1, size_of(logits, -1)]))
        loss = SparseSoftmaxCrossEntropyWithLogits(rows, Reshape(labels, [-1]))[0]
        known = logits.shape.rank is not None
        loss = Reshape(loss, as_shape(sizes_of(logits)[:-1]) if known else Shape(labels))
    return casting.cast(loss, kind) if kind in _NARROW else loss


@api(v1="nn.sparse_softmax_cross_entropy_with_logits")
@tensor_function
@graph_scope("SparseSoftmaxCrossEntropyWithLogits/")
def sparse_softmax_cross_entropy_with_logits_v1(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
):
    """`sparse_softmax_cross_entropy_with_logits`, whose arguments 1.x wants by keyword."""
    require_both("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return sparse_softmax_cross_entropy_with_logits(labels, logits)
