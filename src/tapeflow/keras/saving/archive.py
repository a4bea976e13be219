"""The `.keras` file: a zip of config.json, metadata.json and model.weights.h5, as Keras 3 writes it."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from tapeflow.core.deserialization import safe_mode_scope
from tapeflow.core.files.expansion import expands_too_much
from tapeflow.core.files.whole_files import replacing
from tapeflow.core.release import keras_version
from tapeflow.keras.engine.files.hdf5_files import h5py, hdf5
from tapeflow.keras.registry import CustomObjectScope
from tapeflow.keras.saving import assets, network3, weights_store
from tapeflow.keras.saving.hdf5_heaps import check_heaps

_CONFIG, _METADATA, _WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
_LARGEST_CONFIG = 1 << 29
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def save(model: Any, path: str):
    """Writes a model; the file is there whole, or not at all."""
    config = network3.serialize_model(model)
    metadata = {
        "keras_version": keras_version(),
        "date_saved": datetime.datetime.now().strftime("%Y-%m-%d@%H:%M:%S"),
    }
    weights = hdf5(lambda file: weights_store.save(model, file))
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with replacing(os.fspath(path)) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_METADATA, json.dumps(metadata))
        archive.writestr(_CONFIG, json.dumps(config))
        archive.writestr(_WEIGHTS, weights)
        assets.save(model, archive.writestr)


def load(
    path: str, custom_objects: Mapping[str, Any] | None = None, compile: bool = True, safe_mode: bool = True
):
    """The model of a file. Raises ValueError for a file that is damaged or holds no model."""
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise ValueError(f"{path} is not a `.keras` file, or is damaged: {error}") from error
    with archive:
        config = _json(archive, _CONFIG, path)
        weights = _member(archive, _WEIGHTS, path)
        more = {name: _member(archive, name, path) for name in archive.namelist() if name.startswith("assets/")}
    if not isinstance(config, dict) or "class_name" not in config:
        raise ValueError(f"{path}: {_CONFIG} does not describe a model.")
    compiled = config.pop("compile_config", None)
    with loading(path, custom_objects, safe_mode):
        model = network3.deserialize_model(config, custom_objects)
        if compile and compiled:
            model.compile_from_config(compiled)
            if model.built and hasattr(model.optimizer, "build"):
                model.optimizer.build(model.trainable_variables)
    with opened(io.BytesIO(weights), path) as file:
        load_weights(model, file, path)
    with loading(path, custom_objects, safe_mode):
        assets.load(model, list(more), more.__getitem__)
    return model


@contextlib.contextmanager
def loading(path: str, custom_objects: Mapping[str, Any] | None, safe_mode: bool):
    """A block in which a model is made of what the file `path` says.

    Raises ValueError where that describes none; what constructors of layers raise tells of the file too.
    """
    try:
        with CustomObjectScope(custom_objects or {}), safe_mode_scope(safe_mode):
            yield
    except (KeyError, IndexError, AttributeError, OSError, RuntimeError, OverflowError) as error:
        raise ValueError(f"{path} does not describe a model, or is damaged: {error!r}") from error
    except (TypeError, ValueError) as error:
        error.add_note(f"while the model in {path} was made")
        raise


def load_weights_of(model: Any, path: str, skip_mismatch: bool = False):
    """Sets the weights of a model from those in a `.keras` file."""
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise ValueError(f"{path} is not a `.keras` file, or is damaged: {error}") from error
    with archive, opened(io.BytesIO(_member(archive, _WEIGHTS, path)), path) as file:
        load_weights(model, file, path, skip_mismatch)


def load_weights(model: Any, file, path: str, skip_mismatch: bool = False):
    """Sets the weights of a model from an open HDF5 file. Raises ValueError for damage."""
    try:
        weights_store.load(model, file, skip_mismatch)
    except (KeyError, RuntimeError, OSError, TypeError) as error:
        raise ValueError(f"{path}: the weights are damaged: {error}") from error


def opened(source: Any, path: str):
    """An HDF5 file to read. Raises ValueError for what is none."""
    check_heaps(source, path)
    try:
        return h5py().File(source, "r")
    except (OSError, RuntimeError, KeyError) as error:
        raise ValueError(f"{path}: not an HDF5 file, or damaged: {error}") from error


def _member(archive, name: str, path: str):
    try:
        found = archive.getinfo(name)
        if expands_too_much(found.file_size, found.compress_size):
            raise ValueError(
                f"{path}: {name} would be {found.file_size} bytes large, unpacked from {found.compress_size}."
            )
        return archive.read(name)
    except KeyError:
        raise ValueError(f"{path} has no {name}, so that it is no `.keras` file.") from None
    except _DAMAGE as error:
        raise ValueError(f"{path}: {name} is damaged: {error}") from error


def _json(archive, name: str, path: str):
    if name in archive.namelist() and archive.getinfo(name).file_size > _LARGEST_CONFIG:
        raise ValueError(f"{path}: {name} is {archive.getinfo(name).file_size} bytes large.")
    try:
        return json.loads(_member(archive, name, path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError)):
            raise ValueError(f"{path}: {name} is not JSON: {error}") from error
        raise
