"""Losses of examples and of weights, scaled so that their sum over replicas is what a single one would compute."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.api import api
from tapeflow.core import dtypes, replicas
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.array import layout
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.static import size_of


def _replica_count(caller: str) -> int:
    if replicas.strategy() is not None and replicas.state.replica is None:
        raise RuntimeError(
            f"You are calling `{caller}` in cross replica context, while it was expected to be called in replica "
            "context."
        )
    return replicas.count()


_RANK = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1"


@api("nn.compute_average_loss")
@public
def compute_average_loss(
    per_example_loss: Sequence[float] | float, sample_weight: Sequence[float] | None = None,
    global_batch_size: TensorLike | None = None,
):
    """Add losses and divide by the size of the batch of all replicas.

    Args:
      per_example_loss: the losses, a floating tensor whose first dimension is the batch.
      sample_weight: what each loss counts; it broadcasts to the losses (optional).
      global_batch_size: the size to divide by; None: that of the batch times the number of replicas.

    Returns:
      A scalar of the dtype of the losses.

    Raises:
      ValueError: for a scalar loss, and for weights that do not broadcast.
      TypeError: where `global_batch_size` is no integer.
      RuntimeError: in the scope of a strategy outside of its replicas, without `global_batch_size`.

    >>> tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=6)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """
    losses = convert_to_tensor(per_example_loss)
    kind = losses.dtype
    if losses.shape.rank == 0:
        raise ValueError(f"{_RANK}, got: {losses.shape.rank}")
    if losses.shape.rank is None:
        with control_dependencies([Assert(Rank(losses) > 0, [f"{_RANK}."])]):
            losses = Identity(losses)
    if sample_weight is not None:
        losses = _weighted(losses, convert_to_tensor(sample_weight))
    losses = cast(losses, kind)
    size = global_batch_size
    if size is None:
        size = _replica_count("compute_average_loss") * size_of(losses, 0)
    elif not convert_to_tensor(size).dtype.is_integer:
        raise TypeError(f"global_batch_size must be an integer. Received: global_batch_size={size!r}")
    return divide_no_nan(reduce_sum(losses), cast(size, kind))


def _weighted(losses: Tensor, weights: Tensor):
    have, want = weights.shape.rank, losses.shape.rank
    if have is not None and want is not None and have:
        if have == want + 1 and weights.shape[-1] == 1:
            weights = layout.squeeze(weights, [-1])
        elif want == have + 1:
            weights = layout.expand_dims(weights, -1)
        fits = weights.shape.rank == want and all(
            w in (1, d) or w is None or d is None
            for w, d in zip(weights.shape.as_list(), losses.shape.as_list(), strict=True)
        )
        if not fits:
            raise ValueError(
                f"weights can not be broadcast to values. values.shape={losses.shape}. weights.shape={weights.shape}."
            )
    return cast(losses, dtypes.float32) * cast(weights, dtypes.float32)


@api("nn.scale_regularization_loss")
@public
def scale_regularization_loss(regularization_loss: Sequence[float]):
    """The sum of the losses of weights, divided by the number of replicas, each of which adds it."""
    total = reduce_sum(regularization_loss)
    count = _replica_count("scale_regularization_loss")
    return total / cast(count, total.dtype)
