"""What Keras 2 wants to know of the layers in a SavedModel: a file that says class, config and shapes of each."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.files import keras_metadata, saving
from tapeflow.keras.engine.functional.model import Functional
from tapeflow.keras.registry import to_config


def write(path: str, objects: Sequence[Any], paths: Any, training_config: dict[str, Any] | None):
    """Write the file for a model whose SavedModel is there.

    Args:
      path: the folder.
      objects: what the SavedModel has, in the order of its numbers, the model first.
      paths: how each is reached, as `save_and_return_nodes` gives it.
      training_config: how the model was compiled, or None.
    """
    if any(getattr(each, "output_mode", None) == "tf_idf" for each in objects):
        return  # the weights of tokens are no variables here, of which Keras 2 would restore them
    metadata = protos.SavedMetadata()
    for number, value in enumerate(objects):
        if not isinstance(value, Layer):
            continue
        described = _described(value)
        if number == 0 and training_config is not None:
            described["training_config"] = training_config
        node = metadata.nodes.add(node_id=number, identifier=_identifier(value))
        node.node_path = ".".join(["root", *(reference.name for reference in paths[value])])
        node.version.producer, node.version.min_consumer = 2, 1
        node.metadata = json.dumps(described, default=saving.plain)
    replace_file(os.path.join(path, keras_metadata.FILE), metadata.SerializeToString())


# The kinds of objects, by class.
_KINDS = {"InputLayer": "input_layer", "RNN": "rnn_layer", "Sequential": "sequential", "Functional": "network",
          "Model": "model", "Layer": "layer"}  # fmt: skip


def _identifier(layer: Layer) -> str:
    kind = next(_KINDS[each.__name__] for each in type(layer).__mro__ if each.__name__ in _KINDS)
    return f"_tf_keras_{kind}"


def _described(layer: Layer) -> dict[str, Any]:
    found = {
        "name": layer.name, "trainable": layer.trainable, "dtype": layer.dtype_policy.name,
        "expects_training_arg": False, "must_restore_from_config": False,
        "is_graph_network": isinstance(layer, Functional), **to_config(layer),
    }  # fmt: skip
    if "vocabulary" in found["config"]:  # the table is in the SavedModel
        found["config"] |= {"vocabulary": None, "has_input_vocabulary": True}
    shapes = layer.__dict__.get("_input_shape_seen")
    if shapes is not None:
        found["build_input_shape"] = nest.map_structure(_shape, shapes)
    return found


def _shape(shape: TensorShape) -> dict[str, Any]:
    return {"class_name": "TensorShape", "items": None if shape.rank is None else shape.as_list()}
