"""`tf.keras.applications.densenet`."""

from tapeflow.keras.applications.dense import DenseNet121, DenseNet169, DenseNet201
from tapeflow.keras.applications.imagenet_utils import of_mode

preprocess_input, decode_predictions = of_mode("torch")

__all__ = [
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "decode_predictions",
    "preprocess_input",
]
