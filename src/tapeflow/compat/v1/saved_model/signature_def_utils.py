"""tf.compat.v1.saved_model.signature_def_utils."""

from tapeflow.saved_model.signature_defs import (
    MethodNameUpdater,
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)

__all__ = [
    "MethodNameUpdater",
    "build_signature_def",
    "classification_signature_def",
    "is_valid_signature",
    "predict_signature_def",
    "regression_signature_def",
]
