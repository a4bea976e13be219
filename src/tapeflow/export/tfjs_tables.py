"""Lookup tables of TF.js models: `modelInitializer`, a graph that fills them before the model runs for the first time.

TF.js knows a table by the name of the node that makes it, which both graphs have.
"""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.graph.graph import Graph
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.lookup.rows import LookupTableFindV2, LookupTableImportV2
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.state.resource_op import object_of


def initializer(graph: Graph, graph_def: protos.GraphDef) -> Any:
    """The graph that fills the tables of a model.

    Args:
      graph: that of the model.
      graph_def: the same as a GraphDef.

    Returns:
      A GraphDef; None for a model without tables.
    """
    made = protos.GraphDef(versions=graph_def.versions)
    nodes = {node.name: node for node in graph_def.node}
    for op in graph.operations:
        value = op.attrs["value"] if op.type == "Const" else None
        table = object_of(value) if value is not None and value.dtype.name == "resource" else None
        if isinstance(table, Table):
            made.node.append(nodes[op.name])
            _fill(op.name, table, made.node)
    return made if made.node else None


def _fill(name: str, table: Table, nodes: Any) -> None:
    """Adds the nodes that fill a table."""
    keys, values = table.export()
    node = nodes.add(name=f"{name}/import", op=LookupTableImportV2.name, input=[name])
    for label, array, dtype, attr in (
        ("keys", keys, table.key_dtype, "Tin"), ("values", values, table.value_dtype, "Tout"),
    ):  # fmt: skip
        constant = nodes.add(name=f"{name}/{label}", op="Const")
        constant.attr["dtype"].type = dtype.as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(make_tensor_proto(array, dtype))
        node.input.append(constant.name)
        node.attr[attr].type = dtype.as_datatype_enum


def keep_shapes(graph_def: protos.GraphDef) -> None:
    """Lets what is found in tables have the shape of the keys: TF.js returns a vector.

    Raises UnimplementedError for a table that a branch or loop uses: functions of TF.js models have no tables.
    """
    for function in graph_def.library.function:
        for node in function.node_def:
            if node.op.startswith("LookupTable"):
                what = f"TF.js cannot use tables in branches and loops: node '{node.name}' is a {node.op}"
                raise UnimplementedError(None, None, what)
    nodes = graph_def.node
    for node in [node for node in nodes if node.op in (LookupTableFindV2.name, "LookupTableFind")]:
        found = nodes.add()
        found.CopyFrom(node)
        found.name = f"{node.name}/found"
        shape = nodes.add(name=f"{node.name}/shape", op=Shape.name, input=[node.input[1]])
        shape.attr["T"].type = node.attr["Tin"].type
        shape.attr["out_type"].type = protos.DataType.DT_INT32
        kind = node.attr["Tout"].type
        node.op = Reshape.name
        node.input[:] = [found.name, shape.name]
        node.ClearField("attr")
        node.attr["T"].type, node.attr["Tshape"].type = kind, protos.DataType.DT_INT32
