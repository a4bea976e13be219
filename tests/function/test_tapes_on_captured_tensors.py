"""Tapes and accumulators inside functions that watch an eager tensor from outside: the gradients are the eager ones."""

import pytest

import tapeflow as tf

x = tf.constant(3.0)
yes = tf.constant(True)
three = tf.constant(3)


def square():
    return x * x


def branch():
    return tf.cond(yes, square, lambda: x)


def loop():
    y = x
    for _ in tf.range(three):
        y = y * x
    return y


def inner():
    return tf.function(square)()


def by_tape(compute):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compute()
    return tape.gradient(y, x)


def by_jacobian(compute):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compute()
    return tape.jacobian(y, x)


def twice_by_tape(compute):
    with tf.GradientTape() as tape:
        tape.watch(x)
        dx = by_tape(compute)
    return tape.gradient(dx, x)


def by_accumulator(compute):
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = compute()
    return accumulator.jvp(y)


def as_it_is(differentiate, compute):
    return differentiate(compute)


def in_branch(differentiate, compute):
    return tf.cond(yes, lambda: differentiate(compute), lambda: tf.constant(0.0))


def in_loop(differentiate, compute):
    total = tf.constant(0.0)
    for _ in tf.range(three):
        total += differentiate(compute)
    return total


@pytest.mark.parametrize("place", [as_it_is, in_branch, in_loop], ids=lambda f: f.__name__)
@pytest.mark.parametrize("compute", [square, branch, loop, inner], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "differentiate", [by_tape, by_jacobian, twice_by_tape, by_accumulator], ids=lambda f: f.__name__
)
def test_gradients_are_those_of_eager_execution(differentiate, compute, place):
    eager = float(place(differentiate, compute))
    assert eager != 0.0
    assert float(tf.function(place)(differentiate, compute)) == pytest.approx(eager)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("captured", [True, False])
def test_what_came_before_watching_is_not_recorded(wrap, captured):
    def f(given):
        value = x if captured else given
        with tf.GradientTape() as tape:
            before = value * value
            tape.watch(value)
            y = before * value
        return tape.gradient(y, value)

    assert float(wrap(f)(tf.constant(3.0))) == 9.0
