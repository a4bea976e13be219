"""In which order a session runs what nothing orders: what is ready first, as TensorFlow does."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


def run(fetches):
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return [value if value is None else pytest.approx(float(value)) for value in session.run(fetches)]


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_read_does_not_wait_for_a_change_that_waits_for_more(use_resource):
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=1.0, use_resource=use_resource)
        change = v1.assign_add(v, tf.exp(tf.sin(tf.constant(0.0))))
        assert run([v * 3.0, change]) == [3, 2]
        assert run([change, tf.gather(tf.stack([v, v]), 1)]) == [2, 1]


def test_a_read_that_is_told_to_wait():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=1.0)
        change = v1.assign_add(v, tf.exp(tf.sin(tf.constant(0.0))))
        with tf.control_dependencies([change]):
            later = v.read_value()
        assert run([later * 1.0, change * 1.0]) == [2, 2]
        assert run([change * 1.0, change * 2.0]) == [2, 4]


def test_what_begins_with_another_variable_is_initialised_after_it():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=tf.exp(tf.sin(tf.constant(0.0))))
        w = v1.Variable(v * 2.0)
        assert run([v, w]) == [1, 2]


METRICS = {
    "accuracy": ([0, 2, 3], [1, 2, 3], 2 / 3),
    "mean": ([1.0, 2.0], None, 1.5),
    "mean_squared_error": ([0.0, 2.0, 3.0], [1.0, 2.0, 3.0], 1 / 3),
    "precision": ([0, 1, 1], [0, 1, 0], 1.0),
    "recall": ([0, 1, 1], [0, 1, 0], 0.5),
}


@pytest.mark.parametrize("name", METRICS)
def test_metrics_beside_their_update_are_those_before_it(name):
    labels, predictions, expected = METRICS[name]
    with tf.Graph().as_default(), v1.Session() as session:
        value, update = getattr(v1.metrics, name)(*(x for x in (labels, predictions) if x is not None))
        session.run(v1.local_variables_initializer())
        assert session.run([value, update]) == [0, pytest.approx(expected)]
        assert session.run([update, value]) == [pytest.approx(expected), pytest.approx(expected)]
