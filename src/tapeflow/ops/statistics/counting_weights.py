"""What the elements of sparse and ragged tensors count."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.casting import cast


def weights_of(weights, values):
    """The weights of sparse or ragged values as a vector. Raises ValueError for weights of another kind, and
    InvalidArgumentError where they are at other places.
    """
    kind = type(values)
    if weights is None:
        return None
    if not isinstance(weights, kind):
        raise ValueError(
            f"Argument `weights` must be a {kind.__name__} if `values` is a {kind.__name__}. Received "
            f"weights={weights} of type: {type(weights).__name__}"
        )
    if isinstance(weights, SparseTensor):
        places = [
            ("dense shape", weights.dense_shape, values.dense_shape),
            ("indices", weights.indices, values.indices),
        ]
    else:
        places = [("row splits", cast(weights.row_splits, dtypes.int64), cast(values.row_splits, dtypes.int64))]
    checks = [
        assert_equal_v1(x, y, message=f"'weights' and 'values' must have the same {what}.") for what, x, y in places
    ]
    with control_dependencies([check for check in checks if check is not None]):
        return identity(weights.values if isinstance(weights, SparseTensor) else weights.flat_values)
