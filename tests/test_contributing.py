"""The row and the pass in CONTRIBUTING.md, defined outside the package, work with nothing else touched."""

import re
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph import passes
from tapeflow.graph.interchange import drawing

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
ROW, PASS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def row():
    # Under a name of its own: the package has the real one.
    names = {}
    exec(compile(ROW.replace('"Cumsum"', '"OutsideCumsum"'), "CONTRIBUTING.md", "exec"), names)
    return names


def test_runs_eagerly(row):
    total = row["cumsum"]([[1, 2, 3], [4, 5, 6]], axis=1, reverse=True)
    np.testing.assert_array_equal(total, [[6, 5, 3], [15, 11, 6]])
    assert total.dtype == tf.int32


def test_differentiates_twice(row):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(row["cumsum"](x) ** 2)
        first = inner.gradient(y, x)
    np.testing.assert_allclose(first, [20.0, 18.0, 12.0])
    np.testing.assert_allclose(outer.gradient(first, x), [12.0, 10.0, 6.0])


def test_errors_name_the_op(row):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis 2 .*\[Op:OutsideCumsum\]"):
        row["cumsum"]([1.0, 2.0], axis=2)


def test_works_in_graphs(row):
    f = tf.function(lambda x: row["cumsum"](x, axis=1), input_signature=[tf.TensorSpec([None, 3])])
    with tf.GradientTape() as tape:
        x = tf.constant([[1.0, 2.0, 3.0]])
        tape.watch(x)
        total = f(x)
    np.testing.assert_array_equal(total, [[1.0, 3.0, 6.0]])
    np.testing.assert_array_equal(tape.gradient(total, x), [[3.0, 2.0, 1.0]])


@pytest.mark.parametrize("code", [ROW, PASS], ids=["row", "pass"])
def test_is_one_screen(code):
    assert len(code.splitlines()) <= 50


def test_the_pass_acts_and_keeps_the_result(monkeypatch):
    names = {}
    exec(compile(PASS, "CONTRIBUTING.md", "exec"), names)
    monkeypatch.setattr(
        passes, "PASSES", [("double negation", names["drop_double_negation"]), *passes.PASSES]
    )
    neg = tf.negative
    f = tf.function(lambda x: tf.abs(neg(neg(x))) + neg(neg(neg(neg(x)))))
    x = tf.constant([0.0, -0.0, 1.0, -2.0])
    stages = dict(drawing.stages(f.get_concrete_function(x)))
    kinds = [each.type for each in stages["prune"].instructions]
    assert kinds == ["Abs", "AddV2"]
    np.testing.assert_array_equal(f(x), abs(x.numpy()) + x.numpy())
