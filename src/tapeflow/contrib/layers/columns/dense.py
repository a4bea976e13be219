"""Dense columns of ids: one-hot vectors, trained vectors, and vectors of numbers that are hashed one by one."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.layers.columns.categorical import _SparseColumn, _WeightedSparseColumn
from tapeflow.contrib.layers.columns.ranks import inner_flattened
from tapeflow.contrib.layers.embeddings import scattered_embedding_lookup_sparse
from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, TensorLike
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column.column import DenseColumn, IdWeightPair
from tapeflow.feature_column.lookup import embedded, restored
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.sparse import functions as sparse
from tapeflow.ops.sparse import shaping
from tapeflow.v1 import initializers

if TYPE_CHECKING:
    from tapeflow.contrib.layers.columns.base import Features
    from tapeflow.core.sparse_tensor import SparseTensor


class _OfIds(DenseColumn):
    """What columns of the ids of another column share: their transformed tensor is its."""

    sparse_id_column: Any

    @property
    def length(self):
        """The number of ids."""
        return self.sparse_id_column.length

    @property
    def config(self):
        """Those of the ids."""
        return self.sparse_id_column.config

    @property
    def parents(self):
        return [self.sparse_id_column]

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.sparse_id_column, state_manager)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self.for_network(transformation_cache.get(self, state_manager), state_manager, 2)

    def _pair(self, tensor: TensorLike, rank: int):
        """The IdWeightPair of a transformed tensor, with that rank."""
        ids, weights = (
            self.sparse_id_column.id_tensor(tensor),
            self.sparse_id_column.weight_tensor(tensor),
        )
        flat = None if weights is None else inner_flattened(weights, rank)
        return IdWeightPair(inner_flattened(ids, rank), flat)


class _OneHotColumn(_OfIds, _FeatureColumn, namedtuple("_OneHotColumn", ["sparse_id_column"])):
    """See `one_hot_column`."""

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def variable_shape(self):
        return TensorShape([self.length])

    def for_network(self, tensor, state_manager, output_rank):
        return self._to_dnn_input_layer(tensor, output_rank=output_rank)

    def _to_dnn_input_layer(
        self, transformed_input_tensor: SparseTensor, weight_collections: Collections | None = None,
        trainable: bool = False, output_rank: int = 2,
    ):
        ids, weights = self._pair(transformed_input_tensor, output_rank)
        if weights is None:
            hot = one_hot(
                sparse.to_dense(ids, default_value=-1), self.length, on_value=1.0, off_value=0.0
            )
            return reduce_sum(hot, axis=[output_rank - 1])
        merged = sparse.sparse_merge(ids, weights, self.length)
        # Ids that are not there are left out.
        merged = shaping.slice_(merged, zeros_like(merged.dense_shape), merged.dense_shape)
        dense = sparse.to_dense(merged)
        return reshape(dense, concat([shape_of(dense)[:-1], [self.length]], 0))


def one_hot_column(sparse_id_column):
    """Vectors with the number of times, or the sum of the weights, of each id of a column."""
    return _OneHotColumn(sparse_id_column)


class _EmbeddingColumn(
    _OfIds,
    _FeatureColumn,
    namedtuple(
        "_EmbeddingColumn",
        [
            "sparse_id_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
            "shared_embedding_name", "shared_vocab_size", "max_norm", "trainable",
        ],
    ),
):  # fmt: skip
    """See `embedding_column`."""

    _free = ("initializer",)

    @property
    def name(self):
        shared = "" if self.shared_embedding_name is None else "_shared"
        return f"{self.sparse_id_column.name}{shared}_embedding"

    @property
    def length(self):
        return (
            self.sparse_id_column.length
            if self.shared_vocab_size is None
            else self.shared_vocab_size
        )

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def for_linear_model(self, columns_to_tensors: Features):
        raise ValueError(
            f"Column {self} is not supported in linear models. Please use sparse_column."
        )

    def _weights(self, state_manager):
        shape, name = [self.length, self.dimension], self.shared_embedding_name
        graph = get_default_graph()
        collection = None if name is None else f"SHARED_EMBEDDING_COLLECTION_{name.upper()}"
        held = graph.get_collection(collection) if collection else []
        if len(held) > 1:
            raise ValueError(
                f"Collection {collection} can only contain one (partitioned) variable."
            )
        if held:
            if held[0].shape != TensorShape(shape):
                raise ValueError(
                    f"The embedding variable with name {name} already exists, but its shape does not match required "
                    "embedding shape here. Please make sure to use different shared_embedding_name for different "
                    "shared embeddings."
                )
            return held[0]
        made = state_manager.create_variable(
            self,
            name or "weights",
            shape,
            dtypes.float32,
            self.trainable,
            initializer=self.initializer,
        )
        if collection:
            graph.add_to_collection(collection, made)
        return made

    def for_network(self, tensor, state_manager, output_rank):
        found = self._pair(tensor, output_rank)
        weights = self._weights(state_manager)
        restored(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return embedded(weights, found, self.combiner, self.max_norm, safe=True)


def embedding_column(
    sparse_id_column: Any, dimension: int, combiner: str = "mean", initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm: float | None = None, trainable: bool = True,
):
    """Vectors of the size `dimension` for the ids of a column; those of one example are combined.

    `combiner`: "mean", "sum" or "sqrtn". The weights start from `initializer` (a normal distribution, cut off, of the
    standard deviation 1 / sqrt(number of ids)), or from `tensor_name_in_ckpt` of the checkpoint `ckpt_to_load_from`.
    Raises ValueError for arguments that are wrong or do not fit.
    """
    return _embedding(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, None, None,
        max_norm, trainable,
    )  # fmt: skip


def _embedding(
    column: Any, dimension: int, combiner: str, initializer: Callable[..., Any] | None, checkpoint,
    tensor_name: str | None, *rest,
):
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. Embedding of column_name: {column.name}"
        )
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is None:
        initializer = initializers.truncated_normal_initializer(0.0, 1 / math.sqrt(column.length))
    return _EmbeddingColumn(
        column, dimension, combiner, initializer, checkpoint, tensor_name, *rest
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any], dimension: int, combiner: str = "mean", shared_embedding_name=None,
    initializer=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm: float | None = None,
    trainable: bool = True,
):
    """`embedding_column` of each of the columns, all with the same vectors.

    Raises TypeError for what is no sequence of columns of ids, ValueError for none, and for columns of other ids.
    """
    if not isinstance(sparse_id_columns, Sequence) or isinstance(sparse_id_columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError(
                f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {column} is not."
            )
    first, *others = sparse_id_columns
    if not all(_alike(first, other) for other in others):
        raise ValueError("The input sparse id columns are not compatible.")
    name, size = shared_embedding_name, None
    if others:
        name, size = name or _shared_name(sparse_id_columns), first.length
    made = tuple(
        _embedding(
            column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, name, size, max_norm,
            trainable,
        )
        for column in sparse_id_columns
    )  # fmt: skip
    return made if others else list(made)


def _alike(first, other):
    if isinstance(first, _WeightedSparseColumn):
        return first.is_compatible(other)
    return other.is_compatible(first)


def _shared_name(columns: Sequence[Any]):
    weighted = [column for column in columns if isinstance(column, _WeightedSparseColumn)]
    plain = [column for column in columns if not isinstance(column, _WeightedSparseColumn)]
    names = [
        column.name for group in (plain, weighted) for column in sorted(group, key=lambda c: c.name)
    ]
    rest = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return f"{'_'.join(names[:3])}{rest}_shared_embedding"


class _ScatteredEmbeddingColumn(
    DenseColumn,
    _FeatureColumn,
    namedtuple(
        "_ScatteredEmbeddingColumn",
        ["column_name", "size", "dimension", "hash_key", "combiner", "initializer"],
    ),
):
    """See `scattered_embedding_column`."""

    _free = ("initializer",)

    @property
    def name(self):
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self):
        return {self.column_name: VarLenFeature(dtypes.string)}

    @property
    def parents(self):
        return [self.column_name]

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.column_name, state_manager)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self.for_network(transformation_cache.get(self, state_manager), state_manager, 2)

    def for_network(self, tensor, state_manager, output_rank):
        weights = state_manager.create_variable(
            self, "weights", [self.size], dtypes.float32, initializer=self.initializer
        )
        return scattered_embedding_lookup_sparse(
            weights, inner_flattened(tensor, output_rank), self.dimension, combiner=self.combiner,
            hash_key=self.hash_key,
        )  # fmt: skip


def scattered_embedding_column(
    column_name, size, dimension, hash_key: int, combiner: str = "mean", initializer: Callable[..., Any] | None = None
):
    """Vectors of `dimension` numbers for the strings of a feature; each number has its place among `size` by a hash.

    Raises ValueError for sizes below one, another combiner, and an initializer that cannot be called.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, "
            f"column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, column_name: {column_name}"
        )
    if initializer is None:
        initializer = initializers.truncated_normal_initializer(0.0, 0.1)
    elif not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. column_name: {column_name}")
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
