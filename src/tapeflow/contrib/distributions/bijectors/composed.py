"""Bijectors of others and of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.contrib.distributions.bijectors.base import (
    ConditionalBijector,
)
from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size as size_of
from tapeflow.ops.linear_operator.arguments import static_size

__all__ = ["Chain", "Inline", "Invert"]


class Inline(ConditionalBijector):
    """A bijector of functions that are given."""

    def __init__(
        self, forward_fn: Callable[..., Any] | None = None, inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False, validate_args: bool = False,
        forward_min_event_ndims: int | None = None, inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ):  # fmt: skip
        super().__init__(
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims, name=name,
        )  # fmt: skip
        self._functions = {
            "forward": forward_fn, "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
        }  # fmt: skip
        self._shape_functions = {
            "forward": forward_event_shape_fn, "forward_tensor": forward_event_shape_tensor_fn,
            "inverse": inverse_event_shape_fn, "inverse_tensor": inverse_event_shape_tensor_fn,
        }  # fmt: skip

    def _value(self, name: str, x: TensorLike, conditions: dict[str, Any]) -> Any:
        function = self._functions[name]
        if not callable(function):
            raise NotImplementedError(f"{name}_fn is not a callable function.")
        return function(x, **conditions)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._value("forward", x, kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._value("inverse", y, kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._value("forward_log_det_jacobian", x, kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._value("inverse_log_det_jacobian", y, kwargs)

    def _shape(self, name: str, shape: ShapeLike) -> Any:
        function = self._shape_functions[name]
        return shape if function is None else function(shape)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape("forward", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape("forward_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape("inverse", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape("inverse_tensor", output_shape)


class Invert(ConditionalBijector):
    """The inverse of a bijector."""

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None):
        if not bijector.is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents, is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args, dtype=bijector.dtype,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims, name=name or f"invert_{bijector.name}",
        )  # fmt: skip

    bijector = property(lambda self: self._bijector)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector.inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector.forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector.inverse_log_det_jacobian(x, event_ndims=self.forward_min_event_ndims, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector.forward_log_det_jacobian(y, event_ndims=self.inverse_min_event_ndims, **kwargs)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector.inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector.inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector.forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector.forward_event_shape_tensor(output_shape)


def _least_rank(ranks: Sequence[tuple[int, int]]) -> int:
    """The least rank of an event of a chain, of the least ranks that its parts take and return, in their order."""
    least, now = 0, 0
    for taken, returned in ranks:
        if now < taken:
            least += taken - now
        now = max(now, taken) + returned - taken
    return least


def _one_dtype(bijectors: Sequence[Any]) -> Any:
    known = {b.dtype for b in bijectors} - {None}
    if len(known) > 1:
        raise ValueError(f"incompatible dtypes: {[b.dtype for b in bijectors]}")
    return known.pop() if known else None


def _next_shape(bijector: Any, way: str, shape: ShapeLike) -> tuple[Any, Any]:
    """The shape of an event after one more bijector, and its rank: of a list, also a list where it is known."""
    if isinstance(shape, list):
        known = getattr(bijector, f"{way}_event_shape")(shape)
        if known.is_fully_defined():
            return known.as_list(), known.rank
    found = getattr(bijector, f"{way}_event_shape_tensor")(shape)
    rank = static_size(found.shape, 0)
    return found, size_of(found) if rank is None else rank


class Chain(ConditionalBijector):
    """Bijectors one after the other: the last one first.

    Conditions are given to each by its name: `chain.forward(x, name_of_a_part={"its": condition})`.

    Raises:
      NotImplementedError: where one is not injective.
      ValueError: where their dtypes differ.
    """

    def __init__(
        self, bijectors: Sequence[Any] | None = None, validate_args: bool = False, name: str | None = None
    ):
        self._bijectors = tuple(bijectors or ())
        for each in self._bijectors:
            if not each.is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector ({each.name})")
        there = [(b.forward_min_event_ndims, b.inverse_min_event_ndims) for b in reversed(self._bijectors)]
        back = [(y, x) for x, y in reversed(there)]
        own_name = "_of_".join(["chain", *(b.name for b in self._bijectors)]) if bijectors else "identity"
        super().__init__(
            graph_parents=[parent for b in self._bijectors for parent in b.graph_parents],
            is_constant_jacobian=all(b.is_constant_jacobian for b in self._bijectors),
            validate_args=validate_args, dtype=_one_dtype(self._bijectors),
            forward_min_event_ndims=_least_rank(there), inverse_min_event_ndims=_least_rank(back),
            name=name or own_name,
        )  # fmt: skip

    bijectors = property(lambda self: self._bijectors)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for each in reversed(self.bijectors):
            x = each.forward(x, **kwargs.get(each.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for each in self.bijectors:
            y = each.inverse(y, **kwargs.get(each.name, {}))
        return y

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._volumes(x, "forward", self.forward_min_event_ndims, self.bijectors[::-1], kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._volumes(y, "inverse", self.inverse_min_event_ndims, self.bijectors, kwargs)

    def _volumes(self, x: Any, way: str, rank: Any, bijectors: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The sum of what `way`_log_det_jacobian of each is, of an event of this rank at the beginning."""
        total = convert_to_tensor(0.0, x.dtype)
        # As a list of sizes while they are known, else as a tensor.
        shape: Any = shape_of(x)[rank_of(x) - rank :]
        if x.shape.is_fully_defined():
            shape = x.shape.as_list()[x.shape.rank - rank :]
        for each in bijectors:
            conditions = kwargs.get(each.name, {})
            total = total + getattr(each, f"{way}_log_det_jacobian")(x, event_ndims=rank, **conditions)
            x = getattr(each, way)(x, **conditions)
            shape, rank = _next_shape(each, way, shape)
        return total

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for each in reversed(self.bijectors):
            input_shape = each.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for each in self.bijectors:
            output_shape = each.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for each in reversed(self.bijectors):
            input_shape = each.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for each in self.bijectors:
            output_shape = each.inverse_event_shape_tensor(output_shape)
        return output_shape


boundaries(globals())
