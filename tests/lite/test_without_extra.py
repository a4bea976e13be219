"""What `tf.lite` says where the extra `lite` is not installed, and that nothing loads it unasked."""

import subprocess
import sys

import pytest

import tapeflow as tf


def without(monkeypatch, package):
    for name in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


def function():
    return tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([2], name="x"))


def test_converting_names_the_extra(monkeypatch):
    without(monkeypatch, "litert_converter")
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function()])
    with pytest.raises(tf.errors.UnimplementedError, match=r"needs litert-converter.*pip install 'tapeflow\[lite\]'"):
        converter.convert()


def test_running_names_the_extra(monkeypatch):
    without(monkeypatch, "ai_edge_litert")
    with pytest.raises(tf.errors.UnimplementedError, match=r"needs ai-edge-litert.*pip install 'tapeflow\[lite\]'"):
        tf.lite.Interpreter(model_content=b"\0" * 8)


def test_names_load_no_package_of_the_extra():
    program = (
        "import sys, tapeflow as tf; before = 'tapeflow.lite' in sys.modules; "
        "tf.lite.TFLiteConverter, tf.lite.Interpreter, tf.lite.Optimize.DEFAULT, tf.compat.v1.lite.constants.FLOAT; "
        "tf.lite.experimental.Analyzer, tf.compat.v1.lite.TFLiteConverter; "
        "print(before, [m for m in sys.modules if m.startswith(('ai_edge', 'litert', 'jax'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False []"
