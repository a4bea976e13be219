"""The operations of a graph as a tree of scopes, with what each has and costs."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter
from typing import Any

from tapeflow.graph.graph import Graph
from tapeflow.graph.operation import Operation
from tapeflow.ops.flops import UnknownShape
from tapeflow.ops.table import REGISTRY
from tapeflow.v1.profiler.options import TRAINABLE_VARIABLES

ROOT = "_TFProfRoot"
_SCOPE = "_kTFScopeParent"  # the type of what is no operation


@dataclasses.dataclass
class Node:
    """An operation, or a scope of names.

    Args:
      name: with those of the scopes around it.
      types: of an operation: its type, its device, and "_trainable_variables" where it is one.
      own: what the operation has and costs: by "params", "float_ops", "micros", "bytes", "occurrence", "runs".
      shape: of a variable.
      operation: where the node is one.
      children: the nodes in this scope, by the last part of their names.
    """

    name: str
    types: list[str] = dataclasses.field(default_factory=lambda: [_SCOPE])
    own: Counter[str] = dataclasses.field(default_factory=Counter)
    shape: list[int] | None = None
    operation: Operation | None = None
    children: dict[str, Node] = dataclasses.field(default_factory=dict)

    def within(self, path: str) -> Node:
        """The node of a path from here, which is made where there is none."""
        first, _, rest = path.partition("/")
        child = self.children.get(first)
        if child is None:
            name = first if self.name == ROOT else f"{self.name}/{first}"
            child = self.children[first] = Node(name)
        return child.within(rest) if rest else child

    def all(self) -> list[Node]:
        """This node and those in it."""
        return [self, *(node for child in self.children.values() for node in child.all())]


def tree_of(graph: Graph, run_meta: Any = None) -> Node:
    """The root of the tree of a graph.

    Args:
      graph: the graph.
      run_meta: a RunMetadata of a run of it, for times and memory.
    """
    root = Node(ROOT)
    trained = {variable.op.name for variable in graph.get_collection("trainable_variables")}
    for operation in graph.get_operations():
        node = root.within(operation.name)
        node.operation, node.types = operation, [operation.type]
        if operation.device:
            node.types.append(operation.device)
        node.own["occurrence"] = 1
        with contextlib.suppress(UnknownShape, ValueError):
            node.own["float_ops"] = _float_operations(operation)
        if operation.name in trained:
            node.types.append(TRAINABLE_VARIABLES)
        if operation.type.startswith("Var") and (shape := _variable_shape(operation)) is not None:
            node.shape, node.own["params"] = shape, math.prod(shape)
    if run_meta is not None:
        _add_run(root, {node.name: node for node in root.all()}, run_meta)
    return root


def _float_operations(operation: Operation) -> int:
    """The number of operations on floats; 0 where TensorFlow counts none for the type."""
    row = operation.row or REGISTRY.get(operation.type)
    formula = row and row.flops_formula
    return int(formula(operation)) if formula else 0


def _variable_shape(operation: Operation) -> list[int] | None:
    """The shape of a variable that an operation makes, where it is known."""
    try:
        shape = operation.get_attr("shape")
    except ValueError:
        return None
    dims = getattr(shape, "dim", None)
    sizes = [each.size for each in dims] if dims is not None else shape.as_list()
    return None if any(size is None or size < 0 for size in sizes) else list(sizes)


def _add_run(root: Node, nodes: dict[str, Node], run_meta: Any) -> None:
    for device in run_meta.step_stats.dev_stats:
        for stats in device.node_stats:
            node = nodes.get(stats.node_name.partition(":")[0])
            if node is None or node is root:
                continue
            node.own["micros"] += max(stats.op_end_rel_micros - stats.op_start_rel_micros, 1)
            node.own["bytes"] += sum(memory.total_bytes for memory in stats.memory)
            node.own["peak_bytes"] += sum(memory.peak_bytes for memory in stats.memory)
            node.own["residual_bytes"] += sum(memory.live_bytes for memory in stats.memory)
            for output in stats.output:
                node.own["output_bytes"] += output.tensor_description.allocation_description.requested_bytes
            node.own["runs"] = 1
