"""`tf.keras.utils`."""

from tapeflow.keras.registry import (
    CustomObjectScope,
    custom_object_scope,
    get_custom_objects,
    register_keras_serializable,
)
from tapeflow.keras.utils.categorical import normalize, to_categorical
from tapeflow.keras.utils.downloading import get_file
from tapeflow.keras.utils.progress import Progbar
from tapeflow.keras.utils.sequence import Sequence

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "Sequence",
    "custom_object_scope",
    "get_custom_objects",
    "get_file",
    "normalize",
    "register_keras_serializable",
    "to_categorical",
]
