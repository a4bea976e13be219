"""`tf.keras`: layers, models, and what trains them."""

from tapeflow.keras import (
    activations,
    backend,
    callbacks,
    constraints,
    datasets,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    regularizers,
    utils,
)
from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.sequential import Sequential
from tapeflow.keras.engine.symbolic import make_input as Input

__all__ = [
    "Input",
    "Model",
    "Sequential",
    "activations",
    "backend",
    "callbacks",
    "constraints",
    "datasets",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "optimizers",
    "regularizers",
    "utils",
]
