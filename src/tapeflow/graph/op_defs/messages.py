"""Definitions of ops as `OpDef` messages: those of rows, and of the nodes that only graphs have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.graph.interchange import attributes
from tapeflow.graph.op_defs import definitions, reference_definitions
from tapeflow.ops import node_rows
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.node_rows import NodeRow
from tapeflow.ops.state.resource_op import RESOURCE_OPS
from tapeflow.ops.table import REGISTRY, Preferring, arguments
from tapeflow.ops.table import _kind as _kind_of

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


class _Attr(NamedTuple):
    kind: str
    default: Any = ...


class _Node(NamedTuple):
    """A node without a row: its signature as rows write theirs, its attrs; types of lists are attrs too.

    `touches` is what outside of the program it may read, write or run: "files", "process" (its objects that are no
    inputs), "python", "streams", or "". `less` is an attr, values of it (`value*` for every value with
    that beginning), and what nodes with one of these touch. `forwards`: whether the outputs are the inputs.
    """

    signature: str
    attrs: dict[str, _Attr]
    stateful: bool = False
    touches: str = ""
    less: tuple[str, tuple[str, ...], str] | None = None
    handles: str = "resource"
    forwards: bool = False


_TYPE, _TYPES, _FUNC = _Attr("type"), _Attr("list(type)"), _Attr("func")
_SHAPES = _Attr("list(shape)", [])
_IF = _Node(
    "cond: Tcond, input: Tin -> output: Tout",
    {
        "Tcond": _TYPE,
        "Tin": _TYPES,
        "Tout": _TYPES,
        "then_branch": _FUNC,
        "else_branch": _FUNC,
        "output_shapes": _SHAPES,
    },
)
_CASE = _Node(
    "branch_index: int32, input: Tin -> output: Tout",
    {"Tin": _TYPES, "Tout": _TYPES, "branches": _Attr("list(func)"), "output_shapes": _SHAPES},
)
_WHILE = _Node(
    "input: T -> output: T",
    {
        "T": _TYPES,
        "cond": _FUNC,
        "body": _FUNC,
        "output_shapes": _SHAPES,
        "parallel_iterations": _Attr("int", 10),
    },
)
_CALL = _Node(
    "args: Tin -> output: Tout",
    {"Tin": _TYPES, "Tout": _TYPES, "f": _FUNC, "config": _Attr("string", ""), "config_proto": _Attr("string", ""),
     "executor_type": _Attr("string", "")},
)  # fmt: skip
_PYTHON = _Node(
    "input: Tin -> output: Tout",
    {"token": _Attr("string"), "Tin": _TYPES, "Tout": _TYPES},
    touches="python",
)
_EAGER_PYTHON = _PYTHON._replace(attrs={**_PYTHON.attrs, "is_async": _Attr("bool", False)})
_STREAMS = ("stderr", "stdout", "log(info)", "log(warning)", "log(error)")
_SAVED = "prefix: string, tensor_names: string, shape_and_slices: string"
_NODES = {
    "SaveV2": _Node(f"{_SAVED}, tensors: dtypes ->", {"dtypes": _TYPES}, stateful=True, touches="files"),
    "RestoreV2": _Node(f"{_SAVED} -> tensors: dtypes", {"dtypes": _TYPES}, stateful=True, touches="files"),
    "Const": _Node("-> output: dtype", {"value": _Attr("tensor"), "dtype": _TYPE}),
    "Placeholder": _Node("-> output: dtype", {"dtype": _TYPE, "shape": _Attr("shape", None)}),
    "PlaceholderV2": _Node("-> output: dtype", {"dtype": _TYPE, "shape": _Attr("shape")}),
    "PlaceholderWithDefault": _Node(
        "input: dtype -> output: dtype", {"dtype": _TYPE, "shape": _Attr("shape")}, forwards=True
    ),
    "ControlTrigger": _Node("->", {}),
    "IdentityN": _Node("input: T -> output: T", {"T": _TYPES}, forwards=True),
    "If": _IF._replace(stateful=True),
    "StatelessIf": _IF,
    "Case": _CASE._replace(stateful=True),
    "StatelessCase": _CASE,
    "While": _WHILE._replace(stateful=True),
    "StatelessWhile": _WHILE,
    "StatefulPartitionedCall": _CALL._replace(stateful=True),
    "PartitionedCall": _CALL,
    "Assert": _Node("condition: bool, data: T ->", {"T": _TYPES, "summarize": _Attr("int", 3)}, stateful=True),
    "EagerPyFunc": _EAGER_PYTHON._replace(stateful=True),
    "PyFunc": _PYTHON._replace(stateful=True),
    "PyFuncStateless": _PYTHON,
    "StringFormat": _Node(
        "inputs: T -> output: string",
        {"T": _TYPES, "template": _Attr("string", "%s"), "placeholder": _Attr("string", "%s"),
         "summarize": _Attr("int", 3)},
    ),
    "PrintV2": _Node(
        "input: string ->",
        {"output_stream": _Attr("string", "stderr"), "end": _Attr("string", "\n")},
        stateful=True,
        touches="files",
        less=("output_stream", _STREAMS, "streams"),
    ),
    "Print": _Node(
        "input: T, data: U -> output: T",
        {"T": _TYPE, "U": _TYPES, "message": _Attr("string", ""), "first_n": _Attr("int", -1),
         "summarize": _Attr("int", 3)},
        stateful=True,
        touches="streams",
    ),
}  # fmt: skip


_DEFAULTS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "string": lambda text: text.strip('"'),
    "list(int)": lambda text: [],
    "list(shape)": lambda text: [],
    "list(string)": lambda text: [],
    "list(type)": lambda text: [],
    "bool": lambda text: text == "true",
}


@functools.cache
def _defined() -> dict[str, _Node]:
    """The ops of the tables of definitions."""
    found = {}
    for line in definitions.TABLE.strip().splitlines():
        signature, *parts = line.split("; ")
        name, _, signature = signature.rstrip(";").partition(" ")
        name, _, touches = name.partition("@")
        touches, _, unless = touches.partition("?")
        attr, _, value = unless.partition("=")
        less = (attr, tuple(value.split("|")), "") if attr else None
        attrs = {}
        for part in parts:
            key, kind, *default = part.split(" ")
            attrs[key] = _Attr(kind, _DEFAULTS[kind](default[0]) if default else ...)
        stateful, forwards = name.endswith("!"), name.endswith("=")
        found[name.rstrip("!=")] = _Node(signature, attrs, stateful, touches, less, forwards=forwards)
    return found


def known(kind: str) -> bool:
    """Whether an op of this name can be in a graph."""
    tables = (_NODES, REGISTRY, RESOURCE_OPS, _defined(), reference_definitions.UPDATES)
    return any(kind in table for table in tables) or node_rows.find(kind) is not None


def nodes() -> dict[str, Any]:
    """All ops that are only nodes, by name, with what their rows say."""
    node_rows.load_all()
    return {**_NODES, **_defined(), **node_rows.NODES}


def has_row(kind: str) -> bool:
    return kind in REGISTRY


def forwards(kind: str) -> bool:
    """Whether the outputs of a node without a row are its inputs."""
    node = _node(kind) if kind not in RESOURCE_OPS and kind not in REGISTRY else None
    return node is not None and node.forwards


def touches(kind: str) -> str:
    """What outside of the program an op may read, write or run: "files", "process", "python", "streams", or ""."""
    for table in (_NODES, REGISTRY, RESOURCE_OPS):
        if kind in table:
            return table[kind].touches
    if kind in reference_definitions.UPDATES:
        return ""
    node = _node(kind)
    if node is None:
        raise KeyError(kind)
    return node.touches


def _node(kind: str) -> Any:
    """The row of an op that is only a node, or None."""
    return _NODES.get(kind) or _defined().get(kind) or node_rows.find(kind)


def touches_of(node: Any) -> str:
    """The same of a `NodeDef`, whose attrs may say that it touches less than others of its op."""
    own = _node(node.op)
    if own is not None and own.less is not None:
        attr, values, touched = own.less
        given = node.attr[attr].s.decode(errors="replace") if attr in node.attr else own.attrs[attr].default
        if any(given.startswith(value[:-1]) if value.endswith("*") else given == value for value in values):
            return touched
    return touches(node.op)


def is_call(kind: str) -> bool:
    """Whether an op calls a function with exactly its own inputs."""
    return kind in _NODES and _NODES[kind].attrs is _CALL.attrs


@functools.cache
def op_def(kind: str) -> Any:
    """The `OpDef` of an op. Not to be changed. Raises KeyError for an unknown one."""
    node = _NODES.get(kind)
    if kind in reference_definitions.UPDATES:
        return _of_reference(kind)
    if node is None and kind in RESOURCE_OPS:
        made = RESOURCE_OPS[kind]
        attrs = {k: _Attr(*v) for k, v in made.attrs.items()}
        stateful = made.handles == "resource" or all(a.type != "resource" for a in made.inputs)
        node = _Node(made.signature, attrs, stateful, handles=made.handles)
    elif node is None and kind not in REGISTRY:
        node = _node(kind)
        if node is None:
            raise KeyError(kind)
    if node is None or isinstance(node, NodeRow):
        return _of_row(node or REGISTRY[kind])
    return _of_node(kind, node)


def _of_node(kind: str, node: _Node) -> Any:
    made = protos.OpDef(name=kind, is_stateful=node.stateful)
    lists = {name for name, attr in node.attrs.items() if attr.kind == "list(type)"}
    _add_arguments(made, node.signature, node.attrs, lists)
    if node.handles != "resource":
        _name_handles(made, dtypes.as_dtype(node.handles))
    for name, attr in node.attrs.items():
        own = made.attr.add(name=name, type=attr.kind)
        if attr.default is not ...:
            own.default_value.CopyFrom(attributes.of(attr.default, attr.kind))
    return made


# The description of an argument that is a string in TensorFlow's op, and names an object: a resource here.
_HANDLE = "handle"


def _name_handles(made: Any, kind: DType) -> None:
    """Lets the handles of a definition be of the dtype that they had in the first versions."""
    for argument in (*made.input_arg, *made.output_arg):
        if argument.type == dtypes.resource.as_datatype_enum:
            argument.type, argument.description = kind.base_dtype.as_datatype_enum, _HANDLE
            argument.is_ref = kind._is_ref_dtype


def _of_reference(kind: str) -> Any:
    """Of an op on references to variables."""
    load_all_rows()
    row = REGISTRY[reference_definitions.counterpart(kind)]
    signature, types, attrs = reference_definitions.signature_and_types(kind, row)
    attrs = {key: _kind_of(value) for key, value in attrs.items()}
    return _of_row(SimpleNamespace(name=kind, stateful=False, signature=signature, types=types, attrs=attrs))


def _of_row(row: Any) -> Any:
    made = protos.OpDef(name=row.name, is_stateful=row.stateful)
    variables = {**row.types, **row.attrs}
    lists = {name for name, kind in row.attrs.items() if kind.elements == "type"}
    _add_arguments(made, row.signature, variables, lists)
    for name, allowed in row.types.items():
        own = made.attr.add(name=name, type="type")
        own.allowed_values.list.type.extend(sorted(int(t) for t in allowed))
        if isinstance(allowed, Preferring):
            own.default_value.type = allowed[0].as_datatype_enum
    least = {a.times: a.least for text in row.signature.split("->") for a in arguments(text) if a.times}
    for name, minimum in least.items():
        if name not in row.attrs:
            made.attr.add(name=name, type="int", has_minimum=True, minimum=minimum)
    for name, kind in row.attrs.items():
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


def _add_arguments(made: Any, signature: str, variables: Any, lists: set[str]) -> None:
    before, _, after = signature.partition("->")
    for target, text in ((made.input_arg, before), (made.output_arg, after)):
        for argument in arguments(text):
            kind = argument.type.removeprefix("&")
            own = target.add(name=argument.name, is_ref=kind != argument.type)
            if kind in lists:
                own.type_list_attr = kind
            elif kind in variables:
                own.type_attr = kind
            else:
                own.type = dtypes.as_dtype(kind).as_datatype_enum
            if argument.times:
                own.number_attr = argument.times


_SHORT = {"float32": "float", "float64": "double", "float16": "half"}


def type_name(dtype: DType) -> str:
    """A dtype as messages about nodes call it."""
    return _SHORT.get(dtype.name, dtype.name)


def dtypes_of(argument: Any, attrs: dict[str, Any]) -> list[DType]:
    """The dtypes of an argument of an `OpDef`, one for each tensor, where attrs have these values."""
    if argument.type_list_attr:
        return list(attrs[argument.type_list_attr])
    if argument.description == _HANDLE:
        return [dtypes.resource]
    kind = attrs[argument.type_attr] if argument.type_attr else dtypes.as_dtype(argument.type)
    return [kind] * (attrs[argument.number_attr] if argument.number_attr else 1)


def defaults(kind: str) -> dict[str, Any]:
    """The attrs of an op that have defaults."""
    return {
        attr.name: attributes.value_of(attr.default_value, attr.type, attr.name)
        for attr in op_def(kind).attr
        if attr.HasField("default_value")
    }


def grouped(kind: str, attrs: dict[str, Any], values: Sequence[Any]) -> list[list[Any]]:
    """The inputs of a node without a row by the arguments of its op."""
    found, at = [], 0
    for argument in op_def(kind).input_arg:
        count = len(dtypes_of(argument, attrs))
        found.append(list(values[at : at + count]))
        at += count
    return found


def short(definition: Any) -> str:
    """A definition as errors show it: its signature and attrs in one line."""
    ins = ", ".join(f"{a.name}:{_type_text(a)}" for a in definition.input_arg)
    outs = ", ".join(f"{a.name}:{_type_text(a)}" for a in definition.output_arg)
    attrs = "".join(f"; attr={a.name}:{a.type}" for a in definition.attr)
    state = "; is_stateful=true" if definition.is_stateful else ""
    return f"Op<name={definition.name}; signature={ins} -> {outs}{attrs}{state}>"


def _type_text(argument: Any) -> str:
    text = (
        argument.type_list_attr or argument.type_attr or type_name(dtypes.as_dtype(argument.type))
    )
    return f"{argument.number_attr}*{text}" if argument.number_attr else text
