"""How losses of 1.x are weighted, reduced to a scalar and collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import current_graph, executing_eagerly, name_scope_v1
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import names_itself, public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build.collections import get_collection
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.sizes import rank, shape
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.arithmetic import multiply
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal, not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan as div_no_nan
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_all, reduce_sum

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope


LOSSES = "losses"


REGULARIZATION_LOSSES = "regularization_losses"


class Reduction:
    """What becomes of the losses of the elements of a batch."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        """All kinds."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str):
        """Raises ValueError for an unknown kind."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Must be one of: {cls.all()}.")


def _mismatch(values: TensorShape, weights: TensorShape):
    return (
        f"weights can not be broadcast to values. values.rank={values.rank}. "
        f"weights.rank={weights.rank}. values.shape={values}. weights.shape={weights}."
    )


def check_weights(weights, values: Tensor):
    """What must run before weights and values meet, a list of operations: empty where their shapes are known.

    Raises ValueError where weights that are known are neither a scalar nor of the values' rank, with sizes of 1 or
    the values' own.
    """
    have, want = weights.shape, values.shape
    if have.rank == 0:
        return []
    if have.rank is not None and want.rank is not None:
        sizes = list(zip(have.as_list(), want.as_list(), strict=False))
        if have.rank != want.rank or any(
            size != 1 and size != other and None not in (size, other) for size, other in sizes
        ):
            raise ValueError(_mismatch(want, have))
        if all(size == 1 or (size == other and size is not None) for size, other in sizes):
            return []
    own, others = shape(weights), shape(values)

    def fits():
        return cond(
            equal(rank(weights), rank(values)),
            lambda: reduce_all(logical_or(equal(own, 1), equal(own, others))),
            lambda: convert_to_tensor(False),
        )

    valid = cond(equal(rank(weights), 0), lambda: convert_to_tensor(True), fits)
    text = "weights can not be broadcast to values."
    check = Assert(valid, [text, "weights.shape=", own, "values.shape=", others])
    return [] if check is None else [check]


@public
@names_itself
def compute_weighted_loss(
    losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None, loss_collection: str | None = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """Losses times weights, which broadcast to them, reduced; added to `loss_collection` in graphs.

    Args:
      losses: a tensor of losses, one for each sample.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    Reduction.validate(reduction)
    with name_scope_v1(scope, "weighted_loss", (losses, weights)):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        # The usual case, all elements alike, needs one operation.
        if (
            type(weights) is float
            and weights == 1.0
            and dtype == dtypes.float32
            and executing_eagerly()
        ):
            count = losses.shape.num_elements()
            if reduction == Reduction.NONE:
                return losses
            total = reduce_sum(losses)
            return total if reduction == Reduction.SUM or not count else total / float(count)
        values = cast(losses, dtypes.float32)
        weights = cast(weights, dtypes.float32)
        with control_dependencies(check_weights(weights, values)):
            weighted = multiply(values, weights)
        if reduction == Reduction.NONE:
            loss = weighted
        else:
            loss = reduce_sum(weighted)
            spread = weights + zeros_like(values)
            if reduction == Reduction.MEAN:
                loss = div_no_nan(loss, reduce_sum(spread), name="value")
            elif reduction == Reduction.SUM_OVER_NONZERO_WEIGHTS:
                present = reduce_sum(
                    cast(not_equal(spread, 0.0), dtypes.float32), name="num_present"
                )
                loss = div_no_nan(loss, present, name="value")
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                count = reduce_sum(ones_like(values), name="num_elements")
                loss = div_no_nan(loss, count, name="value")
        return add_loss_to(cast(loss, dtype), loss_collection)


def add_loss_to(loss: TensorLike, loss_collection: str | None):
    """Adds a loss to a collection of the graph being built, if any; returns the loss."""
    graph = current_graph()
    if loss_collection and graph is not None:
        graph.add_to_collection(loss_collection, loss)
    return loss


@public
def add_loss(loss: TensorLike, loss_collection: str | None = LOSSES):
    """Add a loss to a collection of the graph being built; eagerly there are no collections.

    Args:
      loss: a tensor.
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
    """
    add_loss_to(loss, loss_collection)


@public
def get_losses(scope: str | VariableScope | None = None, loss_collection: str | None = LOSSES):
    """The losses collected in the default graph; eager ones are not, but for what a program adds.

    Args:
      scope: a prefix of the names of those that count, a regular expression (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
    """
    return get_collection(loss_collection, scope)


@public
def get_regularization_losses(scope: str | None = None):
    """The regularization losses collected in the default graph: those of eager variables follow the variables."""
    return get_losses(scope, REGULARIZATION_LOSSES)


@public
def get_regularization_loss(scope: str | None = None, name: str | None = "total_regularization_loss"):
    """The sum of the regularization losses, 0 when there are none."""
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else convert_to_tensor(0.0)


@public
def get_total_loss(add_regularization_losses: bool = True, name: str | None = "total_loss", scope=None):
    """The sum of the collected losses. Raises ValueError when there are none.

    Args:
      add_regularization_losses: whether the regularization losses are added.
      name: a name for the operation (optional).
      scope: a prefix of the names of those that count, a regular expression (optional).
    """
    found = get_losses(scope)
    if add_regularization_losses:
        found = found + get_regularization_losses(scope)
    if not found:
        raise ValueError("No losses have been collected")
    return add_n(found, name=name)
