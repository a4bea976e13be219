"""`tf.contrib.saved_model`: Keras models as SavedModels."""

from tapeflow.compat import v1

__all__ = ["load_keras_model", "save_keras_model"]

save_keras_model = v1.keras.experimental.export_saved_model
load_keras_model = v1.keras.experimental.load_from_saved_model
