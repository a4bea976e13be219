"""The calls of layers between symbolic inputs and outputs: which, and in which order.

A call has as depth the number of calls between it and the outputs, at most. Deeper calls come first, as in
Keras, so that layers, weights and names have the order of Keras too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.structures import nest
from tapeflow.keras.engine.functional.symbolic import KerasTensor


def first_number(layer):
    """The number of the first call of a layer: models that are networks have had one, when they were made."""
    return int(getattr(layer, "_is_graph_network", False))


def network_of(model: Any) -> Network:
    """The calls and layers of a functional model."""
    network: Network = model._network
    return network


def build_map(outputs: Any) -> tuple[list[Any], dict[Any, int]]:
    """(the calls that lead to symbolic outputs, each after those it needs; the rank of each layer by first sight)."""
    return Network.walk(nest.flatten(outputs))


class Network:
    """Calls and layers from `inputs` to `outputs`, lists of symbolic tensors.

    Raises ValueError where an output does not follow from the inputs, or two layers have one name.
    """

    def __init__(self, inputs, outputs):
        visited, self._ranks = self.walk(outputs)
        depths, layer_depths = {}, {}
        for node in reversed(visited):
            depth = max(depths.get(node, 0), layer_depths.get(node.layer, 0))
            depths[node] = layer_depths[node.layer] = depth
            for parent in node.parents():
                depths[parent.node] = max(depth + 1, depths.get(parent.node, 0))
        for tensor in inputs:
            if tensor.layer not in layer_depths:
                depths[tensor.node] = layer_depths[tensor.layer] = 0
                self._ranks[tensor.layer] = -1
        self.layers = sorted(layer_depths, key=lambda l: (-layer_depths[l], self._ranks[l]))
        self.depths, self._layer_depths = depths, layer_depths
        # Of one depth, the calls of a layer in the order in which they were made.
        self.nodes = sorted(
            depths,
            key=lambda n: (-depths[n], self._ranks[n.layer], n.layer.inbound_nodes.index(n)),
        )
        starts = {id(tensor) for tensor in inputs}
        self._check(inputs, outputs, starts)
        # What is computed, given the inputs.
        self.calls = [
            node
            for node in self.nodes
            if node.parents() and not all(id(y) in starts for y in nest.flatten(node.outputs))
        ]

    def run(
        self, values: dict[Any, Any], outputs: dict[str, Any] | KerasTensor,
        training: bool | Tensor | None = None,
    ):
        """The values of a structure of symbolic tensors.

        Args:
          values: those of the inputs, by the `id` of the symbolic tensor; all that is computed is added.
          outputs: symbolic tensors of the network.
          training: what calls of layers have instead of the `training` that they were given; None for that one.
        """

        def value_of(leaf: int | KerasTensor):
            return values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf

        for node in self.calls:
            kwargs = nest.map_structure(value_of, node.kwargs)
            if training is not None and "training" in kwargs:
                kwargs["training"] = training
            found = node.layer(
                nest.map_structure(value_of, node.inputs), *nest.map_structure(value_of, node.args), **kwargs
            )
            for tensor, value in zip(nest.flatten(node.outputs), nest.flatten(found)):
                values[id(tensor)] = value
        return nest.map_structure(value_of, outputs)

    @staticmethod
    def walk(outputs):
        """The nodes above the outputs, each after those it needs; and layers in the order of first sight."""
        done, visited, ranks = set(), [], {}
        for output in outputs:
            stack = [(output.node, False)]
            while stack:
                node, ready = stack.pop()
                if node in done:
                    continue
                if ready:
                    done.add(node)
                    visited.append(node)
                    continue
                ranks.setdefault(node.layer, len(ranks))
                stack.append((node, True))
                stack += [(parent.node, False) for parent in reversed(node.parents())]
        return visited, ranks

    def _check(self, inputs: Sequence[Any], outputs: Sequence[Any], starts):
        known = set(starts)
        for node in self.nodes:
            if not node.parents():
                continue
            if all(id(y) in starts for y in nest.flatten(node.outputs)):
                continue
            for parent in node.parents():
                if id(parent) not in known:
                    raise _disconnected(parent, node, inputs)
            known.update(id(y) for y in nest.flatten(node.outputs))
        for output in outputs:
            if id(output) not in known:
                raise _disconnected(output, output.node, inputs)
        names = [layer.name for layer in self.layers]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f'The name "{name}" is used {names.count(name)} times in the model. All layer '
                    "names should be unique."
                )

    def is_chain(self):
        """Whether every call takes the one output of the call before, and no layer is called twice."""
        for depth in set(self.depths.values()):
            nodes = [node for node in self.nodes if self.depths[node] == depth]
            if len(nodes) > 1 or len(nodes[0].parents()) > 1:
                return False
        layers = [node.layer for node in self.nodes]
        return len(layers) == len(set(layers))

    def nodes_by_depth(self):
        """{depth: its calls}."""
        return _by_depth(self.nodes, self.depths)

    def layers_by_depth(self):
        """{depth: its layers}."""
        return _by_depth(self.layers, self._layer_depths)

    def node_numbers(self, first_number: Callable[..., Any] = first_number):
        """{node: its number among the calls of its layer that are in the network}."""
        counts: dict = {}
        numbers = {}
        for layer in self.layers:
            for node in layer.inbound_nodes:
                if node in self.depths:
                    numbers[node] = counts.get(layer, first_number(layer))
                    counts[layer] = numbers[node] + 1
        return numbers


def _by_depth(items, depths):
    found: dict[int, list[Any]] = {}
    for item in items:
        found.setdefault(depths[item], []).append(item)
    return found


def _disconnected(tensor, node, inputs):
    given = ", ".join(str(x) for x in inputs)
    return ValueError(
        f'Graph disconnected: cannot obtain value for tensor {tensor} at layer "{node.layer.name}": it does not '
        f"follow from the inputs of the model, {given}. Is an Input missing among them?"
    )
