"""The sum of a list of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.array.rows import identity
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.signature import shape as shape_attr
from tapeflow.ops.table import NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


def _row(name: str, **attrs):
    types = {"T": (*NUMERIC, dtypes.variant)}  # lists of tensors, as gradients of loops are

    @op(name, "inputs: N>=1*T -> sum: T", types=types, attrs=attrs, shape=shapes.merged)
    def row(xp, inputs, **_):
        for i, x in enumerate(inputs):
            if x.shape != inputs[0].shape:
                raise invalid(
                    f"Inputs to operation {name} of type {name} must have the same size and shape.  Input 0: "
                    f"{shape_text(inputs[0].shape)} != input {i}: {shape_text(x.shape)}"
                )
        add = list_payload.sum_of_variants if inputs[0].dtype == object else xp.add
        total = inputs[0]
        for x in inputs[1:]:
            total = add(total, x)
        return total

    @row.gradient(needs="")
    def _(call: GradientCall, dy: Tensor):
        return [dy] * len(call.static_shape("inputs"))

    @row.samples
    def _(rng):
        given = {} if not attrs else {"shape": None}
        yield Sample([rng.normal(2, 3), rng.normal(2, 3), rng.normal(2, 3)], **given)
        yield Sample([rng.normal(2)], **given)
        yield Sample([rng.normal(0, 2), rng.normal(0, 2)], **given)
        yield Sample([rng.normal(2), rng.normal(3)], raises=InvalidArgumentError, **given)

    row.reference(lambda inputs, **_: np.stack(inputs).sum(0))
    row.batching(batching.elementwise)
    return row


MESSAGE = (
    "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
)
AddN = _row("AddN")
AddN.flops(flops.sum_of_all)
AccumulateNV2 = _row("AccumulateNV2", shape=shape_attr)


@api("math.add_n", "add_n")
@tensor_function
def add_n(inputs: Any, name: str | None = None):
    """The sum of a list of tensors (or IndexedSlices) of one shape and dtype.

    Raises ValueError for an empty list, InvalidArgumentError for shapes or dtypes that differ.
    """
    tensors = [convert_to_tensor(x) for x in inputs]
    if not tensors:
        raise ValueError(MESSAGE)
    if len(tensors) > 1:
        return AddN(tensors)
    return tensors[0] if name is None else identity(tensors[0])


@api("math.accumulate_n", v1="accumulate_n")
@tensor_function
def accumulate_n(
    inputs: TensorLike, shape: ShapeLike | None = None, tensor_dtype=None, name: str | None = None
):
    """Add a list of tensors, as `tf.add_n` does, with checks of their shape and dtype.

    Args:
      inputs: a list or tuple of tensors of one numeric dtype and one shape.
      shape: the shape that all of them must be compatible with (optional).
      tensor_dtype: the dtype that they must have (optional).
      name: a name for the operation (optional).

    Returns:
      The sum, of the dtype and shape of the inputs.

    Raises:
      TypeError: where `tensor_dtype` is not the dtype of the inputs.
      ValueError: for no inputs, dtypes that differ, and shapes that are not compatible with each other and `shape`.
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(MESSAGE)
    tensors = [convert_to_tensor(x) for x in inputs]
    if any(x.dtype != tensors[0].dtype for x in tensors):
        raise ValueError(MESSAGE)
    if tensor_dtype is not None and tensors[0].dtype != tensor_dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {tensor_dtype}, but `input` is of type {tensors[0].dtype}. "
            "These must be equal."
        )
    common = TensorShape(shape)
    for x in tensors:
        common = common.merge_with(x.shape)
    return add_n(tensors)
