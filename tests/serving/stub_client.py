"""A client of TensorFlow and TensorFlow Serving's stubs: `stub_client.py PORT FOLDER` prints its answers as JSON.

It knows nothing of tapeflow: messages, examples and tensors are TensorFlow's.
"""

import json
import sys

import grpc
import tensorflow as tf
from google.protobuf import text_format
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)


def example(x, bias=None):
    features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=x))}
    if bias is not None:
        features["bias"] = tf.train.Feature(float_list=tf.train.FloatList(value=[bias]))
    return tf.train.Example(features=tf.train.Features(feature=features))


EXAMPLES = [example([1.0, 2.0]), example([0.5, 0.25], 2.0)]


def main(port, folder):
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    service = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    models = model_service_pb2_grpc.ModelServiceStub(channel)
    out = {}

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "m"
    request.model_spec.signature_name = "classify"
    request.inputs["inputs"].CopyFrom(tf.make_tensor_proto([e.SerializeToString() for e in EXAMPLES]))
    answer = service.Predict(request, timeout=20)
    out["predict"] = {k: tf.make_ndarray(v).astype(str).tolist() for k, v in answer.outputs.items()}
    out["version"] = answer.model_spec.version.value

    request = classification_pb2.ClassificationRequest()
    request.model_spec.name = "m"
    request.input.example_list.examples.extend(EXAMPLES)
    answer = service.Classify(request, timeout=20)
    out["classify"] = [[(c.label, c.score) for c in each.classes] for each in answer.result.classifications]

    request = regression_pb2.RegressionRequest()
    request.model_spec.name, request.model_spec.signature_name = "m", "regress"
    request.input.example_list_with_context.context.CopyFrom(example([], 2.0))
    del request.input.example_list_with_context.context.features.feature["x"]
    request.input.example_list_with_context.examples.extend(EXAMPLES)
    out["regress"] = [r.value for r in service.Regress(request, timeout=20).result.regressions]

    request = inference_pb2.MultiInferenceRequest()
    for method, signature in (("classify", "classify"), ("regress", "regress")):
        task = request.tasks.add(method_name=f"tensorflow/serving/{method}")
        task.model_spec.name, task.model_spec.signature_name = "m", signature
    request.input.example_list.examples.extend(EXAMPLES)
    first, second = service.MultiInference(request, timeout=20).results
    out["multi"] = [
        [[(c.label, c.score) for c in each.classes] for each in first.classification_result.classifications],
        [r.value for r in second.regression_result.regressions],
    ]

    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "m"
    found = get_model_metadata_pb2.SignatureDefMap()
    assert service.GetModelMetadata(request, timeout=20).metadata["signature_def"].Unpack(found)
    out["metadata"] = {key: s.method_name for key, s in found.signature_def.items()}

    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "m"
    status = models.GetModelStatus(request, timeout=20).model_version_status
    out["status"] = [(s.version, s.state) for s in status]

    request = model_management_pb2.ReloadConfigRequest()
    text_format.Parse(
        f'model_config_list {{ config {{ name: "renamed" base_path: "{folder}" model_platform: "tensorflow" }} }}',
        request.config,
    )
    out["reload"] = models.HandleReloadConfigRequest(request, timeout=20).status.error_code
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "renamed"
    out["renamed"] = [s.state for s in models.GetModelStatus(request, timeout=20).model_version_status]
    try:
        request.model_spec.name = "m"
        models.GetModelStatus(request, timeout=20)
    except grpc.RpcError as error:
        out["gone"] = error.code().name

    loaded = tf.saved_model.load(f"{folder}/1").signatures["classify"]
    values = loaded(inputs=tf.constant([e.SerializeToString() for e in EXAMPLES]))
    out["tensorflow"] = {k: v.numpy().astype(str).tolist() for k, v in values.items()}
    print(json.dumps(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
