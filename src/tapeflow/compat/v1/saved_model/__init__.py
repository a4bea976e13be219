"""tf.compat.v1.saved_model: SavedModels of graphs and sessions."""

import importlib
from typing import Any

from tapeflow.saved_model.constants import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEBUG_DIRECTORY,
    DEBUG_INFO_FILENAME_PB,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    GPU,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    TPU,
    TRAINING,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)

# Modules below this one, and names with the modules that hold them; loaded when they are first used.
_MODULES = {
    "builder", "constants", "experimental", "loader", "main_op", "signature_constants",
    "signature_def_utils", "tag_constants", "utils",
}  # fmt: skip
_NAMES = {
    "Asset": ("assets", "Asset"),
    "Builder": ("builder", "SavedModelBuilder"),
    "SaveOptions": ("options", "SaveOptions"),
    "build_signature_def": ("signature_defs", "build_signature_def"),
    "build_tensor_info": ("signature_defs", "build_tensor_info"),
    "classification_signature_def": ("signature_defs", "classification_signature_def"),
    "contains_saved_model": ("reading", "contains_saved_model"),
    "get_tensor_from_tensor_info": ("signature_defs", "get_tensor_from_tensor_info"),
    "is_valid_signature": ("signature_defs", "is_valid_signature"),
    "load": ("loader", "load"),
    "load_v2": ("loading", "load"),
    "main_op_with_restore": ("loader", "main_op_with_restore"),
    "maybe_saved_model_directory": ("loader", "maybe_saved_model_directory"),
    "predict_signature_def": ("signature_defs", "predict_signature_def"),
    "regression_signature_def": ("signature_defs", "regression_signature_def"),
    "save": ("saving", "save"),
    "simple_save": ("builder", "simple_save"),
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(f"tapeflow.compat.v1.saved_model.{name}")
    elif name in _NAMES:
        module, attribute = _NAMES[name]
        value = getattr(importlib.import_module(f"tapeflow.saved_model.{module}"), attribute)
    else:
        raise AttributeError(f"module 'tapeflow.compat.v1.saved_model' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *_NAMES})


__all__ = [
    "ASSETS_DIRECTORY",
    "ASSETS_KEY",
    "CLASSIFY_INPUTS",
    "CLASSIFY_METHOD_NAME",
    "CLASSIFY_OUTPUT_CLASSES",
    "CLASSIFY_OUTPUT_SCORES",
    "DEBUG_DIRECTORY",
    "DEBUG_INFO_FILENAME_PB",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "GPU",
    "LEGACY_INIT_OP_KEY",
    "MAIN_OP_KEY",
    "PREDICT_INPUTS",
    "PREDICT_METHOD_NAME",
    "PREDICT_OUTPUTS",
    "REGRESS_INPUTS",
    "REGRESS_METHOD_NAME",
    "REGRESS_OUTPUTS",
    "SAVED_MODEL_FILENAME_PB",
    "SAVED_MODEL_FILENAME_PBTXT",
    "SAVED_MODEL_SCHEMA_VERSION",
    "SERVING",
    "TPU",
    "TRAINING",
    "VARIABLES_DIRECTORY",
    "VARIABLES_FILENAME",
]
