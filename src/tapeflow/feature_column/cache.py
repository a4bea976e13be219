"""Raw features and what columns made of them, each made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column.column import FeatureColumn
from tapeflow.ops.array import layout
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_positive
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.sparse import conversion, shaping

if TYPE_CHECKING:
    from tapeflow.feature_column.state import StateManager


class FeatureTransformationCache:
    """The tensors of a batch: of raw features by their keys, and of columns.

    Raw features of rank 1 get a second axis, since a row is an example.
    """

    columns: Any = FeatureColumn
    kind = "FeatureColumn"

    def __init__(self, features: dict[str, Any]):
        self._features = features.copy()
        self._made: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: StateManager | None, training: bool | None = None):
        """The tensor of a key or a column.

        Raises ValueError for a feature that is not there or is a scalar, TypeError for other things.
        """
        if key in self._made:
            return self._made[key]
        if key in self._features:
            made = self._made[key] = _raw(key, self._features[key])
            return made
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        if not isinstance(key, self.columns):
            raise TypeError(f'"key" must be either a "str" or "{self.kind}". Provided: {key}')
        made = key.transform_feature(self, state_manager)
        if made is None:
            raise ValueError(f"Column {key.name} is not supported.")
        self._made[key] = made
        return made


def as_feature(value: Tensor | SparseTensor):
    """A tensor or a sparse tensor."""
    return conversion.as_sparse(value) if conversion.is_sparse(value) else convert_to_tensor(value)


def _raw(key: str, value: Tensor | SparseTensor):
    tensor = as_feature(value)
    rank = tensor.shape.rank
    text = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
    if rank == 0:
        raise ValueError(text)
    if rank is not None:
        return _with_column(tensor) if rank == 1 else tensor
    with control_dependencies([assert_positive(rank_of(tensor), message=text)]):
        return cond(equal(1, rank_of(tensor)), lambda: _with_column(tensor), lambda: tensor)


def _with_column(tensor: Tensor):
    if isinstance(tensor, SparseTensor):
        return shaping.reshape(tensor, [shape_of(tensor)[0], 1])
    return layout.expand_dims(tensor, -1)
