"""Features of boosted trees: feature columns as numbers of buckets."""

from __future__ import annotations

import math

from tapeflow.compat import v1
from tapeflow.feature_column.bucketized import BucketizedColumn
from tapeflow.feature_column.cache import FeatureTransformationCache
from tapeflow.feature_column.indicator import IndicatorColumn
from tapeflow.feature_column.numeric import NumericColumn


class Inputs:
    """The inputs of a batch.

    Attributes:
      ids: int32 (examples, features): of columns with buckets of their own.
      numbers: float32 (examples, features): those that get buckets by their quantiles; None without any.
      buckets: the most that a feature of `ids` has.
      names: of all features, those of `ids` first.
    """

    def __init__(self, features, columns):
        cache = FeatureTransformationCache(features)
        ids, numbers, self.buckets, id_names, number_names = [], [], 2, [], []
        for column in columns:
            if isinstance(column, BucketizedColumn):
                size = math.prod(column.source_column.shape)
                ids.append(v1.reshape(v1.cast(cache.get(column, None), v1.int32), [-1, size]))
                self.buckets = max(self.buckets, len(column.boundaries) + 1)
                id_names += _names(column.name, size)
            elif isinstance(column, IndicatorColumn):
                dense = column.get_dense_tensor(cache, None)
                size = dense.shape[-1]
                ids.append(v1.cast(v1.reshape(dense, [-1, size]) > 0, v1.int32))
                id_names += _categories(column, size)
            elif isinstance(column, NumericColumn):
                size = math.prod(column.shape)
                numbers.append(v1.reshape(v1.cast(cache.get(column, None), v1.float32), [-1, size]))
                number_names += _names(column.name, size)
            else:
                raise ValueError(
                    "For now, only bucketized_column, indicator_column and numeric_column are supported, but got: "
                    f"{column}"
                )
        self.numbers = v1.concat(numbers, 1) if numbers else None
        self.ids = v1.concat(ids, 1) if ids else v1.zeros([v1.shape(self.numbers)[0], 0], v1.int32)
        self.names = id_names + number_names
        self.number_count = len(number_names)


def _names(name, size):
    return [name] if size == 1 else [f"{name}:{i}" for i in range(size)]


def _categories(column, size):
    known = getattr(column.categorical_column, "vocabulary_list", None) or range(size)
    return [f"{column.name}:{each}" for each in known][:size]


def plain_numbers(features):
    """Numeric columns of all features, for models without columns."""
    return [
        v1.feature_column.numeric_column(key, [math.prod(value.shape.as_list()[1:])])
        for key, value in sorted(features.items())
    ]
