"""`plot_model`: a picture of a model's layers, as SVG."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.graph.interchange.drawing import DIRECTIONS, Box, _svg

if TYPE_CHECKING:
    from tapeflow.keras.engine.sequential import Sequential
    from tapeflow.keras.layers.core import Dense


class Picture:
    """An SVG picture of a model, which notebooks show."""

    def __init__(self, svg: str):
        self.data = svg

    def _repr_svg_(self):
        return self.data

    def __str__(self):
        return self.data


def model_to_dot(
    model: Sequential, show_shapes: bool = False, show_dtype: bool = False, show_layer_names: bool = True,
    rankdir: str = "TB", expand_nested: bool = False, dpi: int = 200, subgraph: bool = False,
    show_layer_activations: bool = False, show_trainable: bool = False, **kwargs,
):
    """Draw the layers of a model and how they are connected, each below what it reads.

    Args:
      model: a `keras.Model`.
      show_shapes: whether output shapes are shown.
      show_dtype: whether dtypes are shown.
      show_layer_names: whether the layers' names are shown.
      rankdir: where the arrows go: "TB" down, "BT" up, "LR" to the right, "RL" to the left.
      expand_nested: whether the layers of models inside are drawn.
      dpi: accepted; the picture is of lines, which have no dots.
      subgraph: must be False: a picture is no part of another one.
      show_layer_activations: whether activation functions are shown.
      show_trainable: whether it is shown which layers are trainable.
      **kwargs: none.

    Returns:
      A picture, which notebooks show; its text is SVG.

    Raises:
      ValueError: for another direction, for `subgraph`, and for unknown arguments.
    """
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
    if rankdir not in DIRECTIONS:
        raise ValueError(f"`rankdir` must be one of {DIRECTIONS}. Received: rankdir={rankdir!r}")
    if subgraph:
        raise ValueError("`subgraph=True` makes a part of a pydot graph; pictures are SVG here.")
    boxes = _boxes(model, show_shapes, show_dtype, show_layer_names, show_layer_activations,
                   show_trainable, expand_nested, "")  # fmt: skip
    return Picture(_svg(boxes, rankdir))


def plot_model(
    model: Sequential, to_file: Any = "model.svg", show_shapes: bool = False, show_dtype: bool = False,
    show_layer_names: bool = False, rankdir: str = "TB", expand_nested: bool = False, dpi: int = 200,
    show_layer_activations: bool = False, show_trainable: bool = False, **kwargs,
):
    """Write a picture of a model to a file as SVG, also where another ending is asked for.

    Args:
      model: the model, which is built.
      to_file: the file; None for none.
      show_shapes: whether output shapes are shown.
      show_dtype: whether dtypes are shown.
      show_layer_names: whether the layers' names are shown.
      rankdir: where the arrows go: "TB" down, "BT" up, "LR" to the right, "RL" to the left.
      expand_nested: whether the layers of models inside are drawn.
      dpi: accepted; the picture is of lines, which have no dots.
      show_layer_activations: whether activation functions are shown.
      show_trainable: whether it is shown which layers are trainable.
      **kwargs: `subgraph`, as that of `model_to_dot`.

    Returns:
      The picture, which notebooks show.

    Raises:
      ValueError: for a model that is not built.
    """
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by "
            "calling the model on a batch of data."
        )
    picture = model_to_dot(
        model, show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi,
        show_layer_activations=show_layer_activations, show_trainable=show_trainable,
        **kwargs,
    )  # fmt: skip
    if to_file is not None:
        root, ending = os.path.splitext(os.fspath(to_file))
        path = os.fspath(to_file) if ending == ".svg" else f"{root}.svg"
        replace_file(path, picture.data.encode())
    return picture


def _boxes(
    model: Sequential, shapes: bool, dtype: Any, names: bool, activations: bool, trainable: bool, nested: bool,
    prefix: str,
):
    network = getattr(model, "_network", None)
    boxes = []
    last = None
    for layer in getattr(model, "operations", model.layers):
        words = []
        if shapes:
            words.append(_shape(model, layer))
        if dtype:
            words.append(str(layer.dtype))
        if activations and hasattr(layer, "activation"):
            words.append(getattr(layer.activation, "__name__", str(layer.activation)))
        if trainable and layer.weights:
            words.append("trainable" if layer.trainable else "not trainable")
        title = f"{layer.name} ({type(layer).__name__})" if names else type(layer).__name__
        sources = [last] if network is None and last is not None else []
        if network is not None:
            nodes = [node for node in layer._nodes if node in network.depths]
            sources = [(prefix, id(p.layer)) for node in nodes for p in node.parents()]
        last = (prefix, id(layer))
        kind = "Placeholder" if type(layer).__name__ == "InputLayer" else "body" if getattr(
            layer, "layers", None) else ""  # fmt: skip
        boxes.append(Box(last, title, ", ".join(words), kind, sources))
        if nested and getattr(layer, "layers", None):
            inner = _boxes(
                layer, shapes, dtype, names, activations, trainable, nested, f"{prefix}{id(layer)}/"
            )
            boxes += [b._replace(sources=b.sources or [last]) for b in inner]
    return boxes


def _shape(model: Sequential, layer: Dense):
    found = model._shape_of_layer(layer)
    return "?" if found is None else str(nest.map_structure(lambda s: s, found))


boundaries(globals())
