"""The collector of garbage waits while functions are traced, and works again after that."""

import gc

import pytest

import tapeflow as tf


@pytest.fixture(params=[True, False])
def enabled(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_collector_is_as_before(enabled):
    seen = []

    @tf.function(autograph=False)
    def f(x):
        seen.append(gc.isenabled())
        return x * x

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert tape.gradient(y, x).numpy() == 6.0
    assert seen == [False]
    assert gc.isenabled() == enabled


def test_collector_works_after_an_error(enabled):
    with pytest.raises(ZeroDivisionError):
        tf.function(lambda: 1 // 0, autograph=False)()
    assert gc.isenabled() == enabled
