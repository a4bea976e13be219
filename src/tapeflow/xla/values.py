"""What flows through a graph while it is lowered, besides arrays: variables and lists of tensors.

Arrays are NumPy's (known) or JAX's (traced).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.xla.importing import jax, jnp


class State:
    """What operations change: values of variables, positions in streams of random numbers. By key, in order."""

    def __init__(self, values: dict[Any, Any]):
        self.values = dict(values)
        self.written: set[Any] = set()

    def write(self, key: Any, value: Any) -> None:
        self.values[key] = value
        self.written.add(key)

    def inner(self, values: list[Any]) -> State:
        """The state inside of a branch or of a loop's body, where the same keys have these values."""
        return State(dict(zip(self.values, values, strict=True)))

    def leave(self, inner: State, values: list[Any]) -> None:
        """Takes over what a branch or a loop left behind."""
        for key, value in zip(list(self.values), values, strict=True):
            if key in inner.written:
                self.write(key, value)


class VariableHandle:
    """Stands for a variable: reads and writes go to the state. Kernels use it as they do a `tf.Variable`."""

    def __init__(self, lowering: Any, key: Any, dtype: DType):
        self._lowering = lowering
        self.key = key
        self.dtype = dtype

    def numpy(self) -> Any:
        value = self._lowering.state.values[self.key]
        if value is None:
            raise FailedPreconditionError(None, None, "The variable is not initialized.")
        return value

    def assign(self, value: Any, *_: Any, **__: Any) -> VariableHandle:
        self._lowering.state.write(self.key, jnp.asarray(value, self.dtype.as_numpy_dtype))
        return self

    def is_initialized(self) -> bool:
        return self._lowering.state.values[self.key] is not None

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.numpy().shape)


class ListValue:
    """A list of tensors: an array with room for `capacity` elements, of which the first `length` are there.

    Attributes:
      dtype: of the elements.
      shape: of the elements, as far as it is known; None: not at all.
      buffer: [capacity, *shape], or None while nothing has been put into the list.
      length: an int where it is known, else a traced int32 scalar.
      constant: the value of every element where that is known, such as a size that a loop keeps for its gradient.
    """

    def __init__(self, dtype: DType, shape: Any, buffer: Any, length: Any, constant: Any = None):
        self.constant = constant
        self.dtype = dtype
        self.shape = shape
        self.buffer = buffer
        self.length = length

    @property
    def capacity(self) -> int:
        return 0 if self.buffer is None else self.buffer.shape[0]

    def element_shape(self) -> tuple[int, ...]:
        if self.buffer is not None:
            return tuple(self.buffer.shape[1:])
        if self.shape is None or None in self.shape:
            raise UnimplementedError(
                None, None, "A list of tensors cannot be compiled before the shape of its elements is known"
            )
        return tuple(self.shape)

    def with_buffer(self, buffer: Any, length: Any = None) -> ListValue:
        length = self.length if length is None else length
        return ListValue(self.dtype, self.shape, buffer, length, self.constant)

    def with_constant(self, constant: Any) -> ListValue:
        return ListValue(self.dtype, self.shape, self.buffer, self.length, constant)

    def grown(self, capacity: int, element_shape: tuple[int, ...] | None = None) -> ListValue:
        """The same list with room for `capacity` elements."""
        if self.buffer is not None and self.capacity >= capacity:
            return self
        kind = self.dtype.as_numpy_dtype
        if self.buffer is None and self.constant is not None:
            return self.with_buffer(jnp.broadcast_to(self.constant, (capacity, *self.constant.shape)))
        shape = self.element_shape() if element_shape is None else element_shape
        more = jnp.zeros((capacity - self.capacity, *shape), kind)
        return self.with_buffer(more if self.buffer is None else jnp.concatenate([self.buffer, more]))

    def known_length(self) -> int:
        if not isinstance(self.length, (int, np.integer)):
            raise UnimplementedError(
                None, None, "The length of a list of tensors has to be known when it is compiled"
            )
        return int(self.length)


def _flatten(value: ListValue) -> tuple[Any, Any]:
    known = isinstance(value.length, (int, np.integer))
    children = (value.buffer,) if known else (value.buffer, value.length)
    constant = None if value.constant is None else _Constant(value.constant)
    return children, (value.dtype, value.shape, int(value.length) if known else None, constant)


def _unflatten(data: Any, children: Any) -> ListValue:
    dtype, shape, length, constant = data
    length = children[1] if length is None else length
    return ListValue(dtype, shape, children[0], length, None if constant is None else constant.array)


class _Constant:
    """An array that can be compared and hashed."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.key = (array.tobytes(), array.shape, array.dtype.str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


jax.tree_util.register_pytree_node(ListValue, _flatten, _unflatten)


def is_known(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def traced(value: Any) -> Any:
    """A value as JAX takes it: known arrays become constants of the compiled code."""
    if is_known(value):
        if value.dtype == object:
            raise UnimplementedError(None, None, "Strings cannot be compiled")
        return jnp.asarray(value)
    return value


def require_list(value: Any) -> ListValue:
    if not isinstance(value, ListValue):
        raise InvalidArgumentError(None, None, f"Input handle is not a list. Saw: '{value}'")
    return value


def parsed_shape(value: np.ndarray) -> Any:
    """The shape of elements that an op was given: a vector, or -1 for an unknown rank."""
    if value.ndim == 0:
        return None
    return tuple(None if d < 0 else int(d) for d in value)


VARIANT = dtypes.variant
