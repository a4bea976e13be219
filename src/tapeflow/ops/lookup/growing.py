"""Tables that programs insert into."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries, public_methods
from tapeflow.ops.lookup.dense import DenseTable
from tapeflow.ops.lookup.rows import LookupTableImportV2, LookupTableInsertV2, LookupTableRemoveV2
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.lookup.tables import ANY, LookupInterface
from tapeflow.ops.static import static_value
from tapeflow.ops.validate import invalid, shape_text


class _Growing(LookupInterface):
    """What tables share that checkpoints keep."""

    def _checkpoint_tensors(self):
        """What a checkpoint keeps, by what the keys in it end with."""
        ends = ("-keys", "-values")
        return {"table": {end: functools.partial(self._exported, i) for i, end in enumerate(ends)}}

    def _restore_tensors(self, found: dict[str, Any]):
        self._table.insert(np.asarray(found["-keys"]), np.asarray(found["-values"]), True)


@api("lookup.experimental.MutableHashTable")
@public_methods
class MutableHashTable(_Growing):
    """A table that grows; values may be vectors.

    Args:
      default_value: the value of keys that are not in the table; its shape is that of all values.
    """

    __signature__ = ANY

    def __init__(
        self, key_dtype, value_dtype, default_value: int, name: str = "MutableHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ):
        self._default_value = convert_to_tensor(default_value, value_dtype)
        if (self._default_value.shape.rank or 0) > 1:
            shape = shape_text(self._default_value.shape.as_list())
            raise invalid(f"Default value must be a vector, got shape {shape}")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        table = Table(key_dtype, value_dtype, (), tuple(self._default_value.shape.as_list()))
        super().__init__(key_dtype, value_dtype, name, table)

    def lookup(self, keys: Tensor, dynamic_default_values=None, name: str | None = None):
        """The values of keys; `dynamic_default_values` (one, or one for each key) for those that are missing."""
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        return self._find(keys, convert_to_tensor(default, self._value_dtype))

    def _typed(self, keys: Sequence[str], values: Sequence[int]):
        return convert_to_tensor(keys, self._key_dtype), convert_to_tensor(
            values, self._value_dtype
        )

    def insert(self, keys: Sequence[str], values: Sequence[int], name: str | None = None):
        """Add entries, or replace those of keys that are there."""
        return LookupTableInsertV2(self._resource_handle, *self._typed(keys, values))

    def remove(self, keys, name: str | None = None):
        """Take entries away; keys that are missing do nothing. Raises TypeError for keys of another dtype."""
        return _removed(self, keys)

    def _restore(self, keys, values):
        return LookupTableImportV2(self._resource_handle, *self._typed(keys, values))


def _removed(table, keys: Tensor):
    keys = convert_to_tensor(keys, None if hasattr(keys, "dtype") else table.key_dtype)
    if keys.dtype != table.key_dtype:
        raise TypeError(
            f"Dtype of argument `keys` must be {table.key_dtype}, received: {keys.dtype}"
        )
    return LookupTableRemoveV2(table.resource_handle, keys)


@api("lookup.experimental.DenseHashTable")
@public_methods
class DenseHashTable(_Growing):
    """A table that grows, with two keys that it keeps for itself; keys and values may be vectors."""

    __signature__ = ANY

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        self._default_value = convert_to_tensor(default_value, value_dtype, name="default_value")
        empty = convert_to_tensor(empty_key, key_dtype, name="empty_key")
        deleted = convert_to_tensor(deleted_key, key_dtype, name="deleted_key")
        if empty.shape.as_list() != deleted.shape.as_list():
            raise InvalidArgumentError(None, None, "Empty and deleted keys must have same shape")
        kept: dict[Any, str] = {}
        for tensor, what in ((empty, "empty_key"), (deleted, "deleted_key")):
            known = static_value(tensor)
            if known is not None:
                key = tuple(known.tolist()) if known.ndim else known[()]
                kept[key.item() if isinstance(key, np.generic) else key] = what
        if static_value(empty) is not None and len(kept) < 2:
            raise InvalidArgumentError(None, None, "Empty and deleted keys cannot be equal")
        marks = list(kept) if len(kept) == 2 else [None, None]
        table = DenseTable(key_dtype, value_dtype, tuple(empty.shape.as_list()),
                           tuple(self._default_value.shape.as_list()), *marks, initial_num_buckets)  # fmt: skip
        table.forbidden = kept
        super().__init__(key_dtype, value_dtype, name, table)

    def lookup(self, keys: Tensor, name: str | None = None):
        """The values of keys: a tensor, or a sparse or ragged tensor of the same form."""
        return self._find(keys, self._default_value)

    def insert_or_assign(self, keys: TensorLike, values: TensorLike, name: str | None = None):
        """Add entries, or replace those of keys that are there."""
        keys = convert_to_tensor(keys, self._key_dtype)
        return LookupTableInsertV2(
            self._resource_handle, keys, convert_to_tensor(values, self._value_dtype)
        )

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None):
        """`insert_or_assign`."""
        return self.insert_or_assign(keys, values)

    def erase(self, keys, name: str | None = None):
        """Take entries away; keys that are missing do nothing. Raises TypeError for keys of another dtype."""
        return _removed(self, keys)

    def remove(self, keys: Tensor, name: str | None = None):
        """`erase`."""
        return _removed(self, keys)


boundaries(globals())
