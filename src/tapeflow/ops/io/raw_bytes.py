"""Tensors from bytes and back: raw elements, compressed strings, serialized tensors."""

from __future__ import annotations

import gzip
import zlib
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.files import tensor_bytes
from tapeflow.core.files.expansion import expanded
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import dtype, one_of
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_RAW = (
    "float16", "float32", "float64", "int32", "uint16", "uint8", "int16", "int8", "int64", "complex64",
    "complex128", "bool", "bfloat16",
)  # fmt: skip


def _numpy_type(kind: DType, op_name: str) -> np.dtype:
    if kind.name not in _RAW:
        raise invalid(f"Value for attr 'out_type' of {kind.name} is not allowed by {op_name}")
    return np.dtype(kind.as_numpy_dtype)


def _elements(data: bytes, kind: np.dtype, little_endian: bool) -> np.ndarray:
    out = np.frombuffer(data, kind)
    if little_endian or kind.itemsize == 1:
        return out.copy()
    part = kind.itemsize // 2 if kind.kind == "c" else kind.itemsize
    swapped = np.frombuffer(data, np.uint8).reshape(-1, part)[:, ::-1]
    return np.ascontiguousarray(swapped).reshape(-1).view(kind)


def _raw_rule(call: ShapeCall):
    shape = call.shape(0)
    return [None if shape is None else (*shape, None)]


@op("DecodeRaw", "bytes: string -> output: out_type",
    attrs={"out_type": dtype, "little_endian": True}, shape=_raw_rule)  # fmt: skip
def DecodeRaw(xp: ModuleType, bytes: Array, out_type: DType, little_endian: bool):
    kind = _numpy_type(out_type, "DecodeRaw")
    flat = bytes.ravel().tolist()
    if not flat:
        return np.zeros((*bytes.shape, 0), kind)
    size = len(flat[0])
    for i, data in enumerate(flat):
        if len(data) != size:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {size} != {len(data)}"
            )
    if size % kind.itemsize:
        raise invalid(
            f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, "
            f"the size of {out_type.name}"
        )
    out = _elements(b"".join(flat), kind, little_endian)
    return out.reshape(*bytes.shape, size // kind.itemsize)


DecodeRaw.gradient(None)


@DecodeRaw.samples
def _(rng: SampleGenerator):
    yield Sample(
        texts("AB", "CD"), out_type=dtypes.uint8, expect=np.array([[65, 66], [67, 68]], np.uint8)
    )
    yield Sample(texts("\1\2"), out_type=dtypes.int16, expect=np.array([[513]], np.int16))
    yield Sample(
        texts("\1\2"),
        out_type=dtypes.int16,
        little_endian=False,
        expect=np.array([[258]], np.int16),
    )
    yield Sample(texts("AB", "C"), out_type=dtypes.uint8, raises=InvalidArgumentError)
    yield Sample(texts("ABC"), out_type=dtypes.int16, raises=InvalidArgumentError)


def _padded_rule(call: ShapeCall):
    shape, size = call.shape(0), shapes.scalar_value(call, 1)
    width = _numpy_type(call.attr("out_type"), "DecodePaddedRaw").itemsize
    return [None if shape is None else (*shape, None if size is None else size // width)]


@op("DecodePaddedRaw", "input_bytes: string, fixed_length: int32 -> output: out_type",
    attrs={"out_type": dtype, "little_endian": True}, shape=_padded_rule)  # fmt: skip
def DecodePaddedRaw(
    xp: ModuleType, input_bytes: Array, fixed_length: Array, out_type: DType, little_endian: bool
):
    kind = _numpy_type(out_type, "DecodePaddedRaw")
    if fixed_length.ndim:
        raise invalid(f"k must be scalar, got shape {shape_text(fixed_length.shape)}")
    size = int(fixed_length)
    if size <= 0:
        raise invalid(f"fixed_length ({size}) must be greater than zero.")
    if size % kind.itemsize:
        raise invalid(
            f"fixed_length ({size}) must be a multiple of the size of out_type ({kind.itemsize})"
        )
    data = b"".join(t[:size].ljust(size, b"\0") for t in input_bytes.ravel().tolist())
    return _elements(data, kind, little_endian).reshape(*input_bytes.shape, size // kind.itemsize)


DecodePaddedRaw.gradient(None)


@DecodePaddedRaw.samples
def _(rng: SampleGenerator):
    four = np.array(4, np.int32)
    yield Sample(texts("AB", "CDEFG"), four, out_type=dtypes.uint8,
                 expect=np.array([[65, 66, 0, 0], [67, 68, 69, 70]], np.uint8))  # fmt: skip
    yield Sample(texts("A"), four - 1, out_type=dtypes.int16, raises=InvalidArgumentError)
    yield Sample(texts("A"), four - 4, out_type=dtypes.int16, raises=InvalidArgumentError)


@api(v2="io.decode_raw")
@public
def decode_raw(
    input_bytes: TensorLike, out_type: DTypeLike | None, little_endian: bool = True, fixed_length=None,
    name: str | None = None,
):
    r"""Read the bytes of strings as elements of a dtype.

    Args:
      input_bytes: a string tensor, of strings of one length.
      out_type: a numeric dtype or bool.
      little_endian: whether the lowest byte of an element comes first.
      fixed_length: to how many bytes strings are cut, or filled up with zeros (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of `out_type`, with a last dimension of the elements of a string.

    Raises:
      InvalidArgumentError: for lengths that differ, or are no multiple of the size of an element.

    >>> tf.io.decode_raw(tf.constant(b"\x01\x00\x02\x00"), tf.int16)
    <tf.Tensor: shape=(2,), dtype=int16, numpy=array([1, 2], dtype=int16)>
    """
    out_type = dtypes.as_dtype(out_type)
    if fixed_length is not None:
        return DecodePaddedRaw(input_bytes, fixed_length, out_type, little_endian)
    return DecodeRaw(input_bytes, out_type, little_endian)


@api(v1=("io.decode_raw", "decode_raw"))
@tensor_function
def decode_raw_v1(
    input_bytes=None, out_type: DTypeLike | None = None, little_endian: bool = True, name: str | None = None,
    bytes=None,
):
    """`decode_raw` with the 1.x spelling `bytes`."""
    if input_bytes is None:
        input_bytes = bytes
    if input_bytes is None:
        raise ValueError("The `input_bytes` argument cannot be None.")
    return decode_raw(input_bytes, out_type, little_endian)


@op("DecodeCompressed", "bytes: string -> output: string",
    attrs={"compression_type": one_of("", "ZLIB", "GZIP")("")}, shape=shapes.same_as_first)  # fmt: skip
def DecodeCompressed(xp: ModuleType, bytes: Array, compression_type: str):
    def inflated(data):
        try:
            return expanded(data, compression_type, "The data") if compression_type else data
        except (EOFError, zlib.error) as error:
            raise DataLossError(
                None, None, f"The data are not {compression_type}: {error}"
            ) from None

    return each(inflated, bytes)


DecodeCompressed.gradient(None)


@DecodeCompressed.samples
def _(rng: SampleGenerator):
    yield Sample(texts("AB"), expect=texts("AB"))
    yield Sample(texts(zlib.compress(b"AB")), compression_type="ZLIB", expect=texts("AB"))
    yield Sample(texts(gzip.compress(b"AB")), compression_type="GZIP", expect=texts("AB"))
    yield Sample(texts("AB"), compression_type="ZLIB", raises=DataLossError)
    yield Sample(texts("AB"), compression_type="LZ", raises=InvalidArgumentError)


@api("io.decode_compressed", v1="decode_compressed")
@tensor_function
def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: str | None = None
) -> Tensor:
    """Decompress strings.

    Args:
      bytes: a string tensor.
      compression_type: "ZLIB", "GZIP", or "" for none.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `bytes`.

    Raises:
      DataLossError: for strings that are not compressed so.
    """
    return DecodeCompressed(bytes, compression_type)


@op("SerializeTensor", "tensor: T -> serialized: string", types={"T": ANY}, shape=shapes.scalar)
def SerializeTensor(xp: ModuleType, tensor: Array):
    array = np.asarray(tensor)
    kind = _kind_of(array)
    try:
        return np.array(tensor_bytes.encode(array, kind), object)
    except TypeError as error:
        raise invalid(f"Could not serialize the tensor: {error}") from None


def _kind_of(array: np.ndarray) -> DType:
    if array.dtype != object:
        return dtypes.as_dtype(array.dtype)
    texts_only = all(isinstance(x, (bytes, str)) for x in array.flat)
    return dtypes.string if texts_only else dtypes.variant


SerializeTensor.gradient(None)


@SerializeTensor.samples
def _(rng: SampleGenerator):
    two = b"\x08\x04\x12\x04\x12\x02\x08\x02\x22\x02\1\2"
    yield Sample(np.array([1, 2], np.uint8), expect=np.array(two, object))
    yield Sample(
        texts("ab"), expect=np.array(b"\x08\x07\x12\x04\x12\x02\x08\x01\x42\x02ab", object)
    )


@op("ParseTensor", "serialized: string -> output: out_type", attrs={"out_type": dtype},
    shape=shapes.unknown)  # fmt: skip
def ParseTensor(xp: ModuleType, serialized: Array, out_type: DType):
    if serialized.ndim:
        raise invalid(
            f"Expected `serialized` to be a scalar, got shape: {shape_text(serialized.shape)}"
        )
    try:
        array, kind = tensor_bytes.decode(serialized[()])
    except (tensor_bytes.WireError, ValueError) as error:
        raise invalid(
            "Could not parse `serialized` as TensorProto: "
            f"{serialized[()][:100]!r}: {error}".replace(": b'", ": '")
        ) from None
    if kind != out_type:
        raise invalid(
            f"Type mismatch between parsed tensor ({kind.name}) and dtype ({out_type.name})"
        )
    return array


ParseTensor.gradient(None)


@ParseTensor.samples
def _(rng: SampleGenerator):
    two = np.array(b"\x08\x03\x12\x04\x12\x02\x08\x02\x3a\x02\1\2", object)
    yield Sample(two, out_type=dtypes.int32, expect=np.array([1, 2], np.int32))
    filled = np.array(b"\x08\x01\x12\x04\x12\x02\x08\x03\x2a\x04\0\0\x80\x3f", object)
    yield Sample(filled, out_type=dtypes.float32, expect=np.ones(3, np.float32))
    yield Sample(two, out_type=dtypes.float32, raises=InvalidArgumentError)
    yield Sample(np.array(two[()][:9], object), out_type=dtypes.int32, raises=InvalidArgumentError)
    yield Sample(texts(two[()]), out_type=dtypes.int32, raises=InvalidArgumentError)


@api("io.serialize_tensor", v1="serialize_tensor")
@tensor_function
def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as the bytes of a TensorProto message, a scalar string."""
    return SerializeTensor(tensor)


@api("io.parse_tensor", v1="parse_tensor")
@tensor_function
def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """Read a serialized tensor, see `tf.io.serialize_tensor`.

    Args:
      serialized: a `TensorProto` message, a scalar string.
      out_type: the dtype of the tensor.
      name: a name for the operation (optional).

    Returns:
      The tensor.

    Raises:
      InvalidArgumentError: for other bytes, and for a tensor of another dtype.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant([1, 2])), tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    return ParseTensor(serialized, dtypes.as_dtype(out_type))
