"""Models as data in the form of Keras 3: their classes, and the calls of functional models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.release import keras_2
from tapeflow.keras.engine.functional import operations
from tapeflow.keras.engine.functional.model import Functional
from tapeflow.keras.engine.functional.network import network_of
from tapeflow.keras.engine.functional.network_config import ends_config
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.saving import serialization


def serialize_model(model):
    """A model's config, with what it was built and compiled for."""
    if keras_2() and type(model) is Functional:
        return {
            "module": "tf_keras.src.engine.functional", "class_name": "Functional",
            "config": serialization.plain_config(model.get_config()), "registered_name": "Functional",
            "compile_config": serialization.compile_config(model),
        }  # fmt: skip
    return serialization.serialize_keras_object(model) if not isinstance(model, Functional) else {
        "module": "keras.src.models.functional" if type(model) is Functional else None,
        "class_name": type(model).__name__,
        "config": functional_config(model) if type(model) is Functional
        else serialization.plain_config(model.get_config()),
        "registered_name": getattr(type(model), "_keras_name", None) or (
            "Functional" if type(model) is Functional else type(model).__name__),
        "build_config": {"input_shape": None},
        "compile_config": serialization.compile_config(model),
    }  # fmt: skip


def functional_config(model):
    """The config of a functional model, whose calls name the tensors that they read."""
    network = network_of(model)
    numbers = network.node_numbers(lambda layer: 0)

    def reference(tensor: KerasTensor):
        return [tensor.layer.name, numbers[tensor.node], tensor.index]

    def tensor(t: KerasTensor):
        return {
            "class_name": "__keras_tensor__",
            "config": {
                "shape": None if t.shape.rank is None else t.shape.as_list(),
                "dtype": t.dtype.name,
                "keras_history": reference(t),
            },
        }

    def described(value):
        if isinstance(value, KerasTensor):
            return tensor(value)
        if isinstance(value, dict):
            return {key: described(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return [described(item) for item in value]
        return serialization.serialize_keras_object(value)

    layers = []
    for layer in network.layers:
        nodes = [
            {"args": [described(node.inputs), *map(described, node.args)],
             "kwargs": described(dict(node.kwargs))}
            for node in layer.inbound_nodes
            if node in network.depths and node.parents()
        ]  # fmt: skip
        inner = (
            serialize_model(layer) if isinstance(layer, Functional)
            else serialization.serialize_keras_object(layer)
        )  # fmt: skip
        if type(layer).__name__ == "InputLayer":
            inner = serialization.complete(
                {"class_name": "InputLayer", "config": layer.get_config()}
            )
        operation = [operations.describe(layer, node) for node in layer.inbound_nodes if node in network.depths]
        if len(operation) == 1 and operation[0] is not None:
            inner, tensors = operation[0]
            inner = {**inner, "config": described(inner["config"])}
            nodes = [{"args": [described(value) for value in tensors], "kwargs": {}}]
        layers.append({**inner, "name": layer.name, "inbound_nodes": nodes})
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": layers,
        **ends_config(model, reference),
    }


def deserialize_model(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """The model of a config."""
    if config["class_name"] in ("Functional", "Model") and "layers" in config["config"]:
        return Functional.from_config(config["config"], custom_objects)
    model = serialization.deserialize_keras_object(config, custom_objects)
    if not hasattr(model, "weights"):
        raise ValueError(f"{config['class_name']} is no model.")
    return model
