"""`tf.keras.utils.legacy`: the names that it shares with `tf.keras.legacy.saving`."""

from tapeflow.keras.legacy.saving import deserialize_keras_object, serialize_keras_object

__all__ = ["deserialize_keras_object", "serialize_keras_object"]
