"""Control flow of 1.x, turned into functions.

TensorFlow 1.x wrote a condition as `Switch` and `Merge` nodes, and a loop as `Enter`, `Merge`, `Switch`,
`NextIteration` and `Exit` nodes around its body. `functionalized` turns these into `If` and `While` nodes with
functions. The results keep their names: `cond/Merge` and `while/Exit` become identities of what the new node returns.
Nodes inside of branches and loops move to the functions, and cannot be fetched; a branch's node that nothing uses keeps
its name.
"""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.graph.interchange.functionalize.bodies import Bodies, Nodes
from tapeflow.graph.interchange.functionalize.branches import replace_branches
from tapeflow.graph.interchange.functionalize.loops import replace_loops
from tapeflow.ops.all_rows import load_all_rows

_KINDS = frozenset({
    "Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration",
    "RefNextIteration", "LoopCond",
})  # fmt: skip


def functionalized(graph_def: protos.GraphDef) -> Any:
    """The `GraphDef` with `If` and `While` nodes; the same object if nothing in it, or its functions, is to be changed.

    Raises:
      ValueError: for nodes that are no graph.
      UnimplementedError: for control flow that is no condition or loop as 1.x built them.
    """
    if not _is_old(graph_def.node):
        library = functionalized_library(graph_def.library)
        if library is graph_def.library:
            return graph_def
        return protos.GraphDef(node=graph_def.node, versions=graph_def.versions, library=library)
    made = protos.GraphDef(versions=graph_def.versions)
    bodies = _with_functions(graph_def.library, made.library)
    nodes = Nodes(graph_def.node, bodies, are_graph=True)
    replace_loops(nodes)
    replace_branches(nodes)
    for node in nodes.by_name.values():
        nodes.forget_absent(node)
    made.node.extend(nodes.by_name.values())
    return made


def functionalized_library(library: Any) -> Any:
    """As `functionalized`, for a `FunctionDefLibrary`."""
    if not any(_is_old(function.node_def) for function in library.function):
        return library
    made = protos.FunctionDefLibrary()
    _with_functions(library, made)
    return made


def _is_old(nodes: Any) -> bool:
    return any(node.op in _KINDS for node in nodes)


def _with_functions(library: Any, target: Any) -> Bodies:
    """Fills `target` with the functions of `library`, and makes more."""
    load_all_rows()
    bodies = Bodies(library, target, replace_branches)
    target.gradient.extend(library.gradient)
    for function in library.function:
        if _is_old(function.node_def):
            _add_function(bodies, function)
        else:
            target.function.add().CopyFrom(function)
    return bodies


def _add_function(bodies: Bodies, function: Any) -> None:
    """Adds a function of the library, of the same name and signature."""
    nodes = Nodes(function.node_def, bodies, [(x.name, x.type) for x in function.signature.input_arg])
    nodes.number_references()
    replace_loops(nodes)
    results = [nodes.numbered(function.ret[y.name]) for y in function.signature.output_arg]
    added = bodies.add(function.signature.name, nodes, nodes.arguments, results)
    added.signature.CopyFrom(function.signature)
    for i, y in enumerate(function.signature.output_arg):
        text = added.ret.pop(f"result_{i}")
        added.ret[y.name] = text
    for key, attr in function.attr.items():
        added.attr[key].CopyFrom(attr)
    for i, attrs in function.arg_attr.items():
        added.arg_attr[i].CopyFrom(attrs)
    for key, name in function.control_ret.items():
        if name in nodes.by_name:
            added.control_ret[key] = name
