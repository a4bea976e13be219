"""`tf.keras.preprocessing`: images, texts and series as arrays and datasets."""

from tapeflow.keras.preprocessing import image, sequence, text
from tapeflow.keras.utils.directories import (
    image_dataset_from_directory,
    text_dataset_from_directory,
)
from tapeflow.keras.utils.timeseries import timeseries_dataset_from_array

__all__ = [
    "image",
    "image_dataset_from_directory",
    "sequence",
    "text",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
]
