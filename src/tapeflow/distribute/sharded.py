"""`ShardedVariable`: a variable in parts along its first axis, each one a variable of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.core import convert, dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.specs.composite_tensor import CompositeTensor
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.tracking.trackable import Trackable
from tapeflow.ops.array.joining import concat
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.math.casting import cast
from tapeflow.ops.nn.embedding import embedding_lookup_v1
from tapeflow.ops.state.variable import Variable


class ShardedVariableSpec(TypeSpec):
    """The spec of a sharded variable: those of its parts.

    Args:
      *variable_specs: a `TensorSpec` for each part.
    """

    value_type: Any = property(lambda self: ShardedVariable)

    def __init__(self, *variable_specs: Any):
        self._specs = tuple(variable_specs)

    def _serialize(self) -> tuple[Any, ...]:
        return self._specs

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._specs

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        return tuple(value.variables)

    def _from_components(self, components: Any) -> Any:
        return ShardedVariable(components)


class ShardedVariable(Trackable, CompositeTensor):
    """Several variables that are one along the first axis.

    Args:
      variables: the parts, of one dtype, whose shapes differ in the first size only.
      name: its name.

    Raises TypeError for parts that are no variables, ValueError for parts that do not fit together.
    """

    def __init__(self, variables: Sequence[Variable], name: str = "ShardedVariable"):
        self._variables, self._name = list(variables), name
        if not self._variables or not all(isinstance(v, Variable) for v in self._variables):
            raise TypeError(
                "Argument `variables` should be a non-empty list of `variables.Variable`s. Received "
                f"variables={variables}"
            )
        first = self._variables[0]
        if any(v.dtype != first.dtype for v in self._variables):
            raise ValueError(
                f"All elements in argument `variables` must have the same dtype. Received dtypes: "
                f"{[v.dtype for v in self._variables]}"
            )
        if any(v.shape[1:].as_list() != first.shape[1:].as_list() for v in self._variables):
            raise ValueError(
                "All elements in argument `variables` must have the same shapes except for the first axis. Received "
                f"shapes: {[v.shape for v in self._variables]}"
            )
        ends = np.cumsum([0, *(v.shape[0] for v in self._variables)])
        self._begins, self._rows = [int(e) for e in ends[:-1]], int(ends[-1])

    @property
    def is_sharded_variable(self) -> bool:
        """True: lookups ask each part for its rows alone."""
        return True

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variables)

    @property
    def _type_spec(self) -> Any:
        return ShardedVariableSpec(*(TensorSpec(v.shape, v.dtype) for v in self._variables))

    @property
    def variables(self) -> list[Variable]:
        """The parts."""
        return self._variables

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of its elements."""
        return self._variables[0].dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of all parts together."""
        return TensorShape([self._rows, *self._variables[0].shape[1:].as_list()])

    @property
    def trainable(self) -> bool:
        """Whether its parts are trainable."""
        return self._variables[0].trainable

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint holds of it: the whole, as TensorFlow's reads it, however many parts there are."""
        return {"VARIABLE_VALUE": self.numpy}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return self.assign(restored_tensors["VARIABLE_VALUE"])

    def __tf_tensor__(self, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
        return convert.convert_to_tensor(concat([v.read_value() for v in self._variables], 0), dtype)

    def numpy(self) -> np.ndarray:
        """The value as an array."""
        return np.concatenate([v.numpy() for v in self._variables])

    def __getitem__(self, slice_spec: Any) -> Any:
        return convert.convert_to_tensor(self)[slice_spec]

    def _pieces(self, value: Any) -> list[Any]:
        value = convert.convert_to_tensor(value, self.dtype)
        return [value[b : b + v.shape[0]] for b, v in zip(self._begins, self._variables, strict=True)]

    def assign(self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Sets all parts."""
        for part, piece in zip(self._variables, self._pieces(value), strict=True):
            part.assign(piece)
        return self

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to all parts."""
        for part, piece in zip(self._variables, self._pieces(delta), strict=True):
            part.assign_add(piece)
        return self

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from all parts."""
        for part, piece in zip(self._variables, self._pieces(delta), strict=True):
            part.assign_sub(piece)
        return self

    def _each(self, method: str, slices: IndexedSlices) -> Any:
        """Calls a method of each part with the slices that belong to it."""
        indices = cast(slices.indices, dtypes.int64)
        for begin, part in zip(self._begins, self._variables, strict=True):
            own = (indices >= begin) & (indices < begin + part.shape[0])
            values = boolean_mask(slices.values, own)
            getattr(part, method)(IndexedSlices(values, boolean_mask(indices, own) - begin))
        return self

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Any:
        """The rows of some indices, each read from its part."""
        return embedding_lookup_v1(self._variables, indices, "div")


def _scatter(name: str) -> Any:
    def method(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._each(label, sparse_delta)

    label = method.__name__ = name
    method.__doc__ = f"`{name}` of the rows in each part."
    return method


for _name in ("add", "sub", "mul", "div", "max", "min", "update"):
    setattr(ShardedVariable, f"scatter_{_name}", _scatter(f"scatter_{_name}"))
ShardedVariable.batch_scatter_update = _scatter("batch_scatter_update")  # type: ignore[attr-defined]


def _operator(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        return getattr(convert.convert_to_tensor(self), name)(*args)

    method.__name__ = name
    return method


for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow",
    "rpow", "matmul", "rmatmul", "lt", "le", "gt", "ge", "and", "rand", "or", "ror", "xor", "rxor", "neg", "abs",
    "invert",
):  # fmt: skip
    setattr(ShardedVariable, f"__{_name}__", _operator(f"__{_name}__"))
