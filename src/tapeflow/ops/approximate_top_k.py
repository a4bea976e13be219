"""The largest or smallest elements along an axis, where a search may miss some; ours misses none."""

from __future__ import annotations

from typing import NamedTuple

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import elementwise, layout, selection


class ApproxTopK(NamedTuple):
    values: object
    indices: object


def _largest(operand, k, axis):
    rank = operand.shape.rank
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(
            f"reduction_dimension {axis} is out of range for shape {TensorShape(operand.shape)}"
        )
    swap = layout.axis_swapped(operand, axis)
    if swap is None:
        return ApproxTopK(*selection.top_k(operand, k))
    values, indices = selection.top_k(layout.transpose(operand, swap), k)
    return ApproxTopK(layout.transpose(values, swap), layout.transpose(indices, swap))


@public
def approx_max_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The `k` largest elements along an axis, largest first, and their int32 places: (values, indices)."""
    return _largest(convert_to_tensor(operand), k, reduction_dimension)


@public
def approx_min_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The `k` smallest elements along an axis, smallest first, and their int32 places: (values, indices)."""
    operand = convert_to_tensor(operand)
    values, indices = _largest(elementwise.Neg(operand), k, reduction_dimension)
    return ApproxTopK(elementwise.Neg(values), indices)
