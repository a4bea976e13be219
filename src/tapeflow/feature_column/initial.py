"""The default initial values of embeddings."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.ops.random.functions import truncated_normal


class TruncatedNormal:
    """Draws from a normal distribution, cut off at two standard deviations."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info=None):
        return truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)

    def get_config(self):
        """The constructor's arguments."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """An initializer from the constructor's arguments."""
        return cls(**config)


def for_dimension(dimension: int) -> TruncatedNormal:
    """Rows of about the length one."""
    return TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))
