"""`tf.keras.applications.xception`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.separable import Xception

preprocess_input, decode_predictions = of_mode("tf")

__all__ = [
    "Xception",
    "decode_predictions",
    "preprocess_input",
]
