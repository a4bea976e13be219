"""Crossed features: every combination of one value of each of several tensors, row by row, as texts or as hashes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.ragged.value import RaggedTensorValue
from tapeflow.ops.signature import dtype, string
from tapeflow.ops.string.hashing import fingerprint64
from tapeflow.ops.string.rows import attr_bytes, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

_ALL = 2**64 - 1
# The factor of MurmurHash64A, by which TensorFlow joins fingerprints.
_FACTOR = 0xC6A4A7935BD1E995
_DEFAULT_KEY = 0xDECAFCAFFE


def joined_fingerprint(first: int, second: int) -> int:
    """One fingerprint of two, of which the order matters."""

    def shuffled(x: int):
        return (x ^ x >> 47) * _FACTOR & _ALL

    out = first ^ _FACTOR ^ shuffled(second * _FACTOR & _ALL)
    out = shuffled(out * _FACTOR & _ALL)
    return out ^ out >> 47


def _rows(values: np.ndarray, splits: Any):
    if not len(splits) or splits[0] != 0 or (np.diff(splits) < 0).any() or splits[-1] != len(values):
        raise invalid(
            f"row_splits {splits.tolist()[:9]} do not cut {len(values)} values into rows"
        )
    return [values[a:b] for a, b in itertools.pairwise(splits)]


def _joined_v1(first: int, second: int) -> int:
    """`joined_fingerprint` of the feature columns of early releases."""
    signed = first - 2**64 if first >> 63 else first
    return (first ^ (second + 0x9E3779B97F4A7800 + (signed << 10) + (signed >> 4))) & _ALL


def _hashed(parts, key, buckets, joined):
    out = key
    for part in parts:
        number = fingerprint64(part) if isinstance(part, bytes) else int(part) & _ALL
        out = joined(out, number)
    return out % (buckets if buckets > 0 else 2**63 - 1)


# TensorFlow's lists of mixed dtypes are two lists here, of the strings and of the numbers, in the order that
# `input_order` says: a letter for each column, "S" or "N".
@op("RaggedCrossColumns",
    "texts: A*string, numbers: B*int64, row_splits: C*int64 "
    "-> output_values: out_values_type, output_row_splits: int64",
    attrs={"input_order": string, "hashed_output": False, "num_buckets": 0,
           "hash_key": _DEFAULT_KEY, "separator": "_X_", "out_values_type": dtype(dtypes.string),
           "early_hash": False},
    shape=lambda call: [(None,), (None,)])  # fmt: skip
def RaggedCrossColumns(
    xp: ModuleType, texts, numbers, row_splits: Sequence[Array],
    input_order, hashed_output: bool, num_buckets: int, hash_key, separator: str, out_values_type: DType,
    early_hash: bool,
):  # fmt: skip
    if num_buckets < 0:
        raise invalid(f"num_buckets must be >= 0, got {num_buckets}")
    if len(input_order) != len(row_splits) or len(texts) + len(numbers) != len(row_splits):
        raise invalid(f"There are {len(row_splits)} row_splits for {len(input_order)} inputs")
    given = {"S": iter(texts), "N": iter(numbers)}
    columns = [
        _rows(next(given[letter]), splits)
        for letter, splits in zip(input_order, row_splits, strict=True)
    ]
    for position, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise invalid(
                f"Expected batch size {len(columns[0])} got {len(column)} at position {position}"
            )
    glue = attr_bytes(separator)
    joined = _joined_v1 if early_hash else joined_fingerprint

    def combined(parts: Sequence[Any]):
        if hashed_output:
            return _hashed(parts, hash_key, num_buckets, joined)
        return glue.join(p if isinstance(p, bytes) else str(int(p)).encode() for p in parts)

    rows = [
        [combined(parts) for parts in itertools.product(*row)]
        for row in zip(*columns, strict=True)
    ]  # fmt: skip
    values = [value for row in rows for value in row]
    out = np.empty(len(values), np.int64 if hashed_output else object)
    out[:] = values
    return out, np.cumsum([0, *(len(row) for row in rows)])


RaggedCrossColumns.gradient(None)


@RaggedCrossColumns.written_as("RaggedCross")
def _(op):
    """All columns are ragged, and in the order that `input_order` says."""
    texts, numbers, _ = op.input_sizes
    given = {"S": iter(op.inputs[:texts]), "N": iter(op.inputs[texts : texts + numbers])}
    splits = op.inputs[texts + numbers :]
    order = op.get_attr("input_order")
    order = order.decode() if isinstance(order, bytes) else order
    values = [next(given[letter]) for letter in order]
    attrs = {name: op.get_attr(name) for name in ("hashed_output", "num_buckets", "hash_key", "out_values_type")}
    return [*values, *splits], {
        **attrs,
        "Nsparse": 0,
        "input_order": "R" * len(values),
        "ragged_values_types": [x.dtype for x in values],
        "ragged_splits_types": [x.dtype for x in splits],
        "sparse_values_types": [],
        "dense_types": [],
        "out_row_splits_type": dtypes.int64,
    }


@RaggedCrossColumns.samples
def _(rng):
    words, numbers = texts("a", "b", "c"), np.array([4, 5])
    splits = [np.array([0, 1, 3]), np.array([0, 1, 2])]
    yield Sample([words], [numbers], splits, "SN",
                 expect=(texts("a_X_4", "b_X_5", "c_X_5"), np.array([0, 1, 3])))  # fmt: skip
    hashed = {"hashed_output": True, "out_values_type": dtypes.int64}
    want = np.array([7369309576958622909, 2973843856347199673, 4707660378794676007])
    yield Sample([words], [numbers], splits, "SN", **hashed, expect=(want, np.array([0, 1, 3])))
    yield Sample([words], [numbers], splits[:1] * 2, "SN", raises=InvalidArgumentError)
    yield Sample([words, words], [], splits[:1] + [np.array([0, 3])], "SS",
                 raises=InvalidArgumentError)  # fmt: skip
    yield Sample([words], [numbers], splits[:1], "S", raises=InvalidArgumentError)


def _column(value: Any, position: int):
    """(values, splits) of one column as strings or int64."""
    if isinstance(value, SparseTensor):
        rows = RaggedTensor.from_value_rowids(
            value.values, value.indices[:, 0], value.dense_shape[0], validate=False
        )
    else:
        value = as_ragged_or_tensor(value)
        if value.shape.rank not in (None, 2):
            raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
        rows = value if isinstance(value, RaggedTensor) else RaggedTensor.from_tensor(value)
    if rows.dtype == dtypes.string:
        return rows.values, rows.row_splits
    if not rows.dtype.is_integer:
        raise ValueError(f"Unexpected dtype for inputs[{position}]: {rows.dtype}")
    return cast(rows.values, dtypes.int64), rows.row_splits


def crossed(inputs, **attrs):
    """The crossing as a ragged tensor; attrs are those of the row."""
    kind = dtypes.int64 if attrs.get("hashed_output") else dtypes.string
    if not len(inputs):
        return RaggedTensor.from_row_splits(
            convert_to_tensor([], kind), convert_to_tensor([0], dtypes.int64), validate=False
        )
    columns = [_column(value, i) for i, value in enumerate(inputs)]
    order = "".join("S" if values.dtype == dtypes.string else "N" for values, _ in columns)
    made = RaggedCrossColumns(
        [v for v, _ in columns if v.dtype == dtypes.string],
        [v for v, _ in columns if v.dtype != dtypes.string],
        [cast(splits, dtypes.int64) for _, splits in columns],
        input_order=order,
        out_values_type=kind,
        **attrs,
    )
    values, row_splits = made
    narrow = [rows for rows in inputs if isinstance(rows, RaggedTensor)]
    if narrow and all(rows.row_splits.dtype == dtypes.int32 for rows in narrow):
        row_splits = cast(row_splits, dtypes.int32)
    return RaggedTensor.from_row_splits(values, row_splits, validate=False)


def _hash_attrs(num_buckets: int, hash_key):
    return {
        "hashed_output": True,
        "num_buckets": num_buckets,
        "hash_key": _DEFAULT_KEY if hash_key is None else hash_key,
    }


@public
def cross(inputs: TensorLike, name: str | None = None):
    """The values of each row crossed: joined by "_X_", one of each input, in all combinations; a ragged tensor.

    Inputs are ragged, sparse or dense, of rank 2, of strings or integers. Raises ValueError for others,
    InvalidArgumentError for different numbers of rows.
    """
    return crossed(inputs)


@public
def cross_hashed(
    inputs: Sequence[Any], num_buckets: int = 0, hash_key: TensorLike | None = None, name: str | None = None
):
    """Cross the values of each row, and hash each combination.

    Args:
      inputs: a list of matrices, `tf.RaggedTensor`s or `tf.SparseTensor`s of strings or integers, of as many rows.
      num_buckets: hashes are in [0, num_buckets), or any where it is zero.
      hash_key: an integer that changes the hash; None: a fixed one.
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of int64, with one value for each combination in a row.

    >>> tf.ragged.cross_hashed([tf.ragged.constant([["a"]]), tf.ragged.constant([["d", "e"]])], num_buckets=100).shape
    TensorShape([1, None])
    """
    return crossed(inputs, **_hash_attrs(num_buckets, hash_key))


def _require(inputs: Any, kinds, text: str):
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    inputs = [SparseTensor.from_value(i) if isinstance(i, SparseTensorValue) else i for i in inputs]
    if not all(isinstance(i, kinds) and not isinstance(i, RaggedTensorValue) for i in inputs):
        raise TypeError(text)
    return inputs


@api("sparse.cross")
@public
def sparse_cross(inputs: TensorLike, name: str | None = None, separator=None):
    """Cross the values of each row, and join each combination to a string.

    Args:
      inputs: a list of matrices or `tf.SparseTensor`s of strings or numbers (cast to int64), of as many rows.
      name: a name for the operation (optional).
      separator: what stands between the parts; None: "_X_".

    Returns:
      A `tf.SparseTensor` of strings, with one value for each combination in a row.

    Raises:
      TypeError: for other inputs.

    >>> tf.sparse.cross([tf.constant([["a"]]), tf.constant([["d", "e"]])]).values.numpy()
    array([b'a_X_d', b'a_X_e'], dtype=object)
    """
    inputs = _require(
        inputs, (SparseTensor, _native.Tensor), "All inputs must be Tensor or SparseTensor."
    )
    glue = "_X_" if separator is None else separator
    return crossed(_sparse_first(inputs), separator=glue).to_sparse()


@api("sparse.cross_hashed")
@public
def sparse_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: TensorLike | None = None, name: str | None = None
):
    """Cross the values of each row, and hash each combination.

    Args:
      inputs: a list of matrices or `tf.SparseTensor`s of strings or numbers (cast to int64), of as many rows.
      num_buckets: hashes are in [0, num_buckets), or any where it is zero.
      hash_key: an integer that changes the hash; None: a fixed one.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` of int64, with one value for each combination in a row.

    Raises:
      TypeError: for other inputs.
    """
    inputs = _require(inputs, (SparseTensor, _native.Tensor), "All inputs must be SparseTensors")
    return crossed(_sparse_first(inputs), **_hash_attrs(num_buckets, hash_key)).to_sparse()


def sparse_cross_hashed_v1(inputs, num_buckets: int = 0):
    """`sparse_cross_hashed` by the hash that feature columns of early releases have."""
    inputs = _require(inputs, (SparseTensor, _native.Tensor), "All inputs must be SparseTensors")
    attrs = _hash_attrs(num_buckets, None)
    return crossed(_sparse_first(inputs), **attrs, early_hash=True).to_sparse()


def _sparse_first(inputs):
    """The inputs in the order in which they are joined and hashed: dense ones come last. Numbers become integers."""
    return sorted(map(_of_integers, inputs), key=lambda x: not isinstance(x, SparseTensor))


def _of_integers(value: Tensor):
    if value.dtype == dtypes.string:
        return value
    if isinstance(value, SparseTensor):
        return value.with_values(cast(value.values, dtypes.int64))
    return cast(value, dtypes.int64)
