"""Diagonals of tensors of any rank, and identity matrices."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import ExpandDims
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math import comparison
from tapeflow.ops.math.casting import cast
from tapeflow.ops.table import COMPLEX, FLOATING, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

ELEMENTS = (*FLOATING, *INDEX, *COMPLEX)


def _whole_rule(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 1)
    return [None if shape is None else shape * 2]


@op(
    "Diag",
    "diagonal: T -> output: T",
    types={"T": ELEMENTS},
    shape=_whole_rule,
)
def Diag(xp: ModuleType, diagonal: Array):
    if diagonal.ndim < 1:
        raise invalid("Input must be at least rank 1, got 0")
    return xp.diag(diagonal.ravel()).reshape(diagonal.shape * 2)


@Diag.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return DiagPart(dy)


@Diag.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3))
    yield Sample(rng.normal(2, 3))
    yield Sample(np.asarray(1.0), raises=InvalidArgumentError)


@Diag.reference
def _(diagonal: np.ndarray):
    out = np.zeros(diagonal.shape * 2)
    for at in np.ndindex(diagonal.shape):
        out[at + at] = diagonal[at]
    return out


def _part_rule(call: ShapeCall):
    shape = call.shape(0)
    if shape is None:
        return [None]
    half, odd = divmod(len(shape), 2)
    if odd or not half:
        raise invalid(f"Input must have even and non-zero rank, input rank is {len(shape)}")
    return [shapes.merge(shape[:half], shape[half:])]


@op(
    "DiagPart",
    "input: T -> diagonal: T",
    types={"T": ELEMENTS},
    shape=_part_rule,
)
def DiagPart(xp: ModuleType, input: Array):
    half = input.ndim // 2
    if input.ndim % 2:  # a scalar, which graphs refuse, is its own diagonal
        raise invalid(f"The rank of the tensor should be even, got shape {shape_text(input.shape)}")
    if input.shape[:half] != input.shape[half:]:
        raise invalid(
            f"Invalid shape {shape_text(input.shape)}: dimensions must come in equal halves"
        )
    size = int(np.prod(input.shape[:half], dtype=np.int64))
    return xp.diagonal(input.reshape(size, size)).reshape(input.shape[:half])


@DiagPart.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return Diag(dy)


@DiagPart.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(2, 3, 2, 3))
    yield Sample(rng.normal(3, 4), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


@DiagPart.reference
def _(input: np.ndarray):
    half = input.shape[: input.ndim // 2]
    return np.array([input[at + at] for at in np.ndindex(half)]).reshape(half)


@api("linalg.tensor_diag", v1="diag")
@tensor_function
def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """The tensor of shape `diagonal.shape * 2` that is `diagonal[i]` at [i, i] and 0 elsewhere."""
    return Diag(diagonal)


@api("linalg.tensor_diag_part", v1="diag_part")
@tensor_function
def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The elements [i, i] of a tensor whose shape is that of i twice. Raises InvalidArgumentError for other shapes."""
    return DiagPart(input)


@api("linalg.eye", "eye")
@tensor_function
def eye(
    num_rows: TensorLike, num_columns: TensorLike | None = None, batch_shape=None,
    dtype: DTypeLike = dtypes.float32, name: str | None = None,
):
    """Make an identity matrix, or a batch of them.

    Args:
      num_rows: the number of rows.
      num_columns: the number of columns; None: that of rows.
      batch_shape: the dimensions before the last two, a vector of int32 (optional).
      dtype: the dtype of the elements.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `batch_shape + [num_rows, num_columns]`.

    >>> tf.eye(2, 3)
    <tf.Tensor: shape=(2, 3), dtype=float32, numpy=
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)>
    """
    columns = num_rows if num_columns is None else num_columns
    zeros(
        [num_rows, columns], dtypes.bool
    )  # sizes without end fail here, before half of them is computed
    if isinstance(num_rows, int) and isinstance(columns, int) and not (num_rows and columns):
        one = zeros([num_rows, columns], dtype)  # whatever the other size is
    else:
        down, across = range_(num_rows), range_(columns)
        same = comparison.Equal(ExpandDims(down, 1), cast(across, down.dtype))
        one = cast(same, dtypes.as_dtype(dtype))
    if batch_shape is None:
        return one

    return BroadcastTo(one, concat([convert_to_tensor(batch_shape, dtypes.int32), Shape(one)], 0))
