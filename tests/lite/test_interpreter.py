"""`tf.lite.Interpreter`: what it runs, and that no bytes make it crash."""

import os
import subprocess
import sys
from pathlib import Path

import export_models as models
import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf

for package in ("litert_converter", "ai_edge_litert", "ai_edge_quantizer"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

from tapeflow.lite import interface  # noqa: E402
from tapeflow.lite.verifying import verify  # noqa: E402

X = np.float32([[1, 2], [3, -4]])


@pytest.fixture(scope="module")
def model():
    function = tf.function(lambda x: {"y": tf.tanh(x) * 2.0, "z": x + 1.0})
    return lite.converted(function.get_concrete_function(tf.TensorSpec([None, 2], name="x")))


def test_a_run(model):
    interpreter = tf.lite.Interpreter(model_content=model, num_threads=1)
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    given = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(given, [2, 2])
    interpreter.allocate_tensors()
    interpreter.set_tensor(given, X)
    interpreter.invoke()
    y, z = (interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details())
    np.testing.assert_allclose(y, np.tanh(X) * 2, rtol=1e-6)
    np.testing.assert_allclose(z, X + 1)
    assert interpreter.tensor(given)().tolist() == X.tolist()
    assert interpreter.num_subgraphs() == 1
    assert len(interpreter.get_tensor_details()) >= 3
    interpreter.reset_all_variables()


def test_a_file(model, tmp_path):
    (tmp_path / "m.tflite").write_bytes(model)
    runner = tf.lite.Interpreter(tmp_path / "m.tflite").get_signature_runner("serving_default")
    np.testing.assert_allclose(runner(x=X)["z"], X + 1)
    with pytest.raises(ValueError, match=r"Could not open 'no/such\.tflite'"):
        tf.lite.Interpreter("no/such.tflite")


def test_intermediate_results_are_kept_where_that_is_asked_for():
    function, arguments = models.cnn()
    model = lite.converted(function)
    for kernels in (tf.lite.experimental.OpResolverType.BUILTIN, tf.lite.experimental.OpResolverType.BUILTIN_REF):
        interpreter = tf.lite.Interpreter(
            model_content=model, experimental_preserve_all_tensors=True, experimental_op_resolver_type=kernels
        )
        given = interpreter.get_input_details()[0]["index"]
        interpreter.resize_tensor_input(given, arguments[0].shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(given, arguments[0])
        interpreter.invoke()
        means = [d["index"] for d in interpreter.get_tensor_details() if d["name"].endswith("/Mean")]
        assert interpreter.get_tensor(means[0]).shape == (2, 4)


def test_wrong_arguments(model):
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match="Got value of type FLOAT64 but expected type FLOAT32"):
        interpreter.set_tensor(0, np.zeros((1, 2)))
    with pytest.raises(ValueError, match="Invalid tensor index 99"):
        interpreter.set_tensor(99, X)
    with pytest.raises(ValueError, match="Dimension mismatch"):
        interpreter.set_tensor(0, X)
    with pytest.raises(ValueError, match="Invalid signature_key"):
        interpreter.get_signature_runner("no")
    for kwargs in ({}, {"model_path": "a", "model_content": model}, {"model_content": b""}):
        with pytest.raises(ValueError, match="model_path"):
            tf.lite.Interpreter(**kwargs)
    with pytest.raises(TypeError, match="must be bytes"):
        tf.lite.Interpreter(model_content="text")
    with pytest.raises(OSError, match=r"no/such\.so"):
        tf.lite.experimental.load_delegate("no/such.so")


def test_what_a_model_consists_of(model, capsys):
    tf.lite.experimental.Analyzer.analyze(model_content=model)
    text = capsys.readouterr().out
    assert "TANH(" in text
    assert "Signature#0 key: 'serving_default'" in text
    with pytest.raises(ValueError, match="neither"):
        tf.lite.experimental.Analyzer.analyze()


# What is no model.


@pytest.mark.parametrize("content", [b"hello", b"\0" * 100, b"\x1c\0\0\0TFL3" + b"\xff" * 60, b"\x1c\0\0\0TFL3"])
def test_bytes_that_are_no_model(content):
    with pytest.raises(ValueError, match="not a valid Flatbuffer buffer"):
        tf.lite.Interpreter(model_content=content)


def changes():
    def operator(model):
        return model.subgraphs[0].operators[0]

    def tensor(model):
        return model.subgraphs[0].tensors[0]

    yield "a tensor that is not there", lambda m: operator(m).inputs.__setitem__(0, 1000)
    yield "an input left out", lambda m: operator(m).inputs.__setitem__(0, -1)
    yield "an op that is not there", lambda m: setattr(operator(m), "opcodeIndex", 77)
    yield "an output that is no tensor", lambda m: m.subgraphs[0].outputs.__setitem__(0, -5)
    yield "a tensor used before it is there", lambda m: m.subgraphs[0].operators.reverse()
    yield "no operators", lambda m: m.subgraphs[0].operators.clear()
    yield "a negative size", lambda m: setattr(tensor(m), "shape", [-4, 12, 12, 3])
    yield "a huge size", lambda m: setattr(tensor(m), "shape", [1 << 30, 1 << 30])
    yield "a buffer that is not there", lambda m: setattr(tensor(m), "buffer", 999)
    yield "a type that is not there", lambda m: setattr(tensor(m), "type", 77)
    yield "steps of zero", lambda m: setattr(operator(m).builtinOptions, "strideW", 0)
    yield "a constant that is too short", lambda m: setattr(longest(m), "data", longest(m).data[:-4])
    yield "a signature of nothing", lambda m: setattr(m.signatureDefs[0].inputs[0], "tensorIndex", 500)
    yield "no subgraphs", lambda m: m.subgraphs.clear()


def longest(model):
    return max(model.buffers, key=lambda b: 0 if b.data is None else len(b.data))


@pytest.fixture(scope="module")
def network():
    return lite.converted(models.cnn()[0])


@pytest.mark.parametrize("change", [c[1] for c in changes()], ids=[c[0] for c in changes()])
def test_models_that_contradict_themselves(network, change):
    verify(network)
    model = interface.unpacked(network)
    verify(interface.packed(model))
    change(model)
    with pytest.raises(ValueError, match="not a valid Flatbuffer buffer"):
        tf.lite.Interpreter(model_content=interface.packed(model))


def test_subgraphs_that_call_each_other():
    model = interface.unpacked(lite.converted(models.module()[0]))
    branch = next(op for op in model.subgraphs[0].operators if interface.op_name(model, op) == "IF")
    target = model.subgraphs[branch.builtinOptions.thenSubgraphIndex]
    target.operators.append(branch)
    with pytest.raises(ValueError, match="not a valid Flatbuffer buffer"):
        verify(interface.packed(model))


@pytest.mark.slow
def test_no_mutation_ends_the_process(tmp_path):
    arguments = models.cnn()[1]
    samples = [
        lite.converted(models.cnn()[0]),
        lite.converted(models.module()[0]),
        lite.converted(models.text()[0]),
        lite.converted(models.ragged()[0]),
        lite.converted(
            models.cnn()[0], optimizations={tf.lite.Optimize.DEFAULT}, representative_dataset=lambda: [arguments]
        ),
    ]
    names = []
    for i, content in enumerate(samples):
        names.append(tmp_path / f"{i}.tflite")
        names[-1].write_bytes(content)
    script = Path(__file__).with_name("lite_mutations.py")
    seed, count = os.environ.get("SEED", "1"), os.environ.get("COUNT", "200")
    command = [sys.executable, str(script), seed, count, *map(str, names)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
