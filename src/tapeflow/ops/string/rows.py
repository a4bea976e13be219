"""Ops on strings, which are bytes: joining, cutting, measuring, case."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

UNIT = {"unit": one_of("BYTE", "UTF8_CHAR")("BYTE")}


def texts(*values) -> np.ndarray:
    """An array of strings for samples."""
    return np.array([v.encode() if isinstance(v, str) else v for v in values], object)


def attr_bytes(text) -> bytes:
    """The bytes of a string attr, which may be no UTF-8."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def each(function, *arrays, kind=object) -> np.ndarray:
    """`function` of the elements of arrays that broadcast together."""
    wide = np.broadcast_arrays(*arrays)
    made = map(function, *(a.ravel().tolist() for a in wide))
    return np.fromiter(made, kind, wide[0].size).reshape(wide[0].shape)


def _codepoint_starts(text: bytes) -> list[int]:
    """Where characters begin: the bytes that do not continue another one."""
    return [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]


@op("StringLength", "input: string -> output: int32", attrs=UNIT, shape=shapes.elementwise)
def StringLength(xp: ModuleType, input: Array, unit: str):
    length = len if unit == "BYTE" else lambda text: len(_codepoint_starts(text))
    return each(length, input, kind=np.int32)


StringLength.gradient(None)


@StringLength.samples
def _(rng: SampleGenerator):
    yield Sample(texts("ab", "é", ""), expect=np.array([2, 2, 0], np.int32))
    yield Sample(texts("ab", "é", ""), unit="UTF8_CHAR", expect=np.array([2, 1, 0], np.int32))
    yield Sample(texts("a"), unit="X", raises=InvalidArgumentError)


@api(v2="strings.length")
@tensor_function
def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Count the bytes or characters of strings.

    Args:
      input: a string tensor.
      unit: "BYTE", or "UTF8_CHAR" for characters.
      name: a name for the operation (optional).

    Returns:
      An int32 tensor of the shape of `input`.

    >>> tf.strings.length(["abc", "é"]).numpy(), tf.strings.length("é", unit="UTF8_CHAR").numpy()
    (array([3, 2], dtype=int32), np.int32(1))
    """
    return StringLength(input, unit)


@api(v1="strings.length")
@public
def length_v1(input: TensorLike, name: str | None = None, unit: str = "BYTE"):
    """`length` with the 1.x order of arguments.

    Args:
      input: a string tensor.
      name: a name for the operation (optional).
      unit: "BYTE" or "UTF8_CHAR".
    """
    return StringLength(input, unit)


def _cased(input: Any, encoding: str, ascii_case, full_case):
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    if not encoding:
        return each(ascii_case, input)
    return each(lambda text: full_case(text.decode("utf-8", "replace")).encode(), input)


@op(
    "StringLower",
    "input: string -> output: string",
    attrs={"encoding": ""},
    shape=shapes.elementwise,
)
def StringLower(xp: ModuleType, input: Array, encoding: str):
    return _cased(input, encoding, bytes.lower, str.lower)


StringLower.gradient(None)


@StringLower.samples
def _(rng: SampleGenerator):
    yield Sample(texts("ABc", "É"), expect=texts("abc", "É"))
    yield Sample(texts("ABc", "É"), encoding="utf-8", expect=texts("abc", "é"))
    yield Sample(texts("A"), encoding="latin", raises=InvalidArgumentError)


@op(
    "StringUpper",
    "input: string -> output: string",
    attrs={"encoding": ""},
    shape=shapes.elementwise,
)
def StringUpper(xp: ModuleType, input: Array, encoding: str):
    return _cased(input, encoding, bytes.upper, str.upper)


StringUpper.gradient(None)


@StringUpper.samples
def _(rng: SampleGenerator):
    yield Sample(texts("aBc", "é"), expect=texts("ABC", "é"))
    yield Sample(texts("é"), encoding="utf-8", expect=texts("É"))


@api("strings.lower")
@tensor_function
def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Turn letters into lower case.

    Args:
      input: a string tensor.
      encoding: "": ASCII letters only; "utf-8": all letters.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `input`.

    >>> tf.strings.lower("ABC 12").numpy()
    b'abc 12'
    """
    return StringLower(input, encoding)


@api("strings.upper")
@tensor_function
def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Turn letters into upper case.

    Args:
      input: a string tensor.
      encoding: "": ASCII letters only; "utf-8": all letters.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `input`.

    >>> tf.strings.upper("abc 12").numpy()
    b'ABC 12'
    """
    return StringUpper(input, encoding)


@op("StringStrip", "input: string -> output: string", shape=shapes.elementwise)
def StringStrip(xp: ModuleType, input: Array):
    return each(bytes.strip, input)


StringStrip.gradient(None)


@StringStrip.samples
def _(rng: SampleGenerator):
    yield Sample(texts("  a b\n", "c"), expect=texts("a b", "c"))


@api("strings.strip", v1="string_strip")
@tensor_function
def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Strings without white space at their ends."""
    return StringStrip(input)


def _part_rule(call: ShapeCall):
    places = shapes.merge(call.shape(1), call.shape(2))
    return [shapes.broadcast(call.shape(0), places)]


@op("Substr", "input: string, pos: T, len: T -> output: string", types={"T": INDEX}, attrs=UNIT,
    shape=_part_rule)  # fmt: skip
def Substr(xp: ModuleType, input: Array, pos: Array, len: Array, unit: str):
    if pos.shape != len.shape:
        raise invalid(
            f"pos and len should have the same shape, got: {shape_text(pos.shape)} vs. "
            f"{shape_text(len.shape)}"
        )
    try:
        whole, starts, counts = np.broadcast_arrays(input, pos, len)
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {shape_text(input.shape)} vs. {shape_text(pos.shape)}"
        ) from None
    out = np.empty(whole.shape, object)
    for number, at in enumerate(np.ndindex(*whole.shape)):
        out[at] = _cut(bytes(whole[at]), int(starts[at]), int(counts[at]), unit, number)
    return out


def _cut(text: bytes, pos: int, count: int, unit: str, number: int) -> bytes:
    marks = list(range(len(text))) if unit == "BYTE" else _codepoint_starts(text)
    marks.append(len(text))
    last = len(marks) - 1
    start = pos + last if pos < 0 else pos
    if not 0 <= start <= last:
        raise invalid(
            f"pos {pos} out of range for string b'{text.decode(errors='replace')}' at index {number}"
        )
    if count < 0:  # bytes up to the end, but no characters
        return text[start:] if unit == "BYTE" else b""
    stop = min(start + count, last)
    return text[marks[start] : marks[stop]]


Substr.gradient(None)


@Substr.samples
def _(rng: SampleGenerator):
    yield Sample(texts("hello", "wo"), 1, 2, expect=texts("el", "o"))
    yield Sample(texts("hello"), -3, 2, expect=texts("ll"))
    yield Sample(texts("hello", "world"), [1, 2], [2, 3], expect=texts("el", "rld"))
    yield Sample(texts("héllo"), 1, 2, unit="UTF8_CHAR", expect=texts("él"))
    yield Sample(texts("hello"), 6, 2, raises=InvalidArgumentError)
    yield Sample(texts("hello"), -6, 2, raises=InvalidArgumentError)
    yield Sample(texts("a", "b"), [1, 1, 1], [1, 1, 1], raises=InvalidArgumentError)
    yield Sample(texts("hello"), [1], 2, raises=InvalidArgumentError)


@api(v2="strings.substr")
@tensor_function
def substr(
    input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None
) -> Tensor:
    """Take a part of each string.

    Args:
      input: a string tensor.
      pos: where the part starts, an int32 or int64 tensor that broadcasts with `input`; negative: from the end.
      len: how long it is, of the dtype and shape of `pos`; a string that ends before gives less.
      unit: "BYTE", or "UTF8_CHAR" for characters.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the broadcast shape.

    Raises:
      InvalidArgumentError: where `pos` lies outside of a string.

    >>> tf.strings.substr(["hello", "world"], 1, 3).numpy()
    array([b'ell', b'orl'], dtype=object)
    """
    return Substr(input, pos, len, unit)


@api(v1=("strings.substr", "substr"))
@tensor_function
def substr_v1(input: TensorLike, pos, len, name: str | None = None, unit: str = "BYTE"):
    """`substr` with the 1.x order of arguments."""
    return Substr(input, pos, len, unit)


@op("StringSplitV2", "input: string, sep: string -> indices: int64, values: string, shape: int64",
    attrs={"maxsplit": -1}, ranks="input: 1, sep: 0",
    shape=shapes.fixed((None, 2), (None,), (2,)))  # fmt: skip
def StringSplitV2(xp: ModuleType, input: Array, sep: Array, maxsplit: int):
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {shape_text(input.shape)}")
    if sep.ndim:
        raise invalid(f"sep must be a scalar, got shape: {shape_text(sep.shape)}")
    mark = sep[()]
    parts = [text.split(mark, maxsplit) if mark else _words(text, maxsplit) for text in input]
    places = [(row, i) for row, words in enumerate(parts) for i in range(len(words))]
    longest = max((len(words) for words in parts), default=0)
    return (
        np.array(places, np.int64).reshape(-1, 2),
        np.array([word for words in parts for word in words] or [], object),
        np.array([len(parts), longest], np.int64),
    )


def _words(text: bytes, maxsplit: int) -> list[bytes]:
    """What stands between spaces. After `maxsplit` words comes what is left, as in TensorFlow also if it is empty."""
    if not maxsplit:
        return [text]
    words = text.split(None, maxsplit)
    return [*words, b""] if len(words) == maxsplit else words


StringSplitV2.gradient(None)


@StringSplitV2.samples
def _(rng: SampleGenerator):
    gap, none = np.array(b" ", object), np.array(b"", object)
    places = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]])
    yield Sample(
        texts("a  b", "c", ""), gap, expect=(places, texts("a", "", "b", "c", ""), np.array([3, 3]))
    )
    yield Sample(
        texts("a  b", "c", ""),
        none,
        expect=(np.array([[0, 0], [0, 1], [1, 0]]), texts("a", "b", "c"), np.array([3, 2])),
    )
    yield Sample(
        texts("a  b ", " c", " "),
        none,
        maxsplit=1,
        expect=(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), texts("a", "b ", "c", ""), np.array([3, 2])),
    )
    yield Sample(
        texts(" a", " "),
        none,
        maxsplit=0,
        expect=(np.array([[0, 0], [1, 0]]), texts(" a", " "), np.array([2, 1])),
    )
    yield Sample(np.array(b"a", object), gap, raises=InvalidArgumentError)
    yield Sample(texts("a"), texts(" "), raises=InvalidArgumentError)
