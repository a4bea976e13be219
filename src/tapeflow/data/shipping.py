"""Datasets as messages for other processes: the graph of TensorFlow's ops that makes one, and what elements are."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core import context, dtypes
from tapeflow.data import element, spec_coding
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Over
from tapeflow.data.nodes.variants import dataset_of, unpacked
from tapeflow.data.nodes.writing import NoOpForIt, node_of
from tapeflow.data.parts import parts_of
from tapeflow.function.compiled import Compiled
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.importing import import_nodes
from tapeflow.ops.node_rows import NODES


class NotShippable(Exception):
    """A dataset that no graph of TensorFlow's ops makes."""


def to_bytes(dataset: Any) -> bytes:
    """A dataset as bytes: what it is made of is in them, but for files. Raises NotShippable."""
    with context.init_scope():
        try:
            with Graph().as_default() as graph:
                variant = node_of(dataset)
        except NoOpForIt as reason:
            raise NotShippable(
                f"No graph of ops makes {dataset} ({reason}), so that other processes cannot have it."
            ) from None
        _refuse_captured_resources(graph, dataset)
        spec = json.dumps(spec_coding.plain(dataset.element_spec)).encode()
        definition = graph.as_graph_def()
    for nodes in [definition.node, *(f.node_def for f in definition.library.function)]:
        for node in nodes:
            if "token" in node.attr and node.attr["token"].s.startswith(b"pyfunc"):
                raise NotShippable(f"{dataset} calls Python ({node.name}), which does not go to other processes.")
    _name_alike(definition)
    return b"\n".join([spec, variant.name.encode(), definition.SerializeToString(deterministic=True)])


def _refuse_captured_resources(graph: Graph, dataset: Any) -> None:
    """Raise NotShippable where a function of the dataset captured a variable or a table."""
    for op in graph.operations:
        row = NODES.get(op.type)
        if row is None or not row.makes_dataset:
            continue
        for argument, given in zip(row.inputs, row.grouped(op.attrs, op.inputs), strict=True):
            found = [x for x in given if x.dtype == dtypes.resource and argument.type != "resource"]
            if found:
                raise NotShippable(
                    f"A function of {dataset} captured {found[0].op.name}, a variable or a table, which other "
                    "processes do not have."
                )


def _name_alike(definition: Any) -> None:
    """Name functions by their places, so that equal datasets are equal messages in every process."""
    functions = definition.library.function
    names = {f.signature.name: f"function_{i}" for i, f in enumerate(functions)}
    for nodes in [definition.node, *(f.node_def for f in functions)]:
        for node in nodes:
            node.op = names.get(node.op, node.op)
            for attr in node.attr.values():
                if attr.HasField("func"):
                    attr.func.name = names.get(attr.func.name, attr.func.name)
                for each in attr.list.func:
                    each.name = names.get(each.name, each.name)
    for function in functions:
        function.signature.name = names[function.signature.name]


def from_bytes(message: bytes, change: Callable[[Any, Sequence[Any]], Any] | None = None) -> Any:
    """The dataset of what `to_bytes` gave.

    Args:
      message: the bytes.
      change: gives the variant tensor of the dataset that takes the place of a source, or None to leave that, for the
        node of the source and the values of its inputs. Sources are the datasets that are made of no others, outside of
        functions.
    """
    spec, name, definition = message.split(b"\n", 2)
    parsed = protos.GraphDef.FromString(definition)
    with context.init_scope():
        others = {} if change is None else _changed(parsed, change)
        variant = others.get(name.decode())
        if variant is None:
            graph = FuncGraph("dataset")
            with graph.as_default():
                places = {key: graph.add_capture(x, "source") for key, x in others.items()}
                graph.outputs = list(import_nodes(parsed, places, [name.decode()], "") or ())
            (variant,) = Compiled(graph)([])
    made, structure = dataset_of(variant), spec_coding.from_plain(json.loads(spec))
    if made.element_spec == structure:
        return made
    return build(("Map", lambda: _Structured(parts_of(made).start(), structure), structure, parts_of(made).size), made)


def _changed(definition: Any, change: Callable[[Any, Sequence[Any]], Any]) -> dict[str, Any]:
    """What takes the place of the outputs of sources, by their names."""
    graph = FuncGraph("sources")
    with graph.as_default():
        import_nodes(definition, None, None, "")
    found = {}
    for op in graph.operations:
        row = NODES.get(op.type)
        if row is None or not row.makes_dataset or any(x.dtype == dtypes.variant for x in op.inputs):
            continue
        values = Compiled(graph, op.inputs)([]) if op.inputs else []
        made = change(op, values)
        if made is not None:
            found[op.outputs[0].name] = made
    return found


class _Structured(Over):
    """Flat elements in the structure that they had."""

    __slots__ = ("_spec",)

    def __init__(self, values: Any, spec: Any):
        super().__init__(values)
        self._spec = spec

    def __next__(self) -> Any:
        return element.unflatten(self._spec, iter(unpacked(next(self._input))))
