"""Columns as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.deserialization import deserializing, refuse_unsafe
from tapeflow.core.structures.structure import fields_of
from tapeflow.feature_column.column import FeatureColumn, classes
from tapeflow.feature_column.initial import TruncatedNormal

_COLUMNS = ("source_column", "categorical_column")
_OBJECTS = ("initializer", "normalizer_fn")
_FILES = ("vocabulary_file", "ckpt_to_load_from")


def serialize_feature_column(fc):
    """A column as {"class_name", "config"}; the key of a raw feature as it is. Raises ValueError for others."""
    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc.get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: dict[str, Any] | str, custom_objects: Mapping[str, Any] | None = None,
    columns_by_name: dict[str, Any] | None = None,
):
    """The column of what `serialize_feature_column` gave; one of `columns_by_name` where it is there already.

    Raises ValueError for other things.
    """
    if isinstance(config, str):
        return config
    columns_by_name = {} if columns_by_name is None else columns_by_name
    cls, own = _class_of(config, {**classes, "TruncatedNormal": TruncatedNormal}, custom_objects, "feature_column_v2")
    if not issubclass(cls, FeatureColumn):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    with deserializing():
        column = cls.from_config(own, custom_objects=custom_objects, columns_by_name=columns_by_name)
    return columns_by_name.setdefault(f"{cls.__name__}:{column.name}", column)


def config_of(column) -> dict[str, Any]:
    """The fields of a column as plain data."""
    if "shared_embedding_column_creator" in fields_of(column):
        raise NotImplementedError("Must be implemented in subclasses.")
    return {name: _plain(name, value) for name, value in zip(fields_of(column), column)}


def _plain(name: str, value: Any):
    if name in _COLUMNS:
        return serialize_feature_column(value)
    if name == "keys":
        return tuple(serialize_feature_column(key) for key in value)
    if name == "dtype":
        return value.name
    return _plain_object(value) if name in _OBJECTS else value


def _plain_object(value: TruncatedNormal | None):
    if value is None:
        return None
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "__name__"):
        return value.__name__
    raise ValueError("Cannot serialize", value)


def column_of(
    cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None, columns_by_name: dict[str, Any] | None
):
    """The column of the class whose fields `config` has as plain data."""
    if "use_safe_embedding_lookup" in fields_of(cls):
        config = {"use_safe_embedding_lookup": True, **config}
    if set(config) != set(fields_of(cls)):
        raise ValueError(f"Invalid config: {config}, expected keys: {fields_of(cls)}")
    fields = {}
    for name, value in config.items():
        if name in _FILES and value is not None:
            refuse_unsafe(f"the file {value!r} for a {cls.__name__}")
        if name in _COLUMNS:
            value = deserialize_feature_column(value, custom_objects, columns_by_name)
        elif name == "keys":
            value = tuple(deserialize_feature_column(key, custom_objects, columns_by_name) for key in value)
        elif name == "dtype":
            value = dtypes.as_dtype(value)
        elif name in _OBJECTS:
            value = _object(value, custom_objects or {})
        elif isinstance(value, list):
            value = tuple(value)
        fields[name] = value
    return cls(**fields)


def _object(value: dict[str, Any] | None, custom_objects: Mapping[str, Any]):
    if value is None or (callable(value) and not isinstance(value, dict)):
        return value
    if isinstance(value, dict):
        cls, own = _class_of(value, {"TruncatedNormal": TruncatedNormal}, custom_objects, "object")
        return cls.from_config(own) if hasattr(cls, "from_config") else cls(**own)
    if not isinstance(value, str):
        raise ValueError(f"Could not interpret serialized object: {value}")
    if value not in custom_objects:
        raise ValueError(f"Unknown object: {value}")
    found = custom_objects[value]
    return found() if isinstance(found, type) else found


def _class_of(
    config: dict[str, Any], known: dict[str, Any], custom_objects: Mapping[str, Any] | None, what: str
):
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    found = (custom_objects or {}).get(name) or known.get(name)
    if found is None:
        raise ValueError(f"Unknown {what}: {name}")
    return found, config["config"]
