"""Reductions with the argument names of 1.x."""

from __future__ import annotations

from tapeflow._native import Tensor
from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math.reductions import (
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)


@api(v1=("math.count_nonzero", "count_nonzero"))
@tensor_function
@graph_scope("count_nonzero")
def count_nonzero_v1(
    input_tensor: TensorLike | None = None, axis: AxisLike | None = None, keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64, name: str | None = None, reduction_indices=None, keep_dims: bool | None = None,
    input: TensorLike | None = None,
):
    """`count_nonzero` as 1.x spells it."""
    return count_nonzero(
        renamed("input", input, "input_tensor", input_tensor),
        renamed("axis", axis, "reduction_indices", reduction_indices),
        renamed("keepdims", keepdims, "keep_dims", keep_dims, False),
        dtype,
        name,
    )


def _v1(function):
    """`function` with the argument names of 1.x."""

    @tensor_function
    def reduction(
        input_tensor: Tensor, axis: int | None = None, keepdims: bool | None = None, name: str | None = None,
        reduction_indices=None, keep_dims: bool | None = None,
    ):
        return function(
            input_tensor,
            renamed("axis", axis, "reduction_indices", reduction_indices),
            renamed("keepdims", keepdims, "keep_dims", keep_dims, False),
            name,
        )

    reduction.__name__ = reduction.__qualname__ = function.__name__
    reduction.__doc__ = (
        f"{function.__doc__}\n\n`reduction_indices` is `axis`, `keep_dims` is `keepdims`."
    )
    return reduction


reduce_sum_v1 = _v1(reduce_sum)
api_value("reduce_sum_v1", v1=("math.reduce_sum", "reduce_sum"))
reduce_mean_v1 = _v1(reduce_mean)
api_value("reduce_mean_v1", v1=("math.reduce_mean", "reduce_mean"))
reduce_prod_v1 = _v1(reduce_prod)
api_value("reduce_prod_v1", v1=("math.reduce_prod", "reduce_prod"))
reduce_max_v1 = _v1(reduce_max)
api_value("reduce_max_v1", v1=("math.reduce_max", "reduce_max"))
reduce_min_v1 = _v1(reduce_min)
api_value("reduce_min_v1", v1=("math.reduce_min", "reduce_min"))
reduce_all_v1 = _v1(reduce_all)
api_value("reduce_all_v1", v1=("math.reduce_all", "reduce_all"))
reduce_any_v1 = _v1(reduce_any)
api_value("reduce_any_v1", v1=("math.reduce_any", "reduce_any"))
reduce_logsumexp_v1 = _v1(reduce_logsumexp)
api_value("reduce_logsumexp_v1", v1=("math.reduce_logsumexp", "reduce_logsumexp"))
