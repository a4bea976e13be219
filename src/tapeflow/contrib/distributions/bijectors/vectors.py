"""Bijectors of vectors: permuted, ordered, and of probabilities."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import invert_permutation
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_greater_v1 as assert_greater
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.elementwise import exp, log
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_sum
from tapeflow.ops.math.sorting import sort
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import checked

__all__ = ["Ordered", "Permute", "SoftmaxCentered"]


class Permute(Bijector):
    """The elements of a vector in another order.

    Args:
      permutation: [n], integers: which element comes first, and so on.

    Raises:
      TypeError: where they are no integers.
      ValueError: where they are no permutation of 0 to n - 1.
    """

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None):
        order = convert_to_tensor(permutation)
        if not order.dtype.is_integer:
            raise TypeError(f"permutation.dtype ({order.dtype.name}) should be `int`-like.")
        message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
        known = get_static_value(order)
        if known is not None and sorted(known) != list(range(len(known))):
            raise ValueError(message)

        def check() -> Any:
            all_of_them = range_(shape_of(order)[-1], dtype=order.dtype)
            return assert_equal(sort(order), all_of_them, message=message)

        self._permutation = checked(order, validate_args and known is None, check)
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=1,
            name=name or "permute",
        )  # fmt: skip

    permutation = property(lambda self: self._permutation)

    def _forward(self, x: Any) -> Any:
        return gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, invert_permutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, x.dtype)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._forward_log_det_jacobian(y)


class Ordered(Bijector):
    """Increasing vectors to any ones: the first element, then the logarithms of the steps."""

    def __init__(self, validate_args: bool = False, name: str = "ordered"):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _steps(self, x: Any) -> Any:
        steps = x[..., 1:] - x[..., :-1]
        message = "Forward transformation input must be strictly increasing."
        return self._checked(steps, lambda: assert_positive(steps, message=message))

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return _longer_than_one(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._checked(output_shape, *_length_checks(output_shape))

    def _forward(self, x: Any) -> Any:
        return concat([x[..., :1], log(self._steps(x))], -1)

    def _inverse(self, y: Any) -> Any:
        return cumsum(concat([y[..., :1], exp(y[..., 1:])], -1), -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -reduce_sum(log(self._steps(x)), -1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return reduce_sum(y[..., 1:], -1)


def _longer_than_one(shape: TensorShape) -> TensorShape:
    """The shape. Raises ValueError where a vector of it has one element only."""
    size = static_size(shape, -1)
    if size is not None and size <= 1:
        raise ValueError(f"output_shape[-1] = {size} <= 1")
    return shape


def _length_checks(shape: Any) -> Any:
    yield lambda: assert_greater(shape[-1], 1, message="Need last dimension greater than 1.")


def _resized(shape: TensorShape, change: int) -> TensorShape:
    size = static_size(shape, -1)
    return shape if size is None else shape[:-1].concatenate([size + change])


class SoftmaxCentered(Bijector):
    """The softmax of a vector with a zero behind it: from n numbers to a point of the simplex of n + 1."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return _resized(input_shape, 1)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return _resized(_longer_than_one(output_shape), -1)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        shape = self._checked(output_shape, *_length_checks(output_shape))
        return concat([shape[:-1], shape[-1:] - 1], 0)

    def _forward(self, x: Any) -> Any:
        y = concat([x, zeros_like(x[..., :1])], -1)
        y.set_shape(_resized(x.shape, 1))
        return softmax(y)

    def _inverse(self, y: Any) -> Any:
        logs = log(y)
        x = logs[..., :-1] - logs[..., -1:]
        x.set_shape(_resized(y.shape, -1))
        return x

    # Of the first n coordinates of the simplex.

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -reduce_sum(log(y), -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        total = softplus(reduce_logsumexp(x, -1, keepdims=True))
        return reduce_sum(x - total, -1) - total[..., 0]


boundaries(globals())
