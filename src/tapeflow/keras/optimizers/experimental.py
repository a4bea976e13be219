"""`tf.keras.optimizers.experimental`: where the optimizers of today were in TensorFlow 2.9 to 2.12."""

from tapeflow.keras.optimizers.adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.recent import AdamW
from tapeflow.keras.optimizers.rules import SGD, Adam, Adamax, Nadam

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop"]
