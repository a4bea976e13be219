"""`tf.keras.layers.experimental.preprocessing`: where layers of preprocessing were from TensorFlow 2.1 to 2.12."""

from tapeflow.keras.layers.preprocessing.base import PreprocessingLayer
from tapeflow.keras.layers.preprocessing.color import RandomContrast
from tapeflow.keras.layers.preprocessing.encoding import CategoryEncoding
from tapeflow.keras.layers.preprocessing.geometry import (
    RandomCrop,
    RandomFlip,
    RandomHeight,
    RandomWidth,
)
from tapeflow.keras.layers.preprocessing.hashing import HashedCrossing, Hashing
from tapeflow.keras.layers.preprocessing.lookup import IntegerLookup, StringLookup
from tapeflow.keras.layers.preprocessing.numerical import Discretization, Normalization, Rescaling
from tapeflow.keras.layers.preprocessing.projections import (
    RandomRotation,
    RandomTranslation,
    RandomZoom,
)
from tapeflow.keras.layers.preprocessing.sizing import CenterCrop, Resizing
from tapeflow.keras.layers.preprocessing.text import TextVectorization

__all__ = [
    "CategoryEncoding",
    "CenterCrop",
    "Discretization",
    "HashedCrossing",
    "Hashing",
    "IntegerLookup",
    "Normalization",
    "PreprocessingLayer",
    "RandomContrast",
    "RandomCrop",
    "RandomFlip",
    "RandomHeight",
    "RandomRotation",
    "RandomTranslation",
    "RandomWidth",
    "RandomZoom",
    "Rescaling",
    "Resizing",
    "StringLookup",
    "TextVectorization",
]
