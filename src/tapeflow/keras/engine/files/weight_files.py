"""Weights of models in files: TensorFlow checkpoints, and HDF5 in the layout of Keras."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.checkpoint.bundle import index_path
from tapeflow.checkpoint.objects import restore_objects, write_objects
from tapeflow.checkpoint.state import latest_checkpoint, update_checkpoint_state
from tapeflow.core.annotations import Variable
from tapeflow.core.context import current_graph, init_scope
from tapeflow.core.files.paths import local_path
from tapeflow.core.variables import graph_parts
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.files.hdf5_files import h5py, is_h5_name, is_hdf5, write_hdf5
from tapeflow.keras.saving import archive, shards, weights_store
from tapeflow.keras.saving.weights_store import dataset_at, group_at
from tapeflow.keras.session import get_session, set_values, values_of

if TYPE_CHECKING:
    from tapeflow.checkpoint.load_status import CheckpointLoadStatus
    from tapeflow.keras.engine.sequential import Sequential
    from tapeflow.keras.optimizers.slots import Variables

_KERAS_VERSION = b"2.21.0"
_LARGEST_ATTRIBUTE = 64000


def _refuse_options(options, path: str):
    """Raises ValueError for options of a checkpoint where HDF5 is written or read."""
    if options is not None:
        raise ValueError(f"`options` are those of a TensorFlow checkpoint, and {path} is an HDF5 file: {options!r}.")


def save(model, filepath, overwrite=True, save_format=None, options=None, max_shard_size=None):
    """Saves the weights of a model. Raises ValueError for a model without weights yet, or an unknown format."""
    path = local_path(filepath)
    if max_shard_size is not None:
        _save_in_parts(model, path, overwrite, max_shard_size)
        return
    if path.endswith(".weights.h5") and save_format in (None, "h5", "keras"):
        _refuse_options(options, path)
        _require_built(model)
        if not overwrite and not may_overwrite(path):
            return
        write_hdf5(path, lambda file: weights_store.save(model, file))
        return
    formats = {"tensorflow": "tf", "tf": "tf", "keras": "h5", "h5": "h5", "hdf5": "h5"}
    if save_format is None:
        kind = "h5" if is_h5_name(path) else "tf"
    else:
        kind = formats.get(str(save_format).lower().strip())
        if kind is None:
            raise ValueError(
                f"Unknown format. Received: `save_format`={save_format}. Was expecting one of "
                '{"tf", "h5"}.'
            )
        if kind == "tf" and is_h5_name(path):
            raise ValueError(
                'save_weights got save_format="tf"/"tensorflow", but the filepath '
                f'({path}) looks like an HDF5 file. Omit the ".h5"/".keras" when saving in '
                "TensorFlow format."
            )
    if kind == "h5":
        _refuse_options(options, path)
        _require_built(model)
    target = path if kind == "h5" else index_path(path)
    if not overwrite and not may_overwrite(target):
        return
    if kind == "tf":
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        in_graph = bool(model.weights) and graph_parts(model.weights[0]) is not None
        session = get_session(model.weights[0].graph) if in_graph else None

        going_on = write_objects(model, path, session, options)
        if going_on is not None:  # what follows may read the file
            going_on.result()
        update_checkpoint_state(folder, path, [path], save_relative_paths=True)
        return
    write_hdf5(path, lambda file: save_to_group(file, model))


def _save_in_parts(model, path, overwrite, max_shard_size):
    if not path.endswith(("weights.h5", "weights.json")):
        raise ValueError(
            "The filename must end in `.weights.json` when `max_shard_size` is specified. Received: "
            f"filepath={path}"
        )
    _require_built(model)
    if overwrite or may_overwrite(path):
        shards.save(lambda file: weights_store.save(model, file), path, max_shard_size)


class _Streamed(list):
    """Values to load, each loaded into a session as soon as its variable is there."""

    def __init__(self, pairs: Sequence[Any]):
        super().__init__()
        for pair in pairs:
            self.append(pair)

    def append(self, pair):
        super().append(pair)
        variable, value = pair
        with init_scope():
            variable.load(value, get_session(variable.graph))


def _require_match(model: Sequential, status: CheckpointLoadStatus):
    """Raises AssertionError where nothing but the model itself is in the checkpoint."""
    restoration = getattr(status, "_restoration", None)
    if restoration is None or len(list(restoration.objects.values())) > 1:
        return
    if not model._trackable_children():
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {model} yet."
        )
    status.assert_nontrivial_match()


def _stream(status):
    restoration = getattr(status, "_restoration", None)
    if restoration is not None:
        restoration.match_again()
        restoration.to_load = _Streamed(restoration.to_load)


def may_overwrite(path: str):
    """Whether a file may be written: where there is one, the user is asked.

    Raises EOFError where nobody can answer.
    """
    if not os.path.exists(path):
        return True
    answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    return answer == "y"


def _require_built(model):
    if not model.built:
        raise ValueError(
            f"Weights for model {model.name} have not yet been created. Weights are created when the "
            "Model is first called on inputs or `build()` is called with an `input_shape`."
        )


def load(model: Any, filepath: Any, skip_mismatch: bool = False, by_name: bool = False, options=None):
    """Loads weights; the status of a checkpoint, None for HDF5."""
    path = local_path(filepath)
    if path.endswith(".weights.json"):
        _refuse_options(options, path)
        with shards.joined(path) as file:
            archive.load_weights(model, file, path, skip_mismatch)
        return None
    if os.path.isdir(path):
        path = latest_checkpoint(path) or path
    if not is_h5_name(path) or os.path.exists(index_path(path)):
        if by_name or skip_mismatch:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading TensorFlow-"
                f"formatted weights (got by_name={by_name}, skip_mismatch={skip_mismatch})."
            )
        status = restore_objects(model, path, options)
        graph = current_graph()
        if graph is not None:
            _stream(status)
            model.__dict__["_restored_in_graph"] = getattr(status, "_restoration", None)
        _require_match(model, status)
        return status
    _refuse_options(options, path)
    if not model.built:
        raise ValueError(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not created "
            "its variables yet. Call the Model first, then load the weights."
        )
    if path.endswith(".keras") and not is_hdf5(path):
        archive.load_weights_of(model, path, skip_mismatch)
        return None
    if not os.path.exists(path):
        raise FileNotFoundError(f"[Errno 2] Unable to open file: there is no file {path!r}")
    with archive.opened(path, path) as file:
        try:
            of_keras_3 = "layer_names" not in file.attrs and "model_weights" not in file
            if not of_keras_3:
                group = file if "layer_names" in file.attrs else at(file, "model_weights")
                load_from_group(group, model, skip_mismatch, by_name)
        except (KeyError, OSError, RuntimeError) as error:
            raise ValueError(f"{path}: the weights are damaged: {error}") from error
        if of_keras_3:
            archive.load_weights(model, file, path, skip_mismatch)
    return None


def _weights(layer: Layer):
    return layer.trainable_weights + layer.non_trainable_weights


def _top_level(model: Sequential):
    """The weights of a model that belong to none of its layers."""
    held = {id(w) for layer in model.layers for w in layer.weights}
    return [w for w in _weights(model) if id(w) not in held]


def save_to_group(group: Any, model: Sequential):
    """Writes layers and weights as Keras does: a group per layer, with the names as attributes."""
    layers = [layer for layer in model.layers if isinstance(layer, Layer)]
    _set_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = _KERAS_VERSION
    for layer in sorted(layers, key=lambda layer: layer.name):
        save_weights_to(group.create_group(layer.name), _weights(layer))
    save_weights_to(group.create_group("top_level_model_weights"), _top_level(model))


def save_weights_to(group, weights: Sequence[Variable] | Variables):
    """Writes weights under their names; one that is listed twice, as by optimizers around others, is written once."""
    _set_names(group, "weight_names", [_name_of(weight) for weight in weights])
    each_once = list({id(weight): weight for weight in weights}.values())
    for weight, value in zip(each_once, values_of(each_once)):
        group.create_dataset(_name_of(weight), data=value)


def _name_of(weight):
    """The name of a weight in a file: its path in Keras 3."""
    return getattr(weight, "path", weight.name)


def _set_names(group: Any, key: str, names: Sequence[str]):
    """Sets a list of names as attribute, in parts where it is too long for one."""
    encoded = [name.encode() for name in names]
    longest = max((len(name) for name in encoded), default=1) or 1
    rows = max(1, _LARGEST_ATTRIBUTE // longest)
    if len(encoded) <= rows:
        group.attrs[key] = np.array(encoded) if encoded else np.array([], "S1")
        return
    for i, start in enumerate(range(0, len(encoded), rows)):
        group.attrs[f"{key}{i}"] = np.array(encoded[start : start + rows])


def names_of(group: Any, key: str):
    """A list of names from attributes."""
    found = []
    if key in group.attrs:
        found = list(group.attrs[key])
    else:
        while f"{key}{len(found)}" in group.attrs:
            found.append(group.attrs[f"{key}{len(found)}"])
        found = [name for part in found for name in part]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in found]


def at(group: Any, path: str):
    """The group or dataset at a path. Raises KeyError for none, ValueError for a link to another file."""
    folder, _, name = path.rpartition("/")
    owner = group_at(group, folder) if folder else group
    if owner is None or name not in owner:
        raise KeyError(f"there is no {path!r}")
    is_group = owner.get(name, getclass=True) is h5py().Group
    return group_at(owner, name) if is_group else dataset_at(owner, name)


def load_from_group(group: Any, model: Sequential, skip_mismatch: bool = False, by_name: bool = False):
    """Sets the weights of layers, in their order or by their names. Raises ValueError for what does not fit."""
    saved = {name: names_of(at(group, name), "weight_names") for name in names_of(group, "layer_names")}
    layers = [layer for layer in model.layers if _weights(layer)]
    pairs = []
    if by_name:
        pairs = [(layer, layer.name) for layer in layers if layer.name in saved]
    else:
        names = [name for name, weights in saved.items() if weights]
        if len(names) != len(layers):
            raise ValueError(
                "Layer count mismatch when loading weights from file. Model expected "
                f"{len(layers)} layers, found {len(names)} saved layers."
            )
        pairs = list(zip(layers, names))
    todo = []
    for layer, name in pairs:
        values = [at(at(group, name), weight) for weight in saved[name]]
        todo += _matched(layer.name, _weights(layer), values, skip_mismatch)
    if "top_level_model_weights" in group:
        top = at(group, "top_level_model_weights")
        values = [at(top, name) for name in names_of(top, "weight_names")]
        todo += _matched(model.name, _top_level(model), values, skip_mismatch)
    set_values(todo)


def _matched(name: str, variables, values, skip_mismatch):
    if len(variables) != len(values):
        if skip_mismatch:
            return []
        raise ValueError(
            f"Weight count mismatch for layer {name}. The layer expects {len(variables)} weight(s). "
            f"Received {len(values)} saved weight(s)"
        )
    matched = []
    for variable, value in zip(variables, values):
        if tuple(variable.shape.as_list()) == value.shape:
            matched.append((variable, np.asarray(value)))
        elif not skip_mismatch:
            raise ValueError(
                f"Shape mismatch in layer {name} for weight {variable.name}. Weight expects shape "
                f"{tuple(variable.shape.as_list())}. Received saved weight with shape {value.shape}"
            )
    return matched
