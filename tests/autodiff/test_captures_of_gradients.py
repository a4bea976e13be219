"""What only the gradient of a body uses: the node of the body has no input for it."""

import pytest

import tapeflow as tf

CONSTANT = tf.constant(3.0)
VARIABLE = tf.Variable(3.0)


def loop(f, x):
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, f(y)), [0, x])[1]


def branch(f, x):
    return tf.cond(x > 0, lambda: f(x), lambda: x)


def case(f, x):
    return tf.switch_case(tf.constant(1), [lambda: x, lambda: f(x)])


def call(f, x):
    return tf.function(lambda y: f(y))(x)


# (where it stands, how often the gradient is multiplied)
PLACES = {
    "loop": (loop, 2),
    "branch": (branch, 1),
    "case": (case, 1),
    "call": (call, 1),
    "loop in loop": (lambda f, x: loop(lambda y: loop(f, y), x), 4),
    "loop in branch": (lambda f, x: branch(lambda y: loop(f, y), x), 2),
    "branch in loop": (lambda f, x: loop(lambda y: branch(f, y), x), 2),
    "call in loop": (lambda f, x: loop(lambda y: call(f, y), x), 2),
}
FACTORS = {
    "an eager constant": lambda x: CONSTANT,
    "a variable": lambda x: VARIABLE,
    "a tensor of the function": lambda x: x + 1,
}


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
@pytest.mark.parametrize("place", PLACES)
def test_used_by_the_gradient_alone(place, factor, persistent):
    where, times = PLACES[place]

    @tf.function
    def gradients(x):
        by = factor(x)

        @tf.custom_gradient
        def doubled(y):
            return y * 2.0, lambda dy: dy * by

        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = where(doubled, x)
        return [tape.gradient(y, x) for _ in range(1 + persistent)]

    assert [float(dx) for dx in gradients(tf.constant(2.0))] == [3.0**times] * (1 + persistent)


@pytest.mark.parametrize("place", PLACES)
def test_a_tape_outside_of_the_function(place):
    where, times = PLACES[place]
    doubled = tf.custom_gradient(lambda y: (y * 2.0, lambda dy: dy * CONSTANT))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: where(doubled, x))(x)
    assert float(tape.gradient(y, x)) == 3.0**times
