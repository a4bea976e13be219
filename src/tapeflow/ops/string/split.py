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
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import Shape
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.string.rows import StringSplitV2, texts
from tapeflow.ops.string.unicode import (
    REPLACEMENT,
    UnicodeDecode,
    UnicodeDecodeWithOffsets,
    UnicodeEncode,
    UnicodeScript,
    UnicodeTranscode,
)
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


def _rows_of(input: Any, of_vector: Callable[..., Any], name: str):
    """`of_vector`, which makes ragged tensors of a vector of strings, for strings of any rank."""
    input = as_ragged_or_tensor(input, dtypes.string)
    if isinstance(input, RaggedTensor):
        flat = _rows_of(input.flat_values, of_vector, name)
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
    return _rows_of(input, lambda v: _rows_of_places(*StringSplit(v, "", False)), "bytes_split")


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
    return _rows_of(input, lambda v: _split_vector(v, sep, maxsplit), "split")


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


# Characters


@api("strings.unicode_decode")
@tensor_function
def unicode_decode(
    input: TensorLike, input_encoding, errors: str = "replace", replacement_char=REPLACEMENT,
    replace_control_characters: bool = False, name: str | None = None,
):
    """Decode strings into code points.

    Args:
      input: a string tensor or `tf.RaggedTensor`.
      input_encoding: "UTF-8", "UTF-16-BE", "UTF-32-BE" or another name.
      errors: what to do with malformed bytes: "replace", "ignore" or "strict".
      replacement_char: the code point for "replace".
      replace_control_characters: whether those of 0 to 31 are replaced also.
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of int32 of one dimension more; of a scalar, a vector.

    Raises:
      InvalidArgumentError: for malformed bytes, where `errors` is "strict", and an unknown encoding.

    >>> tf.strings.unicode_decode("aé", "UTF-8")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 97, 233], dtype=int32)>
    """

    def decode(vector):
        splits, points = UnicodeDecode(
            vector, input_encoding, errors, replacement_char, replace_control_characters
        )
        return RaggedTensor.from_row_splits(points, splits, validate=False)

    return _rows_of(input, decode, "unicode_decode")


@api("strings.unicode_decode_with_offsets")
@tensor_function
def unicode_decode_with_offsets(
    input: TensorLike, input_encoding, errors: str = "replace", replacement_char=REPLACEMENT,
    replace_control_characters: bool = False, name: str | None = None,
):
    """Decode strings, and tell where each character begins.

    Args:
      input: a string tensor or `tf.RaggedTensor`.
      input_encoding: "UTF-8", "UTF-16-BE", "UTF-32-BE" or another name.
      errors: what to do with malformed bytes: "replace", "ignore" or "strict".
      replacement_char: the code point for "replace".
      replace_control_characters: whether those of 0 to 31 are replaced also.
      name: a name for the operation (optional).

    Returns:
      (code points as int32, bytes at which characters begin as int64), ragged of one dimension more; vectors of a
      scalar.

    Raises:
      InvalidArgumentError: for malformed bytes, where `errors` is "strict", and an unknown encoding.
    """

    def decode(vector):
        splits, points, starts = UnicodeDecodeWithOffsets(
            vector, input_encoding, errors, replacement_char, replace_control_characters
        )
        return (
            RaggedTensor.from_row_splits(points, splits, validate=False),
            RaggedTensor.from_row_splits(starts, splits, validate=False),
        )

    return _rows_of(input, decode, "unicode_decode_with_offsets")


@api("strings.unicode_split")
@tensor_function
def unicode_split(
    input: TensorLike, input_encoding, errors: str = "replace", replacement_char=REPLACEMENT,
    name: str | None = None,
):
    """Split strings into characters.

    Args:
      input: a string tensor or `tf.RaggedTensor`.
      input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with malformed bytes: "replace", "ignore" or "strict".
      replacement_char: the code point for "replace".
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of strings of one dimension more; of a scalar, a vector.

    >>> tf.strings.unicode_split("ab", "UTF-8").numpy()
    array([b'a', b'b'], dtype=object)
    """

    def characters(vector):
        splits, points = UnicodeDecode(vector, input_encoding, errors, replacement_char)
        return RaggedTensor.from_row_splits(
            _encoded_again(points, input_encoding), splits, validate=False
        )

    return _rows_of(input, characters, "unicode_split")


@api("strings.unicode_split_with_offsets")
@tensor_function
def unicode_split_with_offsets(
    input: TensorLike, input_encoding, errors: str = "replace", replacement_char=REPLACEMENT,
    name: str | None = None,
):
    """Split strings into characters, and tell where each begins.

    Args:
      input: a string tensor or `tf.RaggedTensor`.
      input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with malformed bytes: "replace", "ignore" or "strict".
      replacement_char: the code point for "replace".
      name: a name for the operation (optional).

    Returns:
      (characters, bytes at which they begin as int64), ragged of one dimension more; vectors of a scalar.
    """

    def characters(vector):
        splits, points, starts = UnicodeDecodeWithOffsets(
            vector, input_encoding, errors, replacement_char
        )
        return (
            RaggedTensor.from_row_splits(
                _encoded_again(points, input_encoding), splits, validate=False
            ),
            RaggedTensor.from_row_splits(starts, splits, validate=False),
        )

    return _rows_of(input, characters, "unicode_split_with_offsets")


def _encoded_again(points, encoding):
    count = cast(Shape(points)[0], dtypes.int64)
    return UnicodeEncode(points, range_(count + 1), encoding, "ignore")


@api("strings.unicode_encode")
@tensor_function
def unicode_encode(
    input: Any, output_encoding, errors: str = "replace", replacement_char=REPLACEMENT, name: str | None = None
):
    """Write code points as strings.

    Args:
      input: an int32 tensor or `tf.RaggedTensor` of code points, a string along its last dimension.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with numbers that are no code points: "replace", "ignore" or "strict".
      replacement_char: the code point for "replace".
      name: a name for the operation (optional).

    Returns:
      A string tensor, or `tf.RaggedTensor`, of one dimension less.

    Raises:
      ValueError: for a scalar.
      InvalidArgumentError: for no code points, where `errors` is "strict".

    >>> tf.strings.unicode_encode([71, 246], "UTF-8").numpy().decode()
    'Gö'
    """
    input = as_ragged_or_tensor(input, dtypes.int32)
    rank = input.shape.rank
    if rank is None:
        raise ValueError("Rank of input_tensor must be statically known.")
    if rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")

    def encode(values, splits):
        return UnicodeEncode(values, splits, output_encoding, errors, replacement_char)

    if isinstance(input, RaggedTensor):
        inner = input.values
        if isinstance(inner, RaggedTensor) or inner.shape.rank > 1:
            return input.with_values(
                unicode_encode(inner, output_encoding, errors, replacement_char)
            )
        return encode(inner, input.row_splits)
    if rank == 1:
        count = cast(reshape(Shape(input), []), dtypes.int64)
        return reshape(encode(input, [cast(0, dtypes.int64), count]), [])
    if rank == 2:
        rows = RaggedTensor.from_tensor(input)
        return encode(rows.values, rows.row_splits)
    sizes = Shape(input)
    flat = reshape(input, [-1, sizes[-1]])
    return reshape(unicode_encode(flat, output_encoding, errors, replacement_char), sizes[:-1])


@api("strings.unicode_transcode")
@tensor_function
def unicode_transcode(
    input: TensorLike, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char=REPLACEMENT, replace_control_characters: bool = False, name: str | None = None,
) -> Tensor:
    r"""Write strings of one encoding in another.

    Args:
      input: a string tensor.
      input_encoding: the encoding of `input`, such as "UTF-8" or "LATIN-1".
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with malformed bytes: "replace", "ignore" or "strict".
      replacement_char: the code point for "replace".
      replace_control_characters: whether those of 0 to 31 are replaced also.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: for an unknown encoding, and for malformed bytes where `errors` is "strict".

    >>> tf.strings.unicode_transcode("ab", "UTF-8", "UTF-16-BE").numpy()
    b'\x00a\x00b'
    """
    return UnicodeTranscode(
        input, input_encoding, output_encoding, errors, replacement_char, replace_control_characters
    )


@api("strings.unicode_script")
@tensor_function
def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The number that ICU has for the script of each code point, -1 for what is no code point."""
    return UnicodeScript(input)
