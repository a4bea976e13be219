"""`tf.keras.applications.mobilenet_v2`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.mobile import MobileNetV2

preprocess_input, decode_predictions = of_mode("tf")

__all__ = [
    "MobileNetV2",
    "decode_predictions",
    "preprocess_input",
]
