"""Message classes out of tables: a separate pool is filled with the descriptors that a message needs.

A table names messages and enums, each followed by its fields or values, one a line:

    NodeDef                                     enum Order
        name 1 string                               FIRST 0
        input 3 string*      repeated
        attr 5 map<string,AttrValue>
        size 6 int64?        whose absence can be seen
        s 7 bytes in value   one of several, only one of which can be there

Types of the same package are named from it on: `AttrValue.ListValue`. The pool is private, so that another
library that knows messages of these names can live in the same process. Where `tensorflow` is served by this package
there is no other, and the messages are in protobuf's default pool: libraries have messages made of these.
"""

from __future__ import annotations

import functools
import importlib
import threading
from typing import Any, NamedTuple

FAMILIES = (
    "boosted_trees", "checkpoints", "configuration", "control_flow", "debug_info", "error_codes", "examples",
    "graphs", "hyperparameters", "objects", "profiles", "projector", "quantization", "saved_models", "servers",
    "serving", "sessions", "statistics", "structures", "summaries", "tensors", "tpu_systems",
)  # fmt: skip

_PACKAGE = "tensorflow"
_FIRST = "TensorShapeProto"  # a message that whoever knows any of the package's knows
_SCALARS = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8, "string": 9,
    "bytes": 12, "uint32": 13, "sint64": 18,
}  # fmt: skip
_GROUP, _STRING, _MESSAGE, _BYTES, _ENUM = 10, 9, 11, 12, 14
_OPTIONAL, _REPEATED = 1, 3


class _Entry(NamedTuple):
    """A message (fields) or an enum (values) of a table."""

    family: str
    is_enum: bool
    lines: list[list[str]]


@functools.cache
def _entries() -> dict[str, _Entry]:
    """All messages and enums of all families, by full name."""
    found: dict[str, _Entry] = {}
    for family in FAMILIES:
        module = importlib.import_module(f"tapeflow.protos.{family}")
        package = _package(family)
        for block in module.TABLE.strip().split("\n\n"):
            head, *lines = block.split("\n")
            is_enum = head.startswith("enum ")
            name = head.removeprefix("enum ")
            found[f"{package}.{name}"] = _Entry(family, is_enum, [line.split() for line in lines])
    return found


def _package(family: str) -> str:
    return getattr(importlib.import_module(f"tapeflow.protos.{family}"), "PACKAGE", _PACKAGE)


def _has_stubs(family: str) -> bool:
    """Whether the messages are in a package of stubs, too, that is not TensorFlow's own."""
    return getattr(importlib.import_module(f"tapeflow.protos.{family}"), "STUBS", False)


def _full(name: str) -> str:
    return name if name.startswith("google.") else f"{_PACKAGE}.{name}"


def _set_type(field: Any, name: str, uses: set[str]) -> None:
    """Give a field its type; a family that it takes something from is added to `uses`."""
    if name in _SCALARS:
        field.type = _SCALARS[name]
        return
    full = _full(name)
    field.type_name = f".{full}"
    if full.startswith("google."):
        field.type = _MESSAGE
        uses.add("google/protobuf/" + ("any" if full.endswith("Any") else "wrappers") + ".proto")
    else:
        entry = _entries()[full]
        field.type = _ENUM if entry.is_enum else _MESSAGE
        uses.add(entry.family)


def _add_fields(message: Any, full: str, lines: list[list[str]], uses: set[str]) -> None:
    choices: dict[str, int] = {}
    optional = []
    for name, number, kind, *choice in lines:
        field = message.field.add(name=name, number=int(number), label=_OPTIONAL)
        if kind.startswith("map<"):
            key, value = kind[4:-1].split(",")
            entry = message.nested_type.add(name=_camel(name) + "Entry")
            entry.options.map_entry = True
            _set_type(entry.field.add(name="key", number=1, label=_OPTIONAL), key, uses)
            _set_type(entry.field.add(name="value", number=2, label=_OPTIONAL), value, uses)
            field.label, field.type, field.type_name = _REPEATED, _MESSAGE, f".{full}.{entry.name}"
            continue
        _set_type(field, kind.rstrip("*?"), uses)
        if kind.endswith("*"):
            field.label = _REPEATED
            if field.type not in (_STRING, _BYTES, _MESSAGE):
                field.options.packed = True
        elif kind.endswith("?"):
            field.proto3_optional = True
            optional.append(field)
        elif choice:
            field.oneof_index = choices.setdefault(choice[1], len(choices))
    for field in optional:  # each in a choice of its own; these have to come last
        field.oneof_index = choices.setdefault(f"_{field.name}", len(choices))
    for name in choices:
        message.oneof_decl.add(name=name)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _file(family: str) -> Any:
    """The FileDescriptorProto of a family."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    module = importlib.import_module(f"tapeflow.protos.{family}")
    file = FileDescriptorProto(
        name=f"tapeflow/{family}.proto",
        package=_package(family),
        syntax=getattr(module, "SYNTAX", "proto3"),
    )
    made: dict[str, Any] = {file.package: file}
    uses: set[str] = set()
    for full, entry in _entries().items():
        if entry.family != family:
            continue
        outer, _, name = full.rpartition(".")
        parent = made[outer]
        if entry.is_enum:
            enum = parent.enum_type.add(name=name)
            for value, number in entry.lines:
                enum.value.add(name=value, number=int(number))
            continue
        nested = parent.message_type if parent is file else parent.nested_type
        made[full] = nested.add(name=name)
        _add_fields(made[full], full, entry.lines, uses)
    for used in sorted(uses - {family}):
        file.dependency.append(used if "/" in used else f"tapeflow/{used}.proto")
    return file


class _Pool:
    """The descriptor pool, filled family by family."""

    shared = False  # whether a pool that is yet to be made is protobuf's default one

    def __init__(self) -> None:
        from google.protobuf import any_pb2, descriptor_pool, wrappers_pb2

        default = descriptor_pool.Default()
        self.shared = self.shared and not _knows(default, f"{_PACKAGE}.{_FIRST}")
        if self.shared:
            self.pool = default
        else:
            self.pool = descriptor_pool.DescriptorPool()
            for known in (any_pb2, wrappers_pb2):
                self.pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
        self.filled: set[str] = set()
        self.declared: set[str] = set()

    def fill(self, family: str) -> None:
        if family in self.filled:
            return
        file = _file(family)
        if _has_stubs(family) and _knows(self.pool, f"{file.package}.{file.message_type[0].name}"):
            self.filled.add(family)  # the stubs were there first
            return
        for needed in file.dependency:
            if needed.startswith("tapeflow/"):
                self.fill(needed.removeprefix("tapeflow/").removesuffix(".proto"))
        self.pool.AddSerializedFile(file.SerializeToString())
        self.filled.add(family)

    def declare(self, path: str) -> Any:
        """The descriptor of a file that hands on the messages of all families."""
        from google.protobuf.descriptor_pb2 import FileDescriptorProto

        if path not in self.declared:
            families = [family for family in FAMILIES if not _has_stubs(family)]
            for family in families:
                self.fill(family)
            file = FileDescriptorProto(name=path, package=_PACKAGE, syntax="proto3")
            file.dependency.extend(f"tapeflow/{family}.proto" for family in families)
            file.public_dependency.extend(range(len(families)))
            self.pool.AddSerializedFile(file.SerializeToString())
            self.declared.add(path)
        return self.pool.FindFileByName(path)


def _knows(pool: Any, message: str) -> bool:
    try:
        pool.FindMessageTypeByName(message)
    except KeyError:
        return False
    return True


# Of the pool, and of classes: where protobuf is written in Python, other threads see its classes before they are whole.
_building = threading.RLock()


@functools.cache
def _pool() -> _Pool:
    return _Pool()


def share_pool() -> None:
    """Lets the messages be in protobuf's default pool, unless some were made before."""
    _Pool.shared = True


def file_descriptor(path: str) -> Any:
    """The descriptor of one of TensorFlow's files, such as "tensorflow/core/framework/types.proto".

    A message of a library that is made of TensorFlow's names the files that these are in; ours are in others, which
    the file imports publicly.
    """
    with _building:
        return _pool().declare(path)


def has_shared_pool() -> bool:
    """Whether the messages are, or will be, in protobuf's default pool."""
    with _building:
        return _Pool.shared and _pool().shared


def top_level_names() -> list[str]:
    """The messages and enums of the package that are in no other message."""
    prefix = f"{_PACKAGE}."
    names = (full.removeprefix(prefix) for full in _entries())
    return sorted(name for name in names if "." not in name)


def build(name: str) -> Any:
    """The class of the message `name`, or the wrapper of the enum; AttributeError if no table has it."""
    from google.protobuf import message_factory
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

    full = _full(name)
    entry = _entries().get(full)
    if entry is None:
        raise AttributeError(f"module 'tapeflow.protos' has no attribute {name!r}")
    with _building:
        pool = _pool()
        pool.fill(entry.family)
        if entry.is_enum:
            return EnumTypeWrapper(pool.pool.FindEnumTypeByName(full))
        return message_factory.GetMessageClass(pool.pool.FindMessageTypeByName(full))
