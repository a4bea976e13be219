"""How TensorFlow's nodes that read and write all columns of records run: `DecodeCSV`, `DecodeProtoV2`, `EncodeProto`.

Here each column is a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.ops.io.csv import decode_csv
from tapeflow.ops.io.proto_messages import decode_proto, encode_proto

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker


def _csv(inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, list[Any]]:
    def run(records: Any, *defaults: Any) -> list[Any]:
        how = {key: attrs[key] for key in ("field_delim", "use_quote_delim", "na_value")}
        return decode_csv(records, defaults, **how, select_cols=attrs["select_cols"] or None)

    return run, [(kind, inputs[0].shape_tuple) for kind in attrs["OUT_TYPE"]]


def _decoding(inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, list[Any]]:
    def run(messages: Any) -> list[Any]:
        names, kinds = map(_text, attrs["field_names"]), attrs["output_types"]
        how = {key: attrs[key] for key in ("descriptor_source", "message_format")}
        sizes, values = decode_proto(messages, attrs["message_type"], list(names), kinds, **how)
        return [sizes, *values]

    batch = inputs[0].shape_tuple
    count = len(attrs["field_names"])
    shape, sizes = (None, None) if batch is None else ((*batch, None), (*batch, count))
    return run, [(dtypes.int32, sizes), *((kind, shape) for kind in attrs["output_types"])]


def _encoding(inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, list[Any]]:
    def run(sizes: Any, *values: Any) -> list[Any]:
        names = list(map(_text, attrs["field_names"]))
        return [encode_proto(sizes, values, names, attrs["message_type"], attrs["descriptor_source"])]

    shape = inputs[0].shape_tuple
    return run, [(dtypes.string, None if shape is None else shape[:-1])]


def _text(name: str) -> str:
    return name.decode() if isinstance(name, bytes) else name


_KINDS: dict[str, Callable[[Sequence[Any], dict[str, Any]], tuple[Any, list[Any]]]] = {
    "DecodeCSV": _csv,
    "DecodeProtoV2": _decoding,
    "EncodeProto": _encoding,
}


def make(kind: str, inputs: Sequence[Any], name: str, attrs: dict[str, Any]) -> Operation:
    """The operation of a node. Attrs that are left out have their defaults."""
    attrs = {**op_defs.defaults(kind), **attrs}
    run, outputs = _KINDS[kind](inputs, attrs)
    return python_ops.node(kind, run, inputs, outputs, name, False, **attrs)


def _imported(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    return make(node.op, inputs, name + "/", attrs)


for _kind in _KINDS:
    SPECIAL[_kind] = _imported
    planning.emits(_kind)(python_ops.emit)
