"""`tf.keras.applications.inception_resnet_v2`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.inception_residual import InceptionResNetV2

preprocess_input, decode_predictions = of_mode("tf")

__all__ = [
    "InceptionResNetV2",
    "decode_predictions",
    "preprocess_input",
]
