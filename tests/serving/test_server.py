"""A server in a process of its own, asked by gRPC and HTTP as clients of TensorFlow Serving do."""

import concurrent.futures
import ctypes
import json
import os
import shutil
import signal
import sys

import numpy as np
import pytest

from tapeflow import protos

grpc = pytest.importorskip("grpc")
for needed in ("uvicorn", "httptools", "prometheus_client", "grpc_health"):
    pytest.importorskip(needed)

from serving_process import Server, message, save, wait_for  # noqa: E402  (needs the extra)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    base = tmp_path_factory.mktemp("models") / "m"
    save(base / "1", 2.0)
    return base


@pytest.fixture(scope="module", params=[(), ("--enable_batching",)], ids=["alone", "batched"])
def server(base, request):
    made = Server(base, *request.param)
    yield made
    assert made.close() == 0


def test_predict(server):
    np.testing.assert_array_equal(server.predict([[1, 2], [3, 4]]), [[2, 4], [6, 8]])
    code, body = server.rest("/v1/models/m:predict", {"instances": [[1, 0.1]]})
    assert (code, json.loads(body)) == (200, {"predictions": [[2.0, 0.2]]})
    code, body = server.rest("/v1/models/m/versions/1:predict", {"inputs": {"x": [[1, 2]]}})
    assert (code, json.loads(body)) == (200, {"outputs": [[2.0, 4.0]]})


def test_concurrent_requests_get_their_own_rows(server):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda i: server.predict(np.full((1 + i % 3, 2), i)), range(100)))
    for i, rows in enumerate(found):
        np.testing.assert_array_equal(rows, np.full((1 + i % 3, 2), 2 * i))


def test_nan_is_returned_as_it_is(server):
    code, body = server.rest("/v1/models/m:predict", b'{"instances": [[NaN, -Infinity]]}')
    assert (code, body) == (200, b'{"predictions": [[NaN, -Infinity]]}')


def test_status_metadata_health_and_metrics(server):
    code, body = server.rest("/v1/models/m")
    assert code == 200
    assert json.loads(body)["model_version_status"] == [
        {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    ]
    code, body = server.rest("/v1/models/m/metadata")
    signatures = json.loads(body)["metadata"]["signature_def"]["signature_def"]
    assert signatures["serving_default"]["inputs"]["x"]["dtype"] == "DT_FLOAT"
    assert server.rest("/health")[0] == 200
    assert b":tensorflow:serving:request_count_total" in server.rest("/monitoring/prometheus/metrics")[1]
    request = message("GetModelMetadataRequest")(metadata_field=["signature_def"])
    request.model_spec.name = "m"
    found = server.call("GetModelMetadata", request, "GetModelMetadataResponse")
    assert found.model_spec.version.value == 1


@pytest.mark.parametrize(
    ("path", "body", "code", "text"),
    [
        ("/v1/models/m:predict", b"", 400, "JSON Parse error"),
        ("/v1/models/m:predict", b"[" * 100000, 400, "JSON Parse error"),
        ("/v1/models/m:predict", b"[]", 400, "JSON Value"),
        ("/v1/models/m:predict", {}, 400, "Missing 'inputs' or 'instances' key"),
        ("/v1/models/m:predict", {"instances": [[1, 2, 3]]}, 400, "shape"),
        ("/v1/models/m:predict", {"instances": [["a", "b"]]}, 400, "expected type"),
        ("/v1/models/m:predict", {"instances": [[1], [1, 2]]}, 400, "Failed to process"),
        ("/v1/models/m:predict", {"inputs": {"z": 1}}, 400, "does not have named input"),
        ("/v1/models/m:predict", {"signature_name": "no", "instances": [[1, 2]]}, 412, "not found"),
        ("/v1/models/m:classify", {"examples": [{"x": 1}]}, 400, "Expected classification signature"),
        ("/v1/models/n:predict", {"instances": [[1, 2]]}, 404, "Servable not found for request: Latest(n)"),
        ("/v1/models/m/versions/7:predict", {"instances": [[1]]}, 404, "Specific(m, 7)"),
        ("/v1/models/m/labels/a:predict", {"instances": [[1]]}, 400, "Unrecognized servable version label: a"),
        ("/v1/nothing", {}, 400, "Malformed request: POST /v1/nothing"),
        ("/v1/models/m:predict", b" " * (33 << 20), 413, "larger"),
    ],
)  # fmt: skip
def test_rest_errors(server, path, body, code, text):
    found, answer = server.rest(path, body)
    assert found == code
    assert text in json.loads(answer)["error"]


def huge():
    request = message("PredictRequest")()
    request.model_spec.name = "m"
    request.inputs["x"].CopyFrom(protos.TensorProto(dtype=1, float_val=[1.0]))
    request.inputs["x"].tensor_shape.dim.add(size=1 << 40)
    return request


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"\xff\xff", "INVALID_ARGUMENT"),
        (b"", "INVALID_ARGUMENT"),
        (b"\x0a\x03\x0a\x01n", "NOT_FOUND"),
        (b"\x0a\x03\x0a\x01m", "INVALID_ARGUMENT"),
        (huge(), "RESOURCE_EXHAUSTED"),
    ],
)
def test_grpc_errors(server, request_, code):
    with pytest.raises(grpc.RpcError) as caught:
        server.call("Predict", request_, "PredictResponse")
    assert caught.value.code().name == code


def test_reload_is_off_by_default(server):
    with pytest.raises(grpc.RpcError) as caught:
        server.call("HandleReloadConfigRequest", b"", "ReloadConfigResponse", "ModelService")
    assert caught.value.code().name == "PERMISSION_DENIED"


def test_versions_come_and_go_and_requests_at_the_end_are_answered(tmp_path):
    base = tmp_path / "m"
    save(base / "1", 2.0)
    server = Server(base, "--allow_reload")
    save(tmp_path / "new", 3.0)
    os.rename(tmp_path / "new", base / "2")
    wait_for(lambda: server.predict([[1, 1]])[0, 0] == 3)
    wait_for(lambda: server.rest("/v1/models/m/versions/1:predict", {"instances": [[1, 1]]})[0] == 404)
    config = message("ReloadConfigRequest")()
    config.config.model_config_list.config.add(name="m", base_path=str(base)).version_labels["stable"] = 2
    server.call("HandleReloadConfigRequest", config, "ReloadConfigResponse", "ModelService")
    assert server.rest("/v1/models/m/labels/stable:predict", {"instances": [[1, 1]]})[0] == 200
    shutil.rmtree(base / "2")
    wait_for(lambda: server.predict([[1, 1]])[0, 0] == 2)
    assert server.close() == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals to a thread of another process are Linux's")
def test_a_signal_that_another_thread_received_ends_the_server(tmp_path):
    save(tmp_path / "1", 2.0)
    server = Server(tmp_path)
    assert server.health() == "SERVING"
    threads = {int(name) for name in os.listdir(f"/proc/{server.process.pid}/task")} - {server.process.pid}
    tgkill = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    assert ctypes.CDLL(None).syscall(tgkill, server.process.pid, min(threads), signal.SIGTERM) == 0
    assert server.wait() == 0
