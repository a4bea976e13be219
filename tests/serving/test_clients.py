"""Clients of TensorFlow Serving, models of serialized examples, and stored requests that warm a model up."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("grpc")
for needed in ("uvicorn", "httptools", "prometheus_client", "grpc_health"):
    pytest.importorskip(needed)

from serving_process import Server, message, save, save_examples  # noqa: E402  (needs the extra)

SCORES = [[9.5, 12.5, 15.5], [3.5, 4.25, 5.0]]  # of [1, 2] with the bias that is missing, [0.5, 0.25] with 2
BATCHING = pytest.mark.parametrize("options", [(), ("--enable_batching",)], ids=["alone", "batched"])


def labelled(scores):
    return [[list(pair) for pair in zip("abc", row, strict=True)] for row in scores]


@BATCHING
def test_rest_classify_and_regress(tmp_path, options):
    save_examples(tmp_path / "m" / "1")
    server = Server(tmp_path / "m", *options)
    examples = [{"x": [1.0, 2.0]}, {"x": [0.5, 0.25], "bias": 2.0}]
    code, body = server.rest("/v1/models/m:classify", {"signature_name": "classify", "examples": examples})
    assert (code, json.loads(body)) == (200, {"results": labelled(SCORES)})
    code, body = server.rest("/v1/models/m:regress", {"signature_name": "regress", "examples": examples})
    assert (code, json.loads(body)) == (200, {"results": [9.5, 3.5]})
    body = {"signature_name": "regress", "context": {"bias": 2.0}, "examples": [{"x": [1.0, 2.0]}]}
    assert json.loads(server.rest("/v1/models/m:regress", body)[1]) == {"results": [11.0]}
    code, body = server.rest("/v1/models/m:classify", {"examples": [{"x": [1.0]}]})
    assert (code, "x" in json.loads(body)["error"]) == (400, True)
    assert server.close() == 0


def write_warm_up(folder, requests):
    path = folder / "assets.extra" / "tf_serving_warmup_requests"
    path.parent.mkdir()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for request in requests:
            writer.write(request.SerializeToString())


def test_warm_up_runs_before_a_version_is_served(tmp_path):
    good, bad = message("PredictionLog")(), message("PredictionLog")()
    good.predict_log.request.model_spec.name = "m"
    good.predict_log.request.inputs["x"].CopyFrom(tf.make_tensor_proto([[1.0, 2.0]]))
    bad.predict_log.request.inputs["y"].CopyFrom(tf.make_tensor_proto([[1.0, 2.0]]))
    for version, requests in ((1, [good] * 3), (2, [good, bad])):
        save(tmp_path / "m" / str(version), float(version))
        write_warm_up(tmp_path / "m" / str(version), requests)
    config = tmp_path / "models.config"
    config.write_text(
        f'model_config_list {{ config {{ name: "m" base_path: "{tmp_path}/m" model_version_policy {{ all {{ }} }} }} }}'
    )
    server = Server(None, "--model_config_file", str(config))
    np.testing.assert_array_equal(server.predict([[1, 1]]), [[1, 1]])
    status = json.loads(server.rest("/v1/models/m")[1])["model_version_status"]
    assert [(s["version"], s["state"]) for s in status] == [("2", "END"), ("1", "AVAILABLE")]
    assert "Missing but required: {x}" in status[0]["status"]["error_message"]
    assert server.close() == 0


CLIENTS = [
    pytest.param(["-m", "tapeflow.run"], id="tapeflow"),
    pytest.param([], id="tensorflow", marks=[pytest.mark.oracle, pytest.mark.skipif(
        "TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")]),
]  # fmt: skip


@pytest.mark.skipif(
    "SERVING_STUBS" not in os.environ,
    reason="SERVING_STUBS names no folder with the package tensorflow-serving-api (make test-stubs)",
)
@pytest.mark.parametrize("client", CLIENTS)
@BATCHING
def test_the_stubs_of_tensorflow_serving(tmp_path, options, client):
    """They need a package tensorflow: TensorFlow's, or this one in its name."""
    save_examples(tmp_path / "m" / "1")
    server = Server(tmp_path / "m", "--allow_reload", *options)
    own = [os.environ["PYTHONPATH"]] if client and "PYTHONPATH" in os.environ else []
    done = subprocess.run(
        [sys.executable if client else os.environ["TF_PYTHON"], *client,
         str(pathlib.Path(__file__).with_name("stub_client.py")), str(server.port), str(tmp_path / "m")],
        capture_output=True, text=True, check=False, timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*own, os.environ["SERVING_STUBS"]])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["predict"] == found["tensorflow"]
    assert found["version"] == 1
    assert found["classify"] == found["multi"][0] == labelled(SCORES)
    assert found["regress"] == [11.0, 3.5]
    assert found["multi"][1] == [9.5, 3.5]
    assert found["metadata"] == {
        "classify": "tensorflow/serving/classify", "serving_default": "tensorflow/serving/classify",
        "regress": "tensorflow/serving/regress",
    }  # fmt: skip
    assert found["status"] == [[1, 30]]
    assert (found["reload"], found["renamed"], found["gone"]) == (0, [30], "NOT_FOUND")
    assert server.close() == 0
