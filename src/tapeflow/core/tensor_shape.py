"""`TensorShape`: what is known of the shape of a tensor, and the `Dimension` of 1.x.

In 2.x a dimension is an int or None; in 1.x (`disable_v2_tensorshape`) indexing and iteration give
`Dimension` objects.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.api import api

_v2_behavior = True


@api(v1="enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """Make a dimension of a `TensorShape` an int or None."""
    global _v2_behavior
    _v2_behavior = True


@api(v1="disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """Make a dimension of a `TensorShape` a `Dimension`, as in 1.x."""
    global _v2_behavior
    _v2_behavior = False


def _dimension(value: Any) -> int | None:
    """An int or None from anything that stands for a dimension."""
    if type(value) is int:
        result = value
    elif value is None:
        return None
    elif isinstance(value, Dimension):
        return value.value
    else:
        try:
            result = operator.index(value)
        except (TypeError, AttributeError):
            raise TypeError(
                "Dimension value must be integer or None or have an __index__ method, got value "
                f"'{value!r}' with type '{type(value)!r}'"
            ) from None
    if result < 0:
        raise ValueError(f"Dimension {result} must be >= 0")
    return result


def _dimensions(dims: Any) -> tuple[int | None, ...] | None:
    """The dimensions, or None for an unknown rank, of whatever `TensorShape` accepts."""
    if type(dims) is tuple or type(dims) is list:
        return tuple([_dimension(d) for d in dims])
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims.sizes
    if isinstance(dims, str):
        raise TypeError(
            f"Failed to convert '{dims!r}' to a shape: '{dims[:1]!r}'could not be converted to a "
            "dimension. A shape should either be single dimension (e.g. 10), or an iterable of "
            "dimensions (e.g. [1, 10, None])."
        )
    if isinstance(dims, (int, Dimension)):
        return (_dimension(dims),)
    if hasattr(dims, "unknown_rank"):  # a TensorShapeProto
        if dims.unknown_rank:
            return None
        return tuple([None if d.size == -1 else _dimension(d.size) for d in dims.dim])
    try:
        values = list(dims)
    except TypeError:
        return (_dimension(dims),)
    return tuple([_dimension(d) for d in values])


@api("TensorShape")
class TensorShape:
    """The shape of a tensor: fully known, known but for some dimensions, or of unknown rank.

    Args:
      dims: None for an unknown rank, or the dimensions (ints, or None where unknown), or one dimension.

    Raises TypeError for what is no dimension and ValueError for a negative one.
    """

    __slots__ = ("sizes", "__weakref__")

    sizes: tuple[int | None, ...] | None  # None for an unknown rank
    _dims = property(lambda self: self.sizes)  # as TensorFlow spells it

    def __init__(self, dims: Any):
        self.sizes = _dimensions(dims)

    # Properties and tests.

    @property
    def rank(self) -> int | None:
        return None if self.sizes is None else len(self.sizes)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self.sizes is None else [Dimension(d) for d in self.sizes]

    def as_list(self) -> list[int | None]:
        """The dimensions as a list. Raises ValueError if the rank is unknown."""
        if self.sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.sizes)

    def as_proto(self) -> Any:
        """The shape as a `TensorShapeProto`."""
        from tapeflow import protos

        if self.sizes is None:
            return protos.TensorShapeProto(unknown_rank=True)
        proto = protos.TensorShapeProto()
        for d in self.sizes:
            proto.dim.add(size=-1 if d is None else d)
        return proto

    def num_elements(self) -> int | None:
        """The number of elements, None if not fully known."""
        if self.sizes is None or None in self.sizes:
            return None
        return math.prod(self.sizes)  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Whether the rank and all dimensions are known."""
        return self.sizes is not None and None not in self.sizes

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some shape agrees with both."""
        mine = self.sizes
        others = other.sizes if type(other) is TensorShape else _dimensions(other)
        if mine == others or mine is None or others is None:
            return True
        return len(mine) == len(others) and all(
            a == b or a is None or b is None for a, b in zip(mine, others, strict=True)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every shape that agrees with this one agrees with `other`, a `TensorShape`."""
        if not isinstance(other, TensorShape):
            return False
        mine, others = self.sizes, other.sizes
        if others is None:
            return True
        return (
            mine is not None
            and len(mine) == len(others)
            and all(b is None or a == b for a, b in zip(mine, others, strict=True))
        )

    # Assertions: ValueError if they fail.

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if no shape agrees with both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self.sizes is not None and other.sizes is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int | None) -> None:
        """Raise ValueError if the rank is known and another."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError if the rank or a dimension is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    # Shapes made from shapes.

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from both together. Raises ValueError if they contradict each other."""
        other = as_shape(other)
        if self.sizes is None:
            return other
        if other.sizes is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return from_tuple(
            tuple([b if a is None else a for a, b in zip(self.sizes, other.sizes, strict=True)])
        )

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of this shape, then those of `other`."""
        others = _dimensions(other)
        if self.sizes is None or others is None:
            return from_tuple(None)
        return from_tuple(self.sizes + others)

    def with_rank(self, rank: int | None) -> TensorShape:
        """This shape, known to have that rank. Raises ValueError if it has another."""
        if self.sizes is None:
            return unknown_shape(rank)
        if rank is not None and len(self.sizes) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape. Raise ValueError if its rank is known and lower."""
        if self.sizes is not None and len(self.sizes) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape. Raise ValueError if its rank is known and higher."""
        if self.sizes is not None and len(self.sizes) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most that is true of both shapes: dimensions in which they differ become None."""
        others = _dimensions(other)
        if self.sizes is None or others is None or len(self.sizes) != len(others):
            return from_tuple(None)
        return from_tuple(
            tuple([a if a == b else None for a, b in zip(self.sizes, others, strict=True)])
        )

    def most_specific_common_supertype(self, others: Any) -> TensorShape | None:
        """As `most_specific_compatible_shape`, of many; None if one is no `TensorShape`."""
        result = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            result = result.most_specific_compatible_shape(other)
        return result

    # Python's protocols.

    def __len__(self) -> int:
        if self.sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.sizes)

    def __bool__(self) -> bool:
        return self.sizes is not None

    def __iter__(self) -> Iterator[Any]:
        if self.sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        if _v2_behavior:
            return iter(self.sizes)
        return iter([Dimension(d) for d in self.sizes])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if self.sizes is None:
                return _slice_of_unknown(key)
            return from_tuple(self.sizes[key])
        value = None if self.sizes is None else self.sizes[key]
        return value if _v2_behavior else Dimension(value)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: Any) -> Any:
        if type(other) is not TensorShape:
            try:
                return self.sizes == _dimensions(other)
            except TypeError:
                return NotImplemented
        return self.sizes == other.sizes

    def __hash__(self) -> int:
        return hash(self.sizes)

    def __str__(self) -> str:
        if self.sizes is None:
            return "<unknown>"
        if _v2_behavior:
            return str(self.sizes)
        texts = ["?" if d is None else str(d) for d in self.sizes]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def __repr__(self) -> str:
        if self.sizes is None:
            return "TensorShape(None)"
        return f"TensorShape({list(self)})"

    def __reduce__(self) -> Any:
        return TensorShape, (self.sizes,)


def _slice_of_unknown(key: slice) -> TensorShape:
    """A slice of a shape of unknown rank: of known length only where it counts from the start."""
    start, stop = key.start or 0, key.stop
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    if stop is None or start < 0 or stop < 0:
        return from_tuple(None)
    return from_tuple((None,) * max(stop - start, 0))


def from_tuple(dims: tuple[int | None, ...] | None) -> TensorShape:
    """A `TensorShape` of dimensions known to be right: a tuple of ints >= 0 and None, or None."""
    shape = _new(TensorShape)
    shape.sizes = dims
    return shape


_new: Callable[[type[TensorShape]], TensorShape] = object.__new__


def as_shape(shape: Any) -> TensorShape:
    """`shape` itself if it is a `TensorShape`, else one made from it."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of which at most the rank is known."""
    return from_tuple(None if rank is None else (None,) * rank)


def _arithmetic(
    symbol: str, function: Callable[[int, int], int], reverse: bool = False
) -> Callable[[Dimension, Any], Any]:
    """A binary operator of `Dimension`: unknown if one side is."""

    def method(self: Dimension, other: Any) -> Any:
        try:
            value = _dimension(other)
        except TypeError:
            return NotImplemented
        if self._value is None or value is None:
            return Dimension(None)
        return Dimension(function(value, self._value) if reverse else function(self._value, value))

    method.__doc__ = f"`{symbol}`; unknown if one side is."
    return method


def _comparison(function: Callable[[int, int], bool]) -> Callable[[Dimension, Any], Any]:
    def method(self: Dimension, other: Any) -> bool | None:
        value = _dimension(other)
        if self._value is None or value is None:
            return None
        return function(self._value, value)

    return method


@api(v1="Dimension")
class Dimension:
    """One dimension of a shape in 1.x: its `value` is an int, or None if it is not known.

    Comparisons in which one side is unknown give None.
    """

    __slots__ = ("_value",)

    _value: int | None

    def __init__(self, value: Any):
        self._value = _dimension(value)

    @property
    def value(self) -> int | None:
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        value = _dimension(other)
        return self._value is None or value is None or self._value == value

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if the two are known and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Whichever of the two is known. Raises ValueError if both are and differ."""
        self.assert_is_compatible_with(other)
        return Dimension(other) if self._value is None else Dimension(self._value)

    __add__ = _arithmetic("+", operator.add)
    __radd__ = _arithmetic("+", operator.add)
    __sub__ = _arithmetic("-", operator.sub)
    __rsub__ = _arithmetic("-", operator.sub, reverse=True)
    __mul__ = _arithmetic("*", operator.mul)
    __rmul__ = _arithmetic("*", operator.mul)
    __floordiv__ = _arithmetic("//", operator.floordiv)
    __rfloordiv__ = _arithmetic("//", operator.floordiv, reverse=True)
    __mod__ = _arithmetic("%", operator.mod)
    __rmod__ = _arithmetic("%", operator.mod, reverse=True)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)

    def __truediv__(self, other: Any) -> Dimension:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', "
            "please use // instead"
        )

    def __rtruediv__(self, other: Any) -> Dimension:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', "
            "please use // instead"
        )

    def __eq__(self, other: Any) -> Any:
        try:
            value = _dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or value is None:
            return None
        return self._value == value

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    __hash__ = None  # type: ignore[assignment]

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __reduce__(self) -> Any:
        return Dimension, (self._value,)


def as_dimension(value: Any) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(value)


@api(v1="dimension_value")
def dimension_value(dimension: Any) -> Any:
    """The int or None of a dimension, in 1.x and in 2.x."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


@api(v1="dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return a dimension of a shape as a `Dimension`, in 1.x and in 2.x.

    Args:
      shape: a `tf.TensorShape`.
      index: which dimension.

    Returns:
      A `tf.compat.v1.Dimension`, of unknown size where the rank is not known.
    """
    return Dimension(None if shape.sizes is None else shape.sizes[index])
