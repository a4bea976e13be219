"""Flat positions taken apart into coordinates."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, known, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _rule(call: ShapeCall):
    indices, count = call.shape(0), shapes.vector_length(call, 1)
    return [None if indices is None else (count, *indices)]


@op(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    types={"Tidx": Preferring(INDEX)},
    ranks="indices: 0-1, dims: 1",
    shape=_rule,
)
def UnravelIndex(xp: ModuleType, indices: Array, dims: Array):
    if indices.ndim > 1:
        raise invalid(f'The indices can only be scalar or vector, got "{shape_text(indices.shape)}"')
    if dims.ndim != 1:
        raise invalid(f'The indices can only be 1-D, got "{shape_text(dims.shape)}"')
    sizes = [int(d) for d in dims]
    for i, size in enumerate(sizes):
        if size == 0:
            raise invalid(f"Input dims cannot contain a dim of zero, but dims contains zero at index {i}")
        if size < 0:
            raise invalid(f"Input dims cannot be negative. Got dim = {size} at index {i}")
    total = math.prod(sizes)
    if total > np.iinfo(dims.dtype).max:
        raise invalid(f"Input dims product is causing integer overflow: ({' '.join(map(str, sizes))})")
    for i in np.ravel(indices) if known(indices) else ():
        if not 0 <= i < total:
            raise invalid(f"index is out of bound as with dims: {int(i)} is not in [0, {total})")
    return xp.array(xp.unravel_index(indices, sizes), indices.dtype).reshape(
        len(sizes), *indices.shape
    )


UnravelIndex.gradient(None)


UnravelIndex.compiled(static="dims")


@UnravelIndex.samples
def _(rng: SampleGenerator):
    yield Sample([2, 5, 7], [3, 3], expect=np.array([[0, 1, 2], [2, 2, 1]], np.int32))
    yield Sample(1621, [6, 7, 8, 9], expect=np.array([3, 1, 4, 1], np.int32))
    yield Sample([9], [3, 3], raises=InvalidArgumentError)
    yield Sample([-1], [3, 3], raises=InvalidArgumentError)
    yield Sample([0], [3, 0], raises=InvalidArgumentError)
    yield Sample([[0]], [3, 3], raises=InvalidArgumentError)
    yield Sample([0], [[3, 3]], raises=InvalidArgumentError)


@api("unravel_index")
@tensor_function
def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """Turn indices into a flattened array into coordinates.

    Args:
      indices: a scalar or vector of int32 or int64.
      dims: the shape of the array, a vector of the dtype of `indices`.
      name: a name for the operation (optional).

    Returns:
      A tensor `[rank of the array, ...]` of their dtype, one row for each dimension.

    Raises:
      InvalidArgumentError: for an index outside of the array.

    >>> tf.unravel_index([2, 5], [2, 3])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[0, 1],
           [2, 2]], dtype=int32)>
    """
    return UnravelIndex(indices, dims)
