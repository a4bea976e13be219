"""Variables of classes that say what reading gives: they wrap another one, or read in their own way."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.compat.v1 as tf1
from tapeflow.core.display.printing import numpy_text, value_text

X = [[1.0, 2.0], [3.0, 4.0]]


class Wrapping(tf.Variable):
    """Twice the value of another variable; what it does not define is that one's."""

    def __init__(self, variable):
        self.wrapped = variable

    def _twice(self, x):
        return x * 2.0

    def value(self):
        return self._twice(self.wrapped.value())

    def read_value(self):
        return self._twice(self.wrapped.read_value())

    def numpy(self):
        return self.read_value().numpy()

    def sparse_read(self, *args, **kwargs):
        return self._twice(self.wrapped.sparse_read(*args, **kwargs))

    def _dense_var_to_tensor(self, *args, **kwargs):
        return self._twice(self.wrapped._dense_var_to_tensor(*args, **kwargs))

    def __tf_tensor__(self, dtype=None, name=None):
        return self._dense_var_to_tensor(dtype=dtype, name=name)

    def _should_act_as_resource_variable(self):
        pass

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __repr__(self):
        return f"<Wrapping {self.name}>"

    def assign(self, value, *args, **kwargs):
        return self.wrapped.assign(value, *args, **kwargs)

    def assign_add(self, value, *args, **kwargs):
        return self.wrapped.assign_add(value, *args, **kwargs)

    def assign_sub(self, value, *args, **kwargs):
        return self.wrapped.assign_sub(value, *args, **kwargs)

    def get_shape(self):
        return self.wrapped.get_shape()

    shape = property(lambda self: self.wrapped.shape)
    dtype = property(lambda self: self.wrapped.dtype)
    name = property(lambda self: self.wrapped.name)
    trainable = property(lambda self: self.wrapped.trainable)
    initializer = property(lambda self: self.wrapped.initializer)
    device = property(lambda self: self.wrapped.device)
    constraint = property(lambda self: self.wrapped.constraint)
    _shared_name = property(lambda self: self.wrapped._shared_name)


class Overloaded(Wrapping):
    """The same, with operators of its own."""


Overloaded._OverloadAllOperators()


class Doubling(tf.Variable):
    """A variable that is read as twice what it holds."""

    def value(self):
        return super().value() * 2.0

    def sparse_read(self, *args, **kwargs):
        return super().sparse_read(*args, **kwargs) * 2.0


def wrapping(x, **kwargs):
    return Wrapping(tf.Variable(x, **kwargs))


def overloaded(x, **kwargs):
    return Overloaded(tf.Variable(x, **kwargs))


def cell_of(w):
    return getattr(w, "wrapped", w)


KINDS = [wrapping, overloaded, Doubling]
READS = {
    "square": tf.square,
    "operator": lambda w: w + 1.0,
    "reflected operator": lambda w: 1.0 - w,
    "both": lambda w: w * w,
    "beside a tensor": lambda w: tf.constant(X) @ w,
    "beside an array": lambda w: np.ones([2, 2], np.float32) + w,
    "negative": lambda w: -w,
    "absolute": abs,
    "row": lambda w: w[0],
    "part": lambda w: w[:, 1:],
    "gather": lambda w: tf.gather(w, [1, 1]),
    "convert": tf.convert_to_tensor,
    "list": lambda w: tf.stack([w, tf.ones([2, 2])]),
    "of lists": lambda w: tf.convert_to_tensor([w, w]),
    "concat": lambda w: tf.concat([w, w], 0),
    "cast": lambda w: tf.cast(w, tf.float64),
    "add_n": lambda w: tf.add_n([w, w]),
    "cond": lambda w: tf.cond(tf.constant(True), lambda: w * 1.0, lambda: w * 3.0),
    "loop": lambda w: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), (0, tf.ones([2, 2])))[1],
    "compared": lambda w: tf.cast(w < 5.0, tf.float32) * w,
    "value": lambda w: w.value(),
}


def of_tensor(name):
    """The result and its gradient for a tensor of twice the value."""
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = READS["convert" if name == "value" else name](x * 2.0)
        loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
    return y, tape.gradient(loss, x)


def dense(gradient):
    return np.asarray(tf.convert_to_tensor(gradient))


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", KINDS)
def test_reading_is_what_the_class_says(kind, name):
    expected, slope = of_tensor(name)
    w = kind(X)
    with tf.GradientTape(persistent=True) as tape:
        y = READS[name](w)
        loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
    np.testing.assert_array_equal(y, expected)
    for source in (w, cell_of(w)):
        np.testing.assert_allclose(dense(tape.gradient(loss, source)), slope)
        np.testing.assert_allclose(dense(tape.gradient(loss, [source])[0]), slope)
    assert [v is cell_of(w) for v in tape.watched_variables()] == [True]


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", KINDS)
def test_reading_in_a_function(kind, name):
    expected, slope = of_tensor(name)
    w = kind(X)

    @tf.function
    def f():
        with tf.GradientTape() as tape:
            y = READS[name](w)
            loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
        return y, tape.gradient(loss, w), loss

    with tf.GradientTape() as tape:
        y, inner, loss = f()
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_allclose(dense(inner), slope)
    np.testing.assert_allclose(dense(tape.gradient(loss, w)), slope)


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", [wrapping, Doubling])
def test_reading_in_a_session(kind, name):
    expected, slope = of_tensor(name)
    with tf.Graph().as_default(), tf1.Session() as session:
        w = kind(X)
        y = READS[name](w)
        loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
        found = [tf.convert_to_tensor(tf.gradients(loss, x)[0]) for x in (w, cell_of(w))]
        session.run(cell_of(w).initializer)
        y, found = session.run([y, found])
    np.testing.assert_array_equal(y, expected)
    for each in found:
        np.testing.assert_allclose(each, slope)


@pytest.mark.parametrize("kind", KINDS)
def test_watched_by_name(kind):
    w = kind(X)
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        tape.watch(w)
        y = tf.reduce_sum(tf.convert_to_tensor(w))
    np.testing.assert_array_equal(tape.gradient(y, w), np.full((2, 2), 2.0))
    np.testing.assert_array_equal(tape.jacobian(y, w), np.full((2, 2), 2.0))


@pytest.mark.parametrize("kind", [wrapping, overloaded])
@pytest.mark.parametrize("optimizer", [tf.keras.optimizers.SGD, tf.keras.optimizers.Adam, tf1.train.AdamOptimizer])
def test_optimizers_update_what_is_wrapped(kind, optimizer):
    w, plain = kind(X), tf.Variable(X)
    for target in (w, plain):
        update = optimizer(0.1)
        for _ in range(3):
            with tf.GradientTape() as tape:
                read = tf.convert_to_tensor(target)
                loss = tf.reduce_sum(read * read)
            scale = 4.0 if target is w else 1.0  # d/dx (2 x)^2 = 4 d/dx x^2
            update.apply_gradients([(tape.gradient(loss, target) / scale, target)])
    np.testing.assert_allclose(w.wrapped.numpy(), plain.numpy(), rtol=1e-6)


def test_assignment_of_one_that_converts_itself():
    for kind in KINDS:
        for v in (tf.Variable(X), tf.Variable(tf.zeros([2, 2]))):
            v.assign(kind(X))
            np.testing.assert_array_equal(v, np.multiply(X, 2.0))
            v.assign_add(kind(X))
            np.testing.assert_array_equal(v, np.multiply(X, 4.0))
            v.assign_sub(kind(X))
            np.testing.assert_array_equal(v, np.multiply(X, 2.0))


def test_what_belongs_to_a_cell_is_the_wrapped_one_s():
    w = wrapping(X)
    assert w.handle is w.wrapped.handle
    assert w._in_graph_mode is False
    assert w._unique_id == w.wrapped._unique_id
    with tf.Graph().as_default():
        w = wrapping(X)
        assert w.handle is w.wrapped.handle
        assert w._in_graph_mode is True


def test_text_is_that_of_the_class():
    w = wrapping(X, name="a")
    assert str(w) == repr(w) == "<Wrapping a:0>"


def test_a_class_that_does_not_say_how_to_read():
    class Silent(tf.Variable):
        def __init__(self):
            pass

    with pytest.raises(NotImplementedError, match="value"):
        tf.convert_to_tensor(Silent())
    with pytest.raises(TypeError, match="sources"):
        tf.GradientTape().gradient(tf.constant(1.0), Silent())


@pytest.mark.parametrize("value", [1.5, [1.5, 2.0], X, "a", [b"a", b"b"]])
def test_text_of_values(value):
    x = tf.constant(value)
    assert numpy_text(x, is_repr=True) in repr(x)
    assert value_text(x, is_repr=True) in repr(x)
    assert numpy_text(x) == value_text(x)
    assert f"tf.Tensor({numpy_text(x)}, " in str(x)


def test_text_of_what_has_no_array():
    handle = tf.Variable(1.0).handle
    assert numpy_text(handle) == "<unprintable>"
    assert value_text(handle, is_repr=True) in repr(handle)


def test_variables_of_the_library_are_read_natively():
    """Their classes do not say how to read: that would cost a call of Python for each."""
    dense = tf.keras.layers.Dense(1)
    dense.build((None, 1))
    for variable in (tf.Variable(1.0), tf.compat.v1.Variable(1.0), tf.keras.Variable(1.0), dense.kernel):
        assert variable._is_cell, type(variable)


@pytest.mark.parametrize("operation", [
    lambda w: 2 * w, lambda w: w * 2, lambda w: 1 - w, lambda w: tf.add(2, w), lambda w: tf.maximum(0, w),
])  # fmt: skip
def test_numbers_take_the_dtype_of_variables_that_convert_themselves(operation):
    class Tripled(tf.Variable):
        def value(self):
            return super().value() * 3

    expected = operation(tf.constant([3.0, 6.0]))
    found = operation(Tripled([1.0, 2.0]))
    assert found.dtype == tf.float32
    np.testing.assert_array_equal(found, expected)


def test_an_interrupt_while_the_dtype_is_asked_is_raised():
    class Interrupted(tf.Variable):
        def value(self):
            return super().value() * 3

        @property
        def dtype(self):
            if armed:
                raise KeyboardInterrupt
            return tf.float32

    armed = False
    variable = Interrupted([1.0])
    armed = True
    with pytest.raises(KeyboardInterrupt):
        2 * variable
    with pytest.raises(KeyboardInterrupt):
        tf.raw_ops.AddN(inputs=[tf.constant([1.0]), variable])


def test_a_dtype_that_drops_the_list_that_holds_its_variable():
    class Dropping(tf.Variable):
        def value(self):
            return super().value() * 3

        @property
        def dtype(self):
            held.clear()
            return tf.float32

    held = []
    held += [Dropping([1.0]), Dropping([2.0])]
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        tf.raw_ops.AddN(inputs=held)
    held = []
    held += [Dropping([1.0]), Dropping([2.0])]
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        tf.raw_ops.Pack(values=held, axis=0)
