"""Sources that a tape does not watch get no gradients, whatever else was recorded."""

import pytest

import tapeflow as tf

BINARY = {
    "multiply": lambda v, x: v * x,
    "add": lambda v, x: v + x,
    "matmul": lambda v, x: v @ x,
    "concat": lambda v, x: tf.concat([v, x], 0),
    "pow": lambda v, x: v**x,
    "maximum": tf.maximum,
    "add_n": lambda v, x: tf.add_n([v, x]),
    "einsum": lambda v, x: tf.einsum("ij,jk->ik", v, x),
    "conv": lambda v, x: tf.nn.conv2d(v[None, :, :, None], x[:, :, None, None], 1, "SAME"),
    "function": lambda v, x: tf.function(lambda a, b: a @ b)(v, x),
    "captured": lambda v, x: tf.function(lambda a: a @ x)(v),
    "map": lambda v, x: tf.map_fn(lambda row: row * v[0], x),
    "custom": lambda v, x: tf.custom_gradient(lambda a, b: (a * b, lambda dy: (dy * b, dy * a)))(v, x),
}
VALUE = tf.constant([[1.0, 2.0], [3.0, 4.0]])
VARIABLE = tf.Variable([[2.0, 3.0], [1.0, 2.0]])


@pytest.fixture(params=[False, True], ids=["eager", "function"])
def run(request):
    return (lambda f: tf.function(f)()) if request.param else lambda f: f()


@pytest.mark.parametrize("name", BINARY)
def test_only_watched_sources_have_gradients(name, run):
    def program(watch):
        with tf.GradientTape() as tape:
            if watch:
                tape.watch(VALUE)
            y = BINARY[name](VARIABLE, VALUE)
        return tape.gradient(y, [VALUE, VARIABLE])

    without, found = run(lambda: program(False))
    assert without is None
    assert found is not None
    assert all(g is not None for g in run(lambda: program(True)))


def test_what_was_made_of_what_is_watched_is_a_source(run):
    def program():
        with tf.GradientTape() as tape:
            value = VARIABLE.read_value()
            first = value * 2.0
            with tape.stop_recording():
                outside = first * 3.0
            y = first * outside * VALUE
        return tape.gradient(y, [value, first, outside, VALUE, VARIABLE])

    assert [g is None for g in run(program)] == [False, False, True, True, False]


def test_zeros_where_they_are_asked_for(run):
    def program():
        with tf.GradientTape() as tape:
            y = VARIABLE * VALUE
        return tape.gradient(y, [VALUE, VARIABLE], unconnected_gradients="zero")

    zeros, found = run(program)
    assert not zeros.numpy().any()
    assert (found == VALUE).numpy().all()


def test_the_target_itself(run):
    def program(weight):
        with tf.GradientTape() as tape:
            VARIABLE * VALUE
        return tape.gradient(VALUE, VALUE, weight)

    assert run(lambda: program(None)).numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert run(lambda: program(VALUE)).numpy().tolist() == VALUE.numpy().tolist()


def test_jacobians(run):
    def tape_and_target():
        with tf.GradientTape() as tape:
            y = VARIABLE * VALUE
        return tape, y

    def jacobian():
        tape, y = tape_and_target()
        return tape.jacobian(y, VALUE)

    def batch_jacobian():
        tape, y = tape_and_target()
        return tape.batch_jacobian(y, VALUE)

    assert run(jacobian) is None
    assert not run(batch_jacobian).numpy().any()


def test_a_tape_that_was_reset_watches_anew(run):
    def program():
        with tf.GradientTape() as tape:
            tape.watch(VALUE)
            tape.reset()
            y = VARIABLE * VALUE
        return tape.gradient(y, [VALUE, VARIABLE])

    without, found = run(program)
    assert without is None
    assert found is not None


@pytest.mark.parametrize("unconnected", ["none", "zero"])
@pytest.mark.parametrize(("value", "expected"), [("a", None), (1, 1), (True, True), (2.0, 1.0)])
def test_what_has_no_gradient_may_have_one_of_itself(value, expected, unconnected):
    x = tf.constant(value)
    with tf.GradientTape(persistent=True) as tape:
        y = VARIABLE * VALUE
    for target in (x, [x, y]):
        found = tape.gradient(target, x, unconnected_gradients=unconnected)
        assert found is None if expected is None else found.numpy() == expected


def test_the_value_that_an_operation_took_of_a_variable_is_a_source():
    with tf.GradientTape() as tape:
        value = tf.convert_to_tensor(VARIABLE)
        y = value * VALUE
    found = tape.gradient(y, [value, VALUE, VARIABLE])
    assert [g is None for g in found] == [False, True, False]


def test_a_tape_that_is_entered_again_watches_no_more_than_before():
    with tf.GradientTape(persistent=True) as tape:
        y = VARIABLE * VALUE
    with tape:
        z = VALUE * 2.0
    assert tape.gradient(y, VALUE) is None
    assert tape.gradient(z, VALUE) is None
    assert tape.gradient(y, VARIABLE) is not None


def test_more_tapes_than_a_tensor_has_marks_for():
    tapes = [tf.GradientTape() for _ in range(70)]
    for tape in tapes:
        tape.__enter__()
    tapes[-1].watch(VALUE)
    y = VARIABLE * VALUE
    for tape in reversed(tapes):
        tape.__exit__(None, None, None)
    assert tapes[-1].gradient(y, VALUE) is not None
    assert all(tape.gradient(y, VALUE) is None for tape in tapes[:-1])
