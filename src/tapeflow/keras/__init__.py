"""`tf.keras`: layers, models, and what trains them."""

from __future__ import annotations

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
    regularizers,
    saving,
    tree,
    utils,
)
from tapeflow.keras.dtype_policy import DTypePolicy, FloatDTypePolicy
from tapeflow.keras.engine import model_services as _model_services
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.files import model_files as _model_files
from tapeflow.keras.engine.files import saving as _model_saving
from tapeflow.keras.engine.files import weight_files as _weight_files
from tapeflow.keras.engine.fitting.stateless import StatelessScope, SymbolicScope
from tapeflow.keras.engine.function import Function, Operation
from tapeflow.keras.engine.functional import model as _functional
from tapeflow.keras.engine.functional.inputs import make_input as Input
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.rematerialization import RematScope, remat
from tapeflow.keras.engine.sequential import Sequential
from tapeflow.keras.engine.weight import KerasVariable as Variable
from tapeflow.keras.initializer_base import Initializer
from tapeflow.keras.losses import Loss
from tapeflow.keras.metrics import Metric
from tapeflow.keras.optimizers import Optimizer
from tapeflow.keras.quantizers import Quantizer
from tapeflow.keras.registry import Namespace as _Namespace
from tapeflow.keras.registry import register_namespaces as _register_namespaces
from tapeflow.keras.regularizers import Regularizer
from tapeflow.keras.utils import feature_space as _feature_space

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


def __getattr__(name: str):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


_model_services.register(
    _model_services.ModelServices(_functional, _model_saving, _weight_files, _model_files)
)
_register_namespaces({
    "keras.layers": _Namespace(layers._named, layers.deserialize),
    "keras.initializers": _Namespace(initializers._NAMES.get, initializers.deserialize),
    "keras.regularizers": _Namespace(regularizers._NAMES.get, regularizers.deserialize),
    "keras.constraints": _Namespace(constraints._NAMES.get, constraints.deserialize),
    "keras.losses": _Namespace(losses._NAMES.get, losses.deserialize),
    "keras.metrics": _Namespace(metrics._NAMES.get, metrics.deserialize),
    "keras.optimizers": _Namespace(optimizers._NAMES.get, optimizers.deserialize),
    "keras.optimizers.schedules": _Namespace(optimizers.schedules._NAMES.get, optimizers.schedules.deserialize),
    "keras.activations": _Namespace(activations._NAMES.get, activations.deserialize),
    "keras.dtype_policies": _Namespace(dtype_policies.dtype_policy.CLASSES.get, dtype_policies.deserialize),
    "keras.quantizers": _Namespace(quantizers._NAMES.get, quantizers.deserialize),
    "keras.utils": _Namespace({"FeatureSpace": _feature_space.FeatureSpace}.get),
    _feature_space.MODULE: _Namespace({"Cross": _feature_space.Cross, "Feature": _feature_space.Feature}.get),
    "keras.random": _Namespace({"SeedGenerator": random.SeedGenerator}.get),
    "keras": _Namespace({
        "Functional": _functional.Functional, **{cls.__name__: cls for cls in (
            DTypePolicy, FloatDTypePolicy, Function, Initializer, Layer, Loss, Metric, Model, Operation, Optimizer,
            Quantizer, Regularizer, Sequential,
        )},
    }.get),
})


boundaries(globals())
