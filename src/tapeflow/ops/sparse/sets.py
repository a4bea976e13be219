"""Sets along the last dimension: their unions, intersections, differences and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.ops import shapes
from tapeflow.ops.signature import string
from tapeflow.ops.sparse.parts import checked, require_order
from tapeflow.ops.sparse.shapes import elements_and_rank, of_rank
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

MEMBERS = (
    dtypes.int32, dtypes.int8, dtypes.int16, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string,
)  # fmt: skip
_OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"


class _Groups:
    """The sets of a dense or sparse array by their places in the dimensions before the last."""

    def __init__(self, shape: tuple[int, ...]):
        if len(shape) < 2:
            raise invalid(f"Shape {shape_text(shape)} has rank {len(shape)} < 2")
        self.shape = shape[:-1]
        self.members: dict[tuple[int, ...], set] = {}

    def at(self, place: tuple[int, ...]) -> set:
        return self.members.get(place, set())


def _dense(values: Any) -> _Groups:
    groups = _Groups(values.shape)
    for place in np.ndindex(*groups.shape):
        groups.members[place] = set(values[place].tolist())
    return groups


def _sparse(indices: Any, values: Any, shape: ShapeLike, validate: bool) -> _Groups:
    sizes = checked(indices, values, shape)
    groups = _Groups(sizes)
    if validate:
        require_order(indices, "\n\n")
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        groups.members.setdefault(tuple(place), set()).add(value)
    return groups


def _combined(a: _Groups, b: _Groups, operation: str, kind):
    if operation.lower() not in _OPERATIONS:
        raise invalid(f"Invalid set_operation {operation}.")
    if a.shape != b.shape:
        raise invalid(f"Mismatched shapes {shape_text(a.shape)} vs {shape_text(b.shape)}")
    combine = _OPERATIONS[operation.lower()]
    places, values, widest = [], [], 0
    for place in sorted(a.members.keys() | b.members.keys()):
        members = sorted(combine(a.at(place), b.at(place)))
        places += [(*place, i) for i in range(len(members))]
        values += members
        widest = max(widest, len(members))
    out = np.empty(len(values), kind)
    out[:] = values
    rank = len(a.shape) + 1
    return (
        np.array(places, np.int64).reshape(-1, rank),
        out,
        np.array([*a.shape, widest], np.int64),
    )


def _dense_rule(call: ShapeCall):
    one, other = call.shape(0), call.shape(1)
    if one is not None and other is not None:
        other = shapes.with_rank(other, len(one))
        shapes.merge(one[:-1], other[:-1])
    known = other if one is None else one
    return of_rank(None if known is None else len(known))


def _mixed_rule(call: ShapeCall):
    one, rank = call.shape(0), elements_and_rank(call, 1)[1]
    return of_rank(shapes.same_dimension(None if one is None else len(one), rank))


def _sparse_rule(call: ShapeCall):
    rank = shapes.same_dimension(*(elements_and_rank(call, i)[1] for i in (0, 3)))
    if rank is not None and rank < 2:
        raise invalid(f"Input 0, expected rank >= 2, got {rank}.")
    return of_rank(rank)


_ATTRS = {"set_operation": string, "validate_indices": True}


@op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULT}", types={"T": MEMBERS},
    attrs=_ATTRS, ranks="set1: 2+, set2: 2+", shape=_dense_rule)  # fmt: skip
def DenseToDenseSetOperation(xp: ModuleType, set1: Array, set2: Array, set_operation: str, validate_indices: bool):
    return _combined(_dense(set1), _dense(set2), set_operation, set1.dtype)


DenseToDenseSetOperation.compiled(never="how many elements it returns depends on values")


@op("DenseToSparseSetOperation",
    f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    types={"T": MEMBERS}, attrs=_ATTRS, ranks="set1: 2+",
    shape=_mixed_rule)  # fmt: skip
def DenseToSparseSetOperation(
    xp: ModuleType, set1: Array, set2_indices: Array, set2_values: Array, set2_shape: Array, set_operation: str,
    validate_indices: bool,
):
    other = _sparse(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_dense(set1), other, set_operation, set1.dtype)


DenseToSparseSetOperation.compiled(never="how many elements it returns depends on values")


@op("SparseToSparseSetOperation",
    "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, "
    f"set2_shape: int64 -> {_RESULT}",
    types={"T": MEMBERS}, attrs=_ATTRS,
    shape=_sparse_rule)  # fmt: skip
def SparseToSparseSetOperation(
    xp: ModuleType, set1_indices: Array, set1_values: Array, set1_shape: Array, set2_indices: Array,
    set2_values: Array, set2_shape: Array, set_operation: str, validate_indices: bool,
):  # fmt: skip
    one = _sparse(set1_indices, set1_values, set1_shape, validate_indices)
    other = _sparse(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(one, other, set_operation, set1_values.dtype)


SparseToSparseSetOperation.compiled(never="how many elements it returns depends on values")


def _size_rule(call: ShapeCall):
    rank = elements_and_rank(call, 0)[1]
    known = call.value(2)
    if known is not None:
        return [tuple(int(d) for d in known[:-1])]
    return [None if rank is None else (None,) * (rank - 1)]


@op("SetSize", "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
    types={"T": MEMBERS}, attrs={"validate_indices": True}, shape=_size_rule)  # fmt: skip
def SetSize(xp: ModuleType, set_indices: Array, set_values: Array, set_shape: Array, validate_indices: bool):
    if set_shape.ndim != 1:
        raise invalid("Shape must be a 1D tensor.")
    if set_shape.size < 2:
        raise invalid(f"Invalid rank {set_shape.size}.")
    groups = _sparse(set_indices, set_values, set_shape, validate_indices)
    out = np.zeros(groups.shape, np.int32)
    for place, members in groups.members.items():
        out[place] = len(members)
    return out


SetSize.compiled(never="it looks at values")


for row in (DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation, SetSize):
    row.gradient(None)
_A, _B = np.array([[1, 2, 2], [3, 4, 5]], np.int32), np.array([[2, 7, 1], [5, 5, 9]], np.int32)
_PLACES, _SHAPE = np.array([[0, 0], [1, 0], [1, 2]]), np.array([2, 3])
_FEW = np.array([2, 4, 9], np.int32)


def _parts(places: Any, values: Any, shape: Sequence[Any]):
    return np.array(places).reshape(-1, len(shape)), np.array(values, np.int32), np.array(shape)


@DenseToDenseSetOperation.samples
def _(rng: SampleGenerator):
    yield Sample(_A, _B, "a-b", expect=_parts([[1, 0], [1, 1]], [3, 4], [2, 2]))
    yield Sample(_A, _B, "b-a", expect=_parts([[0, 0], [1, 0]], [7, 9], [2, 1]))
    yield Sample(_A, _B, "intersection", expect=_parts([[0, 0], [0, 1], [1, 0]], [1, 2, 5], [2, 2]))
    yield Sample(_A[:0], _B[:0], "union", expect=_parts([], [], [0, 0]))
    yield Sample(_A, _B, "other", raises=InvalidArgumentError)
    yield Sample(_A, _B[:1], "union", raises=InvalidArgumentError)
    yield Sample(_A[0], _B[0], "union", raises=InvalidArgumentError)


@DenseToSparseSetOperation.samples
def _(rng: SampleGenerator):
    yield Sample(_A, _PLACES, _FEW, _SHAPE, "intersection",
                 expect=_parts([[0, 0], [1, 0]], [2, 4], [2, 1]))  # fmt: skip
    yield Sample(_A, _PLACES + 5, _FEW, _SHAPE, "union", raises=InvalidArgumentError)
    yield Sample(_A, _PLACES[::-1], _FEW, _SHAPE, "union", raises=InvalidArgumentError)


@SparseToSparseSetOperation.samples
def _(rng: SampleGenerator):
    yield Sample(_PLACES, _FEW, _SHAPE, _PLACES[1:], _FEW[1:] + 1, _SHAPE, "union",
                 expect=_parts([[0, 0], [1, 0], [1, 1], [1, 2], [1, 3]], [2, 4, 5, 9, 10], [2, 4]))  # fmt: skip
    yield Sample(_PLACES, _FEW, _SHAPE, _PLACES, _FEW, _SHAPE + 1, "union", raises=InvalidArgumentError)
    yield Sample(_PLACES, _FEW[:2], _SHAPE, _PLACES, _FEW, _SHAPE, "union", raises=InvalidArgumentError)


@SetSize.samples
def _(rng: SampleGenerator):
    yield Sample(_PLACES, _FEW, _SHAPE, expect=np.array([1, 2], np.int32))
    yield Sample(_PLACES, np.zeros(3, np.int64), _SHAPE, expect=np.array([1, 1], np.int32))
    yield Sample(_PLACES[:, :1], _FEW, _SHAPE[:1], raises=InvalidArgumentError)
    yield Sample(_PLACES + 5, _FEW, _SHAPE, raises=InvalidArgumentError)


def _input(value, name: str):
    """A sparse tensor as it is, anything else as a tensor. Raises TypeError for members of another dtype."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        value = convert_to_tensor(value)
    if value.dtype.base_dtype not in MEMBERS:
        raise TypeError(
            f"'{name}' has invalid dtype `{value.dtype}` not in supported dtypes: "
            f"{', '.join(kind.name for kind in MEMBERS)}"
        )
    return value


def _operation(a, b, operation, validate_indices: bool):
    a, b = _input(a, "a"), _input(b, "b")
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    if not isinstance(b, SparseTensor):
        out = DenseToDenseSetOperation(a, b, operation, validate_indices)
    elif not isinstance(a, SparseTensor):
        out = DenseToSparseSetOperation(
            a, b.indices, b.values, b.dense_shape, operation, validate_indices
        )
    else:
        out = SparseToSparseSetOperation(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape,
            operation, validate_indices,
        )  # fmt: skip
    return SparseTensor(*out)


@api("sets.size")
@public
def size(a: Any, validate_indices: bool = True):
    """Count the different members of sets along the last dimension.

    Args:
      a: a `tf.SparseTensor`.
      validate_indices: whether the order and range of indices are checked.

    Returns:
      An int32 tensor of the shape of `a` without the last dimension.

    Raises:
      TypeError: where `a` is not sparse.
    """
    if isinstance(a, SparseTensorValue):
        a = SparseTensor.from_value(a)
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    a = _input(a, "a")
    return SetSize(a.indices, a.values, a.dense_shape, validate_indices)


@api("sets.intersection")
@public
def intersection(a: TensorLike, b: TensorLike, validate_indices: bool = True):
    """Compute the intersections of sets along the last dimension.

    Args:
      a: an integer or string tensor, dense or a `tf.SparseTensor`, a set along its last dimension.
      b: another of its dtype and rank; where `a` is sparse, it is sparse too.
      validate_indices: whether the order and range of indices of sparse tensors are checked.

    Returns:
      A `tf.SparseTensor` with the members in ascending order.

    Raises:
      TypeError: for members of different dtypes.
      InvalidArgumentError: for sets that are not as many.

    >>> tf.sets.intersection([[1, 2, 3]], [[2, 3, 5]]).values.numpy()
    array([2, 3], dtype=int32)
    """
    return _operation(a, b, "intersection", validate_indices)


@api("sets.difference")
@public
def difference(a: TensorLike, b: TensorLike, aminusb: bool = True, validate_indices: bool = True):
    """Compute the differences of sets along the last dimension.

    Args:
      a: an integer or string tensor, dense or a `tf.SparseTensor`, a set along its last dimension.
      b: another of its dtype and rank; where `a` is sparse, it is sparse too.
      aminusb: whether to keep the members of `a` that `b` has not; else those of `b` that `a` has not.
      validate_indices: whether the order and range of indices of sparse tensors are checked.

    Returns:
      A `tf.SparseTensor` with the members in ascending order.

    Raises:
      TypeError: for members of different dtypes.
      InvalidArgumentError: for sets that are not as many.

    >>> tf.sets.difference([[1, 2, 3]], [[2, 5, 5]]).values.numpy()
    array([1, 3], dtype=int32)
    """
    return _operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


@api("sets.union")
@public
def union(a: TensorLike, b: TensorLike, validate_indices: bool = True):
    """Compute the unions of sets along the last dimension.

    Args:
      a: an integer or string tensor, dense or a `tf.SparseTensor`, a set along its last dimension.
      b: another of its dtype and rank; where `a` is sparse, it is sparse too.
      validate_indices: whether the order and range of indices of sparse tensors are checked.

    Returns:
      A `tf.SparseTensor` with the members in ascending order.

    Raises:
      TypeError: for members of different dtypes.
      InvalidArgumentError: for sets that are not as many.

    >>> tf.sets.union([[1, 2]], [[2, 5]]).values.numpy()
    array([1, 2, 5], dtype=int32)
    """
    return _operation(a, b, "union", validate_indices)
