"""`tf.keras.experimental`: names that programs for Keras 2.0 use."""

import importlib
from typing import Any

from tapeflow.keras.models import load_model, save_model
from tapeflow.keras.optimizers.schedules import CosineDecay, CosineDecayRestarts

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "SequenceFeatures",  # noqa: F822 (loaded when it is first used)
    "export_saved_model",
    "load_from_saved_model",
]


def __getattr__(name: str) -> Any:
    if name != "SequenceFeatures":
        raise AttributeError(f"module 'tapeflow.keras.experimental' has no attribute {name!r}")
    return importlib.import_module("tapeflow.keras.layers.dense_features").SequenceFeatures


def export_saved_model(
    model, saved_model_path, custom_objects=None, as_text=False, input_signature=None,
    serving_only=False,
):  # fmt: skip
    """Writes a model as a SavedModel."""
    save_model(model, saved_model_path, save_format="tf")


def load_from_saved_model(saved_model_path, custom_objects=None):
    """The model of a SavedModel."""
    return load_model(saved_model_path, custom_objects)
