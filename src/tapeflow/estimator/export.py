"""`tf.estimator.export`: what an exported model takes, and what it gives."""

from __future__ import annotations

import collections
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import is_tensor
from tapeflow.core.public import boundaries
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.io import parse_example
from tapeflow.saved_model.signature_defs import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)

DEFAULT = "serving_default"


def _named(tensors: Any, default: str):
    return dict(tensors) if isinstance(tensors, dict) else {default: tensors}


class ServingInputReceiver(
    collections.namedtuple(
        "ServingInputReceiver", "features receiver_tensors receiver_tensors_alternatives"
    )
):
    """The features of a model, and the tensors that they are made of when it is served.

    Args:
      features: a dict of tensors, or a tensor.
      receiver_tensors: a dict of placeholders, or one.
      receiver_tensors_alternatives: a dict of such dicts.
    """

    def __new__(
        cls, features: dict[str, Any], receiver_tensors: dict[str, Any], receiver_tensors_alternatives=None
    ):
        if features is None:
            raise ValueError("features must be defined.")
        if receiver_tensors is None:
            raise ValueError("receiver_tensors must be defined.")
        alternatives = receiver_tensors_alternatives
        if alternatives is not None and not isinstance(alternatives, dict):
            raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
        return super().__new__(
            cls, _named(features, "feature"), _named(receiver_tensors, "input"), alternatives
        )


class TensorServingInputReceiver(
    collections.namedtuple(
        "TensorServingInputReceiver", "features receiver_tensors receiver_tensors_alternatives"
    )
):
    """A ServingInputReceiver whose features are one tensor, as the model function gets it."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if not is_tensor(features):
            raise ValueError("feature must be a Tensor or SparseTensor.")
        made = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls, features, made.receiver_tensors, made.receiver_tensors_alternatives
        )


def build_raw_serving_input_receiver_fn(features: dict[str, Any], default_batch_size=None):
    """A function that takes the features as they are: placeholders of the shapes and dtypes of tensors."""

    def receiver():
        made = {}
        for name, tensor in features.items():
            shape = tensor.shape.as_list()
            shape[0] = default_batch_size
            made[name] = placeholder(tensor.dtype, shape, tensor.op.name.rpartition("/")[2])
        return ServingInputReceiver(dict(made), made)

    return receiver


def build_parsing_serving_input_receiver_fn(feature_spec: dict[str, Any], default_batch_size=None):
    """A function that takes serialized `tf.train.Example`s, and parses them by a spec."""

    def receiver():
        serialized = placeholder(dtypes.string, [default_batch_size], "input_example_tensor")
        return ServingInputReceiver(
            parse_example(serialized, feature_spec), {"examples": serialized}
        )

    return receiver


class ExportOutput:
    """What a signature of an exported model gives."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature, as a message.

        Args:
          receiver_tensors: what is fed, by name.
        """
        raise NotImplementedError


class PredictOutput(ExportOutput):
    """Tensors by name: a dict, or one tensor."""

    def __init__(self, outputs: Any):
        self.outputs = _named(outputs, "output")

    def as_signature_def(self, receiver_tensors: dict[str, Any]):
        """The signature, as a message."""
        return predict_signature_def(receiver_tensors, self.outputs)


class ClassificationOutput(ExportOutput):
    """Scores and names of classes, or one of the two. Raises ValueError for neither, and for other dtypes."""

    def __init__(self, scores: Tensor | None = None, classes: Tensor | None = None):
        if scores is not None and not (is_tensor(scores) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (is_tensor(classes) and classes.dtype == dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("Cannot create a ClassificationOutput with empty scores and classes.")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]):
        """The signature, as a message."""
        return classification_signature_def(_single(receiver_tensors), self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """A number for each example. Raises ValueError for other dtypes."""

    def __init__(self, value: Tensor):
        if not (is_tensor(value) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: dict[str, Any]):
        """The signature, as a message."""
        return regression_signature_def(_single(receiver_tensors), self.value)


def _single(receiver_tensors: dict[str, Any]):
    """The one tensor of serialized examples. Raises ValueError for others."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or tensors[0].dtype != dtypes.string:
        raise ValueError(
            f"Classification and regression signatures take one tensor of serialized examples; got {receiver_tensors}"
        )
    return tensors[0]


def signatures(outputs: dict[str, Any], receiver: ServingInputReceiver):
    """The signatures of all outputs that the receiver can serve, by name; one is the default.

    Raises ValueError for several outputs without a default one.
    """
    if len(outputs) == 1:
        ((name, output),) = outputs.items()
        outputs = {DEFAULT: output} if name is None else {name: output, DEFAULT: output}
    elif DEFAULT not in outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this by "
            "naming one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    made = {}
    served = {None: receiver.receiver_tensors, **(receiver.receiver_tensors_alternatives or {})}
    for prefix, tensors in served.items():
        for name, output in outputs.items():
            try:
                signature = output.as_signature_def(_named(tensors, "input"))
            except ValueError:  # raw features have no classification signature
                continue
            made[name if prefix is None else f"{prefix}:{name}"] = signature
    return made


__all__ = [
    "ClassificationOutput", "ExportOutput", "PredictOutput", "RegressionOutput", "ServingInputReceiver",
    "TensorServingInputReceiver", "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
]  # fmt: skip


boundaries(globals())
