"""`tf.keras.applications.resnet`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.residual import ResNet50, ResNet101, ResNet152

preprocess_input, decode_predictions = of_mode("caffe")

__all__ = [
    "ResNet101",
    "ResNet152",
    "ResNet50",
    "decode_predictions",
    "preprocess_input",
]
