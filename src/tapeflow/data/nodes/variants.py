"""Datasets and their elements as nodes of TensorFlow's ops have them: in variant tensors, with flat elements.

An element is one tensor there, or a tuple of several.
"""

from __future__ import annotations

from typing import Any

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element, leaves
from tapeflow.data.building import build
from tapeflow.data.dataset_class import is_dataset
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of


def packed(flat: Any) -> Any:
    """An element of a list of tensors or specs."""
    flat = tuple(flat)
    return flat[0] if len(flat) == 1 else flat


def unpacked(value: Any) -> list[Any]:
    """The tensors of an element of any dataset, as TensorFlow's ops have them: in the order of sorted keys."""
    if isinstance(value, Tensor):
        return [value]
    found: list[Any] = []
    for leaf in element.flatten(value):
        if is_dataset(leaf):
            found.append(leaves.boxed_dataset(leaf))
        elif isinstance(leaf, element.COMPOSITES):
            raise UnimplementedError(
                None, None, f"Elements with a {type(leaf).__name__} do not go into nodes of TensorFlow's datasets"
            )
        else:
            found.append(convert_to_tensor(leaf))
    return found


def flat(dataset: Any) -> Any:
    """A dataset with flat elements."""
    spec = dataset.element_spec
    specs = element.flatten(spec)
    plain = all(isinstance(s, TensorSpec) for s in specs)
    if plain and (not element.is_structure(spec) or (type(spec) is tuple and len(spec) == len(specs) != 1)):
        return dataset
    kinds = packed(s if isinstance(s, TensorSpec) else TensorSpec((), dtypes.variant) for s in specs)
    return build(("Map", lambda: _Flat(parts_of(dataset).start()), kinds, parts_of(dataset).size), dataset)


class _Flat(Over):
    __slots__ = ()

    def __next__(self) -> Any:
        return packed(unpacked(next(self._input)))


def dataset_of(tensor: Any) -> Any:
    """The dataset that a variant tensor holds, with flat elements."""
    found = leaves.unboxed(tensor)
    if not is_dataset(found):
        raise UnimplementedError(None, None, f"The variant holds no dataset, but a {type(found).__name__}")
    return flat(found)
