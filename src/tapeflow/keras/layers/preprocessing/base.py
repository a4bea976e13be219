"""What preprocessing layers share: learning from data before training, and encodings of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_max, reduce_sum
from tapeflow.ops.sparse import functions as sparse_ops

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

OUTPUT_MODES = ("int", "one_hot", "multi_hot", "count")


class PreprocessingLayer(Layer):
    """A layer without trained weights, that also takes what is no tensor yet, such as lists."""

    _checks_inputs = False

    def __init__(self, **kwargs):
        kwargs.setdefault("autocast", False)
        super().__init__(**kwargs)

    def convert_weight(self, weight):
        """A weight as a tensor."""
        return convert_to_tensor(weight)


class AdaptiveLayer(PreprocessingLayer):
    """A layer that learns from data by `adapt`: subclasses define reset_state, update_state and finalize_state."""

    def adapt(self, data, batch_size=None, steps=None):
        """Learns from an array, or from batches of a dataset or another iterable, at most `steps` of them."""
        self.reset_state()
        for batch in batches_of(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def reset_state(self):
        """Forgets what was learned."""

    def finalize_state(self):
        """Makes what was learned ready for use."""

    def take_learned(self, saved):
        """Takes what was learned out of the layer's object in a SavedModel of Keras 2, beyond the layer's variables."""


def newer(**config: Any) -> dict[str, Any]:
    """Entries of configs that the layers of Keras 2 do not take: none where those are wanted."""
    return {} if keras_2() else config


def batches_of(data: Any, steps: int | None = None):
    """The batches of data: one for arrays, tensors and lists of plain values, else as iterated."""
    if is_array(data) or (isinstance(data, (list, tuple)) and not any(map(is_array, data))):
        yield data
        return
    for step, batch in enumerate(data):
        if steps is not None and step >= steps:
            return
        yield batch[0] if isinstance(batch, tuple) else batch


def is_array(x: TensorLike | Dataset):
    """Whether x is an array or a tensor of any kind."""
    return isinstance(x, (Tensor, np.ndarray, SparseTensor)) or hasattr(x, "flat_values")


def as_tensor(x, dtype=None):
    """x as a tensor of some kind, cast to dtype where it has another one."""
    if not isinstance(x, SparseTensor) and not hasattr(x, "flat_values"):
        x = convert_to_tensor(x)
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    return x if dtype is None or x.dtype == dtype else cast(x, dtype)


def encode(indices: Any, mode: str, depth: int, dtype: DTypeLike, sparse: bool = False, weights=None):
    """Indices of categories as numbers: as they are, or as vectors of `depth` ones and counts.

    Indices out of range count nowhere. The last axis is that of the categories of one example, but for
    "one_hot", where each index gets a vector (a last axis of size 1 goes).
    """
    if mode == "int":
        return cast(indices, dtype)
    if isinstance(indices, SparseTensor):
        indices = sparse_ops.to_dense(indices, default_value=-1)
    if hasattr(indices, "flat_values"):
        indices = indices.to_tensor(default_value=-1)
    if indices.shape.rank == 0:
        indices = expand_dims(indices, -1)
    if mode == "one_hot":
        if indices.shape.rank > 1 and indices.shape.as_list()[-1] == 1:
            indices = squeeze(indices, [-1])
        result = one_hot(indices, depth, dtype=dtype)
    else:
        each = one_hot(indices, depth, dtype=dtype if weights is None else weights.dtype)
        if weights is not None:
            each = each * expand_dims(weights, -1)
        result = (reduce_max if mode == "multi_hot" else reduce_sum)(each, axis=-2)
    if not sparse:
        return result

    return sparse_ops.from_dense(result)


def encoded_shape(sizes, mode, depth: int | None):
    """The shape of what `encode` gives for indices of these sizes."""
    sizes = list(sizes) or [1]
    if mode == "int":
        return sizes
    if mode == "one_hot":
        return [*(sizes[:-1] if len(sizes) > 1 and sizes[-1] == 1 else sizes), depth]
    return [*sizes[:-1], depth]
