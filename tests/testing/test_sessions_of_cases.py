"""Sessions of test cases: where operations run that are placed on devices that are absent."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


def placed():
    """A tensor on a GPU that no machine has."""
    with tf.device("/gpu:7"):
        return tf.constant(2.0) * 3.0


@pytest.fixture
def case():
    with tf.Graph().as_default():
        made = tf.test.TestCase()
        made.setUp()
        with tf.Graph().as_default():
            yield made
        made.tearDown()


@pytest.mark.parametrize("session", ["session", "cached_session", "test_session"])
def test_absent_devices_are_replaced(case, session):
    y = placed()
    with getattr(case, session)() as sess:
        assert sess.run(y) == 6


def test_forced_gpus_are_not_replaced(case):
    lenient = v1.ConfigProto(allow_soft_placement=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="GPU"):
        case.session(config=lenient, force_gpu=True).__enter__()
    assert lenient.allow_soft_placement


def test_configurations_are_kept(case):
    y = placed()
    strict = v1.ConfigProto(allow_soft_placement=False)
    with case.session(config=strict) as sess, pytest.raises(tf.errors.InvalidArgumentError, match="GPU:7"):
        sess.run(y)
