"""Tables and other resources in a SavedModel: the functions that make, fill and free them, and their contents."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.function.function import Function
from tapeflow.ops.lookup import growing
from tapeflow.ops.lookup import nodes as lookup_nodes
from tapeflow.ops.lookup import tables as lookup
from tapeflow.ops.lookup.initializers import KeyValueTensorInitializer, TextFileInitializer
from tapeflow.ops.lookup.rows import (
    LookupTableExportV2,
    LookupTableImportV2,
)
from tapeflow.ops.lookup.tables import initializer_of
from tapeflow.ops.string.joining import join
from tapeflow.saved_model.assets import Asset
from tapeflow.saved_model.resources import TrackableResource

_TABLES = (lookup.StaticHashTable, growing.MutableHashTable, growing.DenseHashTable)
_GROWING = (growing.MutableHashTable, growing.DenseHashTable)


def is_resource(value: Any) -> bool:
    """Whether an object stands for a resource, which functions take by its handle."""
    return isinstance(value, (*_TABLES, TrackableResource))


def is_table(value: Any) -> bool:
    """Whether an object is a table, or holds one."""
    return is_resource(value) or isinstance(value, lookup.StaticVocabularyTable)


class Resources:
    """The parts of tables in one SavedModel, each made once."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[str, Any]] = {}
        self._kept: list[Any] = []

    def children(self, value: Any) -> dict[str, Any] | None:
        """What is saved of a table, of what fills one, or of a resource; None for other objects."""
        known = self._parts.get(id(value))
        if known is None:
            known = self._made(value)
            if known is not None:
                self._parts[id(value)] = known
                self._kept.append(value)
        return known

    def _made(self, value: Any) -> dict[str, Any] | None:
        if isinstance(value, lookup.StaticVocabularyTable):
            return value._trackable_children()
        if isinstance(value, TextFileInitializer):
            return {"_filename": Asset(value._filename)}
        if isinstance(value, KeyValueTensorInitializer):
            return {}
        if isinstance(value, _TABLES):
            own = {}
            if isinstance(value, lookup.StaticHashTable):
                own["_initializer"] = initializer_of(value)
            return {**own, **self._functions(value)}
        if isinstance(value, TrackableResource):
            return value._saved_functions()
        return None

    def _functions(self, table: Any) -> dict[str, Any]:
        shared_name = f"{table.name}_{uuid.uuid4().hex[:16]}"

        def _creator() -> Any:
            return _create(table, shared_name)

        def _initializer() -> Any:
            if isinstance(table, lookup.StaticHashTable):
                self._fill(table)
            return convert_to_tensor(1)

        def _destroyer() -> Any:
            return convert_to_tensor(1)

        names = {
            "_create_resource": _creator,
            "_initialize": _initializer,
            "_destroy_resource": _destroyer,
        }
        return {
            name: Function(f, input_signature=(), autograph=False) for name, f in names.items()
        }

    def _fill(self, table: Any) -> None:
        initializer = initializer_of(table)
        if not isinstance(initializer, TextFileInitializer):
            initializer.initialize(table)
            return
        found = self.children(initializer)
        assert found is not None
        initializer._fill(table, found["_filename"].asset_path)


def _create(table: Any, shared_name: str) -> Any:
    own = table._table
    attrs: dict[str, Any] = {
        "key_dtype": own.key_dtype,
        "value_dtype": own.value_dtype,
        "shared_name": shared_name,
    }
    if isinstance(table, lookup.StaticHashTable):
        return lookup_nodes.HashTableV2(name="hash_table", **attrs)
    if isinstance(table, growing.DenseHashTable):
        keys = [_key(own, what) for what in ("empty_key", "deleted_key")]
        return lookup_nodes.MutableDenseHashTableV2(
            *keys, name="MutableDenseHashTable", value_shape=own.value_shape, **attrs
        )
    if own.value_shape:
        return lookup_nodes.MutableHashTableOfTensorsV2(
            name="MutableHashTable", value_shape=own.value_shape, **attrs
        )
    return lookup_nodes.MutableHashTableV2(name="MutableHashTable", **attrs)


def _key(own: Any, what: str) -> Any:
    found = [key for key, name in own.forbidden.items() if name == what]
    value = found[0] if found else 0
    return convert_to_tensor(np.asarray(value).tolist(), own.key_dtype)


# The contents of tables that grow.


def saving_functions(table: Any) -> tuple[Any, Any] | None:
    """The concrete functions that give and take the contents of a table; None for one that is filled once."""
    if isinstance(table, TrackableResource):
        return table._saving_functions()
    if not isinstance(table, _GROWING):
        return None

    def save_fn(checkpoint_key: Any) -> Any:
        keys, values = LookupTableExportV2(
            table.resource_handle, Tkeys=table.key_dtype, Tvalues=table.value_dtype
        )
        return [
            {"name": join([checkpoint_key, name]), "slice_spec": convert_to_tensor(""), "tensor": part}
            for name, part in (("-keys", keys), ("-values", values))
        ]  # fmt: skip

    def restore_fn(restored_tensors_0: Any, restored_tensors_1: Any) -> Any:
        LookupTableImportV2(table.resource_handle, restored_tensors_0, restored_tensors_1)
        return convert_to_tensor(1)

    key = TensorSpec([], dtypes.string, "checkpoint_key")
    parts = [
        TensorSpec(None, kind, f"restored_tensors_{i}")
        for i, kind in enumerate((table.key_dtype, table.value_dtype))
    ]
    return (
        Function(save_fn, autograph=False).get_concrete_function(key),
        Function(restore_fn, autograph=False).get_concrete_function(*parts),
    )
