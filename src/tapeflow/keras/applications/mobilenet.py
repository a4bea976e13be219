"""`tf.keras.applications.mobilenet`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.mobile import MobileNet

preprocess_input, decode_predictions = of_mode("tf")

__all__ = [
    "MobileNet",
    "decode_predictions",
    "preprocess_input",
]
