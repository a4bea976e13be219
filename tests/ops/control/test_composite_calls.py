"""`py_function` of ragged and sparse tensors, eagerly and in functions."""

import pytest

import tapeflow as tf

RAGGED = tf.RaggedTensorSpec([None, None], tf.float32)
SPARSE = tf.SparseTensorSpec([None, 2], tf.float32)


def _rows(values):
    return tf.RaggedTensor.from_row_splits(values, [0, 2, 3])


@pytest.fixture(params=["eager", "traced"])
def run(request):
    return tf.function if request.param == "traced" else lambda f: f


def test_composites_go_in_and_out(run):
    @run
    def f(values):
        rows = _rows(values)
        doubled, count, sparse = tf.py_function(
            lambda x: (x * 2, x.nrows(), x.to_sparse()), [rows], [RAGGED, tf.int64, SPARSE]
        )
        assert doubled.shape.as_list()[1:] == [None]
        total = tf.py_function(lambda x, y: tf.sparse.reduce_sum(x) + y, [sparse, 1.0], tf.TensorSpec([], tf.float32))
        assert total.shape == []
        return doubled, count, total

    doubled, count, total = f(tf.constant([1.0, 2.0, 3.0]))
    assert doubled.to_list() == [[2, 4], [6]]
    assert count.numpy() == 2
    assert total.numpy() == 7


def test_gradients_pass_through(run):
    v = tf.Variable([1.0, 2.0, 3.0])
    square = run(lambda: tf.py_function(lambda x: x * x, [_rows(v)], RAGGED).flat_values)
    with tf.GradientTape() as tape:
        y = square()
    assert tape.gradient(y, v).numpy().tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("result", "promised"),
    [
        (lambda x: 3.0, RAGGED),
        (lambda x: x, tf.float32),
        (lambda x: x, tf.RaggedTensorSpec([None, None], tf.int32)),
        (lambda x: x, SPARSE),
        (lambda x: (x, x), [RAGGED]),
    ],
)
def test_other_results_than_promised_raise(run, result, promised):
    call = run(lambda: tf.py_function(result, [_rows([1.0, 2.0, 3.0])], promised))
    with pytest.raises(tf.errors.InvalidArgumentError, match="which did not match Tout="):
        call()


def test_nothing_is_promised(run):
    seen = []

    @run
    def f():
        tf.py_function(lambda x: seen.append(x.to_list()), [_rows([1.0, 2.0, 3.0])], [])

    f()
    assert seen == [[[1, 2], [3]]]
