"""Tables that hash the keys that they lack into buckets, by a hash that can be chosen."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public_methods
from tapeflow.ops.lookup.initializers import own_name
from tapeflow.ops.lookup.tables import StaticVocabularyTable
from tapeflow.ops.string import hashing, hashing_keyed


class HasherSpec(NamedTuple):
    """Which hash is meant, "fasthash" or "stronghash", and its key."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that is safe while its key, two numbers, is secret. Raises ValueError or TypeError for other keys."""

    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"`key` must have size 2, received {len(key)}")
        if not all(isinstance(number, int) for number in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


@public_methods
class IdTableWithHashBuckets(StaticVocabularyTable):
    """The numbers that `table` has for keys, and hash buckets behind them for all others.

    Args:
      table: a table of int64 numbers, or None for buckets only.
      num_oov_buckets: the number of buckets; without any the table alone answers.
      hasher_spec: the hash: `FastHashSpec` or a `StrongHashSpec`.
      key_dtype: the dtype of keys that are looked up, by default that of the table's, or string.

    Raises TypeError for a `hasher_spec` of another type and for dtypes that do not fit, ValueError for neither a table
    nor buckets and for an unknown hash.
    """

    def __init__(
        self, table: Any, num_oov_buckets: int, hasher_spec: Any = FastHashSpec, name: str | None = None,
        key_dtype=None,
    ):
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"`hasher_spec` must be of type HasherSpec, got {type(hasher_spec)}.")
        if hasher_spec.hasher not in ("fasthash", "stronghash"):
            raise ValueError(f"Unknown hasher {hasher_spec.hasher}")
        if table is None and num_oov_buckets <= 0:
            raise ValueError("`oov_buckets` must be > 0 if no `table` is supplied.")
        own = dtypes.string if table is None else table.key_dtype
        self._key_dtype = own if key_dtype is None else dtypes.as_dtype(key_dtype)
        if self._key_dtype not in (dtypes.string, dtypes.int64, dtypes.int32):
            raise TypeError(f"Invalid key dtype: {self._key_dtype}")
        if table is not None:
            if own.is_integer != self._key_dtype.is_integer:
                wanted = "non-integer" if own.is_integer else "integer"
                raise TypeError(f"Invalid `key dtype`, expected {wanted} but got {own}.")
            if table.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid `value_dtype`: Expected int64 but got {table.value_dtype}.")
        self._table, self._num_oov_buckets, self._hasher = table, num_oov_buckets, hasher_spec
        self._name = own_name(name or "string_to_index")

    @property
    def init(self):
        """The operation that fills the table."""
        return self.initializer

    def _bucket(self, words: Tensor):
        if self._hasher.hasher == "fasthash":
            return hashing.to_hash_bucket_fast(words, self._num_oov_buckets)
        return hashing_keyed.to_hash_bucket_strong(words, self._num_oov_buckets, self._hasher.key)
