"""`tf.keras.experimental`: names that programs for Keras 2.0 use."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tapeflow.core.public import boundaries
from tapeflow.function.function import Function
from tapeflow.graph.interchange.writing import write_message
from tapeflow.keras.models import load_model, save_model
from tapeflow.keras.optimizers.schedules import CosineDecay, CosineDecayRestarts
from tapeflow.keras.registry import CustomObjectScope
from tapeflow.saved_model.constants import SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT
from tapeflow.saved_model.reading import parse

if TYPE_CHECKING:
    from tapeflow.keras.engine.model import Model

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "LinearModel",  # noqa: F822 (loaded when it is first used)
    "SequenceFeatures",  # noqa: F822
    "SidecarEvaluator",  # noqa: F822
    "export_saved_model",
    "load_from_saved_model",
]

_LAZY = {
    "LinearModel": "tapeflow.keras.premade", "SequenceFeatures": "tapeflow.keras.layers.dense_features",
    "SidecarEvaluator": "tapeflow.keras.utils.sidecar_evaluator",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'tapeflow.keras.experimental' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def export_saved_model(
    model: Model, saved_model_path, custom_objects: Mapping[str, Any] | None = None, as_text: bool = False,
    input_signature=None, serving_only: bool = False,
):  # fmt: skip
    """Write a model as a SavedModel.

    Args:
      model: a `keras.Model`.
      saved_model_path: the folder.
      custom_objects: classes and functions by the names that the model's config has for them.
      as_text: whether the graph is written as text.
      input_signature: TensorSpecs of the inputs, for a model that does not say what they are.
      serving_only: accepted; the functions for training are no graphs of their own.
    """
    signatures = None
    if input_signature is not None:

        def serving_default(*inputs):
            return model(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

        signatures = Function(serving_default, input_signature=input_signature, autograph=False)
    with CustomObjectScope(custom_objects or {}):
        save_model(model, saved_model_path, save_format="tf", signatures=signatures)
    if as_text:
        folder = os.fspath(saved_model_path)
        write_message(parse(folder), os.path.join(folder, SAVED_MODEL_FILENAME_PBTXT), True)
        os.unlink(os.path.join(folder, SAVED_MODEL_FILENAME_PB))


def load_from_saved_model(saved_model_path, custom_objects: Mapping[str, Any] | None = None):
    """Load the model of a SavedModel.

    Args:
      saved_model_path: its folder.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The model.
    """
    return load_model(saved_model_path, custom_objects)


boundaries(globals())
