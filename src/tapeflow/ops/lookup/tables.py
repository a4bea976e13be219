"""`tf.lookup`: tables from keys to values, fixed or growing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries, public, public_methods
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.control.grouping import group, no_op
from tapeflow.ops.lookup.initializers import TABLE_INITIALIZERS, KeyValueTensorInitializer, own_name
from tapeflow.ops.lookup.rows import (
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableSizeV2,
    handle_of,
)
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.string import hashing
from tapeflow.ops.string.numbers import as_string

# What `inspect` sees of the classes, which is what it sees of TensorFlow's.
ANY = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)


def _values_of(keys: SparseTensor):
    return keys.flat_values if isinstance(keys, RaggedTensor) else keys.values


def _mapped(table: Any, keys: Any, find: Callable[..., Any]):
    """`find` of a tensor of keys, or of the values of a sparse or ragged one. Raises TypeError for another dtype."""
    composite = isinstance(keys, (SparseTensor, RaggedTensor))
    own = _values_of(keys) if composite else convert_to_tensor(
        keys, None if hasattr(keys, "dtype") else table.key_dtype
    )  # fmt: skip
    if own.dtype != table.key_dtype:
        raise TypeError(
            f"Dtype of argument `keys` must be {table.key_dtype}, received: {own.dtype}"
        )
    found = find(own)
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, found, keys.dense_shape)
    return keys.with_flat_values(found) if composite else found


class LookupInterface:
    """What all tables share."""

    def __init__(self, key_dtype, value_dtype, name: str, table: Table):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        self._name = own_name(name)
        self._table = table
        self._resource_handle = handle_of(table)

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    @property
    def name(self):
        return self._name

    @property
    def resource_handle(self):
        return self._resource_handle

    def __getitem__(self, keys):
        return self.lookup(keys)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs):
        return {}

    def size(self, name: str | None = None):
        """The number of entries, an int64 scalar."""
        return LookupTableSizeV2(self._resource_handle)

    def export(self, name: str | None = None):
        """(keys, values) of all entries."""
        out = LookupTableExportV2(
            self._resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
        )
        return out[0], out[1]

    def _exported(self, place: int):
        return self._table.export()[place]

    def _find(self, keys: Tensor | SparseTensor, default: Tensor):
        def find(own: Tensor):
            out = LookupTableFindV2(self._resource_handle, own, default)
            if out.shape.rank is None and own.shape.rank is not None:
                lead = own.shape.as_list()
                lead = lead[: len(lead) - len(self._table.key_shape)]
                out.set_shape([*lead, *self._table.value_shape])
            return out

        return _mapped(self, keys, find)


@api("lookup.StaticHashTable")
@public_methods
class StaticHashTable(LookupInterface):
    """A table that `initializer` fills, once.

    Args:
      default_value: the value of keys that are not in the table.

    Raises FailedPreconditionError for a lookup in a graph before the table was initialized.
    """

    __signature__ = ANY

    def __init__(
        self, initializer: Any, default_value: int | str, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):
        table = Table(initializer.key_dtype, initializer.value_dtype, fixed=True)
        super().__init__(
            initializer.key_dtype, initializer.value_dtype, name or "hash_table", table
        )
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._default_value.shape.assert_has_rank(0)
        self._initializer = initializer
        self._init_op = initializer.initialize(self)

    @property
    def default_value(self):
        return self._default_value

    @property
    def initializer(self):
        return self._init_op

    @property
    def init(self):
        return self._init_op

    def lookup(self, keys: Tensor | SparseTensor, name: str | None = None):
        """The values of keys: a tensor, or a sparse or ragged tensor of the same form."""
        return self._find(keys, self._default_value)


@api("lookup.StaticVocabularyTable")
@public_methods
class StaticVocabularyTable:
    """Numbers of words: those of `initializer`, and hash buckets behind them for all others.

    Args:
      initializer: what fills a table from int64 or string keys to int64 values, or None for buckets only.
      num_oov_buckets: the number of buckets, at least one.
      lookup_key_dtype: the dtype of keys that are looked up, string by default.
    """

    __signature__ = ANY

    def __init__(
        self, initializer: KeyValueTensorInitializer, num_oov_buckets: int,
        lookup_key_dtype: DType | None = None, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):
        if num_oov_buckets <= 0:
            raise ValueError(
                f"Argument `num_oov_buckets` must be a positive int. Received: {num_oov_buckets}."
            )
        self._num_oov_buckets = num_oov_buckets
        self._table = None
        kind = dtypes.string
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected {dtypes.int64} but got {initializer.value_dtype}."
                )
            self._table = StaticHashTable(initializer, -1)
            kind = initializer.key_dtype
        self._key_dtype = kind if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
        if self._key_dtype not in (dtypes.string, dtypes.int64, dtypes.int32):
            raise TypeError(f"Invalid key dtype: {self._key_dtype}")
        self._name = own_name(name or "string_to_index")

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return dtypes.int64

    @property
    def name(self):
        return self._name

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self):
        return no_op() if self._table is None else self._table.initializer

    def size(self, name: str | None = None):
        """The number of words and buckets."""
        return self._num_oov_buckets + (np.int64(0) if self._table is None else self._table.size())

    def lookup(self, keys: Any, name: str | None = None):
        """The int64 numbers of keys: a tensor, or a sparse or ragged tensor of the same form."""
        return _mapped(self, keys, self._numbers_of)

    def __getitem__(self, keys):
        return self.lookup(keys)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs):
        return {} if self._table is None else {"_table": self._table}

    def _numbers_of(self, keys: Tensor):
        words = keys if keys.dtype == dtypes.string else as_string(keys)
        bucket = self._bucket(words) if self._num_oov_buckets > 0 else None
        if self._table is None:
            return bucket
        known = self._table.lookup(
            cast(keys, self._table.key_dtype) if keys.dtype.is_integer else keys
        )
        if bucket is None:
            return known
        return where(not_equal(known, -1), known, arithmetic.add(bucket, self._table.size()))

    def _bucket(self, words: Tensor):
        return hashing.to_hash_bucket_fast(words, self._num_oov_buckets)


@api(v1="initialize_all_tables")
@public
def initialize_all_tables(name: str | None = "init_all_tables"):
    """`tables_initializer` under its older name."""
    return tables_initializer(name)


def initializer_of(table: StaticHashTable) -> Any:
    """What a table is filled by."""
    return table._initializer


@api(v1="tables_initializer")
@public
def tables_initializer(name: str | None = "init_all_tables"):
    """The operation that fills all tables of the graph; nothing eagerly, where tables are filled at once."""
    graph = context.current_graph()
    if graph is None:
        return no_op()
    ops = graph.get_collection(TABLE_INITIALIZERS)
    return group(*ops, name=name)


boundaries(globals())
