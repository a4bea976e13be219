"""Where a layer stands in models made of symbolic tensors: its symbolic inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.symbolic import KerasTensor


class Connections:
    """The symbolic calls of a layer."""

    _nodes: list[Any]
    _outbound_nodes: list[Any]
    name: str

    @property
    def _inbound_nodes(self):
        """The symbolic calls of the layer, in order."""
        return self._nodes

    @property
    def inbound_nodes(self):
        """The symbolic calls of the layer, in order."""
        return self._nodes

    def _symbolic(self, what: str, position: int | None = None):
        nodes = self._nodes
        if not nodes:
            raise AttributeError(
                f"The layer {self.name} has never been called and thus has no defined {what}."
            )
        if position is None and len({id(node) for node in nodes}) > 1:
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, hence the notion of "layer '
                f'{what}" is ill-defined. Use `get_{what}_at(node_index)` instead.'
            )
        if not -len(nodes) <= (position or 0) < len(nodes):
            raise ValueError(
                f"Asked to get {what} at node {position}, but the layer has only {len(nodes)} inbound nodes."
            )
        node = nodes[position or 0]
        if what == "output":
            return node.outputs
        return node.inputs if node.parents() else node.outputs

    @property
    def input(self):
        """The symbolic input of the layer's only symbolic call."""
        return self._symbolic("input")

    @property
    def output(self):
        """The symbolic output of the layer's only symbolic call."""
        return self._symbolic("output")

    def get_input_at(self, node_index: int):
        """The symbolic input of a symbolic call."""
        return self._symbolic("input", node_index)

    def get_output_at(self, node_index: int):
        """The symbolic output of a symbolic call."""
        return self._symbolic("output", node_index)

    def get_input_shape_at(self, node_index: int):
        """The shape of the input of a symbolic call."""
        return _shapes(self.get_input_at(node_index))

    def get_output_shape_at(self, node_index: int):
        """The shape of the output of a symbolic call."""
        return _shapes(self.get_output_at(node_index))

    def get_input_mask_at(self, node_index: int):
        """The mask of the input of a symbolic call."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int):
        """The mask of the output of a symbolic call."""
        return _masks(self.get_output_at(node_index))

    @property
    def input_mask(self):
        """The mask of the input of the layer's only symbolic call."""
        return _masks(self.input)

    @property
    def output_mask(self):
        """The mask of the output of the layer's only symbolic call."""
        return _masks(self.output)

    @property
    def outbound_nodes(self):
        """The symbolic calls of other layers that read this one's outputs."""
        return self._outbound_nodes

    @property
    def input_shape(self):
        """The shape of the symbolic input."""
        return _shapes(self.input)

    @property
    def output_shape(self):
        """The shape of the symbolic output."""
        return _shapes(self.output)


def _shapes(tensors: KerasTensor):
    return nest.map_structure(lambda x: tuple(x.shape.as_list()), tensors)


def _masks(tensors: Sequence[Any] | KerasTensor):
    return nest.map_structure(lambda x: getattr(x, "_keras_mask", None), tensors)


boundaries(globals())
