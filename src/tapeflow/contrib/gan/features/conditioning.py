"""Tensors with conditions: dense layers of them are added."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib import layers
from tapeflow.core.annotations import TensorLike


def condition_tensor(tensor: Any, conditioning: Any):
    """The tensor and a linear layer of the conditions, summed.

    Args:
      tensor: (batch, ...), of a shape that is known but for the batch.
      conditioning: (batch, ..., features).

    Raises ValueError for conditions of fewer than two dimensions.
    """
    tensor.shape[1:].assert_is_fully_defined()
    if conditioning.shape.rank < 2:
        raise ValueError(f"conditioning must be at least 2D, but saw shape: {conditioning.shape}")
    mapped = layers.linear(layers.flatten(conditioning), tensor.shape[1:].num_elements())
    if not mapped.shape.is_compatible_with(tensor.shape):
        mapped = v1.reshape(mapped, v1.shape(tensor))
    return tensor + mapped


def condition_tensor_from_onehot(tensor: TensorLike, one_hot_labels: Any, embedding_size: int = 256):
    """`condition_tensor` by embeddings of classes, which are given as (batch, classes)."""
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    embedding = v1.get_variable("embedding", [one_hot_labels.shape[1], embedding_size])
    ids = v1.argmax(one_hot_labels, axis=1)
    return condition_tensor(tensor, v1.nn.embedding_lookup(embedding, ids, name="token_to_embedding"))
