"""Concrete functions as the public functions of one module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.function.freezing import convert_variables_to_constants_v2
from tapeflow.lite import control_flow, lookups  # noqa: F401 (lookups registers how tables are written)
from tapeflow.lite.emitter import Emitter, Module
from tapeflow.lite.lowering import Signature, output_labels
from tapeflow.lite.values import Value


def places_of(graph: Any) -> Callable[[str], tuple[str, int] | None]:
    """Gives where the program made the operation that one of a copy of `graph` comes from, by the copy's name."""
    found: dict[str, tuple[str, int]] = {}
    todo, seen = [graph], set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        for op in each.operations:
            file, line, _ = op.defined_at
            found.setdefault(op.name, (file, line))
            bodies = [*op.attrs.get("branches", ()), *(op.attrs[k] for k in ("cond", "body") if k in op.attrs)]
            todo += [body.graph for body in bodies if hasattr(body, "graph")]

    def place(name: str) -> tuple[str, int] | None:
        parts = name.split("/")
        for end in range(len(parts), 0, -1):
            for first in range(end):
                known = found.get("/".join(parts[first:end]))
                if known is not None:
                    return known
        return None

    return place


def add_function(module: Module, number: int, key: str, function: Any) -> Signature:
    """Adds a concrete function to a module, as the public function of this number; its signature.

    Raises:
      ValueError: the function does more with a variable than read it, or takes a resource that is no table.
    """
    frozen = convert_variables_to_constants_v2(function)
    graph = frozen.graph
    for x in graph.inputs:
        if x.dtype in (dtypes.resource, dtypes.variant):
            raise ValueError(
                f"Function '{function.graph.name}' uses a resource, '{x.name}', which cannot be "
                "converted to TensorFlow Lite"
            )
    name = f"signature_{number}"
    emitter = Emitter(module, [Value(x.dtype, x.shape_tuple) for x in graph.inputs], name, public=True)
    results = emitter.body(graph, graph.outputs, emitter.arguments)
    emitter.finish([control_flow.flat(emitter, y, graph.outputs[i].op) for i, y in enumerate(results)])
    keys = [f"output_{i}" for i in range(len(results))]
    structure = function.structured_outputs
    if isinstance(structure, dict) and len(structure) == len(keys):
        keys = sorted(map(str, structure))
    signature = Signature(name, key, [x.op.name for x in graph.inputs], keys)
    for label, y in zip(output_labels(signature, number), graph.outputs, strict=True):
        module.labels[label] = y.op.name
    return signature


def module_of(functions: dict[str, Any], custom: Sequence[str] = ()) -> tuple[Module, list[Signature]]:
    """The module of concrete functions, by the keys of their signatures.

    Args:
      custom: types of operations that become custom ones of TensorFlow Lite.
    """
    places = [places_of(function.graph) for function in functions.values()]

    def place_of(name: str) -> tuple[str, int] | None:
        return next((found for place in places if (found := place(name)) is not None), None)

    module = Module(place_of, custom)
    signatures = [
        add_function(module, i, key, function) for i, (key, function) in enumerate(functions.items())
    ]
    return module, signatures
