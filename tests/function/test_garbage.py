"""The collector of garbage waits while functions are traced, and works again after that."""

import gc

import pytest

import tapeflow as tf
from tapeflow.function.garbage import collector_paused


@pytest.fixture(params=[True, False])
def enabled(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_collector_is_as_before(enabled):
    seen = []
    before = gc.get_threshold()

    @tf.function(autograph=False)
    def f(x):
        seen.append(gc.get_threshold()[0])
        return x * x

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert tape.gradient(y, x).numpy() == 6.0
    assert seen == [0]
    assert gc.isenabled() == enabled
    assert gc.get_threshold() == before


def test_collector_works_after_an_error(enabled):
    with pytest.raises(ZeroDivisionError):
        tf.function(lambda: 1 // 0, autograph=False)()
    assert gc.isenabled() == enabled


def test_pauses_that_overlap():
    """The collector waits for the last of them."""
    before = gc.get_threshold()
    first, second = collector_paused(), collector_paused()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 0
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


@pytest.mark.parametrize("other", [gc.enable, gc.disable])
def test_what_a_program_says_meanwhile_holds(enabled, other):
    tf.function(lambda: other(), autograph=False)()
    assert gc.isenabled() == (other is gc.enable)


def test_threshold_that_a_program_sets_meanwhile():
    before = gc.get_threshold()
    try:
        with collector_paused():
            gc.set_threshold(1234, 5, 6)
        assert gc.get_threshold() == (1234, 5, 6)
    finally:
        gc.set_threshold(*before)
