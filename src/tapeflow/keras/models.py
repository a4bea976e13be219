"""`tf.keras.models`."""

from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.sequential import Sequential

__all__ = ["Model", "Sequential"]
