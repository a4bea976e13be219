"""`tf.test.experimental.sync_devices`."""

import pytest

import tapeflow as tf
from tapeflow.core import device_calls


def test_devices_are_waited_for(monkeypatch):
    waited = []
    monkeypatch.setattr(device_calls, "waiter", lambda: waited.append(True))
    tf.test.experimental.sync_devices()
    assert waited
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="must only be called in Eager mode"):
        tf.test.experimental.sync_devices()


def test_the_host_has_finished():
    tf.test.experimental.sync_devices()
