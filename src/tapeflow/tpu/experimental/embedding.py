"""`tf.tpu.experimental.embedding`: tables of embeddings, how they are trained, and looking them up without a TPU."""

from tapeflow.tpu.embeddings import (
    TPUEmbedding,
    TPUEmbeddingForServing,
    TPUEmbeddingV0,
    TPUEmbeddingV2,
)
from tapeflow.tpu.lookup import serving_embedding_lookup
from tapeflow.tpu.optimizers import FTRL, SGD, Adagrad, AdagradMomentum, Adam, CustomOptimizer
from tapeflow.tpu.table_configs import (
    CustomCombiner,
    FeatureConfig,
    QuantizationConfig,
    RowIdInitializer,
    SparseCoreEmbeddingConfig,
    TableConfig,
)

__all__ = [
    "FTRL", "SGD", "Adagrad", "AdagradMomentum", "Adam", "CustomCombiner", "CustomOptimizer", "FeatureConfig",
    "QuantizationConfig", "RowIdInitializer", "SparseCoreEmbeddingConfig", "TPUEmbedding", "TPUEmbeddingForServing",
    "TPUEmbeddingV0", "TPUEmbeddingV2", "TableConfig", "serving_embedding_lookup",
]  # fmt: skip
