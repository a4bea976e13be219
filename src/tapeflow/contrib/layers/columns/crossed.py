"""Columns of combinations of the ids of other columns."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.layers.columns.categorical import _Categorical, _SparseColumn
from tapeflow.contrib.layers.columns.numeric import _BucketizedColumn
from tapeflow.contrib.layers.crossing import sparse_feature_cross


class _CrossedColumn(
    _Categorical,
    _FeatureColumn,
    namedtuple(
        "_CrossedColumn",
        [
            "columns",
            "hash_bucket_size",
            "hash_key",
            "combiner",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
        ],
    ),
):
    """See `crossed_column`."""

    kind = "CrossedColumn"
    remedy = "embedding_column"

    @property
    def name(self):
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self):
        """The number of ids."""
        return self.hash_bucket_size

    @property
    def config(self):
        return {key: feature for column in self.columns for key, feature in column.config.items()}

    @property
    def parents(self):
        return list(self.columns)

    def _leaves(self):
        for column in self.columns:
            if isinstance(column, _CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def transform_feature(self, transformation_cache, state_manager):
        # Columns of features give these to the hash; their own ids would collide twice.
        found = [
            transformation_cache.get(column.name, state_manager)
            if isinstance(column, _SparseColumn)
            else column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
            for column in self._leaves()
        ]
        return sparse_feature_cross(
            found, hashed_output=True, num_buckets=self.hash_bucket_size, hash_key=self.hash_key
        )


def crossed_column(
    columns: Sequence[Any], hash_bucket_size: int, combiner: str = "sum", ckpt_to_load_from=None,
    tensor_name_in_ckpt=None, hash_key: int | None = None,
):
    """All combinations of the ids of columns, hashed modulo `hash_bucket_size`.

    Without `hash_key` the hash is that of early releases. Raises TypeError for columns without ids of their own,
    ValueError for fewer than two of them, and for arguments that do not fit.
    """
    for column in columns:
        if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                f"(column {column} is a {type(column).__name__})"
            )
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(
            f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
        )
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    ordered = tuple(sorted(columns, key=lambda column: column.name))
    return _CrossedColumn(
        ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
    )
