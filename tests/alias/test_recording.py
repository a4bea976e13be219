"""Whether a tape records, as TensorFlow's internals tell it."""

import tapeflow as tf
from tapeflow.alias import recording


def state(tensor):
    return recording.could_possibly_record(), recording.should_record_backprop([tensor])


def test_only_what_a_tape_watches_is_recorded():
    x, v = tf.constant(1.0), tf.Variable(1.0)
    assert state(x) == (False, False)
    with tf.GradientTape() as tape:
        assert state(x) == (True, False)
        assert state(v + 1.0) == (True, True)
        tape.watch(x)
        assert state(x) == (True, True)
        with tape.stop_recording():
            assert state(x) == (False, False)
        with recording.stop_recording():
            assert state(x) == (False, False)
            y = x * 2.0
        z = x * 3.0
    assert tape.gradient([y, z], x).numpy() == 3.0
