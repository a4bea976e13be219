"""`tf.keras.callbacks`: functions that `Model.fit` calls at every stage."""

from tapeflow.keras.callbacks import experimental
from tapeflow.keras.callbacks.averages import SwapEMAWeights
from tapeflow.keras.callbacks.base import Callback, CallbackList, History, ProgbarLogger
from tapeflow.keras.callbacks.interruption import BackupAndRestore
from tapeflow.keras.callbacks.recording import (
    BaseLogger,
    CSVLogger,
    LambdaCallback,
    ModelCheckpoint,
)
from tapeflow.keras.callbacks.remote import RemoteMonitor
from tapeflow.keras.callbacks.stopping import (
    EarlyStopping,
    LearningRateScheduler,
    ReduceLROnPlateau,
    TerminateOnNaN,
)
from tapeflow.keras.callbacks.tensorboard import TensorBoard

__all__ = [
    "BackupAndRestore",
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
    "RemoteMonitor",
    "SwapEMAWeights",
    "TensorBoard",
    "TerminateOnNaN",
    "experimental",
]
