"""The signatures of all outputs of a model, and the folders that models are exported to."""

from __future__ import annotations

import os
import time
from typing import Any

from tapeflow.core.annotations import PathLike
from tapeflow.core.files.file_system import exists
from tapeflow.estimator.export import DEFAULT, ExportOutput, PredictOutput
from tapeflow.estimator.model_utils.mode_keys import (
    EstimatorModeKeys,
    KerasModeKeys,
    ModeKeyMap,
    is_eval,
    is_predict,
    is_train,
)
from tapeflow.estimator.model_utils.supervised import EvalOutput, TrainOutput
from tapeflow.saved_model import constants
from tapeflow.saved_model.signature_defs import is_valid_signature

ModeKeys = EstimatorModeKeys
EXPORT_TAG_MAP = ModeKeyMap(
    **{
        KerasModeKeys.PREDICT: ["serve"],
        KerasModeKeys.TRAIN: ["train"],
        KerasModeKeys.TEST: ["eval"],
    }
)
SIGNATURE_KEY_MAP = ModeKeyMap(
    **{
        KerasModeKeys.PREDICT: DEFAULT,
        KerasModeKeys.TRAIN: constants.DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
        KerasModeKeys.TEST: constants.DEFAULT_EVAL_SIGNATURE_DEF_KEY,
    }
)
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"
MAX_DIRECTORY_CREATION_ATTEMPTS = 10


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: dict[str | None, ExportOutput],
    receiver_tensors_alternatives: dict[str, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """The signatures of all outputs that the tensors that are fed can serve, by name.

    Args:
      receiver_tensors: what is fed: a dict of tensors by name, or a tensor.
      export_outputs: the outputs by name.
      receiver_tensors_alternatives: by name, other tensors that may be fed; their names begin those of signatures.
      serving_only: leave out signatures that no server takes, as those of training.

    Raises ValueError for outputs that are no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(
            f"`export_outputs` must be a dict. Received {export_outputs} with type {type(export_outputs).__name__}."
        )
    alternatives = receiver_tensors_alternatives or {}
    if not isinstance(alternatives, dict):
        raise ValueError(
            f"`receiver_tensors_alternatives` must be a dict. Received {alternatives}."
        )
    found = {}
    for prefix, given in ((None, receiver_tensors), *alternatives.items()):
        tensors = given if isinstance(given, dict) else {SINGLE_RECEIVER_DEFAULT_NAME: given}
        for key, output in export_outputs.items():
            name = str(key) if prefix is None else f"{prefix}:{key}"
            try:
                found[name] = output.as_signature_def(tensors)
            except ValueError:  # these tensors cannot serve it
                continue
    if serving_only:
        return {
            name: signature for name, signature in found.items() if is_valid_signature(signature)
        }
    return found


def export_outputs_for_mode(
    mode: str,
    serving_export_outputs: Any = None,
    predictions: Any = None,
    loss: Any = None,
    metrics: Any = None,
) -> dict[str | None, ExportOutput]:
    """The outputs of a model for a mode, by the name of their signature. Raises ValueError for an unknown mode.

    Args:
      mode: a name that Keras or estimators have for it.
      serving_export_outputs: the outputs for predictions, by name.
      predictions: tensors by name, or one.
      loss: tensors by name, or one.
      metrics: by name, pairs of a value and what updates it, or metrics of Keras.
    """
    key = SIGNATURE_KEY_MAP[mode]
    if is_train(mode):
        return {key: TrainOutput(loss=loss, predictions=predictions, metrics=metrics)}
    if is_eval(mode):
        return {key: EvalOutput(loss=loss, predictions=predictions, metrics=metrics)}
    assert is_predict(mode)
    return get_export_outputs(serving_export_outputs, predictions)


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str | None, ExportOutput]:
    """The outputs for predictions, one of which is the default.

    Args:
      export_outputs: outputs by name; None for the predictions.
      predictions: tensors by name, or one.

    Raises TypeError for outputs that are no dict of outputs, ValueError for several without a default one.
    """
    if export_outputs is None:
        return {DEFAULT: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    if not all(isinstance(each, ExportOutput) for each in export_outputs.values()):
        raise TypeError(
            f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}."
        )
    if len(export_outputs) == 1:
        ((name, output),) = export_outputs.items()
        return {name: output, DEFAULT: output}
    if DEFAULT not in export_outputs:
        raise ValueError(
            f"Multiple `export_outputs` were provided, but none of them is the default, {DEFAULT!r}: "
            f"{sorted(map(str, export_outputs))}."
        )
    return export_outputs


def get_timestamped_export_dir(export_dir_base: PathLike) -> bytes:
    """A path in a folder that is not there yet, named by the seconds since 1970.

    Args:
      export_dir_base: the folder.

    Raises RuntimeError where others take all of the names that are tried.
    """
    for _ in range(MAX_DIRECTORY_CREATION_ATTEMPTS):
        path = os.path.join(os.fsencode(export_dir_base), b"%d" % time.time())
        if not exists(os.fsdecode(path)):
            return path
        time.sleep(1)
    raise RuntimeError(f"Failed to obtain a unique export directory in {export_dir_base!r}.")


def get_temp_export_dir(timestamped_export_dir: str | bytes) -> bytes:
    """The path that a model is written to before it is renamed to its own.

    Args:
      timestamped_export_dir: the path of its own.
    """
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)
