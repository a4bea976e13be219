"""The row in CONTRIBUTING.md, defined outside the package, works with nothing else touched."""

import re
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()


@pytest.fixture(scope="module")
def row():
    # Under a name of its own: the package has the real one.
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names = {}
    exec(compile(code.replace('"Cumsum"', '"OutsideCumsum"'), "CONTRIBUTING.md", "exec"), names)
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


def test_is_one_screen():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(code.splitlines()) <= 50
