"""`sparsify_gather`: columns of numbers of which few are not 0 become tables, in which rows are looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.first_format import Reader, reader_of
from tapeflow.core import dtypes
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import FailedPreconditionError, InternalError
from tapeflow.graph.interchange.graph_util import node_name
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import ExpandDims, Reshape
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.indexing.gather import Gather, GatherV2
from tapeflow.ops.io.summary_rows import ScalarSummary
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.math.comparison import Equal
from tapeflow.ops.math.reduction import Mean
from tapeflow.tools.graph_transforms.registry import Call, transform
from tapeflow.tools.nodes import Nodes, constant, data_inputs, made, parts_of, value_of

_WEIGHTS = "Const|Variable|VariableV2"
_LEAST = 1e-5  # what is nearer to 0 is 0
# Nodes that say something of weights, or set them: they go with them.
_ABOUT_WEIGHTS = ("Assign", Reshape.name, Equal.name, Mean.name, ScalarSummary.name)
_RESTORING = re.compile(r"save[^/]*/Assign[^/]*")


@transform
def sparsify_gather(graph_def: protos.GraphDef, call: Call) -> Any:
    """Look rows up in tables of those that are not 0, where they are gathered from weights of shape [N, 1].

    `input_checkpoint` names the checkpoint that has the values of variables. The tables are filled by the node that
    `group_init_node` (group_deps) names.
    """
    nodes = Nodes(graph_def, (*call.inputs, *call.outputs))
    nodes.kept |= {node.name for node in nodes if node.op == "RestoreV2"}
    reader = reader_of(call.text("input_checkpoint")) if "input_checkpoint" in call.parameters else None
    tables: dict[str, Any] = {}
    reads: dict[str, str] = {}
    for node in nodes:
        node.attr.pop("_output_shapes", None)
        axes = {Gather.name: (), GatherV2.name: ("Const",)}.get(node.op)
        found = None if axes is None else nodes.inputs(node, Identity.name, "*", *axes)
        weights = nodes.inputs(found[0], _WEIGHTS) if found else None
        if found and weights:
            _check(node, found, weights[0])
            if weights[0].name not in tables:
                tables[weights[0].name] = _table(nodes, weights[0], _values(nodes, weights[0], reader))
            _look_up(nodes, node, tables[weights[0].name])
            reads[found[0].name] = weights[0].name
            nodes.prune(data_inputs(node)[2:])
    _fill(nodes, call.text("group_init_node", "group_deps"), tables)
    for read, weights_name in reads.items():
        _drop(nodes, read, weights_name)
    return nodes.graph_def()


def _check(gather: Any, inputs: list[Any], weights: Any) -> None:
    """Raise FailedPreconditionError for other axes and dtypes than these tables have."""
    if gather.op == GatherV2.name:
        axis = value_of(inputs[2])
        if axis.dtype not in (np.int32, np.int64):
            raise FailedPreconditionError(None, None, "Gather axis was not int32 or int64.")
        if axis != 0:
            raise FailedPreconditionError(
                None, None,
                f"Transform only applicable to subgraph with GatherV2 over axis 0. Found axis {axis}.",
            )  # fmt: skip
    dtype = as_dtype(weights.attr["dtype"].type)
    if dtype != dtypes.float32:
        raise FailedPreconditionError(
            None, None,
            "Transform only applicable to subgraph with 'Const','Variable', or 'VariableV2' of dtype 'DT_FLOAT'. "
            f"Found '{weights.op}' with name '{weights.name}' and dtype '{dtype.name}'.",
        )  # fmt: skip


def _values(nodes: Nodes, weights: Any, reader: Reader | None) -> np.ndarray:
    """The value of weights: of a constant, or of a variable in the checkpoint."""
    if weights.op == "Const":
        return value_of(weights)
    if reader is None:
        raise InternalError(None, None, "Checkpoint reader was not initialized. ")
    whole, _, part = weights.name.rpartition("/")
    key = whole if part.startswith("part_") else weights.name
    spec = _slice(nodes, weights.name, key)
    return reader.read_slice(key, *slices.parse(spec)) if spec else reader.read(key)


def _slice(nodes: Nodes, name: str, key: str) -> str:
    """What of the tensor of that key a variable is, as the nodes say that restore it."""
    for node in nodes:
        if _RESTORING.fullmatch(node.name) and node.input[0] == name:
            restore = nodes.get(node.input[1])
            if restore is not None and restore.op == "RestoreV2":
                keys, specs = (np.ravel(value_of(nodes.get(restore.input[i]))).tolist() for i in (1, 2))
                if key.encode() in keys:
                    return specs[keys.index(key.encode())].decode()
    raise InternalError(None, None, f"Unable to find RestoreV2 entry for variable: {name}")


def _table(nodes: Nodes, weights: Any, value: np.ndarray) -> Any:
    """A new table of the rows that are not 0, and the node that fills it."""
    if value.ndim != 2 or value.shape[1] != 1:
        raise FailedPreconditionError(
            None, None,
            "Transform only applicable to subgraph with 'Const' with tensor of shape [N, 1]. But instead get shape "
            f"{list(value.shape)}.",
        )  # fmt: skip
    rows = np.flatnonzero(np.abs(value) >= _LEAST)
    kept = value.ravel()[rows]
    if not rows.size:  # a table is not filled with nothing
        rows, kept = np.zeros(1, np.int64), np.zeros(1, np.float32)
    name = weights.name
    table = made("HashTable", f"{name}/HashTable", key_dtype=dtypes.int64, value_dtype=dtypes.float32)
    keys, values = constant(f"{name}/indices", rows.astype(np.int64)), constant(f"{name}/values", kept)
    fill = made("InitializeTable", f"{name}/InitializeTable", [table.name, keys.name, values.name],
                Tkey=dtypes.int64, Tval=dtypes.float32)  # fmt: skip
    nodes.put(table, keys, values, fill)
    return table


def _look_up(nodes: Nodes, gather: Any, table: Any) -> None:
    """Put a search of the table in the place of the node that gathers rows."""
    name, rows = gather.name, gather.input[1]
    if gather.attr["Tindices"].type == dtypes.int32.as_datatype_enum:
        nodes.put(made(Cast.name, f"{name}/Cast", [rows], SrcT=dtypes.int32, DstT=dtypes.int64))
        rows = f"{name}/Cast"
    zero, axis = constant(f"{name}/Const", np.float32(0)), constant(f"{name}/ExpandDims/Const", np.int32(-1))
    found = made("LookupTableFind", f"{name}/LookupTableFind", [table.name, rows, zero.name],
                 Tin=dtypes.int64, Tout=dtypes.float32)  # fmt: skip
    column = made(ExpandDims.name, name, [found.name, axis.name], T=dtypes.float32, Tdim=dtypes.int32)
    column.input.extend(text for text in gather.input if text.startswith("^"))
    nodes.put(zero, axis, found, column)


def _fill(nodes: Nodes, name: str, tables: Iterable[str]) -> None:
    """Let the node of this name, a new one where there is none, wait until the tables are filled."""
    group = nodes.get(name)
    if group is None or group.op != NoOp.name:
        group = made(NoOp.name, name)
        nodes.put(group)
    group.input.extend(f"^{weights}/InitializeTable" for weights in tables)


def _drop(nodes: Nodes, read: str, weights: str) -> None:
    """Drop weights with what is about them, unless something else takes part in what the graph computes."""
    gone = {read, weights}
    before = 0
    while len(gone) > before:
        before = len(gone)
        for node in nodes:
            left = [text for text in node.input if node_name(text) not in gone]
            if node.name in gone or len(left) == len(node.input):
                continue
            if not left or (node.op in _ABOUT_WEIGHTS and len(left) == 1):
                gone.add(node.name)
            elif node.op != ConcatV2.name and any(node_name(text) in gone for text in data_inputs(node)):
                return
    if gone & nodes.kept:
        return
    others = [text for name in gone for text in nodes.get(name).input]
    nodes.remove(*gone)
    for node in nodes:
        _without(node, gone, others)
    nodes.prune(text for text in others if node_name(text) not in gone)


def _without(node: protos.NodeDef, gone: set[str], others: list[str]) -> None:
    """Take nodes that are gone out of the inputs of another; one value is not joined to anything."""
    left = [text for text in node.input if node_name(text) not in gone]
    if len(left) == len(node.input):
        return
    joins = node.op == ConcatV2.name
    values = sum(not parts_of(text)[0] for text in left) - 1
    if joins and values == 1:
        others.append(left.pop(1))
        node.op = Identity.name
        node.attr.pop("N", None)
        node.attr.pop("Tidx", None)
    elif joins:
        node.attr["N"].i = values
    del node.input[:]
    node.input.extend(left)
