"""Malformed requests: each gets a status code of the client's fault, and the server lives on in bounded memory."""

import collections
import concurrent.futures
import http.client
import json
import random

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

grpc = pytest.importorskip("grpc")
for needed in ("uvicorn", "httptools", "prometheus_client", "grpc_health"):
    pytest.importorskip(needed)

from serving_process import Server, message, save_examples  # noqa: E402  (needs the extra)

COUNT = 10_000
GROWTH = 300 << 20  # bytes; a request may have up to a MiB here
FINE = {"OK", "INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED"}
FINE_HTTP = {200, 400, 404, 405, 412, 413, 503}
METHODS = {"Predict": "PredictRequest", "Classify": "ClassificationRequest", "Regress": "RegressionRequest",
           "MultiInference": "MultiInferenceRequest", "GetModelMetadata": "GetModelMetadataRequest"}  # fmt: skip


def examples(rng):
    made = protos.Example()
    made.features.feature["x"].float_list.value.extend([1.0] * rng.choice([0, 1, 2, 2, 3]))
    if rng.random() < 0.3:
        made.features.feature["bias"].int64_list.value.append(3)
    return made


def tensor(rng):
    made = protos.TensorProto(dtype=rng.choice([0, 1, 3, 7, 7, 7, 9, 20, 21, 99, 101, 2**31 - 1]))
    for _ in range(rng.choice([0, 1, 1, 2, 5, 300])):
        made.tensor_shape.dim.add(size=rng.choice([0, 1, 2, -1, -5, 1 << 20, 1 << 40, (1 << 63) - 1]))
    made.tensor_shape.unknown_rank = rng.random() < 0.1
    if rng.random() < 0.5:
        made.string_val.extend(examples(rng).SerializeToString() for _ in range(rng.choice([0, 1, 3])))
    if rng.random() < 0.3:
        made.float_val.extend([float("nan")] * rng.choice([1, 1000]))
    if rng.random() < 0.3:
        made.tensor_content = rng.randbytes(rng.choice([0, 1, 4, 7, 4096, 1 << 20]))
    return made


def proto_bytes(rng, method):
    """A request that is well formed in part, with changed bytes in half of the cases."""
    made = message(METHODS[method])()
    spec = made.tasks.add(method_name="tensorflow/serving/classify").model_spec if method == "MultiInference" \
        else made.model_spec  # fmt: skip
    spec.name = rng.choice(["m", "m", "m", "n", "", "m" * 100_000])
    spec.signature_name = rng.choice(["", "classify", "regress", "no", "é" * 10_000])
    if rng.random() < 0.2:
        spec.version.value = rng.choice([1, 2, -1, 1 << 62])
    elif rng.random() < 0.1:
        spec.version_label = "stable"
    if method == "Predict":
        made.inputs[rng.choice(["inputs", "inputs", "x", "y" * 50_000])].CopyFrom(tensor(rng))
        made.output_filter.extend(rng.choices(["scores", "no"], k=rng.choice([0, 0, 1, 2])))
    elif method == "GetModelMetadata":
        made.metadata_field.append(rng.choice(["signature_def", "no"]))
    else:
        made.input.example_list.examples.extend(examples(rng) for _ in range(rng.choice([0, 1, 3])))
    data = bytearray(made.SerializeToString())
    if data and rng.random() < 0.5:
        for _ in range(rng.choice([1, 3, 20])):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)


def json_value(rng, depth=0):
    leaf = rng.choice([0, -1, 1.5, 1e400, 10**400, True, None, "", "\ud800", {"b64": "!"}, {"b64": "AAAA"}, {}, []])
    if depth > 3 or rng.random() < 0.4:
        return leaf
    if rng.random() < 0.7:
        return [json_value(rng, depth + 1) for _ in range(rng.choice([1, 2, 5]))]
    return {rng.choice(["x", "inputs", "b64", "\udfff"]): json_value(rng, depth + 1)}


def json_bytes(rng):
    whole = {rng.choice(["instances", "inputs", "examples", "context", "signature_name"]): json_value(rng)
             for _ in range(rng.choice([1, 1, 2, 3]))}  # fmt: skip
    data = bytearray(json.dumps(whole).encode())
    kind = rng.random()
    if kind < 0.3:
        data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind < 0.35:
        data = bytearray(b'{"instances": ' + b"[" * rng.choice([100, 100_000]))
    elif kind < 0.4:
        data = bytearray(b'{"instances": [' + b"[]," * 300_000 + b"[]]}")
    elif kind < 0.41:
        data = bytearray(b" " * ((1 << 20) + 1))
    return bytes(data)


def ask_grpc(channel, rng):
    method = rng.choice(list(METHODS))
    function = channel.unary_unary(f"/tensorflow.serving.PredictionService/{rng.choice([method] * 20 + ['No'])}")
    data = proto_bytes(rng, method) if rng.random() < 0.99 else bytes((1 << 20) + 1)
    try:
        function(data, timeout=60)
    except grpc.RpcError as error:
        return error.code().name, error.details(), (method, data)
    return "OK", "", None


def ask_rest(port, rng):
    path = "/v1/models/" + rng.choice(["m", "m", "m", "n", "m/versions/1", "m/versions/9", "m/labels/a", "%ff", ""])
    path += rng.choice([":predict", ":classify", ":regress", ":no", "/metadata", ""])
    data = json_bytes(rng)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(rng.choice(["POST"] * 9 + ["GET", "PUT"]), path, data)
        answer = connection.getresponse()
        return answer.status, answer.read(), (path, data)
    except (BrokenPipeError, ConnectionResetError):  # the server had its answer before all was sent
        return 413, b"", None
    finally:
        connection.close()


def resident(process):
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize(
    ("count", "options"),
    [pytest.param(300, ("--enable_batching",), id="few"), pytest.param(COUNT, (), marks=pytest.mark.slow, id="alone"),
     pytest.param(COUNT, ("--enable_batching",), marks=pytest.mark.slow, id="batched")],
)  # fmt: skip
def test_malformed_requests(tmp_path, count, options):
    save_examples(tmp_path / "m" / "1")
    server = Server(tmp_path / "m", "--max_message_bytes", str(1 << 20), *options)

    def ask(seed):
        rng = random.Random(seed)
        return ask_grpc(server.channel, rng) if seed % 2 else ask_rest(server.rest_port, rng)

    codes, wrong = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        collections.deque(pool.map(ask, range(count, count + count // 20)), 0)  # what is loaded at the first use
        before = resident(server.process)
        for code, text, asked in pool.map(ask, range(count)):
            codes[code] += 1
            if code not in (FINE_HTTP if isinstance(code, int) else FINE):
                wrong.append((code, text[:200], str(asked)[:200]))
    growth = resident(server.process) - before
    print(sorted(codes.items(), key=str), f"{before >> 20} MiB, {growth >> 20} MiB more")
    assert not wrong, wrong[:10]
    assert growth < GROWTH
    assert server.process.poll() is None
    request = message("PredictRequest")()
    request.model_spec.name = "m"
    serialized = protos.Example()
    serialized.features.feature["x"].float_list.value.extend([1.0, 2.0])
    request.inputs["inputs"].CopyFrom(tf.make_tensor_proto([serialized.SerializeToString()]))
    scores = server.call("Predict", request, "PredictResponse").outputs["scores"]
    np.testing.assert_array_equal(tf.make_ndarray(scores), [[9.5, 12.5, 15.5]])
    assert server.close() == 0
