"""`tf.keras.models`."""

from tapeflow.keras.engine.files.model_files import load_model, save_model
from tapeflow.keras.engine.files.saving import model_from_config, model_from_json
from tapeflow.keras.engine.functional.cloning import clone_model
from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.sequential import Sequential

__all__ = [
    "Model",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_config",
    "model_from_json",
    "save_model",
]
