"""`CompositeTensor`: values of several tensors, of the package and of libraries."""

from __future__ import annotations

import abc
from typing import Any

from tapeflow import _native
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest, structure


class CompositeTensor(metaclass=abc.ABCMeta):
    """Base of values that consist of tensors, as their `_type_spec` says.

    Sparse and ragged tensors, indexed slices, extension types and the like are instances of it too.
    """

    @property
    @abc.abstractmethod
    def _type_spec(self) -> Any:
        """The `tf.TypeSpec` that takes a value apart and puts it together."""

    def _shape_invariant_to_type_spec(self, shape: ShapeLike) -> Any:
        """The spec of values of a shape, for a loop. Raises NotImplementedError where a class does not say."""
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def _convert_variables_to_tensors(self) -> Any:
        """The value with tensors in the place of variables."""
        return self

    def __tf_tracing_type__(self, context: Any) -> Any:
        return self._type_spec

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        if cls is CompositeTensor and structure.is_composite_class(other):
            return True
        return NotImplemented


def replace_composites_with_components(structure_: Any) -> Any:
    """The structure with lists of tensors in the place of composite tensors."""
    if isinstance(structure_, CompositeTensor):
        return replace_composites_with_components(nest.flatten(structure_, expand_composites=True))
    if not nest.is_nested(structure_):
        return structure_
    return nest.map_structure(replace_composites_with_components, structure_, expand_composites=False)


def convert_variables_to_tensors(values: Any) -> Any:
    """The structure with tensors in the place of variables."""

    def converted(value: Any) -> Any:
        if isinstance(value, _native.Variable):
            return convert_to_tensor(value)
        method = getattr(value, "_convert_variables_to_tensors", None)
        return value if method is None else method()

    return nest.map_structure(converted, values)
