"""TensorArray in graphs: through loops, branches and functions, with gradients. Expected numbers are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf


def numbers(value):
    return tf.nest.map_structure(lambda v: np.asarray(v).tolist(), value)


def slope(function, x, *args):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x, *args))
    return numbers(tape.gradient(y, x))


def test_writes_and_stack():
    shapes = []

    @tf.function
    def squares(x):
        array = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            array = array.write(i, x[i] ** 2)
        shapes.append(array.stack().shape.as_list())
        return array.stack() * [1.0, 2.0, 3.0]

    x = tf.constant([1.0, 2.0, 3.0])
    assert numbers(squares(x)) == [1, 8, 27]
    assert shapes == [[3]]
    assert slope(squares, x) == [2, 8, 18]


def test_loop_that_grows_an_array():
    @tf.function
    def powers(x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        start = [tf.constant(0), array, tf.constant(1.0)]
        return tf.while_loop(
            lambda i, t, s: i < 5, lambda i, t, s: (i + 1, t.write(i, s * x), s * x), start
        )[1].stack()

    x = tf.constant(2.0)
    assert numbers(powers(x)) == [2, 4, 8, 16, 32]
    assert slope(powers, x) == 129


def test_loop_that_reads_an_array():
    @tf.function
    def products(x):
        source = tf.TensorArray(tf.float32, 4).unstack(x)
        array = tf.TensorArray(tf.float32, 4)
        start = [tf.constant(0), array]
        array = tf.while_loop(
            lambda i, t: i < 4,
            lambda i, t: (i + 1, t.write(i, source.read(i) * source.read(0))),
            start,
        )[1]
        return array.stack() * [1.0, 2.0, 3.0, 4.0]

    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    assert numbers(products(x)) == [1, 4, 9, 16]
    assert slope(products, x) == [31, 2, 3, 4]


def test_both_orders_through_a_loop_that_reads_what_it_wrote():
    @tf.function
    def fibonacci(x):
        array = tf.TensorArray(tf.float32, 6, element_shape=[]).write(0, x).write(1, x * x)
        return tf.while_loop(
            lambda i, t: i < 6,
            lambda i, t: (i + 1, t.write(i, t.read(i - 1) * t.read(i - 2))),
            [tf.constant(2), array],
        )[1].stack()

    x = tf.constant(1.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(fibonacci(x))
        first = tape.gradient(y, x)
    assert float(first) == pytest.approx(1859.452392578125)
    assert float(outer.gradient(first, x)) == pytest.approx(14209.9931640625)


def test_loop_in_a_loop():
    @tf.function
    def sums(x):
        def outer(i, t):
            u = tf.TensorArray(tf.float32, 2, element_shape=[])
            u = tf.while_loop(
                lambda j, u: j < 2,
                lambda j, u: (j + 1, u.write(j, x * tf.cast(i + j, tf.float32))),
                [0, u],
            )[1]
            return i + 1, t.write(i, tf.reduce_sum(u.stack() ** 2))

        array = tf.TensorArray(tf.float32, 3, element_shape=[])
        return tf.while_loop(lambda i, t: i < 3, outer, [0, array])[1].stack()

    x = tf.constant(2.0)
    assert numbers(sums(x)) == [4, 20, 52]
    assert slope(sums, x) == 76


@pytest.mark.parametrize(("pred", "values", "dx"), [(True, [2, 0], 1), (False, [2, 6], 4)])
def test_branches(pred, values, dx):
    @tf.function
    def either(x, pred):
        array = tf.TensorArray(tf.float32, 2)
        return tf.cond(
            pred, lambda: array.write(0, x), lambda: array.write(1, x * 3).write(0, x)
        ).stack()

    x = tf.constant(2.0)
    assert numbers(either(x, tf.constant(pred))) == values
    assert slope(either, x, tf.constant(pred)) == dx


def test_branch_in_a_loop():
    @tf.function
    def some(x):
        def body(i, t):
            return i + 1, tf.cond(i % 2 == 0, lambda: t.write(i, x * x), lambda: t)

        array = tf.TensorArray(tf.float32, 4, element_shape=[])
        return tf.while_loop(lambda i, t: i < 4, body, [0, array])[1].stack()

    x = tf.constant(3.0)
    assert numbers(some(x)) == [9, 0, 9, 0]
    assert slope(some, x) == 12


def test_autograph():
    @tf.function
    def some(x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(3):
            if i > 0:
                array = array.write(i, x[i] * 2)
            else:
                array = array.write(i, x[i])
        return array.stack() ** 2

    x = tf.constant([1.0, 2.0, 3.0])
    assert numbers(some(x)) == [1, 16, 36]
    assert slope(some, x) == [2, 16, 24]


def test_all_the_other_methods():
    @tf.function
    def everything(x):
        parts = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 3])
        rows = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], tf.reshape(x, [3, 2]))
        sized = tf.TensorArray(tf.float32, tf.shape(x)[0])
        return (
            parts.concat(), parts.read(1), rows.stack(), rows.gather([1, 1, 0]), rows.size(), sized.size(),
            rows.identity().read(0),
        )  # fmt: skip

    x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert numbers(everything(x)) == (
        [1, 2, 3, 4, 5, 6], [2, 3], [[3, 4], [5, 6], [1, 2]], [[5, 6], [5, 6], [3, 4]], 3, 6, [3, 4],
    )  # fmt: skip
    # What is gathered twice counts twice.
    assert slope(lambda x: everything(x)[3], x) == [0, 0, 1, 1, 2, 2]


def test_shapes_that_only_the_run_tells():
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def squares(x):
        array = tf.TensorArray(tf.float32, tf.shape(x)[0])
        array = tf.while_loop(
            lambda i, t: i < tf.shape(x)[0],
            lambda i, t: (i + 1, t.write(i, x[i] * x[i])),
            [0, array],
        )[1]
        shapes.append(array.stack().shape.as_list())
        return array.stack()

    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert numbers(squares(x)) == [[1, 4], [9, 16], [25, 36]]
    assert slope(squares, x) == [[2, 4], [6, 8], [10, 12]]
    assert shapes == [[None, None]]


def test_strings():
    @tf.function
    def words():
        array = tf.TensorArray(tf.string, 2).write(0, "a").write(1, "b")
        return array.stack(), array.read(0)

    assert numbers(words()) == ([b"a", b"b"], b"a")


def test_session():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None])
        source = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
        array = tf.TensorArray(tf.float32, tf.shape(x)[0])
        _, array = tf.compat.v1.while_loop(
            lambda i, o: i < tf.shape(x)[0],
            lambda i, o: (i + 1, o.write(i, source.read(i) * 2.0)),
            [0, array],
        )
        y = array.stack()
        (dx,) = tf.compat.v1.gradients(y, x)
        with tf.compat.v1.Session() as session:
            got = session.run([y, dx, array.size()], {x: [1.0, 2.0, 3.0]})
    assert numbers(got) == [[2, 4, 6], [2, 2, 2], 3]


def test_goes_into_functions_and_comes_out():
    traces = []

    @tf.function
    def write(array, x):
        traces.append(1)
        return array.write(1, x * 2)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = write(tf.TensorArray(tf.float32, 2).write(0, x * x), x)
        y = tf.reduce_sum(array.stack() * [1.0, 10.0])
    assert float(y) == 69
    assert float(tape.gradient(y, x)) == 26
    assert int(write(tf.TensorArray(tf.float32, 3).write(0, x), x).size()) == 3
    assert len(traces) == 1
    write(tf.TensorArray(tf.float32, 3, element_shape=[1]), tf.constant([3.0]))
    assert len(traces) == 2


def test_function_that_is_called_in_a_loop():
    @tf.function
    def write(array, i):
        return array.write(i, tf.cast(i, tf.float32))

    @tf.function
    def numbers_to(n):
        array = tf.TensorArray(tf.float32, n)
        for i in tf.range(n):
            array = write(array, i)
        return array.stack()

    assert numbers(numbers_to(tf.constant(3))) == [0, 1, 2]


def test_array_from_outside():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False).write(0, x * x).write(1, x)

        @tf.function
        def read(i):
            return array.read(i) * 2.0 + array.stack()[1]

        y = read(tf.constant(0))
    assert float(y) == 21
    assert float(tape.gradient(y, x)) == 13


def test_composite():
    (flow,) = tf.nest.flatten(tf.TensorArray(tf.float32, 2).write(0, 1.0), expand_composites=True)
    assert flow.dtype == tf.variant
    array = tf.TensorArray(tf.float32, flow=flow, element_shape=[])
    assert numbers(array.stack()) == [1, 0]


def test_spec():
    array = tf.TensorArray(tf.float32, 2, element_shape=[2])
    spec = tf.TensorArraySpec([2])
    assert repr(spec) == "TensorArraySpec(TensorShape([2]), tf.float32, False, True)"
    assert spec == tf.TensorArraySpec.from_value(array)
    assert hash(spec) == hash(tf.TensorArraySpec([2]))
    assert spec.value_type is tf.TensorArray
    assert spec.is_compatible_with(array)
    assert not tf.TensorArraySpec([3]).is_compatible_with(array)
    assert tf.TensorArraySpec([None]).is_subtype_of(tf.TensorArraySpec())
    with pytest.raises(TypeError, match="Expected value to be a TensorArray"):
        tf.TensorArraySpec.from_value(1)


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda: tf.TensorArray(tf.float32).size(), ValueError, "`size` must be provided"),
        (
            lambda: tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, [2.0]).stack(),
            ValueError,
            r"Inconsistent shapes: saw \(1,\) but expected \(\)",
        ),
        (
            lambda: tf.TensorArray(tf.float32, 2).write(0, tf.constant(1)).stack(),
            tf.errors.InvalidArgumentError,
            "TensorArray dtype is float32 but Op is trying to write dtype int32",
        ),
        (
            lambda: tf.TensorArray(tf.float32, 2).write(2, 1.0).stack(),
            tf.errors.InvalidArgumentError,
            "Trying to modify element 2 in a list with 2 elements",
        ),
        (
            lambda: tf.TensorArray(tf.float32, 2).stack(),
            tf.errors.InvalidArgumentError,
            "only contains uninitialized tensors",
        ),
        (
            lambda: tf.TensorArray(tf.float32, -1).stack(),
            tf.errors.InvalidArgumentError,
            "must be a non negative number, but got -1",
        ),
        (
            lambda: tf.TensorArray(tf.float32, 2).unstack(5.0).stack(),
            ValueError,
            "unstack a scalar",
        ),
        (lambda: tf.TensorArray(tf.float32, 2).grad("x"), NotImplementedError, "grad"),
        (
            lambda: tf.TensorArray(tf.float32, flow=tf.constant(0.0)).size(),
            TypeError,
            "must be a variant tensor",
        ),
    ],
)
def test_errors(function, error, text):
    with pytest.raises(error, match=text):
        tf.function(function)()
