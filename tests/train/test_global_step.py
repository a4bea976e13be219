"""The global step belongs to the default graph, eagerly too; functions share that of their callers."""

import pytest

import tapeflow as tf

train = tf.compat.v1.train


@pytest.fixture(autouse=True)
def fresh():
    tf.compat.v1.reset_default_graph()
    yield
    tf.compat.v1.reset_default_graph()


def test_a_new_default_graph_begins_at_zero():
    step = train.get_or_create_global_step()
    step.assign_add(3)
    assert train.get_or_create_global_step() is step
    assert tf.compat.v1.get_default_graph().get_collection("global_step") == [step]
    tf.compat.v1.reset_default_graph()
    assert train.get_global_step() is None
    assert int(train.create_global_step()) == 0


def test_functions_have_the_step_of_their_callers():
    step = train.get_or_create_global_step()

    @tf.function
    def count():
        assert train.get_or_create_global_step() is step
        tf.function(lambda: train.get_global_step().assign_add(1))()
        return tf.cond(step > 0, lambda: train.get_global_step().assign_add(1), step.read_value)

    assert [int(count()), int(count())] == [2, 4]
    with tf.Graph().as_default():
        assert train.get_global_step() is None


def test_a_schedule_in_a_function_reads_the_step():
    train.get_or_create_global_step().assign(2)
    rate = tf.function(lambda: train.exponential_decay(1.0, train.get_or_create_global_step(), 1, 0.5))
    assert float(rate()) == 0.25
