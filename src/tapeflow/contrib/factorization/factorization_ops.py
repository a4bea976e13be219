"""Ops of factorizations by weighted alternating least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.compat import v1
from tapeflow.core.public import boundaries

if TYPE_CHECKING:
    import numpy as np


def masked_matmul(
    a: np.ndarray, b: np.ndarray, mask_indices: np.ndarray, transpose_a: bool, transpose_b: bool,
    name: str | None = None,
):
    """Some elements of a product of matrices.

    Args:
      a, b: float32 matrices.
      mask_indices: int64 (n, 2): which elements.
      transpose_a, transpose_b: whether a matrix is transposed first; may be tensors.

    Returns:
      float32 (n,).
    """
    with v1.name_scope(name, "MaskedMatmul", [a, b, mask_indices]):
        a, b = v1.convert_to_tensor(a, v1.float32), v1.convert_to_tensor(b, v1.float32)
        rows = v1.cond(v1.convert_to_tensor(transpose_a), lambda: v1.transpose(a), lambda: v1.identity(a))
        columns = v1.cond(v1.convert_to_tensor(transpose_b), lambda: v1.identity(b), lambda: v1.transpose(b))
        mask_indices = v1.convert_to_tensor(mask_indices, v1.int64)
        return v1.reduce_sum(v1.gather(rows, mask_indices[:, 0]) * v1.gather(columns, mask_indices[:, 1]), 1)


def wals_compute_partial_lhs_and_rhs(
    factors: np.ndarray, factor_weights: np.ndarray, unobserved_weights: float, input_weights: np.ndarray,
    input_indices: np.ndarray, input_values: np.ndarray, entry_weights: np.ndarray, input_block_size: int,
    input_is_transpose: bool, name: str | None = None,
):  # fmt: skip
    """The two sides of the equations by which the factors of rows are found, without what unobserved entries add.

    An observed entry weighs what `entry_weights` says, or else the product of the weights of its row and column.

    Args:
      factors: float32 (columns, k): of the columns.
      factor_weights: float32 (columns,), or empty where there are `entry_weights`.
      unobserved_weights: a scalar: what all entries weigh besides.
      input_weights: float32 (rows,), or empty.
      input_indices, input_values: the observed entries: int64 (n, 2), float32 (n,).
      entry_weights: float32 (n,), or empty.
      input_block_size: how many rows.
      input_is_transpose: whether rows and columns of the indices are exchanged; may be a tensor.

    Returns:
      float32 (rows, k, k), the sums of weighted outer products of factors, and (rows, k), the sums of factors times
      values times both weights.
    """
    with v1.name_scope(name, "WALSComputePartialLhsAndRhs"):
        factors = v1.convert_to_tensor(factors, v1.float32)
        weights, own = (v1.convert_to_tensor(x, v1.float32) for x in (factor_weights, input_weights))
        given = v1.convert_to_tensor(entry_weights, v1.float32)
        indices = v1.convert_to_tensor(input_indices, v1.int64)
        values = v1.convert_to_tensor(input_values, v1.float32)
        indices = v1.cond(
            v1.convert_to_tensor(input_is_transpose), lambda: v1.reverse(indices, [1]), lambda: v1.identity(indices)
        )
        rows, columns = indices[:, 0], indices[:, 1]
        observed = v1.cond(
            v1.size(given) > 0,
            lambda: v1.identity(given),
            lambda: v1.gather(own, rows) * v1.gather(weights, columns),
        )
        chosen = v1.gather(factors, columns)
        outer = chosen[:, :, None] * (observed[:, None] * chosen)[:, None]
        right = (values * (observed + unobserved_weights))[:, None] * chosen
        count = v1.cast(input_block_size, v1.int64)
        return v1.unsorted_segment_sum(outer, rows, count), v1.unsorted_segment_sum(right, rows, count)


boundaries(globals())
