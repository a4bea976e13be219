"""`tf.data.experimental` of 1.x: that of 2.x, and the types of elements under their old names."""

from tapeflow.data.experimental import *  # noqa: F403
from tapeflow.data.experimental import __all__ as _names
from tapeflow.data.structures import (
    DatasetStructure,
    OptionalStructure,
    RaggedTensorStructure,
    SparseTensorStructure,
    Structure,
    TensorArrayStructure,
    TensorStructure,
)

__all__ = [
    *_names,
    "DatasetStructure",
    "OptionalStructure",
    "RaggedTensorStructure",
    "SparseTensorStructure",
    "Structure",
    "TensorArrayStructure",
    "TensorStructure",
]
