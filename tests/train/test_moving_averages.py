"""Moving averages of variables and of other tensors: values, names of the shadows, errors."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def by_formula(values, decay, start, debias):
    """The averages after each of some values."""
    shadow, shown = start, []
    for step, value in enumerate(values, 1):
        shadow = decay * shadow + (1 - decay) * value
        shown.append(shadow / (1 - decay**step) if debias else shadow)
    return shown


@pytest.mark.parametrize("num_updates", [None, 3])
@pytest.mark.parametrize("zero_debias", [False, True])
@pytest.mark.parametrize("of_tensor", [False, True])
def test_averages_in_graphs(of_tensor, zero_debias, num_updates):
    with tf.Graph().as_default():
        with v1.variable_scope("scope"):
            v = v1.get_variable("v", initializer=1.0)
        x = tf.multiply(v, 2.0, name="twice") if of_tensor else v
        averages = tf.train.ExponentialMovingAverage(0.5, num_updates, zero_debias)
        with tf.name_scope("outer"):
            update = averages.apply([x])
        shadow, seen = averages.average(x), []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(3):
                session.run(update)
                seen.append(session.run(shadow))
                session.run(v.assign_add(1.0))
        decay = 0.5 if num_updates is None else min(0.5, (1 + num_updates) / (10 + num_updates))
        values = np.array([2.0, 4.0, 6.0]) if of_tensor else np.array([1.0, 2.0, 3.0])
        start = 0.0 if of_tensor else 1.0
        np.testing.assert_allclose(seen, by_formula(values, decay, start, zero_debias and of_tensor), rtol=1e-6)
        name = ("twice" if of_tensor else "scope/v") + "/ExponentialMovingAverage"
        assert shadow.name == f"{name}:0"
        assert averages.average_name(x) == name
        made = {w.name for w in v1.global_variables()} - {"scope/v:0", f"{name}:0"}
        debiased = {f"{name}/biased:0", f"{name}/local_step:0"}
        assert made == (debiased if zero_debias and of_tensor else set())


@pytest.mark.parametrize("zero_debias", [False, True])
def test_averages_in_eager_code(zero_debias):
    v, seen = tf.Variable(1.0), []
    averages = tf.train.ExponentialMovingAverage(0.5, zero_debias=zero_debias)
    for _ in range(3):
        averages.apply([v])
        seen.append(float(averages.average(v)))
        v.assign_add(1.0)
    assert seen == [1.0, 1.5, 2.25]


def test_what_has_no_average():
    averages = tf.train.ExponentialMovingAverage(0.5)
    with pytest.raises(TypeError, match="non-Variable tensors"):
        averages.apply([tf.constant(1.0)])
    with pytest.raises(TypeError, match="must be half, float, or double"):
        averages.apply([tf.Variable(1)])
