"""Words as vectors, features as points, gradients scaled: layers of no family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.compat.v1.nn import embedding_lookup, safe_embedding_lookup_sparse
from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.framework.variables import model_variable
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import linspace, meshgrid
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.elementwise import rsqrt, square
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.sparse.functions import from_dense
from tapeflow.v1 import initializers
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "bow_encoder", "embed_sequence", "embedding_lookup_unique", "poincare_normalize", "scale_gradient",
    "spatial_softmax",
]  # fmt: skip


def embedding_lookup_unique(
    params: TensorLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
):
    """`embedding_lookup`, which looks up each id once."""
    ids = convert_to_tensor(ids)
    flat = reshape(ids, [-1])
    once, places = unique(flat)[:2]
    found = embedding_lookup(params, once, partition_strategy)

    rows = gather(found, places)
    return reshape(rows, concat([shape_of(ids), shape_of(found)[1:]], 0), name=name)


def embed_sequence(
    ids, vocab_size=None, embed_dim=None, unique=False, initializer=None, regularizer=None, trainable=True,
    scope=None, reuse=None,
):  # fmt: skip
    """A vector for each id: [batch, length, embed_dim]. Raises ValueError where neither sizes nor reuse are given."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and (vocab_size is None or embed_dim is None):
            shape = None
        embeddings = model_variable(
            "embeddings", shape=shape, initializer=initializer, regularizer=regularizer,
            trainable=trainable,
        )  # fmt: skip
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return embedding_lookup(embeddings, ids)


def bow_encoder(
    ids: Tensor | SparseTensor, vocab_size: int, embed_dim: int, sparse_lookup: bool = True, initializer=None,
    regularizer: Callable[..., Any] | None = None, trainable: bool = True, scope: str | None = None,
    reuse: bool | None = None,
):  # fmt: skip
    """The mean of the vectors of the ids: [batch, embed_dim].

    With `sparse_lookup` dense ids of 0 ("" of strings) are padding, which does not count; a row without others has the
    vector of the id 0. Raises TypeError for sparse ids without it.
    """
    if not sparse_lookup and isinstance(ids, SparseTensor):
        raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer,
            regularizer=regularizer, trainable=trainable,
        )  # fmt: skip
        if sparse_lookup:
            ids = ids if isinstance(ids, SparseTensor) else from_dense(ids)
            return safe_embedding_lookup_sparse(embeddings, ids, combiner="mean", default_id=0)
        return reduce_mean(embedding_lookup(embeddings, ids), 1)


def scale_gradient(inputs: TensorLike, gradient_multiplier):
    """The inputs; their gradient is multiplied."""
    factor = convert_to_tensor(gradient_multiplier)

    @custom_gradient
    def scaled(x: Tensor):
        return x + 0, lambda dy: dy * factor

    return scaled(convert_to_tensor(inputs))


@add_arg_scope
def spatial_softmax(
    features, temperature: float | None = None, name: str | None = None,
    variables_collections: Collections | None = None, trainable: bool = True, data_format: str = "NHWC",
):
    """Where each channel is active, as the expected (x, y) of a softmax over its places: [batch, 2 * channels]."""
    with variable_scope(name, "spatial_softmax"):
        features = convert_to_tensor(features)
        sizes = shape_of(features)
        known = features.shape.as_list()
        if data_format == "NHWC":
            height, width, channels = sizes[1], sizes[2], known[3]
            features = transpose(features, [0, 3, 1, 2])
        elif data_format == "NCHW":
            channels, height, width = known[1], sizes[2], sizes[3]
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined.")
        x, y = meshgrid(linspace(-1.0, 1.0, height), linspace(-1.0, 1.0, width), indexing="ij")
        x, y = reshape(x, [-1]), reshape(y, [-1])
        if temperature is None:
            temperature = model_variable(
                "temperature", shape=(), initializer=initializers.ones_initializer(),
                collections=variables_collections, trainable=trainable,
            )  # fmt: skip
        attention = softmax(reshape(features, [-1, height * width]) / temperature)
        points = concat(
            [reduce_sum(x * attention, [1], keepdims=True), reduce_sum(y * attention, [1], keepdims=True)], 1
        )
        points = reshape(points, [-1, channels * 2])
        points.set_shape([None, channels * 2])
        return points


def poincare_normalize(x: TensorLike, axis: int = 1, epsilon: float = 1e-5, name: str | None = None):
    """x, scaled into the ball of radius 1 - epsilon along an axis where it is outside."""
    x = convert_to_tensor(x)
    length = reduce_sum(square(x), axis, keepdims=True)
    return x * minimum((1.0 - epsilon) * rsqrt(maximum(length, epsilon)), 1.0)
