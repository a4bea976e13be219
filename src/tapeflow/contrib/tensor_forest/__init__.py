"""`tf.contrib.tensor_forest`: random forests that grow while batches come."""

from tapeflow.contrib.tensor_forest import client, tensor_forest
from tapeflow.contrib.tensor_forest.tensor_forest import (
    ForestHParams,
    ForestVariables,
    RandomForestGraphs,
    RandomTreeGraphs,
    TreeVariables,
)

__all__ = [
    "ForestHParams", "ForestVariables", "RandomForestGraphs", "RandomTreeGraphs", "TreeVariables", "client",
    "tensor_forest",
]  # fmt: skip
