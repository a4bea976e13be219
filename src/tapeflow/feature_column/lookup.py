"""Rows of embeddings for ids."""

from __future__ import annotations

from tapeflow.core.annotations import Variable
from tapeflow.ops.nn.embedding_sparse import embedding_lookup_sparse, safe_embedding_lookup_sparse
from tapeflow.ops.static import size_of


def embedded(weights: Variable, ids_and_weights, combiner: str, max_norm: float | None, safe: bool):
    """The combined rows of `weights`; `safe` also takes ids that are not there, and rows without any."""
    ids = ids_and_weights.id_tensor
    rank = size_of(ids.dense_shape, 0)
    plain = not safe and isinstance(rank, int) and rank <= 2
    look = embedding_lookup_sparse if plain else safe_embedding_lookup_sparse
    return look(weights, ids, ids_and_weights.weight_tensor, combiner=combiner, max_norm=max_norm)


def restored(weights, ckpt_to_load_from, tensor_name_in_ckpt) -> None:
    """Lets weights begin with what a checkpoint has, if there is one."""
    if ckpt_to_load_from is None:
        return
    from tapeflow.checkpoint.warm_starting import init_from_checkpoint

    parts = list(weights) if hasattr(weights, "as_tensor") else weights
    init_from_checkpoint(ckpt_to_load_from, {tensor_name_in_ckpt: parts})
