"""Datasets as messages for other processes: the graph of TensorFlow's ops that makes one, and what elements are."""

from __future__ import annotations

import json
from typing import Any

from tapeflow import protos
from tapeflow.core import context
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
        spec = json.dumps(spec_coding.plain(dataset.element_spec)).encode()
        definition = graph.as_graph_def()
    for nodes in [definition.node, *(f.node_def for f in definition.library.function)]:
        for node in nodes:
            if "token" in node.attr and node.attr["token"].s.startswith(b"pyfunc"):
                raise NotShippable(f"{dataset} calls Python ({node.name}), which does not go to other processes.")
    return b"\n".join([spec, variant.name.encode(), definition.SerializeToString()])


def from_bytes(message: bytes) -> Any:
    """The dataset of what `to_bytes` gave."""
    spec, name, definition = message.split(b"\n", 2)
    with context.init_scope():
        graph = FuncGraph("dataset")
        with graph.as_default():
            found = import_nodes(protos.GraphDef.FromString(definition), None, [name.decode()], "")
        graph.outputs = list(found or ())
        (variant,) = Compiled(graph)([])
    made, structure = dataset_of(variant), spec_coding.from_plain(json.loads(spec))
    if made.element_spec == structure:
        return made
    return build(("Map", lambda: _Structured(parts_of(made).start(), structure), structure, parts_of(made).size), made)


class _Structured(Over):
    """Flat elements in the structure that they had."""

    __slots__ = ("_spec",)

    def __init__(self, values: Any, spec: Any):
        super().__init__(values)
        self._spec = spec

    def __next__(self) -> Any:
        return element.unflatten(self._spec, iter(unpacked(next(self._input))))
