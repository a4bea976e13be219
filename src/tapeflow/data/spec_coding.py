"""Structures of specs as plain values, as files keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.ops.ragged.tensor import RaggedTensorSpec


def plain(spec):
    """A structure of specs as lists, dicts, texts and numbers. Raises InvalidArgumentError for other specs."""
    if hasattr(spec, "keys"):
        return ["dict", {key: plain(spec[key]) for key in spec}]
    if isinstance(spec, tuple):
        return ["tuple", [plain(item) for item in spec]]
    if spec is None:
        return ["none"]
    if isinstance(spec, TensorSpec):
        return ["tensor", spec.dtype.name, _sizes(spec.shape)]
    if isinstance(spec, SparseTensorSpec):
        return ["sparse", spec.dtype.name, _sizes(spec.shape)]
    if isinstance(spec, RaggedTensorSpec):
        return ["ragged", spec.dtype.name, _sizes(spec.shape), spec.ragged_rank, spec.row_splits_dtype.name]
    if isinstance(spec, element.DatasetSpec):
        return ["dataset", plain(spec.element_spec)]
    raise InvalidArgumentError(None, None, f"Elements of {spec} cannot be kept in files.")


def _sizes(shape):
    return None if shape.rank is None else shape.as_list()


def from_plain(value: Sequence[Any]):
    """The structure of specs of what `plain` gave. Raises DataLossError where it is damaged."""
    try:
        kind, *rest = value
        if kind == "dict":
            return {key: from_plain(item) for key, item in rest[0].items()}
        if kind == "tuple":
            return tuple(from_plain(item) for item in rest[0])
        if kind == "none":
            return None
        if kind == "dataset":
            return element.DatasetSpec(from_plain(rest[0]))
        dtype, shape = dtypes.as_dtype(rest[0]), rest[1]
        if kind == "tensor":
            return TensorSpec(shape, dtype)
        if kind == "sparse":
            return SparseTensorSpec(shape, dtype)
        if kind == "ragged":
            return RaggedTensorSpec(shape, dtype, rest[2], dtypes.as_dtype(rest[3]))
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataLossError(None, None, f"Damaged description of elements: {error}") from None
    raise DataLossError(None, None, f"Damaged description of elements: unknown kind {kind!r}")
