"""`tf.keras.applications.inception_v3`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.inception import InceptionV3

preprocess_input, decode_predictions = of_mode("tf")

__all__ = [
    "InceptionV3",
    "decode_predictions",
    "preprocess_input",
]
