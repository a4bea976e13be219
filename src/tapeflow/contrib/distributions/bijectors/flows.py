"""Bijectors of vectors that are scaled and shifted as a neural network says: flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.core.annotations import DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, public
from tapeflow.function.template import make_template
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import stop_gradient
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import unstack
from tapeflow.ops.control.flow import while_loop_v1 as while_loop
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.elementwise import exp
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.initializers import glorot_normal_initializer
from tapeflow.v1.layers.classes import Dense
from tapeflow.v1.layers.functions import dense

__all__ = [
    "MaskedAutoregressiveFlow", "RealNVP", "masked_autoregressive_default_template", "masked_dense",
    "real_nvp_default_template",
]  # fmt: skip


def _scaled_and_shifted(x: TensorLike, shift: Any, log_scale: Any) -> Any:
    y = x if log_scale is None else x * exp(log_scale)
    return y if shift is None else y + shift


def _back(y: TensorLike, shift: Any, log_scale: Any) -> Any:
    x = y if shift is None else y - shift
    return x if log_scale is None else x * exp(-log_scale)


def _known_depth(x: Any) -> int:
    depth = static_size(x.shape.with_rank_at_least(1), -1)
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth


class MaskedAutoregressiveFlow(Bijector):
    """Vectors, each element of which is scaled and shifted by what the ones before it say (Papamakarios et al., 2017).

    The inverse takes one call of the function, `forward` as many as there are elements.

    Args:
      shift_and_log_scale_fn: of `y`, gives the shift and the logarithm of the scale, each [..., n] or None; an element
        of these may depend on the elements of `y` before it only.
      is_constant_jacobian: whether the scale is the same everywhere.
      unroll_loop: whether `forward` repeats the calls in the graph, rather than loop.
    """

    def __init__(
        self, shift_and_log_scale_fn: Callable[..., Any], is_constant_jacobian: bool = False,
        validate_args: bool = False, unroll_loop: bool = False, name: str | None = None,
    ):  # fmt: skip
        self._function, self._unroll_loop = shift_and_log_scale_fn, unroll_loop
        super().__init__(
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, forward_min_event_ndims=1,
            name=name or "masked_autoregressive_flow",
        )  # fmt: skip

    def _forward(self, x: Any) -> Any:
        depth = static_size(x.shape.with_rank_at_least(1), -1)
        y = zeros_like(x)
        if self._unroll_loop:
            if depth is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. "
                    f"`x.shape: {x.shape!r}`"
                )
            for _ in range(depth):
                y = _scaled_and_shifted(x, *self._function(y))
            return y
        # The first call makes the variables, which cannot be made inside of a loop.
        self._function(y)

        def body(index: Any, y: TensorLike) -> Any:
            return index + 1, _scaled_and_shifted(x, *self._function(y))

        count = shape_of(x)[-1]
        return while_loop(lambda index, _: index < count, body, (0, y), maximum_iterations=depth)[1]

    def _inverse(self, y: Any) -> Any:
        return _back(y, *self._function(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._function(y)[1]
        return convert_to_tensor(0.0, y.dtype) if log_scale is None else -reduce_sum(log_scale, -1)


class RealNVP(Bijector):
    """Vectors whose first elements say how the others are scaled and shifted (Dinh et al., 2017).

    Args:
      num_masked: how many elements stay as they are.
      shift_and_log_scale_fn: of the first elements and the number of the others, gives the shift and the logarithm of
        the scale of the others, or None for either.
      is_constant_jacobian: whether the scale is the same everywhere.
    """

    def __init__(
        self, num_masked: int, shift_and_log_scale_fn: Callable[..., Any], is_constant_jacobian: bool = False,
        validate_args: bool = False, name: str | None = None,
    ):  # fmt: skip
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked, self._function = num_masked, shift_and_log_scale_fn
        super().__init__(
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, forward_min_event_ndims=1,
            name=name or "real_nvp",
        )  # fmt: skip

    def _parts(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """The first elements, the others, their shift and the logarithm of their scale."""
        depth = _known_depth(x)
        if self._num_masked >= depth:
            raise ValueError("Number of masked units must be smaller than the event size.")
        first = x[..., : self._num_masked]
        return first, x[..., self._num_masked :], *self._function(first, depth - self._num_masked)

    def _forward(self, x: Any) -> Any:
        first, others, shift, log_scale = self._parts(x)
        return concat([first, _scaled_and_shifted(others, shift, log_scale)], -1)

    def _inverse(self, y: Any) -> Any:
        first, others, shift, log_scale = self._parts(y)
        return concat([first, _back(others, shift, log_scale)], -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_scale = self._parts(x)[-1]
        return convert_to_tensor(0.0, x.dtype) if log_scale is None else reduce_sum(log_scale, -1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self._forward_log_det_jacobian(y)


def _mask(blocks: Any, inputs: int, outputs: int, exclusive: bool) -> np.ndarray:
    """[inputs, outputs], 1 where an output may depend on an input: on blocks of inputs up to its own, or before it."""
    block = np.arange(inputs) // (inputs // blocks)
    first = (block + exclusive) * (outputs // blocks)
    return ((np.arange(outputs) >= first[:, None]) & (block < blocks)[:, None]).astype(np.float32)


@public
def masked_dense(
    inputs: TensorLike, units: int, num_blocks: int | None = None, exclusive: bool = False,
    kernel_initializer: Callable[..., Any] | None = None, reuse: bool | None = None, name: str | None = None,
    *args: Any, **kwargs: Any,
):  # fmt: skip
    """A dense layer whose outputs depend on earlier inputs only (Germain et al., 2015).

    Args:
      inputs: [..., depth].
      units: how many outputs.
      num_blocks: how many blocks inputs and outputs fall into.
      exclusive: whether outputs depend on blocks before their own only.
      kernel_initializer: of the kernel; Glorot's normal one unless given.
      reuse: whether variables that are there are used.
      name: of the scope of the variables.
      *args, **kwargs: more of `tf.layers.Dense`.
    """
    inputs = convert_to_tensor(inputs)
    mask = _mask(num_blocks, _known_depth(inputs), units, exclusive)
    initializer = glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked_initializer(shape: ShapeLike, dtype: DTypeLike | None = None, partition_info=None):
        return mask * initializer(shape, dtype, partition_info)

    layer = Dense(  # type: ignore[misc]  # more positions are those behind `units`
        units, *args, kernel_initializer=masked_initializer, kernel_constraint=lambda kernel: mask * kernel,
        name=name, dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs,
    )  # fmt: skip
    return layer.apply(inputs)


@public
def masked_autoregressive_default_template(
    hidden_layers: Sequence[int], shift_only: bool = False, activation: Callable[..., Any] | None = relu,
    log_scale_min_clip: float = -5.0, log_scale_max_clip: float = 3.0, log_scale_clip_gradient: bool = False,
    name: str | None = None, *args: Any, **kwargs: Any,
):  # fmt: skip
    """A function of `y` that `MaskedAutoregressiveFlow` takes: masked dense layers, made once and then shared.

    Args:
      hidden_layers: the units of each hidden layer.
      shift_only: whether the scale is left alone.
      activation: of the hidden layers.
      log_scale_min_clip, log_scale_max_clip: what the logarithm of the scale is clipped to.
      log_scale_clip_gradient: whether the gradient of what was clipped is zero.
      name: of the scope of the variables.
      *args, **kwargs: more of `masked_dense`.
    """

    def function(x: Tensor):
        depth = _known_depth(x)
        shape = shape_of(x)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(  # type: ignore[misc]
                *args, inputs=x, units=units, num_blocks=depth, exclusive=i == 0, activation=activation, **kwargs
            )
        outputs = depth if shift_only else 2 * depth
        x = masked_dense(  # type: ignore[misc]
            *args, inputs=x, units=outputs, num_blocks=depth, activation=None, **kwargs
        )
        if shift_only:
            return reshape(x, shape), None
        shift, log_scale = unstack(reshape(x, concat([shape, [2]], 0)), 2, axis=-1)
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:
            clipped = log_scale + stop_gradient(clipped - log_scale)
        return shift, clipped

    return make_template(name or "masked_autoregressive_default_template", function)


@public
def real_nvp_default_template(
    hidden_layers: Sequence[int], shift_only: bool = False, activation: Callable[..., Any] | None = relu,
    name: str | None = None, *args: Any, **kwargs: Any,
):  # fmt: skip
    """A function that `RealNVP` takes: dense layers, made once and then shared.

    Args:
      hidden_layers: the units of each hidden layer.
      shift_only: whether the scale is left alone.
      activation: of the hidden layers.
      name: of the scope of operations.
      *args, **kwargs: more of `tf.layers.dense`.
    """

    def function(x: Tensor, output_units: int):
        for units in hidden_layers:
            x = dense(*args, inputs=x, units=units, activation=activation, **kwargs)
        x = dense(*args, inputs=x, units=(1 if shift_only else 2) * output_units, activation=None, **kwargs)
        return (x, None) if shift_only else tuple(split(x, 2, axis=-1))

    return make_template("real_nvp_default_template", function)


boundaries(globals())
