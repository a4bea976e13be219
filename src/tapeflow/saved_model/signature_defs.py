"""`SignatureDef` and `TensorInfo` messages: what tensors a graph takes and gives, by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import PathLike, TensorLike
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import public, public_methods
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.specs.protocol import type_spec_of
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import attributes
from tapeflow.graph.interchange.variable_defs import prepend_scope
from tapeflow.graph.operation import Operation
from tapeflow.saved_model import constants, reading, structures


@public
def build_tensor_info(tensor: TensorLike):
    """The `TensorInfo` of a tensor of a graph: dense, sparse or another composite.

    Raises RuntimeError eagerly.
    """
    if context.executing_eagerly():
        raise RuntimeError("`build_tensor_info` is not supported in eager execution.")
    return tensor_info(tensor)


def tensor_info(tensor: Any) -> Any:
    """The `TensorInfo` of a tensor."""
    made = protos.TensorInfo()
    if isinstance(tensor, Operation):
        made.name = tensor.name
        made.tensor_shape.unknown_rank = True
        return made
    if isinstance(tensor, SparseTensor):
        made.coo_sparse.values_tensor_name = tensor.values.name
        made.coo_sparse.indices_tensor_name = tensor.indices.name
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    elif nest.is_nested_or_composite(tensor):
        spec = structures.encode(type_spec_of(tensor))
        made.composite_tensor.type_spec.CopyFrom(spec.type_spec_value)
        parts = nest.flatten(tensor, expand_composites=True)
        made.composite_tensor.components.extend(map(tensor_info, parts))
    else:
        made.name = tensor.name
    made.dtype = tensor.dtype.as_datatype_enum
    made.tensor_shape.CopyFrom(attributes.of(TensorShape(tensor.shape), "shape").shape)
    return made


@public
def get_tensor_from_tensor_info(tensor_info, graph: Graph | None = None, import_scope: str | None = None):
    """The tensor of a graph that a `TensorInfo` names. Raises KeyError for one that is not there.

    Args:
      tensor_info: a `TensorInfo` message.
      graph: the graph; None: the default one.
      import_scope: the scope that the graph was imported into (optional).
    """
    graph = graph or get_default_graph()

    def found(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_scope(name, import_scope))

    kind = tensor_info.WhichOneof("encoding")
    if kind == "name":
        return found(tensor_info.name)
    if kind == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(
            found(parts.indices_tensor_name), found(parts.values_tensor_name),
            found(parts.dense_shape_tensor_name),
        )  # fmt: skip
    if kind == "composite_tensor":
        message = protos.StructuredValue(type_spec_value=tensor_info.composite_tensor.type_spec)
        parts = iter([found(part.name) for part in tensor_info.composite_tensor.components])
        return structures.decode(message)._from_placeholders(lambda *_: next(parts))
    raise ValueError(f"Invalid TensorInfo.encoding: {kind}")


@public
def build_signature_def(
    inputs: dict[str, Any] | None = None, outputs: dict[str, Any] | None = None,
    method_name: str | None = None, defaults=None,
):
    """A `SignatureDef` of `TensorInfo`s by name.

    Args:
      inputs, outputs: a dict of tensors by name.
      method_name: what servers call it by, a constant of `signature_constants`.
      defaults: a dict of tensors that inputs have by default.
    """
    made = protos.SignatureDef()
    for field, given in ((made.inputs, inputs), (made.outputs, outputs)):
        for name, info in (given or {}).items():
            field[name].CopyFrom(info)
    if method_name is not None:
        made.method_name = method_name
    for name, value in (defaults or {}).items():
        known = hasattr(value, "tensor_shape")
        made.defaults[name].CopyFrom(value if known else make_tensor_proto(value))
    return made


@public
def regression_signature_def(examples: Any, predictions: Any):
    """The signature of a regression: a string tensor of examples to a float tensor.

    Raises ValueError for tensors of other dtypes.

    Args:
      examples: a string tensor of serialized `Example` messages.
      predictions: a float tensor.
    """
    examples = _given(examples, "examples")
    predictions = _given(predictions, "predictions")
    if examples.dtype != dtypes.string:
        raise ValueError(
            f"Regression input tensors must be of type string. Found tensor {examples.name} with type {examples.dtype}."
        )
    if predictions.dtype != dtypes.float32:
        raise ValueError(
            "Regression output tensors must be of type float. "
            f"Found tensor {predictions.name} with type {predictions.dtype}."
        )
    return build_signature_def(
        {constants.REGRESS_INPUTS: build_tensor_info(examples)},
        {constants.REGRESS_OUTPUTS: build_tensor_info(predictions)},
        constants.REGRESS_METHOD_NAME,
    )


def _given(value: Any, what: str) -> Any:
    if value is None:
        raise ValueError(f"`{what}` cannot be None.")
    if hasattr(value, "dtype") and hasattr(value, "op"):
        return value
    raise ValueError(f"Expected `{what}` to be of type tf.Tensor. Found {value} with type {type(value)}.")


@public
def classification_signature_def(examples, classes, scores):
    """The signature of a classification: examples to classes, scores or both, each of which may be None.

    Raises ValueError for tensors of other dtypes.

    Args:
      examples: a string tensor of serialized `Example` messages.
      classes: a string tensor, or None.
      scores: a float tensor, or None.
    """
    examples = _given(examples, "examples")
    if classes is None and scores is None:
        raise ValueError("`classes` and `scores` cannot both be None.")
    if examples.dtype != dtypes.string:
        raise ValueError(
            "Classification input tensors must be of type string. "
            f"Found tensor {examples.name} with type {examples.dtype}."
        )
    outputs = {}
    for value, kind, key, what in (
        (classes, dtypes.string, constants.CLASSIFY_OUTPUT_CLASSES, "classes"),
        (scores, dtypes.float32, constants.CLASSIFY_OUTPUT_SCORES, "scores"),
    ):
        if value is None:
            continue
        if value.dtype != kind:
            name = "string" if kind == dtypes.string else "float"
            raise ValueError(
                f"Classification {what} must be of type {name} Tensor. Found tensor {value.name} with type "
                f"{value.dtype}."
            )
        outputs[key] = build_tensor_info(value)
    return build_signature_def(
        {constants.CLASSIFY_INPUTS: build_tensor_info(examples)}, outputs,
        constants.CLASSIFY_METHOD_NAME,
    )  # fmt: skip


@public
def predict_signature_def(inputs, outputs: dict[str, Any]):
    """The signature of any computation: dicts of tensors by name. Raises ValueError for empty ones.

    Args:
      inputs, outputs: a dict of tensors by name.
    """
    for given, what in ((inputs, "inputs"), (outputs, "outputs")):
        if given is None or not given:
            raise ValueError(f"Prediction `{what}` cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(x) for key, x in inputs.items()},
        {key: build_tensor_info(y) for key, y in outputs.items()},
        constants.PREDICT_METHOD_NAME,
    )


def supervised_train_signature_def(inputs: dict[str, Any], outputs: dict[str, Any]) -> Any:
    """The signature of training. Raises ValueError for empty inputs or outputs.

    Args:
      inputs, outputs: a dict of tensors by name.
    """
    return _supervised(constants.SUPERVISED_TRAIN_METHOD_NAME, inputs, outputs)


def supervised_eval_signature_def(inputs: dict[str, Any], outputs: dict[str, Any]) -> Any:
    """The signature of evaluation. Raises ValueError for empty inputs or outputs.

    Args:
      inputs, outputs: a dict of tensors by name.
    """
    return _supervised(constants.SUPERVISED_EVAL_METHOD_NAME, inputs, outputs)


def _supervised(method: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> Any:
    for given, what in ((inputs, "inputs"), (outputs, "outputs")):
        if not given:
            raise ValueError(f"{method} {what} cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(x) for key, x in inputs.items()},
        {key: build_tensor_info(y) for key, y in outputs.items()},
        method,
    )


@public
def is_valid_signature(signature_def):
    """Whether the tensors and the method of a signature fit each other, as servers need it."""
    if signature_def is None:
        return False
    method = signature_def.method_name
    inputs, outputs = dict(signature_def.inputs), dict(signature_def.outputs)
    if method == constants.PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    takes_examples = (
        set(inputs) == {"inputs"}
        and inputs["inputs"].dtype == dtypes.string.as_datatype_enum
    )
    if method == constants.REGRESS_METHOD_NAME:
        return (
            takes_examples
            and set(outputs) == {constants.REGRESS_OUTPUTS}
            and outputs[constants.REGRESS_OUTPUTS].dtype == dtypes.float32.as_datatype_enum
        )
    if method == constants.CLASSIFY_METHOD_NAME:
        kinds = {
            constants.CLASSIFY_OUTPUT_CLASSES: dtypes.string,
            constants.CLASSIFY_OUTPUT_SCORES: dtypes.float32,
        }
        return (
            takes_examples
            and bool(outputs)
            and all(
                key in kinds and info.dtype == kinds[key].as_datatype_enum
                for key, info in outputs.items()
            )
        )
    return False


def op_signature(op: Any, key: str) -> Any:
    """A signature whose only output is an operation."""
    return build_signature_def(outputs={key: tensor_info(op)})


@public_methods
class MethodNameUpdater:
    """Changes the method names of signatures of a SavedModel. Raises RuntimeError for a key that is not there."""

    def __init__(self, export_dir: PathLike):
        self._export_dir = export_dir
        self._model = reading.parse(export_dir)

    def replace_method_name(self, signature_key: str, method_name, tags: Sequence[str] | None = None):
        """Sets the method of a signature in the graphs with these tags, or in all."""
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        wanted = reading.tags_of(tags)
        found = False
        for meta in self._model.meta_graphs:
            if wanted is None or set(meta.meta_info_def.tags) == wanted:
                if signature_key not in meta.signature_def:
                    raise ValueError(
                        f"MetaGraphDef associated with tags {tags} does not have a signature_def with key: "
                        f"'{signature_key}'. This means either you specified the wrong signature key or forgot "
                        "to put the signature_def with the corresponding key in your SavedModel."
                    )
                meta.signature_def[signature_key].method_name = method_name
                found = True
        if not found:
            raise ValueError(
                f"MetaGraphDef associated with tags {tags} could not be found in SavedModel, with available "
                f"tags {[list(m.meta_info_def.tags) for m in self._model.meta_graphs]}."
            )

    def save(self, new_export_dir=None):
        """Writes the model to its folder, or to another."""
        folder = local_path(new_export_dir or self._export_dir)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB)
        replace_file(path, self._model.SerializeToString(deterministic=True), synced=True)


