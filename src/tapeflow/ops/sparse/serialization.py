"""Sparse tensors as three strings, the serialized tensors of their parts, and back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files import tensor_bytes
from tapeflow.core.public import public, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.sparse.parts import checked, order
from tapeflow.ops.sparse.shapes import of_rank
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_FORMS = (dtypes.string, dtypes.variant)


def _packed(array: np.ndarray, form: DType):
    """An array as one element of a string or variant tensor."""
    if form == dtypes.variant:
        return array
    if array.dtype == object:
        return tensor_bytes.encode_packed(array)
    return tensor_bytes.encode(array, dtypes.as_dtype(array.dtype))


def _unpacked(element: bytes) -> np.ndarray:
    if isinstance(element, np.ndarray):
        return element
    if not isinstance(element, bytes):
        raise invalid(f"Could not parse serialized proto: {element!r} is no serialized tensor")
    try:
        return tensor_bytes.decode(element)[0]
    except (tensor_bytes.WireError, ValueError) as error:
        raise invalid(f"Could not parse serialized proto: {error}") from None


def _check_form(form: DType) -> None:
    if form not in _FORMS:
        raise invalid(
            f"Value for attr 'out_type' of {form.name} is not in the list of allowed values: string, variant"
        )


def _row(parts: Sequence[np.ndarray], form: DType):
    out = np.empty(3, object)
    for i, part in enumerate(parts):
        out[i] = _packed(np.asarray(part), form)
    return out


@op("SerializeSparse",
    "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type",
    types={"T": ANY}, attrs={"out_type": dtype(dtypes.string)},
    ranks="sparse_indices: 2, sparse_values: 1, sparse_shape: 1",
    shape=lambda call: [(3,)])  # fmt: skip
def SerializeSparse(
    xp: ModuleType, sparse_indices: np.ndarray, sparse_values: np.ndarray, sparse_shape: np.ndarray,
    out_type: DType,
):
    _check_form(out_type)
    checked(sparse_indices, sparse_values, sparse_shape, in_range=False)
    return _row((sparse_indices, sparse_values, sparse_shape), out_type)


@op("SerializeManySparse",
    "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type",
    types={"T": ANY}, attrs={"out_type": dtype(dtypes.string)},
    ranks="sparse_indices: 2, sparse_values: 1, sparse_shape: 1",
    shape=lambda call: [(None, 3)])  # fmt: skip
def SerializeManySparse(
    xp: ModuleType, sparse_indices: np.ndarray, sparse_values: np.ndarray, sparse_shape: np.ndarray,
    out_type: DType,
):
    _check_form(out_type)
    sizes = checked(sparse_indices, sparse_values, sparse_shape)
    if len(sizes) < 2:
        raise invalid(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(sizes)}"
        )
    by = order(sparse_indices)
    indices, values = sparse_indices[by], sparse_values[by]
    bounds = np.searchsorted(indices[:, 0], np.arange(sizes[0] + 1))
    out = np.empty((sizes[0], 3), object)
    for row, (a, b) in enumerate(itertools.pairwise(bounds)):
        out[row] = _row((indices[a:b, 1:], values[a:b], sparse_shape[1:]), out_type)
    return out


def _parts(row: Any, kind, number: int):
    indices, values, shape = map(_unpacked, row)
    found = dtypes.string if values.dtype == object else dtypes.as_dtype(values.dtype)
    if found != kind:
        raise invalid(
            f"Requested SparseTensor of type {kind.name} but SparseTensor[{number}].values.dtype() == {found.name}"
        )
    if indices.dtype != np.int64 or shape.dtype != np.int64:
        raise invalid(f"The indices and the shape of SparseTensor[{number}] must be int64")
    return indices, values, np.array(checked(indices, values, shape, in_range=False), np.int64)


def _joined(rows: Any, kind):
    """The parts of a sparse tensor whose first dimension goes over the sparse tensors in `rows`."""
    parts = [_parts(row, kind, i) for i, row in enumerate(rows)]
    ranks = [len(shape) for _, _, shape in parts]
    rank = ranks[0] if ranks else 0
    for number, other in enumerate(ranks):
        if other != rank:
            raise invalid(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{number}] was: {rank} but rank "
                f"of SparseTensor[{number}] is: {other}"
            )
    places = [
        np.concatenate([np.full((len(indices), 1), i, np.int64), indices], 1)
        for i, (indices, _, _) in enumerate(parts)
    ]
    widest = np.max([shape for _, _, shape in parts], 0) if parts else np.zeros(rank, np.int64)
    empty = np.zeros(0, object if kind == dtypes.string else kind.as_numpy_dtype)
    return (
        np.concatenate([np.zeros((0, rank + 1), np.int64), *places]),
        np.concatenate([empty, *(values for _, values, _ in parts)]),
        np.array([len(parts), *widest], np.int64),
    )


def _serialized_rule(call: ShapeCall):
    shape = call.shape(0)
    if shape is not None:
        shapes.exactly(shape[-1], 3)
    return of_rank(None)


@op("DeserializeManySparse",
    "serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    attrs={"dtype": dtype}, ranks="serialized_sparse: 2",
    shape=_serialized_rule)  # fmt: skip
def DeserializeManySparse(xp: ModuleType, serialized_sparse: Array, dtype: DType):
    if serialized_sparse.ndim != 2 or serialized_sparse.shape[1] != 3:
        raise invalid(
            "Serialized sparse should be a matrix with 3 columns but received shape "
            f"{shape_text(serialized_sparse.shape)}"
        )
    if not len(serialized_sparse):
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    return _joined(serialized_sparse, dtype)


@op("DeserializeSparse",
    "serialized_sparse: Tserialized -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    types={"Tserialized": Preferring(_FORMS)}, attrs={"dtype": dtype},
    ranks="serialized_sparse: 1+",
    shape=_serialized_rule)  # fmt: skip
def DeserializeSparse(xp: ModuleType, serialized_sparse: Array, dtype: DType):
    shape = serialized_sparse.shape
    if not shape or shape[-1] != 3:
        raise invalid(
            f"Serialized sparse should have 3 as the last dimension {shape_text(shape)}"
        )
    if len(shape) == 1:
        return _parts(serialized_sparse, dtype, 0)
    outer = shape[:-1]
    if not np.prod(outer):
        raise invalid("Serialized sparse should have non-zero number of elements")
    indices, values, sizes = _joined(serialized_sparse.reshape(-1, 3), dtype)
    places = np.stack(np.unravel_index(indices[:, 0], outer), 1).astype(np.int64)
    return (
        np.concatenate([places, indices[:, 1:]], 1),
        values,
        np.array([*outer, *sizes[1:]], np.int64),
    )


for row in (SerializeSparse, SerializeManySparse, DeserializeManySparse, DeserializeSparse):
    row.gradient(None)
_INDICES, _VALUES, _SHAPE = np.array([[0, 1], [1, 0]]), np.array([1, 2], np.uint8), np.array([2, 3])


def _message(array: np.ndarray):
    return tensor_bytes.encode(np.asarray(array), dtypes.as_dtype(np.asarray(array).dtype))


def _strings(*parts):
    return np.array([_message(p) for p in parts], object)


@SerializeSparse.samples
def _(rng: SampleGenerator):
    yield Sample(_INDICES, _VALUES, _SHAPE, expect=_strings(_INDICES, _VALUES, _SHAPE))
    yield Sample(_INDICES, _VALUES[:1], _SHAPE, raises=InvalidArgumentError)
    yield Sample(_INDICES, _VALUES, _SHAPE, out_type=dtypes.int32, raises=InvalidArgumentError)


@SerializeManySparse.samples
def _(rng: SampleGenerator):
    yield Sample(_INDICES, _VALUES, _SHAPE, expect=np.stack([
        _strings(_INDICES[:1, 1:], _VALUES[:1], _SHAPE[1:]),
        _strings(_INDICES[1:, 1:], _VALUES[1:], _SHAPE[1:])]))  # fmt: skip
    yield Sample(_INDICES[:, :1], _VALUES, _SHAPE[:1], raises=InvalidArgumentError)
    yield Sample(_INDICES + 5, _VALUES, _SHAPE, raises=InvalidArgumentError)


@DeserializeManySparse.samples
def _(rng: SampleGenerator):
    row = _strings(_INDICES, _VALUES, _SHAPE)
    yield Sample(row[None], dtypes.uint8, expect=(
        np.array([[0, 0, 1], [0, 1, 0]]), _VALUES, np.array([1, 2, 3])))  # fmt: skip
    yield Sample(row, dtypes.uint8, raises=InvalidArgumentError)
    yield Sample(row[None], dtypes.int32, raises=InvalidArgumentError)
    yield Sample(row[None, ::-1], dtypes.int64, raises=InvalidArgumentError)
    yield Sample(np.array([[b"a", b"b", b"c"]], object), dtypes.uint8, raises=InvalidArgumentError)


@DeserializeSparse.samples
def _(rng: SampleGenerator):
    row = _strings(_INDICES, _VALUES, _SHAPE)
    yield Sample(row, dtypes.uint8, expect=(_INDICES, _VALUES, _SHAPE))
    yield Sample(row[None, None], dtypes.uint8, expect=(
        np.array([[0, 0, 0, 1], [0, 0, 1, 0]]), _VALUES, np.array([1, 1, 2, 3])))  # fmt: skip
    yield Sample(row[:2], dtypes.uint8, raises=InvalidArgumentError)


def _sparse(value):
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


@api(v2="io.serialize_sparse")
@public
def serialize_sparse(sp_input, out_type: DTypeLike = dtypes.string, name: str | None = None):
    """Serialize a sparse tensor.

    Args:
      sp_input: a `tf.SparseTensor`.
      out_type: string or variant.
      name: a name for the operation (optional).

    Returns:
      A vector of three elements: its indices, values and shape.

    Raises:
      TypeError: where `sp_input` is not sparse.
    """
    s = _sparse(sp_input)
    return SerializeSparse(s.indices, s.values, s.dense_shape, out_type)


@api(v1=("io.serialize_sparse", "serialize_sparse"))
@tensor_function
def serialize_sparse_v1(sp_input: TensorLike, name: str | None = None, out_type: DTypeLike = dtypes.string):
    """`serialize_sparse` with the 1.x order of arguments."""
    return serialize_sparse(sp_input, out_type)


@api(v2="io.serialize_many_sparse")
@public
def serialize_many_sparse(sp_input: TensorLike, out_type: DTypeLike = dtypes.string, name: str | None = None):
    """Serialize each element along the first dimension of a sparse tensor.

    Args:
      sp_input: a `tf.SparseTensor`.
      out_type: string or variant.
      name: a name for the operation (optional).

    Returns:
      A matrix of three columns: the indices, values and shape of each element.

    Raises:
      TypeError: where `sp_input` is not sparse.
    """
    s = _sparse(sp_input)
    return SerializeManySparse(s.indices, s.values, s.dense_shape, out_type)


@api(v1=("io.serialize_many_sparse", "serialize_many_sparse"))
@tensor_function
def serialize_many_sparse_v1(sp_input: TensorLike, name: str | None = None, out_type: DTypeLike = dtypes.string):
    """`serialize_many_sparse` with the 1.x order of arguments."""
    return serialize_many_sparse(sp_input, out_type)


@api("io.deserialize_many_sparse", v1="deserialize_many_sparse")
@tensor_function
def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: TensorLike | None = None, name: str | None = None
):
    """Read what `tf.io.serialize_many_sparse` wrote, as one sparse tensor.

    Args:
      serialized_sparse: a string matrix of three columns; each row is one element along the first dimension.
      dtype: the dtype of the values.
      rank: the rank of the result, where it is known (optional).
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor`.

    Raises:
      InvalidArgumentError: for other strings, and another dtype.
    """
    made = SparseTensor(*DeserializeManySparse(serialized_sparse, dtypes.as_dtype(dtype)))
    if rank is not None:
        made.indices.shape.assert_is_compatible_with(TensorShape([None, rank]))
    return made
