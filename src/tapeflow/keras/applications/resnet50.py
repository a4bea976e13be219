"""`tf.keras.applications.resnet50`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.residual import ResNet50

preprocess_input, decode_predictions = of_mode("caffe")

__all__ = [
    "ResNet50",
    "decode_predictions",
    "preprocess_input",
]
