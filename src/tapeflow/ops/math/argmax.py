"""Where along an axis the largest or the smallest element is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, DTypeLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import INDEX, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _row(name: str, function: str, reference: Callable[..., Any], results: Sequence[DType]):
    """The row that finds places, as numbers of one of the dtypes `results`."""

    @op(
        name,
        "input: T, dimension: Tidx -> output: output_type",
        types={"T": (*REAL, dtypes.bool), "Tidx": Preferring((*INDEX, dtypes.int16))},
        attrs={"output_type": dtype(dtypes.int64)},
        shape=shapes.arg_reduction,
    )
    def row(xp: ModuleType, input: Array, dimension: Array, output_type: DType):
        if np.ndim(dimension):
            raise invalid(
                f"dim must be a scalar, but received tensor of shape: {shape_text(dimension.shape)}"
            )
        if output_type not in results:
            raise invalid(
                f"Value for attr 'output_type' of {output_type.name} is not in the list of allowed values: "
                + ", ".join(kind.name for kind in results)
            )
        axis, rank = int(dimension), input.ndim
        if not -rank <= axis < rank:
            raise invalid(f"Expected dimension in the range [{-rank}, {rank}), but got {axis}")
        if input.shape[axis] == 0:
            raise invalid(f"Reduction axis {axis} is empty in shape {shape_text(input.shape)}")
        return xp.asarray(getattr(xp, function)(input, axis)).astype(output_type.as_numpy_dtype)

    row.gradient(None)
    row.batching(batching.along(1, 0))

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(rng.normal(3, 4), 0)
        yield Sample(rng.normal(3, 4), -1, output_type=dtypes.int32)
        yield Sample(rng.normal(2, 3, 4), np.asarray(1, np.int64))
        yield Sample(np.array([2.0, 5.0, 5.0, 2.0]), 0)
        yield Sample(np.zeros((0, 3)), 1)
        yield Sample(rng.normal(3), 1, raises=InvalidArgumentError)
        yield Sample(rng.normal(3), -2, raises=InvalidArgumentError)
        yield Sample(np.zeros((0,)), 0, raises=InvalidArgumentError)
        yield Sample(rng.normal(3), np.array([0]), raises=InvalidArgumentError)
        yield Sample(rng.normal(3), 0, output_type=dtypes.int8, raises=InvalidArgumentError)

    @row.reference
    def _(input: np.ndarray, dimension: np.ndarray, output_type: DType):
        lines = np.moveaxis(input, int(dimension), -1)
        places = [
            line.index(reference(line)) for line in lines.reshape(-1, lines.shape[-1]).tolist()
        ]
        return np.array(places, np.int64).reshape(lines.shape[:-1])
    row.flops(flops.reduction)
    return row


ArgMax = _row("ArgMax", "argmax", max, (*INDEX, dtypes.int16, dtypes.uint16))
ArgMin = _row("ArgMin", "argmin", min, INDEX)


@api(v2=("math.argmax", "argmax"))
@tensor_function
def argmax(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Find the indices of the largest elements along `axis`; of equal ones, the first.

    Args:
      input: a tensor of a real dtype or of bool.
      axis: the axis to search, in [-rank, rank); None: the first.
      output_type: the dtype of the indices: int64, int32, int16 or uint16.
      name: a name for the operation (optional).

    Returns:
      A tensor of `output_type`, of the shape of `input` without the axis.

    Raises:
      InvalidArgumentError: for an axis out of range, and one of size zero.

    >>> tf.argmax([[1, 9, 9], [7, 2, 3]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 0])>
    """
    return ArgMax(input, 0 if axis is None else axis, output_type)


@api(v2=("math.argmin", "argmin"))
@tensor_function
def argmin(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Find the indices of the smallest elements along `axis`; of equal ones, the first.

    Args:
      input: a tensor of a real dtype or of bool.
      axis: the axis to search, in [-rank, rank); None: the first.
      output_type: the dtype of the indices: int64 or int32.
      name: a name for the operation (optional).

    Returns:
      A tensor of `output_type`, of the shape of `input` without the axis.

    Raises:
      InvalidArgumentError: for an axis out of range, and one of size zero.

    >>> tf.argmin([[1, 9, 1], [7, 2, 3]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 1])>
    """
    return ArgMin(input, 0 if axis is None else axis, output_type)


@api(v1=("math.argmax", "argmax"))
@tensor_function
def argmax_v1(
    input: TensorLike, axis: AxisLike | None = None, name: str | None = None, dimension: IntLike | None = None,
    output_type: DTypeLike = dtypes.int64,
):
    """`argmax` as 1.x spells it."""
    return argmax(input, renamed("axis", axis, "dimension", dimension), output_type)


@api(v1=("math.argmin", "argmin"))
@tensor_function
def argmin_v1(
    input: TensorLike, axis: AxisLike | None = None, name: str | None = None, dimension: IntLike | None = None,
    output_type: DTypeLike = dtypes.int64,
):
    """`argmin` as 1.x spells it."""
    return argmin(input, renamed("axis", axis, "dimension", dimension), output_type)


@api(v1="arg_max")
@tensor_function
def arg_max(input: TensorLike, dimension: IntLike, output_type: DTypeLike = dtypes.int64, name: str | None = None):
    """`argmax` under an old name."""
    return ArgMax(convert_to_tensor(input), dimension, output_type)


@api(v1="arg_min")
@tensor_function
def arg_min(input: TensorLike, dimension: IntLike, output_type: DTypeLike = dtypes.int64, name: str | None = None):
    """`argmin` under an old name."""
    return ArgMin(convert_to_tensor(input), dimension, output_type)
