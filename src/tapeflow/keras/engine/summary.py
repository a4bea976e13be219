"""`model.summary()`: a table of layers, output shapes and parameters."""

from __future__ import annotations

from itertools import pairwise

from tapeflow.core import nest


def print_summary(model, line_length=None, print_fn=None):
    """Prints the table by print_fn, one call per line."""
    out = print if print_fn is None else print_fn
    width = line_length or 65
    columns = [0, int(width * 0.45), int(width * 0.85), width]
    out(f'Model: "{model.name}"')
    out("_" * width)
    _row(["Layer (type)", "Output Shape", "Param #"], columns, out)
    out("=" * width)
    for layer in model.layers:
        fields = [f"{layer.name} ({type(layer).__name__})", _shape(layer), _parameters(layer)]
        _row(fields, columns, out)
        out(" " * width)
    out("=" * width)
    trainable = _count(model.trainable_weights)
    other = _count(model.non_trainable_weights)
    sizes = [_memory(w) for w in (model.trainable_weights, model.non_trainable_weights)]
    out(f"Total params: {trainable + other} ({_readable(sum(sizes))})")
    out(f"Trainable params: {trainable} ({_readable(sizes[0])})")
    out(f"Non-trainable params: {other} ({_readable(sizes[1])})")
    out("_" * width)


def _row(fields, columns, out):
    left = [str(field) for field in fields]
    while any(left):
        line = ""
        for i, (start, end) in enumerate(pairwise(columns)):
            if i == 0:
                line += " "
            room = end - max(start, 1) - (2 if end < columns[-1] else 0)
            line = (line + left[i][:room]).ljust(end)
            left[i] = left[i][room:]
        out(line)


def _shape(layer):
    nodes = layer._nodes
    if nodes:
        shapes = [tuple(t.shape.as_list()) for t in nest.flatten(nodes[-1].outputs)]
        return str(shapes[0] if len(shapes) == 1 else shapes)
    return "multiple"


def _parameters(layer):
    return str(layer.count_params()) if layer.built else "0 (unused)"


def _count(weights):
    return sum(weight.shape.num_elements() for weight in weights)


def _memory(weights):
    return sum(weight.shape.num_elements() * weight.dtype.size for weight in weights)


def _readable(size):
    for unit in ("Byte", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} TB"
