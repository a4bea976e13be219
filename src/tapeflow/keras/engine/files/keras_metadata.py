"""The model in a SavedModel of Keras 2: its config is in a file of its own, its state in the checkpoint."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tapeflow import protos
from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.objects import restore_objects
from tapeflow.core.annotations import PathLike
from tapeflow.core.context import current_graph
from tapeflow.core.tracking.trackable import restorable_children
from tapeflow.keras.engine.tracking import Node
from tapeflow.keras.session import get_session
from tapeflow.saved_model import reading
from tapeflow.saved_model.partial import load_partial

if TYPE_CHECKING:
    from tapeflow.keras.engine.model import Model

FILE = "keras_metadata.pb"
_CHECKPOINT = os.path.join("variables", "variables")
_VALUE = ".ATTRIBUTES/VARIABLE_VALUE"
_STEPS = f"optimizer/_iterations/{_VALUE}"


def of_model(path: PathLike):
    """What Keras 2 has said of the model in a SavedModel: a dict with its class, config and "training_config", or None.

    Raises ValueError for a file that is damaged.
    """
    file = os.path.join(path, FILE)
    if os.path.exists(file):
        from google.protobuf.message import DecodeError

        with open(file, "rb") as f:
            data = f.read()
        try:
            nodes = protos.SavedMetadata.FromString(data).nodes
        except DecodeError as error:
            raise ValueError(f"Cannot parse file {file}: {error}.") from None
        texts = [node.metadata for node in nodes if node.node_id == 0]
    else:  # as of TensorFlow 2.0 to 2.4
        graphs = reading.parse(path).meta_graphs
        roots = graphs[0].object_graph_def.nodes[:1] if len(graphs) == 1 else []
        texts = [node.user_object.metadata for node in roots]
    if not texts or not texts[0]:
        return None
    try:
        described = json.loads(texts[0], object_hook=_value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: the description of the model is not JSON: {error}") from error
    if isinstance(described, dict) and not isinstance(described.get("training_config"), (dict, type(None))):
        raise ValueError(f"{path}: the description of the training is not a dictionary")
    complete = isinstance(described, dict) and {"class_name", "config"} <= described.keys()
    return described if complete and described["config"] else None


def _value(found):
    """The value that a dict of JSON stands for, where it is not a dict."""
    if found.get("class_name") == "__tuple__" and "items" in found:
        return tuple(found["items"])
    if found.get("class_name") == "TensorShape" and "items" in found:
        return found["items"]
    return found


def restore(model: Model, path: PathLike):
    """Set the weights of a model that is not compiled, and what its layers learned from data.

    The optimizer, when it comes, has another layout.
    """
    status = restore_objects(Node(model._restorable_children), os.path.join(path, _CHECKPOINT))
    status.assert_existing_objects_matched()
    if current_graph() is not None:
        status.run_restore_ops(get_session())
    learned = _learning_layers(model, reading.parse(path).meta_graphs[0].object_graph_def.nodes)
    if learned:
        saved = load_partial(path, list(learned))
        for name, layer in learned.items():
            layer.take_learned(saved[name])


def _learning_layers(model: Model, nodes):
    """The layers that learn from data, by the paths of their objects in the SavedModel."""
    found = {}
    todo = [("root", 0, model)]
    for path, number, owner in todo:
        if hasattr(owner, "take_learned"):
            found[path] = owner
            continue
        inner = restorable_children(owner)
        for child in nodes[number].children:
            # The same layers are there by two names; which of them have weights is not the same in Keras 3.
            if child.local_name in inner and not child.local_name.startswith("layer_with_weights-"):
                todo.append((f"{path}.{child.local_name}", child.node_id, inner[child.local_name]))
    return found


def restore_optimizer(model, path: PathLike):
    """Set the state of the optimizer of a model, where the SavedModel has it."""
    prefix = os.path.join(path, _CHECKPOINT)
    reader = BundleReader(prefix)
    if _STEPS not in reader:  # slots, as of optimizers before TensorFlow 2.11
        restore_objects(model, prefix)
        return
    names = [_STEPS]
    while (name := f"optimizer/_variables/{len(names)}/{_VALUE}") in reader:
        names.append(name)
    model.optimizer.build(model.trainable_variables)
    model.optimizer.load_own_variables({str(i): reader.read(name) for i, name in enumerate(names)})
