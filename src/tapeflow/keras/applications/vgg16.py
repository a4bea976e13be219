"""`tf.keras.applications.vgg16`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.vgg import VGG16

preprocess_input, decode_predictions = of_mode("caffe")

__all__ = [
    "VGG16",
    "decode_predictions",
    "preprocess_input",
]
