"""Placeholders of sparse tensors: what may be said of their shapes, their names, and what is fed for them."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import context

v1 = tf.compat.v1
WHOLE = v1.SparseTensorValue([[0, 1]], [2.0], [3, 4])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("shape", "static"),
    [
        ((3, 4), [3, 4]),
        ([None, 4], [None, 4]),
        ((-1, 4), [None, 4]),
        (np.array([3, 4]), [3, 4]),
        (tf.TensorShape([3, None]), [3, None]),
        (lambda: tf.constant([3, 4], tf.int64), [3, 4]),
        (lambda: v1.placeholder_with_default(np.array([3, 4]), [2]), [None, None]),
    ],
)
def test_shapes(shape, static):
    x = v1.sparse_placeholder(tf.float32, shape() if callable(shape) else shape)
    assert x.shape.as_list() == static
    assert x.dense_shape.op.type == "PlaceholderWithDefault"
    assert [y.shape.as_list() for y in (x.indices, x.values)] == [[None, 2], [None]]
    with v1.Session() as session:
        found = session.run(x, {x: WHOLE})
    assert found.dense_shape.tolist() == [3, 4]
    assert found.values.tolist() == [2]


@pytest.mark.parametrize("shape", [(3, 4), np.array([3, 4]), lambda: tf.constant([3, 4], tf.int64)])
def test_known_shapes_need_not_be_fed(shape):
    x = v1.sparse_placeholder(tf.float32, shape() if callable(shape) else shape)
    with v1.Session() as session:
        found = session.run(x * 2.0, {x: ([[0, 1]], [2.0])})
    assert found.dense_shape.tolist() == [3, 4]
    assert found.values.tolist() == [4]


def test_unknown_shapes_are_fed():
    x = v1.sparse_placeholder(tf.float32)
    assert x.shape.rank is None
    with v1.Session() as session:
        assert session.run(x, {x: WHOLE}).dense_shape.tolist() == [3, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
            session.run(x, {x: ([[0, 1]], [2.0])})


def test_names():
    x = v1.sparse_placeholder(tf.float32, name="x")
    y = v1.sparse_placeholder(tf.float32, [2, None], name="x")
    z = v1.sparse_placeholder(tf.float32)
    assert [t.op.name for t in (x.indices, x.values, x.dense_shape)] == ["x/indices", "x/values", "x/shape"]
    assert [t.op.name for t in (y.indices, y.values, y.dense_shape)] == ["x/indices_1", "x/values_1", "x/shape_1"]
    names = [t.op.name for t in (z.dense_shape, z.values, z.indices)]
    assert names == ["Placeholder", "Placeholder_1", "Placeholder_2"]


def test_eager_execution():
    with context.eager_mode(), pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.sparse_placeholder(tf.float32)
