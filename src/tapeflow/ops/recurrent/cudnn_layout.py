"""How cuDNN's recurrent networks keep their parameters: one vector, all weights, then all biases.

Layers follow one another; of a bidirectional layer first the forward, then the backward direction. Each has a matrix
[units, width of its input] for each gate, a matrix [units, units] for each gate, and as many biases of each kind.
Gates come in the order input, forget, candidate, output (LSTM) or reset, update, candidate (GRU).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tapeflow.core.errors import UnimplementedError
from tapeflow.ops.recurrent.steps import GATES, KEPT
from tapeflow.ops.signature import one_of
from tapeflow.ops.validate import invalid

CELLS = {"rnn_relu": "relu", "rnn_tanh": "tanh", "lstm": "LSTM", "gru": "GRU"}
# The gates of `RecurrentSequence` among those of cuDNN; swapping two gates is its own inverse.
_ORDER = {"GRU": (1, 0, 2), "LSTM": (0, 1, 2, 3), "tanh": (0,), "relu": (0,)}

# What all of these ops are given, in this order.
NETWORK_ATTRS = {
    "rnn_mode": one_of("rnn_relu", "rnn_tanh", "lstm", "gru", default="lstm"),
    "input_mode": one_of("linear_input", "skip_input", "auto_select", default="linear_input"),
    "direction": one_of("unidirectional", "bidirectional", default="unidirectional"),
    "dropout": 0.0,
    "seed": 0,
    "seed2": 0,
}


class Layout(NamedTuple):
    """A network and where its parameters are.

    Args:
      cell: its name for `RecurrentSequence`.
      skip: whether the first layer adds the input to its gates as it is, without weights.
    """

    cell: str
    layers: int
    units: int
    inputs: int
    directions: int
    skip: bool

    @property
    def gates(self) -> int:
        return GATES[self.cell]

    @property
    def cells(self) -> int:
        """Layers times directions."""
        return self.layers * self.directions

    def width(self, layer: int) -> int:
        """The rows of the weights that the input of a layer is multiplied by."""
        if layer:
            return self.units * self.directions
        return 0 if self.skip else self.inputs

    def weight_shapes(self) -> Iterator[tuple[int, int]]:
        for number in range(self.cells):
            yield from [(self.units, self.width(number // self.directions))] * self.gates
            yield from [(self.units, self.units)] * self.gates

    @property
    def biases(self) -> int:
        """How many vectors of biases there are, one for each matrix of weights."""
        return 2 * self.gates * self.cells

    @property
    def weight_size(self) -> int:
        rows = self.directions * self.gates * self.units
        return rows * (self.width(0) + self.units + (self.layers - 1) * (self.width(1) + self.units))

    @property
    def size(self) -> int:
        return self.weight_size + self.biases * self.units

    def size_of_reserve(self, steps: int, batch: int, dropout: float) -> int:
        """The sum of `sizes_of_reserve`."""
        cell = Layout(self.cell, 1, self.units, self.inputs, 1, self.skip).sizes_of_reserve(steps, batch, 0)
        masks = steps * batch * self.width(1) * (self.layers - 1) if dropout else 0
        return sum(cell) * self.cells + masks

    def sizes_of_reserve(self, steps: int, batch: int, dropout: float) -> list[int]:
        """Elements of what training keeps: of each cell h, c and the gates, then the masks of dropout."""
        states = [1, int(self.cell == "LSTM"), KEPT[self.cell]]
        kept = [steps * batch * self.units * each for each in states] * self.cells
        masks = [steps * batch * self.width(1)] * (self.layers - 1) if dropout else []
        return kept + masks

    def unpacked(self, xp: Any, params: Any) -> list[tuple[Any, Any, Any]]:
        """(weights of inputs, weights of states, biases) of each cell, as `RecurrentSequence` takes them."""
        gates, n, order = self.gates, self.units, list(_ORDER[self.cell])
        found, at, bias_at = [], 0, self.weight_size
        for number in range(self.cells):
            blocks = []
            for width in (self.width(number // self.directions), n):
                end = at + gates * n * width
                block = params[at:end].reshape(gates, n, width)[order, :, :]
                blocks.append(xp.transpose(block, (2, 0, 1)).reshape(width, gates * n))
                at = end
            end = bias_at + 2 * gates * n
            bias = params[bias_at:end].reshape(2, gates, n)[:, order, :]
            bias = bias.reshape(-1) if self.cell == "GRU" else bias.sum(0).reshape(-1)
            bias_at = end
            found.append((blocks[0], blocks[1], bias))
        return found

    def packed(self, xp: Any, gradients: list[tuple[Any, Any, Any]]) -> Any:
        """The gradient of the vector, from those of what `unpacked` returns."""
        gates, n, order = self.gates, self.units, list(_ORDER[self.cell])
        weights, biases = [], []
        for kernel, recurrent, bias in gradients:
            for each in (kernel, recurrent):
                block = xp.transpose(each.reshape(-1, gates, n), (1, 2, 0))
                weights.append(block[order, :, :].reshape(-1))
            both = bias.reshape(-1, gates, n)[:, order, :].reshape(-1)
            biases += [both] if self.cell == "GRU" else [both, both]
        return xp.concatenate(weights + biases)


def layout(
    rnn_mode: str,
    input_mode: str,
    direction: str,
    layers: int,
    units: int,
    inputs: int,
    num_proj: int = 0,
) -> Layout:
    """The layout of a network of at least one layer.

    Raises:
      InvalidArgumentError: if there are no layers or units, or an input that skips its weights is not as wide
        as the layer.
      UnimplementedError: for projections.
    """
    if num_proj:
        raise UnimplementedError(
            None, None, f"Projections of LSTMs are not supported: num_proj is {num_proj}"
        )
    if layers < 1 or units < 1 or inputs < 0:
        raise invalid(
            f"Need at least one layer and one unit, got {layers} layers of {units} units for {inputs} inputs"
        )
    skip = input_mode == "skip_input" or (input_mode == "auto_select" and inputs == units)
    if skip and inputs != units:
        raise invalid(
            f"skip_input needs an input as wide as a layer, got {inputs} inputs for {units} units"
        )
    directions = 2 if direction == "bidirectional" else 1
    return Layout(CELLS[rnn_mode], layers, units, inputs, directions, skip)
