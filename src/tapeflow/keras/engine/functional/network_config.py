"""Functional models as plain data, and back: layers by name, and the calls that connect them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.added import AddLoss, AddMetric
from tapeflow.keras.engine.calling import signature_of
from tapeflow.keras.engine.functional import operations
from tapeflow.keras.engine.functional.network import first_number, network_of
from tapeflow.keras.engine.functional.op_layer import TFOpLambda
from tapeflow.keras.engine.functional.symbolic import KerasTensor, any_symbolic
from tapeflow.keras.registry import deserialize_in, to_config

_DESCRIBING = ("module", "class_name", "config", "registered_name")


def network_config(model, numbers=None):
    """The config of a functional model: layers with their calls, inputs and outputs.

    Args:
      numbers: the numbers of calls, by default those of Keras 2, which counts the making of a model in the model.
    """
    network = network_of(model)
    numbers = network.node_numbers() if numbers is None else numbers

    def reference(tensor):
        return [tensor.layer.name, numbers[tensor.node], tensor.index]

    layers = []
    for layer in network.layers:
        calls = [
            _call_config(node, reference)
            for node in layer.inbound_nodes
            if node in network.depths and node.parents()
        ]
        config = to_config(layer)
        layers.append({**config, "name": layer.name, "inbound_nodes": calls})
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": layers,
        **ends_config(model, reference),
    }


def ends_config(model, reference: Callable[..., Any]):
    """The references of the inputs and outputs of a functional model."""
    return {
        "input_layers": _references(model.input, reference),
        "output_layers": _references(model.output, reference),
    }


def _references(tensors: Sequence[Any] | dict[str, Any] | KerasTensor, reference: Callable[..., Any]):
    """References of tensors in their structure; one alone is in a list in Keras 2."""
    if isinstance(tensors, KerasTensor):
        return [reference(tensors)] if keras_2() else reference(tensors)

    def described(part: Sequence[Any] | dict[str, Any] | KerasTensor):
        if isinstance(part, dict):
            return {key: described(value) for key, value in part.items()}
        return reference(part) if isinstance(part, KerasTensor) else [described(value) for value in part]

    return described(tensors)


def _call_config(node, reference):
    """A call: its inputs as references, each with the keyword arguments of the call."""
    kwargs = dict(node.kwargs)
    signature = None
    if node.args:
        signature = signature_of(node.layer)
        for name, value in zip(signature.names[1:], node.args):
            kwargs[name] = value
    kwargs = {name: _plain(value, reference) for name, value in kwargs.items()}

    def entry(x: Tensor):
        if isinstance(x, KerasTensor):
            return [*reference(x), kwargs]
        return ["_CONSTANT_VALUE", -1, _plain(x, reference), kwargs]

    if isinstance(node.inputs, dict):
        return {key: entry(x) for key, x in node.inputs.items()}
    if isinstance(node.inputs, (list, tuple)):
        return [entry(x) for x in nest.flatten(node.inputs)]
    # Keras 2 calls an operation with what is written here: a list of one tensor would be another argument.
    return entry(node.inputs) if isinstance(node.layer, TFOpLambda) else [entry(node.inputs)]


def _plain(value: Tensor, reference):
    """A value that JSON can say; symbolic tensors as references."""
    if isinstance(value, KerasTensor):
        return reference(value)
    if isinstance(value, dict):
        return {key: _plain(item, reference) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [_plain(item, reference) for item in value]
    if isinstance(value, slice):
        return {"class_name": "__slice__", "start": _plain(value.start, reference),
                "stop": _plain(value.stop, reference), "step": _plain(value.step, reference)}  # fmt: skip
    if value is Ellipsis:
        return {"class_name": "__ellipsis__"}
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return {
            "class_name": "__tensor__",
            "config": {"value": value.tolist(), "dtype": value.dtype.name},
        }
    return value


def tensors_of(config: dict[str, Any], custom_objects=None):
    """(inputs, outputs, what is at the side) of the model that the config describes.

    Raises ValueError for loose ends.
    """

    layers, waiting = {}, []
    for data in config["layers"]:
        name = data.get("name") or data["config"]["name"]
        if operations.is_operation(data):
            layers[name] = operations.restore(data)
        else:
            layers[name] = deserialize_in(
                "keras.layers", {key: copy.deepcopy(data[key]) for key in _DESCRIBING if key in data},
                custom_objects,
            )
        waiting += [(name, call) for call in data.get("inbound_nodes", ())]

    # Numbers count the calls of this model: of a layer that was called before, as nested models are
    # by being made, only the calls that come now.
    # Keras 3, whose calls are dicts of arguments, counts from 0, and Keras 2 the making of models too.
    modern = any(isinstance(call, dict) and "args" in call for _, call in waiting)
    before = {
        name: 0 if _is_input(layer) else len(layer.inbound_nodes) - (0 if modern else first_number(layer))
        for name, layer in layers.items()
    }

    def find(reference):
        name, number, index = reference[:3]
        if name not in layers:
            raise ValueError(f"The config names a layer that it does not have: {name!r}")
        nodes = layers[name].inbound_nodes
        if before[name] + number >= len(nodes):
            return None
        return nest.flatten(nodes[before[name] + number].outputs)[index]

    while waiting:
        later = []
        for name, call in waiting:
            if not _make_call(layers[name], call, find):
                later.append((name, call))
        if len(later) == len(waiting):
            names = sorted({name for name, _ in later})
            raise ValueError(f"The config has calls that never get their inputs, of layers {names}")
        waiting = later

    def tensors(references: Sequence[Any] | dict[str, Any]):
        if isinstance(references, dict):
            return {key: tensors(value) for key, value in references.items()}
        if references and isinstance(references[0], str):
            found = find(references)
            if found is None:
                raise ValueError(f"The config names a call that it does not have: {references}")
            return found
        found = [tensors(reference) for reference in references]
        return found[0] if len(found) == 1 else found

    sides = [
        nest.flatten(node.outputs)[0]
        for layer in layers.values()
        if isinstance(layer, (AddLoss, AddMetric))
        for node in layer.inbound_nodes
    ]
    return tensors(config["input_layers"]), tensors(config["output_layers"]), sides


def _is_input(layer):
    return type(layer).__name__ == "InputLayer"


class _NotYet(Exception):
    """An input of a call is the output of a call that has not been made."""


def _make_call(layer: Any, call: dict[str, Any], find: Callable[..., Any]):
    """Calls the layer as the config says; False where an input is not there yet."""

    def tensor(reference: Sequence[int | str]):
        found = find(reference)
        if found is None:
            raise _NotYet
        return found

    def entry(item):
        return _value(item[2], tensor) if item[0] == "_CONSTANT_VALUE" else tensor(item)

    try:
        args = []
        if isinstance(call, dict) and set(call) <= {"args", "kwargs"} and "args" in call:
            # The form of Keras 3: the arguments as they were, with symbolic tensors by their history.
            inputs, *args = [_value(item, tensor) for item in call["args"]] or [None]
            kwargs = {n: v for n, v in (call.get("kwargs") or {}).items() if not (n == "mask" and v is None)}
            if kwargs.get("training", True) is None:
                del kwargs["training"]
        else:
            if isinstance(call, dict):
                inputs, first = {key: entry(item) for key, item in call.items()}, next(iter(call.values()))
            else:
                items = [call] if isinstance(call[0], str) else call
                inputs, first = [entry(item) for item in items], items[0]
                inputs = inputs[0] if len(inputs) == 1 else inputs
            kwargs = first[3] if len(first) > 3 else {}
        kwargs = {name: _value(value, tensor) for name, value in kwargs.items()}
    except _NotYet:
        return False
    if not any_symbolic(inputs, args, kwargs):
        # A call of constants is no part of a model: it would only run now.
        raise ValueError(f"The config calls the layer {layer.name!r} without any output of another layer: {call!r}")
    layer(inputs, *args, **kwargs)
    return True


def _value(value: Sequence[Any] | dict[str, Any] | int, tensor: Callable[..., Any]):
    """What `_plain` made of a value, turned back."""
    if isinstance(value, list):
        if value and value[0] == "_KERAS_TENSOR":
            return tensor(value[1:])
        if [type(item) for item in value] == [str, int, int]:  # as Keras 2 names tensors among keyword arguments
            return tensor(value)
        return [_value(item, tensor) for item in value]
    if isinstance(value, tuple):
        return tuple(_value(item, tensor) for item in value)
    if isinstance(value, dict):
        kind = value.get("class_name")
        if kind == "__slice__" or value.keys() == {"start", "stop", "step"}:  # the second as Keras 2 writes it
            parts = value.get("config", value)
            return slice(*(_value(parts[part], tensor) for part in ("start", "stop", "step")))
        if kind == "__ellipsis__":
            return Ellipsis
        if kind == "__keras_tensor__":
            return tensor(value["config"]["keras_history"])
        if kind == "__tuple__":
            return tuple(_value(item, tensor) for item in value["config"]["value"])
        if kind in ("__tensor__", "__numpy__"):
            return convert_to_tensor(value["config"]["value"], value["config"]["dtype"])
        return {key: _value(item, tensor) for key, item in value.items()}
    return value
