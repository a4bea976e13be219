"""Signatures, tags and folders of exported models, as libraries that stand on estimators make them."""

from tapeflow.estimator.export import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from tapeflow.estimator.model_utils.export_utils import (
    EXPORT_TAG_MAP,
    SIGNATURE_KEY_MAP,
    build_all_signature_defs,
    export_outputs_for_mode,
    get_export_outputs,
    get_temp_export_dir,
    get_timestamped_export_dir,
)
from tapeflow.estimator.model_utils.supervised import EvalOutput, TrainOutput

__all__ = [
    "EXPORT_TAG_MAP", "SIGNATURE_KEY_MAP", "ClassificationOutput", "EvalOutput", "ExportOutput", "PredictOutput",
    "RegressionOutput", "TrainOutput", "build_all_signature_defs", "export_outputs_for_mode", "get_export_outputs",
    "get_temp_export_dir", "get_timestamped_export_dir",
]  # fmt: skip
