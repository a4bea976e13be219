"""`tf.keras.applications.resnet_v2`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.residual import ResNet50V2, ResNet101V2, ResNet152V2

preprocess_input, decode_predictions = of_mode("tf")

__all__ = [
    "ResNet101V2",
    "ResNet152V2",
    "ResNet50V2",
    "decode_predictions",
    "preprocess_input",
]
