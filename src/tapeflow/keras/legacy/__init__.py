"""`tf.keras.legacy`: how objects were described before Keras 3."""

from tapeflow.keras.legacy import saving

__all__ = ["saving"]
