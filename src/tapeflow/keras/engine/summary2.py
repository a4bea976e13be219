"""`model.summary()` of Keras 2: columns without borders, a row for each layer, boxes around models in models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.keras.engine.summary import (
    connections,
    count,
    memory,
    readable,
    shape_of_calls,
    within,
)

if TYPE_CHECKING:
    from tapeflow.keras.engine.base_layer import Layer
    from tapeflow.keras.engine.model import Model

_CHAIN = (65, (0.45, 0.85, 1.0))
_CONNECTED = (98, (0.3, 0.6, 0.7, 1.0))
# After these a cell goes on in the next line.
_ENDS = ("),", "},", "],", "',")


def lines_of_keras_2(model: Model, line_length, positions, expand_nested, show_trainable, layer_range):
    """The lines of the table; arguments as for `Model.summary`."""
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by calling the model on "
            "a batch of data."
        )
    network = getattr(model, "_network", None)
    connected = network is not None and not network.is_chain()
    width, given = _CONNECTED if connected else _CHAIN
    width = line_length or width
    positions = list(positions or given)
    if positions[-1] <= 1:
        positions = [int(width * position) for position in positions]
    titles = ["Layer (type)", "Output Shape", "Param #", *(["Connected to"] if connected else [])]
    if show_trainable:
        width += 11
        positions.append(width)
        titles.append("Trainable")

    def fields(layer: Layer, level: int):
        found = [f"{layer.name} ({type(layer).__name__})", _shape(model, layer), _parameters(layer)]
        if connected:
            found.append("" if level else connections(network, layer, quoted=True))
        return [*found, "Y" if layer.trainable else "N"] if show_trainable else found

    yield f'Model: "{model.name}"'
    yield "_" * width
    yield from _row(titles, positions, 0)
    yield "=" * width
    for layer in within(model.layers, layer_range):
        yield from _rows(layer, fields, positions, width, expand_nested)
    yield "=" * width
    trainable, other = model.trainable_weights, model.non_trainable_weights
    for title, weights in (("Total", trainable + other), ("Trainable", trainable), ("Non-trainable", other)):
        yield f"{title} params: {count(weights)} ({readable(memory(weights), 'Byte')})"
    yield "_" * width


def _rows(layer: Layer, fields, positions, width: int, expand, level: int = 0, last: bool = False):
    yield from _row(fields(layer, level), positions, level)
    inner = getattr(layer, "layers", None) if expand else None
    bar = "|" * level
    if inner:
        yield f"{bar}|{'¯' * (width - 2 * level - 2)}|{bar}"
        for each in inner:
            yield from _rows(each, fields, positions, width, expand, level + 1, each is inner[-1])
        yield f"{bar}{'¯' * (width - 2 * level)}{bar}"
    elif not last:
        yield f"{bar}{' ' * (width - 2 * level)}{bar}"


def _row(fields, positions, level: int):
    """The lines of one row: of each cell what fits, then the rest below it."""
    left = [str(field) for field in fields]
    bar = "|" * level
    while any(left):
        line, start = bar + " ", 0
        for i, (text, end) in enumerate(zip(left, positions)):
            gap = 2 if i < len(positions) - 1 else 0
            shown = text[: end - start - gap - (0 if i else level + 1)]
            breaks = [shown.find(mark) + len(mark) for mark in _ENDS if mark in shown]
            shown = shown[: min(breaks)] if breaks else shown
            left[i] = text[len(shown) :]
            line = (line + shown + " " * gap).ljust(end - (0 if gap else level))
            start = end
        yield line + bar


def _shape(model: Model, layer: Layer):
    find = getattr(model, "_shape_of_layer", None)
    shape = shape_of_calls(layer) if find is None or layer not in model.layers else find(layer)
    return "multiple" if shape is None else str(shape)


def _parameters(layer: Layer):
    if not layer.built and not getattr(layer, "_is_graph_network", False):
        return "0 (unused)"
    return str(layer.count_params())
