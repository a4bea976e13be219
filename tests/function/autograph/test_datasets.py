"""Loops over datasets and their iterators in a graph."""

import numpy as np
import pytest

import tapeflow as tf


def listed(x):
    return np.asarray(x).tolist()


def ten_times(v):
    return v * 10


def loop_count(f, *args):
    operations = f.get_concrete_function(*args).graph.get_operations()
    return sum(op.type in ("While", "StatelessWhile") for op in operations)


def test_over_a_dataset():
    dataset = tf.data.Dataset.range(5)

    @tf.function
    def f():
        x = tf.constant(0, tf.int64)
        for v in dataset:
            x = x * 10 + v
        return x

    assert [listed(f()) for _ in range(2)] == [1234, 1234]
    assert loop_count(f) == 1


def test_dataset_as_argument():
    @tf.function
    def f(dataset, scale):
        x = tf.constant(0, tf.int64)
        for v in dataset:
            x += v * scale
        return x

    scale = tf.constant(2, tf.int64)
    assert listed(f(tf.data.Dataset.range(5), scale)) == 20
    assert listed(f(tf.data.Dataset.range(3), scale)) == 6


def test_structures_and_unknown_sizes():
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(5.0), {"y": np.ones([5, 2])})).batch(2)

    @tf.function
    def f():
        total, rows = tf.constant(0.0, tf.float64), 0
        for x, parts in dataset:
            total += tf.reduce_sum(x) + tf.reduce_sum(parts["y"])
            rows += tf.shape(x)[0]
        return total, rows

    assert [listed(v) for v in f()] == [20.0, 5]


def test_leaving_an_endless_dataset():
    dataset = tf.data.Dataset.range(10).repeat()

    @tf.function
    def f(limit):
        x = tf.constant(0, tf.int64)
        for v in dataset:
            if x > limit:
                break
            x += v
        return x

    assert listed(f(tf.constant(12, tf.int64))) == 15


def test_returning_from_the_loop():
    dataset = tf.data.Dataset.range(10)

    @tf.function
    def f(limit):
        for v in dataset:
            if v * v > limit:
                return v
        return tf.constant(-1, tf.int64)

    assert [listed(f(tf.constant(n, tf.int64))) for n in (10, 1000)] == [4, -1]


def test_enumerate_zip_and_map():
    dataset = tf.data.Dataset.range(4)

    @tf.function
    def f():
        x = tf.constant(0, tf.int64)
        for i, (a, b) in enumerate(zip(dataset, map(ten_times, dataset))):
            x += i * (a + b)
        return x

    assert listed(f()) == sum(i * 11 * i for i in range(4))


def test_iterators_go_on_where_they_are():
    iterator = iter(tf.data.Dataset.range(6))

    @tf.function
    def first():
        return next(iterator)

    @tf.function
    def some():
        x = tf.constant(0, tf.int64)
        for v in iterator:
            if v == 3:
                break
            x += v
        return x

    assert listed(first()) == 0
    assert listed(some()) == 3
    assert [listed(first()) for _ in range(2)] == [4, 5]
    with pytest.raises(tf.errors.OutOfRangeError):
        first()


def test_next_with_a_default():
    iterator = iter(tf.data.Dataset.range(1))

    @tf.function
    def f():
        return next(iterator, tf.constant(-1, tf.int64))

    assert [listed(f()) for _ in range(2)] == [0, -1]


def test_methods_of_iterators():
    iterator = iter(tf.data.Dataset.range(3))

    @tf.function
    def f():
        return iterator.get_next()

    @tf.function
    def g():
        item = iterator.get_next_as_optional()
        if item.has_value():
            return item.get_value()
        return tf.constant(-1, tf.int64)

    assert [listed(f()), listed(f()), listed(g()), listed(g())] == [0, 1, 2, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        tf.function(lambda: iterator.get_next_as_optional().get_value())()


def test_length():
    dataset = tf.data.Dataset.range(7)
    assert listed(tf.function(lambda: len(dataset))()) == 7
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError), match="definitive and finite cardinality"
    ):
        tf.function(lambda: len(dataset.repeat()))()


def test_training_over_a_dataset():
    w = tf.Variable([0.0])
    x = np.array([[1.0], [2.0]], np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, 3 * x)).repeat(40)

    @tf.function
    def train():
        loss = 0.0
        for features, labels in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((features * w - labels) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    assert float(train()) < 1e-6


def test_a_loop_over_a_dataset_in_unconverted_code_is_refused():
    @tf.function(autograph=False)
    def counted(dataset):
        count = 0
        for _ in dataset:
            count += 1
        return count

    with pytest.raises(ValueError, match="AutoGraph"):
        counted(tf.data.Dataset.range(3))


def test_converted_code_takes_as_many_elements_as_it_likes():
    @tf.function
    def total(iterator):
        found = tf.constant(0, tf.int64)
        for _ in range(40):
            found += next(iterator)
        return found

    assert total(iter(tf.data.Dataset.range(50))).numpy() == sum(range(40))


def test_shapes_vary_in_a_loop_over_a_dataset_but_not_over_an_iterator():
    @tf.function
    def last(elements):
        found = tf.constant([1])
        for _ in elements:
            found = tf.constant([1, 1])
        return found

    dataset = tf.data.Dataset.range(3)
    assert last(dataset).numpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"'found' has shape \(1,\) before the loop, but shape \(2,\) after"):
        last(iter(dataset))
