"""`SymbolicTensor`: an output of an operation in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundary
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.core.variables import element_of_graph
from tapeflow.graph import misuse
from tapeflow.graph.build import static_values
from tapeflow.ops.shapes import merge

_UNSET: Any = object()
# An attr of the handles of variables of 1.x that are no resources there.
OF_REFERENCE = "_of_reference"
# Runs a tensor in a session: (tensor, feeds, session) -> array; set by `graph.session`.
evaluate: Any = None


def register_evaluation(run: Callable[[Any, Any, Any], Any]) -> None:
    """Say what runs a tensor."""
    global evaluate
    evaluate = run


class SymbolicTensor(_native.Tensor):
    """A tensor that gets its value when its graph runs.

    Attributes:
      op: the operation that computes it.
      value_index: which of the operation's outputs it is.
      dtype: a `DType`.
      shape_tuple: sizes of the dimensions, None for unknown ones; None if the rank is unknown.
    """

    op: Any
    value_index: int
    dtype: Any
    shape_tuple: tuple[int | None, ...] | None
    # Of a resource tensor: what is known of the variable behind it.
    handle_shape: tuple[int | None, ...] | None
    handle_dtype: Any

    __slots__ = ("op", "value_index", "dtype", "shape_tuple", "handle_shape", "handle_dtype", "_constant",
                 "__dict__", "__weakref__")  # fmt: skip

    def __init__(self, op: Any, value_index: int, dtype: Any, shape: tuple[int | None, ...] | None):
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self.shape_tuple = shape
        self._constant = _UNSET

    # What is known.

    _name = property(lambda self: self.name)
    _op = property(lambda self: self.op)
    _dtype = property(lambda self: self.dtype)
    _shape = property(lambda self: self.shape)
    _id = property(lambda self: id(self))
    _value_index = property(lambda self: self.value_index)

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self.shape_tuple

    @property
    def graph(self) -> Any:
        return self.op.graph

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return TensorShape(self.shape_tuple)

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return TensorShape(self.shape_tuple)

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.shape_tuple is None else list(self.shape_tuple)

    @property
    def ndim(self) -> int | None:  # type: ignore[override]
        return None if self.shape_tuple is None else len(self.shape_tuple)

    @property
    def _rank(self) -> int | None:
        return self.ndim

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds what `shape` knows. Raises ValueError where it contradicts what is known."""
        more = as_shape(shape)
        try:
            self.shape_tuple = merge(self.shape_tuple, None if more.rank is None else tuple(more.as_list()))
        except InvalidArgumentError as error:
            raise ValueError(error.message) from None

    def constant_value(self) -> np.ndarray | None:
        """The value if it follows from constants, else None."""
        value = self._constant
        if value is _UNSET:
            value = self._constant = static_values.constant_of(self)
        return value

    def consumers(self) -> list[Any]:
        """The operations that take this as an input."""
        return self.op.graph.consumers_of(self)

    @property
    def of_reference(self) -> bool:
        """Whether this is the handle of a variable of 1.x that is no resource there: feeding its value feeds all that
        reads it."""
        return OF_REFERENCE in self.op.extra_attrs

    @property
    def _referenced_variable(self) -> Any:
        """The variable of 1.x of which this is the tensor by its name, which can be assigned to; None for others."""
        handle = self.op.inputs[0] if self.op.inputs else None
        if handle is None or not handle.of_reference:
            return None
        variable = self.op.graph.variables_by_handle.variable_of(handle)
        return None if variable is None or element_of_graph(variable) is not self else variable

    @property
    def is_tensor_like(self) -> bool:
        return True

    # Comparison: by elements in functions of 2.x, by identity in graphs of 1.x.

    def __eq__(self, other: object) -> Any:
        if self.op.graph.building_function and context.compares_elements():
            return _native.Tensor.__eq__(self, other)
        return self is other

    def __ne__(self, other: object) -> Any:
        if self.op.graph.building_function and context.compares_elements():
            return _native.Tensor.__ne__(self, other)
        return self is not other

    def __hash__(self) -> int:
        if self.op.graph.building_function and context.compares_elements():
            raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
        return id(self)

    # Values are for later.

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value, computed by `session` or the default one."""
        return evaluate(self, feed_dict, session)

    @boundary
    def __bool__(self) -> bool:
        raise misuse.no_value(
            self,
            "Using a symbolic `tf.Tensor` as a Python `bool`",
            "Use `if t is not None:` instead of `if t:` to test whether a tensor is defined, and operations such as "
            "tf.cond and tf.where for what depends on its value.",
        )

    @boundary
    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). Please call `x.shape` rather than "
            "`len(x)` for shape information."
        )

    @boundary
    def __iter__(self) -> Iterator[Any]:
        if self.shape_tuple == ():
            raise TypeError("Cannot iterate over a scalar tensor.")
        if self.shape_tuple is None or self.shape_tuple[0] is None:
            raise misuse.no_value(
                self,
                "Iterating over a symbolic `tf.Tensor`",
                "How many elements it has is not known yet. Use operations such as tf.map_fn, tf.scan and "
                "tf.while_loop for what runs once for each.",
            )
        return map(self.__getitem__, range(self.shape_tuple[0]))

    @boundary
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that "
            "you're trying to pass a Tensor to a NumPy call, which is not supported."
        )

    @boundary
    def __int__(self) -> int:
        raise TypeError(f"int() argument must be a number, not a symbolic tensor ({self.name})")

    @boundary
    def __float__(self) -> float:
        raise TypeError(f"float() argument must be a number, not a symbolic tensor ({self.name})")

    @boundary
    def __index__(self) -> int:
        raise TypeError(f"A symbolic tensor ({self.name}) cannot be interpreted as an integer")

    def __copy__(self) -> SymbolicTensor:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicTensor:
        return self

    # Text.

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={_repr_shape(self)} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self.shape_tuple is None else f", shape={_repr_shape(self)}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


_class: type[SymbolicTensor] = SymbolicTensor


def register_class(kind: type[SymbolicTensor]) -> None:
    """Say which class the tensors of operations have: for programs of 1.x, the one that they know as `tf.Tensor`."""
    global _class
    _class = kind


def output_of(op: Any, index: int, dtype: Any, shape: tuple[int | None, ...] | None) -> SymbolicTensor:
    """A new tensor, an output of an operation."""
    return _class(op, index, dtype, shape)


def _repr_shape(tensor: SymbolicTensor) -> str:
    return str(TensorShape(tensor.shape_tuple))


def is_symbolic(x: TensorLike) -> bool:
    return isinstance(x, SymbolicTensor)


VARIANT = (dtypes.resource, dtypes.variant)


if _native.Tensor.__module__.startswith("tensorflow"):  # as programs see it that import tensorflow
    SymbolicTensor.__module__ = _native.EagerTensor.__module__
