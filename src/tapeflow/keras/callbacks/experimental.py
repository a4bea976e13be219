"""`tf.keras.callbacks.experimental`: where `BackupAndRestore` was from TensorFlow 2.3 to 2.12."""

from tapeflow.keras.callbacks.interruption import BackupAndRestore

__all__ = ["BackupAndRestore"]
