"""What the cells share: affine maps, normalized gates, the step of an LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.normalization import batch_normalization, moments
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import input_depth
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["lstm_step", "linear", "normed", "peephole"]


def linear(
    inputs, size, bias: bool = True, bias_start: float = 0.0, kernel: str = "kernel", bias_name: str = "bias"
):
    """The inputs, tensors [batch, depth] side by side, times a matrix, plus a bias: [batch, size]."""
    joined = inputs[0] if len(inputs) == 1 else concat(inputs, 1)
    depth = input_depth(joined.shape)
    product = matmul(joined, get_variable(kernel, [depth, size], dtype=joined.dtype))
    if not bias:
        return product
    start = initializers.constant_initializer(bias_start, dtype=joined.dtype)
    return product + get_variable(bias_name, [size], dtype=joined.dtype, initializer=start)


def normed(x, scope, gain, shift):
    """Each row of `x` at mean 0 and variance 1, then scaled and moved by what is learned from `gain` and `shift` on."""
    with variable_scope(scope):
        gamma, beta = (
            get_variable(
                name, [x.shape.as_list()[-1]], dtype=x.dtype, initializer=initializers.constant_initializer(start)
            )
            for name, start in (("gamma", gain), ("beta", shift))
        )
    mean, variance = moments(x, [1], keepdims=True)
    return batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def peephole(name: str, size: int, like: Tensor) -> Tensor:
    """The weights, one for each unit, by which a gate sees the state."""
    return get_variable(name, [size], dtype=like.dtype)


def lstm_step(
    gates: Sequence[Tensor], c: Tensor, forget_bias: float = 1.0, activation: Callable[[Tensor], Tensor] = tanh,
    peepholes: Sequence[Tensor] | None = None, cell_clip: float | None = None,
    norm: Callable[[Tensor], Tensor] | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The new state c and the output of an LSTM (Hochreiter & Schmidhuber 1997), from its gates before the sigmoid.

    Args:
      gates: input gate, candidate, forget gate and output gate, each [batch, ...] as `c` is.
      c: the state.
      forget_bias: what is added to the forget gate.
      activation: of the candidate and of the new state.
      peepholes: the weights by which input, forget and output gate see the state (Gers & Schmidhuber 2000).
      cell_clip: the largest absolute value of the new state.
      norm: what is done to the new state before it is clipped.
    """
    i, j, f, o = gates
    f = f + forget_bias
    if peepholes is not None:
        see_i, see_f, see_o = peepholes
        i, f = i + see_i * c, f + see_f * c
    c = sigmoid(f) * c + sigmoid(i) * activation(j)
    if norm is not None:
        c = norm(c)
    if cell_clip is not None:
        c = clip_by_value(c, -cell_clip, cell_clip)
    if peepholes is not None:
        o = o + see_o * c
    return c, sigmoid(o) * activation(c)
