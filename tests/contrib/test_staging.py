"""tf.contrib.staging, nccl, memory_stats, compiler, input_pipeline and libsvm."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import libsvm, memory_stats, nccl
from tapeflow.contrib.compiler import jit, xla
from tapeflow.contrib.input_pipeline.input_pipeline_ops import obtain_next, seek_next
from tapeflow.contrib.staging import StagingArea
from tapeflow.core import context


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_an_element_waits_until_it_is_taken():
    area = StagingArea([tf.float32, tf.int32], shapes=[[2], []], names=["x", "n"])
    put = area.put({"x": [1.0, 2.0], "n": tf.placeholder_with_default(3, [])})
    got, size, first = area.get(), area.size(), area.peek(0)
    assert got["x"].shape == [2]
    assert got["n"].shape == []
    with tf.Session() as session:
        session.run(put)
        assert session.run(size) == 1
        assert session.run(first)["n"] == 3
        np.testing.assert_equal(session.run(got), {"x": np.float32([1, 2]), "n": 3})
        session.run(put)
        session.run(area.clear())
        assert session.run(size) == 0


def test_areas_of_one_name_are_one():
    put = StagingArea([tf.float32], shared_name="it").put(5.0)
    got = StagingArea([tf.float32], shared_name="it").get()
    with tf.Session() as session:
        session.run(put)
        assert session.run(got) == [5.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], "Unexpected number of inputs '1' vs '2'"),
        ([1.0, tf.float32], "Failed to convert|Expected int32|TypeError|convert"),
        ({"a": 1.0}, "must have names"),
    ],
)
def test_other_elements_are_refused(values, message):
    with pytest.raises((ValueError, TypeError), match=message):
        StagingArea([tf.float32, tf.int32]).put(values)


def test_other_dtypes_are_refused():
    with pytest.raises(ValueError, match="Datatypes do not match"):
        StagingArea([tf.float32]).put(tf.constant(1.0, tf.float64))


def test_lists_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="names must be the same length"):
        StagingArea([tf.float32], names=["a", "b"])
    with pytest.raises(ValueError, match="shared_name must be a string"):
        StagingArea([tf.float32], shared_name=3)


@pytest.mark.parametrize(
    ("combine", "want"), [(nccl.all_sum, 9.0), (nccl.all_prod, 24.0), (nccl.all_min, 2.0), (nccl.all_max, 4.0)]
)
def test_values_of_devices_are_combined(combine, want):
    with tf.device("/cpu:0"):
        values = [tf.constant(v) for v in (2.0, 3.0, 4.0)]
    with tf.Session() as session:
        assert session.run(combine(values)) == [want] * 3


def test_a_sum_over_devices_has_a_gradient():
    with tf.device("/cpu:0"):
        values = [tf.constant(2.0), tf.constant(3.0)]
    gradients = tf.gradients(nccl.all_sum(values), values, grad_ys=[tf.constant(1.0), tf.constant(5.0)])
    with tf.Session() as session:
        assert session.run(gradients) == [6.0, 6.0]
        assert session.run(nccl.reduce_sum(values)) == 5.0
        assert session.run(nccl.broadcast(values[1])) == 3.0


def test_a_device_is_needed():
    with pytest.raises(ValueError, match="required for nccl collective ops"):
        nccl.all_sum([tf.constant(1.0)])
    with pytest.raises(ValueError, match="Must pass >0 tensors"):
        nccl.all_sum([])


def test_memory_in_use_grows_with_tensors():
    with tf.Session() as session:
        before, limit = session.run([memory_stats.BytesInUse(), memory_stats.BytesLimit()])
        with context.eager_mode():
            kept = tf.zeros([1 << 20]) + 1.0
        after, peak = session.run([memory_stats.BytesInUse(), memory_stats.MaxBytesInUse()])
    assert after - before >= kept.shape[0] * 4
    assert after <= peak <= limit


def test_the_next_string_goes_around():
    counter = tf.get_variable("counter", initializer=tf.constant(-1, tf.int64), trainable=False)
    step = obtain_next(["a", "b"], counter)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(step) for _ in range(3)] == [b"a", b"b", b"a"]


def test_rounds_end():
    step = seek_next(["a", "b", "c"], shuffle=True, seed=3, num_epochs=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = [session.run(step) for _ in range(6)]
        assert sorted(got[:3]) == sorted(got[3:]) == [b"a", b"b", b"c"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(step)


@pytest.mark.parametrize("line", ["", "x 1:2", "1 2", "1 x:2", "1 -1:2", "1 1:y", "1.5", "1 99999999999999999999:1"])
def test_lines_that_are_not_libsvm_are_refused(line):
    features, _ = libsvm.decode_libsvm([line], 6)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(features)


def test_numbers_of_features_are_checked():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="number of features"):
        session.run(libsvm.decode_libsvm(["1 1:2"], 0)[1])


def test_lines_of_libsvm_in_a_graph():
    lines = tf.placeholder(tf.string, [None, 1])
    features, labels = libsvm.decode_libsvm(lines, 5, dtype=tf.float64, label_dtype=tf.float32)
    assert labels.shape.as_list() == [None, 1]
    with tf.Session() as session:
        got, classes = session.run([tf.sparse_tensor_to_dense(features), labels], {lines: [["1.5 0:2 4:3"], ["-1"]]})
    np.testing.assert_array_equal(got, [[[2, 0, 0, 0, 3]], [[0] * 5]])
    np.testing.assert_array_equal(classes, np.float32([[1.5], [-1]]))


@pytest.mark.xla
def test_a_compiled_computation():
    def step(x, y):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        return x * y + v, tf.no_op()

    (out,) = xla.compile(step, [2.0, tf.constant(3.0)])
    mul = next(op for op in out.graph.get_operations() if op.type == "Mul")
    assert mul.get_attr("_xla_compile_id").startswith(b"cluster")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(out) == 7.0


@pytest.mark.xla
def test_structures_of_a_compiled_computation():
    out = xla.compile(lambda x: {"a": x, "b": [x + 1.0]}, [1.0])
    with tf.Session() as session:
        assert session.run(out) == {"a": 1.0, "b": [2.0]}
    assert isinstance(xla.compile(lambda: tf.no_op()), tf.Operation)


def test_what_a_compiled_computation_may_return():
    with pytest.raises(ValueError, match="followed by zero or more Operations"):
        xla.compile(lambda: (tf.no_op(), tf.constant(1.0)))
    with pytest.raises(ValueError, match="non-flat output structure"):
        xla.compile(lambda: {"a": tf.no_op()})
    with pytest.raises(TypeError, match="inputs must be a list"):
        xla.compile(lambda x: x, 3)


@pytest.mark.parametrize(
    ("function", "count", "want"),
    [
        (lambda a, b: 0, 2, None), (lambda a, b: 0, 1, "exactly 2 arguments"),
        (lambda a, b=1: 0, 0, "at least 1 argument"),
        (lambda a, b=1: 0, 3, "at most 2 arguments"), (lambda a, *b: 0, 9, None),
        (lambda a: 0, 2, "exactly 1 argument"),
    ],
)  # fmt: skip
def test_counts_of_arguments(function, count, want):
    assert xla.check_function_argument_count(function, count, None) == want


@pytest.mark.xla
def test_a_compiled_model_trains():
    @xla.estimator_model_fn
    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean((features * w - labels) ** 2)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    tf.train.create_global_step()
    spec = model_fn(tf.constant([1.0]), tf.constant([2.0]), tf.estimator.ModeKeys.TRAIN, {})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(spec.train_op) for _ in range(5)]
    assert losses[0] == 4.0
    assert losses[-1] < losses[0]


def test_marks_of_a_scope():
    with jit.experimental_jit_scope():
        made = tf.constant(1.0) + 1.0
    assert made.op.get_attr("_XlaCompile") is True
