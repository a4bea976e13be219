"""`tf.__internal__.types`: the types of values."""

from tapeflow.__internal__.types import data
from tapeflow.core.specs.tensor_types import Tensor

__all__ = ["Tensor", "data"]
