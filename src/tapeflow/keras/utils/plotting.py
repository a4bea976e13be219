"""`plot_model`: a picture of a model's layers, by Graphviz or, without it, as SVG."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import DTypeLike
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.graph.interchange.drawing import DIRECTIONS, Box, _svg
from tapeflow.keras.utils.dot import DotWriter, has_graphviz, pydot_or_none

if TYPE_CHECKING:
    from tapeflow.keras.engine.sequential import Sequential
    from tapeflow.keras.layers.core.dense import Dense


class Picture:
    """An SVG picture of a model, which notebooks show."""

    def __init__(self, svg: str):
        self.data = svg

    def _repr_svg_(self):
        return self.data

    def __str__(self):
        return self.data


def model_to_dot(
    model: Any, show_shapes: bool = False, show_dtype: bool = False, show_layer_names: bool = True,
    rankdir: str = "TB", expand_nested: bool = False, dpi: int = 200, subgraph: bool = False,
    show_layer_activations: bool = False, show_trainable: bool = False, splines: str = "ortho", **kwargs: Any,
) -> Any:
    """Describe the layers of a model, and how they are connected, as a graph of pydot.

    Args:
      model: the model, which is built.
      show_shapes: whether shapes of inputs and outputs are shown.
      show_dtype: whether dtypes are shown.
      show_layer_names: whether the layers' names are shown.
      rankdir: where the arrows go: "TB" down, "BT" up, "LR" to the right, "RL" to the left.
      expand_nested: whether the layers of models inside are drawn.
      dpi: dots per inch of pictures of dots.
      subgraph: whether the result is a part for another graph.
      show_layer_activations: whether activation functions are shown.
      show_trainable: whether it is shown which layers are trainable.
      splines: how Graphviz draws the arrows: "ortho", "curved", "polyline", "spline" or "line".
      **kwargs: none.

    Returns:
      A `pydot.Dot`, with `subgraph` a `pydot.Cluster`.

    Raises:
      ImportError: if pydot is not installed.
      ValueError: for a model that is not built, and for unknown arguments.
    """
    _check_built(model)
    pydot = pydot_or_none()
    if pydot is None:
        raise ImportError("You must install pydot (`pip install pydot`) for model_to_dot to work.")
    _check_no_more(kwargs)
    writer = DotWriter(
        pydot, expand_nested, names=show_layer_names, shapes=show_shapes, dtype=show_dtype,
        activations=show_layer_activations, trainable=show_trainable,
    )  # fmt: skip
    return writer.cluster(model) if subgraph else writer.graph(model, rankdir, dpi, splines)


def plot_model(
    model: Any, to_file: Any = "model.png", show_shapes: bool = False, show_dtype: bool = False,
    show_layer_names: bool = False, rankdir: str = "TB", expand_nested: bool = False, dpi: int = 200,
    show_layer_activations: bool = False, show_trainable: bool = False, splines: str = "ortho", **kwargs: Any,
) -> Any:
    """Write a picture of a model to a file.

    pydot and Graphviz draw it where they are installed. Otherwise it is drawn without them, as SVG: for another ending
    than ".svg", the file beside it that has this one is written, and a message says so.

    Args:
      model: the model, which is built.
      to_file: the file; None for a picture in SVG that is only returned.
      show_shapes: whether output shapes are shown.
      show_dtype: whether dtypes are shown.
      show_layer_names: whether the layers' names are shown.
      rankdir: where the arrows go: "TB" down, "BT" up, "LR" to the right, "RL" to the left.
      expand_nested: whether the layers of models inside are drawn.
      dpi: dots per inch of pictures of dots.
      show_layer_activations: whether activation functions are shown.
      show_trainable: whether it is shown which layers are trainable.
      splines: how Graphviz draws the arrows, as in `model_to_dot`.
      **kwargs: none.

    Returns:
      The picture, which notebooks show. Of Graphviz's, that is an image of IPython, or None where it is not installed.

    Raises:
      ValueError: for a model that is not built, a direction that does not exist, and unknown arguments.
    """
    _check_built(model)
    _check_no_more(kwargs)
    if rankdir not in DIRECTIONS:
        raise ValueError(f"`rankdir` must be one of {DIRECTIONS}. Received: rankdir={rankdir!r}")
    pydot = None if to_file is None else pydot_or_none()
    if pydot is not None and has_graphviz(pydot):
        dot = model_to_dot(
            model, show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi,
            show_layer_activations=show_layer_activations, show_trainable=show_trainable, splines=splines,
        )  # fmt: skip
        return _drawn_by_graphviz(dot, os.fspath(to_file))
    boxes = _boxes(model, show_shapes, show_dtype, show_layer_names, show_layer_activations,
                   show_trainable, expand_nested, "")  # fmt: skip
    picture = Picture(_svg(boxes, rankdir))
    if to_file is not None:
        root, ending = os.path.splitext(os.fspath(to_file))
        if ending != ".svg":
            print(f"Without pydot and Graphviz, models are drawn as SVG: {root}.svg is written, not {to_file}.")
        replace_file(f"{root}.svg", picture.data.encode())
    return picture


def _check_built(model: Any) -> None:
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by "
            "calling the model on a batch of data."
        )


def _check_no_more(kwargs: dict[str, Any]) -> None:
    if kwargs.pop("layer_range", None) is not None:
        raise ValueError("Argument `layer_range` is no longer supported.")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs}")


def _drawn_by_graphviz(dot: Any, path: str) -> Any:
    """Writes the file in the format that its ending names; returns it as an image, where IPython is installed."""
    kind = os.path.splitext(path)[1][1:] or "png"
    dot.write(path, format=kind)
    if kind == "pdf":
        return None
    try:
        display = importlib.import_module("IPython.display")
    except ImportError:
        return None
    return (display.SVG if kind == "svg" else display.Image)(filename=path)


def _boxes(
    model: Sequential, shapes: bool, dtype: DTypeLike, names: bool, activations: bool, trainable: bool, nested: bool,
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
            nodes = [node for node in layer.inbound_nodes if node in network.depths]
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
