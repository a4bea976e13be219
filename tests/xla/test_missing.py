"""Without jax, asking for XLA says what to install."""

import sys

import pytest

import tapeflow as tf
import tapeflow.xla


def test_error_names_the_extra(monkeypatch):
    for name in [n for n in sys.modules if n.startswith("tapeflow.xla.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(tapeflow.xla, "executable", raising=False)
    monkeypatch.setitem(sys.modules, "jax", None)
    function = tf.function(lambda x: x + 1, jit_compile=True)
    with pytest.raises(tf.errors.UnimplementedError, match=r"pip install 'tapeflow\[xla\]'"):
        function(tf.ones(2))
