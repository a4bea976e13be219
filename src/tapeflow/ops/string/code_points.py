"""Strings as code points, and code points as strings."""

from __future__ import annotations

from typing import Any

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.string.split import rows_of
from tapeflow.ops.string.unicode import (
    REPLACEMENT,
    UnicodeDecode,
    UnicodeDecodeWithOffsets,
    UnicodeEncode,
    UnicodeScript,
    UnicodeTranscode,
)

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

    return rows_of(input, decode, "unicode_decode")


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

    return rows_of(input, decode, "unicode_decode_with_offsets")


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

    return rows_of(input, characters, "unicode_split")


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

    return rows_of(input, characters, "unicode_split_with_offsets")


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
