"""Features of boosted trees: feature columns as numbers of buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.feature_column.bucketized import BucketizedColumn
from tapeflow.feature_column.cache import FeatureTransformationCache
from tapeflow.feature_column.indicator import IndicatorColumn
from tapeflow.feature_column.numeric import NumericColumn
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape_v1 as shape
from tapeflow.ops.math.casting import cast
from tapeflow.v1 import feature_column


class Inputs:
    """The inputs of a batch.

    Attributes:
      ids: int32 (examples, features): of columns with buckets of their own.
      numbers: float32 (examples, features): those that get buckets by their quantiles; None without any.
      buckets: the most that a feature of `ids` has.
      number_count: how many features of `numbers` there are; `count`: of both.
    """

    def __init__(self, features, columns):
        cache = FeatureTransformationCache(features)
        ids, numbers, self.buckets = [], [], 2
        for column in columns:
            if isinstance(column, BucketizedColumn):
                size = math.prod(column.source_column.shape)
                ids.append(reshape(cast(cache.get(column, None), dtypes.int32), [-1, size]))
                self.buckets = max(self.buckets, len(column.boundaries) + 1)
            elif isinstance(column, IndicatorColumn):
                dense = column.get_dense_tensor(cache, None)
                size = dense.shape[-1]
                ids.append(cast(reshape(dense, [-1, size]) > 0, dtypes.int32))
            elif isinstance(column, NumericColumn):
                size = math.prod(column.shape)
                numbers.append(reshape(cast(cache.get(column, None), dtypes.float32), [-1, size]))
            else:
                raise ValueError(
                    "For now, only bucketized_column, indicator_column and numeric_column are supported, but got: "
                    f"{column}"
                )
        self.numbers = concat(numbers, 1) if numbers else None
        self.ids = concat(ids, 1) if ids else zeros([shape(self.numbers)[0], 0], dtypes.int32)
        self.number_count = sum(x.shape[1] for x in numbers)
        self.count = self.ids.shape[1] + self.number_count


def names_of(columns: Sequence[Any]):
    """The names of the features of `Inputs` of these columns, those of `ids` first."""
    last = [column for column in columns if isinstance(column, NumericColumn)]
    return [name for column in columns if column not in last for name in _names(column)] + [
        name for column in last for name in _names(column)
    ]


def _names(column: BucketizedColumn | NumericColumn):
    if isinstance(column, IndicatorColumn):
        size = column.variable_shape[-1]
        known = getattr(column.categorical_column, "vocabulary_list", None) or range(size)
        return [f"{column.name}:{each}" for each in known][:size]
    size = math.prod((column.source_column if isinstance(column, BucketizedColumn) else column).shape)
    return [column.name] if size == 1 else [f"{column.name}:{i}" for i in range(size)]


def plain_numbers(features: dict[str, Any]):
    """Numeric columns of all features, for models without columns."""
    return [
        feature_column.numeric_column(key, [math.prod(value.shape.as_list()[1:])])
        for key, value in sorted(features.items())
    ]
