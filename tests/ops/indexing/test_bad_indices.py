"""`bad_indices_policy`: what lies outside is an error, or left out. The numbers are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
AT, NEW = [[0], [7], [-1]], [9.0, 8.0, 7.0]
OLD = [1.0, 2.0, 3.0]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda p: tf.gather_nd(OLD, AT, bad_indices_policy=p), [1, 0, 0]),
        (lambda p: tf.scatter_nd(AT, NEW, [3], bad_indices_policy=p), [9, 0, 0]),
        (lambda p: tf.tensor_scatter_nd_add(OLD, AT, NEW, bad_indices_policy=p), [10, 2, 3]),
        (lambda p: tf.tensor_scatter_nd_sub(OLD, AT, NEW, bad_indices_policy=p), [-8, 2, 3]),
        (lambda p: tf.tensor_scatter_nd_min(OLD, AT, NEW, bad_indices_policy=p), [1, 2, 3]),
        (lambda p: tf.tensor_scatter_nd_max(OLD, AT, NEW, bad_indices_policy=p), [9, 2, 3]),
    ],
)
def test_what_each_policy_does(function, expected, staged):
    call = (lambda p: tf.function(lambda: function(p))()) if staged else function
    assert call("IGNORE").numpy().tolist() == expected
    for policy in ("", "DEFAULT", "ERROR"):
        with pytest.raises(Invalid, match="does not index into"):
            call(policy)
    with pytest.raises(Invalid, match="Unknown bad indices handling attribute: x"):
        call("x")


ROWS = {
    "GatherNd": [1, 0, 0],
    "ScatterNd": [9, 0, 0],
    "TensorScatterUpdate": [9, 2, 3],
    "TensorScatterAdd": [10, 2, 3],
    "TensorScatterSub": [-8, 2, 3],
    "TensorScatterMin": [1, 2, 3],
    "TensorScatterMax": [9, 2, 3],
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_follow_the_policy(name):
    given = {
        "GatherNd": {"params": OLD, "indices": AT},
        "ScatterNd": {"indices": AT, "updates": NEW, "shape": [3]},
    }.get(name, {"tensor": OLD, "indices": AT, "updates": NEW})
    row = getattr(tf.raw_ops, name)
    assert row(**given, bad_indices_policy="IGNORE").numpy().tolist() == ROWS[name]
    with pytest.raises(Invalid, match="does not index into"):
        row(**given, bad_indices_policy="ERROR")


@pytest.mark.parametrize(
    ("name", "expected"),
    [(name.removeprefix("Tensor"), value) for name, value in ROWS.items() if name.startswith("Tensor")],
)
def test_rows_of_variables_follow_the_policy(name, expected):
    variable = tf.Variable(OLD)
    row = getattr(tf.raw_ops, name.replace("Scatter", "ResourceScatterNd"))
    with pytest.raises(Invalid, match="does not index into"):
        row(ref=variable.handle, indices=AT, updates=NEW)
    row(ref=variable.handle, indices=AT, updates=NEW, bad_indices_policy="IGNORE")
    assert variable.numpy().tolist() == expected


def test_rows_batches_and_texts():
    params = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.gather_nd(params, [[1], [2]], bad_indices_policy="IGNORE").numpy().tolist() == [[3, 4], [0, 0]]
    found = tf.gather_nd(params, [[1], [2]], batch_dims=1, bad_indices_policy="IGNORE")
    assert found.numpy().tolist() == [2, 0]
    assert tf.gather_nd(["a", "b"], [[1], [2]], bad_indices_policy="IGNORE").numpy().tolist() == [b"b", b""]


def test_gradients_of_what_is_left():
    x, new = tf.constant(OLD), tf.constant(NEW)
    with tf.GradientTape() as tape:
        tape.watch([x, new])
        read = tf.reduce_sum(tf.gather_nd(x, AT, bad_indices_policy="IGNORE"))
        y = read + 2 * tf.reduce_sum(tf.scatter_nd(AT, new, [3], bad_indices_policy="IGNORE"))
    dx, dnew = tape.gradient(y, [x, new])
    np.testing.assert_array_equal(tf.convert_to_tensor(dx), [1, 0, 0])
    np.testing.assert_array_equal(dnew, [2, 0, 0])
