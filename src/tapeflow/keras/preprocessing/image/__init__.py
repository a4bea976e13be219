"""`tf.keras.preprocessing.image`: images as arrays, changed at random."""

from tapeflow.keras.preprocessing.image.arrays import (
    array_to_img,
    img_to_array,
    load_img,
    save_img,
    smart_resize,
)
from tapeflow.keras.preprocessing.image.file_iterators import DataFrameIterator, DirectoryIterator
from tapeflow.keras.preprocessing.image.generator import ImageDataGenerator
from tapeflow.keras.preprocessing.image.iterators import Iterator, NumpyArrayIterator
from tapeflow.keras.preprocessing.image.transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    random_brightness,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
)

__all__ = [
    "DataFrameIterator",
    "DirectoryIterator",
    "ImageDataGenerator",
    "Iterator",
    "NumpyArrayIterator",
    "apply_affine_transform",
    "apply_brightness_shift",
    "apply_channel_shift",
    "array_to_img",
    "img_to_array",
    "load_img",
    "random_brightness",
    "random_channel_shift",
    "random_rotation",
    "random_shear",
    "random_shift",
    "random_zoom",
    "save_img",
    "smart_resize",
]
