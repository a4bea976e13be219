"""`tf.__operators__`: the operators of tensors that are no public functions besides."""

from tapeflow.ops.operator_methods import add, eq, getitem, ne, ragged_getitem

__all__ = ["add", "eq", "getitem", "ne", "ragged_getitem"]
