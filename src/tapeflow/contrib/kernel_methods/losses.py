"""The hinge loss of several classes (Crammer & Singer 2001)."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor, TensorLike

__all__ = ["sparse_multiclass_hinge_loss"]


def sparse_multiclass_hinge_loss(
    labels: Tensor, logits: Tensor, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str = v1.GraphKeys.LOSSES, reduction: str = v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """How far the logit of each label is from exceeding the others by 1, 0 where it does.

    Args:
      labels: the classes, integers [batch] or [batch, 1].
      logits: [batch, classes].
      weights: a number, or one for each example.
      scope: the name of the scope.
      loss_collection: the collection that the loss is added to.
      reduction: how the losses of the examples become one.

    Raises ValueError for labels that are no integers, and for shapes that do not fit.
    """
    with v1.name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        if logits.shape.rank != 2:
            raise ValueError(
                f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {logits.shape.rank}"
            )
        logits, count = v1.cast(logits, v1.float32), v1.shape(logits)[1]
        if labels.dtype not in (v1.int32, v1.int64):
            raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
        if labels.shape.rank not in (1, 2):
            raise ValueError(
                "labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). "
                f"Given rank is {labels.shape.rank}"
            )
        scale: Any = v1.convert_to_tensor(weights)
        if scale.shape.rank not in (0, 1, 2):
            raise ValueError(
                "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). "
                f"Given rank is {scale.shape.rank}"
            )
        known = v1.assert_less(labels, v1.cast(count, labels.dtype))
        with v1.control_dependencies([] if known is None else [known]):
            labels = v1.reshape(labels, [-1])
        if scale.shape.rank:
            scale = v1.reshape(scale, [-1])
            scale.shape.assert_is_compatible_with(labels.shape)
        of_label = v1.gather(logits, labels, axis=1, batch_dims=1)
        distance = logits - of_label[:, v1.newaxis] + v1.one_hot(labels, count, on_value=0.0, off_value=1.0)
        loss = v1.reduce_max(v1.nn.relu(distance), axis=1)
        return v1.losses.compute_weighted_loss(loss, scale, scope, loss_collection, reduction=reduction)
