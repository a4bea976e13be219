"""Strings taken apart: into bytes, words, characters and code points, as ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.string.rows import StringSplitV2, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _at(text: bytes, marks: bytes, skip_empty: bool) -> list[bytes]:
    """The parts of a string between any of the bytes `marks`; its bytes, if there are none."""
    if not marks:
        return [text[i : i + 1] for i in range(len(text))]
    first = marks[:1]
    table = bytes.maketrans(marks, first * len(marks))
    parts = text.translate(table).split(first)
    return [part for part in parts if part] if skip_empty else parts


@op("StringSplit", "input: string, delimiter: string -> indices: int64, values: string, shape: int64",
    attrs={"skip_empty": True},
    ranks="input: 1, delimiter: 0",
    shape=shapes.fixed((None, 2), (None,), (2,)))  # fmt: skip
def StringSplit(xp: ModuleType, input: Array, delimiter: Array, skip_empty: bool):
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {shape_text(input.shape)}")
    if delimiter.ndim:
        raise invalid(f"delimiter must be a scalar, got shape: {shape_text(delimiter.shape)}")
    rows = [_at(text, delimiter[()], skip_empty) for text in input]
    places = [(row, i) for row, parts in enumerate(rows) for i in range(len(parts))]
    values = np.empty(len(places), object)
    values[:] = [part for parts in rows for part in parts]
    return (
        np.array(places, np.int64).reshape(-1, 2),
        values,
        np.array([len(rows), max((len(parts) for parts in rows), default=0)], np.int64),
    )


StringSplit.gradient(None)


@StringSplit.samples
def _(rng: SampleGenerator):
    none, marks = np.array(b"", object), np.array(b" ;", object)
    yield Sample(texts("a b;c", ""), marks, expect=(
        np.array([[0, 0], [0, 1], [0, 2]]), texts("a", "b", "c"), np.array([2, 3])))  # fmt: skip
    yield Sample(texts(";a"), marks, False, expect=(
        np.array([[0, 0], [0, 1]]), texts("", "a"), np.array([1, 2])))  # fmt: skip
    yield Sample(texts("ab"), none, expect=(
        np.array([[0, 0], [0, 1]]), texts("a", "b"), np.array([1, 2])))  # fmt: skip
    yield Sample(np.array(b"a", object), none, raises=InvalidArgumentError)
    yield Sample(texts("a"), texts(" "), raises=InvalidArgumentError)


def rows_of(input: Any, of_vector: Callable[..., Any], name: str):
    """`of_vector`, which makes ragged tensors of a vector of strings, for strings of any rank."""
    input = as_ragged_or_tensor(input, dtypes.string)
    if isinstance(input, RaggedTensor):
        flat = rows_of(input.flat_values, of_vector, name)
        return _each(flat, input.with_flat_values)
    rank = input.shape.rank
    if rank is None:
        raise ValueError(f"Rank of `input` must be statically known. ({name})")
    if rank == 0:
        return _each(of_vector(reshape(input, [1])), lambda made: made[0])
    if rank == 1:
        return of_vector(input)
    if rank > 1:
        nested = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
        return _each(of_vector(reshape(input, [-1])), nested.with_flat_values)
    return of_vector(input)


def _each(made, function: Callable[..., Any]):
    return tuple(map(function, made)) if isinstance(made, tuple) else function(made)


def _rows_of_places(indices: Tensor, values: Tensor, shape: Any):
    return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)


@api("strings.bytes_split")
@tensor_function
def bytes_split(input: TensorLike, name: str | None = None):
    """The single bytes of strings: a ragged tensor, of a scalar a vector."""
    return rows_of(input, lambda v: _rows_of_places(*StringSplit(v, "", False)), "bytes_split")


def _split_vector(vector: Tensor, sep, maxsplit: int):
    return _rows_of_places(*StringSplitV2(vector, "" if sep is None else sep, maxsplit))


@api(v2="strings.split")
@tensor_function
def split(input: TensorLike, sep=None, maxsplit: int = -1, name: str | None = None):
    """Split strings at a separator.

    Args:
      input: a string tensor or `tf.RaggedTensor`.
      sep: the separator; None and "": white space, of which several characters count as one.
      maxsplit: how many times a string is split at most; -1: wherever it can be.
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of one dimension more; of a scalar, a vector.

    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return rows_of(input, lambda v: _split_vector(v, sep, maxsplit), "split")


def _as_result_type(made, result_type):
    if result_type == "SparseTensor":
        return made.to_sparse()
    if result_type == "RaggedTensor":
        return made
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


@api(v1="strings.split")
@public
def split_v1(
    input: Any = None, sep=None, maxsplit=-1, result_type: str = "SparseTensor", source=None, name: str | None = None
):
    """`split` of 1.x: a sparse tensor, unless `result_type` is "RaggedTensor"; a scalar is one row.

    Args:
      input: a string tensor of rank 0 or 1.
      sep: what separates; None: any white space.
      maxsplit: how often a string is split at most; -1: as often as possible.
      result_type: "SparseTensor" or "RaggedTensor".
      source: the old name of `input`.
      name: a name for the operation (optional).
    """
    input = as_ragged_or_tensor(renamed("input", input, "source", source), dtypes.string)
    if result_type == "SparseTensor" and input.shape.rank == 1:
        return SparseTensor(*StringSplitV2(input, "" if sep is None else sep, maxsplit))
    if input.shape.rank == 0:
        input = reshape(input, [1])
    return _as_result_type(split(input, sep, maxsplit), result_type)


@api(v1="string_split")
@tensor_function
def string_split(
    source, sep=None, skip_empty: bool = True, delimiter=None, result_type: str = "SparseTensor",
    name: str | None = None,
):
    """The parts of a vector of strings between any of the bytes of `sep`, by default " " (1.x)."""
    sep = renamed("sep", sep, "delimiter", delimiter)
    places = StringSplit(source, " " if sep is None else sep, skip_empty)
    if result_type == "SparseTensor":
        return SparseTensor(*places)
    return _as_result_type(_rows_of_places(*places), result_type)
