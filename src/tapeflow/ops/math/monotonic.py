"""Whether elements rise from one to the next."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.math.comparison import Less, LessEqual
from tapeflow.ops.math.reductions import reduce_all


def _steps(x, compare):
    """`compare` of each element, all axes read as one, with the one before."""
    flat = Reshape(convert_to_tensor(x), [-1])
    return reduce_all(compare(flat[:-1], flat[1:]))


@api("math.is_non_decreasing", v1=("debugging.is_non_decreasing", "is_non_decreasing"))
@tensor_function
def is_non_decreasing(x: TensorLike, name: str | None = None):
    """Whether no element of `x`, read row by row, is less than the one before."""
    return _steps(x, LessEqual)


@api("math.is_strictly_increasing", v1=("debugging.is_strictly_increasing", "is_strictly_increasing"))
@tensor_function
def is_strictly_increasing(x: TensorLike, name: str | None = None):
    """Whether each element of `x`, read row by row, is more than the one before."""
    return _steps(x, Less)
