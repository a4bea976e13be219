"""`tf.contrib.losses.metric_learning`: losses that bring embeddings of one class together.

Embeddings are [batch, size], labels [batch], integers.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.contrib.losses.clustering import cluster_loss, pairwise_distance
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tensor_diagonal import tensor_diag as diag
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.printing import Print
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.arithmetic import maximum, multiply, squared_difference
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.division import truediv
from tapeflow.ops.math.elementwise import exp, log, sqrt, square
from tapeflow.ops.math.reductions import reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from tapeflow.ops.nn.loss import softmax_cross_entropy_with_logits
from tapeflow.ops.sparse import functions as sparse

__all__ = [
    "cluster_loss", "contrastive_loss", "lifted_struct_loss", "npairs_loss", "npairs_loss_multilabel",
    "pairwise_distance", "triplet_semihard_loss",
]  # fmt: skip


def contrastive_loss(
    labels: TensorLike, embeddings_anchor: TensorLike, embeddings_positive: TensorLike, margin: float = 1.0
) -> Tensor:
    """The mean over pairs of d^2 where the label is 1, else max(margin - d, 0)^2; d: distance (Hadsell et al. 2006)."""
    distances = sqrt(reduce_sum(squared_difference(embeddings_anchor, embeddings_positive), 1))
    alike = cast(labels, distances.dtype)
    apart = square(maximum(margin - distances, 0.0))
    return reduce_mean(alike * square(distances) + (1.0 - alike) * apart, name="contrastive_loss")


def _alike(labels: TensorLike) -> Tensor:
    """Which pairs of a batch have one label: bool [batch, batch]. Raises ValueError for labels that are no vector."""
    labels = convert_to_tensor(labels)
    if labels.shape.rank not in (None, 1):
        raise ValueError(f"labels must be a vector, but have the shape {labels.shape}")
    column = reshape(labels, [-1, 1])
    return equal(column, transpose(column))


def _positives(alike: Tensor, dtype: DTypeLike) -> Tensor:
    """1 for pairs of one label, without those of an embedding with itself."""
    return cast(alike, dtype) - diag(ones(stack([shape(alike)[0]]), dtype))


def triplet_semihard_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """The mean over pairs of one label of max(distance + margin - distance to a negative, 0) (Schroff et al. 2015).

    Distances are squared. The negative is the nearest one that is farther away than the positive or, where there
    is none, the farthest one.
    """
    distances = pairwise_distance(embeddings, squared=True)
    alike = _alike(labels)
    apart = ~alike
    # [anchor, positive, negative]
    to_negative, to_positive = expand_dims(distances, 1), expand_dims(distances, 2)
    farther = expand_dims(apart, 1) & (to_negative > to_positive)
    farthest = reduce_max(distances, 1, keepdims=True)
    lowest = reduce_min(distances, 1, keepdims=True)
    outside = reduce_min(where(farther, to_negative, expand_dims(farthest, 2)), 2)
    inside = reduce_max(where(apart, distances, lowest), 1, keepdims=True)
    negative = where(reduce_any(farther, 2), outside, inside)
    positives = _positives(alike, distances.dtype)
    losses = maximum((margin + distances - negative) * positives, 0.0)
    return truediv(reduce_sum(losses), reduce_sum(positives), name="triplet_semihard_loss")


def _npairs(
    adjacency: Tensor, anchor: TensorLike, positive: TensorLike, reg_lambda: float, print_losses: bool
) -> Tensor:
    """The cross-entropy of similarities against the normalized adjacency, plus L2 of the embeddings."""
    norms = sum(reduce_mean(reduce_sum(square(x), 1)) for x in (anchor, positive))
    l2loss = multiply(0.25 * reg_lambda, norms, name="l2loss")
    similarity = matmul(anchor, positive, transpose_b=True)
    targets = adjacency / reduce_sum(adjacency, 1, keepdims=True)
    xent = reduce_mean(softmax_cross_entropy_with_logits(logits=similarity, labels=targets), name="xentropy")
    if print_losses:
        xent = Print(xent, ["cross entropy:", xent, "l2loss:", l2loss])
    return l2loss + xent


def npairs_loss(
    labels: TensorLike, embeddings_anchor: TensorLike, embeddings_positive: TensorLike, reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:  # fmt: skip
    """Each anchor classifies the positives of its label among all of the batch (Sohn 2016).

    Args:
      labels: those of anchors and positives, [batch].
      embeddings_anchor, embeddings_positive: pairs, not normalized.
      reg_lambda: the weight of the L2 of the embeddings.
      print_losses: whether both parts are printed.
    """
    alike = cast(_alike(labels), dtypes.float32)
    return _npairs(alike, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def npairs_loss_multilabel(
    sparse_labels: Sequence[SparseTensor], embeddings_anchor: TensorLike, embeddings_positive: TensorLike,
    reg_lambda: float = 0.002, print_losses: bool = False,
) -> Tensor:  # fmt: skip
    """`npairs_loss` for examples with several labels each; a pair counts as much as it has labels in common.

    `sparse_labels` has a SparseTensor [classes] of 0 and 1 for each pair. Raises TypeError for other things.
    """
    if not all(isinstance(labels, SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope("NpairsLossMultiLabel"):
        dense = stack([cast(sparse.to_dense(labels), dtypes.float32) for labels in sparse_labels])
        common = reduce_sum(_smaller(expand_dims(dense, 0), expand_dims(dense, 1)), 2)
        return _npairs(common, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def _smaller(a: Tensor, b: Tensor) -> Tensor:
    return where(a < b, a, b)


def lifted_struct_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """The loss of lifted structured features: each pair against all negatives of both (Song et al. 2016)."""
    distances = pairwise_distance(embeddings)
    alike = _alike(labels)
    slack = margin - distances
    # The logarithm of sums of exponentials over the negatives of both of a pair, shifted by the largest.
    lowest = reduce_min(slack, 1, keepdims=True)
    highest = reduce_max(where(alike, lowest, slack), 1, keepdims=True)
    shift = maximum(highest, transpose(highest))
    terms = exp(expand_dims(slack, 1) - expand_dims(shift, 2))
    own = reduce_sum(terms * cast(expand_dims(~alike, 1), terms.dtype), 2)
    losses = shift + log(own + transpose(own)) + distances
    positives = _positives(alike, distances.dtype)
    total = 0.25 * reduce_sum(square(maximum(losses * positives, 0.0)))
    return truediv(total, reduce_sum(positives) / 2.0, name="liftedstruct_loss")
