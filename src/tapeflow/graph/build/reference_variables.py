"""Reference variables of 1.x in a `GraphDef`, rewritten as resource variables.

A `VariableV2` hands out a reference, which `Assign` and its like change and all others read. Here a `VarHandleOp` takes
its place, below its name, and what reads gets its own `ReadVariableOp`; all names keep their meaning, so that
fetching "w:0" still gives the value.
"""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.graph.nodes.reference_nodes import HANDLE, UPDATE
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.op_defs.reference_definitions import counterpart
from tapeflow.graph.tensor import OF_REFERENCE
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.rows import ReadVariableOp, VarIsInitializedOp
from tapeflow.ops.state.variable_parts import ResourceCountUpTo

_VARIABLES = frozenset({"Variable", "VariableV2", "TemporaryVariable"})
_READS = frozenset({Identity.name, "RefIdentity", "DestroyTemporaryVariable", "DebugGradientRefIdentity"})
# What give a reference on into a branch or a loop of 1.x, and what they are when the references are handles.
_INTO = {"RefSwitch": "Switch", "RefEnter": "Enter"}
# What give a reference out of these: here, the value.
_VALUES = frozenset({"Merge", "Exit", "NextIteration"})
# What give a reference on that they were given.
_SAME = frozenset({"RefIdentity", "DebugGradientRefIdentity"})


def rewritten(graph_def: protos.GraphDef) -> Any:
    """The GraphDef with resource variables; the same object if it has no reference variables.

    Raises ValueError for an operation on a reference that has no counterpart.
    """
    if not any(node.op in _VARIABLES for node in graph_def.node):
        return graph_def
    load_all_rows()
    source = protos.GraphDef()
    source.CopyFrom(graph_def)
    made = protos.GraphDef()
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    _Rewriter(source, made).run()
    return made


class _Rewriter:
    def __init__(self, source: Any, target: Any):
        self.nodes = {node.name: node for node in source.node}
        self.target = target

    def run(self) -> None:
        for node in self.nodes.values():
            if node.op in _VARIABLES:
                self._variable(node)
            elif self._referenced(node, 0) is None:
                self.target.node.add().CopyFrom(node)
            elif node.op in _INTO:
                self._enter(node)
            elif counterpart(node.op):
                self._update(node)
            elif node.op == "CountUpTo":
                controls = [text for text in node.input[1:] if text.startswith("^")] + self._after(node)
                self._add(node.name, ResourceCountUpTo.name, node, [self._handle(node, 0), *controls], {})
            elif node.op == "IsVariableInitialized":
                self._is_initialized(node)
            elif node.op in _READS:
                self._read(node.name, self._referenced(node, 0), node, list(node.input[1:]), self._handle(node, 0))
            else:
                self._reader(node)

    def _referenced(self, node: protos.NodeDef, place: int) -> Any:
        """The variable whose reference is an input of a node, or None."""
        if place >= len(node.input) or node.input[place].startswith("^"):
            return None
        seen: set[str] = set()
        name, _, number = node.input[place].partition(":")
        while name in self.nodes and name not in seen:
            seen.add(name)
            source = self.nodes[name]
            if number not in ("", "0") and source.op != "RefSwitch":
                return None
            if source.op in _VARIABLES:
                return source
            if not (counterpart(source.op) or source.op in _SAME or source.op in _INTO) or not source.input:
                return None
            name, _, number = source.input[0].partition(":")
        return None

    def _handle(self, node: protos.NodeDef, place: int) -> str:
        """The handle of the variable whose reference is an input of a node."""
        text = node.input[place]
        while True:
            source = self.nodes[text.partition(":")[0]]
            if source.op in _VARIABLES:
                return str(source.name + HANDLE)
            if source.op in _INTO:
                return str(text)
            text = source.input[0]

    def _enter(self, node: protos.NodeDef) -> None:
        """Takes the handle into a branch or a loop."""
        made = self.target.node.add()
        made.CopyFrom(node)
        made.op = _INTO[node.op]
        made.input[:] = [self._handle(node, 0), *node.input[1:], *self._after(node)]
        made.attr["T"].type = protos.DataType.DT_RESOURCE

    def _add(self, name: str, op: str, like: Any, inputs: list[str], attrs: dict[str, Any]) -> Any:
        made = self.target.node.add(name=name, op=op, device=like.device)
        made.input.extend(inputs)
        known = {a.name for a in op_defs.op_def(op).attr}
        for key, value in {**like.attr, **attrs}.items():
            if key in attrs or key in known or key == "_class":
                made.attr[key].CopyFrom(value)
        return made

    def _variable(self, node: protos.NodeDef) -> None:
        name = node.attr["shared_name"].s or node.attr["var_name"].s or node.name.encode()
        attrs = {"shared_name": protos.AttrValue(s=name), OF_REFERENCE: protos.AttrValue(b=True)}
        self._add(node.name + HANDLE, VarHandleOp.name, node, [], attrs)
        self._read(node.name, node, node, [])

    def _read(self, name: str, variable: Any, like: Any, controls: list[str], handle: str = "") -> None:
        waits = self._after(like) if like is not variable else []
        kind = {"dtype": variable.attr["dtype"]}
        self._add(name, ReadVariableOp.name, like, [handle or variable.name + HANDLE, *controls, *waits], kind)

    def _after(self, node: protos.NodeDef) -> list[str]:
        """A control input for the update whose reference a node takes."""
        source = node.input[0].partition(":")[0]
        op = self.nodes[source].op
        return [] if op in _VARIABLES or op in _INTO else [f"^{source}"]

    def _update(self, node: protos.NodeDef) -> None:
        """The update itself, and a read after it that has its name."""
        kind = counterpart(node.op)
        variable = self._referenced(node, 0)
        inputs: list[str] = []
        waits: list[str] = []
        for i, argument in enumerate(op_defs.op_def(kind).input_arg):
            if argument.type == protos.DataType.DT_RESOURCE:
                own = self._referenced(node, i)
                if own is None:
                    raise ValueError(
                        f"Input {i} of node '{node.name}' ({node.op}) is no reference to a variable"
                    )
                inputs.append(self._handle(node, i))
                source = self.nodes[node.input[i].partition(":")[0]]
                if source is not own and source.op not in _INTO:
                    waits.append(f"^{source.name}")
            elif i < len(node.input):
                inputs.append(node.input[i])
        controls = [text for text in node.input if text.startswith("^")]
        dtype = variable.attr["dtype"]
        attrs = (
            {"dtype": dtype} if any(a.name == "dtype" for a in op_defs.op_def(kind).attr) else {}
        )
        self._add(node.name + UPDATE, kind, node, [*inputs, *controls, *waits], attrs)
        self._add(
            node.name, ReadVariableOp.name, node, [self._handle(node, 0), f"^{node.name}{UPDATE}"], {"dtype": dtype}
        )  # fmt: skip

    def _is_initialized(self, node: protos.NodeDef) -> None:
        controls = [text for text in node.input[1:] if text.startswith("^")]
        self._add(node.name, VarIsInitializedOp.name, node, [self._handle(node, 0), *controls], {})

    def _reader(self, node: protos.NodeDef) -> None:
        """A node that takes values: what it waits for, its reads wait for too."""
        kind = node.op.removeprefix("Ref")
        if kind != node.op and kind not in _VALUES:
            raise ValueError(
                f"Node '{node.name}' ({node.op}) takes a reference to a variable, which is not supported"
            )
        controls = [text for text in node.input if text.startswith("^")]
        made = self.target.node.add()
        made.CopyFrom(node)
        made.op = kind
        for i, text in enumerate(node.input):
            variable = self._referenced(node, i)
            if variable is None:
                continue
            source = self.nodes[text.partition(":")[0]]
            if source.op in _INTO or (controls and source is variable):
                name = f"{node.name}/read_{i}"
                self._read(name, variable, variable, controls, self._handle(node, i))
                made.input[i] = name
