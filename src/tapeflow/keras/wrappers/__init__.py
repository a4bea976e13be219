"""`tf.keras.wrappers`: models as estimators of scikit-learn, as in TensorFlow until 2.11."""

from tapeflow.keras.wrappers import scikit_learn

__all__ = ["scikit_learn"]
