"""`tf.keras`: layers, models, and what trains them."""

import importlib

from tapeflow.core.context import device, name_scope
from tapeflow.core.public import boundaries
from tapeflow.keras import (
    activations,
    backend,
    callbacks,
    config,
    constraints,
    datasets,
    distribution,
    dtype_policies,
    experimental,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    optimizers,
    quantizers,
    random,
    registry,
    regularizers,
    saving,
    tree,
    utils,
)
from tapeflow.keras.dtype_policy import DTypePolicy, FloatDTypePolicy
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.fitting.stateless import StatelessScope, SymbolicScope
from tapeflow.keras.engine.function import Function, Operation
from tapeflow.keras.engine.functional.model import Functional
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.functional.symbolic import make_input as Input
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.rematerialization import RematScope, remat
from tapeflow.keras.engine.sequential import Sequential
from tapeflow.keras.engine.weight import KerasVariable as Variable
from tapeflow.keras.initializers import Initializer
from tapeflow.keras.losses import Loss
from tapeflow.keras.metrics import Metric
from tapeflow.keras.optimizers import Optimizer, schedules
from tapeflow.keras.quantizers import Quantizer
from tapeflow.keras.registry import Namespace
from tapeflow.keras.regularizers import Regularizer
from tapeflow.keras.utils import feature_space

__all__ = [
    "DTypePolicy",
    "FloatDTypePolicy",
    "Function",
    "Initializer",
    "Input",
    "InputSpec",
    "KerasTensor",
    "Layer",
    "Loss",
    "Metric",
    "Model",
    "Operation",
    "Optimizer",
    "Quantizer",
    "Regularizer",
    "RematScope",
    "Sequential",
    "StatelessScope",
    "SymbolicScope",
    "Variable",
    "activations",
    "backend",
    "applications",
    "callbacks",
    "config",
    "constraints",
    "datasets",
    "device",
    "distribution",
    "dtype_policies",
    "experimental",
    "export",
    "initializers",
    "layers",
    "legacy",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "name_scope",
    "ops",
    "optimizers",
    "preprocessing",
    "quantizers",
    "random",
    "regularizers",
    "remat",
    "saving",
    "tree",
    "utils",
    "version",
]

__version__ = "3.15.1"

# Rooms that few programs enter are loaded when they are asked for.
_LATER = ("applications", "export", "legacy", "ops", "preprocessing", "wrappers")


def version():
    """The version of Keras whose API this is."""
    return __version__


def __dir__():
    return sorted({*globals(), *_LATER})


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


registry.register_namespaces({
    "keras.layers": Namespace(layers._named, layers.deserialize),
    "keras.initializers": Namespace(initializers._NAMES.get, initializers.deserialize),
    "keras.regularizers": Namespace(regularizers._NAMES.get, regularizers.deserialize),
    "keras.constraints": Namespace(constraints._NAMES.get, constraints.deserialize),
    "keras.losses": Namespace(losses._NAMES.get, losses.deserialize),
    "keras.metrics": Namespace(metrics._NAMES.get, metrics.deserialize),
    "keras.optimizers": Namespace(optimizers._NAMES.get, optimizers.deserialize),
    "keras.optimizers.schedules": Namespace(schedules._NAMES.get, schedules.deserialize),
    "keras.activations": Namespace(activations._NAMES.get, activations.deserialize),
    "keras.dtype_policies": Namespace(dtype_policies.dtype_policy.CLASSES.get, dtype_policies.deserialize),
    "keras.quantizers": Namespace(quantizers._NAMES.get, quantizers.deserialize),
    "keras.utils": Namespace({"FeatureSpace": feature_space.FeatureSpace}.get),
    feature_space.MODULE: Namespace({"Cross": feature_space.Cross, "Feature": feature_space.Feature}.get),
    "keras": Namespace({"Sequential": Sequential, "Functional": Functional, "Model": Model}.get),
})


boundaries(globals())
