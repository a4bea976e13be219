"""The base of bijectors: what every one answers, from the few things that each says for itself."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.spelling import snake_case
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.broadcasting import broadcast_static_shape
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_greater_equal_v1 as assert_greater_equal
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import checked

__all__ = ["Bijector", "ConditionalBijector"]


class _Mapping:
    """What is known of one `x` and its value `y`; `volumes`: log |det dx/dy| by the rank of an event."""

    def __init__(self, x: Any = None, y: Any = None, conditions: Any = None):
        self.x, self.y, self.conditions = x, y, conditions
        self.volumes: dict[int, Any] = {}


class _Mappings:
    """The mappings of one graph. Tensors are known by their identities: each mapping keeps its own alive."""

    def __init__(self) -> None:
        self.by_x: dict[Any, _Mapping] = {}
        self.by_y: dict[Any, _Mapping] = {}
        self.constant_volumes: dict[int, Any] = {}


def _least_ranks(forward: Any, inverse: Any) -> tuple[int, int]:
    if forward is None and inverse is None:
        raise ValueError(
            "Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`."
        )
    pair = (inverse if forward is None else forward, forward if inverse is None else inverse)
    for name, least in zip(("forward_min_event_ndims", "inverse_min_event_ndims"), pair):
        if not isinstance(least, int):
            raise TypeError(f"Expected {name} to be of type int, got {type(least).__name__}")
        if least < 0:
            raise ValueError(f"{name} must be a non-negative integer.")
    return pair


class Bijector:
    """A function with an inverse.

    Subclasses define `_forward`, `_inverse` and one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`,
    whose values belong to events of `forward_min_event_ndims` (or `inverse_min_event_ndims`) axes; and, where the
    shapes of events differ, `_forward_event_shape`, `_inverse_event_shape` and these with `_tensor` behind.

    In a graph a bijector remembers what it computed: the inverse of what `forward` returned is the tensor that it was
    given. Nothing is remembered of eager tensors, whose values variables may have entered that have changed since.

    Args:
      graph_parents: the tensors that it is made of.
      is_constant_jacobian: whether the Jacobian is the same everywhere.
      validate_args: whether arguments are checked.
      dtype: of what it is called with; None: any.
      forward_min_event_ndims: the least rank of an event `x`; as that of `y` unless given.
      inverse_min_event_ndims: the least rank of an event `y`; as that of `x` unless given.
      name: of its operations; the name of the class unless given.
    """

    def __init__(
        self, graph_parents: Any = None, is_constant_jacobian: bool = False, validate_args: bool = False,
        dtype: Any = None, forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None, name: str | None = None,
    ):  # fmt: skip
        least = _least_ranks(forward_min_event_ndims, inverse_min_event_ndims)
        self._forward_min_event_ndims, self._inverse_min_event_ndims = least
        self._graph_parents = list(graph_parents or ())
        self._is_constant_jacobian, self._validate_args = is_constant_jacobian, validate_args
        self._dtype = dtype
        self._name = name or snake_case(type(self).__name__.lstrip("_"))
        self._mappings: Any = weakref.WeakKeyDictionary()
        for i, parent in enumerate(self._graph_parents):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")

    graph_parents = property(lambda self: self._graph_parents)
    forward_min_event_ndims = property(lambda self: self._forward_min_event_ndims)
    inverse_min_event_ndims = property(lambda self: self._inverse_min_event_ndims)
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian)
    validate_args = property(lambda self: self._validate_args)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    is_injective = property(lambda self: self._is_injective)

    # What subclasses define.

    @property
    def _is_injective(self) -> bool:
        return True

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    # What everybody calls.

    def forward(self, x: TensorLike, name: str = "forward") -> Any:
        """The function's value."""
        return self._call_forward(x, name)

    def inverse(self, y: TensorLike, name: str = "inverse") -> Any:
        """The `x` whose value is `y`; a tuple of all of them where it is not injective."""
        return self._call_inverse(y, name)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """log |det dy/dx|, for events of `event_ndims` axes of `x`."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """log |det dx/dy|, for events of `event_ndims` axes of `y`; a tuple where it is not injective."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the value of an event, as far as it is known."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape of an event of that value, as far as it is known."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Any:
        """The shape of the value of an event of a shape that is an int32 tensor."""
        with self._named(name):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, dtypes.int32))

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        """The shape of an event whose value has a shape that is an int32 tensor."""
        with self._named(name):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, dtypes.int32))

    def __call__(self, value: Any, name: str | None = None) -> Any:
        return self.forward(value, name or "forward")

    # How they are answered, with the conditions of a `ConditionalBijector`.

    def _call_forward(self, x: TensorLike, name: str, **conditions: Any) -> Any:
        with self._named(name):
            x = self._converted(x)
            found = self._mapping(conditions, x=x)
            if found.y is None:
                self._remember_y(found, self._forward(x, **conditions))
            return found.y

    def _call_inverse(self, y: TensorLike, name: str, **conditions: Any) -> Any:
        with self._named(name):
            y = self._converted(y)
            if not self._is_injective:
                return self._inverse(y, **conditions)
            found = self._mapping(conditions, y=y)
            if found.x is None:
                self._remember_x(found, self._inverse(y, **conditions))
            return found.x

    def _call_forward_log_det_jacobian(self, x: TensorLike, event_ndims: Any, name: str, **conditions: Any) -> Any:
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._named(name):
            rank, checks = self._event_rank(event_ndims, self.forward_min_event_ndims)
            x = self._converted(x)
            with control_dependencies(checks):
                found = self._mapping(conditions, x=x)
                return -self._volume(found, rank, self._by_forward, self._by_inverse, conditions)

    def _call_inverse_log_det_jacobian(self, y: TensorLike, event_ndims: Any, name: str, **conditions: Any) -> Any:
        with self._named(name):
            rank, checks = self._event_rank(event_ndims, self.inverse_min_event_ndims)
            y = self._converted(y)
            with control_dependencies(checks):
                if not self._is_injective:
                    volumes = self._inverse_log_det_jacobian(y, **conditions)
                    return tuple(_summed(each, y, rank, self.inverse_min_event_ndims) for each in volumes)
                found = self._mapping(conditions, y=y)
                return self._volume(found, rank, self._by_inverse, self._by_forward, conditions)

    def _volume(
        self, found: _Mapping, rank: Any, first: Callable[..., Any], second: Callable[..., Any], conditions: Any
    ) -> Any:
        """log |det dx/dy|, the first way or, where that is not defined, the second."""
        known = found.volumes
        constants = self._remembered()
        if self._is_constant_jacobian and constants is not None and not conditions:
            known = constants.constant_volumes
        static = isinstance(rank, int)
        if static and rank in known:
            return known[rank]
        try:
            volume = first(found, rank, conditions)
        except NotImplementedError as error:
            try:
                volume = second(found, rank, conditions)
            except NotImplementedError:
                raise error from None
        if static:
            known[rank] = volume
        return volume

    def _by_forward(self, found: _Mapping, rank: Any, conditions: Any) -> Any:
        if found.x is None:
            self._remember_x(found, self._inverse(found.y, **conditions))
        volume = -self._forward_log_det_jacobian(found.x, **conditions)
        return _summed(volume, found.x, rank, self.forward_min_event_ndims)

    def _by_inverse(self, found: _Mapping, rank: Any, conditions: Any) -> Any:
        if found.y is None:
            self._remember_y(found, self._forward(found.x, **conditions))
        volume = self._inverse_log_det_jacobian(found.y, **conditions)
        return _summed(volume, found.y, rank, self.inverse_min_event_ndims)

    # What a graph remembers.

    def _remembered(self) -> _Mappings | None:
        if context.executing_eagerly():
            return None
        return self._mappings.setdefault(context.current_graph(), _Mappings())

    def _mapping(
        self, conditions: dict[str, Any], x: TensorLike | None = None, y: TensorLike | None = None,
    ) -> _Mapping:
        """The mapping of what is given."""
        remembered = self._remembered()
        if remembered is None or not self._is_injective:
            return _Mapping(x, y, conditions)
        table, tensor = (remembered.by_y, y) if x is None else (remembered.by_x, x)
        return table.setdefault(_key(tensor, conditions), _Mapping(x, y, conditions))

    def _remember_y(self, found: _Mapping, y: TensorLike) -> None:
        found.y = y
        remembered = self._remembered()
        if remembered is not None and self._is_injective:
            remembered.by_y[_key(y, found.conditions)] = found

    def _remember_x(self, found: _Mapping, x: TensorLike) -> None:
        found.x = x
        remembered = self._remembered()
        if remembered is not None:
            remembered.by_x[_key(x, found.conditions)] = found

    # For subclasses.

    @contextlib.contextmanager
    def _named(self, name: str) -> Iterator[None]:
        with context.name_scope_v1(self.name), context.name_scope_v1(name):
            yield

    def _converted(self, x: TensorLike) -> Any:
        x = convert_to_tensor(x)
        if self.dtype is not None and self.dtype.base_dtype != x.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {x.dtype}.")
        return x

    def _checked(self, tensor: Any, *checks: Callable[[], Any]) -> Any:
        """The tensor, once the checks have run, where arguments are validated."""
        return checked(tensor, self.validate_args, *checks)

    def _event_rank(self, event_ndims: Any, least: int) -> tuple[Any, list[Any]]:
        """The rank of an event, an int where it is known, and what must be checked of it when the graph runs."""
        rank = convert_to_tensor(event_ndims)
        if not rank.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {rank.dtype}")
        if rank.shape.rank not in (0, None):
            raise ValueError(f"Expected scalar event_ndims, got shape {rank.shape}")
        known = get_static_value(rank)
        if known is None:
            return rank, [assert_greater_equal(rank, least)] if self.validate_args else []
        if known < least:
            raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
        return int(known), []


def _key(tensor: Any, conditions: dict[str, Any]) -> tuple[Any, ...]:
    return (id(tensor), *((name, id(value)) for name, value in sorted(conditions.items())))


def _summed(volume: Any, x: Any, rank: Any, least: int) -> Any:
    """Logarithms of volumes, of events of the least rank, summed over the axes that an event of this rank has more."""
    if isinstance(rank, int) and rank == least:
        return volume
    first = rank_of(x) if x.shape.rank is None else x.shape.rank
    sizes = shape_of(x)[first - rank : first - least]
    wide = volume * ones(sizes, volume.dtype)
    if not isinstance(rank, int):
        return reduce_sum(wide, range_(least - rank, 0))
    found = reduce_sum(wide, list(range(least - rank, 0)))
    if x.shape.rank is not None and volume.shape.rank is not None:
        known = broadcast_static_shape(volume.shape, x.shape[first - rank : first - least])
        found.set_shape(known[: known.rank - (rank - least)])
    return found


class ConditionalBijector(Bijector):
    """A bijector whose methods take more named arguments, which are handed on to those that its subclass defines."""

    def forward(self, x: TensorLike, name: str = "forward", **condition_kwargs: Any) -> Any:
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: TensorLike, name: str = "inverse", **condition_kwargs: Any) -> Any:
        return self._call_inverse(y, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: Any, name: str = "forward_log_det_jacobian", **condition_kwargs: Any
    ) -> Any:
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: Any, name: str = "inverse_log_det_jacobian", **condition_kwargs: Any
    ) -> Any:
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)


boundaries(globals())
