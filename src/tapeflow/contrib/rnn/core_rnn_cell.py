"""The affine maps that programs import from the modules of TensorFlow's cells, and wrappers that are there too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.contrib.rnn.wrappers import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from tapeflow.core.structures import nest
from tapeflow.ops.array.joining import concat
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.nn.bias import bias_add
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import input_depth
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = ["EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper"]


def _as_list(args: Sequence[Any]) -> list[Any]:
    if args is None or (nest.is_nested(args) and not args):
        raise ValueError("`args` must be specified")
    return list(args) if nest.is_nested(args) else [args]


class _Linear:
    """Tensors [batch, depth], side by side, times a matrix that the first ones size, plus biases if `build_bias`.

    The variables, `kernel` and `bias`, are those of the variable scope in which it is made. Calls give
    [batch, output_size]. Raises ValueError for no tensors, and for depths that are not known.
    """

    def __init__(
        self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:  # fmt: skip
        parts = _as_list(args)
        for part in parts:
            if part.shape.rank != 2:
                raise ValueError(f"linear is expecting 2D arguments: {[x.shape for x in parts]}")
        depth = sum(input_depth(part.shape) for part in parts)
        kind = parts[0].dtype
        self._kernel = get_variable("kernel", [depth, output_size], dtype=kind, initializer=kernel_initializer)
        self._bias = None
        if build_bias:
            with variable_scope(get_variable_scope()) as scope:
                scope.set_partitioner(None)
                start = bias_initializer or initializers.constant_initializer(0.0, dtype=kind)
                self._bias = get_variable("bias", [output_size], dtype=kind, initializer=start)

    def __call__(self, args: Sequence[Any]) -> Any:
        parts = _as_list(args)
        product = matmul(parts[0] if len(parts) == 1 else concat(parts, 1), self._kernel)
        return product if self._bias is None else bias_add(product, self._bias)


def _linear(
    args: Sequence[Any], output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None
) -> Any:
    """`_Linear` made and called at once; a number for `bias_initializer` is what the biases start from."""
    if isinstance(bias_initializer, (int, float)):
        bias_initializer = initializers.constant_initializer(bias_initializer)
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)
