"""Lookup tables filled from datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.dataset import Dataset
from tapeflow.data.parts import parts_of
from tapeflow.data.transformations import assert_cardinality
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.lookup.buckets import FastHashSpec, IdTableWithHashBuckets
from tapeflow.ops.lookup.initializers import KeyValueTensorInitializer, TableInitializerBase
from tapeflow.ops.lookup.tables import StaticHashTable

if TYPE_CHECKING:
    from tapeflow.data.sources.records import TFRecordDataset
    from tapeflow.ops.lookup.buckets import HasherSpec, StrongHashSpec


class DatasetInitializer(TableInitializerBase):
    """Fills a table from a dataset of (key, value) pairs of scalars.

    Args:
      dataset: a `tf.data.Dataset`.

    Raises:
      ValueError: for a dataset of other elements.
      InvalidArgumentError: with the table, for an empty one.
    """

    def __init__(self, dataset):
        self._dataset = dataset
        spec = dataset.element_spec
        fits = isinstance(spec, tuple) and len(spec) == 2 and all(
            isinstance(s, TensorSpec) and s.shape.is_compatible_with([]) for s in spec
        )
        if not fits:
            raise ValueError(
                f"The dataset should contain exactly two scalar components, the key and the value, but has {spec}."
            )
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table: StaticHashTable):
        """Fill `table`."""
        self._check(table)
        pairs = list(parts_of(self._dataset).start())
        if not pairs:
            raise InvalidArgumentError(None, None, "The dataset that a table is filled from is empty.")
        keys, values = zip(*pairs)
        return KeyValueTensorInitializer(stack(list(keys)), stack(list(values))).initialize(table)


def table_from_dataset(
    dataset=None, num_oov_buckets: int = 0, vocab_size: Any = None, default_value=None,
    hasher_spec: Any = FastHashSpec, key_dtype: DTypeLike = dtypes.string, name: str | None = None,
):
    """Make a table of the (key, value) pairs of a dataset.

    Args:
      dataset: a `tf.data.Dataset`.
      num_oov_buckets: to how many numbers behind the values other keys are hashed; values are int64 then.
      vocab_size: how many elements are used; None for all.
      default_value: the value of keys that are not in the table, where there are no buckets.
      hasher_spec: the hash that is meant: a `HasherSpec`.
      key_dtype: the dtype of the keys.
      name: the name of the table.

    Returns:
      The table.

    Raises:
      ValueError: for arguments that are missing or do not fit each other.
      TypeError: for such dtypes.
    """
    if not isinstance(dataset, Dataset):
        raise ValueError("Argument `dataset` must be a dataset of (key, value) pairs.")
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    key_dtype = dtypes.as_dtype(key_dtype)
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    if vocab_size is not None:
        dataset = dataset.take(vocab_size).apply(_exactly(vocab_size))
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        kind = initializer.key_dtype
        if kind.is_integer != key_dtype.is_integer:
            expected = "integer" if key_dtype.is_integer else "non-integer"
            raise TypeError(f"Invalid `key dtype`, expected {expected} but got {kind}.")
        table = StaticHashTable(initializer, -1)
        return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, name, key_dtype)
    if default_value is None:
        default_value = "" if initializer.value_dtype == dtypes.string else -1
    return StaticHashTable(initializer, default_value, name)


def _exactly(size: TensorLike):
    return assert_cardinality(size)


def index_table_from_dataset(
    dataset: Dataset | TFRecordDataset | None = None, num_oov_buckets: int = 0, vocab_size: TensorLike | None = None,
    default_value: int = -1, hasher_spec: str | HasherSpec | StrongHashSpec = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string, name: str | None = None,
):
    """Make a table from the elements of a dataset, scalars, to their numbers; see `table_from_dataset`.

    Args:
      dataset: a `tf.data.Dataset`.
      num_oov_buckets: to how many numbers behind the values other keys are hashed; values are int64 then.
      vocab_size: how many elements are used; None for all.
      default_value: the number of keys that are not in the table, where there are no buckets.
      hasher_spec: the hash that is meant: a `HasherSpec`.
      key_dtype: the dtype of the keys.
      name: the name of the table.

    Returns:
      The table.
    """
    if not isinstance(dataset, Dataset):
        raise ValueError("Argument `dataset` must be a dataset of keys.")
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(
        pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )


boundaries(globals())
