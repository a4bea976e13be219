"""Products of dense matrices taken at the places of a sparse one only."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.static import static_value


@api(v2="sparse.sampled_addmm")
@public
def sampled_addmm(
    indices: TensorLike, values: TensorLike, dense_shape, mat1, mat2, beta: TensorLike = 1.0, alpha: TensorLike = 1.0,
    output_type: DTypeLike = dtypes.float32,
):
    """Compute chosen elements of `alpha * (mat1 @ mat2) + beta * values`.

    Args:
      indices: which elements of each matrix: rows and columns, integers `[..., n, 2]`.
      values: what to add, `[..., n]`.
      dense_shape: the shape of a matrix of the product, `[M, N]`.
      mat1: matrices `[..., M, K]`.
      mat2: matrices `[..., K, N]`.
      beta: the factor of `values`.
      alpha: the factor of the product.
      output_type: the dtype to compute in.

    Returns:
      (indices, the elements `[..., n]`, dense_shape).

    Raises:
      ValueError: for a dense shape that is known not to be that of the product.
      InvalidArgumentError: for indices outside of it.
    """
    kind = dtypes.as_dtype(output_type)
    indices, dense_shape = convert_to_tensor(indices), convert_to_tensor(dense_shape)
    values, mat1, mat2 = (cast(v, kind) for v in (values, mat1, mat2))
    sizes = concat([Shape(mat1)[-2:-1], Shape(mat2)[-1:]], 0)
    known, given = static_value(sizes), static_value(dense_shape)
    if known is not None and given is not None:
        if known.shape != given.shape or (known != given).any():
            raise ValueError(f"Dense shape: {given} does not match output shape: {known}")
    check = assert_equal_v1(cast(sizes, dtypes.int64), cast(dense_shape, dtypes.int64),
                            message="dense_shape is not the shape of the product")  # fmt: skip
    with control_dependencies([] if check is None else [check]):
        batch = mat1.shape.with_rank_at_least(2).rank - 2
        rows = gather_nd(mat1, indices[..., :-1], batch)
        columns = gather_nd(matrix_transpose(mat2), indices[..., -1:], batch)
    products = reduce_sum(rows * columns, -1)
    return indices, cast(alpha, kind) * products + cast(beta, kind) * values, dense_shape
