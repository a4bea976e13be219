"""Whole models in files: architecture, weights, and how they were compiled, as HDF5 in the layout of Keras."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow import saved_model
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2, keras_version
from tapeflow.keras import losses, metrics, optimizers
from tapeflow.keras.engine.files import (
    hdf5_files,
    keras_metadata,
    metadata_writing,
    saving,
    weight_files,
)
from tapeflow.keras.engine.fitting.compile_config import compile_arguments_of
from tapeflow.keras.engine.functional.model import Functional
from tapeflow.keras.engine.sequential import Sequential
from tapeflow.keras.registry import UnknownClassError, to_config
from tapeflow.keras.saving import archive
from tapeflow.keras.session import set_values
from tapeflow.saved_model.saving import save_and_return_nodes

_ENDINGS = (".h5", ".hdf5", ".keras")


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, save_format: str | None = None,
    signatures=None, options=None, save_traces: bool = True,
):  # fmt: skip
    """Save a model with its weights and its optimizer.

    Args:
      model: a `keras.Model`.
      filepath: the file, whose name says the format: `.keras`, or `.h5` and `.hdf5` for HDF5 (functional and
        Sequential models only). Other names are folders of a SavedModel.
      overwrite: whether a file that exists is replaced without asking.
      include_optimizer: whether an HDF5 file has the optimizer's state.
      save_format: "keras", "h5" or "tf", instead of what the name says.
      signatures: functions by name, of a SavedModel, as `tf.saved_model.save` takes them.
      options: the `tf.saved_model.SaveOptions` of a SavedModel.
      save_traces: accepted; a SavedModel always has the functions of the model.

    Raises:
      NotImplementedError: for subclassed models in HDF5.
      ValueError: for `signatures` or `options` of one file.
    """
    path = local_path(filepath)
    to_folder = save_format == "tf" or (save_format is None and not path.endswith(_ENDINGS))
    if not to_folder:
        _refuse(path, signatures=signatures, options=options)
    if not overwrite and not weight_files.may_overwrite(path):
        return
    if save_format == "keras" or (save_format is None and path.endswith(".keras")):
        archive.save(model, path)
        return
    if to_folder:
        _save_as_saved_model(model, path, signatures, options)
        return
    if not isinstance(model, (Functional, Sequential)):
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential "
            "model. It does not work for subclassed models, because such models are defined via the body "
            "of a Python method, which isn't safely serializable. Consider saving to the Tensorflow "
            'SavedModel format (by setting save_format="tf") or using `save_weights`.'
        )
    hdf5_files.write_hdf5(path, lambda file: _write(file, model, include_optimizer))


def _refuse(path: str, **arguments):
    """Raises ValueError for arguments that are only for SavedModels."""
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise ValueError(f"The following argument(s) are not supported for the file {path}: {given}")


# The folder of a SavedModel that programs may use for files of their own.
_EXTRA = os.path.join("assets.extra", "model.keras")


def _save_as_saved_model(model: Any, path: str, signatures, options):
    """Writes a SavedModel, and in it, where that is possible, the model as a model."""
    objects, paths = save_and_return_nodes(model, path, signatures, options)
    compiled = isinstance(model.optimizer, optimizers.Optimizer)
    if keras_2() and isinstance(model, (Functional, Sequential)):
        metadata_writing.write(path, objects, paths, _training_config(model) if compiled else None)
    extra = os.path.join(path, _EXTRA)
    try:
        archive.save(model, extra)
    except (NotImplementedError, TypeError, ValueError):
        # A model whose class says no config is a SavedModel only.
        if os.path.exists(extra):
            os.unlink(extra)


def _load_saved_model(
    path: str, custom_objects: Mapping[str, Any] | None, compile: bool, options, safe_mode: bool
):
    """The model in a SavedModel; where it holds functions only, an object with those."""
    extra = os.path.join(path, _EXTRA)
    if os.path.exists(extra):
        try:
            return archive.load(extra, custom_objects, compile, safe_mode)
        except (TypeError, ValueError) as error:
            warnings.warn(f"The SavedModel is loaded without its layers: {error}", stacklevel=3)
    elif (described := keras_metadata.of_model(path)) is not None:
        try:
            with archive.loading(path, custom_objects, safe_mode):
                model = saving.model_from_config(described, custom_objects)
                keras_metadata.restore(model, path)
                if compile and described.get("training_config"):
                    _compile(model, described["training_config"], custom_objects)
                    keras_metadata.restore_optimizer(model, path)
            return model
        except UnknownClassError as error:  # its functions are there
            try:
                loaded = saved_model.load(path, options=options)
            except ValueError as other:
                raise ValueError(f"{path} cannot be loaded: {error}; and its functions: {other}") from other
            warnings.warn(f"The SavedModel is loaded without its layers: {error}", stacklevel=3)
            return loaded
    return saved_model.load(path, options=options)


def _write(file, model, include_optimizer: bool):
    described = {"class_name": type(model).__name__, "config": model.get_config()}
    file.attrs["keras_version"] = keras_version().encode()
    file.attrs["backend"] = b"tensorflow"
    file.attrs["model_config"] = json.dumps(described, default=saving.plain).encode()
    weight_files.save_to_group(file.create_group("model_weights"), model)
    optimizer = model.optimizer
    if not include_optimizer or not isinstance(optimizer, optimizers.Optimizer):
        return
    file.attrs["training_config"] = json.dumps(
        _training_config(model), default=saving.plain
    ).encode()
    weights = optimizer.variables
    if weights:
        weight_files.save_weights_to(file.create_group("optimizer_weights"), weights)


def _training_config(model):
    given = compile_arguments_of(model)

    def described(value: Sequence[str] | str | None):
        if isinstance(value, dict):
            return {key: described(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [described(item) for item in value]
        return to_config(value)

    optimizer = given["optimizer"]
    return {
        "loss": described(given["loss"]),
        "metrics": described(given["metrics"]),
        "weighted_metrics": described(given["weighted_metrics"]),
        "loss_weights": given["loss_weights"],
        "optimizer_config": {
            "class_name": type(optimizer)._name_in_files(),
            "config": optimizer.get_config(),
        },
    }


class NoModelError(OSError, ValueError):
    """There is no model in a place from which one is to be loaded."""


def load_model(
    filepath: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True, safe_mode: bool = True,
    options=None,
):
    """Load the model that `save_model` has saved. Python code is never loaded.

    Args:
      filepath: the file, or the folder of a SavedModel.
      custom_objects: a dict of the program's own classes and functions by name.
      compile: whether the model is compiled as it was.
      safe_mode: whether the model's config may name no other files, and only functions that compute tensors and do
        nothing else.
      options: the `tf.saved_model.LoadOptions` of a SavedModel.

    Returns:
      The model.

    Raises:
      OSError: for no file.
      ValueError: for one that holds no model, for classes that are not known, and in `safe_mode` for configs that ask
        for more.
    """
    path = local_path(filepath)
    if not os.path.exists(path):
        kind = FileNotFoundError if path.endswith((".h5", ".hdf5")) else NoModelError
        raise kind(f"No file or directory found at {path}")
    if os.path.isdir(path):
        return _load_saved_model(path, custom_objects, compile, options, safe_mode)
    _refuse(path, options=options)
    if not hdf5_files.is_hdf5(path):
        if path.endswith((".h5", ".hdf5")):
            raise OSError(f"Unable to open file {path}: it is not an HDF5 file, or is damaged.")
        return archive.load(path, custom_objects, compile, safe_mode)
    with archive.opened(path, path) as file, archive.loading(path, custom_objects, safe_mode):
        return _read(file, path, custom_objects, compile)


def _read(file, path: str, custom_objects: Mapping[str, Any] | None, compile: bool):
    config = file.attrs.get("model_config")
    if config is None:
        raise ValueError(f"No model config found in the file at {path}.")
    model = saving.model_from_config(_parsed(config, path), custom_objects)
    weight_files.load_from_group(weight_files.at(file, "model_weights"), model)
    training = file.attrs.get("training_config")
    if compile and training is not None:
        _compile(model, _parsed(training, path), custom_objects)
        if "optimizer_weights" in file:
            _load_optimizer(model, weight_files.at(file, "optimizer_weights"))
    return model


def _parsed(text: str, path: str):
    try:
        found = json.loads(_text(text))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: a config in it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path}: a config in it does not describe a model: {found!r}")
    return found


def _text(value: str):
    return value.decode() if isinstance(value, bytes) else value


def _compile(model: Sequential, config: dict[str, Any], custom_objects: Mapping[str, Any] | None):
    def made(value: Sequence[str] | str | None, module: ModuleType):
        if isinstance(value, list):
            return [made(item, module) for item in value]
        if isinstance(value, dict) and "class_name" not in value:
            return {key: made(item, module) for key, item in value.items()}
        return module.deserialize(value, custom_objects) if isinstance(value, dict) else value

    model.compile(
        optimizers.deserialize(config["optimizer_config"], custom_objects),
        loss=made(config.get("loss"), losses),
        metrics=made(config.get("metrics"), metrics),
        loss_weights=config.get("loss_weights"),
        weighted_metrics=made(config.get("weighted_metrics"), metrics),
    )


def _load_optimizer(model, group):
    names = weight_files.names_of(group, "weight_names")
    values = [weight_files.at(group, name) for name in names]
    optimizer = model.optimizer
    if len(values) <= 1:
        optimizer.iterations.assign(int(np.asarray(values[0])) if values and values[0].shape == () else 0)
        return
    if not any(name.endswith("/iter:0") for name in names):
        optimizer.build(model.trainable_weights)
        optimizer.load_own_variables({str(i): np.asarray(value) for i, value in enumerate(values)})
        return
    for name in _slot_names(names):
        for variable in model.trainable_weights:
            optimizer._restore_slot(variable, name)
    optimizer.iterations  # noqa: B018
    _set_if_they_fit(optimizer.weights, values)


def _set_if_they_fit(variables: Sequence[Any], values):
    if [list(v.shape) for v in variables] == [list(value.shape) for value in values]:
        set_values([(v, np.asarray(value)) for v, value in zip(variables, values)])


def _slot_names(names: Sequence[str]):
    """The names of slots, in their order, among names such as "Adam/dense/kernel/m:0"."""
    found = [name.rpartition("/")[2].partition(":")[0] for name in names]
    return [name for name in dict.fromkeys(found) if name != "iter"]

boundaries(globals())
