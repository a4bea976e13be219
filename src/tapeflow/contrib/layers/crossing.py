"""Combinations of the values of several sparse tensors, row by row."""

from __future__ import annotations

from tapeflow.core.annotations import TensorLike
from tapeflow.ops.ragged.cross import sparse_cross, sparse_cross_hashed, sparse_cross_hashed_v1

# The key of `tf.sparse.cross_hashed`.
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE


def sparse_feature_cross(
    inputs: TensorLike, hashed_output: bool = False, num_buckets: int = 0, name: str | None = None,
    hash_key: TensorLike | None = None,
):
    """The values of each row crossed, joined by "_X_" or hashed; without a key by the hash of early releases.

    Raises TypeError for inputs that are neither sparse tensors nor tensors.
    """
    if not hashed_output:
        return sparse_cross(inputs)
    if hash_key:
        return sparse_cross_hashed(inputs, num_buckets, hash_key)
    return sparse_cross_hashed_v1(inputs, num_buckets)
