"""The rows that read and change variables: native and Python kernels against plain loops."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.state import rows as state
from tapeflow.ops.state import scatter_rows

EFFECTS = {
    "Update": lambda old, new: new,
    "Add": lambda old, new: old + new,
    "Sub": lambda old, new: old - new,
    "Mul": lambda old, new: old * new,
    "Div": lambda old, new: old / new,
    "Min": min,
    "Max": max,
}
START = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [7.0, 0.5, 9.0], [2.0, 2.0, 2.0]])
NEW = np.array([[2.0, 4.0, -1.0], [8.0, 0.5, 5.0], [0.25, -3.0, 1.0]])


@pytest.fixture(params=["as called", "Python"])
def run(request):
    """How to call a row: as everyone does, or with its Python kernel."""
    if request.param == "Python":
        return lambda row, *inputs, **attrs: row.call_python(*inputs, **attrs)
    return lambda row, *inputs, **attrs: row(*inputs, **attrs)


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scatter_repeats_what_an_index_repeats(run, name, dtype):
    v = tf.Variable(START.astype(dtype))
    expected = START.copy()
    rows = [3, 0, 3]
    for row, new in zip(rows, NEW, strict=True):
        for c in range(3):
            expected[row, c] = EFFECTS[name](expected[row, c], new[c])
    run(getattr(scatter_rows, f"ResourceScatter{name}"), v, np.array(rows), NEW.astype(dtype))
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", EFFECTS)
def test_scatter_of_one_number(run, name):
    v = tf.Variable(START)
    run(getattr(scatter_rows, f"ResourceScatter{name}"), v, np.array(2), np.float64(2.0))
    expected = START.copy()
    expected[2] = [EFFECTS[name](x, 2.0) for x in START[2]]
    np.testing.assert_allclose(v.numpy(), expected)


@pytest.mark.parametrize("name", ["Update", "Add", "Sub", "Min", "Max"])
def test_scatter_by_tuples(run, name):
    v = tf.Variable(START)
    at, new = [[0, 1], [3, 2], [0, 1]], [10.0, -7.0, 0.5]
    expected = START.copy()
    for (r, c), x in zip(at, new, strict=True):
        expected[r, c] = EFFECTS[name](expected[r, c], x)
    run(getattr(scatter_rows, f"ResourceScatterNd{name}"), v, np.array(at), np.array(new))
    np.testing.assert_allclose(v.numpy(), expected)


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize(
    ("index", "new"), [([4], NEW[:1]), ([-1], NEW[:1]), ([0, 1], NEW), ([0], NEW[:1, :2])]
)
def test_bad_scatter_changes_nothing(run, name, index, new):
    v = tf.Variable(START)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(getattr(scatter_rows, f"ResourceScatter{name}"), v, np.array(index), new)
    np.testing.assert_array_equal(v.numpy(), START)


def test_division_by_zero_of_whole_numbers(run):
    v = tf.Variable([6, -7])
    run(scatter_rows.ResourceScatterDiv, v, np.array([1]), np.array([2], np.int32))
    assert v.numpy().tolist() == [6, -3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(scatter_rows.ResourceScatterDiv, v, np.array([1]), np.array([0], np.int32))
    assert v.numpy().tolist() == [6, -3]


def test_assignments(run):
    v = tf.Variable([1.0, 2.0])
    run(state.AssignAddVariableOp, v, np.array([0.5, -1.0], np.float32))
    run(state.AssignSubVariableOp, v, np.array([1.0, 1.0], np.float32))
    assert v.numpy().tolist() == [0.5, 0.0]
    run(state.AssignVariableOp, v, np.array([3.0, 4.0], np.float32))
    assert v.numpy().tolist() == [3.0, 4.0]
    for row in (state.AssignAddVariableOp, state.AssignSubVariableOp):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(row, v, np.array([1.0, 2.0, 3.0], np.float32))
    assert v.numpy().tolist() == [3.0, 4.0]


def test_reads(run):
    v = tf.Variable(START)
    assert run(state.ReadVariableOp, v, dtype=tf.float64).numpy().tolist() == START.tolist()
    assert run(state.VarIsInitializedOp, v).numpy()
    assert run(state.VariableShape, v).numpy().tolist() == [4, 3]
    assert run(state.VariableShape, v, out_type=tf.int64).dtype == tf.int64
    index = np.array([2, 0])
    assert (run(state.ResourceGather, v, index, dtype=tf.float64).numpy() == START[index]).all()
    at = np.array([[2, 1], [0, 0]])
    assert run(state.ResourceGatherNd, v, at, dtype=tf.float64).numpy().tolist() == [0.5, 1.0]
    for row, bad in ((state.ResourceGather, [4]), (state.ResourceGatherNd, [[0, 3]])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(row, v, np.array(bad), dtype=tf.float64)


def test_slices_are_assigned(run):
    v = tf.Variable(START)
    new = np.array([[1.5], [2.5]])
    run(state.ResourceStridedSliceAssign, v, [0, 1], [4, 3], [2, 1], new)
    expected = START.copy()
    expected[0:4:2, 1:3] = new
    np.testing.assert_array_equal(v.numpy(), expected)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(state.ResourceStridedSliceAssign, v, [0, 0], [4, 3], [2, 1], np.ones((3, 3)))
    np.testing.assert_array_equal(v.numpy(), expected)


def test_other_dtype_is_refused(run):
    v = tf.Variable(START)
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
        run(state.AssignAddVariableOp, v, np.ones((4, 3), np.float32))
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
        run(scatter_rows.ResourceScatterAdd, v, np.array([0]), np.ones((1, 3), np.float32))
    np.testing.assert_array_equal(v.numpy(), START)


def test_whether_an_assignment_keeps_the_shape():
    v = tf.Variable([1.0, 2.0])
    tf.raw_ops.AssignVariableOp(resource=v.handle, value=tf.constant([1.0, 2.0, 3.0]), validate_shape=False)
    assert v.numpy().tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[3\] got \[2\]"):
        tf.raw_ops.AssignVariableOp(resource=v.handle, value=tf.constant([1.0, 2.0]), validate_shape=True)
