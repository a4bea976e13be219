"""The outputs of layers for symbolic tensors."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.functional.inference import infer
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.shapes import as_shapes


def symbolic_outputs(
    layer: Any, facts: tuple[bool, Any, bool, bool], call: Callable[..., Any], names: Sequence[str], inputs: Any,
    args: Sequence[Any], kwargs: dict[str, Any],
):  # fmt: skip
    """KerasTensors for the outputs of a layer.

    Where `compute_output_shape` says the shapes, as one that a program defines does, the layer is called only to build
    the layers in it; other layers are called.

    Args:
      layer: the layer.
      facts: whether it may only be called eagerly, the dtype that it computes in, whether layers in it are not built,
        and whether its `compute_output_shape` says the shapes.
      call: how it is called.
      names: those of the arguments of its `call`.
      inputs, args, kwargs: the arguments.

    Raises NotImplementedError for a layer made with `dynamic=True` that does not define `compute_output_shape`.
    """
    dynamic, dtype, unbuilt, says_shape = facts
    if dynamic:
        if not says_shape:
            raise NotImplementedError(
                "You are passing KerasTensor(s) to a layer that was made with `dynamic=True`, whose output "
                "shapes are unknown unless it defines `compute_output_shape`."
            )
        shape = layer.compute_output_shape(nest.map_structure(lambda x: TensorShape(x.shape), inputs))
        return nest.map_structure(lambda s: KerasTensor.unnamed(s, dtype), as_shapes(shape))
    if keras_2() or not says_shape:
        return infer(call, inputs, args, kwargs)
    if unbuilt:
        _build_inner_layers(layer, lambda: infer(call, inputs, args, kwargs))
    shapes = _shapes_by_argument(type(layer).compute_output_shape, names, inputs, args, kwargs)
    return _specs(layer.compute_output_shape(*shapes[0], **shapes[1]), dtype, layer)


def _build_inner_layers(layer: Any, run: Callable[[], Any]):
    """Calls a layer for what that builds. A call that cannot be traced is a warning, as in Keras 3."""
    try:
        run()
    except Exception as error:
        warnings.warn(
            f"Layer '{layer.name}' has layers that are not built, and tracing its call to build them failed: "
            f"{error}. Give it a `build` that builds them.",
            stacklevel=2,
        )


@functools.cache
def _arguments(function: Callable[..., Any]):
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _shapes_by_argument(function, names, inputs, args, kwargs):
    """What a `compute_output_shape` is given: the shape of the inputs, or shapes by the names of `call`'s arguments."""
    wanted = _arguments(function)
    if len(wanted) < 2 or not all(name.endswith("_shape") for name in wanted):
        return (_shapes_of(inputs),), {}
    given = {**dict(zip(names, (inputs, *args))), **kwargs}
    given = {name: given.get(name.removesuffix("_shape")) for name in wanted}
    if given[wanted[0]] is None:
        return (_shapes_of(inputs),), {}
    return (), {name: _shapes_of(x) for name, x in given.items() if x is not None}


def _shapes_of(values: Any):
    def shape(x: Any):
        known = TensorShape(x.shape) if hasattr(x, "shape") else TensorShape(None)
        return None if known.rank is None else tuple(known.as_list())

    if isinstance(values, dict):
        return {name: _shapes_of(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [_shapes_of(value) for value in values]
    return shape(values)


def _specs(shapes: Any, dtype: Any, layer: Any):
    """KerasTensors for a structure of shapes."""
    if isinstance(shapes, dict):
        return {name: _specs(each, dtype, layer) for name, each in shapes.items()}
    if isinstance(shapes, (list, tuple)) and any(isinstance(x, (list, tuple, dict, TensorShape)) for x in shapes):
        found = [_specs(each, dtype, layer) for each in shapes]
        return found if isinstance(shapes, list) else tuple(found)
    try:
        return KerasTensor.unnamed(TensorShape(shapes), dtype)
    except (TypeError, ValueError):
        raise ValueError(
            f"Method `compute_output_shape()` of layer {type(layer).__name__} is returning a type that cannot be "
            f"interpreted as a shape. It should return a shape tuple. Received: {shapes}"
        ) from None
