"""Elements of datasets: nested structures of tensors, and the specs that describe them.

Unlike `tf.nest`, a list inside an element is not structure: it is converted to one tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import EagerTensor, Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorSpec, SparseTensorValue
from tapeflow.core.specs.extension_type import ExtensionType
from tapeflow.core.specs.protocol import type_spec_of
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import structure
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data.dataset_class import dataset_class, is_dataset
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.ragged.tensor import RaggedTensor, RaggedTensorSpec
from tapeflow.ops.ragged.value import RaggedTensorValue
from tapeflow.ops.sparse.functions import to_dense
from tapeflow.ops.state.variable import Variable

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

# Leaves of several tensors.
COMPOSITES = (SparseTensor, RaggedTensor, TensorArray, ExtensionType)
_VALUES = (SparseTensorValue, RaggedTensorValue)  # of such as named tuples of arrays
_OBJECTS = (structure.ATTRS, structure.CUSTOM)


def is_structure(value):
    """Whether `value` is a container of elements: a tuple, a mapping, or an object with tensors as its fields."""
    return isinstance(value, (tuple, Mapping)) or _is_object(value)


def _is_object(value):
    """Whether a class of the program's says of its values what is in them: one of attrs, or by `__tf_flatten__`."""
    return structure.kind_of(value) in _OBJECTS


def rebuild(like, items):
    """The items (in the order of `children(like)`) in a container of the type of `like`."""
    if not isinstance(like, (tuple, Mapping)):
        return structure.rebuild(like, structure.kind_of(like), list(items))
    if isinstance(like, Mapping):
        pairs = dict(zip(like, items))
        return pairs if type(like) is dict else type(like)(pairs)
    if hasattr(like, "_fields"):
        return type(like)(*items)
    return tuple(items)


def children(value):
    """The items of a container, mappings in the order of their keys' insertion."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value if isinstance(value, tuple) else structure.children_of(value, structure.kind_of(value)))


def flatten(value):
    """The leaves of an element, from left to right, mappings in sorted order of keys."""
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in flatten(value[key])]
    if isinstance(value, tuple) or _is_object(value):
        return [leaf for item in children(value) for leaf in flatten(item)]
    return [value]


def map_leaves(fn: Callable[..., Any], first: Any, *rest):
    """`fn` on corresponding leaves. Raises TypeError or ValueError where structures differ."""
    if not is_structure(first):
        return fn(first, *rest)
    for other in rest:
        same_container(first, other)
    if isinstance(first, Mapping):
        columns = [[other[key] for key in first] for other in rest]
    else:
        columns = [children(other) for other in rest]
    return rebuild(first, [map_leaves(fn, *items) for items in zip(children(first), *columns)])


def same_container(first: Any, other: Sequence[Any] | dict[str, Any]):
    """Raises when two containers differ in kind, length or keys."""
    mapping = isinstance(first, Mapping)
    alone = _is_object(first) or _is_object(other)
    if not is_structure(other) or mapping != isinstance(other, Mapping) or (alone and type(first) is not type(other)):
        raise TypeError(
            "The two structures don't have the same sequence type. "
            f"First structure has type {type(first)}, while second structure has type {type(other)}."
        )
    if len(children(first)) != len(children(other)):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {first}. Second structure: {other}."
        )
    if mapping and set(first) != set(other):
        raise ValueError(
            "The two structures don't have the same keys. "
            f"First structure: {list(first)}. Second structure: {list(other)}."
        )


def to_element(value):
    """`value` with every leaf a tensor; datasets and None stay as they are."""
    kind = type(value)
    if kind is EagerTensor:
        return value
    if is_structure(value) and not isinstance(value, _VALUES):
        return rebuild(value, [to_element(item) for item in children(value)])
    if value is None or hasattr(value, "element_spec") or isinstance(value, COMPOSITES):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        inner = to_element(value.values)
        return RaggedTensor.from_row_splits(inner, value.row_splits, validate=False)
    if isinstance(value, Variable):
        return value.read_value()
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        return convert_to_tensor(np.asarray(value))  # of a subclass, such as chararray, what is in it
    if isinstance(value, list) and value and all(is_dataset(item) for item in value):
        from tapeflow.data.transform.stacking import stacked_datasets

        return stacked_datasets(value)
    return convert_to_tensor(value)


def spec_of(element: TensorLike | dict[str, Any] | Dataset):
    """The structure of specs of one concrete element."""
    return map_leaves(leaf_spec, element)


def leaf_spec(leaf: Tensor | SparseTensor | Dataset):
    """The spec of one leaf; None for None."""
    if leaf is None:
        return None
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    return type_spec_of(leaf)


class DatasetSpec(TypeSpec):
    """The type of a dataset that is an element of a dataset, as `Dataset.window` makes them.

    Args:
      element_spec: the structure of specs of an element of it.
      dataset_shape: the shape of a tensor of such datasets; () for one.
    """

    __slots__ = ("dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: ShapeLike = ()):
        self._element_spec = element_spec
        self.dataset_shape = TensorShape(dataset_shape)

    @property
    def element_spec(self):
        """The spec of the inner dataset's elements."""
        return self._element_spec

    @property
    def value_type(self):
        """The class Dataset."""
        return dataset_class()

    @staticmethod
    def from_value(value):
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value):
        """Whether a dataset, or one of another spec, has elements as this spec says."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(other, DatasetSpec) and specs_agree(self._element_spec, other.element_spec)

    def is_subtype_of(self, other):
        """Whether every dataset of this spec is one of the spec `other`."""
        return isinstance(other, DatasetSpec) and _all_leaves(
            lambda a, b: a.is_subtype_of(b), self._element_spec, other.element_spec
        )

    def most_specific_common_supertype(self, others):
        """The spec that says the most of what is true of this and all of `others`; None if none is."""
        spec = self._element_spec
        for other in others:
            if not isinstance(other, DatasetSpec):
                return None
            try:
                spec = map_leaves(lambda a, b: a.most_specific_compatible_type(b), spec, other.element_spec)
            except (TypeError, ValueError):
                return None
        return type(self)(spec, self.dataset_shape)

    # A dataset as the tensor that stands for it, for libraries that take composites apart.

    @property
    def _component_specs(self):
        return TensorSpec(self.dataset_shape, dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        from tapeflow.data import leaves

        return leaves.from_tensors(self, [components])

    def _parts(self):
        return self._element_spec, self.dataset_shape

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return f"{type(self).__name__}({self._element_spec!r}, {self.dataset_shape!r})"


def _all_leaves(check, first, second):
    found = []
    try:
        map_leaves(lambda a, b: found.append(check(a, b)), first, second)
    except (TypeError, ValueError, AttributeError):
        return False
    return all(found)


def specs_agree(first, second):
    """Whether two structures of specs are compatible."""
    return _all_leaves(
        lambda a, b: a is b if a is None or b is None else a.is_compatible_with(b), first, second
    )


def unflatten(like, leaves):
    """A structure like `like` of an iterator's leaves in the order of `flatten`."""
    if isinstance(like, Mapping):
        values = {key: unflatten(like[key], leaves) for key in sorted(like)}
        return rebuild(like, [values[key] for key in like])
    if isinstance(like, tuple) or _is_object(like):
        return rebuild(like, [unflatten(item, leaves) for item in children(like)])
    return next(leaves)


def as_numpy(leaf: Tensor):
    """The NumPy value of a leaf; an inner dataset becomes an iterable of NumPy values."""
    if isinstance(leaf, Tensor):
        value = leaf.numpy()
        return value if isinstance(value, (bytes, np.generic)) else np.asarray(value)
    if hasattr(leaf, "as_numpy_iterator"):
        return leaf.as_numpy_iterator()
    if isinstance(leaf, SparseTensor):
        return to_dense(leaf).numpy()
    if isinstance(leaf, RaggedTensor):
        return leaf.numpy()
    if leaf is None:
        return None
    raise TypeError(
        "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
        f"{type(leaf).__name__}."
    )


def check_numpy(spec: TensorSpec):
    """Raises TypeError for a spec whose values have no NumPy values."""
    if spec is not None and not isinstance(spec, (TensorSpec, SparseTensorSpec, RaggedTensorSpec)):
        raise TypeError(
            "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
            f"{spec.value_type.__name__}."
        )


def merge_specs(first: TensorSpec, second: TensorSpec):
    """The most specific spec that both specs satisfy, or None when there is none."""
    if first == second:
        return first
    if not isinstance(first, TensorSpec) or not isinstance(second, TensorSpec):
        if first is None or second is None:
            return None
        try:
            return first.most_specific_common_supertype([second])
        except (TypeError, AttributeError):
            return None
    if first.dtype != second.dtype:
        return None
    return TensorSpec(common_shape(first.shape, second.shape), first.dtype)


def common_shape(first: TensorShape, second: TensorShape):
    """A shape with None where the two shapes differ, unknown when their ranks do."""
    first, second = TensorShape(first), TensorShape(second)
    if first.rank is None or first.rank != second.rank:
        return TensorShape(None)
    pairs = zip(first.as_list(), second.as_list())
    return TensorShape([a if a == b else None for a, b in pairs])
