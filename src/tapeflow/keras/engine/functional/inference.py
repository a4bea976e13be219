"""What a symbolic call gives: shapes, dtypes and masks, found by building the call in a graph that is thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._native import EagerTensor, Tensor, Variable
from tapeflow.core import dtypes
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.core.variables import dtype_of, shape_of
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.keras.engine import masking
from tapeflow.keras.engine.calling import state
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.ops.ragged.tensor import RaggedTensor


def infer(
    function: Any, inputs: Sequence[Any] | dict[str, Any] | KerasTensor, args: Sequence[int], kwargs: dict[str, Any]
):
    """KerasTensors for the outputs of function(inputs, *args, **kwargs) with KerasTensors among the arguments."""
    graph = FuncGraph("keras_scratch_graph")
    made: dict = {}
    masks: dict = {}

    def stand_in(x: int | KerasTensor):
        if not isinstance(x, KerasTensor):
            return x
        if id(x) not in made:
            made[id(x)] = placeholder_for(x)
            if masking.of(x) is not None:
                masks[id(masking.of(made[id(x)]))] = masking.of(x)
        return made[id(x)]

    outer = state.symbolic
    state.symbolic = True
    try:
        with graph.as_default():
            outputs = function(
                nest.map_structure(stand_in, inputs),
                *nest.map_structure(stand_in, args),
                **nest.map_structure(stand_in, kwargs),
            )
            return nest.map_structure(lambda x: describe(x, masks), outputs)
    finally:
        state.symbolic = outer


def placeholder_for(x: KerasTensor):
    """A placeholder, or a sparse or ragged tensor of some, of the kind of a symbolic tensor."""
    if x.sparse:
        rank = x.shape.rank
        made = SparseTensor(
            placeholder(dtypes.int64, [None, rank]),
            placeholder(x.dtype, [None]),
            placeholder(dtypes.int64, [rank]),
        )
        if rank is not None:
            made.set_shape(x.shape)
        return made
    if x.ragged:
        inner = x.shape.as_list()[x.ragged_rank + 1 :]
        value = placeholder(x.dtype, [None, *inner])
        for level in range(x.ragged_rank):
            rows = x.shape.as_list()[0] if level == x.ragged_rank - 1 else None
            splits = placeholder(x.row_splits_dtype, [None if rows is None else rows + 1])
            value = RaggedTensor.from_row_splits(value, splits, validate=False)
        return value
    name = None if x.name is None else x.name.rpartition("/")[2].partition(":")[0]
    made = placeholder(dtype_of(x), shape_of(x), name or None)
    if masking.of(x) is not None:
        mask = masking.of(x)
        masking.set_mask(made, placeholder(dtype_of(mask), shape_of(mask)))
    return made


def describe(x: Tensor, masks=None):
    """A KerasTensor like a tensor; other things as they are.

    `masks`: symbolic masks by the identity of the tensors that stand for them; any other mask is a new one.
    """
    if isinstance(x, KerasTensor):
        return x
    if isinstance(x, SparseTensor):
        return KerasTensor.unnamed(x.shape, x.dtype, sparse=True)
    if isinstance(x, (Tensor, Variable)):
        name = x.name if keras_2() and not isinstance(x, EagerTensor) else ""
        made = KerasTensor.unnamed(x.shape, x.dtype, name=name)
        mask = getattr(x, "_keras_mask", None)
        if mask is not None:
            known = (masks or {}).get(id(mask))
            made._keras_mask = KerasTensor.unnamed(mask.shape, mask.dtype) if known is None else known
        return made
    if hasattr(x, "ragged_rank") and hasattr(x, "flat_values"):
        return KerasTensor.unnamed(
            x.shape, x.dtype, ragged=True, ragged_rank=x.ragged_rank,
            row_splits_dtype=x.row_splits.dtype,
        )  # fmt: skip
    return x
