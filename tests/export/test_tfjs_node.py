"""Exported models give the same numbers in TF.js, which node runs (`make test-js`)."""

import json
import os
import re
import subprocess
from pathlib import Path

import export_models as models
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.export import tfjs

pytestmark = [
    pytest.mark.js,
    pytest.mark.skipif("TFJS_PACKAGE" not in os.environ, reason="TFJS_PACKAGE names no folder of @tensorflow/tfjs"),
]
KINDS = {"i": "int32", "O": "string"}
CLIENT = Path(__file__).with_name("run_model.js")
LACKING = {"ragged"}  # tests/export/test_tfjs.py: what is said of them


def run(folder, function, arguments):
    """What TF.js computes, in the order of the outputs."""
    names = [x.op.name for x in function.inputs[: len(arguments)]]
    inputs = {
        name: {"shape": x.shape, "dtype": KINDS.get(x.dtype.kind, "float32"), "values": x.ravel().tolist()}
        for name, x in zip(names, arguments, strict=True)
    }
    done = subprocess.run(
        ["node", str(CLIENT), os.environ["TFJS_PACKAGE"]], input=json.dumps([{"model": str(folder), "inputs": inputs}]),
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    answer = json.loads(done.stdout.splitlines()[-1])[0]
    assert "error" not in answer, answer["error"]
    return [np.reshape(y["values"], y["shape"]) for y in answer.values()]


@pytest.mark.parametrize("make", [m for m in models.MODELS if m.__name__ not in LACKING], ids=lambda m: m.__name__)
def test_models_compute_the_same(make, tmp_path):
    function, arguments = make()
    tfjs.save(function, tmp_path)
    expected = [y.numpy() for y in tf.nest.flatten(function(*map(tf.constant, arguments)))]
    found = run(tmp_path, function, arguments)
    assert len(found) == len(expected)
    for mine, its in zip(expected, found, strict=True):
        assert mine.shape == its.shape
        np.testing.assert_allclose(its, mine, rtol=1e-5, atol=2e-6)
    print(make.__name__, max(np.abs(a - b).max() for a, b in zip(expected, found, strict=True)))


@pytest.mark.parametrize(("kind", "tolerance"), [("uint8", 0.05), ("uint16", 5e-4), ("float16", 5e-3)])
def test_quantized_models_compute_about_the_same(kind, tolerance, tmp_path):
    function, arguments = models.cnn()
    tfjs.save(function, tmp_path, quantization=kind)
    found = run(tmp_path, function, arguments)[0]
    expected = function(*map(tf.constant, arguments)).numpy()
    np.testing.assert_allclose(found, expected, atol=tolerance)
    assert not np.array_equal(found, expected)


def test_the_list_of_ops_is_that_of_the_package():
    listed = Path(os.environ["TFJS_PACKAGE"]).parent / "tfjs-converter/dist/operations/op_list"
    pattern = re.compile(r"""['"]tfOpName['"]\s*:\s*['"](\w+)['"]""")
    names = {name for file in listed.glob("*.js") for name in pattern.findall(file.read_text())}
    assert {name for name in names if not name.startswith("SimpleML")} == tfjs.ops()
