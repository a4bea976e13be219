"""`tf.keras.optimizers.legacy`: the names by which programs ask for the optimizers of Keras 2."""

from tapeflow.keras.optimizers import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    Ftrl,
    Nadam,
    Optimizer,
    RMSprop,
)

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "Nadam",
    "Optimizer",
    "RMSprop",
]
