"""Fields of protocol buffers as tensors, and tensors as protocol buffers."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.files import wire
from tapeflow.core.public import public
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.signature import dtype, string
from tapeflow.ops.string.joining import join as join_strings
from tapeflow.ops.string.rows import attr_bytes, texts
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

# The dtypes that hold a type of field, the first of them its own, by the number of the type.
_INT32, _INT64 = (dtypes.int32, dtypes.int64), (dtypes.int64,)
_UINT32, _UINT64 = (dtypes.uint32, dtypes.int64, dtypes.uint64), (dtypes.uint64,)
_TEXT = (dtypes.string,)
_HELD = {
    1: (dtypes.float64,), 2: (dtypes.float32, dtypes.float64), 3: _INT64, 4: _UINT64, 5: _INT32, 6: _UINT64,
    7: _UINT32, 8: (dtypes.bool,), 9: _TEXT, 10: _TEXT, 11: _TEXT, 12: _TEXT, 13: _UINT32, 14: _INT32, 15: _INT32,
    16: _INT64, 17: _INT32, 18: _INT64,
}  # fmt: skip
DecodeProtoV2 = namedtuple("DecodeProtoV2", ["sizes", "values"])
_STRING, _GROUP, _MESSAGE = 9, 10, 11


def exact(name: Any) -> str:
    """A name as a plain str: the library of messages reads as much of a str as its class says that it is long."""
    return str.__str__(name)


@lru_cache(maxsize=32)
def _message_class(name: str, source: bytes) -> Any:
    """The class of a message whose descriptor is in `source`. Raises InvalidArgumentError where it is not."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import DecodeError

    if source in (b"", b"local://"):
        pool = descriptor_pool.Default()
        own = _own_message(name)
        if own is not None:
            return own
    else:
        pool = descriptor_pool.DescriptorPool()
        for file in _file_set(source, descriptor_pb2.FileDescriptorSet, DecodeError).file:
            pool.AddSerializedFile(file.SerializeToString())
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
    except KeyError:
        raise invalid(f"No descriptor found for message type {name}") from None


def _own_message(name: str) -> Any:
    """The package's own class of a message of TensorFlow's, if it knows it."""
    package, *path = name.split(".")
    if package != "tensorflow":
        return None
    from google.protobuf.message import Message

    import tapeflow.protos

    found: Any = tapeflow.protos
    for part in path:
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, Message) else None


def _file_set(source: bytes, kind: Any, error: type[Exception]) -> Any:
    try:
        if source.startswith(b"bytes://"):
            return kind.FromString(source[len(b"bytes://") :])
        with open(source, "rb") as file:
            return kind.FromString(file.read())
    except (error, OSError, ValueError):
        raise invalid(
            "Source does not represent serialized file descriptor set proto. This may be due to a missing dependency "
            f"on the file that the descriptor is in, or it is no such file: {source[:100]!r}"
        ) from None


def _field(message: Any, name: Any) -> Any:
    found = message.DESCRIPTOR.fields_by_name.get(exact(name))
    if found is None:
        raise invalid(f"Unknown field: {name} in message type {message.DESCRIPTOR.full_name}")
    return found


def _parsed(message: Any, text: bytes, message_format: str) -> Any:
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    try:
        if message_format == "text":
            return text_format.Parse(text, message())
        return message.FromString(text)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise DataLossError(None, None, f"Unable to parse a message: {error}") from None


def _repeated(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)  # newer than `label`
    return field.label == 3 if known is None else bool(known)


def _values_of(parsed: Any, field: Any) -> list[Any]:
    """What a message has of a field: nothing where it is not set."""
    value = getattr(parsed, field.name)
    if _repeated(field):
        return list(value)
    if field.has_presence:
        return [value] if parsed.HasField(field.name) else []
    return [value] if value != field.default_value else []


def _as_element(value: Any, field: Any) -> Any:
    if field.type in (_GROUP, _MESSAGE):
        return value.SerializePartialToString(deterministic=True)
    return value.encode() if isinstance(value, str) else value


_FROM = {"message_type": string, "field_name": string, "descriptor_source": "local://"}  # or the path of a file


def _decode_rule(call: ShapeCall):
    shape = call.shape(0)
    return [shape, None if shape is None else (*shape, None)]


# One field of DecodeProtoV2, whose outputs have different dtypes.
@op("DecodeProtoField", "bytes: string -> sizes: int32, values: output_type",
    attrs={**_FROM, "output_type": dtype, "message_format": "binary"}, shape=_decode_rule,
    touches="files", composed_in="records")  # fmt: skip
def DecodeProtoField(
    xp: ModuleType, bytes: Array, message_type: Any, field_name: Any, output_type: DType, descriptor_source: Any,
    message_format: str,
):
    if message_format not in ("binary", "text"):
        raise invalid("format must be one of binary or text")
    message = _message_class(exact(message_type), attr_bytes(descriptor_source))
    field = _field(message, field_name)
    if output_type not in _HELD[field.type]:
        raise invalid(
            f"Unexpected output type for {field.full_name}: {_HELD[field.type][0].name} to {output_type.name}"
        )
    found = [_values_of(_parsed(message, text, message_format), field) for text in bytes.ravel()]
    width = max(1, *map(len, found)) if found else 1
    plain = not _repeated(field) and field.type not in (_GROUP, _MESSAGE)
    text = output_type == dtypes.string
    nothing = _as_element(field.default_value, field) if plain else b"" if text else 0
    out = np.full((len(found), width), nothing, object if text else output_type.as_numpy_dtype)
    for i, values in enumerate(found):
        for j, value in enumerate(values):
            out[i, j] = _as_element(value, field)
    sizes = np.array([len(values) for values in found], np.int32).reshape(bytes.shape)
    return sizes, out.reshape(*bytes.shape, width)


# One field of EncodeProto, whose inputs have different dtypes.
@op("EncodeProtoField", "sizes: int32, values: T -> bytes: string", types={"T": ANY},
    attrs={**_FROM, "field_index": 0}, shape=lambda call: [call.shape(0)],
    touches="files", composed_in="records")  # fmt: skip
def EncodeProtoField(
    xp: ModuleType, sizes: Array, values: Array, message_type: Any, field_name: Any, descriptor_source: Any,
    field_index: int,
):
    message = _message_class(exact(message_type), attr_bytes(descriptor_source))
    field = _field(message, field_name)
    if values.ndim < 2:
        raise invalid(
            f"Invalid shape for field {field_name}.  Saw shape {shape_text(values.shape)} but it should be at least "
            "a matrix."
        )
    kind = dtypes.string if values.dtype == object else dtypes.as_dtype(values.dtype)
    if kind not in _HELD[field.type]:
        raise invalid(
            f"Incompatible type for field {field_name}.  Saw dtype: {kind.name} but field type is: "
            f"{_HELD[field.type][0].name}"
        )
    if sizes.shape != values.shape[:-1]:
        raise invalid(
            f"sizes should be batch_size + [len(field_names)].  Saw: {shape_text(sizes.shape)} but expected: "
            f"{shape_text(values.shape[:-1])}"
        )
    rows = values.reshape(sizes.size, values.shape[-1])
    out = np.empty(sizes.size, object)
    for i, (size, row) in enumerate(zip(sizes.ravel().tolist(), rows, strict=True)):
        if not 0 <= size <= len(row):
            raise invalid(
                f"Size to write must not be larger than value tensor; but saw: {size} > {len(row)} at message {i} "
                f"field {field_index}"
            )
        if size > 1 and not _repeated(field):
            raise invalid(f"Field {field_name} is not repeated, but {size} values were given for it")
        out[i] = _encoded(message, field, row[:size].tolist())
    return out.reshape(sizes.shape)


def _encoded(message: Any, field: Any, values: list[Any]) -> bytes:
    """A message of one field only."""
    from google.protobuf.message import DecodeError

    if field.type == _MESSAGE:  # whose bytes nobody looks into
        return b"".join(wire.bytes_field(field.number, value) for value in values)
    made = message()
    try:
        for value in values:
            if field.type == _GROUP:
                part = getattr(made, field.name)
                part = part.add() if _repeated(field) else part
                part.MergeFromString(value)
                part.SetInParent()
                continue
            value = value.decode() if field.type == _STRING else value
            if _repeated(field):
                getattr(made, field.name).append(value)
            else:
                setattr(made, field.name, value)
    except (DecodeError, ValueError, TypeError) as error:
        raise invalid(f"Bad value for field {field.name}: {error}") from None
    return made.SerializePartialToString(deterministic=True)


DecodeProtoField.gradient(None)
EncodeProtoField.gradient(None)

def _sample_source() -> bytes:
    """A descriptor of `message M { optional int32 i = 1; repeated string s = 2; }` in package p."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="t.proto", package="p", syntax="proto2")
    message = file.message_type.add(name="M")
    message.field.add(name="i", number=1, type=5, label=1)
    message.field.add(name="s", number=2, type=9, label=3)
    return b"bytes://" + files.SerializeToString()


@DecodeProtoField.samples
def _(rng):
    given = texts(b"\x08\x05\x12\x01a\x12\x01b", b"")
    source = {"descriptor_source": _sample_source()}
    yield Sample(given, "p.M", "i", output_type=dtypes.int32, **source,
                 expect=(np.array([1, 0], np.int32), np.array([[5], [0]], np.int32)))  # fmt: skip
    yield Sample(given, "p.M", "s", output_type=dtypes.string, **source, expect=(
        np.array([2, 0], np.int32), np.array([[b"a", b"b"], [b"", b""]], object)))  # fmt: skip
    for message, field, kind in (("p.X", "i", dtypes.int32), ("p.M", "x", dtypes.int32), ("p.M", "i", dtypes.string)):
        yield Sample(given, message, field, output_type=kind, **source, raises=InvalidArgumentError)
    yield Sample(texts(b"\xff\xff"), "p.M", "i", output_type=dtypes.int32, **source, raises=DataLossError)
    yield Sample(given, "p.M", "i", output_type=dtypes.int32, descriptor_source="bytes://?",
                 raises=InvalidArgumentError)  # fmt: skip


@EncodeProtoField.samples
def _(rng):
    source = {"descriptor_source": _sample_source()}
    yield Sample(np.array([1, 0], np.int32), np.array([[5], [6]], np.int32), "p.M", "i", **source,
                 expect=texts(b"\x08\x05", b""))  # fmt: skip
    yield Sample(np.array([2], np.int32), np.array([[b"a", b"b"]], object), "p.M", "s", **source,
                 expect=texts(b"\x12\x01a\x12\x01b"))  # fmt: skip
    for sizes, values, name in (([2], [[5]], "i"), ([1], [5], "i"), ([1, 1], [[5]], "i"), ([1], [[5]], "s")):
        yield Sample(np.array(sizes, np.int32), np.array(values, np.int32), "p.M", name, **source,
                     raises=InvalidArgumentError)  # fmt: skip
    yield Sample(np.array([1], np.int32), np.array([[b"\xff"]], object), "p.M", "s", **source,
                 raises=InvalidArgumentError)  # fmt: skip


@api("io.decode_proto")
@public
def decode_proto(
    bytes: Any, message_type: Any, field_names: Sequence[Any], output_types: Sequence[DType],
    descriptor_source: str = "local://", message_format: str = "binary", sanitize: bool = False,
    name: str | None = None,
):
    """Read fields of messages of protocol buffers.

    Args:
      bytes: serialized messages, a string tensor.
      message_type: the full name of the message.
      field_names: the names of the fields to read.
      output_types: the dtype of each of them.
      descriptor_source: where its definition is: "local://" for the messages that the program has loaded, the path
        of a serialized `FileDescriptorSet`, or "bytes://" and one.
      message_format: "binary" or "text".
      sanitize: whether fields that are not known are dropped first; of no effect on the result.
      name: a name for the operation (optional).

    Returns:
      (sizes, values): how many values each message has of each field, int32 `[..., fields]`; and for each field a
      tensor `[..., most values]`.

    Raises:
      InvalidArgumentError: for unknown messages and fields, and for dtypes that do not hold a field.
      DataLossError: for bytes that are no message.
    """
    names, kinds = list(field_names), [dtypes.as_dtype(kind) for kind in output_types]
    if len(names) != len(kinds):
        raise invalid("field_names and output_types attributes must have the same length")
    bytes = convert_to_tensor(bytes, dtypes.string)
    fields = [
        DecodeProtoField(
            bytes,
            message_type,
            field,
            descriptor_source=descriptor_source,
            output_type=kind,
            message_format=message_format,
        )
        for field, kind in zip(names, kinds, strict=True)
    ]
    if fields:
        sizes = stack([field.sizes for field in fields], -1)
    else:
        sizes = zeros(concat([Shape(bytes), [0]], 0), dtypes.int32)
    return DecodeProtoV2(sizes, [field.values for field in fields])


@api("io.encode_proto")
@public
def encode_proto(
    sizes: TensorLike, values: Sequence[Tensor], field_names: Sequence[Any], message_type: Any,
    descriptor_source: str = "local://", name: str | None = None,
):
    """Write messages of protocol buffers from tensors of their fields.

    Args:
      sizes: how many values each field has, int32 `[..., fields]`.
      values: a list with a tensor for each field, `[..., most values]`.
      field_names: the names of the fields.
      message_type: the full name of the message.
      descriptor_source: where its definition is: "local://" for the messages that the program has loaded, the path
        of a serialized `FileDescriptorSet`, or "bytes://" and one.
      name: a name for the operation (optional).

    Returns:
      A string tensor `[...]`.

    Raises:
      ValueError: where there are not as many values as names.
      InvalidArgumentError: for unknown messages and fields, and for sizes and dtypes that do not fit.
    """
    sizes = convert_to_tensor(sizes, dtypes.int32)
    names = list(field_names)
    if len(names) != len(values):
        raise ValueError(f"There are {len(names)} field_names for {len(values)} values")
    width = sizes.shape.as_list()[-1] if sizes.shape.rank else None
    if width is not None and width != len(names):
        raise invalid(
            "sizes should be batch_size + [len(field_names)].  Saw: "
            f"{shape_text(sizes.shape.as_list())} but expected: "
            f"{shape_text([*sizes.shape.as_list()[:-1], len(names)])}"
        )
    message = _message_class(exact(message_type), attr_bytes(descriptor_source))
    parts = {}
    for i, (field, value) in enumerate(zip(names, values, strict=True)):
        number = _field(message, field).number
        parts[number, i] = EncodeProtoField(
            sizes[..., i], value, message_type, field, descriptor_source, field_index=i
        )
    return join_strings([parts[key] for key in sorted(parts)])
