"""`tf.keras.applications.mobilenet_v3`."""

from tapeflow.keras.applications.imagenet_utils import of_mode

preprocess_input, decode_predictions = of_mode(None)

__all__ = [
    "decode_predictions",
    "preprocess_input",
]
