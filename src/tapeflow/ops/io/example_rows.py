"""Rows that read one feature of a batch of `Example` or `SequenceExample` messages.

TensorFlow reads all features by one op, with outputs of different dtypes; here each feature is a row of its own.
The messages themselves are taken apart once (core/files/examples.py remembers the last ones).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files.wire import bytes_field
from tapeflow.ops import shapes
from tapeflow.ops.io.message_features import (
    KINDS,
    SHOWN,
    TYPES,
    elements,
    feature_of_each,
    features_of,
    lists_of,
    messages_of,
    name_of,
    numpy_type,
    rows_of,
    size_of,
)
from tapeflow.ops.signature import dtype, ints, string
from tapeflow.ops.string.rows import attr_bytes
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _dense_rule(call: ShapeCall):
    lead = call.shape(0)
    sizes = call.attr("feature_shape")
    if lead is None:
        return [None]
    return [(*lead, *((None,) if call.attr("variable") else ()), *sizes)]


_FEATURE: dict[str, Any] = {"key": string, "sequence": False}


@op("ParseExampleDenseFeature", "serialized: string, names: string, default: T -> values: T",
    types={"T": TYPES},
    attrs={**_FEATURE, "feature_shape": ints([]), "variable": False, "required": False},
    shape=_dense_rule, composed_in="parsing")  # fmt: skip
def ParseExampleDenseFeature(
    xp: ModuleType, serialized: Array, names: Array, default: Array, key: str, sequence,
    feature_shape: Sequence[int], variable: bool, required: bool,
):
    messages = messages_of(serialized, names)
    kind = "string" if default.dtype == object else dtypes.as_dtype(default.dtype).name
    shape, word, count = tuple(feature_shape), KINDS[kind], size_of(feature_shape)
    if not variable:
        features = feature_of_each(messages, key, sequence)
        if all(feature is not None and feature[0] == word and len(feature[1]) == count for feature in features):
            flat = itertools.chain.from_iterable(feature[1] for feature in features)
            return np.fromiter(flat, numpy_type(kind), len(features) * count).reshape((*serialized.shape, *shape))
    found = []
    for i, message in enumerate(messages):
        where = f"Name: {name_of(names, i)}, Key: {key}, Index: {i}."
        values = elements(features_of(message, i, sequence).get(attr_bytes(key)), kind, where)
        if values is None:
            if required and not variable:
                raise invalid(
                    f"Name: {name_of(names, i)}, Feature: {key} (data type: {SHOWN[kind]}) is required but could "
                    "not be found."
                )
            if variable:
                found.append(rows_of([], kind, (0, *shape)))
            else:
                found.append(
                    np.broadcast_to(default, shape) if default.ndim == 0 else default.reshape(shape)
                )
            continue
        if variable:
            if count == 0 or len(values) % count:
                raise invalid(f"{where}  Number of {word} values is not a multiple of stride length. Saw "
                              f"{len(values)} values but output shape is: {shape_text((None, *shape))}")  # fmt: skip
            found.append(rows_of(values, kind, (-1, *shape) if count else (0, *shape)))
        elif len(values) != count:
            raise invalid(f"{where}  Number of {word} values != expected.  Values size: {len(values)} but output "
                          f"shape: {shape_text(shape)}")  # fmt: skip
        else:
            found.append(rows_of(values, kind, shape))
    if variable:
        longest = max((len(rows) for rows in found), default=0)
        out = np.empty((len(found), longest, *shape), numpy_type(kind))
        out[...] = default.ravel()[0] if default.size else (b"" if kind == "string" else 0)
        for i, rows in enumerate(found):
            out[i, : len(rows)] = rows
    else:
        out = np.empty((len(found), *shape), numpy_type(kind))
        for i, rows in enumerate(found):
            out[i, ...] = rows  # not out[i]: a scalar's array is not to be an element
    return out.reshape((*serialized.shape, *out.shape[1:]))


def _sparse_rule(call: ShapeCall):
    shape = call.shape(0)
    rank = None if shape is None else len(shape) + 1
    return [(None, rank), (None,), (rank,)]


@op("ParseExampleSparseFeature",
    "serialized: string, names: string -> indices: int64, values: dtype, dense_shape: int64",
    attrs={**_FEATURE, "dtype": dtype}, shape=_sparse_rule, composed_in="parsing")  # fmt: skip
def ParseExampleSparseFeature(
    xp: ModuleType, serialized: Array, names: Array, key: str, sequence, dtype: DType
):
    messages, kind = messages_of(serialized, names), _checked(dtype)
    found = []
    for i, feature in enumerate(feature_of_each(messages, key, sequence)):
        if feature is not None and feature[0] == KINDS[kind]:
            found.append(feature[1])
        else:
            found.append(elements(feature, kind, f"Name: {name_of(names, i)}, Key: {key}, Index: {i}.") or [])
    longest = max((len(v) for v in found), default=0)
    flat = rows_of([v for values in found for v in values], kind, (-1,))
    if serialized.ndim == 0:
        return np.arange(longest, dtype=np.int64)[:, None], flat, np.array([longest], np.int64)
    index = [(i, j) for i, values in enumerate(found) for j in range(len(values))]
    return (
        np.array(index, np.int64).reshape(-1, 2),
        flat,
        np.array([len(found), longest], np.int64),
    )


def _checked(kind: DType) -> str:
    if kind.name not in KINDS:
        raise invalid(f"A feature has dtype float32, int64 or string, not {kind.name}")
    return kind.name


@op("ParseExampleRaggedFeature",
    "serialized: string, names: string -> values: dtype, row_splits: splits_dtype",
    attrs={**_FEATURE, "dtype": dtype, "splits_dtype": dtype(dtypes.int32)},
    shape=shapes.fixed((None,), (None,)), composed_in="parsing")  # fmt: skip
def ParseExampleRaggedFeature(
    xp: ModuleType, serialized: Array, names: Array, key: str, sequence, dtype: DType, splits_dtype: DType
):
    messages, kind = messages_of(serialized, names), _checked(dtype)
    found = []
    for i, message in enumerate(messages):
        where = f"Name: {name_of(names, i)}, Key: {key}, Index: {i}."
        values = elements(features_of(message, i, sequence).get(attr_bytes(key)), kind, where)
        found.append([] if values is None else values)
    splits = np.concatenate([[0], np.cumsum([len(v) for v in found])])
    return rows_of([v for values in found for v in values], kind, (-1,)), splits.astype(
        splits_dtype.as_numpy_dtype
    )


# Lists of features


def _list_rule(call: ShapeCall):
    lead = call.shape(0)
    sizes = call.attr("feature_shape")
    return [None if lead is None else (*lead, None, *sizes), lead]


@op("ParseSequenceDenseList", "serialized: string, names: string -> values: dtype, lengths: int64",
    attrs={"key": string, "dtype": dtype, "feature_shape": ints([]), "allow_missing": False},
    shape=_list_rule, composed_in="parsing")  # fmt: skip
def ParseSequenceDenseList(
    xp: ModuleType, serialized: Array, names: Array, key: str, dtype: DType, feature_shape: Sequence[int],
    allow_missing: bool,
):
    messages, kind = messages_of(serialized, names), _checked(dtype)
    shape, count, found = tuple(feature_shape), size_of(feature_shape), []
    for i, message in enumerate(messages):
        steps = lists_of(message, i).get(attr_bytes(key))
        name = name_of(names, i)
        if steps is None:
            if not allow_missing:
                raise invalid(
                    f"Name: {name}, Feature list '{key}' is required but could not be found.  Did you mean to include "
                    "it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
                )
            steps = []
        rows = []
        for j, step in enumerate(steps):
            values = elements(step, kind, f"Name: {name}, Feature list: {key}, Index: {j}.")
            values = [] if values is None else values
            if len(values) != count:
                raise invalid(
                    f"Name: {name}, Key: {key}, Index: {j}.  Number of {KINDS[kind]} values != expected.  values "
                    f"size: {len(values)} but output shape: {shape_text(shape)}"
                )
            rows.append(rows_of(values, kind, shape))
        found.append(rows)
    longest = max(map(len, found), default=0)
    out = np.empty((len(found), longest, *shape), numpy_type(kind))
    out[...] = b"" if kind == "string" else 0
    for i, rows in enumerate(found):
        for j, row in enumerate(rows):
            out[i, j] = row
    lengths = np.array([len(rows) for rows in found], np.int64)
    return out.reshape((*serialized.shape, *out.shape[1:])), lengths.reshape(serialized.shape)


def _sparse_list_rule(call: ShapeCall):
    shape = call.shape(0)
    rank = None if shape is None else len(shape) + 2
    return [(None, rank), (None,), (rank,)]


@op("ParseSequenceSparseList",
    "serialized: string, names: string -> indices: int64, values: dtype, dense_shape: int64",
    attrs={"key": string, "dtype": dtype}, shape=_sparse_list_rule, composed_in="parsing")  # fmt: skip
def ParseSequenceSparseList(xp: ModuleType, serialized: Array, names: Array, key: str, dtype: DType):
    messages, kind = messages_of(serialized, names), _checked(dtype)
    index, flat, sizes = [], [], [len(messages), 0, 0]
    for i, message in enumerate(messages):
        steps = lists_of(message, i).get(attr_bytes(key), [])
        sizes[1] = max(sizes[1], len(steps))
        for j, step in enumerate(steps):
            where = f"Name: {name_of(names, i)}, Feature list: {key}, Index: {j}."
            values = elements(step, kind, where)
            values = [] if values is None else values
            sizes[2] = max(sizes[2], len(values))
            index += [(i, j, k) for k in range(len(values))]
            flat += list(values)
    indices = np.array(index, np.int64).reshape(-1, 3)
    if serialized.ndim == 0:
        return indices[:, 1:], rows_of(flat, kind, (-1,)), np.array(sizes[1:], np.int64)
    return indices, rows_of(flat, kind, (-1,)), np.array(sizes, np.int64)


@op("ParseSequenceRaggedList",
    "serialized: string, names: string -> values: dtype, outer_splits: splits_dtype, inner_splits: splits_dtype",
    attrs={"key": string, "dtype": dtype, "splits_dtype": dtype(dtypes.int32)},
    shape=shapes.fixed((None,), (None,), (None,)), composed_in="parsing")  # fmt: skip
def ParseSequenceRaggedList(
    xp: ModuleType, serialized: Array, names: Array, key: str, dtype: DType, splits_dtype: DType
):
    messages, kind = messages_of(serialized, names), _checked(dtype)
    flat, outer, inner = [], [0], [0]
    for i, message in enumerate(messages):
        for j, step in enumerate(lists_of(message, i).get(attr_bytes(key), [])):
            where = f"Name: {name_of(names, i)}, Feature list: {key}, Index: {j}."
            values = elements(step, kind, where)
            flat += [] if values is None else list(values)
            inner.append(len(flat))
        outer.append(len(inner) - 1)
    numbers = splits_dtype.as_numpy_dtype
    return rows_of(flat, kind, (-1,)), np.array(outer, numbers), np.array(inner, numbers)


# An example with the features a: [1, 2] (integers) and b: ["x"], and a sequence of two steps of a.
_INTEGERS = bytes_field(3, bytes_field(1, b"\1\2"))
_TEXT = bytes_field(1, bytes_field(1, b"x"))


def _entry(key: bytes, value: bytes) -> bytes:
    return bytes_field(1, bytes_field(1, key) + bytes_field(2, value))


_EXAMPLE = bytes_field(1, _entry(b"a", _INTEGERS) + _entry(b"b", _TEXT))
_SEQUENCE = _EXAMPLE + bytes_field(
    2, _entry(b"a", bytes_field(1, _INTEGERS) + bytes_field(1, _INTEGERS))
)
_NONE = np.zeros(0, object)


def _strings(*values):
    return np.array(values, object)


def _bad(*rest, **attrs):
    yield Sample(_strings(b"\xff"), _NONE, *rest, **attrs, raises=InvalidArgumentError)
    yield Sample(_strings(_SEQUENCE[:-3]), _NONE, *rest, **attrs, raises=InvalidArgumentError)
    yield Sample(
        _strings(_EXAMPLE), _strings(b"n", b"m"), *rest, **attrs, raises=InvalidArgumentError
    )


@ParseExampleDenseFeature.samples
def _(rng: SampleGenerator):
    two = np.array([7, 8])
    both = _strings(_EXAMPLE, b"")
    yield Sample(both, _NONE, two, key="a", feature_shape=(2,), expect=np.array([[1, 2], [7, 8]]))
    yield Sample(
        both, _NONE, np.array(9), key="a", variable=True, expect=np.array([[1, 2], [9, 9]])
    )
    one = np.array(_EXAMPLE, object)
    yield Sample(one, _NONE, _strings(b""), key="b", feature_shape=(1,), expect=_strings(b"x"))
    yield Sample(
        both,
        _NONE,
        two[:0],
        key="a",
        feature_shape=(2,),
        required=True,
        raises=InvalidArgumentError,
    )
    yield Sample(both, _NONE, two, key="a", feature_shape=(3,), raises=InvalidArgumentError)
    yield Sample(both, _NONE, np.ones(1, np.float32), key="a", raises=InvalidArgumentError)
    yield from _bad(two, key="a", feature_shape=(2,))


@ParseExampleSparseFeature.samples
def _(rng: SampleGenerator):
    both = _strings(b"", _EXAMPLE)
    found = (np.array([[1, 0], [1, 1]]), np.array([1, 2]), np.array([2, 2]))
    yield Sample(both, _NONE, key="a", dtype=dtypes.int64, expect=found)
    yield Sample(both, _NONE, key="a", dtype=dtypes.float32, raises=InvalidArgumentError)
    yield Sample(both, _NONE, key="a", dtype=dtypes.int32, raises=InvalidArgumentError)
    yield from _bad(key="a", dtype=dtypes.int64)


@ParseExampleRaggedFeature.samples
def _(rng: SampleGenerator):
    both = _strings(b"", _EXAMPLE)
    yield Sample(
        both, _NONE, key="a", dtype=dtypes.int64, expect=(np.array([1, 2]), np.array([0, 0, 2]))
    )
    yield from _bad(key="a", dtype=dtypes.int64)


@ParseSequenceDenseList.samples
def _(rng: SampleGenerator):
    one = _strings(_SEQUENCE)
    found = (np.array([[[1, 2], [1, 2]]]), np.array([2]))
    yield Sample(one, _NONE, key="a", dtype=dtypes.int64, feature_shape=(2,), expect=found)
    yield Sample(one, _NONE, key="z", dtype=dtypes.int64, raises=InvalidArgumentError)
    yield Sample(one, _NONE, key="a", dtype=dtypes.int64, raises=InvalidArgumentError)
    yield from _bad(key="a", dtype=dtypes.int64, feature_shape=(2,))


@ParseSequenceSparseList.samples
def _(rng: SampleGenerator):
    one = np.array(_SEQUENCE, object)
    at = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = (at, np.array([1, 2, 1, 2]), np.array([2, 2]))
    yield Sample(one, _NONE, key="a", dtype=dtypes.int64, expect=found)
    yield Sample(one, _NONE, key="a", dtype=dtypes.string, raises=InvalidArgumentError)
    yield from _bad(key="a", dtype=dtypes.int64)


@ParseSequenceRaggedList.samples
def _(rng: SampleGenerator):
    both = _strings(b"", _SEQUENCE)
    found = (np.array([1, 2, 1, 2]), np.array([0, 0, 2]), np.array([0, 2, 4]))
    yield Sample(both, _NONE, key="a", dtype=dtypes.int64, expect=found)
    yield Sample(both, _NONE, key="a", dtype=dtypes.string, raises=InvalidArgumentError)
    yield from _bad(key="a", dtype=dtypes.int64)


for _row in (
    ParseExampleDenseFeature,
    ParseExampleSparseFeature,
    ParseExampleRaggedFeature,
    ParseSequenceDenseList,
    ParseSequenceRaggedList,
    ParseSequenceSparseList,
):
    _row.gradient(None)
