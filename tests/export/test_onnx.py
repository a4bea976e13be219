"""tf2onnx, as it was published, converts models; onnxruntime computes the same from what it writes (`make test-onnx`).

It runs in a process of its own, where `import tensorflow` gives this package.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import export_models as models
import numpy as np
import pytest

import tapeflow as tf

onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.onnx, pytest.mark.slow,
    pytest.mark.skipif(find_spec("tf2onnx") is None, reason="tf2onnx is not installed"),
]  # fmt: skip

LACKING = {"ragged"}  # tf2onnx has no UpperBound, which the numbers of rows are computed by
RTOL, ATOL = 1e-5, 2e-6
RUN = [sys.executable, "-m", "tapeflow.run"]


def called(*command):
    done = subprocess.run([*RUN, *map(str, command)], capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def converted(folder, *options):
    """What the command line of tf2onnx writes."""
    path = Path(folder, "model.onnx")
    called("-m", "tf2onnx.convert", *options, "--output", path, "--opset", 18)
    return onnxruntime.InferenceSession(str(path))


def difference(expected, found):
    assert len(expected) == len(found)
    for mine, its in zip(expected, found, strict=True):
        assert mine.shape == its.shape
        np.testing.assert_allclose(its, mine, rtol=RTOL, atol=ATOL)
    return max(np.abs(a - b).max() for a, b in zip(expected, found, strict=True))


def test_the_functions_of_tf2onnx(tmp_path):
    called(Path(__file__).with_name("convert_to_onnx.py"), tmp_path)
    files = sorted(tmp_path.glob("*.onnx"))
    assert len(files) == 6
    for file in files:
        session = onnxruntime.InferenceSession(str(file))
        with np.load(file.with_suffix(".npz"), allow_pickle=True) as arrays:
            given = [arrays[name] for name in arrays.files if name.startswith("argument")]
            expected = [arrays[name] for name in arrays.files if name.startswith("result")]
        found = session.run(None, {x.name: value for x, value in zip(session.get_inputs(), given, strict=True)})
        print("tf2onnx's functions:", file.stem, difference(expected, found))


@pytest.mark.parametrize("make", [m for m in models.MODELS if m.__name__ not in LACKING], ids=lambda m: m.__name__)
def test_saved_models(make, tmp_path):
    arguments, results = models.save(make, tmp_path / "saved")
    session = converted(tmp_path, "--saved-model", tmp_path / "saved")
    found = session.run(list(results), arguments)
    print("--saved-model:", make.__name__, difference(list(results.values()), found))


def test_a_signature_of_several(tmp_path):
    signatures = {"once": models.SEVERAL.once, "loop": models.SEVERAL.loop}
    tf.saved_model.save(models.SEVERAL, str(tmp_path / "saved"), signatures=signatures)
    x = models.module()[1][0]
    for name, function in signatures.items():
        session = converted(tmp_path, "--saved-model", tmp_path / "saved", "--signature_def", name)
        expected = {key: y.numpy() for key, y in function(tf.constant(x)).items()}
        difference(list(expected.values()), session.run(list(expected), {"x": x}))


def test_a_frozen_graph_of_1x_with_a_loop(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=np.float32([[0.5, 0.1], [0.2, 0.4]]))
        _, y = v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(y @ w) + 1.0), [0, x])
        given, straight = np.float32([[1, 2], [3, -4]]), tf.identity(y * 2.0, name="straight")
        with v1.Session(graph=graph) as session:
            session.run(v1.global_variables_initializer())
            expected = session.run([y, straight], {x: given})
            names = [y.op.name, straight.op.name]
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), names)
    (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
    outputs = f"{y.name},{straight.name}"
    session = converted(tmp_path, "--graphdef", tmp_path / "frozen.pb", "--inputs", "x:0", "--outputs", outputs)
    print("--graphdef:", difference(expected, session.run([y.name, straight.name], {"x:0": given})))


@pytest.mark.parametrize("recurrent", [False, True], ids=["cnn", "lstm"])
def test_a_keras_file(recurrent, tmp_path):
    L = tf.keras.layers
    layers = [L.LSTM(4)] if recurrent else [L.Conv1D(4, 3), L.BatchNormalization(), L.GlobalMaxPooling1D()]
    model = tf.keras.Sequential([L.Input((6, 3)), *layers, L.Dense(2)])
    model.save(tmp_path / "model.keras")
    session = converted(tmp_path, "--keras", tmp_path / "model.keras")
    x = np.random.default_rng(2).normal(size=(2, 6, 3)).astype(np.float32)
    found = session.run(None, {session.get_inputs()[0].name: x})
    print("--keras:", difference([model(x, training=False).numpy()], found))


def test_an_op_that_tf2onnx_lacks_is_named(tmp_path):
    models.save(models.ragged, tmp_path / "saved")
    printed = called("-m", "tf2onnx.convert", "--saved-model", tmp_path / "saved", "--output", tmp_path / "model.onnx")
    assert "Tensorflow op [UpperBound: UpperBound] is not supported" in printed
