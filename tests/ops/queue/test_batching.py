"""Calls of several threads that `Batch`, `Unbatch` and `nondifferentiable_batch_function` make one."""

import threading

import numpy as np
import pytest

import tapeflow as tf

raw = tf.raw_ops
MILLISECOND = 1000
LONG = 20_000_000


def in_threads(*functions):
    """The results of functions that run at the same time; errors in their place."""
    results = [None] * len(functions)

    def run(i):
        try:
            results[i] = functions[i]()
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a call still waits"
    return results


def batch(*tensors, most=4, timeout=LONG, name="batch", **more):
    joined, index, number = raw.Batch(
        in_tensors=list(tensors), num_batch_threads=1, max_batch_size=most, batch_timeout_micros=timeout,
        grad_timeout_micros=0, shared_name=name, **more,
    )  # fmt: skip
    assert len(joined) == len(tensors)
    return *joined, index, number


def test_a_full_batch_has_all_rows_and_belongs_to_one_call():
    calls = [lambda i=i: batch(tf.constant([[i]]), tf.constant([f"s{i}"]), most=3, name="full") for i in range(3)]
    results = in_threads(*calls)
    assert sorted(len(numbers) for numbers, _, _, _ in results) == [0, 0, 3]
    (numbers, texts, index, _) = next(r for r in results if len(r[0]))
    assert sorted(numbers.numpy().ravel()) == [0, 1, 2]
    assert [t.decode() for t in texts.numpy()] == [f"s{n}" for n in numbers.numpy().ravel()]
    ids = {int(r[3]) for r in results}
    assert {row[0] for row in index.numpy()} == ids
    assert [row[1:].tolist() for row in index.numpy()] == [[0, 1], [1, 2], [2, 3]]


def test_a_batch_goes_when_its_time_is_over_and_is_filled_up():
    numbers, index, _ = batch(
        tf.constant([5, 6]), most=10, timeout=5 * MILLISECOND, name="late", allowed_batch_sizes=[3, 10]
    )
    assert numbers.numpy().tolist() == [5, 6, 5]
    assert index.numpy()[:, 1:].tolist() == [[0, 2]]


def test_a_call_that_does_not_fit_begins_the_next_batch():
    first, second = in_threads(
        lambda: batch(tf.range(3), most=4, timeout=50 * MILLISECOND, name="next"),
        lambda: batch(tf.range(10, 13), most=4, timeout=50 * MILLISECOND, name="next"),
    )
    assert {tuple(first[0].numpy()), tuple(second[0].numpy())} == {(0, 1, 2), (10, 11, 12)}


def test_unbatch_gives_each_call_its_rows():
    def call(x):
        joined, index, number = batch(tf.constant(x), most=5, name="both")
        return raw.Unbatch(
            batched_tensor=joined * 10, batch_index=index, id=number, timeout_micros=LONG, shared_name="both back"
        )

    a, b = in_threads(lambda: call([1, 2]), lambda: call([3, 4, 5]))
    assert a.numpy().tolist() == [10, 20]
    assert b.numpy().tolist() == [30, 40, 50]


def test_gradients_of_parts_are_joined_for_the_call_that_has_the_batch():
    def call(x):
        joined, index, number = batch(tf.constant(x), most=3, name="gradients")
        return joined, raw.UnbatchGrad(
            original_input=joined, batch_index=index, grad=tf.constant(x) + 0.5, id=number, shared_name="gradients back"
        )

    for joined, gradient in in_threads(lambda: call([1.0, 2.0]), lambda: call([3.0])):
        np.testing.assert_array_equal(gradient, joined + 0.5)


def test_a_part_that_does_not_come_ends_the_wait():
    with pytest.raises(tf.errors.DeadlineExceededError, match="within timeout window"):
        raw.Unbatch(
            batched_tensor=tf.zeros([0]), batch_index=np.zeros([0, 3], np.int64), id=np.int64(-1),
            timeout_micros=MILLISECOND, shared_name="alone",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("tensors", "more", "message"),
    [
        ([[1], [1, 2]], {}, "must have equal 0th-dimension size"),
        ([3], {}, "at least one dimension"),
        ([[1] * 5], {}, "larger than maximum input batch size 4"),
        ([[1]], {"allowed_batch_sizes": [2, 3]}, "must equal max_batch_size"),
        ([[1]], {"allowed_batch_sizes": [4, 4]}, "monotonically increasing"),
    ],
)
def test_bad_batches(tensors, more, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        batch(*map(tf.constant, tensors), name="bad", **more)


def test_in_a_session_a_node_keeps_its_batch():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32, [1])
        (numbers,), index, number = raw.Batch(
            in_tensors=[x], num_batch_threads=1, max_batch_size=2, batch_timeout_micros=LONG, grad_timeout_micros=0
        )
        assert numbers.shape.as_list() == [None]
        assert index.shape.as_list() == [None, 3]
        back = raw.Unbatch(batched_tensor=numbers + 1, batch_index=index, id=number, timeout_micros=LONG)
        found = in_threads(*(lambda i=i: session.run(back, {x: [i]}) for i in (4, 7)))
        assert [y.tolist() for y in found] == [[5], [8]]


def test_closing_a_session_ends_its_waits():
    with tf.Graph().as_default():
        session = tf.compat.v1.Session()
        (numbers,), _, _ = raw.Batch(
            in_tensors=[tf.constant([1])], num_batch_threads=1, max_batch_size=2, batch_timeout_micros=LONG,
            grad_timeout_micros=0,
        )  # fmt: skip
        threading.Timer(0.2, session.close).start()
        with pytest.raises(tf.errors.CancelledError):
            session.run(numbers)


def test_batch_function_runs_once_for_all_calls():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 4, LONG)
    def scaled(x, y):
        tf.py_function(lambda n: sizes.append(int(n)), [tf.shape(x)[0]], [])
        return {"sum": x + y * factor}

    factor = tf.constant(10.0)
    a, b = in_threads(
        lambda: scaled(tf.constant([1.0]), tf.constant([2.0])),
        lambda: scaled(tf.constant([3.0, 4.0, 5.0]), tf.constant([0.0, 1.0, 2.0])),
    )
    assert a["sum"].numpy().tolist() == [21.0]
    assert b["sum"].numpy().tolist() == [3.0, 14.0, 25.0]
    assert sizes == [4]


def test_batch_function_of_a_graph_takes_placeholders_from_outside():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        more = tf.compat.v1.placeholder_with_default(2, [])
        x = tf.compat.v1.placeholder(tf.int32, [1, 1])

        @tf.nondifferentiable_batch_function(1, 2, LONG)
        def flat(x):
            return tf.reshape(x, [-1]) + more

        y = flat(x)
        found = in_threads(*(lambda i=i: session.run(y, {x: [[i]]}) for i in (1, 2)))
        assert [v.tolist() for v in found] == [[3], [4]]


def test_an_error_of_a_batch_is_everyones():
    @tf.nondifferentiable_batch_function(1, 2, LONG)
    def bad(x):
        return tf.gather(x, [7, 8])

    errors = in_threads(lambda: bad(tf.constant([1])), lambda: bad(tf.constant([2])))
    assert all(isinstance(e, tf.errors.InvalidArgumentError) for e in errors)


def test_an_error_of_python_is_everyones():
    @tf.nondifferentiable_batch_function(1, 2, LONG)
    def bad(x):
        return tf.py_function(lambda y: y * (1 // 0), [x], tf.float32)

    errors = in_threads(lambda: bad(tf.constant([1.0])), lambda: bad(tf.constant([2.0])))
    assert [isinstance(e, Exception) for e in errors] == [True, True]


def test_calls_of_a_batch_have_as_many_inputs():
    def call(*inputs):
        return lambda: tf.raw_ops.Batch(
            in_tensors=list(inputs), num_batch_threads=1, max_batch_size=2, batch_timeout_micros=300_000,
            grad_timeout_micros=0, shared_name="differ",
        )  # fmt: skip

    x = tf.constant([1.0])
    results = in_threads(call(x), call(x, x))
    assert sum(isinstance(r, tf.errors.InvalidArgumentError) for r in results) == 1


def test_two_calls_wait_for_one_part():
    def call():
        return tf.raw_ops.Unbatch(
            batched_tensor=tf.zeros([0]), batch_index=tf.zeros([0, 3], tf.int64), id=tf.constant(77, tf.int64),
            timeout_micros=200_000, shared_name="two",
        )  # fmt: skip

    assert all(isinstance(r, tf.errors.DeadlineExceededError) for r in in_threads(call, call))


def test_results_must_have_the_rows_of_the_batch():
    @tf.nondifferentiable_batch_function(1, 1, LONG)
    def bad(x):
        return tf.reduce_sum(x)

    with pytest.raises(tf.errors.InvalidArgumentError, match="0th dimension"):
        bad(tf.constant([1]))


def test_batch_function_takes_a_concrete_function():
    with pytest.raises(TypeError, match="'f' is a concrete function, not <function"):
        raw.BatchFunction(
            in_tensors=[tf.ones([2])], captured_tensors=[], f=lambda x: x, num_batch_threads=1, max_batch_size=4,
            batch_timeout_micros=MILLISECOND, Tout=[tf.float32],
        )  # fmt: skip
