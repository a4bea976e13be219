"""Models as graphs of pydot, which Graphviz draws."""

from __future__ import annotations

import importlib
import itertools
from html import escape
from typing import Any

from tapeflow.core.structures import nest
from tapeflow.keras.engine.sequential import Sequential


def pydot_or_none() -> Any:
    """The package pydot, where it is installed."""
    try:
        return importlib.import_module("pydot")
    except ImportError:
        return None


def has_graphviz(pydot: Any) -> bool:
    """Whether Graphviz's program runs, which draws what pydot describes."""
    try:
        pydot.Dot().create()
    except (OSError, pydot.PydotException):
        return False
    return True


class DotWriter:
    """Describes the layers of a model to pydot.

    Args:
      pydot: the package.
      expand_nested: whether models inside are clusters of their layers.
      **facts: what is shown of a layer: `names`, `shapes`, `dtype`, `activations`, `trainable`.
    """

    def __init__(self, pydot: Any, expand_nested: bool, **facts: bool):
        self._pydot, self._nested, self._facts = pydot, expand_nested, facts

    def graph(self, model: Any, rankdir: str, dpi: int, splines: str) -> Any:
        """The graph of a whole model."""
        dot = self._pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set("splines", splines)
        dot.set_node_defaults(shape="record")
        return self._fill(dot, model)

    def cluster(self, model: Any) -> Any:
        """A model as a part of another graph."""
        dot = self._pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
        return self._fill(dot, model)

    def _fill(self, dot: Any, model: Any) -> Any:
        layers = _layers(model)
        if layers is None:  # a subclass of Model, of which only the calls know how its layers are connected
            dot.add_node(self._node(model))
            return dot
        for layer in layers:
            if self._nested and _layers(layer) is not None:
                dot.add_subgraph(self.cluster(layer))
            else:
                dot.add_node(self._node(layer))
        for source, target in dict.fromkeys(self._connections(model, layers)):
            edge = self._pydot.Edge(str(source), str(target))
            edge.set("penwidth", "2")
            dot.add_edge(edge)
        return dot

    def _connections(self, model: Any, layers: list[Any]) -> Any:
        """The numbers of the boxes of connected layers; those at the edges of models inside, where these are shown."""
        network = getattr(model, "_network", None)
        if network is None:
            for before, after in itertools.pairwise(layers):
                yield self._end(before, 0), self._start(after, 0)
            return
        for layer in layers:
            for node in (n for n in layer.inbound_nodes if n in network.depths):
                for position, parent in enumerate(node.parents()):
                    yield self._end(parent.layer, parent.index), self._start(layer, position)

    def _end(self, layer: Any, index: int) -> int:
        """The box from which a layer's output comes."""
        while self._nested and (inner := _layers(layer)) is not None:
            if getattr(layer, "_network", None) is None:
                layer = inner[-1]
            else:
                end = layer.outputs[index]
                layer, index = end.layer, end.index
        return id(layer)

    def _start(self, layer: Any, position: int) -> int:
        """The box that a layer's input goes to."""
        while self._nested and (inner := _layers(layer)) is not None:
            if getattr(layer, "_network", None) is None:
                layer = inner[0]
            else:
                layer = layer.inputs[position].layer
        return id(layer)

    def _node(self, layer: Any) -> Any:
        node = self._pydot.Node(str(id(layer)), label=self._label(layer))
        node.set("fontname", "Helvetica")
        node.set("border", "0")
        node.set("margin", "0")
        return node

    def _label(self, layer: Any) -> str:
        """A table in Graphviz's language: the title, the activation, then a row of facts."""
        kind, facts = type(layer).__name__, self._facts
        cells = []
        if facts["shapes"]:
            if kind != "InputLayer":
                cells.append(_fact("Input shape", _of_tensors(layer, "input", "shape")))
            cells.append(_fact("Output shape", _of_tensors(layer, "output", "shape")))
        if facts["dtype"]:
            cells.append(_fact("Output dtype", _of_tensors(layer, "output", "dtype")))
        if facts["trainable"] and layer.weights:
            colour, word = ("forestgreen", "Trainable") if layer.trainable else ("firebrick", "Non-trainable")
            cells.append(f'<td bgcolor="{colour}"><font point-size="14" color="white"><b>{word}</b></font></td>')
        span = f'colspan="{max(2 * facts["shapes"] + facts["dtype"] + facts["trainable"], 1)}"'
        title = f"<b>{escape(layer.name)}</b> ({kind})" if facts["names"] else f"<b>{kind}</b>"
        rows = [f'<td {span} bgcolor="black"><font point-size="16" color="white">{title}</font></td>']
        activation = getattr(layer, "activation", None)
        if facts["activations"] and activation is not None:
            name = getattr(activation, "name", None) or getattr(activation, "__name__", activation)
            text = f'<font point-size="14">Activation: <b>{escape(str(name))}</b></font>'
            rows.append(f'<td bgcolor="white" {span}>{text}</td>')
        rows += ["".join(cells)] if cells else []
        inner = "".join(f"<tr>{row}</tr>" for row in rows)
        return f'<<table border="0" cellborder="1" bgcolor="black" cellpadding="10">{inner}</table>>'


def _layers(model: Any) -> list[Any] | None:
    """The layers of a model whose connections are known; None of other layers."""
    if getattr(model, "_network", None) is not None:
        return list(model.operations)
    return list(model.layers) if isinstance(model, Sequential) else None


def _of_tensors(layer: Any, end: str, fact: str) -> str:
    """The shapes or dtypes of a layer's inputs or outputs; "?" where it was not called, or several times."""
    try:
        found = nest.map_structure(lambda x: getattr(x, fact), getattr(layer, end))
    except (ValueError, AttributeError):
        return "?"
    if isinstance(found, dict):
        return ", ".join(f"{key}: {value}" for key, value in found.items())
    return str(found)


def _fact(title: str, value: str) -> str:
    return f'<td bgcolor="white"><font point-size="14">{title}: <b>{escape(value)}</b></font></td>'
