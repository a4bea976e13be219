"""`tf.keras.applications.vgg19`."""

from tapeflow.keras.applications.imagenet_utils import of_mode
from tapeflow.keras.applications.vgg import VGG19

preprocess_input, decode_predictions = of_mode("caffe")

__all__ = [
    "VGG19",
    "decode_predictions",
    "preprocess_input",
]
