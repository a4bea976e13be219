"""Without jax, functions that ask for XLA run uncompiled, and a warning says what to install."""

import sys

import pytest

import tapeflow as tf
from tapeflow.function import concrete


@pytest.fixture
def without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    concrete._has_jax.cache_clear()
    yield
    concrete._has_jax.cache_clear()


@pytest.mark.usefixtures("without_jax")
def test_functions_run_uncompiled(caplog):
    function = tf.function(lambda x: x * x, jit_compile=True)
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert y.numpy().tolist() == [1, 9]
    assert tape.gradient(y, x).numpy().tolist() == [2, 6]
    tf.function(lambda x: x + 1, jit_compile=True)(x)
    assert sum("pip install 'tapeflow[xla]'" in record.getMessage() for record in caplog.records) == 1
