"""`tf.keras.utils`."""

from __future__ import annotations

import importlib

from tapeflow.keras.registry import (
    CustomObjectScope,
    custom_object_scope,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
)
from tapeflow.keras.settings import clear_session
from tapeflow.keras.utils.categorical import normalize, to_categorical
from tapeflow.keras.utils.config import Config
from tapeflow.keras.utils.files import get_file
from tapeflow.keras.utils.progress import (
    Progbar,
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)
from tapeflow.keras.utils.queues import GeneratorEnqueuer, OrderedEnqueuer, SequenceEnqueuer
from tapeflow.keras.utils.seeds import set_random_seed
from tapeflow.keras.utils.sequence import PyDataset, Sequence

# What needs layers or data is found when it is asked for: layers themselves use this package.
_LATER = {
    "FeatureSpace": "utils.feature_space",
    "SidecarEvaluator": "utils.sidecar_evaluator",
    "array_to_img": "preprocessing.image.arrays",
    "audio_dataset_from_directory": "utils.directories",
    "deserialize_keras_object": "saving.serialization",
    "get_source_inputs": "utils.tensors",
    "image_dataset_from_directory": "utils.directories",
    "img_to_array": "preprocessing.image.arrays",
    "is_keras_tensor": "utils.tensors",
    "load_img": "preprocessing.image.arrays",
    "model_to_dot": "utils.plotting",
    "pack_x_y_sample_weight": "engine.fitting.packing",
    "pad_sequences": "preprocessing.sequence",
    "plot_model": "utils.plotting",
    "save_img": "preprocessing.image.arrays",
    "serialize_keras_object": "saving.serialization",
    "split_dataset": "utils.timeseries",
    "standardize_dtype": "dtype_names",
    "text_dataset_from_directory": "utils.directories",
    "timeseries_dataset_from_array": "utils.timeseries",
    "unpack_x_y_sample_weight": "engine.fitting.packing",
}

__all__ = [
    "Config",
    "CustomObjectScope",
    "GeneratorEnqueuer",
    "OrderedEnqueuer",
    "Progbar",
    "PyDataset",
    "Sequence",
    "SequenceEnqueuer",
    "clear_session",
    "custom_object_scope",
    "disable_interactive_logging",
    "enable_interactive_logging",
    "get_custom_objects",
    "get_file",
    "get_registered_name",
    "get_registered_object",
    "is_interactive_logging_enabled",
    "normalize",
    "register_keras_serializable",
    "set_random_seed",
    "to_categorical",
]
__all__ += ["experimental", "legacy", *sorted(_LATER)]


def __getattr__(name: str):
    if name in ("experimental", "legacy"):
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tapeflow.keras.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_LATER})
