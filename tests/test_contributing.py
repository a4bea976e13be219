"""What CONTRIBUTING.md adds works with nothing else touched: outside the package, or in one file of a copy of it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph import passes
from tapeflow.graph.interchange import drawing

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
ROW, TRANSFORMATION, PASS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


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


@pytest.mark.parametrize("code", [ROW, TRANSFORMATION, PASS], ids=["row", "transformation", "pass"])
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


USE = """
import tapeflow as tf

D = tf.data.Dataset

def numbers(dataset):
    return [int(x) for x in dataset]

dataset = D.range(7).drop_every(3)
assert numbers(dataset) == [0, 1, 3, 4, 6], numbers(dataset)
iterator = iter(dataset)
next(iterator)
saved = tf.train.Checkpoint(iterator=iterator).write("here")
next(iterator)
tf.train.Checkpoint(iterator=iterator).read("here")
assert numbers(iterator) == [1, 3, 4, 6]

@tf.function
def total(count):
    return D.range(7).drop_every(count).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

assert int(total(tf.constant(2, tf.int64))) == 12
try:
    D.range(3).drop_every(0)
except tf.errors.InvalidArgumentError as error:
    assert "[Op:DropEveryDataset]" in str(error)
else:
    raise AssertionError("not refused")

v1 = tf.compat.v1
with tf.Graph().as_default() as graph:
    element = v1.data.make_one_shot_iterator(dataset).get_next()
    with v1.Session() as session:
        assert [int(session.run(element)) for _ in range(5)] == [0, 1, 3, 4, 6]
message = graph.as_graph_def()
assert "DropEveryDataset" in {node.op for function in message.library.function for node in function.node_def}
with tf.Graph().as_default():
    (element,) = tf.import_graph_def(message, return_elements=[element.name])
    with v1.Session() as session:
        assert [int(session.run(element)) for _ in range(5)] == [0, 1, 3, 4, 6]
print("works")
"""


def test_a_transformation_is_one_file(tmp_path):
    package = Path(tf.__file__).parent
    copy = tmp_path / "tapeflow"
    shutil.copytree(package, copy, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    file = copy / "data" / "transform" / "selecting.py"
    text = file.read_text()
    method, record = TRANSFORMATION.split("\n\n\n", 1)
    end = text.index("\n\n\n", text.index("class SelectingMethods:"))
    text = f"{text[:end]}\n\n{method}{text[end:]}"
    text = text.replace("boundaries(globals())", f"{record}\n\nboundaries(globals())")
    file.unlink()
    file.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", USE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == "works", run.stderr
