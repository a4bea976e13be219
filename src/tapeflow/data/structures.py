"""The types of elements under their names of 1.x, `tf.data.experimental.TensorStructure` and the others."""

from __future__ import annotations

from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.public import boundaries
from tapeflow.core.sparse_tensor import SparseTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.data.element import DatasetSpec
from tapeflow.data.optional import OptionalSpec
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec
from tapeflow.ops.ragged.tensor import RaggedTensorSpec

Structure = TypeSpec
DatasetStructure = DatasetSpec
OptionalStructure = OptionalSpec


def TensorStructure(dtype: DTypeLike, shape: ShapeLike):
    """The type of a tensor."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: DTypeLike, shape: ShapeLike):
    """The type of a sparse tensor."""
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype: DTypeLike, shape: ShapeLike, ragged_rank):
    """The type of a ragged tensor."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype: DTypeLike, element_shape: ShapeLike, dynamic_size, infer_shape: bool):
    """The type of a TensorArray."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


boundaries(globals())
