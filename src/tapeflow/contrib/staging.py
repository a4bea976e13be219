"""`tf.contrib.staging`: areas in which the next step's tensors wait while a step runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.queue.staging import Stage, StageClear, StagePeek, StageSize, Unstage

__all__ = ["StagingArea"]


class StagingArea:
    """A place where tuples of tensors wait; `get` may take them in any order.

    A program puts the next batch there in the same run that takes the last one, so that its transfer to a device and
    the computation overlap.

    Args:
      dtypes: of the tensors of an element.
      shapes: their shapes, by default unknown.
      names: with these, elements are dicts.
      shared_name: areas of one name in a session are the same area.
      capacity: the largest number of elements; 0: no limit.
      memory_limit: the largest number of bytes; 0: no limit.

    Raises ValueError for lists of different lengths, or a `shared_name` that is no string.
    """

    def __init__(
        self, dtypes: Sequence[DTypeLike], shapes: Sequence[Any] | None = None, names: Sequence[str] | None = None,
        shared_name: str | None = None, capacity: int = 0, memory_limit: int = 0,
    ):  # fmt: skip
        if shared_name is None:
            graph = context.current_graph()
            own = type(self).__name__
            self._name = graph.unique_name(own) if graph is not None else f"{own}_{id(self)}"
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = [as_dtype(kind) for kind in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(s) for s in shapes] if shapes is not None else [TensorShape(None)] * len(dtypes)
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity, self._memory_limit = capacity, memory_limit

    @property
    def name(self):
        """The name of the area."""
        return self._name

    @property
    def dtypes(self):
        """The dtypes of the tensors of an element."""
        return self._dtypes

    @property
    def shapes(self):
        """Their shapes."""
        return self._shapes

    @property
    def names(self):
        """Their names, or None."""
        return self._names

    @property
    def capacity(self):
        """The largest number of elements; 0: no limit."""
        return self._capacity

    @property
    def memory_limit(self):
        """The largest number of bytes; 0: no limit."""
        return self._memory_limit

    def put(self, values: Any, name: str | None = None):
        """The operation that adds an element, once the limits allow it.

        Args:
          values: a tensor, a list of tensors, or a dict of tensors by the area's names.
          name: the name of the operation.

        Raises ValueError for other names, or another number of tensors, or dtypes or shapes that do not fit.
        """
        with name_scope(name or f"{self._name}_put") as scope:
            return Stage(self._tensors(values), name=scope, **self._limits())

    def _tensors(self, values: Any) -> list[Tensor]:
        if isinstance(values, Mapping):
            if self._names is None:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if set(values) != set(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. "
                    f"Dictionary: ({sorted(values)}), Queue: ({sorted(self._names)})"
                )
            values = [values[key] for key in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        elif not isinstance(values, (list, tuple)):
            values = [values]
        if len(values) != len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(values)}' vs '{len(self._dtypes)}'")
        found = []
        for i, (value, dtype, shape) in enumerate(zip(values, self._dtypes, self._shapes, strict=True)):
            tensor = convert_to_tensor(value, name=f"component_{i}") if hasattr(value, "dtype") else convert_to_tensor(
                value, dtype, name=f"component_{i}"
            )  # fmt: skip
            if tensor.dtype.base_dtype != dtype:
                raise ValueError(f"Datatypes do not match. '{tensor.dtype.name}' != '{dtype.name}'")
            tensor.shape.assert_is_compatible_with(shape)
            found.append(tensor)
        return found

    def get(self, name: str | None = None):
        """An element, once there is one: a list of tensors, or a dict by the area's names."""
        return self._element(Unstage(dtypes=self._dtypes, name=name or f"{self._name}_get", **self._limits()))

    def peek(self, index: Any, name: str | None = None):
        """The element at a place, once there is one; it stays there."""
        name = name or f"{self._name}_peek"
        return self._element(StagePeek(index, dtypes=self._dtypes, name=name, **self._limits()))

    def _element(self, tensors: list[Tensor]):
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(shape)
        if self._names is not None:
            return dict(zip(self._names, tensors, strict=True))
        return tensors

    def size(self, name: str | None = None):
        """How many elements there are, an int32 scalar."""
        return StageSize(dtypes=self._dtypes, name=name or f"{self._name}_size", **self._limits())

    def clear(self, name: str | None = None):
        """The operation that removes all elements."""
        return StageClear(dtypes=self._dtypes, name=name or f"{self._name}_clear", **self._limits())

    def _limits(self) -> dict[str, Any]:
        return {"shared_name": self._name, "capacity": self._capacity, "memory_limit": self._memory_limit}
