"""SavedModels in TensorFlow, by its Python and by its C functions: the same numbers (`make test-oracle`)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import export_models as models
import numpy as np
import pytest

from tapeflow import protos

pytestmark = [
    pytest.mark.oracle, pytest.mark.slow,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no interpreter with TensorFlow"),
]  # fmt: skip
HERE = Path(__file__).parent
FIND = "import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec('tensorflow').origin).parent)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All models, with their arguments, and what this package computes."""
    made = tmp_path_factory.mktemp("models")
    for make in models.MODELS:
        name = make.__name__
        arguments, results = models.save(make, made / name)
        saved = protos.SavedModel.FromString((made / name / "saved_model.pb").read_bytes())
        signature = saved.meta_graphs[0].signature_def["serving_default"]
        names = {
            "inputs": {key: info.name for key, info in signature.inputs.items()},
            "outputs": {key: info.name for key, info in signature.outputs.items()},
        }
        np.savez(made / f"{name}.npz", **arguments)
        np.savez(made / f"{name}.expected.npz", **results)
        (made / f"{name}.json").write_text(json.dumps(names))
    return made


def called(*command):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environment, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def by_python(folder):
    called(os.environ["TF_PYTHON"], HERE / "oracle_models.py", folder)
    return "python"


@pytest.fixture(scope="module")
def by_c(folder):
    package = Path(called(os.environ["TF_PYTHON"], "-c", FIND).strip())
    said = called(sys.executable, HERE / "c_api_client.py", package / "libtensorflow_cc.so.2", folder)
    assert said.startswith("TensorFlow 2.")
    return "c_api"


@pytest.mark.parametrize("client", ["by_python", "by_c"])
@pytest.mark.parametrize("name", [make.__name__ for make in models.MODELS])
def test_models_compute_the_same(client, name, folder, request):
    kind = request.getfixturevalue(client)
    with np.load(folder / f"{name}.expected.npz") as expected, np.load(folder / f"{name}.{kind}.npz") as found:
        assert sorted(expected.files) == sorted(found.files)
        for key in expected.files:
            assert expected[key].shape == found[key].shape
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-5, atol=2e-6)
        print(kind, name, max(np.abs(found[key] - expected[key]).max() for key in expected.files))
