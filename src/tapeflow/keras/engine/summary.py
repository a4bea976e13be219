"""`model.summary()`: a table of layers, output shapes, parameters and, between layers, connections."""

from __future__ import annotations

import re

from tapeflow.core import nest

_COLUMNS = ("Layer (type)", "Output Shape", "Param #", "Connected to", "Trainable")
# Where a line may end although there is room: after a part of a list.
_ENDS = ("),", "},", "],", "',")


def print_summary(
    model,
    line_length=None,
    print_fn=None,
    positions=None,
    expand_nested=False,
    show_trainable=False,
    layer_range=None,
):
    """Prints the table by print_fn, one call per line. See `Model.summary`."""
    _Table(model, line_length, print_fn, positions, expand_nested, show_trainable).print(
        layer_range
    )


class _Table:
    def __init__(self, model, width, print_fn, positions, expand_nested, show_trainable):
        self.model, self.out = model, print if print_fn is None else print_fn
        self.network = getattr(model, "_network", None)
        self.connected = self.network is not None and not self.network.is_chain()
        self.numbers = self.network.node_numbers() if self.connected else {}
        self.expand_nested, self.show_trainable = expand_nested, show_trainable
        self.width = width or (98 if self.connected else 65)
        positions = positions or ([0.3, 0.6, 0.70, 1.0] if self.connected else [0.45, 0.85, 1.0])
        if positions[-1] <= 1:
            positions = [int(self.width * part) for part in positions]
        self.positions = list(positions)
        self.titles = list(_COLUMNS[: 4 if self.connected else 3])
        if show_trainable:
            self.width += 11
            self.positions.append(self.width)
            self.titles.append(_COLUMNS[4])

    def print(self, layer_range):
        self.out(f'Model: "{self.model.name}"')
        self.out("_" * self.width)
        self._row(self.titles)
        self.out("=" * self.width)
        for layer in _within(self.model.layers, layer_range):
            self._layer(layer)
        self.out("=" * self.width)
        trainable, other = self.model.trainable_weights, self.model.non_trainable_weights
        for title, weights in (
            ("Total", trainable + other), ("Trainable", trainable), ("Non-trainable", other),
        ):  # fmt: skip
            self.out(f"{title} params: {_count(weights)} ({_readable(_memory(weights))})")
        self.out("_" * self.width)

    def _layer(self, layer, level=0, last=False):
        unbuilt = not layer.built and getattr(layer, "_network", None) is None
        fields = [
            f"{layer.name} ({type(layer).__name__})",
            self._shape(layer),
            "0 (unused)" if unbuilt else layer.count_params(),
        ]
        if self.connected:
            fields.append(self._connections(layer))
        if self.show_trainable:
            fields.append("Y" if layer.trainable else "N")
        self._row(fields, level)
        inner = getattr(layer, "layers", None) if self.expand_nested else None
        if inner:
            self._rule("¯", level + 1, level)
            for i, nested in enumerate(inner):
                self._layer(nested, level + 1, i == len(inner) - 1)
            self._rule("¯", level, level)
        if not (last or inner):
            self._rule(" ", level, level)

    def _rule(self, sign, bars, level):
        room = self.width - 2 * bars
        self.out("|" * bars + sign * room + "|" * bars)

    def _shape(self, layer):
        shape = self.model._shape_of_layer(layer)
        return "multiple" if shape is None else shape

    def _connections(self, layer):
        nodes = [node for node in layer._nodes if node in self.network.depths]
        return [
            f"{parent.layer.name}[{parent.layer._nodes.index(parent.node)}][{parent.index}]"
            for node in nodes
            for parent in node.parents()
        ]

    def _row(self, fields, level=0):
        left = [str(field) for field in fields]
        final = len(self.positions) - 1
        while any(left):
            line = ""
            for i, end in enumerate(self.positions):
                start = self.positions[i - 1] if i else 0
                room = end - start - (0 if i == final else 3) - (level if i == 0 else 0)
                text = left[i][:room]
                stops = [text.find(stop) + len(stop) for stop in _ENDS if stop in text]
                text = text[: min(stops, default=room)]
                left[i] = left[i][len(text) :]
                if i == 0:
                    line = "|" * level + " "
                line += text + ("" if i == final else "  ")
                line = line.ljust(end - (level if i == final else 0))
            self.out(line + "|" * level)


def _within(layers, layer_range):
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
        for node in layer._nodes
    }
    if len(shapes) != 1:
        return None
    outputs = layer._nodes[0].outputs
    shape = nest.map_structure(lambda t: tuple(t.shape.as_list()), outputs)
    return [shape] if type(layer).__name__ == "InputLayer" else shape


def _count(weights):
    return sum(weight.shape.num_elements() for weight in weights)


def _memory(weights):
    return sum(weight.shape.num_elements() * weight.dtype.size for weight in weights)


def _readable(size):
    for unit in ("Byte", "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            break
        size /= 1024
    return f"{size:.2f} {unit}"
