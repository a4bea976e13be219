"""Definitions of ops as `OpDef` messages: those of rows, and of the nodes that only graphs have."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.graph.interchange import attributes
from tapeflow.graph.op_defs import reference_definitions
from tapeflow.ops import node_rows
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.binder import Schema
from tapeflow.ops.control import node_definitions as _of_control  # noqa: F401 (their rows)
from tapeflow.ops.io import node_definitions as _of_records  # noqa: F401
from tapeflow.ops.node_rows import NodeRow
from tapeflow.ops.signature import Argument, Preferring
from tapeflow.ops.sparse import node_definitions as _of_sparse  # noqa: F401
from tapeflow.ops.state import node_definitions as _of_references  # noqa: F401
from tapeflow.ops.table import REGISTRY
from tapeflow.ops.validate import type_text

_KINDS = {
    0: "int",
    1: "float",
    2: "bool",
    3: "type",
    4: "string",
    5: "shape",
    6: "list(int)",
    7: "func",
    8: "tensor",
}
# Attrs that are any object for their rows; of others the default tells what they are.
_ELEMENTS = {float: "list(float)", str: "list(string)", DType: "list(type)", int: "list(int)"}


def row_of_any(kind: str) -> Any:
    """The row of an op, called on tensors or a node alone, which may not be loaded yet; None for an unknown op."""
    row = REGISTRY.get(kind) or node_rows.find(kind)
    if row is None:
        load_all_rows()
        row = REGISTRY.get(kind) or node_rows.find(kind)
    return row


def known(kind: str) -> bool:
    """Whether an op of this name can be in a graph."""
    return kind in reference_definitions.UPDATES or row_of_any(kind) is not None


def names() -> list[str]:
    """All ops that can be in a graph, except updates of references to variables."""
    load_all_rows()
    node_rows.load_all()
    return sorted({*REGISTRY, *node_rows.NODES})


def has_row(kind: str) -> bool:
    return kind in REGISTRY


def forwards(kind: str) -> bool:
    """Whether the outputs of a node without a row are its inputs."""
    row = node_rows.find(kind) if kind not in REGISTRY else None
    return row is not None and row.forwards


def touches(kind: str) -> str:
    """What outside of the program an op may read, write or run: "files", "process", "python", "streams", or ""."""
    if kind in reference_definitions.UPDATES:
        return ""
    row = row_of_any(kind)
    if row is None:
        raise KeyError(kind)
    return row.touches


def touches_of(node: Any) -> str:
    """The same of a `NodeDef`, whose attrs may say that it touches less than others of its op."""
    own = node_rows.find(node.op)
    if own is not None and own.less is not None:
        attr, values, touched = own.less
        given = node.attr[attr].s.decode(errors="replace") if attr in node.attr else own.attrs[attr].default
        if any(given.startswith(value[:-1]) if value.endswith("*") else given == value for value in values):
            return touched
    return touches(node.op)


def is_call(kind: str) -> bool:
    """Whether an op calls a function with exactly its own inputs."""
    row = node_rows.NODES.get(kind)
    return row is not None and row.calls


def schema(kind: str) -> Schema:
    """The schema of an op. Raises KeyError for an unknown one."""
    if kind in reference_definitions.UPDATES:
        return _of_reference(kind)
    row = row_of_any(kind)
    if row is None:
        raise KeyError(kind)
    return row.schema


@functools.cache
def op_def(kind: str) -> Any:
    """The `OpDef` of an op. Not to be changed. Raises KeyError for an unknown one."""
    if kind in reference_definitions.UPDATES:
        return _of_schema(schema(kind), False)
    row = row_of_any(kind)
    if row is None:
        raise KeyError(kind)
    made = _of_schema(row.schema, row.stateful)
    if isinstance(row, NodeRow) and row.handles != "resource":
        _name_handles(made, dtypes.as_dtype(row.handles))
    return made


def _name_handles(made: Any, kind: DType) -> None:
    """Lets the handles of a definition be of the dtype that they had in the first versions."""
    for argument in (*made.input_arg, *made.output_arg):
        if argument.type == dtypes.resource.as_datatype_enum:
            argument.type = kind.base_dtype.as_datatype_enum
            argument.is_ref = kind._is_ref_dtype


@functools.cache
def _of_reference(kind: str) -> Schema:
    """Of an op on references to variables."""
    load_all_rows()
    row = REGISTRY[reference_definitions.counterpart(kind)]
    signature, types, attrs = reference_definitions.signature_and_types(kind, row)
    return Schema(kind, signature, types, node_rows.kinds_of(attrs))


def _of_schema(schema: Schema, stateful: bool) -> Any:
    made = protos.OpDef(name=schema.name, is_stateful=stateful)
    _add_arguments(made.input_arg, schema.inputs)
    _add_arguments(made.output_arg, schema.outputs)
    for name, allowed in schema.types.items():
        own = made.attr.add(name=name, type="type")
        own.allowed_values.list.type.extend(sorted(int(t) for t in allowed))
        if isinstance(allowed, Preferring):
            own.default_value.type = allowed[0].as_datatype_enum
    least = {a.length: a.least for a in (*schema.inputs, *schema.outputs) if a.length}
    for name, minimum in least.items():
        if name not in schema.attrs:
            made.attr.add(name=name, type="int", has_minimum=True, minimum=minimum)
    for name, kind in schema.attrs.items():
        own = made.attr.add(name=name, type=_kind(kind))
        if name in least:
            own.has_minimum, own.minimum = True, least[name]
        if not kind.required and not (
            own.type == "func" or (kind.default is None and own.type in ("type", "int"))
        ):
            own.default_value.CopyFrom(_default(kind.default, own.type))
        if kind.choices:
            own.allowed_values.list.s.extend(choice.encode() for choice in kind.choices)
    return made


def _kind(kind: Any) -> str:
    if kind.elements:
        return f"list({kind.elements})"
    if kind.number == 7 and isinstance(kind.default, (list, tuple)) and kind.default:
        return _ELEMENTS.get(type(kind.default[0]), "func")
    return _KINDS[kind.number]


def _default(value: Any, kind: str) -> Any:
    return attributes.of("" if value is None and kind == "string" else value, kind)


def _add_arguments(target: Any, arguments: Iterable[Argument]) -> None:
    for argument in arguments:
        own = target.add(name=argument.name, is_ref=argument.is_ref)
        own.type_list_attr, own.type_attr, own.number_attr = argument.kinds, argument.variable, argument.length
        if argument.fixed is not None:
            own.type = argument.fixed.as_datatype_enum


def defaults(kind: str) -> dict[str, Any]:
    """The attrs of an op that have defaults."""
    return {
        attr.name: attributes.value_of(attr.default_value, attr.type, attr.name)
        for attr in op_def(kind).attr
        if attr.HasField("default_value")
    }


def short(definition: Any) -> str:
    """A definition as errors show it: its signature and attrs in one line."""
    ins = ", ".join(f"{a.name}:{_type_text(a)}" for a in definition.input_arg)
    outs = ", ".join(f"{a.name}:{_type_text(a)}" for a in definition.output_arg)
    attrs = "".join(f"; attr={a.name}:{a.type}" for a in definition.attr)
    state = "; is_stateful=true" if definition.is_stateful else ""
    return f"Op<name={definition.name}; signature={ins} -> {outs}{attrs}{state}>"


def _type_text(argument: Any) -> str:
    text = (
        argument.type_list_attr or argument.type_attr or type_text(dtypes.as_dtype(argument.type))
    )
    return f"{argument.number_attr}*{text}" if argument.number_attr else text
