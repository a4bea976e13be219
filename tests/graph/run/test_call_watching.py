"""`tf.debugging`'s switches: numbers checked and devices logged at every operation, frames in tracebacks."""

import pytest

import tapeflow as tf


@pytest.fixture
def checked():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def test_the_operation_that_made_nan_is_named(checked):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r'eagerly-executing op "Log"') as caught:
        tf.math.log(tf.constant([-1.0, 1.0]))
    assert "# of +NaN elements: 1" in str(caught.value)


def test_the_signs_of_infinities_are_told(checked):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\+Inf elements: 1\n  # of \+NaN"):
        _ = tf.constant([1.0, 0.0]) / 0.0


def test_good_numbers_lists_and_gradients_pass(checked):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([x, x * 2.0], 0) / 3.0
    assert tape.gradient(y, x).numpy() == pytest.approx([1.0, 1.0])
    assert [part.numpy().tolist() for part in tf.split(x, 2)] == [[1.0], [2.0]]


def test_moved_numbers_are_not_checked(checked):
    assert tf.reshape(tf.constant([float("nan")]), []).shape == ()


def test_graphs_are_checked(checked):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r'graph op "Log"'):
        tf.function(lambda x: tf.math.log(x) * 2.0)(tf.constant(-1.0))


def test_checks_end():
    tf.debugging.enable_check_numerics()
    tf.debugging.disable_check_numerics()
    assert tf.math.is_nan(tf.math.log(-1.0))


def test_devices_are_logged(capsys, monkeypatch):
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    assert not tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(True)
    try:
        _ = tf.constant(1.0) + 2.0
        assert tf.debugging.get_log_device_placement()
    finally:
        tf.debugging.set_log_device_placement(False)
    assert "Executing op AddV2 in device /job:localhost" in capsys.readouterr().err
    with pytest.raises(TypeError):
        tf.debugging.set_log_device_placement("yes")


def test_frames_are_shown_on_request():
    def frames():
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.reshape(tf.ones([3]), [2])
        return len(caught.traceback)

    assert tf.debugging.is_traceback_filtering_enabled()
    short = frames()
    tf.debugging.disable_traceback_filtering()
    try:
        assert not tf.debugging.is_traceback_filtering_enabled()
        assert frames() > short
    finally:
        tf.debugging.enable_traceback_filtering()
    assert frames() == short
