"""The bijector that gives events another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_greater_equal_v1 as assert_greater_equal
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.static import get_static_value

__all__ = ["Reshape"]


def _shape_checks(shape: Any, validate_args: bool) -> list[Any]:
    """What must be checked of a shape when the graph runs. Raises for one that is known and is none."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    checks: list[Any] = []
    if shape.shape.rank is not None:
        if shape.shape.rank > 1:
            raise ValueError(f"`{shape}` rank ({shape.shape.rank}) should be <= 1.")
    elif validate_args:
        checks.append(assert_less_equal(rank_of(shape), 1, message=f"`{shape}` rank should be <= 1."))
    sizes = get_static_value(shape)
    if sizes is not None:
        if sum(sizes == -1) > 1:
            raise ValueError(f"`{shape}` must have at most one `-1` (given {sizes})")
        if np.any(sizes < -1):
            raise ValueError(f"`{shape}` elements must be either positive integers or `-1`(given {sizes}).")
    elif validate_args:
        unknown = reduce_sum(cast(equal(shape, -1), dtypes.int32))
        checks += [
            assert_less_equal(unknown, 1, message=f"`{shape}` elements must have at most one `-1`."),
            assert_greater_equal(
                shape, -1, message=f"`{shape}` elements must be either positive integers or `-1`."
            ),
        ]
    return checks


class Reshape(Bijector):
    """Events in another shape.

    Args:
      event_shape_out: the shape of events that come out; one size may be -1, what is left.
      event_shape_in: the shape of events that go in; any vector unless given.

    Raises:
      TypeError: for sizes that are no integers.
      ValueError: for invalid shapes.
    """

    def __init__(
        self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False,
        name: str | None = None,
    ):  # fmt: skip
        self._out, self._in = _as_sizes(event_shape_out), _as_sizes(event_shape_in)
        self._shape_checks = [*_shape_checks(self._out, validate_args), *_shape_checks(self._in, validate_args)]
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0,
            name=name or "reshape",
        )  # fmt: skip

    def _forward(self, x: Any) -> Any:
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y: Any) -> Any:
        return self._reshaped(y, self._out, self._in)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        with control_dependencies(self._shape_checks):
            return identity(convert_to_tensor(0.0, x.dtype))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._forward_log_det_jacobian(y)

    def _reshaped(self, x: Any, old: Any, new: Any) -> Any:
        with control_dependencies(self._shape_checks):
            count = static_size(old.shape, 0)
            x = self._fitting(x, old, count)
            rank = rank_of(x) if x.shape.rank is None else x.shape.rank
            if count is not None and count == x.shape.rank:
                return reshape(x, new)
            leading = shape_of(x)[: rank - (shape_of(old)[0] if count is None else count)]
            return reshape(x, concat([leading, new], 0))

    def _fitting(self, x: Any, old: Any, count: int | None) -> Any:
        """`x`, once it is known that its events have this shape."""
        sizes = get_static_value(old)
        if count is not None and sizes is not None and x.shape.rank is not None:
            event = x.shape.with_rank_at_least(count)[x.shape.rank - count :]
            if event.is_fully_defined():
                found = np.array(event.as_list(), np.int32)
                if not np.array_equal(found[sizes >= 0], sizes[sizes >= 0]):
                    raise ValueError(
                        f"Input `event_shape` does not match `event_shape_in` ({found} vs {sizes})."
                    )
                return x

        def check() -> Any:
            event = shape_of(x)[rank_of(x) - shape_of(old)[0] :]
            given = reshape(old >= 0, [-1])
            message = "Input `event_shape` does not match `event_shape_in`."
            return assert_equal(boolean_mask(event, given), boolean_mask(old, given), message=message)

        return self._checked(x, check)

    # By the bijector itself, so that mismatches are found.

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return _shape_after(self._forward, input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return _shape_after(self._inverse, output_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return shape_of(self._forward(zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return shape_of(self._inverse(zeros(output_shape)))


def _as_sizes(shape: ShapeLike) -> Any:
    """A shape as a tensor: of int32 where nothing says otherwise, as for an empty list."""
    if isinstance(shape, TensorShape):
        shape = [-1 if size is None else size for size in shape.as_list()]
    if isinstance(shape, (list, tuple)) and not shape:
        return convert_to_tensor(shape, dtypes.int32)
    return convert_to_tensor(shape)


def _shape_after(function: Any, shape: TensorShape) -> Any:
    return function(zeros(shape.as_list())).shape


boundaries(globals())
