"""Copies of models, with new layers and new weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras.engine.files.saving import copy_of
from tapeflow.keras.engine.functional.model import Functional, takes_tensors
from tapeflow.keras.engine.functional.network import network_of
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.sequential import Sequential, stack_of
from tapeflow.keras.layers import InputLayer


def clone_model(
    model: Sequential, input_tensors=None, clone_function=None, call_function=None, recursive: bool = False,
    **kwargs,
):
    """Make a model of new layers with new weights, made as those of a functional or Sequential model are.

    Args:
      model: a `keras.Model`; in Keras 3 the new one is compiled as it is.
      input_tensors: symbolic tensors for its inputs; None for new ones.
      clone_function: a function of a layer that gives the new one; None for a layer of the same config.
      call_function: a function of a new layer and the arguments of a call, which gives its outputs; None for the call
        of the layer. For functional models only.
      recursive: whether models inside are cloned in the same way, not as layers.
      **kwargs: `cache`, a dict of new layers by the `id` of the old ones.

    Returns:
      The new model.

    Raises:
      ValueError: for subclassed models, and for arguments that do not fit the kind of model.
    """

    made_by_id = kwargs.pop("cache", {})
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs)}")

    def copy(layer):
        if id(layer) not in made_by_id:
            if recursive and isinstance(layer, (Sequential, Functional)):
                calling = None if isinstance(layer, Sequential) else call_function
                made = clone_model(layer, None, clone_function, calling, True, cache=made_by_id)
            elif isinstance(layer, InputLayer):
                made = copy_of(layer)
            else:
                made = (clone_function or copy_of)(layer)
            made_by_id[id(layer)] = made
        return made_by_id[id(layer)]

    if isinstance(model, Sequential):
        if call_function is not None:
            raise ValueError(f"`call_function` is for functional models, not for Sequential ones: {call_function}")
        made = _clone_sequential(model, copy, input_tensors)
    elif isinstance(model, Functional):
        made = _clone_functional(model, copy, input_tensors, call_function)
    else:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclassed model "
            f"instead: {model}"
        )
    if model.compiled and not keras_2():
        made.compile_from_config(model.get_compile_config())
    return made


def _clone_sequential(model, copy: Callable[..., Any], input_tensors):
    made = Sequential(name=model.name)
    layers = stack_of(model)
    if input_tensors is not None:
        given = nest.flatten(input_tensors)
        if len(given) != 1 or not isinstance(given[0], KerasTensor):
            raise ValueError(f"`input_tensors` must be one KerasTensor for a Sequential model, got {input_tensors}")
        made.add(given[0])
        layers = [layer for layer in layers if not isinstance(layer, InputLayer)]
    for layer in layers:
        made.add(copy(layer))
    return made


def _clone_functional(model, copy: Callable[..., Any], input_tensors, call_function):
    copies = {layer: copy(layer) for layer in model.operations}
    values = {}
    given = nest.flatten(input_tensors) if input_tensors is not None else None
    for i, tensor in enumerate(model.inputs):
        values[id(tensor)] = copies[tensor.layer].output if given is None else given[i]

    def value_of(leaf: KerasTensor):
        return values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf

    for node in network_of(model).calls:
        arguments = nest.map_structure(value_of, (node.inputs, *node.args))
        options = nest.map_structure(value_of, node.kwargs)
        layer = copies[node.layer]
        outputs = call_function(layer, *arguments, **options) if call_function else layer(*arguments, **options)
        for tensor, value in zip(nest.flatten(node.outputs), nest.flatten(outputs)):
            values[id(tensor)] = value
    made = type(model) if takes_tensors(type(model)) else Functional
    return made(
        nest.map_structure(value_of, model.input),
        nest.map_structure(value_of, model.output),
        name=model.name,
    )


boundaries(globals())
