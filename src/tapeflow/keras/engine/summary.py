"""`model.summary()`: a table of layers, output shapes, parameters and, between layers, connections."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.display import notebook
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.optimizers.variables import in_order

if TYPE_CHECKING:
    from tapeflow.keras.engine.sequential import Sequential
    from tapeflow.keras.layers.core.dense import Dense
    from tapeflow.keras.layers.core.dropout import Dropout

_CHAIN = (88, (0.45, 0.80, 1.0))
_CONNECTED = (108, (0.3, 0.56, 0.74, 1.0))


def print_summary(
    model: Any, line_length=None, print_fn=None, positions=None, expand_nested: bool = False,
    show_trainable: bool = False, layer_range=None,
):
    """Prints the table by print_fn, one call per line. See `Model.summary`."""
    out = print if print_fn is None else print_fn
    if keras_2():
        from tapeflow.keras.engine.summary2 import lines_of_keras_2

        lines = lines_of_keras_2(model, line_length, positions, expand_nested, show_trainable, layer_range)
    else:
        lines = _Table(model, line_length, positions, expand_nested, show_trainable).lines(layer_range)
    for line in lines:
        out(line)


def to_html(model: Any) -> str:
    """What notebooks show of a model: the table of `print_summary`, with the layers of models inside."""
    return _Table(model, _CONNECTED[0], None, True, False).html()


class _Table:
    def __init__(self, model: Any, width: int | None, positions, expand_nested: bool, show_trainable: bool):
        self.model = model
        self.network = getattr(model, "_network", None)
        self.connected = self.network is not None and not self.network.is_chain()
        self.expand_nested, self.show_trainable = expand_nested, show_trainable
        longest, given = _CONNECTED if self.connected else _CHAIN
        positions = list(positions or given)
        if positions[-1] > 1:  # columns were given, not parts of the line
            width = width or positions[-1]
            positions = [p / positions[-1] for p in positions]
        self.titles = ["Layer (type)", "Output Shape", "Param #"]
        self.sides = ["left", "left", "right"]
        if self.connected:
            self.titles.append("Connected to")
            self.sides.append("left")
        if show_trainable:
            longest += 6
            positions = [p * 0.9 for p in positions] + [1.0]
            self.titles.append("Trainable")
            self.sides.append("center")
        del positions[len(self.titles) :]
        width = width or min(longest, shutil.get_terminal_size().columns - 4)
        self.widths = _widths(positions, width)

    def lines(self, layer_range):
        yield f'Model: "{self.model.name}"'
        yield self._rule("┏", "━", "┳", "┓")
        yield from self._row(self.titles, "┃", header=True)
        yield self._rule("┡", "━", "╇", "┩")
        first = True
        for fields in self._rows(self.model, within(_parts(self.model), layer_range), 0):
            if not first:
                yield self._rule("├", "─", "┼", "┤")
            first = False
            yield from self._row(fields, "│")
        yield self._rule("└", "─", "┴", "┘")
        yield from self.totals()

    def html(self):
        """The table and the totals below it, as a notebook shows them."""
        rows = self._rows(self.model, _parts(self.model), 0)
        totals = "".join(notebook.caption(line.strip()) for line in self.totals())
        return notebook.caption(f'Model: "{self.model.name}"') + notebook.table(rows, self.titles) + totals

    def totals(self):
        """How many parameters the model and its optimizer have."""
        trainable, other = self.model.trainable_weights, self.model.non_trainable_weights
        optimizer = getattr(self.model, "optimizer", None)
        state = []
        if getattr(optimizer, "_known", None) is not None and hasattr(optimizer, "build"):
            inner = getattr(optimizer, "inner_optimizer", None)
            state = in_order(optimizer) if inner is None else list(optimizer.variables)
        elif optimizer is not None:
            state = _made_so_far(optimizer)
        titles = [
            ("Total", trainable + other + state), ("Trainable", trainable), ("Non-trainable", other),
        ]  # fmt: skip
        for title, weights in titles + ([("Optimizer", state)] if state else []):
            yield f" {title} params: {count(weights):,} ({readable(memory(weights))})"

    def _rows(self, owner: Any, layers: Sequence[Any], level: int):
        for layer in layers:
            yield self._fields(owner, layer, level)
            inner = _parts(layer) if self.expand_nested else None
            if inner:
                yield from self._rows(layer, inner, level + 1)

    def _fields(self, owner: Any, layer: Layer, level: int):
        name = f"{layer.name} ({type(layer).__name__})"
        if level:
            name = "   " * level + "└ " + name
        unbuilt = not layer.built and getattr(layer, "_network", None) is None
        fields = [
            name, self._shape(owner, layer), "0 (unbuilt)" if unbuilt else f"{layer.count_params():,}",
        ]  # fmt: skip
        if self.connected:
            fields.append("-" if level else connections(self.network, layer))
        if self.show_trainable:
            fields.append(("Y" if layer.trainable else "N") if layer.weights else "-")
        return fields

    @staticmethod
    def _shape(owner: Any, layer: Layer):
        find = getattr(owner, "_shape_of_layer", None)
        shape = shape_of_calls(layer) if find is None else find(layer)
        if isinstance(shape, list) and len(shape) == 1:
            shape = shape[0]
        if isinstance(shape, tuple) and any(isinstance(part, (tuple, list)) for part in shape):
            shape = list(shape)  # several outputs
        return "?" if shape is None else str(shape)

    def _rule(self, left: str, line: str, cross: str, right: str):
        return left + cross.join(line * width for width in self.widths) + right

    def _row(self, fields: Sequence[str], bar: str, header: bool = False):
        cells = [
            [_cut(field, width - 2)] if header else _wrapped(field, width - 2)
            for field, width in zip(fields, self.widths)
        ]
        for i in range(max(map(len, cells))):
            parts = []
            for cell, width, side in zip(cells, self.widths, self.sides):
                text, room = cell[i] if i < len(cell) else "", width - 2
                placed = {"left": text.ljust, "right": text.rjust, "center": text.center}[side]
                parts.append(f" {placed(room)} ")
            yield bar + bar.join(parts) + bar


def connections(network, layer: Layer, quoted: bool = False):
    """The outputs of layers that the calls of a layer read, as "dense[0][0]"; with `quoted` as a list of texts."""
    found = [
        f"{parent.layer.name}[{parent.layer.inbound_nodes.index(parent.node)}][{parent.index}]"
        for node in layer.inbound_nodes
        if node in network.depths
        for parent in node.parents()
    ]
    return str(found) if quoted else ", ".join(found) or "-"


def _widths(positions: Sequence[float], width: int):
    """The widths of the columns, with a blank on each side, so that the table is `width` wide."""
    widths, start = [], 0
    for position in positions:
        widths.append(int(position * width) - start)
        start += widths[-1]
    if min(widths) < 4:
        raise ValueError("Insufficient console width to print summary.")
    widths = [w + 2 for w in widths]
    excess = sum(widths) + len(widths) + 1 - width
    for i in range(len(widths)):
        less = round(excess / (len(widths) - i))
        widths[i] -= less
        excess -= less
    return widths


def _cut(text: str, room: int):
    return text if len(text) <= room else text[: room - 1] + "…"


def _wrapped(text: str, room: int):
    """The lines of a text, broken between words; the words that are too long are cut."""
    lines, line = [], ""
    for part in re.findall(r"\s*\S+", text):
        if line and len(line) + len(part) > room:
            lines.append(line)
            part = part.lstrip()
            line = ""
        line += part
    return [_cut(each, room) for each in [*lines, line]]


def _parts(model):
    """What a model is made of, with the operations of a functional one; None of other layers."""
    parts = getattr(model, "operations", None)
    return getattr(model, "layers", None) if parts is None else parts


def _made_so_far(optimizer):
    """The variables of an optimizer, without making any."""
    state = optimizer.__dict__
    if state.get("_iterations") is None:
        return []
    rate = state.get("_hyper_variables", {}).get("learning_rate")
    return [*optimizer.weights, *([] if rate is None else [rate])]


def within(layers: Sequence[Any], layer_range):
    """The layers from the first to the last name (or pattern) of layer_range."""
    if layer_range is None:
        return layers
    if len(layer_range) != 2:
        raise ValueError(
            f"layer_range must be a list or tuple of length 2. Received: layer_range={layer_range}"
        )
    names = [layer.name for layer in layers]
    first = [i for i, name in enumerate(names) if re.match(layer_range[0], name)]
    last = [i for i, name in enumerate(names) if re.match(layer_range[1], name)]
    if not first or not last:
        raise ValueError(
            "Passed layer_names do not match the layer names in the model. Received: "
            f"layer_range={layer_range}"
        )
    low, high = min(first), max(last)
    return layers[min(low, high) : max(low, high) + 1]


def shape_of_calls(layer):
    """The shape of the outputs of a layer's symbolic calls; None where there are none, or several."""
    shapes = {
        str(nest.map_structure(lambda t: tuple(t.shape.as_list()), node.outputs)): node
        for node in layer.inbound_nodes
    }
    if not shapes and getattr(layer, "_is_graph_network", False):
        return layer.output_shape
    if not shapes and not keras_2():
        return _shape_of_built(layer)
    if len(shapes) != 1:
        return None
    outputs = layer.inbound_nodes[0].outputs
    shape = nest.map_structure(lambda t: tuple(t.shape.as_list()), outputs)
    return [shape] if type(layer).__name__ == "InputLayer" else shape


def _shape_of_built(layer: Sequential | Dense | Dropout):
    """The shape of the outputs for the inputs that a layer was built for; None where it is not known."""
    seen = layer.__dict__.get("_input_shape_seen")
    if seen is None or getattr(layer.compute_output_shape, "__func__", None) is Layer.compute_output_shape:
        return None  # the base class would trace the layer
    shapes = as_shapes(layer.compute_output_shape(seen))
    return nest.map_structure(lambda shape: tuple(shape.as_list()), shapes)


def count(weights):
    return sum(weight.shape.num_elements() for weight in weights)


def memory(weights):
    return sum(weight.shape.num_elements() * weight.dtype.size for weight in weights)


def readable(size, smallest: str = "B"):
    """A number of bytes in words: "288.00 B"."""
    for unit in (smallest, "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            break
        size /= 1024
    return f"{size:.2f} {unit}"
