"""Models of several kinds, served: the answers of gRPC and REST are what the function computes."""

import json

import export_models as models
import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("grpc")
for needed in ("uvicorn", "httptools", "prometheus_client", "grpc_health"):
    pytest.importorskip(needed)

from serving_process import Server, message  # noqa: E402  (needs the extra)

NAMES = [make.__name__ for make in models.MODELS]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of all models; by name, what goes into each and what its function computes."""
    base = tmp_path_factory.mktemp("models")
    configs, expected = [], {}
    for make in models.MODELS:
        name = make.__name__
        expected[name] = models.save(make, base / name / "1")
        configs.append(f'config {{ name: "{name}" base_path: "{base / name}" }}')
    (base / "models.config").write_text(f"model_config_list {{ {' '.join(configs)} }}")
    server = Server(None, "--model_config_file", str(base / "models.config"))
    yield server, expected
    assert server.close() == 0


def compare(name, how, found, wanted):
    assert found.keys() == wanted.keys()
    largest = 0.0
    for key, value in wanted.items():
        assert found[key].shape == value.shape
        np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=2e-6)
        largest = max(largest, float(np.abs(found[key] - value).max()))
    print(f"{how}:", name, largest)


@pytest.mark.parametrize("name", NAMES)
def test_grpc(served, name):
    server, expected = served
    arguments, wanted = expected[name]
    request = message("PredictRequest")()
    request.model_spec.name = name
    for key, value in arguments.items():
        request.inputs[key].CopyFrom(tf.make_tensor_proto(value))
    answer = server.call("Predict", request, "PredictResponse")
    found = {key: tf.make_ndarray(value) for key, value in answer.outputs.items()}
    assert {key: value.dtype for key, value in found.items()} == {key: value.dtype for key, value in wanted.items()}
    compare(name, "gRPC", found, wanted)


@pytest.mark.parametrize("name", NAMES)
def test_rest(served, name):
    server, expected = served
    arguments, wanted = expected[name]
    body = {"inputs": {key: value.tolist() for key, value in arguments.items()}}
    code, answer = server.rest(f"/v1/models/{name}:predict", body)
    assert code == 200, answer
    outputs = json.loads(answer)["outputs"]
    if len(wanted) == 1:  # the only output is not named
        outputs = dict.fromkeys(wanted, outputs)
    compare(name, "REST", {key: np.float32(value) for key, value in outputs.items()}, wanted)
