"""What TensorFlow's module of recurrent cells has besides the cells: checks and sizes, for loops that others write."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.rnn.core_rnn_cell import _Linear, _linear
from tapeflow.core.convert import constant, convert_to_tensor, is_tensor
from tapeflow.core.dtypes import int32
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.static import get_static_value
from tapeflow.v1.rnn.base import assert_like_rnncell

__all__ = [
    "ASSERT_LIKE_RNNCELL_ERROR_REGEXP", "_Linear", "_concat", "_hasattr", "_linear", "_zero_state_tensors",
    "assert_like_rnncell",
]  # fmt: skip

ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"
_BIAS_VARIABLE_NAME = "bias"
_WEIGHTS_VARIABLE_NAME = "kernel"


def _hasattr(obj: Any, attr_name: str) -> bool:
    """Return whether an object has an attribute, be it one whose property raises something else."""
    try:
        getattr(obj, attr_name)
    except AttributeError:
        return False
    except Exception:  # a property that exists, and cannot be computed yet
        return True
    return True


def _sizes(given: Any, what: str) -> tuple[Any, Any]:
    """Return sizes as an integer vector, None if not all are known, and as a list, None if not even their number is."""
    if is_tensor(given):
        if given.shape.rank not in (0, 1):
            raise ValueError(f"{what} tensor must be either a scalar or vector, but saw tensor: {given}")
        static = get_static_value(given)
        known = static
        if static is None and given.shape.is_fully_defined():
            known = [None] * (given.shape[0] if given.shape.rank else 1)
        vector = expand_dims(given, 0) if given.shape.rank == 0 else given
        return convert_to_tensor(vector), known
    shape = TensorShape(given)
    sizes = None if shape.rank is None else shape.as_list()
    return constant(sizes, int32) if shape.is_fully_defined() else None, sizes


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """Return the sizes of `prefix` before those of `suffix`.

    Args:
      prefix: a size, a shape, or an integer tensor of rank 0 or 1.
      suffix: the same.
      static: whether the result is a list, with None for a size that is not known (None where the rank is not),
        rather than an integer vector.

    Raises:
      ValueError: a tensor of another rank, or a shape that is not fully known where a tensor is asked for.
    """
    first, known_first = _sizes(prefix, "prefix")
    second, known_second = _sizes(suffix, "suffix")
    if static:
        shape = TensorShape(known_first).concatenate(TensorShape(known_second))
        return None if shape.rank is None else shape.as_list()
    if first is None or second is None:
        raise ValueError(
            f"Provided a prefix or suffix of None: {prefix} and {suffix}"
        )
    return concat([first, second], 0)


def _zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros for the state of a cell: for each size of a nested structure a tensor [batch_size, *size]."""

    def zero(size: Any) -> Any:
        state = zeros(_concat(batch_size, size), dtype)
        state.set_shape(_concat(batch_size, size, static=True))
        return state

    return nest.map_structure(zero, state_size)
