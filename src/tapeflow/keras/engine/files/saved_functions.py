"""The functions of a model that a SavedModel takes along: its call, and its signature.

In Keras 2 the signature has the names of the layers.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tracking.trackable import AutoTrackable
from tapeflow.function.function import Function
from tapeflow.keras.noise import states_of_generators

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.model import Functional
    from tapeflow.keras.engine.sequential import Sequential


def functions_of(model: Functional | Sequential):
    """The functions by name; none for a model that was not called yet.

    Args:
      model: its first inputs, or its symbolic ones, say what the functions take.
    """
    specs = input_specs(model)
    if specs is None:
        return {}

    def call(inputs: TensorLike | dict[str, Any], training: bool | Tensor = False):
        return model(inputs, training=training)

    def _default_save_signature(inputs: TensorLike | dict[str, Any]):
        outputs = model(inputs, training=False)
        flat = nest.flatten(outputs)
        if not keras_2() and isinstance(outputs, dict) and len(outputs) == len(flat):
            return outputs
        return dict(zip(_output_names(model, len(flat)), flat, strict=True))

    called = Function(call, autograph=False)
    for training in (False, True):
        called.get_concrete_function(specs, training=training)
    signature = Function(_default_save_signature, input_signature=[specs], autograph=False)
    return {"__call__": called, "_default_save_signature": signature, **_seed_states(model)}


def functions_of_layer(layer: Any, losses: Callable[[], list[Any]]) -> dict[str, Any]:
    """What Keras 2 calls a layer by whose class it does not know: its call, which gives outputs and added losses.

    Args:
      layer: one of a functional model; of others there are none, and none where the call cannot be traced.
      losses: it gives those that the last call added.
    """
    names = list(inspect.signature(layer.call).parameters)
    try:
        given = layer.input
    except (AttributeError, RuntimeError):
        return {}
    if names[1:] not in ([], ["training"]):
        return {}
    shapes = [None if x.shape.rank is None else [None, *x.shape.as_list()[1:]] for x in nest.flatten(given)]
    flat = [TensorSpec(shape, x.dtype, "inputs") for shape, x in zip(shapes, nest.flatten(given), strict=True)]
    specs = nest.pack_sequence_as(given, flat)

    def call(inputs):
        return with_losses(layer(inputs))

    def with_losses(outputs):
        return outputs, losses()

    def call_with_training(inputs, training=False):
        return with_losses(layer(inputs, training=training))

    settings: list[dict[str, Any]] = [{"training": False}, {"training": True}] if names[1:] else [{}]
    function = Function(call_with_training if names[1:] else call, autograph=False)
    try:
        for each in settings:
            function.get_concrete_function(specs, **each)
    except Exception as error:  # a layer of the program may raise anything
        warnings.warn(f"The call of layer {layer.name} is not saved: {error}", stacklevel=2)
        return {}
    held = AutoTrackable()
    held.call_and_return_conditional_losses = function
    return {"call_and_return_all_conditional_losses": function, "keras_api": held}


def _seed_states(model: Functional | Sequential):
    """The states of seed generators: the call draws from them, though checkpoints do not have them."""
    found = [s for layer in model._all_layers() for s in states_of_generators(vars(layer).values())]
    return {f"_seed_generator_state_{i}": state for i, state in enumerate(found)}


def input_specs(model: Functional | Sequential):
    """Specs of what a model takes, batches of any size; None if it is not known."""
    inputs = getattr(model, "_inputs", None) if hasattr(model, "_network") else None
    if inputs is None:
        inputs = model.__dict__.get("_first_inputs")
    if inputs is None:
        inputs = getattr(model, "inputs", None)
        inputs = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else inputs
    flat = [] if inputs is None else nest.flatten(inputs)
    if not flat:
        return None
    names = _input_names(model, inputs, len(flat))
    specs = [
        TensorSpec(None if x.shape.rank is None else [None, *x.shape.as_list()[1:]], x.dtype, name)
        for x, name in zip(flat, names, strict=True)
    ]
    return nest.pack_sequence_as(inputs, specs)


def _input_names(model: Functional | Sequential, inputs: Any, count: int):
    if not keras_2():
        return ["inputs", *(f"inputs_{i}" for i in range(1, count))]
    if isinstance(inputs, dict):
        return sorted(inputs)
    names = getattr(model, "input_names", None)
    if names is not None and len(names) == count:
        return names
    return [f"input_{i + 1}" for i in range(count)]


def _output_names(model: Functional | Sequential, count: int):
    if not keras_2():
        return [f"output_{i}" for i in range(count)]
    names = getattr(model, "output_names", None)
    if names is not None and len(names) == count:
        return names
    return [f"output_{i + 1}" for i in range(count)]

