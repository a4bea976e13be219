"""`tf.keras.callbacks`: functions that `Model.fit` calls at every stage."""

from tapeflow.keras.callbacks.base import Callback, CallbackList, History, ProgbarLogger
from tapeflow.keras.callbacks.recording import (
    BaseLogger,
    CSVLogger,
    LambdaCallback,
    ModelCheckpoint,
)
from tapeflow.keras.callbacks.stopping import (
    EarlyStopping,
    LearningRateScheduler,
    ReduceLROnPlateau,
    TerminateOnNaN,
)

__all__ = [
    "BaseLogger",
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "ProgbarLogger",
    "ReduceLROnPlateau",
    "TerminateOnNaN",
]
