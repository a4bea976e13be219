"""The requests of the API as functions from message to message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from tapeflow.core.files import tensor_proto
from tapeflow.saved_model import constants
from tapeflow.serving.batching import Batcher
from tapeflow.serving.servable import Arrays, Servable
from tapeflow.serving.store import ModelStore


def message(name: str) -> Any:
    """The class of a message of TensorFlow Serving."""
    return getattr(protos, f"serving.{name}")


class Inference:
    """Answers requests, each until `time.monotonic()` passes its deadline.

    Args:
      store: the models.
      batcher: runs them together (optional).
      max_tensor_bytes: the most that a tensor of a request may take.
    """

    def __init__(self, store: ModelStore, batcher: Batcher | None, max_tensor_bytes: int):
        self.store, self.batcher, self.max_tensor_bytes = store, batcher, max_tensor_bytes

    def call(self, servable: Servable, key: str, inputs: Arrays, deadline: float | None = None) -> Arrays:
        """The outputs of a signature for inputs that are checked here."""
        key, _ = servable.signature(key)
        inputs = servable.complete(key, inputs)
        if self.batcher is None:
            return servable.run(key, inputs, deadline)
        return self.batcher.run(servable, key, inputs, deadline)

    def predict(self, request: Any, deadline: float | None = None) -> Any:
        """Answers a PredictRequest."""
        with self.store.use(request.model_spec) as servable:
            key, signature = servable.signature(request.model_spec.signature_name)
            for name in request.output_filter:
                if name not in signature.outputs:
                    raise _invalid(
                        f"output tensor alias not found in signature: {name} Outputs expected to be in the set "
                        f"{{{','.join(sorted(signature.outputs))}}}."
                    )
            inputs = {name: self._array(name, value) for name, value in request.inputs.items()}
            outputs = self.call(servable, key, inputs, deadline)
            response = message("PredictResponse")(model_spec=spec_of(servable, key))
            for name in request.output_filter or outputs:
                dtype = signature.outputs[name].dtype
                response.outputs[name].CopyFrom(_proto(outputs[name], dtype))
            return response

    def classify(self, request: Any, deadline: float | None = None) -> Any:
        """Answers a ClassificationRequest."""
        with self.store.use(request.model_spec) as servable:
            key = servable.signature(request.model_spec.signature_name)[0]
            result = self._classify(servable, key, request.input, deadline)
            return message("ClassificationResponse")(model_spec=spec_of(servable, key), result=result)

    def regress(self, request: Any, deadline: float | None = None) -> Any:
        """Answers a RegressionRequest."""
        with self.store.use(request.model_spec) as servable:
            key = servable.signature(request.model_spec.signature_name)[0]
            result = self._regress(servable, key, request.input, deadline)
            return message("RegressionResponse")(model_spec=spec_of(servable, key), result=result)

    def multi_inference(self, request: Any, deadline: float | None = None) -> Any:
        """Answers a MultiInferenceRequest: several signatures of one model for the same examples."""
        if not request.tasks:
            raise _invalid("Inference request must have at least one task")
        names = [task.model_spec.name for task in request.tasks]
        if len(set(names)) > 1:
            raise _invalid("All ModelSpecs in a MultiInferenceRequest must access the same model name.")
        keys = [task.model_spec.signature_name for task in request.tasks]
        if len(set(keys)) < len(keys):
            raise _invalid(f"Duplicate evaluation of signature: {max(keys, key=keys.count)}")
        response = message("MultiInferenceResponse")()
        with self.store.use(request.tasks[0].model_spec) as servable:
            for task in request.tasks:
                key = servable.signature(task.model_spec.signature_name)[0]
                result = response.results.add(model_spec=spec_of(servable, key))
                if task.method_name == constants.CLASSIFY_METHOD_NAME:
                    result.classification_result.CopyFrom(self._classify(servable, key, request.input, deadline))
                elif task.method_name == constants.REGRESS_METHOD_NAME:
                    result.regression_result.CopyFrom(self._regress(servable, key, request.input, deadline))
                else:
                    raise _invalid(f"Unsupported signature method_name: {task.method_name}")
        return response

    def metadata(self, request: Any) -> Any:
        """Answers a GetModelMetadataRequest."""
        if not request.metadata_field:
            raise _invalid("GetModelMetadataRequest must specify at least one metadata_field")
        for field in request.metadata_field:
            if field != "signature_def":
                raise _invalid(f"Metadata field {field} is not supported")
        with self.store.use(request.model_spec) as servable:
            found = message("SignatureDefMap")()
            for key, signature in servable.signature_defs.items():
                found.signature_def[key].CopyFrom(signature)
            response = message("GetModelMetadataResponse")(model_spec=spec_of(servable, ""))
            response.metadata["signature_def"].Pack(found)
            return response

    def status(self, request: Any) -> Any:
        """Answers a GetModelStatusRequest."""
        if not request.model_spec.name:
            raise _invalid("Missing ModelSpec")
        response = message("GetModelStatusResponse")()
        for version, status in self.store.statuses(request.model_spec).items():
            made = response.model_version_status.add(version=version, state=status.state)
            made.status.error_code, made.status.error_message = status.code, status.message
        return response

    def reload(self, request: Any) -> Any:
        """Answers a ReloadConfigRequest."""
        if request.config.WhichOneof("config") != "model_config_list":
            raise _invalid("ServerRequest.config.config must be set to model_config_list.")
        self.store.configure(request.config.model_config_list.config, complete=True)
        return message("ReloadConfigResponse")()

    def _array(self, name: str, proto: Any) -> np.ndarray:
        """The array of a message; its size is checked before it takes memory: few bytes can mean many."""
        try:
            size = math.prod(max(0, d.size) for d in proto.tensor_shape.dim) * max(8, as_dtype(proto.dtype).size)
            if size > self.max_tensor_bytes:
                raise ResourceExhaustedError(None, None, f"Input {name} takes more than {self.max_tensor_bytes} bytes")
            return tensor_proto.make_ndarray(proto)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise _invalid(f"tensor parsing error: {name}: {error}") from None

    def _examples(self, servable: Servable, key: str, given: Any, method: str, deadline: float | None) -> Any:
        signature = servable.signature(key)[1]
        if signature.method_name != method:
            kind = "classification" if method == constants.CLASSIFY_METHOD_NAME else "regression"
            raise _invalid(
                f"Expected {kind} signature method_name to be {method}. Was: {signature.method_name}"
            )
        examples = _serialized(given)
        if not examples:
            raise _invalid("Input is empty")
        inputs = np.empty(len(examples), object)
        inputs[:] = examples
        outputs = self.call(servable, key, {constants.CLASSIFY_INPUTS: inputs}, deadline)
        for name, array in outputs.items():
            if not array.ndim or len(array) != len(examples):
                raise _invalid(f"Expected output {name} to have {len(examples)} rows, got shape {list(array.shape)}")
        return outputs, len(examples)

    def _classify(self, servable: Servable, key: str, given: Any, deadline: float | None) -> Any:
        outputs, count = self._examples(servable, key, given, constants.CLASSIFY_METHOD_NAME, deadline)
        labels, scores = outputs.get("classes"), outputs.get("scores")
        if labels is None and scores is None:
            raise _invalid("Expected classification signature outputs to contain classes or scores")
        result = message("ClassificationResult")()
        for row in range(count):
            names = [] if labels is None else labels[row].ravel().tolist()
            values = [] if scores is None else scores[row].ravel().tolist()
            classes = result.classifications.add().classes
            for i in range(max(len(names), len(values))):
                label = names[i] if i < len(names) else b""
                classes.add(label=label.decode(errors="replace"), score=values[i] if i < len(values) else 0.0)
        return result

    def _regress(self, servable: Servable, key: str, given: Any, deadline: float | None) -> Any:
        outputs, count = self._examples(servable, key, given, constants.REGRESS_METHOD_NAME, deadline)
        values = outputs.get(constants.REGRESS_OUTPUTS)
        if values is None or values.size != count:
            raise _invalid("Expected regression signature outputs to have one value for each example")
        result = message("RegressionResult")()
        for value in values.ravel().tolist():
            result.regressions.add(value=value)
        return result


def spec_of(servable: Servable, key: str) -> Any:
    """The ModelSpec of an answer."""
    spec = message("ModelSpec")(name=servable.name, signature_name=key)
    spec.version.value = servable.version
    return spec


def _serialized(given: Any) -> list[bytes]:
    kind = given.WhichOneof("kind")
    if kind == "example_list":
        return [example.SerializeToString() for example in given.example_list.examples]
    if kind is None:
        return []
    # Later bytes add to a message, so that an example's own features win over the context's.
    context = given.example_list_with_context.context.SerializeToString()
    return [
        protos.Example.FromString(context + e.SerializeToString()).SerializeToString()
        for e in given.example_list_with_context.examples
    ]


def _proto(array: np.ndarray, dtype: int) -> Any:
    """The message of an output, with its elements in the field of their type, where clients look for them."""
    made = protos.TensorProto(dtype=dtype)
    for size in array.shape:
        made.tensor_shape.dim.add(size=size)
    tensor_proto.put_elements(made, as_dtype(dtype), array)
    return made


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)
